//! Transposes, products with several vectors, transposed matrices, the matrices of the bench.

use nwp_mini::primitives::csr::Csr;
use nwp_mini::primitives::matrices::{self, Kind, operand};
use nwp_mini::primitives::transpose::{Matrices, transpose};
use nwp_mini::real::Real;

use super::random::Random;
use super::{below, same_on_any_threads, triplets, vector};

fn transposes_agree<T: Copy + Default + PartialEq + Send + Sync + std::fmt::Debug>(
    of: impl Fn(usize) -> T,
) {
    // The last ones are large enough for several threads.
    let sizes = [
        [0, 3, 3],
        [1, 0, 4],
        [1, 1, 1],
        [1, 7, 1],
        [2, 33, 31],
        [5, 27, 118],
        [1, 301, 999],
        [40, 50, 61],
    ];
    for [count, rows, columns] in sizes {
        let matrices = Matrices { count, rows, columns };
        let from: Vec<T> = (0..matrices.len()).map(&of).collect();
        let turned = |matrices: Matrices, from: &[T]| {
            let mut to = vec![T::default(); from.len()];
            transpose(matrices, from, &mut to);
            to
        };
        let found = same_on_any_threads(|| turned(matrices, &from));
        for number in 0..count {
            for row in 0..rows {
                for column in 0..columns {
                    let first = number * rows * columns;
                    let (there, here) = (column * rows + row, row * columns + column);
                    assert_eq!(found[first + there], from[first + here], "{matrices:?}");
                }
            }
        }
        assert_eq!(turned(matrices.transposed(), &found), from, "{matrices:?} there and back");
    }
}

#[test]
fn rows_become_columns() {
    transposes_agree(|at| at as f32);
    transposes_agree(|at| at as f64);
    transposes_agree(|at| (at % 251) as u8);
}

#[test]
fn levels_become_columns_of_air() {
    let (nz, ny, nx) = (3, 4, 5);
    let matrices = Matrices::levels(2, nz, ny, nx);
    let from: Vec<f32> = (0..matrices.len()).map(|at| at as f32).collect();
    let mut to = vec![0.0; from.len()];
    transpose(matrices, &from, &mut to);
    for field in 0..2 {
        for (k, j, i) in
            (0..nz).flat_map(|k| (0..ny).flat_map(move |j| (0..nx).map(move |i| (k, j, i))))
        {
            let here = ((field * nz + k) * ny + j) * nx + i;
            let there = ((field * ny + j) * nx + i) * nz + k;
            assert_eq!(to[there], from[here]);
        }
    }
}

#[test]
#[should_panic(expected = "elements of 1 matrices, 3 x 4")]
fn arrays_of_other_lengths_are_refused() {
    transpose(Matrices::one(3, 4), &[0.0; 12], &mut [0.0; 11]);
}

fn products_of_several_agree<R: Real>() {
    let mut random = Random::new(21);
    for (rows, columns, count) in [(1, 1, 1), (9, 1, 4), (7, 13, 0), (1501, 301, 60_000)] {
        let (triplets, _) = triplets::<R>(&mut random, (rows, columns), count);
        let matrix = Csr::from_triplets(rows, columns, &triplets).expect("valid triplets");
        for vectors in [0, 1, 5] {
            let x: Vec<R> = vector(&mut random, vectors * columns);
            let y = same_on_any_threads(|| {
                let mut y = vec![R::ONE; vectors * rows];
                matrix.multiply_several(&x, &mut y, vectors);
                y
            });
            for (x, y) in x.chunks(columns).zip(y.chunks(rows)) {
                let mut one = vec![R::ZERO; rows];
                matrix.multiply_serial(x, &mut one);
                assert_eq!(one, y, "{rows} x {columns}, {vectors} vectors");
            }
        }
    }
    let nothing = Csr::<R>::from_triplets(0, 3, &[]).expect("valid triplets");
    nothing.multiply_several(&[R::ONE; 6], &mut [], 2);
}

#[test]
fn products_with_several_vectors_are_those_with_each() {
    products_of_several_agree::<f32>();
    products_of_several_agree::<f64>();
}

#[test]
fn transposed_matrices_multiply_as_the_transposed_product_does() {
    let mut random = Random::new(22);
    for (rows, columns, count) in [(1, 1, 1), (1, 9, 4), (9, 1, 4), (7, 13, 0), (301, 150, 9000)] {
        let (triplets, _) = triplets::<f64>(&mut random, (rows, columns), count);
        let matrix = Csr::from_triplets(rows, columns, &triplets).expect("valid triplets");
        let transposed = matrix.transposed().expect("few rows");
        let swapped: Vec<_> = triplets.iter().map(|&(r, c, value)| (c, r, value)).collect();
        let expected = Csr::from_triplets(columns, rows, &swapped).expect("valid triplets");
        assert_eq!(transposed, expected);
        assert_eq!(transposed.transposed().expect("few rows"), matrix);
        let x: Vec<f64> = vector(&mut random, rows);
        let (mut one, mut other) = (vec![0.0; columns], vec![1.0; columns]);
        matrix.multiply_transposed(&x, &mut one);
        transposed.multiply(&x, &mut other);
        // Both add up in the order of the rows.
        assert_eq!(one, other);
        // x (A y) = (A' x) y.
        let y: Vec<f64> = vector(&mut random, columns);
        let mut product = vec![0.0; rows];
        matrix.multiply(&y, &mut product);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let difference = dot(&x, &product) - dot(&one, &y);
        assert!(difference.abs() < 1e-13 * count.max(1) as f64, "{difference:e}");
    }
}

#[test]
fn matrices_of_the_bench_are_what_they_are_called() {
    let lengths = |matrix: &Csr<f32>| -> Vec<usize> {
        matrix.starts().windows(2).map(|pair| pair[1] - pair[0]).collect()
    };
    let interpolation: Csr<f32> = matrices::interpolation(5, 9).expect("a matrix");
    assert_eq!((interpolation.rows(), interpolation.columns()), (81, 25));
    assert!(lengths(&interpolation).iter().all(|&n| n == 4));
    let seven: Csr<f32> = matrices::stencil([4, 5, 6], false).expect("a matrix");
    // A cell inside has six neighbours, and each face of the box takes one from those at it.
    assert_eq!(seven.nonzeros(), 7 * 120 - 2 * (4 * 5 + 5 * 6 + 4 * 6));
    let all: Csr<f32> = matrices::stencil([4, 5, 6], true).expect("a matrix");
    assert_eq!(all.nonzeros(), (3 * 4 - 2) * (3 * 5 - 2) * (3 * 6 - 2));
    assert_eq!(seven, {
        let transposed = seven.transposed().expect("few rows");
        let (starts, columns) = (transposed.starts().to_vec(), transposed.column_of().to_vec());
        Csr::from_parts(120, starts, columns, seven.values().to_vec()).expect("a matrix")
    });
    let skewed: Csr<f32> = matrices::skewed(20_000).expect("a matrix");
    let is_right = |(row, &n): (usize, &usize)| n == if row % 64 == 0 { 256 } else { 3 };
    assert!(lengths(&skewed).iter().enumerate().all(is_right));
    for small in [1, 2, 100] {
        assert_eq!(matrices::skewed::<f64>(small).expect("a matrix").rows(), small);
    }
    let long: Csr<f32> = matrices::long_row(160).expect("a matrix");
    assert!(lengths(&long).iter().enumerate().all(|(row, &n)| n == if row == 0 { 20 } else { 1 }));
    let empty: Csr<f32> = matrices::empty_rows(10).expect("a matrix");
    assert_eq!(lengths(&empty), [4, 0, 0, 0, 4, 0, 0, 0, 2, 0]);
    let names = Kind::ALL.map(Kind::name);
    let known = "interpolation stencil-7 stencil-27 skewed projection long-row empty-rows";
    assert_eq!(names.join(" "), known);
}

/// Sums are exact: they come out alike in single and in double precision, and backwards.
#[test]
fn sums_of_the_bench_are_exact() {
    let mut random = Random::new(23);
    let single: Csr<f32> = matrices::skewed(5000).expect("a matrix");
    let double: Csr<f64> = matrices::skewed(5000).expect("a matrix");
    let (x, y) = (operand::<f32>(5000), operand::<f64>(5000));
    let (mut one, mut other) = (vec![0.0; 5000], vec![0.0; 5000]);
    single.multiply(&x, &mut one);
    double.multiply(&y, &mut other);
    for row in (0..200).map(|_| below(&mut random, 5000)).chain([0, 64, 4992]) {
        assert_eq!(f64::from(one[row]), other[row]);
        let entries = double.starts()[row]..double.starts()[row + 1];
        let backwards: f64 =
            entries.rev().map(|at| double.values()[at] * y[double.column_of()[at] as usize]).sum();
        assert_eq!(backwards, other[row]);
    }
}

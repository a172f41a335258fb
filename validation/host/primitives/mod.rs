//! Reductions, transposes, sparse matrices, sums and conjugate gradients against plain loops, on any thread count.

mod matrix;
mod solver;
mod sums;

use nwp_mini_support::random;

use nwp_mini::primitives::csr::Csr;
use nwp_mini::primitives::reduce::{self, CHUNK, Segments};
use nwp_mini::real::Real;

use random::Random;

/// Lengths below, at and above a chunk, with odd numbers of chunks, and enough for many threads.
const LENGTHS: [usize; 9] = [0, 1, 2, 7, 1001, CHUNK, CHUNK + 1, 3 * CHUNK - 1, 37 * CHUNK + 13];

/// Runs `f` in a pool with this number of threads.
fn on_threads<T: Send>(threads: usize, f: impl Fn() -> T + Sync) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    pool.install(&f)
}

/// The result of `f` on one thread, after checking that 2 and 5 threads and a second run agree.
fn same_on_any_threads<T: Send + PartialEq + std::fmt::Debug>(f: impl Fn() -> T + Sync) -> T {
    let alone = on_threads(1, &f);
    for threads in [2, 5, 5] {
        assert_eq!(on_threads(threads, &f), alone, "{threads} threads");
    }
    alone
}

/// A sum with a second word for the rounding errors (Neumaier 1974), accurate to the last bits.
fn careful_sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut dropped) = (0.0, 0.0);
    for x in values {
        let next: f64 = sum + x;
        dropped += if f64::abs(sum) >= x.abs() { (sum - next) + x } else { (x - next) + sum };
        sum = next;
    }
    sum + dropped
}

fn vector<R: Real>(random: &mut Random, length: usize) -> Vec<R> {
    (0..length).map(|_| R::of(random.between(-1.0, 1.0))).collect()
}

fn sums_agree<R: Real>() {
    let mut random = Random::new(11);
    for length in LENGTHS {
        let (x, y): (Vec<R>, Vec<R>) = (vector(&mut random, length), vector(&mut random, length));
        // The documented bound, with the one rounding of each product.
        let steps = (CHUNK as f64 / 8.0) + 8.0 + 1.0 + (length.max(1) as f64).log2();
        let bound = |magnitude: f64| steps * f64::EPSILON / 2.0 * magnitude;

        let sum = same_on_any_threads(|| reduce::sum(&x).to_bits());
        let exact = careful_sum(x.iter().map(|x| x.f64()));
        let magnitude = x.iter().map(|x| x.f64().abs()).sum();
        assert!((f64::from_bits(sum) - exact).abs() <= bound(magnitude), "sum of {length}");

        let dot = same_on_any_threads(|| reduce::dot(&x, &y).to_bits());
        let products = || x.iter().zip(&y).map(|(x, y)| x.f64() * y.f64());
        let magnitude = products().map(f64::abs).sum();
        let exact = careful_sum(products());
        assert!((f64::from_bits(dot) - exact).abs() <= bound(magnitude), "dot of {length}");

        let squares = reduce::sum_of_squares(&x);
        assert!((squares - careful_sum(x.iter().map(|x| x.f64().powi(2)))).abs() <= bound(squares));
    }
}

#[test]
fn sums_are_right_and_the_same_on_any_threads() {
    sums_agree::<f32>();
    sums_agree::<f64>();
}

#[test]
fn a_sum_in_single_precision_would_lose_what_ours_keeps() {
    let values = vec![0.1_f32; 1 << 22];
    let exact = f64::from(0.1_f32) * values.len() as f64;
    assert!((reduce::sum(&values) / exact - 1.0).abs() < 1e-14);
    assert!((f64::from(values.iter().sum::<f32>()) / exact - 1.0).abs() > 1e-3);
}

#[test]
fn extrema_name_the_first_place() {
    let mut random = Random::new(12);
    for length in LENGTHS {
        let mut x: Vec<f32> = vector(&mut random, length);
        if length > 100 {
            // Ties across chunks, and NaN before and between them.
            for at in [3, length / 2, length - 1] {
                (x[at - 1], x[at], x[at - 2]) = (-2.0, 2.0, f32::NAN);
            }
        }
        let found = same_on_any_threads(|| reduce::extrema(&x));
        let numbers = || x.iter().copied().enumerate().filter(|(_, x)| !x.is_nan());
        let max = numbers().reduce(|a, b| if b.1 > a.1 { b } else { a });
        let min = numbers().reduce(|a, b| if b.1 < a.1 { b } else { a });
        assert_eq!(found.map(|e| (e.max_at, e.max)), max, "{length}");
        assert_eq!(found.map(|e| (e.min_at, e.min)), min, "{length}");
    }
    assert_eq!(reduce::extrema(&[f64::NAN; 5]), None);
    let found = reduce::extrema(&[1.0, -3.0, f64::INFINITY]).expect("numbers");
    assert_eq!((found.max, found.max_at, found.min_at), (f64::INFINITY, 2, 1));
    assert!((reduce::extrema(&[1.0_f64, -3.0]).expect("numbers").magnitude() - 3.0).abs() < 1e-15);
}

#[test]
fn values_that_are_not_finite_are_counted_and_the_first_is_found() {
    let mut random = Random::new(13);
    for length in LENGTHS {
        let mut x: Vec<f64> = vector(&mut random, length);
        assert_eq!(reduce::non_finite(&x), reduce::NonFinite::default(), "{length}");
        if length < 100 {
            continue;
        }
        let places = [length / 3, length / 2, length - 1];
        for (at, bad) in places.into_iter().zip([f64::NAN, f64::INFINITY, f64::NEG_INFINITY]) {
            x[at] = bad;
        }
        let found = same_on_any_threads(|| reduce::non_finite(&x));
        assert_eq!((found.count, found.first), (3, Some(places[0])), "{length}");
    }
}

/// Statistics equal the single reductions, for every segment and for a slice.
#[test]
fn statistics_of_segments_are_those_of_slices() {
    let mut random = Random::new(18);
    for length in LENGTHS {
        let segments = Segments { first: 2, length, count: 3, stride: length + 5 };
        let mut x: Vec<f32> = vector(&mut random, segments.end());
        if length > 100 {
            for at in [5, length / 2, 2 * length] {
                (x[at], x[at + 1]) = (f32::NAN, f32::INFINITY);
            }
        }
        let all =
            same_on_any_threads(|| format!("{:?}", reduce::statistics_of_segments(&x, segments)));
        let found = reduce::statistics_of_segments(&x, segments);
        assert_eq!(format!("{found:?}"), all);
        for (number, found) in found.into_iter().enumerate() {
            let start = 2 + number * (length + 5);
            let slice = &x[start..start + length];
            assert_eq!(segments.range(number), start..start + length);
            assert_eq!(found.extrema, reduce::extrema(slice));
            assert_eq!(found.nans, slice.iter().filter(|x| x.is_nan()).count());
            assert_eq!(found.nans, reduce::nan_count(slice));
            assert_eq!(found.sum.to_bits(), reduce::sum(slice).to_bits());
            assert_eq!(found.squares.to_bits(), reduce::sum_of_squares(slice).to_bits());
        }
    }
    assert_eq!(Segments::adjacent(0, 7).end(), 0);
    assert_eq!((Segments::whole(9).end(), Segments::adjacent(4, 3).end()), (9, 12));
}

#[test]
fn whole_numbers_are_reduced_exactly() {
    let mut random = Random::new(19);
    let x: Vec<i32> = (0..100_003).map(|_| random.bits() as i32).collect();
    let sum: i64 = x.iter().map(|&x| i64::from(x)).sum();
    let found = same_on_any_threads(|| reduce::statistics(&x));
    assert_eq!((found.sum, found.nans), (sum as f64, 0));
    assert_eq!(
        found.extrema.map(|e| (e.min, e.max)),
        x.iter().min().copied().zip(x.iter().max().copied())
    );
}

fn below(random: &mut Random, n: usize) -> usize {
    (random.bits() % n as u64) as usize
}

/// Random triplets, many of them repeated, and the corresponding dense matrix.
fn triplets<R: Real>(
    random: &mut Random,
    (rows, columns): (usize, usize),
    count: usize,
) -> (Vec<(usize, usize, R)>, Vec<f64>) {
    let mut dense = vec![0.0; rows * columns];
    let triplets = (0..count)
        .map(|_| {
            let (row, column) = (below(random, rows), below(random, columns));
            let value = R::of(random.between(-1.0, 1.0));
            dense[row * columns + column] += value.f64();
            (row, column, value)
        })
        .collect();
    (triplets, dense)
}

fn products_agree<R: Real>(roundoff: f64) {
    let mut random = Random::new(14);
    // The last one is large enough for several threads.
    let shapes = [(1, 1, 1), (1, 9, 4), (9, 1, 4), (7, 13, 0), (23, 17, 150), (1501, 301, 90_000)];
    for (rows, columns, count) in shapes {
        let (triplets, dense) = triplets::<R>(&mut random, (rows, columns), count);
        let matrix = Csr::from_triplets(rows, columns, &triplets).expect("valid triplets");
        assert_eq!((matrix.rows(), matrix.columns()), (rows, columns));
        let places: std::collections::BTreeSet<_> =
            triplets.iter().map(|&(row, column, _)| (row, column)).collect();
        assert_eq!(matrix.nonzeros(), places.len(), "one entry for each place");

        let x: Vec<R> = vector(&mut random, columns);
        let y = same_on_any_threads(|| {
            let mut y = vec![R::ONE; rows];
            matrix.multiply(&x, &mut y);
            y
        });
        let mut serial = vec![R::ONE; rows];
        matrix.multiply_serial(&x, &mut serial);
        assert_eq!(y, serial);
        // A rounded entry, a rounded product and one addition for each entry of a row.
        let bound = |entries: usize| (entries as f64 + 3.0) * roundoff;
        for row in 0..rows {
            let terms =
                || (0..columns).map(|column| dense[row * columns + column] * x[column].f64());
            let magnitude: f64 = terms().map(f64::abs).sum();
            let error = (y[row].f64() - terms().sum::<f64>()).abs();
            assert!(error <= bound(columns) * magnitude, "row {row} of {rows} x {columns}");
        }

        let x: Vec<R> = vector(&mut random, rows);
        let mut y = vec![R::ONE; columns];
        matrix.multiply_transposed(&x, &mut y);
        for column in 0..columns {
            let terms = || (0..rows).map(|row| dense[row * columns + column] * x[row].f64());
            let magnitude: f64 = terms().map(f64::abs).sum();
            let error = (y[column].f64() - terms().sum::<f64>()).abs();
            assert!(error <= bound(rows) * magnitude, "column {column} of {rows} x {columns}");
        }
    }
}

#[test]
fn sparse_products_are_those_of_the_dense_matrix() {
    products_agree::<f32>(f64::from(f32::EPSILON));
    products_agree::<f64>(f64::EPSILON);
}

#[test]
fn triplets_of_one_place_are_summed_and_columns_are_sorted() {
    let triplets = [(1, 2, 1.0), (0, 1, 5.0), (1, 0, 4.0), (1, 2, 0.5), (0, 1, -5.0)];
    let matrix = Csr::from_triplets(3, 3, &triplets).expect("valid triplets");
    assert_eq!(matrix.starts(), [0, 1, 3, 3]);
    assert_eq!(matrix.column_of(), [1, 0, 2]);
    assert_eq!(matrix.values(), [0.0, 4.0, 1.5]);
    assert_eq!(matrix.diagonal(), [0.0; 3]);
    let parts = Csr::from_parts(3, vec![0, 1, 3, 3], vec![1, 0, 2], vec![0.0, 4.0, 1.5]);
    assert_eq!(parts.expect("valid parts"), matrix);
    // In single precision the small ones would be lost if they were added to the large one one by one.
    let small = [(0, 0, 16_777_216.0), (0, 0, 1.0), (0, 0, 1.0_f32)];
    let matrix = Csr::from_triplets(1, 1, &small).expect("valid triplets");
    assert_eq!(matrix.values(), [16_777_218.0]);
}

#[test]
fn invalid_matrices_are_refused_with_what_is_wrong() {
    let refused = |result: nwp_mini::error::Result<Csr<f64>>, words: &str| {
        let message = result.expect_err(words).to_string();
        assert!(message.contains(words), "{message:?} should say {words:?}");
    };
    refused(Csr::from_triplets(2, 2, &[(2, 0, 1.0)]), "row 2 of a matrix with 2 rows");
    refused(Csr::from_triplets(2, 3, &[(0, 3, 1.0)]), "column 3 of a matrix with 3 columns");
    refused(Csr::from_triplets(2, 2, &[(1, 0, f64::NAN)]), "row 1, column 0 is NaN");
    let parts = |starts: &[usize], column_of: &[u32], values: &[f64]| {
        Csr::from_parts(3, starts.to_vec(), column_of.to_vec(), values.to_vec())
    };
    refused(parts(&[], &[], &[]), "row starts from None");
    refused(parts(&[1, 2], &[0, 1], &[1.0; 2]), "they must run from 0 to 2");
    refused(parts(&[0, 1], &[0, 1], &[1.0; 2]), "they must run from 0 to 2");
    refused(parts(&[0, 2, 1, 2], &[0, 1], &[1.0; 2]), "row 1 starts at entry 2 and ends at 1");
    refused(parts(&[0, 9, 2], &[0, 1], &[1.0; 2]), "must not decrease");
    refused(parts(&[0, 2], &[0], &[1.0; 2]), "1 column indices for 2 values");
    refused(parts(&[0, 2], &[0, 3], &[1.0; 2]), "column 3 of a matrix with 3 columns");
    refused(parts(&[0, 2], &[1, 1], &[1.0; 2]), "column 1 of row 0 is repeated");
    refused(parts(&[0, 2], &[1, 0], &[1.0; 2]), "out of order");
    refused(parts(&[0, 2], &[0, 1], &[1.0, f64::INFINITY]), "row 0, column 1 is inf");
}

//! A number that two states have in common if their cells have the same bits, however the grid is divided.

use ndarray::Axis;
use rayon::prelude::*;

use crate::grid::{Grid, Shape};
use crate::ranks::Ranks;
use crate::real::Real;
use crate::state::State;

/// Bits of a half of a number.
const HALF: u32 = 32;

/// All bits of a number mixed into each of its bits (the finalizer of splitmix64).
fn mixed(mut x: u64) -> u64 {
    x ^= x >> 30;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 27;
    x = x.wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The digest of the cells that a grid owns: a sum over fields and cells, with the number of the field, that of the cell in the
/// global grid, and the bits of the value.
pub(super) fn of_part<R: Real>(grid: &Grid, state: &State<R>) -> u64 {
    let Shape { nx, ny, nz } = grid.global();
    let owned = grid.owned();
    let of_field = |(field, values): (usize, &ndarray::Array3<R>)| {
        let values = owned.of(values);
        let levels = values.axis_iter(Axis(0)).into_par_iter().enumerate();
        let of_level = |(k, level): (usize, ndarray::ArrayView2<'_, R>)| {
            let first = (field * nz + k) * ny;
            level.indexed_iter().fold(0_u64, |sum, ((j, i), value)| {
                let [j, i] = grid.global_column([owned.rows.start + j, owned.columns.start + i]);
                let place = ((first + j) * nx + i) as u64;
                sum.wrapping_add(mixed(mixed(place) ^ value.f64().to_bits()))
            })
        };
        levels.map(of_level).reduce(|| 0, u64::wrapping_add)
    };
    state.fields().iter().enumerate().map(of_field).fold(0, u64::wrapping_add)
}

/// The sum of the digests of all ranks, which call it at once.
pub(super) fn of_all(ranks: &dyn Ranks, own: u64) -> u64 {
    // Halves, whose sums do not overflow.
    let mut halves = [own & u64::from(u32::MAX), own >> HALF].map(u64::cast_signed);
    ranks.sum(&mut halves);
    let [low, high] = halves.map(i64::cast_unsigned);
    low.wrapping_add(high << HALF)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Parts, Side, Sides};
    use crate::physics::registry::usual_set;
    use crate::ranks::of_threads::threads;

    #[test]
    fn any_division_has_the_digest_of_the_whole() {
        let shape = Shape { nx: 23, ny: 17, nz: 3 };
        let grid = Grid::whole(shape, [1.0; 2], Sides::all(Side::Periodic));
        let mut state = State::<f32>::zeros(&usual_set(), shape);
        for (number, field) in state.fields_mut().iter_mut().enumerate() {
            field.indexed_iter_mut().for_each(|((k, j, i), x)| {
                *x = (number * 1000 + k * 100 + j * 10 + i) as f32 * 0.37;
            });
        }
        let whole = of_part(&grid, &state);
        for [columns, rows] in [[&[11][..], &[]], [&[4, 15], &[8]]] {
            let parts = Parts::new(&grid, [columns, rows], [10, 10]);
            let own = parts.grids().iter().map(|part| of_part(part, &state.part(part)));
            assert_eq!(own.fold(0, u64::wrapping_add), whole);
        }
        // Another value, and the same values at other places.
        let mut other = state.clone();
        other.fields_mut()[2][[1, 3, 5]] += 1e-3;
        assert_ne!(of_part(&grid, &other), whole);
        other = state.clone();
        other.fields_mut()[2].swap([1, 3, 5], [1, 3, 6]);
        assert_ne!(of_part(&grid, &other), whole);
        other = state;
        other.fields_mut().swap(0, 1);
        assert_ne!(of_part(&grid, &other), whole);
    }

    #[test]
    fn ranks_add_theirs() {
        let digests = [u64::MAX, 3 << HALF, 1 << 63];
        let expected = digests.into_iter().fold(0, u64::wrapping_add);
        std::thread::scope(|scope| {
            for (ranks, own) in threads(3).into_iter().zip(digests) {
                scope.spawn(move || assert_eq!(of_all(&*ranks, own), expected));
            }
        });
    }
}

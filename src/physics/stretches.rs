//! Columns of fields brought side by side, and put back.

use std::ops::Range;

use ndarray::{ArrayView2, ArrayView3, ArrayViewMut2, ArrayViewMut3, s};

use crate::real::Real;

/// Some of the columns that stand side by side: those of one row of the grid.
pub(super) struct Stretch {
    j: usize,
    columns: Range<usize>,
    /// The first of their places.
    lane: usize,
}

/// Takes (ny, nx) columns in the order of the rows and across their ends, `lanes` at a time; `work` is told their
/// number, too.
pub(super) fn for_stretches(
    [ny, nx]: [usize; 2],
    lanes: usize,
    mut work: impl FnMut(&[Stretch], usize),
) {
    let mut stretches = Vec::with_capacity(lanes);
    for first in (0..ny * nx).step_by(lanes) {
        stretches.clear();
        let end = (first + lanes).min(ny * nx);
        let mut c = first;
        while c < end {
            let (j, i) = (c / nx, c % nx);
            let count = (nx - i).min(end - c);
            stretches.push(Stretch { j, columns: i..i + count, lane: c - first });
            c += count;
        }
        work(&stretches, end - first);
    }
}

/// Copies a field into its rows of the levels.
pub(super) fn take<R: Real, S, L, const N: usize>(
    field: &ArrayView3<'_, R>,
    stretches: &[Stretch],
    levels: &mut [L],
    to: impl Fn(R) -> S,
    row: impl Fn(&mut L) -> &mut [S; N],
) {
    for Stretch { j, columns, lane } in stretches {
        let part = field.slice(s![.., *j, columns.clone()]);
        for (values, level) in part.outer_iter().zip(levels.iter_mut()) {
            for (value, place) in values.iter().zip(&mut row(level)[*lane..]) {
                *place = to(*value);
            }
        }
    }
}

/// Copies rows of the levels into a field.
pub(super) fn give<R: Real, S: Copy, L, const N: usize>(
    field: &mut ArrayViewMut3<'_, R>,
    stretches: &[Stretch],
    levels: &[L],
    from: impl Fn(S) -> R,
    row: impl Fn(&L) -> &[S; N],
) {
    for Stretch { j, columns, lane } in stretches {
        let mut part = field.slice_mut(s![.., *j, columns.clone()]);
        for (mut values, level) in part.outer_iter_mut().zip(levels) {
            for (value, &place) in values.iter_mut().zip(&row(level)[*lane..]) {
                *value = from(place);
            }
        }
    }
}

/// Copies a plane into a row.
pub(super) fn take_plane<R: Real, S>(
    plane: &ArrayView2<'_, R>,
    stretches: &[Stretch],
    to: impl Fn(R) -> S,
    row: &mut [S],
) {
    for Stretch { j, columns, lane } in stretches {
        let part = plane.slice(s![*j, columns.clone()]);
        for (value, place) in part.iter().zip(&mut row[*lane..]) {
            *place = to(*value);
        }
    }
}

/// Copies a row into a plane.
pub(super) fn give_plane<R: Real, S: Copy>(
    plane: &mut ArrayViewMut2<'_, R>,
    stretches: &[Stretch],
    from: impl Fn(S) -> R,
    row: &[S],
) {
    for Stretch { j, columns, lane } in stretches {
        let mut part = plane.slice_mut(s![*j, columns.clone()]);
        for (value, &place) in part.iter_mut().zip(&row[*lane..]) {
            *value = from(place);
        }
    }
}

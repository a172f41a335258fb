//! Gather and scatter of columns of fields for vector (SIMD) instructions.

use std::ops::Range;

use ndarray::{ArrayView1, ArrayView2, ArrayView3, ArrayViewMut1, ArrayViewMut2, ArrayViewMut3, s};

/// A range of adjacent columns of one row of the grid, and their lanes.
pub(crate) struct Stretch {
    /// The row of the grid.
    pub(crate) j: usize,
    /// The columns in it.
    pub(crate) columns: Range<usize>,
    /// Lane of the first column.
    pub(crate) lane: usize,
}

impl Stretch {
    /// The places of the columns.
    fn places(&self) -> Range<usize> {
        self.lane..self.lane + self.columns.len()
    }
}

/// Calls `work` for groups of `lanes` columns of (ny, nx), in row-major order and across the ends of rows, so that few
/// lanes are unused; `work` also gets the number of columns.
pub(crate) fn for_stretches(
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

// A single column is indexed: a view of each level would take longer than the copy.

/// Copies a field into its rows of the levels.
pub(crate) fn take<R: Copy, S, L, const N: usize>(
    field: &ArrayView3<'_, R>,
    stretches: &[Stretch],
    levels: &mut [L],
    to: impl Fn(R) -> S + Copy,
    row: impl Fn(&mut L) -> &mut [S; N],
) {
    for stretch in stretches {
        if N == 1 {
            for (k, level) in levels.iter_mut().enumerate() {
                row(level)[0] = to(field[[k, stretch.j, stretch.columns.start]]);
            }
            continue;
        }
        let part = field.slice(s![.., stretch.j, stretch.columns.clone()]);
        for (values, level) in part.outer_iter().zip(levels.iter_mut()) {
            copy(&values, &mut row(level)[stretch.places()], to);
        }
    }
}

/// Copies rows of the levels into a field.
pub(crate) fn give<R, S: Copy, L, const N: usize>(
    field: &mut ArrayViewMut3<'_, R>,
    stretches: &[Stretch],
    levels: &[L],
    from: impl Fn(S) -> R + Copy,
    row: impl Fn(&L) -> &[S; N],
) {
    for stretch in stretches {
        if N == 1 {
            for (k, level) in levels.iter().enumerate() {
                field[[k, stretch.j, stretch.columns.start]] = from(row(level)[0]);
            }
            continue;
        }
        let mut part = field.slice_mut(s![.., stretch.j, stretch.columns.clone()]);
        for (values, level) in part.outer_iter_mut().zip(levels) {
            copy_back(&row(level)[stretch.places()], values, from);
        }
    }
}

/// Copies a plane into a row.
pub(crate) fn take_plane<R: Copy, S>(
    plane: &ArrayView2<'_, R>,
    stretches: &[Stretch],
    to: impl Fn(R) -> S + Copy,
    row: &mut [S],
) {
    for stretch in stretches {
        let part = plane.slice(s![stretch.j, stretch.columns.clone()]);
        copy(&part, &mut row[stretch.places()], to);
    }
}

/// Copies a row into a plane.
pub(crate) fn give_plane<R, S: Copy>(
    plane: &mut ArrayViewMut2<'_, R>,
    stretches: &[Stretch],
    from: impl Fn(S) -> R + Copy,
    row: &[S],
) {
    for stretch in stretches {
        let part = plane.slice_mut(s![stretch.j, stretch.columns.clone()]);
        copy_back(&row[stretch.places()], part, from);
    }
}

// Slices where the values are contiguous, which they are but for transposed fields: `zip_mut_with` distinguishes layouts
// in a function of its own, whose call for every level and field takes longer than the copy.

#[inline]
fn copy<R: Copy, S>(values: &ArrayView1<'_, R>, places: &mut [S], to: impl Fn(R) -> S) {
    match values.as_slice() {
        Some(values) => {
            places.iter_mut().zip(values).for_each(|(place, value)| *place = to(*value));
        }
        None => places.iter_mut().zip(values).for_each(|(place, value)| *place = to(*value)),
    }
}

#[inline]
fn copy_back<R, S: Copy>(places: &[S], mut values: ArrayViewMut1<'_, R>, from: impl Fn(S) -> R) {
    match values.as_slice_mut() {
        Some(values) => {
            values.iter_mut().zip(places).for_each(|(value, place)| *value = from(*place));
        }
        None => values.iter_mut().zip(places).for_each(|(value, place)| *value = from(*place)),
    }
}

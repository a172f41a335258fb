//! The window of the input that a part of a grid needs, and the points of the part in it.
//!
//! A part has the cells that it owns and a margin; along a periodic axis it may go on around the ends. Where the cells of
//! the input are divided, its points lie between those of the input. Of volumes, only what is needed is read; planes are
//! those of the whole.

use std::ops::Range;

use ndarray::{Array3, s};

use crate::error::Result;
use crate::grid::{Grid, Shape};

/// Staggering of the values along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AxisStagger {
    /// At cell centres.
    Cells,
    /// On faces.
    Faces,
}

/// A fine value between two coarse ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interpolant {
    /// Index of the first coarse value.
    pub(super) from: usize,
    /// Index of the second.
    pub(super) to: usize,
    /// Weight of the second.
    pub(super) weight: f64,
}

/// Interpolation of the values of an axis, with `count` cells in a coarse one, from `length` coarse values.
pub(super) fn places(
    count: usize,
    stand: AxisStagger,
    length: usize,
    is_periodic: bool,
) -> Vec<Interpolant> {
    let fine = count as f64;
    match stand {
        AxisStagger::Faces => (0..=(length - 1) * count)
            .map(|face| {
                let from = (face / count).min(length - 1);
                let to = (from + 1).min(length - 1);
                Interpolant { from, to, weight: (face % count) as f64 / fine }
            })
            .collect(),
        AxisStagger::Cells => (0..length * count)
            .map(|cell| {
                let (coarse, inside) = (cell / count, cell % count);
                // Distance from this coarse cell's centre, in coarse cells.
                let away = (inside as f64 + 0.5) / fine - 0.5;
                let last = length - 1;
                let before = match coarse {
                    0 if is_periodic => last,
                    0 => 0,
                    coarse => coarse - 1,
                };
                let after = match coarse {
                    coarse if coarse < last => coarse + 1,
                    _ if is_periodic => 0,
                    _ => last,
                };
                if away < 0.0 {
                    Interpolant { from: before, to: coarse, weight: 1.0 + away }
                } else {
                    Interpolant { from: coarse, to: after, weight: away }
                }
            })
            .collect(),
    }
}

/// Points along an axis: those of the input that are read, and those of the part.
#[derive(Clone, Debug)]
pub(super) struct AxisWindow {
    /// Numbers in the input of the points that are read, in ascending order.
    pub(super) read: Vec<usize>,
    /// Numbers of the points of the part in the grid of the run.
    pub(super) points: Vec<usize>,
    /// Number of points of the input.
    pub(super) length: usize,
}

impl AxisWindow {
    /// The points that are read, as few ranges.
    fn ranges(&self) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for &point in &self.read {
            match ranges.last_mut() {
                Some(last) if last.end == point => last.end += 1,
                _ => ranges.push(point..point + 1),
            }
        }
        ranges
    }

    /// Place of a point of the input among those that are read.
    pub(super) fn place(&self, point: usize) -> usize {
        self.read.partition_point(|other| *other < point)
    }
}

/// Window of the input of a part.
#[derive(Clone, Debug)]
pub(crate) struct InputWindow {
    /// Cells and faces along y and along x.
    y: [AxisWindow; 2],
    x: [AxisWindow; 2],
}

impl InputWindow {
    /// The points that a part of a run needs of an input on the grid `coarse`, whose cells are divided into `count` x `count`.
    /// The last face of a periodic axis is the first one.
    pub(crate) fn of_part(coarse: &Grid, count: usize, part: &Grid) -> Self {
        Self::new(coarse, count, part, true)
    }

    /// Some rows of an input, as it is stored.
    pub(crate) fn of_rows(rows: &Grid) -> Self {
        Self::new(&rows.whole_grid(), 1, rows, false)
    }

    fn new(coarse: &Grid, count: usize, part: &Grid, is_joined: bool) -> Self {
        let [rows, columns] = part.global_points([0, 0]);
        let [row_faces, column_faces] = part.global_points([1, 1]);
        let Shape { nx, ny, .. } = coarse.shape;
        let sides = coarse.sides;
        let axis = |[cells, faces]: [Vec<usize>; 2], n: usize, is_periodic: bool| {
            let joined = |face: usize| if face == n * count && is_joined { 0 } else { face };
            let faces = if is_periodic { faces.into_iter().map(joined).collect() } else { faces };
            let window = |points: Vec<usize>, stagger: AxisStagger, length: usize| {
                let mut read: Vec<usize> = if count == 1 {
                    points.clone()
                } else {
                    let all = places(count, stagger, length, is_periodic);
                    points.iter().flat_map(|point| [all[*point].from, all[*point].to]).collect()
                };
                read.sort_unstable();
                read.dedup();
                AxisWindow { read, points, length }
            };
            [window(cells, AxisStagger::Cells, n), window(faces, AxisStagger::Faces, n + 1)]
        };
        Self {
            y: axis([rows, row_faces], ny, sides.periodic_y()),
            x: axis([columns, column_faces], nx, sides.periodic_x()),
        }
    }

    /// Points along y and x, with so many more than cells along each.
    pub(super) fn axes(&self, more: [usize; 2]) -> [&AxisWindow; 2] {
        [&self.y[more[0]], &self.x[more[1]]]
    }

    /// Reads the window of a volume; `read` gives the values of ranges of levels, rows and columns.
    pub(in crate::io) fn volume<T: Copy + Default>(
        &self,
        (levels, more): (usize, [usize; 2]),
        mut read: impl FnMut([Range<usize>; 3]) -> Result<Vec<T>>,
    ) -> Result<Array3<T>> {
        let [y, x] = self.axes(more);
        let (rows, columns) = (y.ranges(), x.ranges());
        let mut whole = Array3::from_elem((levels, y.read.len(), x.read.len()), T::default());
        for rows in rows {
            for columns in &columns {
                let [j, i] = [y.place(rows.start), x.place(columns.start)];
                let values = read([0..levels, rows.clone(), columns.clone()])?;
                let shape = (levels, rows.len(), columns.len());
                let values = Array3::from_shape_vec(shape, values).expect("values of the ranges");
                whole.slice_mut(s![.., j..j + shape.1, i..i + shape.2]).assign(&values);
            }
        }
        Ok(whole)
    }

    /// The points of the part of a volume of the window, so many more than cells along y and x, where the cells of the input
    /// are not divided.
    pub(in crate::io) fn picked<T: Copy>(&self, field: Array3<T>, more: [usize; 2]) -> Array3<T> {
        let [y, x] = self.axes(more);
        let is_same = |axis: &AxisWindow| axis.read == axis.points;
        if is_same(y) && is_same(x) {
            return field;
        }
        let place = |axis: &AxisWindow| -> Vec<usize> {
            axis.points.iter().map(|point| axis.place(*point)).collect()
        };
        let (y, x) = (place(y), place(x));
        let shape = (field.dim().0, y.len(), x.len());
        Array3::from_shape_fn(shape, |(k, j, i)| field[[k, y[j], x[i]]])
    }

    /// Shape of volumes of the window of an input with so many levels.
    pub(super) fn shape(&self, nz: usize) -> Shape {
        Shape { nx: self.x[0].read.len(), ny: self.y[0].read.len(), nz }
    }

    /// The cell or face of the input of one of the window, in a field of so many rows and columns.
    pub(super) fn place(&self, [j, i]: [usize; 2], [rows, columns]: [usize; 2]) -> [usize; 2] {
        let along = |axes: &[AxisWindow; 2], count: usize, at: usize| {
            let axis = usize::from(axes[0].read.len() != count);
            axes[axis].read[at]
        };
        [along(&self.y, rows, j), along(&self.x, columns, i)]
    }
}

//! Vertical cross section through the fields, along a line between two points.

use ndarray::{Array2, Array3};

use crate::grid::Shape;
use crate::primitives::interpolation::at_height;
use crate::state::memory;

/// A line through the grid. Points are in cells, relative to the centre of the first cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    /// Start, (i, j) in cells.
    pub from: [f64; 2],
    /// End, (i, j) in cells.
    pub to: [f64; 2],
}

/// A vertical cross section.
#[derive(Clone, Debug)]
pub(crate) struct CrossSection {
    /// Four cells around each point along the line, and their weights.
    around: Vec<[([usize; 2], f64); 4]>,
    /// Height of the middles of the layers, m. Shape: (point, layer).
    middles: Array2<f64>,
    /// Height of the interfaces of the layers, m. Shape: (point, interface).
    faces: Array2<f64>,
    /// Height of the upper edge, m.
    top: f64,
    rows: usize,
}

impl Line {
    /// The line through a point in a direction, between the sides of the grid; `angle` counts from x to y, in radians.
    pub(crate) fn through(place: [f64; 2], angle: f64, shape: Shape) -> Self {
        let direction = [angle.cos(), angle.sin()];
        let most = [shape.nx - 1, shape.ny - 1].map(|last| last as f64);
        let reach = |sign: f64| {
            let along = (0..2).map(|axis| {
                let step = sign * direction[axis];
                if step > 1e-12 {
                    (most[axis] - place[axis]) / step
                } else if step < -1e-12 {
                    -place[axis] / step
                } else {
                    f64::INFINITY
                }
            });
            let reach = along.fold(f64::INFINITY, f64::min);
            [0, 1].map(|axis| (place[axis] + sign * reach * direction[axis]).clamp(0.0, most[axis]))
        };
        Self { from: reach(-1.0), to: reach(1.0) }
    }

    /// Length of the line, in the units of the cell size.
    pub(crate) fn length(&self, cell: [f64; 2]) -> f64 {
        let [x, y] = [0, 1].map(|axis| (self.to[axis] - self.from[axis]) * cell[axis]);
        x.hypot(y)
    }

    /// Unit vector along the line, for cells of a given size.
    pub(crate) fn direction(&self, cell: [f64; 2]) -> [f64; 2] {
        let length = self.length(cell);
        [0, 1].map(|axis| (self.to[axis] - self.from[axis]) * cell[axis] / length)
    }
}

impl CrossSection {
    /// A section with `columns` points along a line and `rows` heights from 0 to `top`, at the middles of equal
    /// intervals.
    ///
    /// Shape of `faces`, the heights of the interfaces: (nz + 1, ny, nx). Units: m.
    pub(crate) fn new(
        line: Line,
        faces: &Array3<f32>,
        [columns, rows]: [usize; 2],
        top: f64,
    ) -> Self {
        let (levels, ny, nx) = faces.dim();
        let around: Vec<_> = (0..columns)
            .map(|n| {
                let share = (n as f64 + 0.5) / columns as f64;
                let at = |axis: usize| line.from[axis] + share * (line.to[axis] - line.from[axis]);
                around([at(0), at(1)], [nx, ny])
            })
            .collect();
        let height =
            |place: usize, k: usize| mean(&around[place], |[j, i]| faces[[k, j, i]].into());
        let faces = Array2::from_shape_fn((columns, levels), |(n, k)| height(n, k));
        let middles = Array2::from_shape_fn((columns, levels - 1), |(n, k)| {
            f64::midpoint(faces[[n, k]], faces[[n, k + 1]])
        });
        Self { around, middles, faces, top, rows }
    }

    /// Height of the ground along the line, m.
    pub(crate) fn ground(&self) -> Vec<f64> {
        self.faces.column(0).to_vec()
    }

    /// A field on the section, linear between the middles of the layers, or between the interfaces if it is defined
    /// there; NaN below the ground and above the top.
    ///
    /// Shape of `field`: (nz or nz + 1, ny, nx). Returns the shape (rows, columns).
    pub(crate) fn of(&self, field: &Array3<f32>) -> Array2<f64> {
        let levels = field.dim().0;
        let heights = if levels == self.faces.dim().1 { &self.faces } else { &self.middles };
        let heights = memory(heights).chunks_exact(levels);
        let columns = self.around.len();
        let mut cut = Array2::from_elem((self.rows, columns), f64::NAN);
        for ((n, around), heights) in self.around.iter().enumerate().zip(heights) {
            let profile: Vec<f64> =
                (0..levels).map(|k| mean(around, |[j, i]| field[[k, j, i]].into())).collect();
            let faces = self.faces.row(n);
            let [ground, lid] = [faces[0], faces[faces.len() - 1]];
            for row in 0..self.rows {
                let z = (row as f64 + 0.5) / self.rows as f64 * self.top;
                if (ground..=lid).contains(&z) {
                    cut[[row, n]] = at_height(heights, &profile, z);
                }
            }
        }
        cut
    }
}

/// The four cells `[j, i]` around a point, and their weights.
pub(crate) fn around([x, y]: [f64; 2], [nx, ny]: [usize; 2]) -> [([usize; 2], f64); 4] {
    let along = |at: f64, n: usize| {
        let at = at.clamp(0.0, (n - 1) as f64);
        let low = (at as usize).min(n.saturating_sub(2));
        ([low, (low + 1).min(n - 1)], at - low as f64)
    };
    let ((i, s), (j, t)) = (along(x, nx), along(y, ny));
    [
        ([j[0], i[0]], (1.0 - s) * (1.0 - t)),
        ([j[0], i[1]], s * (1.0 - t)),
        ([j[1], i[0]], (1.0 - s) * t),
        ([j[1], i[1]], s * t),
    ]
}

/// Weighted mean of the cells around a point; cells of weight 0 may be NaN.
pub(crate) fn mean(around: &[([usize; 2], f64); 4], value: impl Fn([usize; 2]) -> f64) -> f64 {
    around.iter().filter(|(_, weight)| *weight > 0.0).map(|(at, weight)| weight * value(*at)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { nx: 11, ny: 6, nz: 4 };

    /// A linear field is reproduced exactly, over sloping ground.
    #[test]
    fn linear_fields_are_cut_exactly() {
        let faces =
            Array3::from_shape_fn(SHAPE.z_face(), |(k, _, i)| 100.0 * i as f32 + 1000.0 * k as f32);
        let height = |k: usize, i: usize| f32::midpoint(faces[[k, 0, i]], faces[[k + 1, 0, i]]);
        let field = Array3::from_shape_fn(SHAPE.centre(), |(k, j, i)| {
            2.0 * j as f32 - i as f32 + 0.01 * height(k, i)
        });
        let line = Line { from: [1.0, 0.5], to: [9.0, 4.5] };
        let cut = CrossSection::new(line, &faces, [40, 50], 6000.0);
        let section = cut.of(&field);
        let mut seen = 0;
        for ((row, n), &found) in section.indexed_iter() {
            let share = (n as f64 + 0.5) / 40.0;
            let [i, j] = [1.0 + 8.0 * share, 0.5 + 4.0 * share];
            let z = (row as f64 + 0.5) / 50.0 * 6000.0;
            let ground = 100.0 * i;
            if z < ground || z > ground + 4000.0 {
                assert!(found.is_nan(), "{row} {n}");
            } else if (ground + 500.0..ground + 3500.0).contains(&z) {
                assert!((found - (2.0 * j - i + 0.01 * z)).abs() < 1e-4, "{row} {n}: {found}");
                seen += 1;
            }
        }
        assert!(seen > 500);
        assert!((cut.ground()[0] - 110.0).abs() < 1e-9);
        assert!((cut.of(&faces)[[20, 0]] - 2460.0).abs() < 1e-9, "the height of a height");
    }

    #[test]
    fn lines_reach_the_sides() {
        let line = Line::through([4.0, 2.0], 0.0, SHAPE);
        assert_eq!((line.from, line.to), ([0.0, 2.0], [10.0, 2.0]));
        let line = Line::through([4.0, 2.0], std::f64::consts::FRAC_PI_4, SHAPE);
        assert!((line.from[0] - 2.0).abs() < 1e-9 && line.from[1].abs() < 1e-9, "{line:?}");
        assert!((line.length([3.0, 3.0]) - 3.0 * 50_f64.sqrt()).abs() < 1e-9);
        let [x, y] = line.direction([3.0, 3.0]);
        assert!((x - y).abs() < 1e-9 && (x.hypot(y) - 1.0).abs() < 1e-12);
    }
}

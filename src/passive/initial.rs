//! Initial values of passive tracers.

use std::sync::Arc;

use ndarray::Array3;

use super::species::HeightProfile;
use crate::grid::Grid;

/// Initial values of a tracer.
#[derive(Clone, Debug, PartialEq)]
pub enum Initial {
    /// A shape in space.
    Shape(SpatialPattern),
    /// A profile as a function of height above the ground.
    HeightProfile(Arc<HeightProfile>),
    /// A variable of the input.
    Variable(&'static str),
    /// The values of another tracer, by its index in the set.
    Tracer(usize),
}

/// A shape in space: `value` inside, `background` outside, in the units of the tracer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpatialPattern {
    /// Region of the shape.
    pub kind: Pattern,
    /// Value in the region; for a Gaussian, the maximum above the background.
    pub value: f64,
    /// Value elsewhere.
    pub background: f64,
}

/// Region of a shape. Lengths in m: heights above the ground, x and y from the south-western corner of the grid along
/// its axes, with cells of the size `DX` by `DY`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// Everything.
    Everywhere,
    /// All cells between two heights.
    Layer([f64; 2]),
    /// The cells between two heights within half a width of the centre along x and along y.
    Box {
        /// Lower and upper height.
        heights: [f64; 2],
        /// x and y of the centre; `None` for that of the grid.
        centre: Option<[f64; 2]>,
        /// Width along x and along y.
        width: [f64; 2],
    },
    /// exp(−½ Σ (distance / width)²) around a centre. Without a height of the centre it is independent of height,
    /// between two heights if these are given.
    Gaussian {
        /// Lower and upper height.
        heights: [f64; 2],
        /// x and y of the centre; `None` for that of the grid.
        centre: Option<[f64; 2]>,
        /// Height of the centre.
        height: Option<f64>,
        /// Standard deviations along x, y and z.
        width: [f64; 3],
    },
}

/// Positions of the cells of a frame.
#[derive(Clone, Copy, Debug)]
pub struct CellPositions<'a> {
    /// The grid, or a part of it.
    pub grid: &'a Grid,
    /// Height of the middle of the cells above the ground, m. Shape: (nz, ny, nx).
    pub heights: &'a Array3<f64>,
}

impl SpatialPattern {
    /// The values in all cells. Shape: (nz, ny, nx).
    pub(super) fn field(&self, place: &CellPositions<'_>) -> Array3<f32> {
        let Self { kind, value, background } = *self;
        let at = |k: usize, j: usize, i: usize| place.heights[[k, j, i]];
        let whole = place.grid.whole_grid();
        let [rows, columns] = place.grid.global_points([0, 0]);
        Array3::from_shape_fn(place.grid.shape.centre(), |(k, j, i)| {
            let weight_of_cell = kind.weight_of_cell(&whole, [columns[i], rows[j]], at(k, j, i));
            // Exactly `value` or `background` unless the share is between 0 and 1.
            let mixed = match kind {
                Pattern::Gaussian { .. } => background + value * weight_of_cell,
                _ if weight_of_cell > 0.0 => value,
                _ => background,
            };
            mixed as f32
        })
    }
}

impl Pattern {
    /// Weight of a cell at a height, 0 to 1: the part of it that is inside.
    fn weight_of_cell(self, grid: &Grid, [i, j]: [usize; 2], z: f64) -> f64 {
        let within = |[low, high]: [f64; 2]| f64::from(u8::from((low..=high).contains(&z)));
        match self {
            Self::Everywhere => 1.0,
            Self::Layer(heights) => within(heights),
            Self::Box { heights, centre, width } => {
                let away = distances(grid, [i, j], centre);
                let is_inside = away.iter().zip(width).all(|(away, width)| *away <= 0.5 * width);
                f64::from(u8::from(is_inside)) * within(heights)
            }
            Self::Gaussian { heights, centre, height, width: [x, y, z_width] } => {
                let [along_x, along_y] = distances(grid, [i, j], centre);
                let above = height.map_or(0.0, |height| z - height);
                let squares =
                    (along_x / x).powi(2) + (along_y / y).powi(2) + (above / z_width).powi(2);
                (-0.5 * squares).exp() * within(heights)
            }
        }
    }
}

/// Distances of a column from a centre along x and along y, m; the shorter distance on a periodic axis.
fn distances(grid: &Grid, [i, j]: [usize; 2], centre: Option<[f64; 2]>) -> [f64; 2] {
    let Grid { shape, dx, dy, sides, .. } = *grid;
    let along = |cell: usize, count: usize, d: f64, middle: Option<f64>, is_periodic: bool| {
        let length = count as f64 * d;
        let away = ((cell as f64 + 0.5) * d - middle.unwrap_or(0.5 * length)).abs();
        if is_periodic { away.min((length - away).abs()) } else { away }
    };
    [
        along(i, shape.nx, dx, centre.map(|[x, _]| x), sides.periodic_x()),
        along(j, shape.ny, dy, centre.map(|[_, y]| y), sides.periodic_y()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{self, Side, Sides};

    fn field(kind: Pattern, side: Side) -> Array3<f32> {
        let shape = grid::Shape { nx: 8, ny: 6, nz: 3 };
        let grid = Grid::whole(shape, [1000.0; 2], Sides::all(side));
        let heights = Array3::from_shape_fn(shape.centre(), |(k, _, _)| 500.0 + 1000.0 * k as f64);
        let shape = SpatialPattern { kind, value: 2.0, background: 0.5 };
        shape.field(&CellPositions { grid: &grid, heights: &heights })
    }

    #[test]
    fn shapes_are_where_they_should_be() {
        assert!(field(Pattern::Everywhere, Side::Open).iter().all(|x| *x == 2.0));
        let layer = field(Pattern::Layer([1000.0, 2000.0]), Side::Open);
        assert!([0, 1, 2].map(|k| layer[[k, 3, 4]]) == [0.5, 2.0, 0.5]);
        let kind = Pattern::Box { heights: [0.0, 1000.0], centre: None, width: [2000.0, 4000.0] };
        let inside = field(kind, Side::Open);
        let count = inside.iter().filter(|x| **x == 2.0).count();
        assert_eq!((count, inside[[0, 2, 3]], inside[[0, 2, 5]]), (8, 2.0, 0.5));
        let kind = Pattern::Gaussian {
            heights: [f64::NEG_INFINITY, f64::INFINITY],
            centre: Some([500.0, 500.0]),
            height: Some(500.0),
            width: [1000.0, 1000.0, 1000.0],
        };
        let hill = field(kind, Side::Open);
        assert_eq!(hill[[0, 0, 0]], 2.5);
        let one_away = 0.5 + 2.0 * (-0.5_f64).exp() as f32;
        for at in [[1, 0, 0], [0, 1, 0], [0, 0, 1]] {
            assert!((hill[at] - one_away).abs() < 1e-6, "{at:?}: {}", hill[at]);
        }
        let around = field(kind, Side::Periodic);
        assert!((around[[0, 0, 7]] - one_away).abs() < 1e-6 && hill[[0, 0, 7]] < 0.51);
    }
}

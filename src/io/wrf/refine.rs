//! Refinement of a grid in memory: every cell is divided into N x N.
//!
//! All fields are interpolated linearly along x and along y, from the positions of their staggering; so no new extrema
//! arise. Within half a coarse cell of a side that is not periodic, cell values are constant. Terrain, column mass,
//! pressure and geopotential are interpolated alike, so that they stay consistent. The winds are projected again, on
//! the fine grid.
//!
//! # Decisions
//!
//! **Refinement interpolates the input, and derives the rest on the fine grid.** Linear interpolation is applied to
//! each field of the input; density, depth of the layers and winds that conserve mass are computed from these on the
//! fine grid.

use ndarray::{Array, Array2, Array3, Axis, Dimension};
use rayon::prelude::*;

use super::window::{AxisStagger, AxisWindow, InputWindow, Interpolant, places};
use super::{Domain, Frame};
use crate::dry_mass::{FaceMaps, MassCoordinate};
use crate::grid::{Grid, Shape, Sides};
use crate::real::Real;

/// Refinement of a grid.
#[derive(Clone, Copy, Debug)]
struct Division {
    /// Fine cells in a coarse one along x and along y.
    count: usize,
    sides: Sides,
}

impl Division {
    /// Interpolation of the points of a part of an axis, from those that its window has.
    fn places_in(
        self,
        window: &AxisWindow,
        stand: AxisStagger,
        is_periodic: bool,
    ) -> Vec<Interpolant> {
        let all = places(self.count, stand, window.length, is_periodic);
        let place = |point: &usize| {
            let Interpolant { from, to, weight } = all[*point];
            Interpolant { from: window.place(from), to: window.place(to), weight }
        };
        window.points.iter().map(place).collect()
    }

    /// The fine values of a field whose last two axes are y and x.
    fn field<T: Real, D: Dimension>(
        self,
        field: &Array<T, D>,
        [y, x]: [AxisStagger; 2],
    ) -> Array<T, D> {
        let axes = field.ndim();
        let (rows, columns) = (field.len_of(Axis(axes - 2)), field.len_of(Axis(axes - 1)));
        let x = places(self.count, x, columns, self.sides.periodic_x());
        let y = places(self.count, y, rows, self.sides.periodic_y());
        Self::interpolated(field, [&y, &x])
    }

    /// The fine values of a part, of the window of a volume with so many more points than cells along y and x.
    fn part<T: Real>(self, field: &Array3<T>, window: &InputWindow, more: [usize; 2]) -> Array3<T> {
        let stand = |more| if more == 0 { AxisStagger::Cells } else { AxisStagger::Faces };
        let [y, x] = window.axes(more);
        let y = self.places_in(y, stand(more[0]), self.sides.periodic_y());
        let x = self.places_in(x, stand(more[1]), self.sides.periodic_x());
        Self::interpolated(field, [&y, &x])
    }

    /// Values between those of a field whose last two axes are y and x: along y first, then along x. Rows are computed on
    /// all threads, each from the two adjacent coarse ones.
    fn interpolated<T: Real, D: Dimension>(
        field: &Array<T, D>,
        [y, x]: [&[Interpolant]; 2],
    ) -> Array<T, D> {
        let axes = field.ndim();
        let (axis_y, axis_x) = (Axis(axes - 2), Axis(axes - 1));
        let (rows, columns) = (field.len_of(axis_y), field.len_of(axis_x));
        let mut shape = field.raw_dim();
        (shape[axis_y.index()], shape[axis_x.index()]) = (y.len(), x.len());
        let mut fine = Array::zeros(shape);
        let coarse = field.as_standard_layout();
        let coarse = coarse.as_slice().expect("standard layout");
        let values = fine.as_slice_mut().expect("standard layout");
        values.par_chunks_mut(x.len()).enumerate().for_each_init(Vec::new, |row, (at, fine)| {
            let level = at / y.len();
            let Interpolant { from, to, weight } = y[at % y.len()];
            let [from, to] = [from, to].map(|j| &coarse[(level * rows + j) * columns..][..columns]);
            row.clear();
            row.extend(from.iter().zip(to).map(|(a, b)| between(*a, *b, weight)));
            for (out, &Interpolant { from, to, weight }) in fine.iter_mut().zip(x) {
                *out = between(row[from], row[to], weight);
            }
        });
        fine
    }

    fn cells<T: Real, D: Dimension>(self, field: &Array<T, D>) -> Array<T, D> {
        self.field(field, [AxisStagger::Cells, AxisStagger::Cells])
    }

    fn faces_x<T: Real, D: Dimension>(self, field: &Array<T, D>) -> Array<T, D> {
        self.field(field, [AxisStagger::Cells, AxisStagger::Faces])
    }

    fn faces_y<T: Real, D: Dimension>(self, field: &Array<T, D>) -> Array<T, D> {
        self.field(field, [AxisStagger::Faces, AxisStagger::Cells])
    }
}

/// Linear interpolation: `a + weight (b - a)`, in double precision; exactly `a` for weight 0.
fn between<R: Real>(a: R, b: R, weight: f64) -> R {
    R::of(a.f64() + weight * (b.f64() - a.f64()))
}

/// The grid with every cell divided into `count` x `count`.
pub(crate) fn grid(coarse: &Grid, count: usize) -> Grid {
    let Shape { nx, ny, nz } = coarse.shape;
    let shape = Shape { nx: nx * count, ny: ny * count, nz };
    let parts = count as f64;
    Grid::whole(shape, [coarse.dx / parts, coarse.dy / parts], coarse.sides)
}

/// The domain with every cell divided into `count` x `count`.
pub(crate) fn domain(coarse: &Domain, count: usize) -> Domain {
    let divide = Division { count, sides: coarse.grid.sides };
    let parts = count as f64;
    let FaceMaps { u_x, u_y, v_x, v_y } = &coarse.face_maps;
    let MassCoordinate { mu, map_x, map_y, unit, .. } = &coarse.coordinate;
    Domain {
        grid: grid(&coarse.grid, count),
        coordinate: MassCoordinate {
            mu: divide.cells(mu),
            map_x: divide.cells(map_x),
            map_y: divide.cells(map_y),
            unit: unit / (parts * parts),
            ..coarse.coordinate.clone()
        },
        face_maps: FaceMaps {
            u_x: divide.faces_x(u_x),
            u_y: divide.faces_x(u_y),
            v_x: divide.faces_y(v_x),
            v_y: divide.faces_y(v_y),
        },
        latitude: coarse.latitude.as_ref().map(|plane| divide.cells(plane)),
        longitude: coarse
            .longitude
            .as_ref()
            .map(|plane| divide.cells(&unwrapped(plane)).mapv(wrapped)),
        terrain: divide.cells(&coarse.terrain),
        dt: coarse.dt.map(|dt| dt / parts),
        ..coarse.clone()
    }
}

/// The fields of one time on the grid with every cell divided into `count` x `count`.
pub(crate) fn frame(coarse: &Frame, sides: Sides, count: usize) -> Frame {
    let divide = Division { count, sides };
    let column_mass = coarse.column_mass.each_ref().map(|plane| divide.cells(plane));
    Frame {
        time: coarse.time,
        state: coarse.state.map(|field| divide.cells(field)),
        u: divide.faces_x(&coarse.u),
        v: divide.faces_y(&coarse.v),
        pressure: coarse.pressure.each_ref().map(|field| divide.cells(field)),
        geopotential: coarse.geopotential.each_ref().map(|field| divide.cells(field)),
        column_mass,
        sources: coarse.sources.iter().map(|field| divide.cells(field)).collect(),
        photolysis: coarse.photolysis.iter().map(|field| divide.cells(field)).collect(),
    }
}

/// The fields of one time on a part of the grid with every cell divided into `count` x `count`, from those of its window;
/// planes are those of the whole.
pub(super) fn frame_of_part(
    coarse: Frame,
    (sides, count): (Sides, usize),
    window: &InputWindow,
) -> Frame {
    let divide = Division { count, sides };
    let on_part = |field: Array3<f32>, more: [usize; 2]| {
        if count == 1 { window.picked(field, more) } else { divide.part(&field, window, more) }
    };
    let cells = |field: Array3<f32>| on_part(field, [0, 0]);
    let mass = |plane: Array2<f32>| if count == 1 { plane } else { divide.cells(&plane) };
    Frame {
        time: coarse.time,
        state: coarse.state.into_map(cells),
        u: on_part(coarse.u, [0, 1]),
        v: on_part(coarse.v, [1, 0]),
        pressure: coarse.pressure.map(cells),
        geopotential: coarse.geopotential.map(cells),
        column_mass: coarse.column_mass.map(mass),
        sources: coarse.sources.into_iter().map(cells).collect(),
        photolysis: coarse.photolysis.into_iter().map(cells).collect(),
    }
}

/// Degrees of longitude in a turn.
const TURN: f32 = 360.0;

/// Longitudes without jumps of 360 degrees if the date line crosses the grid.
fn unwrapped(plane: &Array2<f32>) -> Array2<f32> {
    let first = plane.first().copied().unwrap_or_default();
    plane.mapv(|x| x - TURN * ((x - first) / TURN).round())
}

/// A longitude between -180 and 180.
fn wrapped(x: f32) -> f32 {
    if x.abs() <= 0.5 * TURN { x } else { x - TURN * (x / TURN).round() }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::sync::Arc;

    use ndarray::s;

    use super::*;
    use crate::grid::{Parts, Side};
    use crate::physics::registry::usual_set;
    use crate::state::State;

    /// A frame of numbers that differ from point to point.
    fn frame_of(shape: Shape) -> Frame {
        let field = |(nz, ny, nx): (usize, usize, usize)| {
            Array3::from_shape_fn((nz, ny, nx), |(k, j, i)| (k * 1000 + j * 37 + i * i) as f32)
        };
        let cells = || field(shape.centre());
        let set = usual_set();
        Frame {
            time: crate::calendar::START,
            state: State::new(Arc::clone(&set), (0..set.len()).map(|_| cells()).collect()),
            u: field(shape.x_face()),
            v: field(shape.y_face()),
            pressure: [cells(), cells()],
            geopotential: [field(shape.z_face()), field(shape.z_face())],
            column_mass: [0, 1].map(|_| Array2::zeros((shape.ny, shape.nx))),
            sources: Vec::new(),
            photolysis: Vec::new(),
        }
    }

    /// The same along x as along y.
    fn divided(values: &[f64], stand: AxisStagger, side: Side, count: usize) -> Vec<f64> {
        let divide = Division { count, sides: Sides::all(side) };
        let along = |shape, stands| {
            let field = Array2::from_shape_vec(shape, values.to_vec()).expect("a row or a column");
            divide.field(&field, stands)
        };
        let row = along((1, values.len()), [AxisStagger::Cells, stand]).row(0).to_vec();
        let column = along((values.len(), 1), [stand, AxisStagger::Cells]).column(0).to_vec();
        assert_eq!(row, column);
        row
    }

    fn near(found: &[f64], wanted: &[f64]) {
        assert_eq!(found.len(), wanted.len());
        for (a, b) in found.iter().zip(wanted) {
            assert!((a - b).abs() < 1e-12, "{found:?} {wanted:?}");
        }
    }

    #[test]
    fn cells_lie_between_the_middles_of_coarse_ones() {
        let coarse = [0.0, 4.0, 8.0];
        let held = divided(&coarse, AxisStagger::Cells, Side::Specified, 2);
        near(&held, &[0.0, 1.0, 3.0, 5.0, 7.0, 8.0]);
        let around = divided(&coarse, AxisStagger::Cells, Side::Periodic, 2);
        near(&around, &[2.0, 1.0, 3.0, 5.0, 7.0, 6.0]);
        // The middle of three keeps the coarse value to the last bit.
        let thirds = divided(&[0.1, 0.7], AxisStagger::Cells, Side::Open, 3);
        assert_eq!((thirds[1], thirds[4]), (0.1, 0.7));
    }

    #[test]
    fn coarse_faces_keep_their_values() {
        let fine = divided(&[0.0, 4.0, -2.0], AxisStagger::Faces, Side::Specified, 4);
        near(&fine, &[0.0, 1.0, 2.0, 3.0, 4.0, 2.5, 1.0, -0.5, -2.0]);
    }

    #[test]
    fn one_part_changes_nothing() {
        let coarse = [0.3, -4.1, 8.7, 2.2];
        for stand in [AxisStagger::Cells, AxisStagger::Faces] {
            assert_eq!(divided(&coarse, stand, Side::Periodic, 1), coarse);
        }
    }

    #[test]
    fn the_date_line_is_no_cliff() {
        let plane = Array2::from_shape_vec((1, 2), vec![179.0_f32, -179.0]).expect("two values");
        let divide = Division { count: 2, sides: Sides::all(Side::Open) };
        let fine = divide.cells(&unwrapped(&plane)).mapv(wrapped);
        let wanted = [179.0, 179.5, -179.5, -179.0];
        for (found, wanted) in fine.row(0).iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-4, "{fine}");
        }
    }

    /// Volumes of every part, read as windows, are those of the whole, with divided cells and without.
    #[test]
    fn windows_give_the_points_of_the_parts() {
        for (x, y, count) in [
            (Side::Periodic, Side::Open, 1),
            (Side::Specified, Side::Periodic, 1),
            (Side::Periodic, Side::Open, 3),
            (Side::Specified, Side::Periodic, 2),
        ] {
            let sides = Sides { west: x, east: x, south: y, north: y };
            let coarse = Grid::whole(Shape { nx: 12, ny: 13, nz: 2 }, [1.0; 2], sides);
            let fine = grid(&coarse, count);
            let all = frame_of(coarse.shape);
            let whole = if count == 1 { all.clone() } else { frame(&all, sides, count) };
            let cuts = [&[5 * count, 9 * count][..], &[6 * count][..]];
            for part in Parts::new(&fine, cuts, [4; 2]).grids() {
                let window = InputWindow::of_part(&coarse, count, part);
                let read = |field: &Array3<f32>, more: [usize; 2]| {
                    let read = |[z, y, x]: [Range<usize>; 3]| {
                        Ok(field.slice(s![z, y, x]).iter().copied().collect())
                    };
                    window.volume((field.dim().0, more), read).expect("values")
                };
                let cells = |field: &Array3<f32>| read(field, [0, 0]);
                let of_window = Frame {
                    state: all.state.map(cells),
                    u: read(&all.u, [0, 1]),
                    v: read(&all.v, [1, 0]),
                    pressure: all.pressure.each_ref().map(cells),
                    geopotential: all.geopotential.each_ref().map(cells),
                    ..all.clone()
                };
                let own = frame_of_part(of_window, (sides, count), &window);
                assert_eq!(*own.state.theta(), part.cells(whole.state.theta()));
                assert_eq!(own.geopotential[1], part.cells(&whole.geopotential[1]));
                assert_eq!(own.column_mass, whole.column_mass);
                // The last face of a periodic axis is the first one.
                let (mut u, mut v) = (whole.u.clone(), whole.v.clone());
                if x == Side::Periodic {
                    let first = u.slice(s![.., .., 0]).to_owned();
                    u.slice_mut(s![.., .., -1]).assign(&first);
                }
                if y == Side::Periodic {
                    let first = v.slice(s![.., 0, ..]).to_owned();
                    v.slice_mut(s![.., -1, ..]).assign(&first);
                }
                assert_eq!(own.u, part.x_faces(&u), "{sides} {count}");
                assert_eq!(own.v, part.y_faces(&v), "{sides} {count}");
            }
        }
    }
}

//! A grid of any size that repeats a smaller one, to measure on.
//!
//! Column (j, i) is column (j mod ny, i mod nx) of the smaller one, with its air and its mass.
//! Columns without winds have no neighbours and lie in one row: they are repeated one after the
//! other. Winds are repeated with the faces; where two repetitions meet, a face carries the mean of what
//! the two outer faces carry, and the vertical fluxes close the balance of every cell anew.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use ndarray::{Array2, Array3, Axis};
use rayon::prelude::*;

use super::{RunInput, RunPrecision};
use crate::constants::Constants;
use crate::constituents::{Constituents, known};
use crate::dry_mass::{MassCoordinate, MassFlux};
use crate::forcing::{Continuity, Forcing};
use crate::grid::{Grid, Shape, Side, Sides};
use crate::physics::PhysicsCase;
use crate::real::Real;
use crate::state::{BoundaryValues, Environment, State};

/// Numbers of columns along x and along y.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replication {
    /// Columns from west to east.
    pub nx: usize,
    /// Columns from south to north.
    pub ny: usize,
}

/// Fewest columns along an axis that the transport is defined for, and the most that fit indices.
const SIDE: std::ops::RangeInclusive<usize> = 4..=65_536;

impl FromStr for Replication {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('x').map(|(nx, ny)| (nx.trim().parse(), ny.trim().parse()));
        match numbers {
            Some((Ok(nx), Ok(ny))) if SIDE.contains(&nx) && SIDE.contains(&ny) => {
                Ok(Self { nx, ny })
            }
            _ => Err(format!(
                "{text:?} is not a number of columns along x and y; expected a size such as \
                 1024x1024, each from {} to {}",
                SIDE.start(),
                SIDE.end()
            )),
        }
    }
}

impl fmt::Display for Replication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.nx, self.ny)
    }
}

/// All that a backend needs to be measured.
#[derive(Clone, Debug)]
pub struct ReplicatedGrid<R> {
    /// The grid.
    pub grid: Grid,
    /// Its masses.
    pub coordinate: MassCoordinate,
    /// Air and winds.
    pub forcing: Arc<Forcing<R>>,
    /// The state to start from.
    pub state: State<R>,
    /// `true` where there are winds.
    pub has_winds: bool,
}

impl<R: RunPrecision> ReplicatedGrid<R> {
    /// The grid of a case as it is.
    pub fn whole(case: &RunInput<R>, state: State<R>) -> Self {
        Self {
            grid: case.domain.grid,
            coordinate: case.domain.coordinate.clone(),
            forcing: Arc::clone(&case.forcing),
            state,
            has_winds: true,
        }
    }

    /// Independent columns with the fields of `set`, without winds; they lie side by side in one row.
    ///
    /// # Panics
    /// If `case` does not hold the four fields of air of a run.
    pub fn columns(case: &PhysicsCase<R>, set: &Arc<Constituents>) -> Self {
        assert_eq!(case.air.len(), 4, "the air of a run");
        let mut state = State::new(Arc::clone(set), case.tracers.clone());
        state.theta_mut().mapv_inplace(|theta| theta - R::THETA_BASE);
        let [rho, exner, p, dz] = std::array::from_fn(|n| case.air[n].clone());
        Self::independent(case.shape, state, Environment { rho, exner, p, dz, w: None })
    }

    /// The same with the fields of another set by their names; zero where this one lacks them.
    pub fn carrying(&self, set: &Arc<Constituents>) -> Cow<'_, Self> {
        let own = self.state.set();
        if own == set {
            return Cow::Borrowed(self);
        }
        let state = self.state.of_set(set);
        let inflow = set.iter().zip(state.fields()).map(|(one, field)| {
            let own = own.position(one.name).map(|at| self.forcing.inflow[at].clone());
            own.unwrap_or_else(|| Some(BoundaryValues::of(field)))
        });
        let forcing = Forcing { inflow: inflow.collect(), ..(*self.forcing).clone() };
        Cow::Owned(Self { state, forcing: Arc::new(forcing), ..self.clone() })
    }

    fn independent(shape: Shape, state: State<R>, environment: Environment<R>) -> Self {
        let plane = |value: f64| Array2::from_elem((shape.ny, shape.nx), value);
        let coordinate = MassCoordinate {
            mu: plane(1.0),
            map_x: plane(1.0),
            map_y: plane(1.0),
            c1: vec![1.0; shape.nz],
            c2: vec![0.0; shape.nz],
            rdnw: vec![-(shape.nz as f64); shape.nz],
            fnm: vec![0.5; shape.nz],
            fnp: vec![0.5; shape.nz],
            unit: 1.0 / <f64 as Constants>::GRAVITY,
        };
        let flux = MassFlux {
            x: Array3::zeros(shape.x_face()),
            y: Array3::zeros(shape.y_face()),
            z: Array3::zeros(shape.z_face()),
        };
        let inflow = state.fields().iter().map(|field| Some(BoundaryValues::of(field))).collect();
        Self {
            grid: Grid::whole(shape, [1.0; 2], Sides::all(Side::Periodic)),
            coordinate,
            forcing: Arc::new(Forcing { flux, environment, inflow, photolysis: Vec::new() }),
            state,
            has_winds: false,
        }
    }

    /// The columns that hold condensate, as independent ones; `None` where there are none.
    pub fn dense(&self) -> Option<Self> {
        let Shape { nx, ny, nz } = self.grid.shape;
        let chosen: Vec<[usize; 2]> = (0..ny)
            .flat_map(|j| (0..nx).map(move |i| [j, i]))
            .filter(|&[j, i]| (0..nz).any(|k| has_condensate(&self.state, [k, j, i])))
            .collect();
        if chosen.is_empty() {
            return None;
        }
        let shape = Shape { nx: chosen.len(), ny: 1, nz };
        let pick = |place: usize| chosen[place];
        let pick = |field: &Array3<R>| gather(field, shape, pick);
        Some(self.gathered(shape, pick))
    }

    /// Other columns of the same levels, `pick`ed from every field, without winds.
    fn gathered(&self, shape: Shape, pick: impl Fn(&Array3<R>) -> Array3<R>) -> Self {
        let state = self.state.map(&pick);
        Self::independent(shape, state, self.forcing.environment.map(pick))
    }

    /// This one repeated, or cut, to another size.
    pub fn repeated(&self, tile: Replication) -> Self {
        let Replication { nx, ny } = tile;
        if !self.has_winds {
            let own = self.grid.shape;
            let pick = |place: usize| {
                let column = place % own.columns();
                [column / own.nx, column % own.nx]
            };
            let shape = Shape { nx, ny, nz: own.nz };
            return self.gathered(shape, |field| gather(field, shape, pick));
        }
        self.repeated_part(&self.grid.with_shape(Shape { nx, ny, ..self.grid.shape }))
    }

    /// A part of this one repeated to the grid that it is cut from, with its margins: no field of that grid is made.
    ///
    /// # Panics
    ///
    /// Without winds.
    pub fn repeated_part(&self, part: &Grid) -> Self {
        assert!(self.has_winds, "columns without neighbours have no parts");
        let coordinate = self.repeated_coordinate(part);
        let cells = part.global_points([0, 0]);
        let state = self.state.map(|field| repeat(field, &cells));
        let environment = self.forcing.environment.map(|field| repeat(field, &cells));
        let [x, y] = [&self.forcing.flux.x, &self.forcing.flux.y];
        let (Shape { nx, ny, .. }, sides) = (part.global(), self.grid.sides);
        let mut flux = MassFlux {
            x: repeat_faces(x, 2, nx, &part.global_points([0, 1]), sides.periodic_x()),
            y: repeat_faces(y, 1, ny, &part.global_points([1, 0]), sides.periodic_y()),
            z: Array3::zeros(part.shape.z_face()),
        };
        Continuity::new(&coordinate).close(&mut flux);
        let inflow = state.fields().iter().map(|field| Some(BoundaryValues::of(field))).collect();
        let photolysis = Vec::new();
        let forcing = Arc::new(Forcing { flux, environment, inflow, photolysis });
        Self { grid: *part, coordinate, forcing, state, has_winds: true }
    }

    /// The masses of the columns of a grid that repeats this one, or of a part of such a grid.
    pub fn repeated_coordinate(&self, grid: &Grid) -> MassCoordinate {
        let cells = grid.global_points([0, 0]);
        let MassCoordinate { mu, map_x, map_y, .. } = &self.coordinate;
        let [mu, map_x, map_y] = [mu, map_x, map_y].map(|plane| repeat_plane(plane, &cells));
        MassCoordinate { mu, map_x, map_y, ..self.coordinate.clone() }
    }

    /// Share of the columns that hold what `is_so` is true of in some cell.
    pub fn fraction(&self, is_so: impl Fn(&State<R>, [usize; 3]) -> bool) -> f64 {
        let Shape { nx, ny, nz } = self.grid.shape;
        let columns = (0..ny).flat_map(|j| (0..nx).map(move |i| (j, i)));
        let holds = |&(j, i): &(usize, usize)| (0..nz).any(|k| is_so(&self.state, [k, j, i]));
        columns.filter(holds).count() as f64 / (nx * ny) as f64
    }
}

/// Least content of a cell that counts as cloud or rain, kg kg⁻¹: below it the microphysics lets no rain act.
const LEAST_CONDENSATE: f64 = 1.0e-9;

/// Returns `true` if a cell holds cloud, rain, ice or snow: more of one of them than that.
pub(crate) fn has_condensate<R: Real>(state: &State<R>, at: [usize; 3]) -> bool {
    let least = R::of(LEAST_CONDENSATE);
    state.water()[1..].iter().any(|q| q[at] > least)
}

/// Returns `true` if a cell holds rain, in that sense.
pub fn has_rain<R: Real>(state: &State<R>, at: [usize; 3]) -> bool {
    state.get(known::RAIN.name).is_some_and(|rain| rain[at] > R::of(LEAST_CONDENSATE))
}

/// A field of `shape` with the columns (j, i) that `pick` names for each column j nx + i.
fn gather<R: Real>(
    field: &Array3<R>,
    shape: Shape,
    pick: impl Fn(usize) -> [usize; 2] + Sync,
) -> Array3<R> {
    by_levels([shape.nz, shape.ny, shape.nx], |[k, j, i]| {
        let [j, i] = pick(j * shape.nx + i);
        field[[k, j, i]]
    })
}

/// A field of values by their places, the levels side by side: large grids are made of small ones.
fn by_levels<R: Real>(shape: [usize; 3], value: impl Fn([usize; 3]) -> R + Sync) -> Array3<R> {
    let mut field = Array3::from_elem(shape, R::ZERO);
    field.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(k, mut level)| {
        level.indexed_iter_mut().for_each(|((j, i), x)| *x = value([k, j, i]));
    });
    field
}

/// Rows and columns of a repeated grid.
type Points = [Vec<usize>; 2];

fn repeat_plane(plane: &Array2<f64>, [y, x]: &Points) -> Array2<f64> {
    let (rows, columns) = plane.dim();
    Array2::from_shape_fn((y.len(), x.len()), |(j, i)| plane[[y[j] % rows, x[i] % columns]])
}

fn repeat<R: Real>(field: &Array3<R>, [y, x]: &Points) -> Array3<R> {
    let (nz, rows, columns) = field.dim();
    by_levels([nz, y.len(), x.len()], |[k, j, i]| field[[k, y[j] % rows, x[i] % columns]])
}

/// Fluxes through the faces across `axis`, 1 for y and 2 for x, which has so many cells.
fn repeat_faces<R: Real>(
    faces: &Array3<R>,
    axis: usize,
    count: usize,
    [y, x]: &Points,
    is_periodic: bool,
) -> Array3<R> {
    let [cells, along] = [faces.len_of(Axis(axis)) - 1, faces.len_of(Axis(3 - axis))];
    let outer = count - (count - 1) / cells * cells;
    by_levels([faces.len_of(Axis(0)), y.len(), x.len()], |[k, j, i]| {
        let place = [k, y[j], x[i]];
        let at = |face: usize| {
            let mut place = place;
            place[3 - axis] %= along;
            place[axis] = face;
            faces[place]
        };
        let mean = |a: usize, b: usize| R::HALF * (at(a) + at(b));
        match place[axis] {
            face if (face == 0 || face == count) && is_periodic => mean(0, outer),
            0 => at(0),
            face if face == count => at(outer),
            face if face % cells == 0 => mean(0, cells),
            face => at(face % cells),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::registry::usual_set;

    #[test]
    fn sizes_are_read_and_refused() {
        assert_eq!("1024x512".parse(), Ok(Replication { nx: 1024, ny: 512 }));
        for text in ["1024", "3x8", "8x3", "0x0", "-4x8", "axb", "99999x4"] {
            let refused = text.parse::<Replication>().expect_err(text);
            assert!(refused.contains("1024x1024"), "{refused}");
        }
    }

    /// Five columns of four levels; the second and the fourth hold rain.
    #[test]
    fn columns_without_winds_follow_one_another() {
        let shape = Shape { nx: 5, ny: 1, nz: 4 };
        let field = |value: fn(usize, usize) -> f64| {
            Array3::from_shape_fn(shape.centre(), |(k, _, i)| value(k, i))
        };
        let number = field(|_, i| i as f64);
        let mut state = State::zeros(&usual_set(), shape);
        state.theta_mut().assign(&number);
        state.named_mut("qr").assign(&field(|k, i| if k == 2 && i % 2 == 1 { 1e-6 } else { 0.0 }));
        let environment = Environment {
            rho: number.clone(),
            exner: number.clone(),
            p: number.clone(),
            dz: number,
            w: None,
        };
        let replicated = ReplicatedGrid::independent(shape, state, environment);
        let numbers = |replicated: &ReplicatedGrid<f64>| {
            replicated.state.theta().slice(ndarray::s![3, .., ..]).to_owned()
        };
        let eight = replicated.repeated(Replication { nx: 4, ny: 2 });
        assert_eq!(numbers(&eight), ndarray::array![[0.0, 1.0, 2.0, 3.0], [4.0, 0.0, 1.0, 2.0]]);
        let dense = replicated.dense().expect("columns with rain");
        assert_eq!(numbers(&dense), ndarray::array![[1.0, 3.0]]);
        assert_eq!(dense.forcing.environment.rho[[0, 0, 1]], 3.0);
        assert_eq!(dense.fraction(has_condensate), 1.0);
        let three = dense.repeated(Replication { nx: 3, ny: 1 });
        assert_eq!(numbers(&three), ndarray::array![[1.0, 3.0, 1.0]]);
        let mut dry = replicated;
        dry.state.named_mut("qr").fill(0.0);
        assert!(dry.dense().is_none());
    }

    /// Faces of three cells: 0 1 2 3, of which 0 and 3 are the outer ones.
    #[test]
    fn faces_meet_in_their_mean() {
        let faces = Array3::from_shape_fn((1, 1, 4), |(_, _, i)| [0.0, 10.0, 20.0, 32.0][i]);
        let points = |ny: usize, nx: usize| [(0..ny).collect(), (0..nx).collect()];
        let row = |nx, is_periodic| {
            repeat_faces(&faces, 2, nx, &points(4, nx + 1), is_periodic)
                .slice(ndarray::s![0, 3, ..])
                .to_vec()
        };
        assert_eq!(row(3, false), [0.0, 10.0, 20.0, 32.0]);
        assert_eq!(row(6, false), [0.0, 10.0, 20.0, 16.0, 10.0, 20.0, 32.0]);
        assert_eq!(row(4, false), [0.0, 10.0, 20.0, 16.0, 10.0]);
        assert_eq!(row(5, true), [10.0, 10.0, 20.0, 16.0, 10.0, 10.0]);
        assert_eq!(row(3, true), [16.0, 10.0, 20.0, 16.0]);
        let turned = faces.clone().permuted_axes([0, 2, 1]).as_standard_layout().to_owned();
        let column = repeat_faces(&turned, 1, 6, &points(7, 4), false);
        assert_eq!(column.slice(ndarray::s![0, .., 2]).to_vec(), row(6, false));
    }

    /// A part by itself has the bits of the part of the whole, with margins that go around a periodic axis.
    #[test]
    fn a_part_is_cut_by_its_numbers() {
        let shape = Shape { nx: 5, ny: 4, nz: 3 };
        let number = |dims: (usize, usize, usize), factor: f64| {
            Array3::from_shape_fn(dims, |(k, j, i)| factor * (100 * k + 10 * j + i + 1) as f64)
        };
        let mut state = State::zeros(&usual_set(), shape);
        state.theta_mut().assign(&number(shape.centre(), 1.0));
        let air = number(shape.centre(), 3.0);
        let [rho, exner, p, dz] = std::array::from_fn(|_| air.clone());
        let environment = Environment { rho, exner, p, dz, w: None };
        let mut source = ReplicatedGrid::independent(shape, state, environment);
        source.has_winds = true;
        source.coordinate.mu = Array2::from_shape_fn((4, 5), |(j, i)| (10 * j + i + 1) as f64);
        let forcing = Arc::make_mut(&mut source.forcing);
        forcing.flux.x = number(shape.x_face(), 0.3);
        forcing.flux.y = number(shape.y_face(), 0.7);
        source.grid.sides =
            Sides { west: Side::Periodic, east: Side::Periodic, ..Sides::all(Side::Open) };
        let whole = source.repeated(Replication { nx: 23, ny: 18 });
        let parts = crate::grid::Parts::new(&whole.grid, [&[9, 15], &[7]], [4, 3]);
        for part in parts.grids() {
            let own = source.repeated_part(part);
            assert_eq!(own.grid.shape, part.shape);
            assert_eq!(own.state.theta(), whole.state.part(part).theta());
            let expected = whole.forcing.part(part);
            let flux = |forcing: &Forcing<f64>| {
                let MassFlux { x, y, z } = &forcing.flux;
                [x, y, z].map(Array3::clone)
            };
            assert_eq!(flux(&own.forcing), flux(&expected));
            assert_eq!(own.forcing.environment.rho, expected.environment.rho);
            assert_eq!(own.coordinate.mu, whole.coordinate.part(part).mu);
        }
    }
}

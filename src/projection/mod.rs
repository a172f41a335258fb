//! Projection of the winds to winds that conserve the mass of every column, and their mass fluxes.
//!
//! The mass of the cells is fixed for a whole run, so inflow into a column at some levels must be balanced by outflow
//! at others. The winds of an input do not satisfy that to the last bit, and not at all if its column mass was
//! changing. A velocity increment, the same at all levels, is added: the gradient of a potential chi(j, i) that makes
//! the column-integrated mass divergence vanish:
//!
//! `Σ over faces A (u + ∂chi) = 0`, with A the mass of a face, for every column.
//!
//! Beyond a side that is not periodic chi is 0, so air may flow in or out there; if all sides are periodic its mean is
//! 0. The problem is set up and solved in double precision.
//!
//! # Decisions
//!
//! **The rounding residual at the lid is spread over the column.** It is reported first, then distributed by the masses
//! of the layers. In the uppermost layer alone it would let a constant tracer in `soc.nc` drift by 1e-5 in an hour of
//! single precision; spread, the drift is within 6.4e-7 in 50 steps of 60 s (`validation/host/projection`).
//!
//! **`W` omits the motion of the coordinate surfaces between frames.** With it the correlation with WRF's own W in
//! `soc_series.nc` is 0.971 instead of 0.973.

mod ascent;
mod faces;
mod potential;

use std::sync::Arc;

use ndarray::parallel::prelude::*;
use ndarray::{Array2, Array3, Axis};
use serde::Serialize;

use crate::dry_mass::{FaceMaps, MassCoordinate, MassFlux, Winds};
use crate::error::{Error, Result};
use crate::forcing::Continuity;
use crate::grid::{DividedGrid, Grid};
use crate::primitives::conjugate_gradient::{OnCpu, Solver};
use crate::primitives::reduce;
use crate::real::Real;
use crate::state::memory;
use crate::time_steps::HOUR;

pub use ascent::{terrain_following_velocity, vertical_velocity};
use faces::{Faces, X, Y};

/// Pa h⁻¹ in a Pa s⁻¹.
const PER_HOUR: f64 = HOUR;

/// Default of the largest column divergence after the projection, Pa h⁻¹.
///
/// It changes the mass of a column by a part in 10⁸ in an hour.
pub const RESIDUAL: f64 = 1e-3;

/// Part of the admitted divergence at which the solver stops; the rest is for the rounding of the winds.
const AIM: f64 = 0.9;

/// Solver of a projection, and what it may leave.
#[derive(Clone, Debug)]
pub struct Method {
    /// Solver of the potential; the result does not depend on it.
    pub solver: Arc<dyn Solver>,
    /// Largest admissible column divergence after the projection, Pa h⁻¹.
    pub residual: f64,
}

impl Default for Method {
    fn default() -> Self {
        Self { solver: Arc::new(OnCpu), residual: RESIDUAL }
    }
}

/// Statistics of the projection. Column divergences are those of the mass of the air.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ProjectionReport {
    /// Largest column divergence of the original winds, Pa h⁻¹.
    pub residual_before: f64,
    /// Largest column divergence of the projected winds, in double precision, Pa h⁻¹.
    pub residual_after: f64,
    /// Mean inflow into the columns by the original winds, negative for outflow, Pa h⁻¹.
    pub inflow: f64,
    /// Iterations of the solver.
    pub iterations: usize,
    /// Largest change of u, m s⁻¹.
    pub max_du: f64,
    /// Largest change of v, m s⁻¹.
    pub max_dv: f64,
    /// Largest flux through the lid by the rounded fluxes, which is suppressed, Pa h⁻¹.
    pub lid: f64,
}

/// Projected winds and their mass fluxes.
#[derive(Clone, Debug)]
pub struct Projection<R> {
    /// The mass fluxes, balanced in every cell up to rounding.
    pub flux: MassFlux<R>,
    /// The projected winds.
    pub winds: Winds,
    /// Statistics of the projection.
    pub report: ProjectionReport,
}

/// Projects winds onto those of zero column divergence and computes their mass fluxes.
///
/// `Fx = u (c1 mu + c2) |Δη| dy / (g my)`, `Fy = v (c1 mu + c2) |Δη| dx / (g mx)`, each with the mean column mass of
/// the two adjacent cells, at an outer face that of the one cell. `Fz` follows from continuity, from 0 at the ground
/// up, with horizontal fluxes rounded to `R`. At the lid it is 0; the rounding residual there is distributed over the
/// column by the masses of the layers.
///
/// Source: advection in WRF (coupling of the winds); Chorin 1968, Math. Comp. 22, 745-762
/// (projection).
///
/// # Errors
///
/// [`BlowUp`](crate::error::Error::BlowUp) when a wind is not finite; [`Input`](crate::error::Error::Input) when the
/// mass or map factor of a face is not positive, or when the solver does not converge; those of the solver's device.
///
/// # Panics
///
/// When an array does not have the shape of the grid.
pub fn project<R: Real>(
    grid: &Grid,
    coordinate: &MassCoordinate,
    maps: &FaceMaps,
    winds: &Winds,
    method: &Method,
) -> Result<Projection<R>> {
    project_divided((grid, None), coordinate, maps, winds, method)
}

/// The same on several ranks, of which each has the winds of its part: grid, coordinate and map factors are those of the
/// whole, and the statistics too. Every rank solves the problem of the whole.
///
/// # Errors
///
/// As [`project`].
///
/// # Panics
///
/// When an array does not have the shape of the grid, or of the part.
pub fn project_divided<R: Real>(
    (grid, divided): (&Grid, Option<&DividedGrid>),
    coordinate: &MassCoordinate,
    maps: &FaceMaps,
    winds: &Winds,
    method: &Method,
) -> Result<Projection<R>> {
    let (x, y) = rayon::join(
        || Faces::new(X, grid, coordinate, [&maps.u_x, &maps.u_y]),
        || Faces::new(Y, grid, coordinate, [&maps.v_y, &maps.v_x]),
    );
    let (x, y) = (x?, y?);
    let part = divided.map(DividedGrid::own);
    let of_part = part.map(|part| [x.of_part(part), y.of_part(part)]);
    let [own_x, own_y] = of_part.as_ref().map_or([&x, &y], |[x, y]| [x, y]);
    let whole = |plane: Array2<f64>| match divided {
        Some(divided) => divided.everywhere(&plane),
        None => plane,
    };
    let winds = own_x
        .single_valued("u", &winds.u)
        .and_then(|u| Ok((u, own_y.single_valued("v", &winds.v)?)))
        .map_err(|error| in_whole(error, part));
    let (mut u, mut v) = match divided {
        Some(divided) => divided.agree(winds)?,
        None => winds?,
    };

    // Pressure tendency of a column by a mass flux into it, 3600 g mx my / (dx dy), Pa h⁻¹ for a kg s⁻¹.
    let per_flux = &coordinate.map_x * &coordinate.map_y * (PER_HOUR / coordinate.unit);
    let divergence = whole(column_divergence(&own_x.column_flux(&u), &own_y.column_flux(&v)));
    let before = &divergence * &per_flux;
    let limit = per_flux.mapv(|factor| AIM * method.residual / factor);
    let (chi, iterations) = potential::solve(grid, [&x, &y], &divergence, &limit, &*method.solver)?;
    let (du, dv) = (x.gradient(&chi), y.gradient(&chi));
    for (wind, increment, faces) in [(&mut u, &du, &x), (&mut v, &dv, &y)] {
        let own = part.map(|part| faces.plane_of_part(increment, part));
        let increment = own.as_ref().unwrap_or(increment);
        let levels = wind.axis_iter_mut(Axis(0)).into_par_iter();
        levels.for_each(|mut level| level += increment);
    }

    let after = column_divergence(&own_x.column_flux(&u), &own_y.column_flux(&v));
    let after = whole(after) * &per_flux;
    let (residual_before, residual_after) = (largest(&before), largest(&after));
    let admitted = method.residual;
    if residual_after.is_nan() || residual_after > admitted {
        let worst = after.indexed_iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        let (j, i) = worst.map_or((0, 0), |(place, _)| place);
        return Err(faces::refuse(format!(
            "the mass of the column i={i} j={j} still changes by {residual_after:.2e} Pa/h after \
             {iterations} iterations, {residual_before:.2e} Pa/h before; {admitted:.0e} Pa/h is \
             needed: check for discontinuities of winds, map factors or column masses"
        )));
    }

    let flux_z = Array3::zeros(part.unwrap_or(grid).shape.z_face());
    let mut flux = MassFlux { x: own_x.flux(&u), y: own_y.flux(&v), z: flux_z };
    let own_coordinate = part.map(|part| coordinate.part(part));
    let mut continuity = Continuity::new(own_coordinate.as_ref().unwrap_or(coordinate));
    let lid = whole(continuity.close(&mut flux).clone());
    let report = ProjectionReport {
        residual_before,
        residual_after,
        inflow: -reduce::sum(memory(&before)) / before.len() as f64,
        iterations,
        max_du: largest(&du),
        max_dv: largest(&dv),
        lid: largest(&(lid * &per_flux)),
    };
    Ok(Projection { flux, winds: Winds { u, v }, report })
}

/// An error of a part, with the cell that it is in the whole.
fn in_whole(error: Error, part: Option<&Grid>) -> Error {
    match (error, part) {
        (Error::BlowUp { variable, value, step, cell: [k, j, i] }, Some(part)) => {
            let more = [usize::from(variable == "v"), usize::from(variable == "u")];
            let [rows, columns] = part.global_points(more);
            Error::BlowUp { variable, value, step, cell: [k, rows[j], columns[i]] }
        }
        (error, _) => error,
    }
}

/// Divergence of each column, from column-integrated fluxes. Shape: (ny, nx). Units: kg s⁻¹.
fn column_divergence(x: &Array2<f64>, y: &Array2<f64>) -> Array2<f64> {
    Array2::from_shape_fn((x.nrows(), y.ncols()), |(j, i)| {
        (x[[j, i + 1]] - x[[j, i]]) + (y[[j + 1, i]] - y[[j, i]])
    })
}

fn largest(plane: &Array2<f64>) -> f64 {
    let broken = reduce::non_finite(memory(plane)).count > 0;
    if broken { f64::NAN } else { reduce::extrema(memory(plane)).map_or(0.0, |e| e.magnitude()) }
}

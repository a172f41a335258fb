//! Projection of the winds to ones that conserve the mass of every column, and their mass fluxes.
//!
//! The mass of the cells is fixed for a whole run, so air that flows into a column at some levels has
//! to flow out at others. The winds of an input do not do that to the last bit, and where its
//! column mass was changing they do not do it at all. The same velocity increment is added to
//! them at all levels, the gradient of a potential chi(j, i), by which the column-integrated mass
//! divergence vanishes:
//!
//! `Σ over faces A (u + ∂chi) = 0`, A the mass of a face, column by column.
//!
//! Beyond a side that is not periodic chi is 0, so air may come in or go out there; where all
//! sides are periodic its mean is 0. The problem is posed and solved in double precision.
//!
//! # Decisions
//!
//! **The rounding residual at the lid is spread over the column.** It is reported first, then distributed by the masses
//! of the layers. Left in the uppermost layer, a constant tracer in `soc.nc` drifts by 1e-5 there in an hour of single
//! precision; spread, it stays within 6.4e-7 in 50 steps of 60 s (`validation/host/projection`).
//!
//! **`W` leaves out the motion of the coordinate surfaces between frames.** With that motion the correlation with WRF's
//! own W in `soc_series.nc` is 0.971 instead of 0.973.

mod ascent;
mod faces;
mod potential;

use ndarray::parallel::prelude::*;
use ndarray::{Array2, Array3, Axis};
use serde::Serialize;

use crate::error::Result;
use crate::forcing::Continuity;
use crate::grid::Grid;
use crate::mass::{FaceMaps, MassCoordinate, MassFlux, Winds};
use crate::plan::HOUR;
use crate::primitives::conjugate_gradient::Solver;
use crate::primitives::reduce;
use crate::real::Real;

pub use ascent::{gliding_velocity, vertical_velocity};
use faces::{Direction, Faces};

/// Pa h⁻¹ in a Pa s⁻¹.
const PER_HOUR: f64 = HOUR;

/// Largest column divergence that is admitted after the projection, Pa h⁻¹.
///
/// The remainder changes the mass of a column by a part in 10⁸ in an hour.
const ADMITTED: f64 = 1e-3;

/// Column divergence at which the solver stops, Pa h⁻¹; rounding lies at a thousandth of it.
const AIM: f64 = 1e-6;

/// Findings and corrections of the projection. Column divergences are those of the mass of the air.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Largest column divergence of the given winds, Pa h⁻¹.
    pub residual_before: f64,
    /// Largest column divergence of the projected winds, in double precision, Pa h⁻¹.
    pub residual_after: f64,
    /// Mean inflow of the columns by the given winds, negative where they lose, Pa h⁻¹.
    pub inflow: f64,
    /// Iterations of the solver.
    pub iterations: usize,
    /// Largest change of u, m s⁻¹.
    pub max_du: f64,
    /// Largest change of v, m s⁻¹.
    pub max_dv: f64,
    /// Largest flux through the lid that the rounded fluxes ask for and do not get, Pa h⁻¹.
    pub lid: f64,
}

/// Projected winds and the mass fluxes that they carry.
#[derive(Clone, Debug)]
pub struct Projection<R> {
    /// The mass fluxes, closed in every cell but for rounding.
    pub flux: MassFlux<R>,
    /// The winds that carry them.
    pub winds: Winds,
    /// Findings and corrections.
    pub report: Report,
}

/// Projects winds onto those of zero column divergence and computes their mass fluxes. The solver
/// is asked for the potential; which one changes nothing.
///
/// `Fx = u (c1 mu + c2) |Δη| dy / (g my)`, `Fy = v (c1 mu + c2) |Δη| dx / (g mx)`, each with the
/// mean column mass of the two cells beside the face; at an outer face that of the one cell.
/// `Fz` follows from continuity, from 0 at the ground up, out of horizontal fluxes that are
/// already rounded to `R`. At the lid it is 0; what rounding would let out there is spread over
/// the column, in proportion to the mass of the layers.
///
/// Source: advection in WRF (coupling of the winds); Chorin 1968, Math. Comp. 22, 745-762
/// (projection).
///
/// # Errors
///
/// [`BlowUp`](crate::error::Error::BlowUp) when a wind is not finite;
/// [`Input`](crate::error::Error::Input) when a face does not have a
/// positive mass and map factor, or when the solver does not converge; those of the solver's device.
///
/// # Panics
///
/// When an array does not have the shape of the grid.
pub fn project<R: Real>(
    grid: &Grid,
    coordinate: &MassCoordinate,
    maps: &FaceMaps,
    winds: &Winds,
    solver: &dyn Solver,
) -> Result<Projection<R>> {
    let x = Faces::new(Direction::X, grid, coordinate, [&maps.u_x, &maps.u_y])?;
    let y = Faces::new(Direction::Y, grid, coordinate, [&maps.v_y, &maps.v_x])?;
    let mut u = x.single_valued("u", &winds.u)?;
    let mut v = y.single_valued("v", &winds.v)?;

    let per_flux = pressure_per_flux(coordinate);
    let divergence = column_divergence(&x.column_flux(&u), &y.column_flux(&v));
    let before = &divergence * &per_flux;
    let limit = per_flux.mapv(|factor| AIM / factor);
    let (chi, iterations) = potential::solve(grid, [&x, &y], &divergence, &limit, solver)?;
    let (du, dv) = (x.gradient(&chi), y.gradient(&chi));
    for (wind, increment) in [(&mut u, &du), (&mut v, &dv)] {
        let levels = wind.axis_iter_mut(Axis(0)).into_par_iter();
        levels.for_each(|mut level| level += increment);
    }

    let after = column_divergence(&x.column_flux(&u), &y.column_flux(&v)) * &per_flux;
    let (residual_before, residual_after) = (largest(&before), largest(&after));
    if residual_after.is_nan() || residual_after > ADMITTED {
        return Err(faces::refuse(format!(
            "the mass of a column still changes by {residual_after:.2e} Pa/h after {iterations} \
             iterations, {residual_before:.2e} Pa/h before; {ADMITTED:.0e} Pa/h is needed: look \
             for winds, map factors or column masses that jump from cell to cell"
        )));
    }

    let flux_z = Array3::zeros(grid.shape.z_face());
    let mut flux = MassFlux { x: x.flux(&u), y: y.flux(&v), z: flux_z };
    let mut continuity = Continuity::new(coordinate);
    let lid = continuity.close(&mut flux);
    let report = Report {
        residual_before,
        residual_after,
        inflow: -reduce::sum(slice(&before)) / before.len() as f64,
        iterations,
        max_du: largest(&du),
        max_dv: largest(&dv),
        lid: largest(&(lid * &per_flux)),
    };
    Ok(Projection { flux, winds: Winds { u, v }, report })
}

/// Change of the column's pressure by a mass flux into it, `3600 g mx my / (dx dy)`.
/// Shape: (ny, nx). Units: Pa h⁻¹ for a kg s⁻¹.
fn pressure_per_flux(coordinate: &MassCoordinate) -> Array2<f64> {
    &coordinate.map_x * &coordinate.map_y * (PER_HOUR / coordinate.unit)
}

/// Divergence of each column by the column totals of the fluxes. Shape: (ny, nx). Units: kg s⁻¹.
fn column_divergence(x: &Array2<f64>, y: &Array2<f64>) -> Array2<f64> {
    Array2::from_shape_fn((x.nrows(), y.ncols()), |(j, i)| {
        (x[[j, i + 1]] - x[[j, i]]) + (y[[j + 1, i]] - y[[j, i]])
    })
}

fn largest(plane: &Array2<f64>) -> f64 {
    let broken = reduce::non_finite(slice(plane)).count > 0;
    if broken { f64::NAN } else { reduce::extrema(slice(plane)).map_or(0.0, |e| e.magnitude()) }
}

fn slice(plane: &Array2<f64>) -> &[f64] {
    plane.as_slice().expect("planes in standard layout")
}

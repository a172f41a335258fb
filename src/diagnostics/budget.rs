//! The budgets of a run: sources and sinks of all water and of each passive tracer.

use serde::Serialize;

use crate::backend::{TracerAmount, WaterChange};
use crate::constituents::Constituent;
use crate::state::TracerChange;

/// Terms of the water budget inside the specified and open rows, kg.
///
/// end = start - fallen + sides + `fallout_residual` + clipped + `mass_mismatch`
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Water {
    /// Water at the start.
    pub start: f64,
    /// Water at the end.
    pub end: f64,
    /// Precipitation that has reached the ground.
    pub fallen: f64,
    /// Net inflow through the sides.
    pub sides: f64,
    /// Water that sedimentation has created (< 0: lost).
    pub fallout_residual: f64,
    /// Water that clipping at zero has added.
    pub clipped: f64,
    /// Water that sedimentation has created because rho dz of a layer is not its dry mass.
    pub mass_mismatch: f64,
    /// Residual of the terms, relative to the start.
    pub closure_rel: f64,
}

impl Water {
    /// The budget of a run from `start` kg of water to `end`, with all changes in between.
    pub fn closed(start: f64, change: &WaterChange, end: f64) -> Self {
        let WaterChange { fallen, sides, fallout_residual, clipped, mass_mismatch } = *change;
        let explained = start - fallen + sides + fallout_residual + clipped + mass_mismatch;
        let scale = start.abs().max(end.abs());
        let closure_rel = if scale > 0.0 { (end - explained) / scale } else { 0.0 };
        Self { start, end, fallen, sides, fallout_residual, clipped, mass_mismatch, closure_rel }
    }
}

/// Terms of the budget of a passive tracer inside the specified and open rows, kg of dry air times its units.
///
/// end = start + sides + decayed + reacted + clipped
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TracerBudget {
    /// Its name.
    pub name: &'static str,
    /// Its units.
    pub units: &'static str,
    /// Amount at the start.
    pub start: f64,
    /// Amount at the end.
    pub end: f64,
    /// Net inflow through the sides.
    pub sides: f64,
    /// Lost by decay, a negative number.
    pub decayed: f64,
    /// Change by chemical reactions.
    pub reacted: f64,
    /// Added by clipping at zero around the chemistry.
    pub clipped: f64,
    /// Residual of the budget, relative to its largest term.
    pub closure_rel: f64,
}

impl TracerBudget {
    /// The budget of a tracer with the amount `start` at the start.
    pub fn closed(tracer: &Constituent, start: f64, end: TracerAmount) -> Self {
        let TracerAmount { amount: end, change } = end;
        let TracerChange { sides, decayed, reacted, clipped } = change;
        let scale = [start, end, sides, decayed, reacted, clipped]
            .map(f64::abs)
            .into_iter()
            .fold(0.0, f64::max);
        let left = end - (start + sides + decayed + reacted + clipped);
        let closure_rel = if scale > 0.0 { left / scale } else { 0.0 };
        let Constituent { name, units, .. } = *tracer;
        Self { name, units, start, end, sides, decayed, reacted, clipped, closure_rel }
    }
}

//! The water budget of a run: where all water came from and where it went.

use serde::Serialize;

use crate::backend::WaterChange;

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
    /// What the fall scheme has made beyond what it was given (< 0: lost).
    pub fallout_residual: f64,
    /// What clipping at zero has made.
    pub clipped: f64,
    /// What fall between layers has made because their rho dz is not their dry mass.
    pub mass_mismatch: f64,
    /// What the terms leave unexplained, relative to the start.
    pub closure_rel: f64,
}

impl Water {
    /// The budget of a run from `start` kg of water to `end`, with all changes between.
    pub fn closed(start: f64, change: &WaterChange, end: f64) -> Self {
        let WaterChange { fallen, sides, fallout_residual, clipped, mass_mismatch } = *change;
        let explained = start - fallen + sides + fallout_residual + clipped + mass_mismatch;
        let scale = start.abs().max(end.abs());
        let closure_rel = if scale > 0.0 { (end - explained) / scale } else { 0.0 };
        Self { start, end, fallen, sides, fallout_residual, clipped, mass_mismatch, closure_rel }
    }
}

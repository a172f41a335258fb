//! The water budget of a run: where all water came from and where it went.

use serde::Serialize;

use crate::backend::cpu::WaterChange;

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
    /// A budget that starts with `start` kg of water.
    pub fn starting_with(start: f64) -> Self {
        Self { start, end: start, ..Self::default() }
    }

    /// Adds the changes of a step.
    pub fn add(&mut self, change: &WaterChange) {
        self.fallen += change.fallen;
        self.sides += change.sides;
        self.fallout_residual += change.fallout_residual;
        self.clipped += change.clipped;
        self.mass_mismatch += change.mass_mismatch;
    }

    /// Closes the budget with the water at the end.
    pub fn close(&mut self, end: f64) {
        self.end = end;
        let explained = self.start - self.fallen
            + self.sides
            + self.fallout_residual
            + self.clipped
            + self.mass_mismatch;
        let scale = self.start.abs().max(end.abs());
        self.closure_rel = if scale > 0.0 { (end - explained) / scale } else { 0.0 };
    }
}

//! The state of a run at one time, from which another run continues.

use ndarray::Array2;

use crate::state::Checkpoint;
use crate::time_steps::Past;

/// Statistics of an input frame.
pub const FIGURES: usize = 10;

/// Statistics of a past input frame.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameRow {
    /// Time, in WRF's form.
    pub time: String,
    /// The values, in an order and in units that the model defines.
    pub figures: [f64; FIGURES],
}

/// State of a run at one time.
#[derive(Clone, Debug)]
pub struct Saved<R> {
    /// State and sums.
    pub checkpoint: Checkpoint<R>,
    /// Number of past steps.
    pub past: Past,
    /// Time since the start of the first run, s.
    pub seconds: f64,
    /// Number of the input frame before that time.
    pub number: usize,
    /// Statistics of the earlier frames.
    pub reports: Vec<FrameRow>,
    /// Water at the start of the first run, kg.
    pub water_start: f64,
    /// Amount of each passive tracer at the start of the first run, kg of dry air times its units.
    pub passive_start: Vec<f64>,
    /// `true` if the run ends at this time.
    pub is_last: bool,
}

/// A run that another one continues.
#[derive(Clone, Debug)]
pub struct PastRun<R> {
    /// State and sums.
    pub checkpoint: Checkpoint<R>,
    /// Perturbation and base column mass of its first frame, on its grid, Pa. Shape of each: (ny, nx).
    pub column_mass: [Array2<f32>; 2],
    /// Statistics of the past frames of its input.
    pub reports: Vec<FrameRow>,
    /// Water at its start, kg.
    pub water_start: f64,
    /// Amount of each passive tracer at its start, kg of dry air times its units.
    pub passive_start: Vec<f64>,
}

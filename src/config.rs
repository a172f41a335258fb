//! What a run is asked to do, validated.

use std::path::PathBuf;

use crate::advection::Limiter;
use crate::grid::Sides;
use crate::plan::Length;
use crate::wsm5::Fallout;

/// A run as the user wants it.
#[derive(Clone, Debug)]
pub struct RunConfig {
    /// Where the fields come from: files in the order of their times, at least one.
    pub inputs: Vec<PathBuf>,
    /// Where they go.
    pub output: PathBuf,
    /// Whether the output may overwrite a file.
    pub force: bool,
    /// How long to run.
    pub length: Length,
    /// Time step, s, when the user gives one.
    pub dt: Option<f64>,
    /// Time between output frames, s; without it only the first and the last are written.
    pub output_interval: Option<f64>,
    /// Weights that take the fields to another grid.
    pub regrid: Option<PathBuf>,
    /// Where the fields on that grid go; `None`: beside the output.
    pub regrid_output: Option<PathBuf>,
    /// Places of interest.
    pub points: Option<PathBuf>,
    /// Time between values there, s; `None`: as between output frames.
    pub points_interval: Option<f64>,
    /// Whether the columns are written as profiles too.
    pub profiles: bool,
    /// Limiter of the water species.
    pub limiter: Limiter,
    /// Variant of the microphysics.
    pub fallout: Fallout,
    /// Lateral boundaries, when the user gives them.
    pub boundary: Option<Sides>,
    /// Into how many parts every cell of the input is divided, along x and along y.
    pub refine: usize,
    /// Where to write the figures of the run as JSON.
    pub json: Option<PathBuf>,
    /// Whether a run on the GPU that was not asked for ends with a comparison.
    pub compare: bool,
    /// Whether to stop before the first step.
    pub dry_run: bool,
    /// Step in which the GPU is to fail, for tests of what is left then.
    pub failing_step: Option<usize>,
}

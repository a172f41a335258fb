//! Configuration of a run, validated.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use time::PrimitiveDateTime;

use crate::advection::Limiter;
use crate::backend::Microphysics;
use crate::chemistry::coupled::Light;
use crate::chemistry::kinetics::Kinetics;
use crate::chemistry::mechanism::Mechanism;
use crate::ensemble::Ensemble;
use crate::grid::Sides;
use crate::io::output::Storage;
use crate::io::wrf::photolysis::Frequency;
use crate::io::wrf::series::Overlap;
use crate::passive::PassiveTracers;
use crate::time_steps::Length;

/// A run as the user wants it.
#[derive(Clone, Debug)]
pub struct RunConfig {
    /// Input files in the order of their times, at least one.
    pub inputs: Vec<PathBuf>,
    /// Output file.
    pub output: PathBuf,
    /// The output may overwrite a file.
    pub force: bool,
    /// Length of the run.
    pub length: Length,
    /// Time step, s, when the user gives one.
    pub dt: Option<f64>,
    /// Time between output frames, s; without it only the first and the last are written.
    pub output_interval: Option<f64>,
    /// The members that are run in the place of one run.
    pub ensemble: Option<Ensemble>,
    /// The passive tracers that are carried beside the water.
    pub tracers: Option<Arc<PassiveTracers>>,
    /// The chemistry of species that are carried too.
    pub chemistry: Option<ChemistryConfig>,
    /// Outputs beside the main one.
    pub beside: AuxConfig,
    /// In which form the output is written.
    pub storage: Storage,
    /// Checkpoint to go on from, and checkpoints to write.
    pub restarts: RestartConfig,
    /// Limiter of the water species.
    pub limiter: Limiter,
    /// The microphysics.
    pub microphysics: Microphysics,
    /// Which file counts where several have a time.
    pub overlap: Overlap,
    /// Lateral boundaries, when the user gives them.
    pub boundary: Option<Sides>,
    /// Into how many parts every cell of the input is divided, along x and along y.
    pub refine: usize,
    /// File for the figures of the run, as JSON.
    pub json: Option<PathBuf>,
    /// File for a page about the run.
    pub report: Option<PathBuf>,
    /// `true` for a comparison with the CPU at the end of a run that uses a GPU by default.
    pub compare: bool,
    /// Stop before the first step.
    pub dry_run: bool,
    /// Step in which the GPU is to fail, for tests of the files that remain.
    pub failing_step: Option<usize>,
}

/// The chemistry of a run, before its place is known.
#[derive(Clone, Debug)]
pub struct ChemistryConfig {
    /// Files that are read for it; none where a run goes on.
    pub files: Vec<PathBuf>,
    /// Attributes of a restart file that keep it: names and values.
    pub kept: Vec<(&'static str, String)>,
    /// The passive tracers with the species behind them.
    pub recipe: PassiveTracers,
    /// Names of the species that are not written.
    pub hidden: Vec<&'static str>,
    /// The mechanism.
    pub(crate) mechanism: Mechanism,
    /// Its tables.
    pub(crate) kinetics: Kinetics,
    /// Name of the tracer of each species; `None` where the air gives it.
    pub(crate) names: Vec<Option<&'static str>>,
    /// The light.
    pub(crate) light: Light,
    /// Photolysis frequencies that the input gives.
    pub(crate) frequencies: Vec<Frequency>,
    /// Words for photolysis frequencies that others stand in for.
    pub(crate) stand_ins: Vec<&'static str>,
    /// Latitude of all cells, degrees north, where it is given.
    pub(crate) latitude: Option<f64>,
    /// Longitude of all cells, degrees east, where it is given.
    pub(crate) longitude: Option<f64>,
    /// Date of the start, where it is given.
    pub(crate) date: Option<PrimitiveDateTime>,
    /// Time between calls, s; 0 for every step.
    pub(crate) interval: f64,
    /// See [`Coupled`](crate::chemistry::coupled::Coupled).
    pub(crate) keeps_steps: bool,
    /// The file whose Coriolis parameter tells the latitude where nothing else does.
    pub(crate) input: Option<PathBuf>,
}

/// Going on where an earlier run stood.
#[derive(Args, Clone, Debug, Default)]
pub struct RestartConfig {
    /// Continue from a restart file, instead of --input: it contains the state, accumulated precipitation,
    /// remaining winds, dt and the options of the scheme, and the results are bit-identical to those of an
    /// uninterrupted run. --steps and --hours count from there; times, RAINNC and the water budget from the start
    /// of the first run. The output begins with the frame of the restart
    #[arg(long, value_name = "FILE", conflicts_with = "input")]
    pub restart: Option<PathBuf>,
    /// Write a restart file at the end, and when the run is interrupted
    #[arg(long, value_name = "FILE")]
    pub restart_output: Option<PathBuf>,
    /// Time between restart files in seconds: each replaces its predecessor, at the end of the first step that
    /// reaches the time, when the output so far is also copied to its final name [default: at the end only; with it
    /// the file is <input>.restart.nc in the current folder]
    #[arg(long, value_name = "S")]
    pub restart_interval: Option<f64>,
}

/// Outputs of a run beside the main one.
#[derive(Args, Clone, Debug, Default)]
pub struct AuxConfig {
    /// Also write the fields on another grid, by a weight file in the format of SCRIP or ESMF (nwp-mini weights
    /// creates one)
    #[arg(long, value_name = "WEIGHTS")]
    pub regrid: Option<PathBuf>,
    /// NetCDF file of the fields on the other grid (`<output>.regrid.nc` by default)
    #[arg(long, value_name = "FILE", requires = "regrid")]
    pub regrid_output: Option<PathBuf>,
    /// Write time series at the stations of a CSV file with the header name,lat,lon or name,x,y, to
    /// `<output>.points.nc` and `<output>.points.profiles.nc`
    #[arg(long, value_name = "FILE.csv")]
    pub points: Option<PathBuf>,
    /// Time between values at the stations in seconds [default: as between output frames]
    #[arg(long, value_name = "S", requires = "points")]
    pub points_interval: Option<f64>,
    /// Write every column as a profile, with its totals, to `<output>.profiles.nc`
    #[arg(long)]
    pub profiles: bool,
}

//! Options of `nwp-mini run`, and the configuration of a run.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use crate::advection::Limiter;
use crate::cli::device::GpuChoice;
use crate::cli::option_values::PartsChoice;
use crate::cli::physics_choice::{PhysicsChoice, VariantOptions};
use crate::cli::run::coupled::{ChemistryConfig, Coupling};
use crate::cli::run::host::RunHost;
use crate::cli::run::storage_options::StorageOptions;
use crate::cli::{BackendChoice, Precision};
use crate::ensemble::Ensemble;
use crate::grid::Sides;
use crate::io::out::output::Storage;
use crate::io::wrf::series::Overlap;
use crate::passive::PassiveTracers;
use crate::physics::scheme::Scheme;
use crate::ranks::Team;
use crate::time_steps::Length;

/// Run transport and microphysics on the fields of a WRF file.
///
/// Several times, in one file or in several, drive the run one after the other: winds and boundary
/// values are linear in time between them, and hold beyond the last.
///
/// Example: nwp-mini run --input data/soc.nc --hours 2 --output-interval 1800
///
/// Example: nwp-mini run --gpus 2 --input data/soc.nc --hours 2
///
/// Example: nwp-mini run --input data/soc.nc --steps 4 --ensemble data/ensemble.toml --output
/// ensemble.nc
#[derive(Args, Clone, Debug)]
#[command(allow_negative_numbers = true)]
pub(in crate::cli) struct Run {
    /// WRF files with the initial fields and the winds (wrfinput, wrfout, wrfrst, or our own
    /// output), or Zarr stores of their variables, in the order of their times
    #[arg(short, long, value_name = "FILE", num_args = 1..,
          required_unless_present_any = ["config", "restart"])]
    pub(in crate::cli) input: Vec<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) restarts: RestartOptions,
    /// TOML file with options; those of the command line have precedence (nwp-mini config --print-default shows one)
    #[arg(long, value_name = "FILE.toml")]
    config: Option<PathBuf>,
    /// Device of the computation
    #[arg(long, value_name = "WHERE", default_value = "auto", env = "NWP_BACKEND")]
    pub(in crate::cli) backend: BackendChoice,
    #[command(flatten)]
    pub(in crate::cli) gpu: GpuChoice,
    /// Skip the comparison of CPU and GPU at the end
    #[arg(long)]
    pub(in crate::cli) no_compare: bool,
    /// Number of time steps
    #[arg(long, value_name = "N", conflicts_with = "hours",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) steps: Option<u32>,
    /// Time to simulate in hours [default: 1]
    #[arg(long, value_name = "H")]
    pub(in crate::cli) hours: Option<f64>,
    /// Time step in seconds [default: DT of the input, or 60, reduced to the longest that the winds allow]
    #[arg(long, value_name = "S")]
    pub(in crate::cli) dt: Option<f64>,
    /// NetCDF file to write, or Zarr store if the name ends in .zarr [default: <input>.out.nc in the current folder]
    #[arg(short, long, value_name = "FILE")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// Time between output frames in seconds [default: first and last only]
    #[arg(long, value_name = "S")]
    pub(in crate::cli) output_interval: Option<f64>,
    /// Run an ensemble instead of a single run: a TOML file gives the number of members, and the
    /// parameters of the microphysics and the initial states by which they differ. The output holds all
    /// members, their mean and their spread
    #[arg(long, value_name = "FILE.toml")]
    pub(in crate::cli) ensemble: Option<PathBuf>,
    /// Transport passive tracers, which a TOML file describes: [[tracer]] with name, units, initial (constant,
    /// layer, box, gaussian, field or tracer), sides, limiter and decay. A number adds that many tracers for
    /// benchmarks
    #[arg(long, value_name = "FILE.toml|N", conflicts_with = "restart")]
    pub(in crate::cli) tracers: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) coupling: Coupling,
    #[command(flatten)]
    pub(in crate::cli) aux: AuxOptions,
    #[command(flatten)]
    pub(in crate::cli) storing: StorageOptions,
    #[command(flatten)]
    pub(in crate::cli) scheme: SchemeOptions,
    #[command(flatten)]
    pub(in crate::cli) processes: ProcessOptions,
    /// File to use if several of --input have the same time, as before and after a restart of the model that
    /// wrote them
    #[arg(long, value_name = "FILE", default_value = "refuse")]
    pub(in crate::cli) overlap: Overlap,
    /// Divide every cell of the input into N x N, by linear interpolation [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(in crate::cli) refine: Option<u16>,
    /// Write the figures of the run to a JSON file
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) json: Option<PathBuf>,
    /// Write an HTML page about the run, with pictures, tables and provenance
    #[arg(long, value_name = "FILE.html")]
    pub(in crate::cli) report: Option<PathBuf>,
    /// Simulate a GPU failure in this step, to test the files that remain
    #[arg(long, hide = true, value_name = "STEP")]
    pub(in crate::cli) fail_at_step: Option<usize>,
    /// Panic after this step on the last rank, to test that all of them end
    #[arg(long, hide = true, value_name = "STEP")]
    pub(in crate::cli) panic_at_step: Option<usize>,
    /// Do everything except the time steps
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Overwrite the output file; a folder is replaced only if it is a Zarr store and holds nothing else
    #[arg(long)]
    pub(in crate::cli) force: bool,
}

/// Environment variable of `--gpus`.
pub(in crate::cli) const GPUS: &str = "NWP_GPUS";

/// Options of a run in several processes.
#[derive(Args, Clone, Debug)]
pub(in crate::cli) struct ProcessOptions {
    /// Compute on so many GPUs: start as many processes by the mpiexec (or mpirun) on the path, which divide the grid, or
    /// share out the members of an ensemble; implies --backend gpu
    #[arg(long, value_name = "N", env = GPUS, value_parser = clap::value_parser!(u16).range(1..))]
    pub(in crate::cli) gpus: Option<u16>,
    /// Parts of the grid from west to east and from south to north, one for each process that mpirun or srun has started
    /// [default: those with the least to exchange]
    #[arg(long, value_name = "PXxPY")]
    pub(in crate::cli) ranks: Option<PartsChoice>,
    /// Let the processes of a host share its GPUs, where there are fewer GPUs than processes
    #[arg(long)]
    pub(in crate::cli) share_gpu: bool,
}

/// A run as the user wants it.
#[derive(Debug)]
pub(in crate::cli) struct RunConfig {
    /// The options; those with a default that depends on a file are below.
    pub(in crate::cli) options: Run,
    /// The ranks of the run.
    pub(in crate::cli) team: Team,
    /// The program that the run is made in; `None` if it is the command.
    pub(in crate::cli) host: Option<RunHost>,
    /// Input files in the order of their times, at least one.
    pub(in crate::cli) inputs: Vec<PathBuf>,
    pub(in crate::cli) output: PathBuf,
    pub(in crate::cli) restart_output: Option<PathBuf>,
    pub(in crate::cli) length: Length,
    pub(in crate::cli) scheme: SchemeSettings,
    /// The members that are run in the place of one run.
    pub(in crate::cli) ensemble: Option<Ensemble>,
    /// The passive tracers, with the species of the chemistry behind them.
    pub(in crate::cli) tracers: Option<Arc<PassiveTracers>>,
    pub(in crate::cli) chemistry: Option<ChemistryConfig>,
    /// Form of the output.
    pub(in crate::cli) storage: Storage,
}

/// Going on where an earlier run stood.
#[derive(Args, Clone, Debug, Default)]
pub(in crate::cli) struct RestartOptions {
    /// Continue from a restart file, instead of --input: it contains the state, accumulated precipitation,
    /// remaining winds, dt and the options of the scheme, and the results are bit-identical to those of an
    /// uninterrupted run. --steps and --hours count from there; times, RAINNC and the water budget from the start
    /// of the first run. The output begins with the frame of the restart
    #[arg(long, value_name = "FILE", conflicts_with = "input")]
    pub(in crate::cli) restart: Option<PathBuf>,
    /// Write a restart file at the end, and when the run is interrupted
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) restart_output: Option<PathBuf>,
    /// Time between restart files in seconds: each replaces its predecessor, at the end of the first step that
    /// reaches the time, when the output so far is also copied to its final name [default: at the end only; with it
    /// the file is <input>.restart.nc in the current folder]
    #[arg(long, value_name = "S")]
    pub(in crate::cli) restart_interval: Option<f64>,
}

/// Options of the scheme, which a continued run must keep.
#[derive(Args, Clone, Copy, Debug)]
pub(in crate::cli) struct SchemeOptions {
    /// Precision of the computation and of the output [default: f32]
    #[arg(long, value_name = "PRECISION")]
    pub(in crate::cli) precision: Option<Precision>,
    /// The microphysics [default: wsm6 for an input of it (MP_PHYSICS 6), otherwise wsm5]
    #[arg(long, value_name = "SCHEME")]
    pub(in crate::cli) physics: Option<PhysicsChoice>,
    #[command(flatten)]
    pub(in crate::cli) variants: VariantOptions,
    /// Limiter of the transport of water [default: pd]
    #[arg(long, value_name = "LIMITER")]
    pub(in crate::cli) limiter: Option<Limiter>,
    /// Lateral boundaries: periodic, specified or open, or one for x and one for y as in
    /// periodic,open [default: specified]
    #[arg(long, value_name = "KIND")]
    pub(in crate::cli) boundary: Option<Sides>,
    /// Largest divergence of mass that the projection of the winds leaves in a column, in Pa per hour, at most 1
    /// [default: 0.001]
    #[arg(long, value_name = "PA/H")]
    pub(in crate::cli) projection_residual: Option<f64>,
}

/// The scheme of a run.
#[derive(Clone, Debug)]
pub(in crate::cli) struct SchemeSettings {
    pub(in crate::cli) precision: Precision,
    /// The microphysics.
    pub(in crate::cli) physics: Arc<dyn Scheme>,
    pub(in crate::cli) limiter: Limiter,
    pub(in crate::cli) boundary: Option<Sides>,
    /// Largest column divergence after the projection, Pa h⁻¹.
    pub(in crate::cli) projection_residual: f64,
    /// Parts of every cell of the input along x, and along y.
    pub(in crate::cli) refine: usize,
    /// Time step, s, if given.
    pub(in crate::cli) dt: Option<f64>,
}

/// Outputs of a run beside the main one.
#[derive(Args, Clone, Debug, Default)]
pub(in crate::cli) struct AuxOptions {
    /// Also write the fields on another grid, by a weight file in the format of SCRIP or ESMF (nwp-mini weights
    /// creates one)
    #[arg(long, value_name = "WEIGHTS")]
    pub(in crate::cli) regrid: Option<PathBuf>,
    /// NetCDF file of the fields on the other grid (`<output>.regrid.nc` by default)
    #[arg(long, value_name = "FILE", requires = "regrid")]
    pub(in crate::cli) regrid_output: Option<PathBuf>,
    /// Write time series at the stations of a CSV file with the header name,lat,lon or name,x,y, to
    /// `<output>.points.nc` and `<output>.points.profiles.nc`
    #[arg(long, value_name = "FILE.csv")]
    pub(in crate::cli) points: Option<PathBuf>,
    /// Time between values at the stations in seconds [default: as between output frames]
    #[arg(long, value_name = "S", requires = "points")]
    pub(in crate::cli) points_interval: Option<f64>,
    /// Write every column as a profile, with its totals, to `<output>.profiles.nc`
    #[arg(long)]
    pub(in crate::cli) profiles: bool,
}

//! Options of `nwp-mini run`, and the configuration of a run that follows from them and from its files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use crate::cli::BackendChoice;
use crate::cli::aux_outputs::{self, AuxOptions};
use crate::cli::coupled::{ChemistryConfig, Coupling};
use crate::cli::device::GpuChoice;
use crate::cli::ensemble;
use crate::cli::option_values::check_positive;
use crate::cli::restart::{RestartOptions, SchemeOptions, SchemeSettings};
use crate::cli::storage_options::StorageOptions;
use crate::cli::tracers;
use crate::ensemble::Ensemble;
use crate::error::{Error, Result};
use crate::io::destination::is_same;
use crate::io::output::Storage;
use crate::io::restart::RestartFile;
use crate::io::wrf::series::Overlap;
use crate::passive::PassiveTracers;
use crate::time_steps::{HOUR, Length};

/// Run transport and microphysics on the fields of a WRF file.
///
/// Several times, in one file or in several, drive the run one after the other: winds and boundary
/// values are linear in time between them, and hold beyond the last.
///
/// Example: nwp-mini run --input data/soc.nc --hours 2 --output-interval 1800
///
/// Example: nwp-mini run --input data/soc.nc --steps 4 --ensemble data/ensemble.toml --output
/// ensemble.nc
#[derive(Args, Clone, Debug)]
#[command(allow_negative_numbers = true)]
pub(super) struct Run {
    /// WRF files with the initial fields and the winds (wrfinput, wrfout, wrfrst, or our own
    /// output), in the order of their times
    #[arg(short, long, value_name = "FILE", num_args = 1..,
          required_unless_present_any = ["config", "restart"])]
    input: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) restarts: RestartOptions,
    /// TOML file with options; those of the command line have precedence (nwp-mini config --print-default shows one)
    #[arg(long, value_name = "FILE.toml")]
    config: Option<PathBuf>,
    /// Device of the computation
    #[arg(long, value_name = "WHERE", default_value = "auto", env = "NWP_BACKEND")]
    pub(super) backend: BackendChoice,
    #[command(flatten)]
    pub(super) gpu: GpuChoice,
    /// Skip the comparison of CPU and GPU at the end
    #[arg(long)]
    pub(super) no_compare: bool,
    /// Number of time steps
    #[arg(long, value_name = "N", conflicts_with = "hours",
          value_parser = clap::value_parser!(u32).range(1..))]
    steps: Option<u32>,
    /// Time to simulate in hours [default: 1]
    #[arg(long, value_name = "H")]
    hours: Option<f64>,
    /// Time step in seconds [default: DT of the input, or 60, reduced to the longest that the winds allow]
    #[arg(long, value_name = "S")]
    pub(super) dt: Option<f64>,
    /// NetCDF file to write [default: <input>.out.nc in the current folder]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Time between output frames in seconds [default: first and last only]
    #[arg(long, value_name = "S")]
    pub(super) output_interval: Option<f64>,
    /// Run an ensemble instead of a single run: a TOML file gives the number of members, and the
    /// parameters of the microphysics and the initial states by which they differ. The output holds all
    /// members, their mean and their spread
    #[arg(long, value_name = "FILE.toml")]
    ensemble: Option<PathBuf>,
    /// Transport passive tracers, which a TOML file describes: [[tracer]] with name, units, initial (constant,
    /// layer, box, gaussian, field or tracer), sides, limiter and decay. A number adds that many tracers for
    /// benchmarks
    #[arg(long, value_name = "FILE.toml|N", conflicts_with = "restart")]
    tracers: Option<PathBuf>,
    #[command(flatten)]
    coupling: Coupling,
    #[command(flatten)]
    pub(super) beside: AuxOptions,
    #[command(flatten)]
    storing: StorageOptions,
    #[command(flatten)]
    pub(super) scheme: SchemeOptions,
    /// File to use if several of --input have the same time, as before and after a restart of the model that
    /// wrote them
    #[arg(long, value_name = "FILE", default_value = "refuse")]
    pub(super) overlap: Overlap,
    /// Divide every cell of the input into N x N, by linear interpolation [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) refine: Option<u16>,
    /// Write the figures of the run to a JSON file
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
    /// Write an HTML page about the run, with pictures, tables and provenance
    #[arg(long, value_name = "FILE.html")]
    pub(super) report: Option<PathBuf>,
    /// Simulate a GPU failure in this step, to test the files that remain
    #[arg(long, hide = true, value_name = "STEP")]
    pub(super) fail_at_step: Option<usize>,
    /// Do everything except the time steps
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Overwrite the output file
    #[arg(long)]
    pub(super) force: bool,
}

/// A run as the user wants it.
#[derive(Debug)]
pub(super) struct RunConfig {
    /// The options; those with a default that depends on a file are below.
    pub(super) options: Run,
    /// Input files in the order of their times, at least one.
    pub(super) inputs: Vec<PathBuf>,
    pub(super) output: PathBuf,
    pub(super) restart_output: Option<PathBuf>,
    pub(super) length: Length,
    pub(super) scheme: SchemeSettings,
    /// The members that are run in the place of one run.
    pub(super) ensemble: Option<Ensemble>,
    /// The passive tracers, with the species of the chemistry behind them.
    pub(super) tracers: Option<Arc<PassiveTracers>>,
    pub(super) chemistry: Option<ChemistryConfig>,
    /// Form of the output.
    pub(super) storage: Storage,
}

impl Run {
    /// The configuration, of a continued run if there is a restart file.
    pub(super) fn config(&self, from: Option<&RestartFile>) -> Result<RunConfig> {
        let scheme = self.scheme.resolve(self.refine, self.dt, from)?;
        for (option, value) in [
            ("--hours", self.hours),
            ("--dt", self.dt),
            ("--output-interval", self.output_interval),
            ("--points-interval", self.beside.points_interval),
            ("--restart-interval", self.restarts.restart_interval),
        ] {
            check_positive(option, value)?;
        }
        let length = match (self.steps, self.hours) {
            (Some(steps), _) => Length::Steps(steps as usize),
            (None, hours) => Length::Seconds(hours.unwrap_or(1.0) * HOUR),
        };
        let RestartOptions { restart, restart_output, restart_interval } = self.restarts.clone();
        let inputs: Vec<PathBuf> = self.input.iter().cloned().chain(restart).collect();
        let Some(first) = inputs.first() else {
            return Err(Error::Usage("no input: give a file with --input".to_owned()));
        };
        let output = self.output.clone().map_or_else(|| beside_input(first, "out"), Ok)?;
        let restart_output = match restart_interval {
            Some(_) if restart_output.is_none() => Some(beside_input(first, "restart")?),
            _ => restart_output,
        };
        let tracers = tracers::recipe(self.tracers.as_deref(), from)?;
        let chemistry = self.coupling.choose(&inputs, tracers.as_ref(), from)?;
        let tracers = chemistry.as_ref().map(|chosen| chosen.recipe.clone()).or(tracers);
        let mut storage = self.storing.storage(tracers.as_ref())?;
        if let Some(chosen) = &chemistry {
            storage.hidden.clone_from(&chosen.hidden);
            if restart_output.is_some() {
                chosen.refuse_includes()?;
            }
        }
        let config = RunConfig {
            options: self.clone(),
            inputs,
            output,
            restart_output,
            length,
            scheme,
            ensemble: self.ensemble()?,
            tracers: tracers.map(Arc::new),
            chemistry,
            storage,
        };
        refuse_one_file_twice(&config)?;
        Ok(config)
    }

    /// The ensemble, where there is one.
    fn ensemble(&self) -> Result<Option<Ensemble>> {
        let RestartOptions { restart, restart_output, restart_interval } = &self.restarts;
        let AuxOptions { regrid, points, profiles, .. } = &self.beside;
        let of_single_runs = [
            ("--backend both", self.backend == BackendChoice::Both),
            ("--restart", restart.is_some()),
            ("--restart-output", restart_output.is_some()),
            ("--restart-interval", restart_interval.is_some()),
            ("--regrid", regrid.is_some()),
            ("--points", points.is_some()),
            ("--profiles", *profiles),
            ("--report", self.report.is_some()),
            ("--chemistry", self.coupling.is_given()),
        ];
        let of_single_runs = [&of_single_runs[..], &self.storing.of_single_runs()].concat();
        self.ensemble.as_deref().map(|path| ensemble::read(path, &of_single_runs)).transpose()
    }
}

/// Fails if two of the files that a run writes are the same, or one of them is also read.
fn refuse_one_file_twice(config: &RunConfig) -> Result<()> {
    let RunConfig { options, ensemble, tracers, chemistry, .. } = config;
    let mut written = vec![("--output", config.output.clone())];
    written.extend(options.json.clone().map(|path| ("--json", path)));
    written.extend(options.report.clone().map(|path| ("--report", path)));
    written.extend(aux_outputs::names(config));
    written.extend(config.restart_output.clone().map(|path| ("--restart-output", path)));
    let recipe = tracers.as_ref().and_then(|recipe| recipe.path.as_ref());
    let chemistry = chemistry.iter().flat_map(|chosen| &chosen.files);
    let read: [(&str, Vec<&PathBuf>); 6] = [
        ("the input file", config.inputs.iter().collect()),
        ("the weight file", options.beside.regrid.iter().collect()),
        ("the file of --ensemble", ensemble.iter().map(|ensemble| &ensemble.path).collect()),
        ("the file of --tracers", recipe.into_iter().collect()),
        ("a file of the chemistry", chemistry.collect()),
        ("the file of places", options.beside.points.iter().collect()),
    ];
    for (n, (option, path)) in written.iter().enumerate() {
        let same = read.iter().find(|(_, others)| others.iter().any(|other| is_same(path, other)));
        let twice = written[..n].iter().find(|(_, other)| is_same(path, other));
        let what = match (same, twice) {
            (Some((what, _)), _) => what,
            (None, Some(("--output", _))) => "the output file",
            (None, Some(("--json", _))) => "the file of --json",
            (None, Some(_)) => "another file of this run",
            (None, None) => continue,
        };
        return Err(Error::Usage(format!("{option} is {what}; choose another name")));
    }
    Ok(())
}

/// `<input stem>.<what>.nc` in the current folder.
fn beside_input(input: &Path, what: &str) -> Result<PathBuf> {
    let Some(stem) = input.file_stem() else {
        return Err(Error::input(input, "is not the name of a file"));
    };
    let mut name = stem.to_owned();
    name.push(format!(".{what}.nc"));
    Ok(PathBuf::from(name))
}

//! `nwp-mini run`: the storm, step by step.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use clap::Args;
use tracing::info;

use crate::advection::Limiter;
use crate::backend::cpu::Cpu;
use crate::backend::gpu::{GpuBackend, GpuPrecision};
use crate::backend::{Backend, Info};
use crate::cli::aux_outputs::{AuxFileNames, AuxRequest, AuxWriter};
use crate::cli::coupled::Coupling;
use crate::cli::device::GpuChoice;
use crate::cli::ensemble;
use crate::cli::option_values::check_positive;
use crate::cli::pair;
use crate::cli::progress::Progress;
use crate::cli::provenance::provenance;
use crate::cli::report::Facts;
use crate::cli::restart::{KeptOptions, KeptValues, restarter, warn_of_another_backend};
use crate::cli::scheme;
use crate::cli::setup::{
    PreparedRun, gpu_config, header, interruptible, log_projection, print_dry, ready,
};
use crate::cli::storage_options::StorageOptions;
use crate::cli::tracers;
use crate::cli::{BackendChoice, PhysicsChoice, Precision};
use crate::config::{AuxConfig, RestartConfig, RunConfig};
use crate::device::Gpu;
use crate::diagnostics::difference::Value;
use crate::ensemble::Ensemble;
use crate::error::{Error, Result};
use crate::grid::Sides;
use crate::io::atomic_file::AtomicFile;
use crate::io::destination::is_same;
use crate::io::output::{FileForm, Output};
use crate::io::output_statistics::OutputStatistics;
use crate::io::restart::RestartFile;
use crate::io::wrf::series::Overlap;
use crate::model::backend_comparison::{ComparisonReport, LONG_RUNS, Pair};
use crate::model::{self, Frames, NullSink, Outcome, OutputSink, RunInput, RunPrecision};
use crate::os_text::Shown;
use crate::state::State;
use crate::time_steps::{HOUR, Length, Plan};
use crate::wsm5::Sedimentation;

/// Run transport and microphysics on the fields of a WRF file.
///
/// Several times, in one file or in several, drive the run one after the other: winds and boundary
/// values are linear in time between them, and hold beyond the last.
///
/// Example: nwp-mini run --input data/soc.nc --hours 2 --output-interval 1800
///
/// Example: nwp-mini run --input data/soc.nc --steps 4 --ensemble data/ensemble.toml --output
/// ensemble.nc
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(super) struct Run {
    /// WRF files with the initial fields and the winds (wrfinput, wrfout, wrfrst, or our own
    /// output), in the order of their times
    #[arg(short, long, value_name = "FILE", num_args = 1..,
          required_unless_present_any = ["config", "restart"])]
    input: Vec<PathBuf>,
    #[command(flatten)]
    restarts: RestartConfig,
    /// TOML file with options; those of the command line have precedence (nwp-mini config --print-default shows one)
    #[arg(long, value_name = "FILE.toml")]
    config: Option<PathBuf>,
    /// Device of the computation
    #[arg(long, value_name = "WHERE", default_value = "auto", env = "NWP_BACKEND")]
    backend: BackendChoice,
    #[command(flatten)]
    gpu: GpuChoice,
    /// Skip the comparison of CPU and GPU at the end
    #[arg(long)]
    no_compare: bool,
    /// Number of time steps
    #[arg(long, value_name = "N", conflicts_with = "hours",
          value_parser = clap::value_parser!(u32).range(1..))]
    steps: Option<u32>,
    /// Time to simulate in hours [default: 1]
    #[arg(long, value_name = "H")]
    hours: Option<f64>,
    /// Time step in seconds [default: DT of the input, or 60, reduced to the longest that the winds allow]
    #[arg(long, value_name = "S")]
    dt: Option<f64>,
    /// NetCDF file to write [default: <input>.out.nc in the current folder]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Time between output frames in seconds [default: first and last only]
    #[arg(long, value_name = "S")]
    output_interval: Option<f64>,
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
    beside: AuxConfig,
    #[command(flatten)]
    storing: StorageOptions,
    /// Precision of the computation and of the output [default: f32]
    #[arg(long, value_name = "PRECISION")]
    precision: Option<Precision>,
    /// The microphysics, independent of the scheme of the input [default: wsm5]
    #[arg(long, value_name = "SCHEME")]
    physics: Option<PhysicsChoice>,
    /// Sedimentation in WSM5 [default: semi-lagrangian]
    #[arg(long, value_name = "SCHEME")]
    fallout: Option<Sedimentation>,
    /// Limiter of the transport of water [default: pd]
    #[arg(long, value_name = "LIMITER")]
    limiter: Option<Limiter>,
    /// Lateral boundaries: periodic, specified or open, or one for x and one for y as in
    /// periodic,open [default: specified]
    #[arg(long, value_name = "KIND")]
    boundary: Option<Sides>,
    /// File to use if several of --input have the same time, as before and after a restart of the model that
    /// wrote them
    #[arg(long, value_name = "FILE", default_value = "refuse")]
    overlap: Overlap,
    /// Divide every cell of the input into N x N, by linear interpolation [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    refine: Option<u16>,
    /// Write the figures of the run to a JSON file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write an HTML page about the run, with pictures, tables and provenance
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Simulate a GPU failure in this step, to test the files that remain
    #[arg(long, hide = true, value_name = "STEP")]
    fail_at_step: Option<usize>,
    /// Do everything except the time steps
    #[arg(long)]
    dry_run: bool,
    /// Overwrite the output file
    #[arg(long)]
    force: bool,
}

impl Run {
    /// Runs the command.
    pub(super) fn run(&self) -> Result<()> {
        let from = self.restarts.restart.as_deref().map(RestartFile::open).transpose()?;
        let Self { precision, physics, fallout, limiter, boundary, refine, dt, .. } = *self;
        let given = KeptOptions { precision, physics, fallout, limiter, boundary, refine, dt };
        let settled = given.resolve(from.as_ref())?;
        let config = self.config(&settled, from.as_ref())?;
        let gpu = self.backend.open(&self.gpu)?;
        match settled.precision {
            Precision::F32 => run::<f32>(config, self.backend, gpu.as_ref(), from.as_ref()),
            Precision::F64 => run::<f64>(config, self.backend, gpu.as_ref(), from.as_ref()),
        }
    }

    fn config(&self, settled: &KeptValues, from: Option<&RestartFile>) -> Result<RunConfig> {
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
        let restart = self.restarts.restart.iter();
        let inputs: Vec<PathBuf> = self.input.iter().chain(restart).cloned().collect();
        let Some(first) = inputs.first() else {
            return Err(Error::Usage("no input: give a file with --input".to_owned()));
        };
        let output = match &self.output {
            Some(output) => output.clone(),
            None => beside_input(first, "out")?,
        };
        let mut restarts = self.restarts.clone();
        if restarts.restart_interval.is_some() && restarts.restart_output.is_none() {
            restarts.restart_output = Some(beside_input(first, "restart")?);
        }
        let tracers = tracers::recipe(self.tracers.as_deref(), from)?;
        let chemistry = self.coupling.choose(&inputs, tracers.as_ref(), from)?;
        let tracers = match &chemistry {
            Some(chosen) => Some(Arc::new(chosen.recipe.clone())),
            None => tracers.map(Arc::new),
        };
        let mut storage = self.storing.storage(tracers.as_deref())?;
        if let Some(chosen) = &chemistry {
            storage.hidden.clone_from(&chosen.hidden);
            if restarts.restart_output.is_some() {
                chosen.refuse_includes()?;
            }
        }
        let config = RunConfig {
            inputs,
            output,
            force: self.force,
            length,
            dt: settled.dt,
            output_interval: self.output_interval,
            restarts,
            limiter: settled.limiter,
            microphysics: settled.microphysics,
            overlap: self.overlap,
            boundary: settled.boundary,
            refine: settled.refine.into(),
            json: self.json.clone(),
            report: self.report.clone(),
            compare: !self.no_compare,
            dry_run: self.dry_run,
            failing_step: self.fail_at_step,
            ensemble: self.ensemble()?,
            tracers,
            chemistry,
            beside: self.beside.clone(),
            storage,
        };
        refuse_one_file_twice(&config)?;
        Ok(config)
    }

    /// The ensemble, where there is one.
    fn ensemble(&self) -> Result<Option<Ensemble>> {
        let RestartConfig { restart, restart_output, restart_interval } = &self.restarts;
        let AuxConfig { regrid, points, profiles, .. } = &self.beside;
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
    let names = AuxFileNames::of(config);
    let mut written: Vec<(&str, &Path)> = vec![("--output", &config.output)];
    written.extend(config.json.as_deref().map(|path| ("--json", path)));
    written.extend(config.report.as_deref().map(|path| ("--report", path)));
    written.extend(names.asked_for(config));
    let restart = config.restarts.restart_output.as_deref();
    written.extend(restart.map(|path| ("--restart-output", path)));
    let mut read: Vec<(&str, &Path)> =
        config.inputs.iter().map(|path| ("the input file", path.as_path())).collect();
    read.extend(config.beside.regrid.as_deref().map(|path| ("the weight file", path)));
    let ensemble = config.ensemble.as_ref();
    read.extend(ensemble.map(|ensemble| ("the file of --ensemble", ensemble.path.as_path())));
    let recipe = config.tracers.as_ref().and_then(|recipe| recipe.path.as_deref());
    read.extend(recipe.map(|path| ("the file of --tracers", path)));
    let chemistry = config.chemistry.iter().flat_map(|chosen| &chosen.files);
    read.extend(chemistry.map(|path| ("a file of the chemistry", path.as_path())));
    read.extend(config.beside.points.as_deref().map(|path| ("the file of places", path)));
    for (n, (option, path)) in written.iter().enumerate() {
        let same = read.iter().find(|(_, other)| is_same(path, other)).map(|(what, _)| *what);
        let twice = written[..n].iter().find(|(_, other)| is_same(path, other));
        let same = same.or(twice.map(|(what, _)| match *what {
            "--output" => "the output file",
            "--json" => "the file of --json",
            _ => "another file of this run",
        }));
        if let Some(what) = same {
            return Err(Error::Usage(format!("{option} is {what}; choose another name")));
        }
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

fn run<R: RunPrecision + Value + GpuPrecision>(
    mut config: RunConfig,
    choice: BackendChoice,
    gpu: Option<&Gpu>,
    from: Option<&RestartFile>,
) -> Result<()> {
    if let Some(ensemble) = &config.ensemble {
        return ensemble::run::<R>(&config, ensemble, gpu);
    }
    let start = Instant::now();
    // From here on an interrupt must leave complete files: before the first step the output ends with the initial
    // state.
    let stop = interruptible()?;
    // Errors about output files come before anything is read or computed. From here on no other run can write these
    // files.
    let output = AtomicFile::new(&config.output, config.force)?;
    let json = AtomicFile::if_asked(config.json.as_deref(), config.force)?;
    let page = AtomicFile::if_asked(config.report.as_deref(), config.force)?;
    let restart_output = config.restarts.restart_output.as_deref();
    let restart_output = AtomicFile::if_asked(restart_output, config.force)?;
    let asked = AuxRequest::read(&config)?;
    let left_out = scheme::left_out(&config, from)?;

    let PreparedRun { mut case, plan, series, mut beside } = ready::<R>(&config, asked, gpu, from)?;
    if let Some(chosen) = &mut config.chemistry {
        case.chemistry = Some(chosen.at(&case.domain, &case.tracers, series.start())?);
    }
    let config = &config;
    log_projection(&case);
    let compared = Compared::of(choice, gpu.is_some() && config.compare);
    let state = case.take_state();
    let start_state = (compared != Compared::Nothing).then(|| state.clone());
    let mut backend = backend(config, &case, gpu, state)?;
    if config.dry_run {
        return print_dry(config, &plan);
    }
    let Info { kind, device, .. } = backend.info()?;
    let provenance = provenance::<R>(config, [kind, &device], gpu)?;
    let header = header(config, &case, series.start(), &plan, (left_out, provenance));
    warn_of_another_backend(from, kind);
    let restarts = restart_output.is_some().then_some(config.restarts.restart_interval);
    let restarts = restarts.map(|interval| Frames { interval, ..Frames::default() });
    let restarter = restart_output.map(|pending| {
        let about = (header.provenance.clone(), &header.left_out[..]);
        restarter(pending, config, (&case, series, &plan), about)
    });
    let companions = beside.files(&header)?;
    let mut storage = config.storage.clone();
    storage.variables = storage.variables.without(&header.left_out);
    let form = FileForm { storage, statistics: OutputStatistics::default() };
    let statistics = form.statistics.clone();
    let output = Output::create(output, (header, form), companions, restarter)?;
    let frames = Frames { interval: config.output_interval, ..Frames::default() };
    let mut job = Job { config, case: &mut case, plan, frames, stop: &stop };
    let whole = start_state.as_ref().filter(|_| compared == Compared::Whole);
    let mut sink = AuxWriter { output: &output, beside: &beside, restarts };
    let result = job.run(&mut *backend, whole, &mut sink);
    let waiting = Instant::now();
    let waits = statistics.busy();
    let written = output.finish()?;
    drop(waits);
    let (mut outcome, mut report) = result.inspect_err(|_| {
        info!("{} contains the {written} frames before that", config.output.shown());
    })?;
    outcome.output += waiting.elapsed();
    // For a pair the run itself is reported, not those that it is compared with.
    let wall = match report.as_ref().and_then(|report| report.runs.last()) {
        Some(run) => Duration::from_secs_f64(run.end_to_end_s),
        None => start.elapsed(),
    };
    let mut facts =
        Facts::new(config, job.case, &plan, &mut *backend, &outcome, (written, &statistics), wall)?;
    if let Some(start) = start_state.as_ref().filter(|_| !outcome.interrupted && report.is_none()) {
        let most = CELLS_COMPARED / job.case.domain.grid.shape.cells();
        let steps = plan.steps.min(most.clamp(1, STEPS_COMPARED));
        info!("comparing the first {steps} steps with the CPU; skip it with --no-compare");
        let short = Plan { steps, last_dt: plan.dt_of(steps), ..plan };
        let mut job = Job { plan: short, frames: Frames::default(), ..job };
        (_, report) = job.run(&mut *backend, Some(start), &mut NullSink)?;
    }
    if let Some(report) = &report {
        facts.compare(report);
    }
    facts.write(json, page, &config.output)?;
    facts.print()?;
    let about = config.output.shown();
    if outcome.interrupted {
        let restart = config.restarts.restart_output.as_deref().filter(|_| outcome.steps > 0);
        let restart = restart
            .map_or_else(String::new, |path| format!("; continue with --restart {}", path.shown()));
        return Err(Error::Interrupted(format!(
            "stopped after step {} of {}; {about} contains {written} frames{restart}",
            outcome.steps, plan.steps
        )));
    }
    let Some(report) = report else { return facts.judge() };
    pair::print(&report)?;
    if report.interrupted {
        return Err(Error::Interrupted(format!(
            "stopped before the end of the comparison; {about} is complete"
        )));
    }
    pair::judge(&report)?;
    facts.judge()
}

/// Most steps of the comparison at the end of a run: enough to show both backends at work.
const STEPS_COMPARED: usize = 10;
/// Largest product of cells and steps in it: a minute of several runs on a few cores.
const CELLS_COMPARED: usize = 30_000_000;

/// Comparison of a run with the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compared {
    Nothing,
    FirstSteps,
    Whole,
}

impl Compared {
    fn of(choice: BackendChoice, is_wanted: bool) -> Self {
        match choice {
            BackendChoice::Both => Self::Whole,
            BackendChoice::Auto if is_wanted => Self::FirstSteps,
            _ => Self::Nothing,
        }
    }
}

/// The backend that computes the run.
fn backend<R: RunPrecision + GpuPrecision>(
    config: &RunConfig,
    case: &RunInput<R>,
    gpu: Option<&Gpu>,
    state: State<R>,
) -> Result<Box<dyn Backend<R>>> {
    let Some(gpu) = gpu else {
        let (grid, coordinate) = (&case.domain.grid, &case.domain.coordinate);
        let RunConfig { limiter, microphysics, .. } = *config;
        let cpu = Cpu::new(grid, coordinate, limiter, microphysics, &case.forcing, state);
        return Ok(Box::new(cpu.with_chemistry(case.chemistry.as_ref())));
    };
    let backend = GpuBackend::new(gpu, &gpu_config(config, case), &state)?;
    let mut backend = backend.with_chemistry(case.chemistry.as_ref())?;
    if let Some(step) = config.failing_step {
        backend.fail_at(step);
    }
    Ok(Box::new(backend))
}

/// Steps to compute.
struct Job<'a, R> {
    config: &'a RunConfig,
    case: &'a mut RunInput<R>,
    plan: Plan,
    frames: Frames,
    stop: &'a AtomicBool,
}

impl<R: RunPrecision + Value> Job<'_, R> {
    /// Computes them, and those of the comparison if there is an initial state for it.
    fn run(
        &mut self,
        backend: &mut dyn Backend<R>,
        compared: Option<&State<R>>,
        sink: &mut dyn OutputSink<R>,
    ) -> Result<(Outcome, Option<ComparisonReport>)> {
        let Self { config, plan, frames, stop, .. } = *self;
        let long_runs = if compared.is_some() { LONG_RUNS } else { 1 };
        let mut progress = Progress::new(long_runs * plan.steps);
        let watch = &mut |step| progress.at(step);
        let result = if let Some(start) = compared {
            let case = &mut *self.case;
            let RunConfig { limiter, microphysics, .. } = *config;
            let pair = Pair { case, start, plan, frames, limiter, microphysics, stop };
            model::backend_comparison::run(pair, backend, sink, watch)
                .map(|report| (report.outcome.clone(), Some(report)))
        } else {
            model::run(self.case, &plan, frames, backend, stop, sink, watch)
                .map(|outcome| (outcome, None))
        };
        progress.finish();
        result
    }
}

//! `nwp-mini run`: the storm, step by step.

mod aux_outputs;
mod chemistry_report;
mod coupled;
mod ensemble;
pub(in crate::cli) mod host;
pub(in crate::cli) mod metadata;
pub(in crate::cli) mod options;
pub(in crate::cli) mod pair;
mod photolysis;
mod progress;
mod provenance;
pub(in crate::cli) mod ranks;
pub(in crate::cli) mod refine;
mod report;
mod restart;
pub(in crate::cli) mod scheme;
mod setup;
mod storage_options;
mod tracers;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use tracing::info;

use crate::backend::Backend;
use crate::backend::cpu::Cpu;
use crate::backend::gpu::{GpuBackend, GpuPrecision};
use crate::backend::ranks::StopFlags;
use crate::cli::distinct_files::refuse_one_file_twice;
use crate::cli::option_values::check_positive;
use crate::cli::run::aux_outputs::{AuxRequest, Hands, WrittenOutput};
use crate::cli::run::host::RunHost;
use crate::cli::run::options::{AuxOptions, RestartOptions, Run, RunConfig, SchemeSettings};
use crate::cli::run::progress::Progress;
use crate::cli::run::report::Facts;
use crate::cli::run::restart::{restarter, warn_of_another_backend};
use crate::cli::run::setup::{
    PreparedRun, gpu_config, header, interruptible, log_projection, print_dry, ready,
};
use crate::cli::{BackendChoice, FilePrecision, Precision};
use crate::constituents::Constituents;
use crate::device::Gpu;
use crate::diagnostics::difference::Value;
use crate::ensemble::Ensemble;
use crate::error::{Error, Result};
use crate::frame::FrameSource;
use crate::frame::output_statistics::OutputStatistics;
use crate::io::out::divided_output::DividedOutput;
use crate::io::out::output::{FileForm, Output};
use crate::io::restart::RestartFile;
use crate::io::store;
use crate::io::store::atomic_file::AtomicFile;
use crate::model::backend_comparison::{ComparisonReport, LONG_RUNS, Pair};
use crate::model::{self, Frames, NullSink, Outcome, OutputSink, RunInput};
use crate::os_text::Shown;
use crate::passive::PassiveTracers;
use crate::ranks::Team;
use crate::state::State;
use crate::time_steps::{HOUR, Length, Plan};

impl Run {
    /// A run on the ranks that there are, inside another program, if there is one.
    pub(in crate::cli) fn run(&self, team: &Team, host: Option<RunHost>) -> Result<()> {
        ranks::check(self, team)?;
        let from = self.restarts.restart.as_deref().map(RestartFile::open).transpose()?;
        let config = RunConfig { host, ..self.config(team, from.as_ref())? };
        let gpu =
            if team.is_several() { ranks::gpu(self, team) } else { self.backend.open(&self.gpu) }?;
        match config.scheme.precision {
            Precision::F32 => run::<f32>(config, gpu.as_ref(), from.as_ref()),
            Precision::F64 => run::<f64>(config, gpu.as_ref(), from.as_ref()),
        }
    }

    /// The configuration, of a continued run if there is a restart file.
    fn config(&self, team: &Team, from: Option<&RestartFile>) -> Result<RunConfig> {
        let scheme = self.scheme.resolve(
            self.refine,
            self.dt,
            self.input.first().map(PathBuf::as_path),
            from,
        )?;
        for (option, value) in [
            ("--hours", self.hours),
            ("--dt", self.dt),
            ("--output-interval", self.output_interval),
            ("--points-interval", self.aux.points_interval),
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
        let output = self.output.clone().map_or_else(|| default_name(first, "out"), Ok)?;
        let restart_output = match restart_interval {
            Some(_) if restart_output.is_none() => Some(default_name(first, "restart")?),
            _ => restart_output,
        };
        let set = scheme.physics.about().set();
        let tracers = tracers::recipe(&set, self.tracers.as_deref(), from)?;
        let chemistry = self.coupling.choose(&inputs, (&set, tracers.as_ref()), from)?;
        let tracers = chemistry.as_ref().map(|chosen| chosen.recipe.clone()).or(tracers);
        let carried = tracers.as_ref().map_or_else(|| Arc::clone(&set), PassiveTracers::set);
        let mut storage = self.storing.storage(&carried)?;
        if let Some(chosen) = &chemistry {
            storage.hidden.clone_from(&chosen.hidden);
        }
        let config = RunConfig {
            options: self.clone(),
            team: team.clone(),
            host: None,
            inputs,
            output,
            restart_output,
            length,
            scheme,
            ensemble: self.ensemble(&set)?,
            tracers: tracers.map(Arc::new),
            chemistry,
            storage,
        };
        check_files(&config)?;
        Ok(config)
    }

    /// The ensemble, where there is one.
    fn ensemble(&self, set: &Constituents) -> Result<Option<Ensemble>> {
        let RestartOptions { restart, restart_output, restart_interval } = &self.restarts;
        let AuxOptions { regrid, points, profiles, .. } = &self.aux;
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
        self.ensemble.as_deref().map(|path| ensemble::read(path, &of_single_runs, set)).transpose()
    }
}

/// Fails if two of the files that a run writes are the same, or one of them is also read.
fn check_files(config: &RunConfig) -> Result<()> {
    let RunConfig { options, ensemble, tracers, chemistry, .. } = config;
    let aux = aux_outputs::names(config);
    let mut written = vec![
        ("--output", Some(&config.output)),
        ("--json", options.json.as_ref()),
        ("--report", options.report.as_ref()),
        ("--restart-output", config.restart_output.as_ref()),
    ];
    written.extend(aux.iter().map(|(option, path)| (*option, Some(path))));
    let recipe = tracers.as_ref().and_then(|recipe| recipe.path.as_ref());
    let chemistry = chemistry.iter().flat_map(|chosen| &chosen.files);
    let mut read: Vec<_> = config.inputs.iter().map(|path| ("the input file", path)).collect();
    read.extend(options.aux.regrid.iter().map(|path| ("the weight file", path)));
    read.extend(ensemble.iter().map(|ensemble| ("the file of --ensemble", &ensemble.path)));
    read.extend(recipe.map(|path| ("the file of --tracers", path)));
    read.extend(chemistry.map(|path| ("a file of the chemistry", path)));
    read.extend(options.aux.points.iter().map(|path| ("the file of places", path)));
    refuse_one_file_twice(&written, &read)
}

/// `<input stem>.<what>.nc` in the current folder.
fn default_name(input: &Path, what: &str) -> Result<PathBuf> {
    let Some(stem) = input.file_stem() else {
        return Err(Error::input(input, "is not the name of a file"));
    };
    let mut name = stem.to_owned();
    name.push(format!(".{what}.nc"));
    Ok(PathBuf::from(name))
}

fn run<R: FilePrecision + Value + GpuPrecision>(
    mut config: RunConfig,
    gpu: Option<&Gpu>,
    from: Option<&RestartFile>,
) -> Result<()> {
    if let Some(ensemble) = &config.ensemble {
        return ensemble::run::<R>(&config, ensemble, gpu);
    }
    let start = Instant::now();
    // From here on an interrupt must leave complete files: before the first step the output ends with the initial
    // state.
    let team = config.team.clone();
    let stop = interruptible(&team, config.host.as_ref())?;
    // Errors about output files come before anything is read or computed. From here on no other run can write these
    // files.
    let Pending { output, json, page, restart_output } = Pending::of(&config, store::of_name)?;
    let request = AuxRequest::read(&config)?;
    if from.is_none() {
        scheme::tell(&config)?;
    }

    let mut prepared = ready::<R>(&config, request, gpu, from)?;
    if let Some(chosen) = &mut config.chemistry {
        let PreparedRun { case, series, .. } = &mut prepared;
        case.chemistry = Some(chosen.at(&case.domain, &case.tracers, series.start())?);
    }
    let config = &config;
    let options = &config.options;
    log_projection(&prepared.case);
    let compared = Compared::of(options, gpu.is_some() && !team.is_several());
    let (mut backend, start_state) = backend(config, &mut prepared, gpu, (&stop, compared))?;
    if options.dry_run {
        return if team.is_first() { print_dry(config, &prepared.plan) } else { Ok(()) };
    }
    let info = backend.info()?;
    let header = header(config, &prepared, &info, gpu)?;
    let PreparedRun { mut case, plan, series, mut aux, .. } = prepared;
    warn_of_another_backend(from, info.kind);
    let times = |interval| Frames { interval, ..Frames::default() };
    let restarts = config.restart_output.is_some();
    let restarts = restarts.then(|| times(options.restarts.restart_interval));
    let restarter = config.restart_output.is_some().then(|| {
        restarter(restart_output, config, (&case, series, &plan), header.provenance.clone())
    });
    let companions =
        team.agree(if team.is_first() { aux.files(&header) } else { Ok(Vec::new()) })?;
    let storage = config.storage.clone();
    let statistics = OutputStatistics::default();
    let form = FileForm { storage, statistics: statistics.clone() };
    let hands = match (&case.divided, output) {
        (None, Some(store)) => {
            Hands::Thread(Output::create(store, (header, form), companions, restarter)?)
        }
        (None, None) => unreachable!("a rank by itself writes its output"),
        (Some(divided), store) => {
            let store = (config.output.as_path(), store);
            let form = (header, form);
            let output = DividedOutput::new(&team, divided, store, form, companions, restarter);
            Hands::Ranks(Box::new(output))
        }
    };
    let frames = times(options.output_interval);
    let mut job = Job { config, case: &mut case, plan, frames, stop: &stop.agreed };
    let whole = start_state.as_ref().filter(|_| compared == Compared::Whole);
    let mut sink = WrittenOutput { hands, aux: &aux, restarts };
    let result = job.run(&mut *backend, whole, &mut sink);
    let waiting = Instant::now();
    let waits = statistics.busy();
    let result = ranks::end_if_alone(&team, result);
    let written = sink.finish();
    drop(waits);
    let written = team.agree(written)?;
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
    if outcome.interrupted {
        return Err(interrupted(config, [outcome.steps, plan.steps], written));
    }
    let Some(report) = report else { return facts.judge() };
    pair::print(&report)?;
    if report.interrupted {
        return Err(Error::Interrupted(format!(
            "stopped before the end of the comparison; {} is complete",
            config.output.shown()
        )));
    }
    pair::judge(&report)?;
    facts.judge()
}

/// Files that a run writes beside those of [`AuxRequest`], where this is the first rank: the others write none.
struct Pending<O> {
    output: Option<O>,
    json: Option<AtomicFile>,
    page: Option<AtomicFile>,
    restart_output: Option<AtomicFile>,
}

impl<O> Pending<O> {
    /// Files of a run, and its output as `open` makes it.
    fn of(config: &RunConfig, open: impl FnOnce(&Path, bool) -> Result<O>) -> Result<Self> {
        let Run { json, report, force, .. } = &config.options;
        let file = |path: Option<&Path>| {
            AtomicFile::if_asked(path.filter(|_| config.team.is_first()), *force)
        };
        Ok(Self {
            output: config.team.is_first().then(|| open(&config.output, *force)).transpose()?,
            json: file(json.as_deref())?,
            page: file(report.as_deref())?,
            restart_output: file(config.restart_output.as_deref())?,
        })
    }
}

/// The end of a run that was interrupted after some of its steps.
fn interrupted(config: &RunConfig, [done, all]: [usize; 2], written: usize) -> Error {
    let restart = config.restart_output.as_deref().filter(|_| done > 0);
    let restart = restart
        .map_or_else(String::new, |path| format!("; continue with --restart {}", path.shown()));
    Error::Interrupted(format!(
        "stopped after step {done} of {all}; {} contains {written} frames{restart}",
        config.output.shown()
    ))
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
    /// Comparison that the options ask for, of a run that has one GPU, or of another one.
    fn of(options: &Run, has_gpu: bool) -> Self {
        match options.backend {
            BackendChoice::Both => Self::Whole,
            BackendChoice::Auto if has_gpu && !options.no_compare => Self::FirstSteps,
            _ => Self::Nothing,
        }
    }
}

/// A backend, and the initial state where it is kept.
type BackendAndStart<R> = (Box<dyn Backend<R>>, Option<State<R>>);

/// The backend of a run, with the initial state where that is needed for a comparison.
fn backend<R: FilePrecision + GpuPrecision>(
    config: &RunConfig,
    prepared: &mut PreparedRun<R>,
    gpu: Option<&Gpu>,
    (stop, compared): (&StopFlags, Compared),
) -> Result<BackendAndStart<R>> {
    let (team, state) = (&config.team, prepared.case.take_state());
    if let Some(divided) = &prepared.case.divided {
        // From here on no rank fails by itself, but for files that vanish and full disks.
        let backend = ranks::backend(config, &prepared.case, gpu, (divided, state), stop);
        let backend = team.agree(backend)?;
        team.agree(ranks::same_plan(team, &prepared.plan))?;
        return Ok((backend, None));
    }
    let Some(gpu) = gpu else { return Ok((on_cpu(config, &prepared.case, state), None)) };
    let backend = on_gpu(config, prepared, gpu, &state)?;
    Ok((backend, (compared != Compared::Nothing).then_some(state)))
}

/// The backend of a run on the CPU, which takes the initial state.
fn on_cpu<R: FilePrecision>(
    config: &RunConfig,
    case: &RunInput<R>,
    state: State<R>,
) -> Box<dyn Backend<R>> {
    let (grid, coordinate) = (&case.domain.grid, &case.domain.coordinate);
    let SchemeSettings { limiter, physics, .. } = &config.scheme;
    let cpu = Cpu::new(grid, coordinate, *limiter, &**physics, &case.forcing, state);
    Box::new(cpu.with_chemistry(case.chemistry.as_ref()))
}

/// The backend of a run on a GPU, which uploads the initial state.
fn on_gpu<R: FilePrecision + GpuPrecision>(
    config: &RunConfig,
    prepared: &mut PreparedRun<R>,
    gpu: &Gpu,
    state: &State<R>,
) -> Result<Box<dyn Backend<R>>> {
    let preparation = prepared.preparation.take();
    let case = &prepared.case;
    let backend = GpuBackend::prepared(gpu, &gpu_config(config, case), state, preparation)?;
    let mut backend = backend.with_chemistry(case.chemistry.as_ref())?;
    if let Some(step) = config.options.fail_at_step {
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

impl<R: FilePrecision + Value> Job<'_, R> {
    /// Computes them, and those of the comparison if there is an initial state for it.
    fn run(
        &mut self,
        backend: &mut dyn Backend<R>,
        compared: Option<&State<R>>,
        sink: &mut dyn OutputSink<R>,
    ) -> Result<(Outcome, Option<ComparisonReport>)> {
        let Self { config, plan, frames, stop, .. } = *self;
        let long_runs = if compared.is_some() { LONG_RUNS } else { 1 };
        let mut progress = Progress::new(long_runs * plan.steps, config.host.as_ref());
        let ranks = &config.team.ranks;
        let is_last = ranks.rank() + 1 == ranks.size();
        let panics_at = config.options.panic_at_step.filter(|_| is_last);
        let on_step = &mut |step| {
            assert!(panics_at != Some(step), "as --panic-at-step requests");
            progress.at(step);
        };
        let result = if let Some(start) = compared {
            let case = &mut *self.case;
            let SchemeSettings { limiter, ref physics, .. } = config.scheme;
            let pair = Pair { case, start, plan, frames, limiter, scheme: &**physics, stop };
            model::backend_comparison::run(pair, backend, sink, on_step)
                .map(|report| (report.outcome.clone(), Some(report)))
        } else {
            model::run(self.case, &plan, frames, backend, stop, sink, on_step)
                .map(|outcome| (outcome, None))
        };
        progress.finish();
        result
    }
}

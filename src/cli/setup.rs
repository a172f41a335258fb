//! Set-up of a run: its input or restart file, the log lines about it, and the errors that stop it.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use time::PrimitiveDateTime;
use tracing::info;

use crate::backend::gpu::GpuConfig;
use crate::calendar;
use crate::cli::aux_outputs::{AuxFileNames, AuxOutputs, AuxRequest};
use crate::cli::refine::refined;
use crate::cli::tracers::refuse_too_many;
use crate::config::RunConfig;
use crate::device::Gpu;
use crate::error::{Error, Result};
use crate::io::output::Header;
use crate::io::restart::{Restart, RestartFile};
use crate::io::wrf::series::Series;
use crate::io::wrf::{self, Attribute, Domain, Frame};
use crate::io::writer::Stored;
use crate::model::{RunInput, RunPrecision};
use crate::os_text::Shown;
use crate::primitives::conjugate_gradient::{OnCpu, Solver};
use crate::primitives::gpu::conjugate_gradient::GpuSolver;
use crate::projection;
use crate::real::Real;
use crate::time_steps::{Past, Plan};
use crate::tracers::TracerSet;

/// A run before its first step.
pub(super) struct PreparedRun<R> {
    pub(super) case: RunInput<R>,
    pub(super) plan: Plan,
    pub(super) series: Series,
    pub(super) beside: AuxOutputs<R>,
}

/// The solver of linear systems on the backend of a run; the bits are the same on both.
///
/// # Errors
///
/// [`Error::Gpu`] when the device has failed.
fn solver(gpu: Option<&Gpu>) -> Result<Arc<dyn Solver>> {
    Ok(match gpu {
        Some(gpu) => Arc::new(GpuSolver::new(gpu)?),
        None => Arc::new(OnCpu),
    })
}

/// Reads the initial state and the forcing of the run.
///
/// # Errors
///
/// Those of the files, of the weights and stations on the grid of the run, and of [`Plan::new`].
pub(super) fn ready<R: RunPrecision>(
    config: &RunConfig,
    asked: AuxRequest,
    gpu: Option<&Gpu>,
    from: Option<&RestartFile>,
) -> Result<PreparedRun<R>> {
    let begun = InitialRun::<R>::read(config, from)?;
    let past = begun.past();
    let InitialRun { domain, frame, mut series, restart } = begun;
    if let Some(recipe) = &config.tracers {
        series = series.carrying(Arc::clone(recipe));
    }
    if let Some(chosen) = &config.chemistry {
        series = series.lit_by(chosen.frequencies.clone());
    }
    let frame = series.with_sources(frame, &domain)?;
    let (domain, frame, series) =
        refined(config.refine, <R as Real>::PRECISION, (domain, frame, series))?;
    if let Some(recipe) = &config.tracers {
        refuse_too_many(recipe, domain.grid.shape, size_of::<R>())?;
    }
    let frame = series.complete(frame, &domain);
    let beside = asked.on::<R>(&domain, config)?;
    let begin = series.start();
    let elapsed = past.steps as f64 * config.dt.unwrap_or_default() - past.lack;
    let longest = elapsed + config.length.seconds(config.dt, domain.dt);
    let mut case = RunInput::<R>::with_solver(domain, frame, solver(gpu)?)?;
    let of_restart = restart.as_ref().map(|restart| (restart.dt, restart.domain.path.clone()));
    if let Some(restart) = restart {
        case = case.resume(restart);
    }
    let case = case.follow(series.clone(), longest)?;
    if from.is_none() {
        series.look_ahead(series.reaching(longest) + 1, &case.domain)?;
    }
    if let Some((dt, path)) = &of_restart {
        refuse_faster_winds(&case, *dt, path)?;
    }
    let plan = Plan::new(config.length, config.dt, case.domain.dt, case.max_dt)?.after(past);
    if !calendar::reaches(begin, plan.time_after(plan.steps)) {
        return Err(Error::Usage(format!(
            "the run starts at {} and would end after the year 9999, the last that dates can \
             have; reduce --steps or --hours",
            calendar::format(begin)
        )));
    }
    Ok(PreparedRun { case, plan, series, beside })
}

/// Initial state of a run, on the grid of its files.
#[derive(Debug)]
struct InitialRun<R> {
    domain: Domain,
    frame: Frame,
    series: Series,
    restart: Option<Restart<R>>,
}

impl<R: Stored> InitialRun<R> {
    /// Reads the input, or the restart file.
    ///
    /// # Errors
    ///
    /// Those of [`RestartFile::load`] and [`wrf::open`].
    fn read(config: &RunConfig, file: Option<&RestartFile>) -> Result<Self> {
        if let Some(file) = file {
            let tracers = config.tracers.as_ref().map(|recipe| recipe.set());
            let restart = file.load::<R>(&tracers.unwrap_or_else(TracerSet::moist_air))?;
            let Restart { domain, frame, series, .. } = &restart;
            let (domain, frame, series) = (domain.clone(), frame.clone(), series.clone());
            let past = restart.past;
            let seconds = past.steps as f64 * restart.dt - past.lack;
            info!(
                "{}: {} cells, {:.0} m, continues at {}, {seconds} s and {} steps after the start",
                file.path().shown(),
                domain.grid.shape,
                domain.grid.dx,
                calendar::format(calendar::after(restart.begin, seconds)),
                past.steps
            );
            return Ok(Self { domain, frame, series, restart: Some(restart) });
        }
        let (domain, frame, series) = wrf::open(&config.inputs, config.boundary, config.overlap)?;
        Ok(Self { domain, frame, series, restart: None })
    }

    /// The past steps.
    fn past(&self) -> Past {
        self.restart.as_ref().map(|restart| restart.past).unwrap_or_default()
    }
}

/// Fails if the winds of later frames do not admit steps as long as those of the continued run.
fn refuse_faster_winds<R>(case: &RunInput<R>, dt: f64, path: &Path) -> Result<()> {
    let most = case.max_dt;
    if dt <= most {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "the run that wrote {} has time steps of {dt} s, but the winds that follow allow at most \
         {most:.4} s; start again with --input and a shorter --dt, or shorten the run",
        path.shown()
    )))
}

/// Head of the output of a run: variables that it leaves out, and its provenance.
pub(super) fn header<R>(
    config: &RunConfig,
    case: &RunInput<R>,
    start: PrimitiveDateTime,
    plan: &Plan,
    (left_out, provenance): (Vec<&'static str>, Vec<(String, Attribute)>),
) -> Header {
    Header {
        domain: case.domain.clone(),
        start,
        tracers: Arc::clone(&case.tracers),
        physics: config.microphysics.number(),
        left_out,
        dt: plan.dt,
        provenance,
    }
}

/// The run on a GPU.
pub(super) fn gpu_config<'a, R: RunPrecision>(
    config: &RunConfig,
    case: &'a RunInput<R>,
) -> GpuConfig<'a> {
    GpuConfig {
        grid: &case.domain.grid,
        coordinate: &case.domain.coordinate,
        limiter: config.limiter,
        microphysics: config.microphysics,
        mapping: None,
        tracers: &case.tracers,
        has_sequence: case.has_sequence(),
        chemistry: case.chemistry.as_deref(),
    }
}

/// Prints the plan of a run.
pub(super) fn print_dry(config: &RunConfig, plan: &Plan) -> Result<()> {
    let Plan { steps, dt, .. } = *plan;
    writeln!(
        io::stdout(),
        "would make {steps} steps of {dt} s and write {}",
        config.output.shown()
    )?;
    let names = AuxFileNames::of(config);
    let beside = names.asked_for(config).into_iter().map(|(_, name)| name);
    for name in beside.chain(config.restarts.restart_output.as_deref()) {
        writeln!(io::stdout(), "and {}", name.shown())?;
    }
    Ok(())
}

/// Logs the statistics of the wind projection.
pub(super) fn log_projection<R>(case: &RunInput<R>) {
    let frames = &case.input_frames;
    for (number, frame) in frames.iter().enumerate() {
        if frames.len() > 1 {
            info!(
                "input frame {} of the {} that the run needs, {}: its columns hold {:.1} Pa more \
                 in the mean than those of the first, {:.1} Pa at most, which the run neglects",
                number + 1,
                frames.len(),
                frame.time,
                frame.mass_change_mean,
                frame.mass_change_max
            );
        }
        log_frame(&frame.projection);
    }
}

fn log_frame(report: &projection::ProjectionReport) {
    info!(
        "wind projection: column divergence at most {:.1} Pa/h before and {:.1e} Pa/h after, \
         {} iterations; mean net inflow {:.1} Pa/h, largest change of u {:.2} m/s, of v {:.2} m/s; \
         at the lid {:.1e} Pa/h",
        report.residual_before,
        report.residual_after,
        report.iterations,
        report.inflow,
        report.max_du,
        report.max_dv,
        report.lid
    );
}

/// A flag that an interrupt sets; a second interrupt ends the program at once.
pub(super) fn interruptible() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .map_err(|e| Error::io(Path::new("signals"), "listen to", e))?;
    }
    Ok(stop)
}

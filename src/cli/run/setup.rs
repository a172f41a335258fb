//! Set-up of a run: its input or restart file, the log lines about it, and the errors that stop it.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::flag;
use tracing::{debug, info};

use crate::backend::Info;
use crate::backend::gpu::{GpuConfig, GpuPrecision, GpuPreparation};
use crate::backend::ranks::StopFlags;
use crate::calendar;
use crate::cli::FilePrecision;
use crate::cli::run::aux_outputs;
use crate::cli::run::aux_outputs::{AuxOutputs, AuxRequest};
use crate::cli::run::host::RunHost;
use crate::cli::run::options::RunConfig;
use crate::cli::run::provenance::provenance;
use crate::cli::run::ranks::{self, PartsOf};
use crate::cli::run::refine::refined;
use crate::cli::run::tracers::refuse_too_many;
use crate::constituents::Constituents;
use crate::device::Gpu;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::frame::FrameSource;
use crate::grid::Grid;
use crate::io::out::output::Header;
use crate::io::restart::{Restart, RestartFile};
use crate::io::wrf::series::Series;
use crate::io::wrf::{self, refine};
use crate::model::RunInput;
use crate::os_text::Shown;
use crate::primitives::conjugate_gradient::{OnCpu, Solver};
use crate::primitives::gpu::conjugate_gradient::GpuSolver;
use crate::projection::{Method, ProjectionReport};
use crate::ranks::Team;
use crate::real::Real;
use crate::time_steps::Plan;

/// A run before its first step.
pub(in crate::cli) struct PreparedRun<R> {
    pub(in crate::cli) case: RunInput<R>,
    pub(in crate::cli) plan: Plan,
    pub(in crate::cli) series: Series,
    pub(in crate::cli) aux: AuxOutputs<R>,
    /// Kernels that are compiled for the GPU meanwhile.
    pub(in crate::cli) preparation: Option<GpuPreparation>,
}

/// Reads the initial state and the forcing of the run.
pub(in crate::cli) fn ready<R: FilePrecision + GpuPrecision>(
    config: &RunConfig,
    request: AuxRequest,
    gpu: Option<&Gpu>,
    from: Option<&RestartFile>,
) -> Result<PreparedRun<R>> {
    let RunConfig { options, length, scheme, tracers, chemistry, .. } = config;
    let base = scheme.physics.about().set();
    let set = || tracers.as_ref().map_or_else(|| Arc::clone(&base), |recipe| recipe.set());
    let team = &config.team;
    // The whole grid of the run is divided before any of its volumes is read.
    let is_divided = team.is_several() && config.ensemble.is_none();
    let mut divided = None;
    let mut choose = |coarse: &Domain, count: usize| -> Result<Option<Grid>> {
        if !is_divided {
            return Ok(None);
        }
        let of = if gpu.is_some() { PartsOf::Gpus } else { PartsOf::Cpus };
        let found = ranks::divided(config, of, &refine::grid(&coarse.grid, count))?;
        Ok(Some(*divided.insert(found).own()))
    };
    let restart = from.map(|file| file.load::<R>(&set(), &mut choose)).transpose()?;
    let past = restart.as_ref().map(|restart| restart.past).unwrap_or_default();
    let (domain, frame, mut series) = match &restart {
        Some(restart) => {
            log_continuation(restart);
            (restart.domain.clone(), restart.frame.clone(), restart.series.clone())
        }
        None if is_divided => {
            let choose = |coarse: &Domain| {
                let part = choose(coarse, scheme.refine)?;
                Ok(part.unwrap_or(refine::grid(&coarse.grid, scheme.refine)))
            };
            let (boundary, overlap) = (scheme.boundary, options.overlap);
            wrf::open_part(&config.inputs, boundary, overlap, &base, scheme.refine, choose)?
        }
        None => wrf::open(&config.inputs, scheme.boundary, options.overlap, &base)?,
    };
    if let Some(recipe) = tracers {
        series = series.carrying(Arc::clone(recipe));
    }
    if let Some(chosen) = chemistry {
        series = series.lit_by(chosen.lit.frequencies.clone());
    }
    let frame = series.with_sources(frame)?;
    // An ensemble has more fields than a single run, and a part other kernels than the whole.
    let preparation = gpu
        .filter(|_| config.ensemble.is_none() && !is_divided)
        .map(|gpu| prepare::<R>(gpu, config, (&domain, &set()), series.len() > 1));
    debug!("the first frame is read");
    let (domain, frame, series) = refined(
        scheme.refine,
        <R as Real>::PRECISION,
        (domain, frame, series),
        divided.as_deref(),
    )?;
    if let Some(recipe) = tracers {
        refuse_too_many(recipe, domain.grid.shape, size_of::<R>())?;
    }
    let frame = series.complete(frame, &domain);
    let aux = request.on::<R>(&domain, options)?;
    let begin = series.start();
    let elapsed = past.steps as f64 * scheme.dt.unwrap_or_default() - past.lack;
    let longest = elapsed + length.seconds(scheme.dt, domain.dt);
    // The bits are the same on both.
    let solver: Arc<dyn Solver> = match gpu {
        Some(gpu) => Arc::new(GpuSolver::new(gpu)?),
        None => Arc::new(OnCpu),
    };
    let method = Method { solver, residual: scheme.projection_residual };
    let mut case = RunInput::<R>::of_part((domain, divided), frame, method)?;
    let of_restart = restart.as_ref().map(|restart| (restart.dt, restart.domain.path.clone()));
    if let Some(restart) = restart {
        case = case.resume(restart.run);
    }
    let case = case.follow(series.clone(), longest)?;
    if from.is_none() {
        series.look_ahead(series.reaching(longest) + 1, &case.domain)?;
    }
    if let Some((dt, path)) = &of_restart {
        refuse_faster_winds(&case, *dt, path)?;
    }
    let plan = Plan::new(*length, scheme.dt, case.domain.dt, case.max_dt)?.after(past);
    if !calendar::reaches(begin, plan.time_after(plan.steps)) {
        return Err(Error::Usage(format!(
            "the run starts at {} and would end after the year 9999, the last that dates can \
             have; reduce --steps or --hours",
            calendar::format(begin)
        )));
    }
    Ok(PreparedRun { case, plan, series, aux, preparation })
}

/// Lets the kernels of a run be compiled, from the grid of its input, before that is refined.
fn prepare<R: GpuPrecision>(
    gpu: &Gpu,
    config: &RunConfig,
    (domain, tracers): (&Domain, &Arc<Constituents>),
    has_sequence: bool,
) -> GpuPreparation {
    let scheme = &config.scheme;
    let grid = refine::grid(&domain.grid, scheme.refine);
    let setting = GpuConfig {
        grid: &grid,
        coordinate: &domain.coordinate,
        limiter: scheme.limiter,
        scheme: &*scheme.physics,
        mapping: None,
        tracers,
        has_sequence,
        chemistry: None,
    };
    GpuPreparation::begin::<R>(gpu, &setting)
}

fn log_continuation<R>(restart: &Restart<R>) {
    let Restart { domain, past, dt, begin, .. } = restart;
    let seconds = past.steps as f64 * dt - past.lack;
    info!(
        "{}: {} cells, {:.0} m, continues at {}, {seconds} s and {} steps after the start",
        domain.path.shown(),
        domain.grid.shape,
        domain.grid.dx,
        calendar::format(calendar::after(*begin, seconds)),
        past.steps
    );
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

/// Head of the output of a run, with its provenance on a backend.
pub(in crate::cli) fn header<R: FilePrecision>(
    config: &RunConfig,
    PreparedRun { case, plan, series, .. }: &PreparedRun<R>,
    info: &Info,
    gpu: Option<&Gpu>,
) -> Result<Header> {
    Ok(Header {
        domain: case.domain.clone(),
        start: series.start(),
        tracers: Arc::clone(&case.tracers),
        physics: config.scheme.physics.about().number,
        dt: plan.dt,
        provenance: provenance::<R>(config, info, gpu)?,
    })
}

/// The run on a GPU.
pub(in crate::cli) fn gpu_config<'a, R: FilePrecision>(
    config: &'a RunConfig,
    case: &'a RunInput<R>,
) -> GpuConfig<'a> {
    GpuConfig {
        grid: &case.domain.grid,
        coordinate: &case.domain.coordinate,
        limiter: config.scheme.limiter,
        scheme: &*config.scheme.physics,
        mapping: None,
        tracers: &case.tracers,
        has_sequence: case.has_sequence(),
        chemistry: case.chemistry.as_deref(),
    }
}

/// Prints the plan of a run.
pub(in crate::cli) fn print_dry(config: &RunConfig, plan: &Plan) -> Result<()> {
    let Plan { steps, dt, .. } = *plan;
    writeln!(
        io::stdout(),
        "would make {steps} steps of {dt} s and write {}",
        config.output.shown()
    )?;
    let aux = aux_outputs::names(config).into_iter().map(|(_, name)| name);
    for name in aux.chain(config.restart_output.clone()) {
        writeln!(io::stdout(), "and {}", name.shown())?;
    }
    Ok(())
}

/// Logs the statistics of the wind projection.
pub(in crate::cli) fn log_projection<R>(case: &RunInput<R>) {
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
        let ProjectionReport { residual_before, residual_after, iterations, .. } = frame.projection;
        let ProjectionReport { inflow, max_du, max_dv, lid, .. } = frame.projection;
        info!(
            "wind projection: column divergence at most {residual_before:.1} Pa/h before and \
             {residual_after:.1e} Pa/h after, {iterations} iterations; mean net inflow \
             {inflow:.1} Pa/h, largest change of u {max_du:.2} m/s, of v {max_dv:.2} m/s; \
             at the lid {lid:.1e} Pa/h"
        );
    }
}

/// Flags that an interrupt sets; a second interrupt ends the program at once, unless it is SIGUSR1, which batch systems
/// send ahead of the end. Inside another program the flag is that of the host. Several ranks agree on what one was asked.
pub(in crate::cli) fn interruptible(team: &Team, host: Option<&RunHost>) -> Result<StopFlags> {
    if let Some(RunHost { stop, .. }) = host {
        return Ok(StopFlags { asked: Arc::clone(stop), agreed: Arc::clone(stop) });
    }
    let asked = Arc::new(AtomicBool::new(false));
    let listens = |e| Error::io(Path::new("signals"), "listen to", e);
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(signal, 130, Arc::clone(&asked)).map_err(listens)?;
    }
    for signal in [SIGINT, SIGTERM, SIGUSR1] {
        flag::register(signal, Arc::clone(&asked)).map_err(listens)?;
    }
    let agreed = if team.is_several() { Arc::default() } else { Arc::clone(&asked) };
    Ok(StopFlags { asked, agreed })
}

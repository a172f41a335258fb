//! What a run starts from: its input, or a restart file.

use tracing::info;

use crate::backend;
use crate::calendar;
use crate::cli::beside::{Asked, Fitted};
use crate::cli::refine::refined;
use crate::config::RunConfig;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::io::restart::{Restart, RestartFile};
use crate::io::wrf;
use crate::io::wrf::series::Series;
use crate::io::wrf::{Domain, Frame};
use crate::io::writer::Stored;
use crate::model::{Case, Working};
use crate::plan::{Past, Plan};
use crate::real::Real;

/// A run before its steps.
pub(super) struct Ready<R> {
    pub(super) case: Case<R>,
    pub(super) plan: Plan,
    pub(super) series: Series,
    pub(super) beside: Fitted<R>,
}

/// Reads what the run starts from and what drives it.
///
/// # Errors
///
/// Those of the files, of the weights and places on the grid of the run, and of [`Plan::new`].
pub(super) fn ready<R: Working>(
    config: &RunConfig,
    asked: Asked,
    gpu: Option<&Gpu>,
    from: Option<&RestartFile>,
) -> Result<Ready<R>> {
    let begun = Begun::<R>::read(config, from)?;
    let past = begun.past();
    let Begun { domain, frame, series, restart } = begun;
    let (domain, frame, series) =
        refined(config.refine, <R as Real>::PRECISION, (domain, frame, series))?;
    let beside = asked.on::<R>(&domain, config)?;
    let begin = series.start();
    let elapsed = past.steps as f64 * config.dt.unwrap_or_default() - past.lack;
    let longest = elapsed + config.length.seconds(config.dt, domain.dt);
    let mut case = Case::<R>::with_solver(domain, frame, backend::solver(gpu)?)?;
    if let Some(restart) = &restart {
        case = case.resume(restart);
    }
    let case = case.follow(series.clone(), longest)?;
    if let Some(restart) = &restart {
        refuse_faster_winds(&case, restart)?;
    }
    drop(restart);
    let plan = Plan::new(config.length, config.dt, case.domain.dt, case.max_dt)?.after(past);
    if !calendar::reaches(begin, plan.time_after(plan.steps)) {
        return Err(Error::Usage(format!(
            "the run starts at {} and would end after the year 9999, which dates of four digits \
             cannot tell; make fewer --steps or --hours",
            calendar::format(begin)
        )));
    }
    Ok(Ready { case, plan, series, beside })
}

/// What a run starts from, on the grid of its files.
#[derive(Debug)]
struct Begun<R> {
    domain: Domain,
    frame: Frame,
    series: Series,
    restart: Option<Restart<R>>,
}

impl<R: Stored> Begun<R> {
    /// Reads the input, or the restart file.
    ///
    /// # Errors
    ///
    /// Those of [`RestartFile::load`], [`wrf::read`] and [`Series::open`].
    fn read(config: &RunConfig, file: Option<&RestartFile>) -> Result<Self> {
        if let Some(file) = file {
            let restart = file.load::<R>()?;
            let Restart { domain, frame, series, .. } = &restart;
            let (domain, frame, series) = (domain.clone(), frame.clone(), series.clone());
            let past = restart.past;
            let seconds = past.steps as f64 * restart.dt - past.lack;
            info!(
                "{}: {} cells, {:.0} m, goes on at {}, {seconds} s and {} steps after the start",
                file.path().display(),
                domain.grid.shape,
                domain.grid.dx,
                calendar::format(calendar::after(restart.begin, seconds)),
                past.steps
            );
            return Ok(Self { domain, frame, series, restart: Some(restart) });
        }
        let (domain, frame) = wrf::read(&config.inputs[0], config.boundary)?;
        let series = Series::open(&config.inputs, &domain)?;
        Ok(Self { domain, frame, series, restart: None })
    }

    /// The steps that are past.
    fn past(&self) -> Past {
        self.restart.as_ref().map(|restart| restart.past).unwrap_or_default()
    }
}

/// Fails where the winds of later frames admit no steps as long as those of the run that goes on.
fn refuse_faster_winds<R>(case: &Case<R>, restart: &Restart<R>) -> Result<()> {
    let (dt, most) = (restart.dt, case.max_dt);
    if dt <= most {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "the steps of the run that {} comes from are {dt} s long, and the winds that follow admit at \
         most {most:.4} s; begin anew with --input and a shorter --dt, or make the run shorter",
        restart.domain.path.display()
    )))
}

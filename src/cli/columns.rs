//! `nwp-mini columns`: the microphysics in independent columns from a file.

mod physics;

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::Args;
use tracing::info;

use super::device::{GpuChoice, MappingChoice};
use crate::backend::Microphysics;
use crate::cli::run::scheme::applies_to_wsm5_only;
use crate::cli::{BackendChoice, ONE_PER_CENT_MORE, Precision};
use crate::device::{Element, Gpu};
use crate::diagnostics::difference::Value;
use crate::error::{Error, Result};
use crate::grid::Shape;
use crate::io::store::writer::Stored;
use crate::physics::kessler::params::KesslerFactors;
use crate::physics::kessler::{self, Kessler};
use crate::physics::wsm5::factors::Factors;
use crate::physics::wsm5::scheme::Scheme;
use crate::physics::wsm5::{Sedimentation, Vectorised};
use crate::real::Real;

/// Run the cloud microphysics alone, on independent columns from a NetCDF file.
///
/// The file has the dimensions level (0 lowest) and column, the variables
/// th q qc qr qi qs den pii p delz (level, column), optionally th_tend and q_tend, which are
/// applied before every call, and the attributes dt (s) and calls. With --physics kessler, qi, qs
/// and p are not needed, and --backend both compares CPU and GPU.
///
/// Example: nwp-mini columns --input columns.nc --output columns.out.nc --dt 60 --calls 30
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(super) struct Columns {
    /// NetCDF file with the columns
    #[arg(short, long, value_name = "FILE")]
    input: PathBuf,
    /// NetCDF file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Time step of a call in seconds [default: the attribute dt of the input]
    #[arg(long, value_name = "S")]
    dt: Option<f64>,
    /// Number of calls [default: the attribute calls of the input, or 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    calls: Option<u32>,
    /// The microphysics
    #[arg(long, value_name = "SCHEME", default_value = "wsm5")]
    physics: Microphysics,
    /// Sedimentation in WSM5 [default: semi-lagrangian]
    #[arg(long, value_name = "SCHEME")]
    fallout: Option<Sedimentation>,
    /// Processor to compute on
    #[arg(long, value_name = "WHERE", default_value = "auto")]
    backend: BackendChoice,
    #[command(flatten)]
    gpu: GpuChoice,
    /// Mapping of the columns of WSM5 to the threads of the GPU [default: auto]
    #[arg(long, value_name = "MAPPING")]
    mapping: Option<MappingChoice>,
    /// Precision of the computation and of the output
    #[arg(long, value_name = "PRECISION", default_value = "f32")]
    precision: Precision,
    /// Overwrite the output file
    #[arg(long)]
    force: bool,
    /// Multiply a process of the scheme by 1.01, to test whether checks detect it
    #[arg(long, hide = true, value_name = "PROCESS", value_parser = processes())]
    perturb: Option<String>,
}

/// Names of the processes of all schemes.
fn processes() -> clap::builder::PossibleValuesParser {
    let all = [Factors::<f32>::NAMES, KesslerFactors::<f32>::NAMES];
    clap::builder::PossibleValuesParser::new(all.concat())
}

impl Columns {
    pub(super) fn run(&self) -> Result<()> {
        match (self.physics, self.precision) {
            (Microphysics::Wsm5(_), Precision::F32) => self.run_wsm5::<f32>(),
            (Microphysics::Wsm5(_), Precision::F64) => self.run_wsm5::<f64>(),
            (Microphysics::Kessler, Precision::F32) => self.run_kessler::<f32>(),
            (Microphysics::Kessler, Precision::F64) => self.run_kessler::<f64>(),
        }
    }

    fn run_kessler<R>(&self) -> Result<()>
    where
        R: Stored + Element + Value + kessler::Vectorised,
    {
        // It has none of the options of WSM5.
        for (option, is_given) in
            [("--fallout", self.fallout.is_some()), ("--mapping", self.mapping.is_some())]
        {
            if is_given {
                return Err(applies_to_wsm5_only(option, self.physics));
            }
        }
        let mut scheme = Kessler::<R>::default();
        self.perturb_factor(|name| scheme.factors.of(name))?;
        // A perturbed process is compared with the unperturbed scheme.
        let itself = (&Kessler::<R>::default(), &Kessler::<f64>::default());
        self.run_physics(&scheme, itself, |_, _| None)
    }

    /// Changes the factor of the process to perturb, which `factor_of` finds by its name.
    fn perturb_factor<'a, R: Real>(
        &self,
        factor_of: impl FnOnce(&str) -> Option<&'a mut R>,
    ) -> Result<()> {
        let Some(name) = &self.perturb else { return Ok(()) };
        if let Some(factor) = factor_of(name) {
            *factor = R::of(ONE_PER_CENT_MORE);
            return Ok(());
        }
        let (scheme, names) = match self.physics {
            Microphysics::Wsm5(_) => ("WSM5", Factors::<f32>::NAMES),
            Microphysics::Kessler => ("Kessler", KesslerFactors::<f32>::NAMES),
        };
        Err(Error::Usage(format!(
            "--perturb {name}: {scheme} has no such process; its processes are {}",
            names.join(", ")
        )))
    }

    /// The GPU to use; `None` for the CPU. Its kernels take `possible` levels.
    fn device(&self, levels: usize, possible: &RangeInclusive<usize>) -> Result<Option<Gpu>> {
        let is_wsm5 = self.physics.variant().is_some();
        // The kernel of the Kessler scheme takes the factors of the processes as arguments.
        let is_of_cpu = self.perturb.is_some() && is_wsm5;
        match self.backend {
            BackendChoice::Both if is_wsm5 => Err(Error::Usage(
                "--backend both: columns runs WSM5 on one backend only; use cpu or gpu, and \
                 compare the two output files with nwp-mini diff"
                    .to_owned(),
            )),
            BackendChoice::Gpu if is_of_cpu => {
                Err(Error::Usage("--perturb applies to the CPU only".to_owned()))
            }
            BackendChoice::Auto if is_of_cpu => Ok(None),
            BackendChoice::Auto if !possible.contains(&levels) => {
                let most = possible.end();
                info!(
                    "computing on the CPU: the GPU supports at most {most} levels, and the \
                       input has {levels}"
                );
                Ok(None)
            }
            choice => choice.open(&self.gpu),
        }
    }

    fn run_wsm5<R: Stored + Value + Vectorised + Element>(&self) -> Result<()> {
        let fallout = self.fallout.unwrap_or_default();
        let mut p = Scheme::<R>::default().with_fallout(fallout);
        self.perturb_factor(|name| p.factors.of(name))?;
        let mapping = self.mapping.unwrap_or(MappingChoice::Auto);
        let mapping = |gpu: &Gpu, shape: &Shape| mapping.of(gpu, shape, R::PRECISION, fallout);
        let itself = (
            &Scheme::<R>::default().with_fallout(fallout),
            &Scheme::<f64>::default().with_fallout(fallout),
        );
        self.run_physics(&p, itself, |gpu, shape| Some(mapping(gpu, shape)))
    }

    /// Time step and number of calls for columns whose file has these attributes.
    fn steps(&self, dt: Option<f64>, calls: Option<f64>) -> Result<Steps> {
        Ok(Steps { dt: self.time_step(dt)?, calls: self.number_of_calls(calls)? })
    }

    fn time_step(&self, attribute: Option<f64>) -> Result<f64> {
        let fits = |dt: f64| dt > 0.0 && dt <= LONGEST_CALL;
        match (self.dt, attribute) {
            (Some(dt), _) | (None, Some(dt)) if fits(dt) => Ok(dt),
            (Some(dt), _) => Err(Error::Usage(format!(
                "--dt {dt}: a time step must be a positive number of s, {LONGEST_CALL} at most"
            ))),
            (None, Some(dt)) => Err(Error::input(
                &self.input,
                format!(
                    "attribute dt is {dt}; a positive number of seconds, {LONGEST_CALL} at most, \
                     is needed; correct it or use --dt"
                ),
            )),
            (None, None) => {
                Err(Error::input(&self.input, "has no attribute dt; give the time step with --dt"))
            }
        }
    }

    fn number_of_calls(&self, attribute: Option<f64>) -> Result<usize> {
        match (self.calls, attribute) {
            (Some(calls), _) => Ok(calls as usize),
            (None, None) => Ok(1),
            (None, Some(calls)) if (1.0..=MOST_CALLS).contains(&calls) && calls.fract() == 0.0 => {
                Ok(calls as usize)
            }
            (None, Some(calls)) => Err(Error::input(
                &self.input,
                format!(
                    "attribute calls is {calls}; a whole number from 1 to {MOST_CALLS} is needed; \
                     correct it or use --calls"
                ),
            )),
        }
    }
}

/// Longest time step of a call, s: a day, which is 720 minor steps.
const LONGEST_CALL: f64 = 86_400.0;

/// Most calls that the attribute of a file may request; the option admits more.
const MOST_CALLS: f64 = 1e6;

/// Calls to make.
#[derive(Clone, Copy, Debug)]
struct Steps {
    /// Length of a call, s.
    dt: f64,
    calls: usize,
}

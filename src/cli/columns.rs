//! `nwp-mini columns`: the microphysics in independent columns from a file.

mod physics;

use std::path::PathBuf;

use clap::Args;
use tracing::info;

use super::device::{GpuChoice, MappingChoice};
use crate::cli::physics_choice::{PhysicsChoice, VariantOptions};
use crate::cli::{BackendChoice, ONE_PER_CENT_MORE, Precision};
use crate::device::Gpu;
use crate::error::{Error, Result};
use crate::physics::registry::descriptions;
use crate::physics::scheme::{About, Scheme};

/// Run the cloud microphysics alone, on independent columns from a NetCDF file.
///
/// The file has the dimensions level (0 lowest) and column, the variables
/// th q qc qr qi qs den pii p delz (level, column), optionally th_tend and q_tend, which are
/// applied before every call, and the attributes dt (s) and calls. With --physics kessler, qi, qs
/// and p are not needed. With --physics wsm6, qg is read too; without it there is no graupel at
/// first. With either, --backend both compares CPU and GPU.
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
    #[arg(long, value_name = "SCHEME", default_value_t)]
    physics: PhysicsChoice,
    #[command(flatten)]
    variants: VariantOptions,
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
    let mut all: Vec<&str> =
        descriptions().iter().flat_map(|scheme| scheme.processes).copied().collect();
    all.sort_unstable();
    all.dedup();
    clap::builder::PossibleValuesParser::new(all)
}

impl Columns {
    pub(super) fn run(&self) -> Result<()> {
        let itself = self.physics.made(self.variants)?;
        self.physics.check_mapping(self.mapping)?;
        let mut scheme = itself.boxed();
        self.perturb(&mut *scheme)?;
        // A perturbed process is compared with the unperturbed scheme.
        match self.precision {
            Precision::F32 => self.run_physics::<f32>(&*scheme, &*itself),
            Precision::F64 => self.run_physics::<f64>(&*scheme, &*itself),
        }
    }

    /// Changes the factor of the process to perturb.
    fn perturb(&self, scheme: &mut dyn Scheme) -> Result<()> {
        let Some(name) = &self.perturb else { return Ok(()) };
        scheme.scale(name, ONE_PER_CENT_MORE).map_err(|_| {
            let About { title, processes, .. } = scheme.about();
            Error::Usage(format!(
                "--perturb {name}: {title} has no such process; its processes are {}",
                processes.join(", ")
            ))
        })
    }

    /// The GPU to use; `None` for the CPU.
    fn device(&self, levels: usize, about: &About) -> Result<Option<Gpu>> {
        let About { title, device_levels: possible, kernels_mirror_cpu, is_compared, .. } = about;
        // Other kernels do not take the factors of the processes.
        let is_of_cpu = self.perturb.is_some() && !kernels_mirror_cpu;
        match self.backend {
            BackendChoice::Both if !is_compared => Err(Error::Usage(format!(
                "--backend both: columns runs {title} on one backend only; use cpu or gpu, and \
                 compare the two output files with nwp-mini diff"
            ))),
            BackendChoice::Gpu | BackendChoice::Both if is_of_cpu => {
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

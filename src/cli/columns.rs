//! `nwp-mini columns`: the microphysics in independent columns from a file.

mod physics;

use std::io::Write;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use ndarray::{Array2, Array3, Zip};
use tracing::info;

use super::device::{GpuChoice, MappingChoice};
use crate::backend::check_finite;
use crate::cli::{BackendChoice, FalloutChoice, ONE_PER_CENT_MORE, PhysicsChoice, Precision};
use crate::device::{Buffer, Element, Gpu};
use crate::diagnostics::difference::Value;
use crate::error::{Error, Result};
use crate::grid::Shape;
use crate::grid::gpu::Layout;
use crate::io::columns::{ColumnCase, write};
use crate::io::writer::{Stored, Writer};
use crate::os_text::Shown;
use crate::physics::kessler::params::KesslerFactors;
use crate::physics::kessler::{self, Kessler};
use crate::real::Real;
use crate::state::{CloudDiagnostics, Environment, Surface};
use crate::wsm5::factors::Factors;
use crate::wsm5::gpu::LEVELS;
use crate::wsm5::gpu::clouds::{Clouds, DIAGNOSED_FIELDS, Inside, Place, SURFACE_PLANES};
use crate::wsm5::reflectivity::Bins;
use crate::wsm5::scheme::Scheme;
use crate::wsm5::{DiagnosticFields, Fields, Scratch, Vectorised, call, diagnose};

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
    physics: PhysicsChoice,
    /// Fall of precipitation in WSM5 [default: semi-lagrangian]
    #[arg(long, value_name = "SCHEME")]
    fallout: Option<FalloutChoice>,
    /// Where to compute
    #[arg(long, value_name = "WHERE", default_value = "auto")]
    backend: BackendChoice,
    #[command(flatten)]
    gpu: GpuChoice,
    /// Sharing of the columns of WSM5 among the threads of the GPU [default: auto]
    #[arg(long, value_name = "MAPPING")]
    mapping: Option<MappingChoice>,
    /// Precision of the computation and of the output
    #[arg(long, value_name = "PRECISION", default_value = "f32")]
    precision: Precision,
    /// Overwrite the output file
    #[arg(long)]
    force: bool,
    /// Make a process of the scheme one per cent too strong, to see whether a check notices
    #[arg(long, hide = true, value_name = "PROCESS", value_parser = processes())]
    perturb: Option<String>,
}

/// Names of the processes of all schemes.
fn processes() -> clap::builder::PossibleValuesParser {
    let all = [Factors::<f32>::NAMES, KesslerFactors::<f32>::NAMES];
    clap::builder::PossibleValuesParser::new(all.concat())
}

impl Columns {
    /// Runs the command.
    ///
    /// # Errors
    ///
    /// Every [`Error`] of reading, writing and computing.
    pub(super) fn run(&self) -> Result<()> {
        match (self.physics, self.precision) {
            (PhysicsChoice::Wsm5, Precision::F32) => self.run_in::<f32>(),
            (PhysicsChoice::Wsm5, Precision::F64) => self.run_in::<f64>(),
            (PhysicsChoice::Kessler, Precision::F32) => self.run_kessler::<f32>(),
            (PhysicsChoice::Kessler, Precision::F64) => self.run_kessler::<f64>(),
        }
    }

    fn run_kessler<R>(&self) -> Result<()>
    where
        R: Stored + Element + Value + kessler::Vectorised,
    {
        // A perturbed process is compared with the unperturbed scheme.
        let itself = (&Kessler::<R>::default(), &Kessler::<f64>::default());
        self.run_physics(&self.kessler::<R>()?, itself)
    }

    /// The Kessler scheme, which has none of the options of WSM5.
    fn kessler<R: Real>(&self) -> Result<Kessler<R>> {
        for (option, is_given) in
            [("--fallout", self.fallout.is_some()), ("--mapping", self.mapping.is_some())]
        {
            if is_given {
                let message = format!("{option} is of WSM5; leave it out with --physics kessler");
                return Err(Error::Usage(message));
            }
        }
        let mut scheme = Kessler::default();
        if let Some(name) = &self.perturb {
            let factor = scheme.factors.of(name).ok_or_else(|| self.unknown_process(name))?;
            *factor = R::of(ONE_PER_CENT_MORE);
        }
        Ok(scheme)
    }

    /// An error about a process that the scheme does not have.
    fn unknown_process(&self, name: &str) -> Error {
        let (scheme, names) = match self.physics {
            PhysicsChoice::Wsm5 => ("WSM5", Factors::<f32>::NAMES),
            PhysicsChoice::Kessler => ("Kessler", KesslerFactors::<f32>::NAMES),
        };
        let names = names.join(", ");
        Error::Usage(format!("--perturb {name}: {scheme} has no such process; it has {names}"))
    }

    /// The GPU to use; `None` for the CPU. Its kernels take `possible` levels.
    fn device(&self, levels: usize, possible: &RangeInclusive<usize>) -> Result<Option<Gpu>> {
        // The kernel of the Kessler scheme takes the factors of the processes as arguments.
        let is_of_cpu = self.perturb.is_some() && self.physics == PhysicsChoice::Wsm5;
        match self.backend {
            BackendChoice::Both if self.physics == PhysicsChoice::Wsm5 => Err(Error::Usage(
                "--backend both: columns computes WSM5 in one place; give cpu or gpu, and compare the \
                 two files with nwp-mini diff"
                    .to_owned(),
            )),
            BackendChoice::Gpu if is_of_cpu => {
                Err(Error::Usage("--perturb changes the CPU version only".to_owned()))
            }
            BackendChoice::Auto if is_of_cpu => Ok(None),
            BackendChoice::Auto if !possible.contains(&levels) => {
                let most = possible.end();
                info!("computing on the CPU: the GPU takes up to {most} levels, not {levels}");
                Ok(None)
            }
            choice => choice.open(&self.gpu),
        }
    }

    fn run_in<R: Stored + Vectorised + Element>(&self) -> Result<()> {
        let mut case = ColumnCase::<R>::read(&self.input)?;
        let steps = self.steps(case.dt, case.calls)?;
        let device = self.device(case.shape.nz, &LEVELS)?;
        let writer = Writer::create(&self.output, self.force)?;

        let fallout = self.fallout.unwrap_or(FalloutChoice::SemiLagrangian);
        let mut p = Scheme::default().with_fallout(fallout.into());
        if let Some(name) = &self.perturb {
            let factor = p.factors.of(name).ok_or_else(|| self.unknown_process(name))?;
            *factor = R::of(ONE_PER_CENT_MORE);
        }
        let start = Instant::now();
        let Outcome { surface, diagnostics, place, compute } = match &device {
            None => on_cpu(&p, &mut case, steps)?,
            Some(gpu) => {
                let mapping = self.mapping.unwrap_or(MappingChoice::Auto);
                let mapping = mapping.of(gpu, &case.shape, R::PRECISION, p.fallout);
                let inside = Inside::all(case.shape);
                let clouds =
                    Clouds::new(gpu, Layout::tight(case.shape), inside, p, mapping, R::ZERO)?;
                on_gpu(gpu, &clouds, &mut case, steps)?
            }
        };
        let seconds = start.elapsed().as_secs_f64();
        let Steps { dt, calls } = steps;
        write(writer, &case.state, &surface, &diagnostics, [dt, calls as f64])?;

        self.summarise(
            &Work {
                scheme: "WSM5",
                place,
                precision: R::NAME,
                shape: case.shape,
                compute,
                seconds,
                rest: "tendencies, checks, copies, diagnosis",
            },
            steps,
            &surface.rain,
        )
    }

    /// Logs the result.
    fn summarise<R: Real>(
        &self,
        work: &Work,
        Steps { dt, calls }: Steps,
        rain: &Array2<R>,
    ) -> Result<()> {
        let &Work { scheme, ref place, precision, shape, compute, seconds, rest } = work;
        let cells = shape.cells() as f64 * calls as f64;
        let rain = rain.iter().map(|x| x.f64()).sum::<f64>() / shape.nx as f64;
        writeln!(
            crate::cli::summary_output(),
            "{scheme} on {place}, {precision}: {} columns of {} levels, {calls} calls of {dt} s\n\
             calls          {compute:.6} s, {:.3} ns per cell and call\n\
             with the rest  {seconds:.3} s: {rest}\n\
             precipitation  {rain:.6} mm in the mean\n\
             output         {}",
            shape.nx,
            shape.nz,
            compute / cells * 1e9,
            self.output.shown()
        )?;
        Ok(())
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
                    "attribute dt is {dt}; a positive number of seconds, {LONGEST_CALL} at most, is \
                     needed, or --dt"
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
                    "attribute calls is {calls}; a whole number from 1 to {MOST_CALLS} is needed, or \
                     --calls"
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

/// Result of the calls, for the summary.
struct Work {
    scheme: &'static str,
    /// Backend and device, in words.
    place: String,
    precision: &'static str,
    shape: Shape,
    /// Time that the calls took, s.
    compute: f64,
    /// Total time, s.
    seconds: f64,
    /// Description of the time outside of the calls.
    rest: &'static str,
}

/// Result besides the state of the columns.
struct Outcome<R> {
    surface: Surface<R>,
    diagnostics: CloudDiagnostics<R>,
    /// Backend and device, in words.
    place: String,
    /// Time that the calls took, s.
    compute: f64,
}

fn on_cpu<R: Stored + Vectorised>(
    p: &Scheme<R>,
    case: &mut ColumnCase<R>,
    Steps { dt, calls }: Steps,
) -> Result<Outcome<R>> {
    let scratch = Scratch::new(case.shape.nz);
    let mut surface = Surface::zeros(case.shape);
    let mut compute = 0.0;
    for number in 1..=calls {
        force(case, R::of(dt));
        let ColumnCase { state, environment, .. } = &mut *case;
        let start = Instant::now();
        call(p, R::of(dt), &scratch, Fields::new(R::ZERO, state, environment, &mut surface));
        compute += start.elapsed().as_secs_f64();
        check_finite(&case.state, number)?;
    }
    let mut diagnostics = CloudDiagnostics::zeros(case.shape);
    let fields = DiagnosticFields::new(R::ZERO, &case.state, &case.environment, &mut diagnostics);
    diagnose(p, &Bins::default(), &scratch, fields);
    Ok(Outcome { surface, diagnostics, place: "the CPU".to_owned(), compute })
}

fn on_gpu<R: Stored + Vectorised + Element>(
    gpu: &Gpu,
    clouds: &Clouds<R>,
    case: &mut ColumnCase<R>,
    Steps { dt, calls }: Steps,
) -> Result<Outcome<R>> {
    let (cells, columns) = (case.shape.cells(), case.shape.columns());
    let Environment { rho, exner, p, dz } = &case.environment;
    let state = gpu.upload(&case.state.moist_air().each_ref().map(slice).concat())?;
    let air = gpu.upload(&[rho, exner, p, dz].map(slice).concat())?;
    let ground = gpu.zeros::<R>(SURFACE_PLANES * columns)?;
    let place = Place { state: &state, air: &air, surface: &ground };
    let is_forced = case.theta_tendency.is_some() || case.qv_tendency.is_some();
    let mut compute = 0.0;
    for number in 1..=calls {
        if is_forced {
            force(case, R::of(dt));
            // Potential temperature and vapour are the first two fields.
            state.upload_to(0, slice(case.state.theta()))?;
            state.upload_to(cells, slice(case.state.qv()))?;
        }
        compute += gpu.elapsed(|| clouds.call(&place, dt))?;
        download(&state, 0, case.state.moist_air_mut().each_mut())?;
        check_finite(&case.state, number)?;
    }
    let mut diagnostics = CloudDiagnostics::zeros(case.shape);
    let diagnosed = gpu.zeros::<R>(DIAGNOSED_FIELDS * cells)?;
    clouds.diagnose(&place, &diagnosed, 0)?;
    let CloudDiagnostics { refl_10cm, re_cloud, re_ice, re_snow } = &mut diagnostics;
    download(&diagnosed, 0, [refl_10cm, re_cloud, re_ice, re_snow])?;

    let mut surface = Surface::zeros(case.shape);
    // The first of `clouds::PLANES`.
    for (number, plane) in surface.planes_mut().into_iter().enumerate() {
        let values = plane.as_slice_mut().expect("planes are in standard layout");
        ground.download_from(number * columns, values)?;
    }
    let place = format!("the {}, {}", gpu.device().name, clouds.mapping());
    Ok(Outcome { surface, diagnostics, place, compute })
}

fn slice<R>(field: &Array3<R>) -> &[R] {
    field.as_slice().expect("fields are in standard layout")
}

/// Copies contiguous fields on the device to the host, from element `first` on.
fn download<R: Element, const N: usize>(
    from: &Buffer<R>,
    first: usize,
    fields: [&mut Array3<R>; N],
) -> Result<()> {
    for (number, field) in fields.into_iter().enumerate() {
        let values = field.as_slice_mut().expect("fields are in standard layout");
        from.download_from(first + number * values.len(), values)?;
    }
    Ok(())
}

/// Adds the prescribed tendencies of a step; they do not make vapour negative.
fn force<R: Stored>(case: &mut ColumnCase<R>, dt: R) {
    if let Some(tendency) = &case.theta_tendency {
        Zip::from(case.state.theta_mut()).and(tendency).for_each(|theta, &x| *theta += dt * x);
    }
    if let Some(tendency) = &case.qv_tendency {
        Zip::from(case.state.qv_mut())
            .and(tendency)
            .for_each(|qv, &x| *qv = (*qv + dt * x).larger(R::ZERO));
    }
}

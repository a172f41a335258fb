//! `nwp-mini columns`: the microphysics alone, on independent columns from a file.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use ndarray::{Array3, Zip};
use tracing::info;

use super::device::{GpuChoice, MappingChoice};
use crate::backend::check_finite;
use crate::cli::{BackendChoice, FalloutChoice, ONE_PER_CENT_MORE, Precision};
use crate::device::{Buffer, Element, Gpu};
use crate::error::{Error, Result};
use crate::grid::gpu::Layout;
use crate::io::columns::{ColumnCase, write};
use crate::io::writer::{Stored, Writer};
use crate::os_text::Shown;
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
/// applied before every call, and the attributes dt (s) and calls.
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
    /// How precipitation falls
    #[arg(long, value_name = "SCHEME", default_value = "semi-lagrangian")]
    fallout: FalloutChoice,
    /// Where to compute
    #[arg(long, value_name = "WHERE", default_value = "auto")]
    backend: BackendChoice,
    #[command(flatten)]
    gpu: GpuChoice,
    /// How the columns are shared out among the threads of the GPU
    #[arg(long, value_name = "MAPPING", default_value = "auto")]
    mapping: MappingChoice,
    /// Precision of the computation and of the output
    #[arg(long, value_name = "PRECISION", default_value = "f32")]
    precision: Precision,
    /// Overwrite the output file
    #[arg(long)]
    force: bool,
    /// Make a process of the scheme one per cent too strong, to see whether a check notices
    #[arg(long, hide = true, value_name = "PROCESS", 
          value_parser = clap::builder::PossibleValuesParser::new(Factors::<f32>::NAMES))]
    perturb: Option<String>,
}

impl Columns {
    /// Runs the command.
    ///
    /// # Errors
    ///
    /// Every [`Error`] of reading, writing and computing.
    pub(super) fn run(&self) -> Result<()> {
        match self.precision {
            Precision::F32 => self.run_in::<f32>(),
            Precision::F64 => self.run_in::<f64>(),
        }
    }

    /// The GPU to use; `None` for the CPU.
    fn device(&self, levels: usize) -> Result<Option<Gpu>> {
        match self.backend {
            BackendChoice::Both => Err(Error::Usage(
                "--backend both: columns computes in one place; give cpu or gpu, and compare the \
                 two files with nwp-mini diff"
                    .to_owned(),
            )),
            BackendChoice::Gpu if self.perturb.is_some() => {
                Err(Error::Usage("--perturb changes the CPU version only".to_owned()))
            }
            BackendChoice::Auto if self.perturb.is_some() => Ok(None),
            BackendChoice::Auto if !LEVELS.contains(&levels) => {
                let most = LEVELS.end();
                info!("computing on the CPU: the GPU takes up to {most} levels, not {levels}");
                Ok(None)
            }
            choice => choice.open(&self.gpu),
        }
    }

    fn run_in<R: Stored + Vectorised + Element>(&self) -> Result<()> {
        let mut case = ColumnCase::<R>::read(&self.input)?;
        let steps = Steps { dt: self.time_step(&case)?, calls: self.number_of_calls(&case)? };
        let device = self.device(case.shape.nz)?;
        let writer = Writer::create(&self.output, self.force)?;

        let mut p = Scheme::default().with_fallout(self.fallout.into());
        if let Some(factor) = self.perturb.as_ref().and_then(|name| p.factors.of(name)) {
            *factor = R::of(ONE_PER_CENT_MORE);
        }
        let start = Instant::now();
        let Outcome { surface, diagnostics, place, compute } = match &device {
            None => on_cpu(&p, &mut case, steps)?,
            Some(gpu) => {
                let mapping = self.mapping.of(gpu, &case.shape, R::PRECISION, p.fallout);
                let inside = Inside::all(case.shape);
                let clouds =
                    Clouds::new(gpu, Layout::tight(case.shape), inside, p, mapping, R::ZERO)?;
                on_gpu(gpu, &clouds, &mut case, steps)?
            }
        };
        let seconds = start.elapsed().as_secs_f64();
        let Steps { dt, calls } = steps;
        write(writer, &case.state, &surface, &diagnostics, [dt, calls as f64])?;

        let cells = case.shape.cells() as f64 * calls as f64;
        let rain = surface.rain.iter().map(|x| x.f64()).sum::<f64>() / case.shape.nx as f64;
        writeln!(
            crate::cli::summary_output(),
            "WSM5 on {place}, {}: {} columns of {} levels, {calls} calls of {dt} s\n\
             calls          {compute:.6} s, {:.3} ns per cell and call\n\
             with the rest  {seconds:.3} s: tendencies, checks, copies, diagnosis\n\
             precipitation  {rain:.6} mm in the mean\n\
             output         {}",
            R::NAME,
            case.shape.nx,
            case.shape.nz,
            compute / cells * 1e9,
            self.output.shown()
        )?;
        Ok(())
    }

    fn time_step<R>(&self, case: &ColumnCase<R>) -> Result<f64> {
        let fits = |dt: f64| dt > 0.0 && dt <= LONGEST_CALL;
        match (self.dt, case.dt) {
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

    fn number_of_calls<R>(&self, case: &ColumnCase<R>) -> Result<usize> {
        match (self.calls, case.calls) {
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

/// Longest time step of a call, s: a day, which the scheme divides into 720.
const LONGEST_CALL: f64 = 86_400.0;

/// Most calls that a file may ask for; more are asked for by the option.
const MOST_CALLS: f64 = 1e6;

/// What is done to the columns.
#[derive(Clone, Copy, Debug)]
struct Steps {
    /// Length of a call, s.
    dt: f64,
    calls: usize,
}

/// What the columns have come to, beside their state.
struct Outcome<R> {
    surface: Surface<R>,
    diagnostics: CloudDiagnostics<R>,
    /// Where it was computed, in words.
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
            // Both are the first of the fields.
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

/// Copies fields that follow one another on the device, from element `first` on.
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

/// Adds the prescribed tendencies of one step; vapour does not become negative by them.
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

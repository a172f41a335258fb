//! `nwp-mini columns`: the microphysics alone, on independent columns from a file.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use ndarray::Zip;

use crate::backend::check_finite;
use crate::cli::{BackendChoice, FalloutChoice, ONE_PER_CENT_MORE, Precision};
use crate::error::{Error, Result};
use crate::io::columns::{ColumnCase, write};
use crate::io::writer::{Stored, Writer};
use crate::state::{CloudDiagnostics, Surface};
use crate::wsm5::factors::Factors;
use crate::wsm5::radii::RadiusConstants;
use crate::wsm5::reflectivity::{Bins, RadarConstants};
use crate::wsm5::scheme::Scheme;
use crate::wsm5::{DiagnosticFields, Fields, Scratch, call, diagnose};

/// Run the cloud microphysics alone, on independent columns from a NetCDF file.
///
/// The file has the dimensions level (0 lowest) and column, the variables
/// th q qc qr qi qs den pii p delz (level, column), optionally th_tend and q_tend, which are
/// applied before every call, and the attributes dt (s) and calls.
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
        self.backend.check()?;
        match self.precision {
            Precision::F32 => self.run_in::<f32>(),
            Precision::F64 => self.run_in::<f64>(),
        }
    }

    fn run_in<R: Stored + RadarConstants + RadiusConstants>(&self) -> Result<()> {
        let mut case = ColumnCase::<R>::read(&self.input)?;
        let dt = self.time_step(&case)?;
        let calls = self.number_of_calls(&case)?;
        let writer = Writer::create(&self.output, self.force)?;

        let mut p = Scheme::default().with_fallout(self.fallout.into());
        if let Some(factor) = self.perturb.as_ref().and_then(|name| p.factors.of(name)) {
            *factor = R::of(ONE_PER_CENT_MORE);
        }
        let scratch = Scratch::new(case.shape.nz);
        let mut surface = Surface::zeros(case.shape);
        let start = Instant::now();
        for number in 1..=calls {
            force(&mut case, R::of(dt));
            let ColumnCase { state, environment, .. } = &mut case;
            let fields = Fields::new(R::ZERO, state, environment, &mut surface);
            call(&p, R::of(dt), &scratch, fields);
            check_finite(&case.state, number)?;
        }
        let seconds = start.elapsed().as_secs_f64();
        let mut diagnostics = CloudDiagnostics::zeros(case.shape);
        let fields =
            DiagnosticFields::new(R::ZERO, &case.state, &case.environment, &mut diagnostics);
        diagnose(&p, &Bins::default(), fields);
        write(writer, &case.state, &surface, &diagnostics, [dt, calls as f64])?;

        let cells = case.shape.cells() as f64 * calls as f64;
        let rain = surface.rain.iter().map(|x| x.f64()).sum::<f64>() / case.shape.nx as f64;
        writeln!(
            io::stdout(),
            "WSM5 on the CPU, {}: {} columns of {} levels, {calls} calls of {dt} s\n\
             time           {seconds:.3} s, {:.1} ns per cell and call\n\
             precipitation  {rain:.6} mm in the mean\n\
             output         {}",
            R::NAME,
            case.shape.nx,
            case.shape.nz,
            seconds / cells * 1e9,
            self.output.display()
        )?;
        Ok(())
    }

    fn time_step<R>(&self, case: &ColumnCase<R>) -> Result<f64> {
        match (self.dt, case.dt) {
            (Some(dt), _) if dt > 0.0 && dt.is_finite() => Ok(dt),
            (Some(dt), _) => {
                Err(Error::Usage(format!("--dt {dt}: a time step must be a positive number of s")))
            }
            (None, Some(dt)) if dt > 0.0 => Ok(dt),
            (None, Some(dt)) => Err(Error::input(
                &self.input,
                format!("attribute dt is {dt}; a positive number of seconds is needed, or --dt"),
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
            (None, Some(calls)) if calls >= 1.0 && calls.fract() == 0.0 && calls < 1e9 => {
                Ok(calls as usize)
            }
            (None, Some(calls)) => Err(Error::input(
                &self.input,
                format!("attribute calls is {calls}; a whole number from 1 is needed, or --calls"),
            )),
        }
    }
}

/// Adds the prescribed tendencies of one step; vapour does not become negative by them.
fn force<R: Stored>(case: &mut ColumnCase<R>, dt: R) {
    if let Some(tendency) = &case.theta_tendency {
        Zip::from(&mut case.state.theta).and(tendency).for_each(|theta, &x| *theta += dt * x);
    }
    if let Some(tendency) = &case.qv_tendency {
        Zip::from(&mut case.state.qv)
            .and(tendency)
            .for_each(|qv, &x| *qv = (*qv + dt * x).larger(R::ZERO));
    }
}

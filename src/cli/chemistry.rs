//! `nwp-mini chemistry`: the chemistry in independent cells from a file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use tracing::{info, warn};

use crate::chemistry::cells::{Outcome, RateUpdate, Settings, integrate};
use crate::chemistry::gpu::{self as on_device, Mapping};
use crate::chemistry::kinetics::Kinetics;
use crate::chemistry::mechanism::diagnostics::Severity;
use crate::chemistry::mechanism::{self, Mechanism, RateCode};
use crate::chemistry::plausibility::{ImpossibleRate, impossible_rates, rate_units};
use crate::chemistry::rosenbrock::{Method, Status, Tolerances};
use crate::cli::BackendChoice;
use crate::cli::device::GpuChoice;
use crate::cli::distinct_files::refuse_one_file_twice;
use crate::cli::rate_code::{RateOptions, unreadable};
use crate::error::{Error, Result};
use crate::io::cases::chemistry::CellFile;
use crate::io::store::writer::Writer;
use crate::os_text::Shown;
use crate::real::Precision;

/// Integrate the chemistry of independent cells from a NetCDF file.
///
/// The file has the dimension cell and the variables (cell): every species under its name
/// (molecules cm-3), temp (K), cfactor or c_m (air), and what the rates of the mechanism use beside
/// them: tstart (s, local solar time), rc_n2o5 or rh, photolysis frequencies (s-1) under the names that
/// the mechanism gives to j(). The output has the variable species, counters, ierr, texit, hexit, hnew. A cell that
/// fails keeps its concentrations and has its code in ierr; the exit code is 5 then.
///
/// Example: nwp-mini chemistry --mechanism data/chemistry/radm2.kpp --input cells.nc --output out.nc --dt 600
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(super) struct Chemistry {
    /// Mechanism in the language of KPP
    #[arg(long, value_name = "FILE")]
    mechanism: PathBuf,
    /// NetCDF file with the cells
    #[arg(short, long, value_name = "FILE")]
    input: PathBuf,
    /// NetCDF file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    rates: RateOptions,
    #[command(flatten)]
    pub(super) solver: Solver,
    /// Mapping of cells to the threads of the GPU
    #[arg(long, value_name = "MAPPING", default_value = "auto")]
    mapping: Mapping,
    /// Processor to compute on
    #[arg(long, value_name = "WHERE", default_value = "auto")]
    backend: BackendChoice,
    #[command(flatten)]
    gpu: GpuChoice,
    /// Overwrite the output file
    #[arg(long)]
    force: bool,
}

/// Settings of the integration.
#[derive(Debug, Args)]
pub(super) struct Solver {
    /// Rosenbrock method
    #[arg(long, value_name = "METHOD", default_value = "rodas3")]
    method: Method,
    /// Interval in seconds [default: the attribute dt of the input, or 600]
    #[arg(long, value_name = "S")]
    dt: Option<f64>,
    /// Relative tolerance
    #[arg(long, value_name = "R", default_value = "1e-3")]
    rtol: f64,
    /// Absolute tolerance, molecules cm-3
    #[arg(long, value_name = "A", default_value = "1")]
    atol: f64,
    /// First step in seconds [default: 1e-5]
    #[arg(long, value_name = "S")]
    hstart: Option<f64>,
    /// Rate constants during the integration
    #[arg(long, value_name = "RATES", default_value = "frozen")]
    rates: RateUpdate,
    /// Precision of the factors of the Jacobian: f64
    #[arg(long, value_name = "PRECISION", default_value = "f64")]
    lu: Precision,
}

/// Default interval, s.
const INTERVAL: f64 = 600.0;

impl Solver {
    /// The settings; without an option the interval is that of the file.
    fn settings(&self, of_file: Option<f64>) -> Result<Settings> {
        let Self { rtol, atol, .. } = *self;
        let interval = self.dt.or(of_file).unwrap_or(INTERVAL);
        if !(interval > 0.0 && interval.is_finite()) {
            let message = format!("--dt {interval}: a positive number of seconds is needed");
            return Err(Error::Usage(message));
        }
        // Below ten ULP rounding errors alone exceed the tolerance.
        let least = 10.0 * f64::EPSILON;
        if !(rtol > least && rtol < 1.0) {
            let message = format!("--rtol {rtol}: a number between {least:.1e} and 1 is needed");
            return Err(Error::Usage(message));
        }
        // Below the smallest normal number a device divides by 0.
        if !(atol >= f64::MIN_POSITIVE && atol.is_finite()) {
            let least = f64::MIN_POSITIVE;
            let message = format!("--atol {atol:e}: a number of at least {least:.1e} is needed");
            return Err(Error::Usage(message));
        }
        let first_step = self.hstart.unwrap_or(0.0);
        if !(first_step >= 0.0 && first_step.is_finite()) {
            let message = format!("--hstart {first_step}: a positive number of seconds is needed");
            return Err(Error::Usage(message));
        }
        if self.lu == Precision::F32 {
            return Err(Error::Usage(
                "--lu f32: factors in single precision are no longer computed, as they were slower for every \
                 mechanism; use --lu f64"
                    .to_owned(),
            ));
        }
        Ok(Settings {
            method: self.method,
            tolerances: Tolerances { relative: rtol, absolute: atol },
            interval,
            first_step,
            rates: self.rates,
        })
    }
}

/// The files of a mechanism, and their text as one.
#[derive(Debug)]
pub(super) struct MechanismFiles {
    pub(super) text: String,
    pub(super) paths: Vec<PathBuf>,
}

/// Reads a mechanism and logs its warnings.
pub(super) fn read_mechanism(path: &Path, code: &RateCode) -> Result<(Mechanism, Kinetics)> {
    read_mechanism_and_files(path, code).map(|(mechanism, kinetics, _)| (mechanism, kinetics))
}

/// The same with the files.
pub(super) fn read_mechanism_and_files(
    path: &Path,
    code: &RateCode,
) -> Result<(Mechanism, Kinetics, MechanismFiles)> {
    let reading = mechanism::read_with(path, code).map_err(|reason| unreadable(path, reason))?;
    let text = reading.text.clone();
    let (mechanism, diagnostics) =
        reading.mechanism().map_err(|message| Error::input(path, message))?;
    if diagnostics.warnings() > 0 {
        warn!("{}", diagnostics.text(Severity::Warning));
    }
    let kinetics = Kinetics::new(&mechanism).map_err(|message| Error::input(path, message))?;
    warn_of_impossible_rates(&mechanism, &kinetics);
    let paths = diagnostics.sources.into_iter().map(|source| source.path).collect();
    Ok((mechanism, kinetics, MechanismFiles { text, paths }))
}

/// Warns of rate constants that nature does not allow.
fn warn_of_impossible_rates(mechanism: &Mechanism, kinetics: &Kinetics) {
    for ImpossibleRate { reaction, rate, temperature, limit, reason } in
        impossible_rates(mechanism, kinetics)
    {
        let units = rate_units(mechanism.reactions[reaction].order());
        warn!(
            "the rate constant of {} is {rate:.1e} {units} at {temperature} K, beyond {limit:.0e} \
             {units}, as {reason}; check its signs and units: {} : {}",
            mechanism.reaction_name(reaction),
            mechanism.equation(reaction),
            mechanism.reactions[reaction].rate_text
        );
    }
}

impl Chemistry {
    pub(super) fn run(&self) -> Result<()> {
        if self.backend == BackendChoice::Both {
            let message = "--backend both: chemistry runs on one backend only; use cpu or gpu";
            return Err(Error::Usage(message.to_owned()));
        }
        let gpu = self.backend.open(&self.gpu)?;
        refuse_one_file_twice(
            &[("--output", Some(&self.output))],
            &[("the input file", &self.input), ("the file of --mechanism", &self.mechanism)],
        )?;
        // Invalid options are reported before any file is read.
        self.solver.settings(None)?;
        let (mechanism, kinetics) = read_mechanism(&self.mechanism, &self.rates.read()?)?;
        let follows_sun = self.solver.rates == RateUpdate::Updated;
        let mut file = CellFile::read(&self.input, &mechanism, &kinetics, follows_sun)?;
        let settings = self.solver.settings(file.dt)?;
        let writer = Writer::create(&self.output, self.force)?;
        for note in &file.notes {
            info!("{note}");
        }
        if gpu.is_none() && self.mapping != Mapping::Auto {
            info!(
                "--mapping applies to the GPU only; the CPU computes cells side by side in SIMD \
                 lanes"
            );
        }
        let start = Instant::now();
        let (mut outcomes, place) = match &gpu {
            None => (integrate(&kinetics, &settings, &mut file.cells), "CPU".to_owned()),
            Some(gpu) => {
                let cells = &mut file.cells;
                let (outcomes, kernels) =
                    on_device::integrate(gpu, &kinetics, &settings, self.mapping, cells)?;
                (outcomes, format!("GPU, {}", kernels.plan().form))
            }
        };
        let seconds = start.elapsed().as_secs_f64();
        let fault = file.restore(&mut outcomes).map(str::to_owned);

        let Settings { method, tolerances, interval, .. } = &settings;
        let Tolerances { relative: rtol, absolute: atol } = tolerances;
        let number = |x: f64| format!("{x:e}");
        let attributes = [
            ("method", method.name.to_owned()),
            ("dt", number(*interval)),
            ("rtol", number(*rtol)),
            ("atol", number(*atol)),
            ("hstart", number(settings.first_step)),
            ("rates", format!("{:?}", settings.rates).to_lowercase()),
            ("lu", Precision::F64.name().to_owned()),
        ];
        file.write(writer, &mechanism, &kinetics, &outcomes, &attributes)?;
        let steps: Vec<u32> = outcomes.iter().map(|outcome| outcome.counters.steps).collect();
        let all: f64 = steps.iter().map(|&steps| f64::from(steps)).sum();
        let cells = outcomes.len();
        writeln!(
            io::stdout(),
            "{}: {} variable and {} fixed species, {} reactions\n\
             {cells} cells over {interval} s with {}, rtol {rtol:e}, atol {atol:e}\n\
             steps          {:.1} in the mean, {} at most\n\
             time           {seconds:.6} s, {:.3} us per cell, {:.3} us per step ({place})\n\
             output         {}",
            mechanism.name,
            kinetics.variables(),
            kinetics.fixed.len(),
            kinetics.reactions(),
            method.name,
            all / cells as f64,
            steps.iter().max().unwrap_or(&0),
            seconds / cells as f64 * 1e6,
            seconds / all.max(1.0) * 1e6,
            self.output.shown()
        )?;
        failures(&outcomes, fault.as_deref(), &self.output)
    }
}

/// An error with the numbers of failed cells, by reason, and the first impossible condition.
fn failures(outcomes: &[Outcome], fault: Option<&str>, output: &Path) -> Result<()> {
    let failed: Vec<(usize, Status)> = outcomes
        .iter()
        .enumerate()
        .map(|(cell, outcome)| (cell, outcome.status))
        .filter(|(_, status)| !status.is_success())
        .collect();
    let Some(&(first, _)) = failed.first() else { return Ok(()) };
    let mut reasons: Vec<(Status, usize)> = Vec::new();
    for &(_, status) in &failed {
        match reasons.iter_mut().find(|(known, _)| *known == status) {
            Some((_, count)) => *count += 1,
            None => reasons.push((status, 1)),
        }
    }
    let reasons: Vec<String> = reasons
        .into_iter()
        .map(|(status, count)| format!("{count} {} (ierr {})", status.reason(), status.0))
        .collect();
    Err(Error::Unsolved(format!(
        "{} of {} cells failed and keep their input in {}: {}; the first is cell={first}{}",
        failed.len(),
        outcomes.len(),
        output.shown(),
        reasons.join(", "),
        fault.map_or_else(String::new, |fault| format!("; {fault}"))
    )))
}

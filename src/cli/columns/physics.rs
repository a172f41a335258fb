//! `nwp-mini columns` with any scheme of column physics.

use std::io::Write;
use std::time::Instant;

use ndarray::{Array3, ArrayBase, Data, Dimension};

use super::{Columns, Steps};
use crate::backend::{PhaseTime, PhaseTimes};
use crate::cli::BackendChoice;
use crate::cli::device::MappingChoice;
use crate::cli::distinct_files::refuse_one_file_twice;
use crate::cli::run::pair;
use crate::device::{Element, Gpu};
use crate::diagnostics::difference::Value;
use crate::error::{Error, Result};
use crate::grid::Shape;
use crate::io::store::writer::{Stored, Writer};
use crate::model::Outcome;
use crate::model::backend_comparison::{ComparisonReport, Timed};
use crate::model::columns::{Calls, Ends, compare};
use crate::os_text::Shown;
use crate::physics::PhysicsCase;
use crate::physics::device::{ColumnLayout, DeviceArrays, Launcher};
use crate::physics::scheme::{About, PhysicsPrecision, Scheme};
use crate::primitives::reduce;

impl Columns {
    /// Runs a scheme. `reference` is the scheme that a device is compared with if both backends are requested.
    pub(super) fn run_physics<R: Stored + PhysicsPrecision + Value>(
        &self,
        scheme: &dyn Scheme,
        reference: &dyn Scheme,
    ) -> Result<()> {
        let about = scheme.about();
        refuse_one_file_twice(
            &[("--output", Some(&self.output))],
            &[("the input file", &self.input)],
        )?;
        let mut case = PhysicsCase::<R>::read(&self.input, about)?;
        let steps = self.steps(case.dt, case.calls)?;
        let device = self.device(case.shape.nz, about)?;
        let writer = Writer::create(&self.output, self.force)?;
        let before = (self.backend == BackendChoice::Both).then(|| case.clone());
        let start = Instant::now();
        let mut first = None;
        let (place, compute) = match &device {
            None => ("the CPU".to_owned(), on_cpu(scheme, &mut case, steps)?),
            Some(gpu) => {
                let shape = case.shape;
                let places = ColumnLayout::all(shape);
                let choice = self.mapping.unwrap_or(MappingChoice::Auto);
                let mapping = choice.of(gpu, &shape, R::PRECISION, scheme);
                let columns = R::of_scheme(scheme);
                let launcher = columns.launcher(gpu, shape.nz, places, mapping.as_deref())?;
                on_gpu(gpu, (about, &*launcher), &mut case, steps, &mut |case| {
                    if before.is_some() {
                        first.get_or_insert_with(|| case.clone());
                    }
                })?
            }
        };
        let seconds = start.elapsed().as_secs_f64();
        case.write(writer, about, [steps.dt, steps.calls as f64])?;
        let rest = ["", ", diagnosis"][usize::from(!about.diagnosed.is_empty())];
        let (Shape { nx, nz, .. }, Steps { dt, calls }) = (case.shape, steps);
        let rain = case.surface[0].iter().map(|x| x.f64()).sum::<f64>() / nx as f64;
        writeln!(
            crate::cli::summary_output(),
            "{} on {place}, {}: {nx} columns of {nz} levels, {calls} calls of {dt} s\n\
             calls          {compute:.6} s, {:.3} ns per cell and call\n\
             with the rest  {seconds:.3} s: tendencies, checks, copies{rest}\n\
             precipitation  {rain:.6} mm in the mean\n\
             output         {}",
            about.title,
            R::NAME,
            compute / (case.shape.cells() as f64 * calls as f64) * 1e9,
            self.output.shown()
        )?;
        let (Some(before), Some(first)) = (before, first) else { return Ok(()) };
        let ends = Ends { first, last: case };
        self.compare(reference, (before, steps), (&ends, place, [compute, seconds]))
    }

    /// Compares columns of a device with those of the CPU.
    fn compare<R: Stored + PhysicsPrecision + Value>(
        &self,
        scheme: &dyn Scheme,
        (before, Steps { dt, calls }): (PhysicsCase<R>, Steps),
        (found, place, seconds): (&Ends<R>, String, [f64; 2]),
    ) -> Result<()> {
        let start = Instant::now();
        let cells = before.shape.cells();
        let compute = on_cpu(scheme, &mut before.clone(), Steps { dt, calls })?;
        let on_cpu = timed(
            "cpu",
            "CPU".to_owned(),
            [calls, cells],
            [compute, start.elapsed().as_secs_f64()],
        );
        let on_gpu = timed("gpu", place, [calls, cells], seconds);
        let exact = PhysicsCase::<f64>::read(&self.input, scheme.about())?;
        let calls = Calls { scheme, dt, count: calls };
        let (verdicts, fragile_share) = compare(&calls, (&before, &exact), found)?;
        let report = ComparisonReport {
            outcome: Outcome::default(),
            runs: vec![on_cpu, on_gpu],
            ratios: Vec::new(),
            verdicts,
            suspects: Vec::new(),
            fragile_share,
            interrupted: false,
        };
        pair::print(&report)?;
        pair::judge(&report)
    }
}

/// Times of a run with these numbers of calls and cells: of the calls, and in total, s.
fn timed(
    backend: &'static str,
    name: String,
    [steps, cells]: [usize; 2],
    [kernel_s, end_to_end_s]: [f64; 2],
) -> Timed {
    let microphysics = PhaseTime { kernel_s, transfer_s: None, total_s: kernel_s };
    let times = PhaseTimes { microphysics, ..PhaseTimes::default() };
    Timed { name, backend, steps, cells, times, end_to_end_s }
}

/// Returns the time of the calls, s.
fn on_cpu<R: Stored + PhysicsPrecision>(
    scheme: &dyn Scheme,
    case: &mut PhysicsCase<R>,
    Steps { dt, calls }: Steps,
) -> Result<f64> {
    let columns = R::of_scheme(scheme).on_cpu(case.shape.nz, None);
    let mut compute = 0.0;
    for number in 1..=calls {
        case.force(R::of(dt));
        let start = Instant::now();
        columns.call(R::of(dt), case.block());
        compute += start.elapsed().as_secs_f64();
        check_finite(scheme.about(), case, number)?;
    }
    case.diagnosed = columns.diagnose(&case.tracers, &case.air);
    Ok(compute)
}

/// Returns the device and the mapping, in words, and the time of the calls, s; `after_call` is called with the columns and
/// the precipitation after each call.
fn on_gpu<R: Stored + Element>(
    gpu: &Gpu,
    (about, launcher): (&About, &dyn Launcher<R>),
    case: &mut PhysicsCase<R>,
    Steps { dt, calls }: Steps,
    after_call: &mut dyn FnMut(&PhysicsCase<R>),
) -> Result<(String, f64)> {
    let tracers = gpu.upload(&values(&case.tracers))?;
    let air = gpu.upload(&values(&case.air))?;
    let surface = gpu.upload(&values(&case.surface))?;
    let memory = DeviceArrays { tracers: &tracers, air: &air, surface: &surface };
    let is_forced = case.tendencies.iter().any(Option::is_some);
    let cells = case.shape.cells();
    let mut compute = 0.0;
    for number in 1..=calls {
        if is_forced {
            case.force(R::of(dt));
            // Potential temperature and vapour are the first two tracers.
            tracers.upload_to(0, &values(&case.tracers[..2]))?;
        }
        compute += gpu.elapsed(|| launcher.call(&memory, dt))?;
        for (at, field) in case.tracers.iter_mut().enumerate() {
            let values = field.as_slice_mut().expect("fields are in standard layout");
            tracers.download_from(at * cells, values)?;
        }
        for (at, plane) in case.surface.iter_mut().enumerate() {
            let values = plane.as_slice_mut().expect("planes are in standard layout");
            surface.download_from(at * values.len(), values)?;
        }
        check_finite(about, case, number)?;
        after_call(case);
    }
    let out = gpu.zeros::<R>(about.diagnosed.len() * cells)?;
    launcher.diagnose(&memory, &out)?;
    for at in 0..about.diagnosed.len() {
        let mut field = Array3::zeros(case.shape.centre());
        let values = field.as_slice_mut().expect("fields are in standard layout");
        out.download_from(at * cells, values)?;
        case.diagnosed.push(field);
    }
    Ok((format!("the {}, {}", gpu.device().name, launcher.mapping()), compute))
}

/// The values of fields in one array.
fn values<R: Copy, S: Data<Elem = R>, D: Dimension>(fields: &[ArrayBase<S, D>]) -> Vec<R> {
    fields.iter().flat_map(|field| field.iter().copied()).collect()
}

/// Fails if a tracer has a value that is not finite.
fn check_finite<R: Stored + Element>(
    about: &About,
    case: &PhysicsCase<R>,
    step: usize,
) -> Result<()> {
    for (field, values) in about.tracers.iter().zip(&case.tracers) {
        let values = values.as_slice().expect("fields are in standard layout");
        if let Some(first) = reduce::non_finite(values).first {
            let nx = case.shape.nx;
            let (variable, value) = (field.name, values[first].f64());
            return Err(Error::BlowUp { variable, value, step, cell: [first / nx, 0, first % nx] });
        }
    }
    Ok(())
}

//! Benchmark of the chemistry in many cells: warm, cold and mixed ones.

use std::time::Instant;

use serde::Serialize;

use super::measurement::median;
use super::record::Record;
use super::{Bench, pool};
use crate::chemistry::cells::{Cells, RateUpdate, Settings, integrate};
use crate::chemistry::clear_sky::ClearSky;
use crate::chemistry::gpu::{Integrator, Plan, ThreadMapping, integration_source};
use crate::chemistry::kinetics::Kinetics;
use crate::chemistry::lifetime::{AIR, concentration, lifetimes, quantity_in_reference};
use crate::chemistry::mechanism::{Mechanism, RateCode};
use crate::chemistry::rates::PER_AIR_FACTOR;
use crate::chemistry::rosenbrock::{Tolerances, methods};
use crate::cli::BackendChoice;
use crate::cli::chemistry::read_mechanism;
use crate::cli::run::metadata::machine;
use crate::counter_rng::Random;
use crate::device::Gpu;
use crate::error::Result;
use crate::simd::Instructions;

/// Value of a quantity that only the host of a mechanism knows: an index as well as a concentration.
const OF_HOST: f64 = 1.0;

/// Interval, s, as in a weather model.
pub(in crate::cli) const INTERVAL: f64 = 60.0;
/// First step as a fraction of the interval, as in WRF-Chem.
const FIRST_STEP: f64 = 0.01;
/// Interval of the spin-up of warm cells, s.
const SPIN_UP: f64 = 3_600.0;
/// Number of different cells; more cells are repetitions.
const DIFFERENT: usize = 232;
/// Mixing ratio of species without a known typical concentration.
const TRACE: f64 = 1e-10;
/// Photolysis frequency of species without parameters, s-1.
const ANY_PHOTOLYSIS: f64 = 1e-5;
/// Lifetime below which species start at 0 in cold cells, s.
const RADICAL: f64 = 100.0;
/// Most timed calls.
const MOST_RUNS: u32 = 5;
/// Time after which measurements are not repeated, s.
const PATIENCE: f64 = 2.0;
/// Most variants of the GPU's table kernels with several threads a cell that are measured.
const MOST_FORMS: usize = 2;

/// A line of the table.
#[derive(Debug, Serialize)]
struct Row {
    bench: &'static str,
    mechanism: String,
    case: &'static str,
    backend: &'static str,
    mapping: String,
    lu: &'static str,
    cells: usize,
    threads: usize,
    instructions: &'static str,
    ms: f64,
    us_per_cell: f64,
    us_per_step: f64,
    steps_mean: f64,
}

impl Row {
    /// A row of the CPU, the template of one of the GPU, from the time of a call (s) and the number of all steps.
    fn new(
        mechanism: &Mechanism,
        case: &'static str,
        cells: usize,
        [seconds, steps]: [f64; 2],
    ) -> Self {
        Self {
            bench: "chemistry",
            mechanism: mechanism.name.clone(),
            case,
            backend: "cpu",
            mapping: "lanes".to_owned(),
            lu: "f64",
            cells,
            threads: 1,
            instructions: "",
            ms: seconds * 1e3,
            us_per_cell: seconds / cells as f64 * 1e6,
            us_per_step: seconds / steps * 1e6,
            steps_mean: steps / cells as f64,
        }
    }

    /// The row as text, with the digits of the times of a cell and of a step.
    fn line(&self, place: &str, [of_cell, of_step]: [usize; 2]) -> String {
        let Self { case, threads, ms, us_per_cell, us_per_step, steps_mean, .. } = self;
        format!(
            "{case:<16} {place:<16} {threads:>7} {ms:>10.3} {us_per_cell:>10.of_cell$} \
             {us_per_step:>10.of_step$} {steps_mean:>10.1}"
        )
    }
}

impl Bench {
    /// Measures the chemistry on one thread and on all of them.
    pub(super) fn chemistry(&self, record: &mut Record) -> Result<()> {
        let gpu = self.backend.open(&self.gpu)?;
        let (mechanism, kinetics) = read_mechanism(&self.mechanism, &RateCode::default())?;
        let warm = warm_cells(&mechanism, &kinetics);
        let cold = cooled(&mechanism, &kinetics, &warm);
        let count = self.cells.0;
        // An order that is independent of the cells.
        let mut mixed_order: Vec<usize> = (0..count).collect();
        mixed_order.sort_by_key(|&cell| Random::new(0).at(cell as u64).bits());
        let half = |cell: usize| cell >= count / 2;
        let pick = |is_warm: &dyn Fn(usize) -> bool| -> Cells {
            picked((0..count).map(|i| (if is_warm(i) { &warm } else { &cold }, i % DIFFERENT)))
        };
        let cases = [
            ("warm", pick(&|_| true)),
            ("cold", pick(&|_| false)),
            ("mixed, sorted", pick(&half)),
            ("mixed, random", pick(&|i| half(mixed_order[i]))),
        ];
        let instructions = Instructions::best_name();
        writeln!(
            record.out,
            "chemistry: {}, {} variable species, {} reactions; ros3 over {INTERVAL} s, rtol 1e-3, \
             {count} cells, {instructions}\n\
             {:<16} {:<16} {:>7} {:>10} {:>10} {:>10} {:>10}",
            mechanism.name,
            kinetics.variables(),
            kinetics.reactions(),
            "cells",
            "where",
            "threads",
            "ms",
            "us/cell",
            "us/step",
            "steps"
        )?;
        let mut threads = vec![1, machine().threads];
        threads.dedup();
        if let Some(gpu) = &gpu {
            self.on_device(gpu, &mechanism, &kinetics, &cases, record)?;
        }
        let is_for_cpu = gpu.is_none() || self.backend == BackendChoice::Both;
        for (case, cells) in cases.iter().filter(|_| is_for_cpu) {
            for &threads in &threads {
                let pool = pool(threads)?;
                let (seconds, steps) =
                    pool.install(|| timed(&kinetics, cells, self.runs.min(MOST_RUNS)));
                let row = Row::new(&mechanism, case, count, [seconds, steps]);
                let row = Row { threads, instructions, ..row };
                record.show(&row.line("cpu", [3, 3]), &row)?;
            }
        }
        Ok(())
    }

    /// Measures the mappings of the GPU.
    fn on_device(
        &self,
        gpu: &Gpu,
        mechanism: &Mechanism,
        kinetics: &Kinetics,
        cases: &[(&'static str, Cells); 4],
        record: &mut Record,
    ) -> Result<()> {
        let shared = gpu.device().shared_bytes as usize;
        let settings = settings(INTERVAL);
        let Settings { method, rates, .. } = settings;
        let mut forms = ThreadMapping::teams(kinetics, shared);
        forms.truncate(MOST_FORMS);
        let straight =
            ThreadMapping::STRAIGHT_WORKERS.map(|n| ThreadMapping::straight(kinetics, shared, n));
        forms.splice(0..0, straight.into_iter().flatten());
        forms.push(ThreadMapping::thread());
        let plan = |form: &ThreadMapping| Plan { method, rates, form: *form };
        let sources = forms.iter().map(|form| integration_source(kinetics, &plan(form))).collect();
        let begin = Instant::now();
        gpu.compile_ahead(sources)?;
        let seconds = begin.elapsed().as_secs_f64();
        writeln!(record.out, "{} kernels compiled side by side in {seconds:.2} s", forms.len())?;
        for form in forms {
            let kernels = Integrator::new(gpu, kinetics, plan(&form))?;
            for kernel in kernels.resources()? {
                writeln!(
                    record.out,
                    "  {}: {} registers, {} local and {} shared bytes, {} blocks of {} threads",
                    kernel.kernel,
                    kernel.registers,
                    kernel.local_bytes,
                    kernel.shared_bytes,
                    kernel.blocks,
                    kernel.threads
                )?;
            }
            let sorted = cases.last().map(|(_, cells)| ("mixed, by steps", cells));
            let all = cases.iter().map(|(case, cells)| (*case, cells)).chain(sorted);
            for (case, cells) in all {
                let mut on_device = kernels.upload(cells)?;
                // A warm-up call.
                kernels.timed(&on_device, &settings)?;
                if case == "mixed, by steps" {
                    on_device.order_by_steps(gpu)?;
                }
                let calls = 0..self.runs.min(MOST_RUNS);
                let times = calls.map(|_| kernels.timed(&on_device, &settings));
                let seconds = median(times.collect::<Result<_>>()?);
                let outcomes = on_device.outcomes()?;
                let steps: f64 = outcomes.iter().map(|cell| f64::from(cell.counters.steps)).sum();
                let row = Row {
                    backend: "gpu",
                    mapping: form.to_string(),
                    threads: form.threads(),
                    ..Row::new(mechanism, case, cells.len(), [seconds, steps])
                };
                record.show(&row.line(&form.to_string(), [4, 5]), &row)?;
            }
        }
        Ok(())
    }
}

/// WRF-Chem's settings over an interval.
pub(in crate::cli) fn settings(interval: f64) -> Settings {
    Settings {
        method: methods::ROS3,
        tolerances: Tolerances { relative: 1e-3, absolute: 1.0 },
        interval,
        first_step: FIRST_STEP * interval,
        rates: RateUpdate::Frozen,
    }
}

/// Median time of a call (s) and the number of all steps.
fn timed(kinetics: &Kinetics, cells: &Cells, runs: u32) -> (f64, f64) {
    let settings = settings(INTERVAL);
    let mut steps = 0.0;
    let mut times = Vec::new();
    for _ in 0..runs {
        let mut cells = cells.clone();
        let start = Instant::now();
        let out = integrate(kinetics, &settings, &mut cells);
        times.push(start.elapsed().as_secs_f64());
        steps = out.iter().map(|cell| f64::from(cell.counters.steps)).sum();
        if times.iter().sum::<f64>() > PATIENCE {
            break;
        }
    }
    (median(times), steps)
}

/// Cells from the ground to 10 km and from morning to noon, after an hour of chemistry.
fn warm_cells(mechanism: &Mechanism, kinetics: &Kinetics) -> Cells {
    let mut cells = Cells::default();
    for cell in 0..DIFFERENT {
        let part = cell as f64 / (DIFFERENT - 1) as f64;
        // Heights in an order that is independent of the hours.
        let height = 1e4 * ((cell * 89 % DIFFERENT) as f64 / DIFFERENT as f64);
        // Scale height of 8.5 km, lapse rate of 6.5 K km-1.
        let (thinner, temperature) = ((-height / 8_500.0).exp(), 298.0 - 6.5e-3 * height);
        let value = |species: usize| match concentration(mechanism, species) {
            0.0 => TRACE * AIR * thinner,
            known => known * thinner,
        };
        cells.variable.extend(kinetics.variable.iter().map(|&species| value(species)));
        cells.fixed.extend(kinetics.fixed.iter().map(|&species| value(species)));
        cells.temperature.push(temperature);
        cells.air_density.push(AIR * thinner);
        cells.air_factor.push(AIR * thinner / PER_AIR_FACTOR);
        cells.hydrolysis.push(2e-3);
        cells.start.push(3_600.0 * (6.0 + 6.0 * part));
        let of_cell = mechanism.quantities.iter().map(|quantity| {
            let value = quantity_in_reference(mechanism, quantity);
            if value.is_finite() { value } else { OF_HOST }
        });
        cells.quantities.extend(of_cell);
        let cosine = 0.1 + 0.8 * part;
        cells.photolysis.extend(
            mechanism.photolysis.iter().map(|name| {
                ClearSky::named(name).map_or(ANY_PHOTOLYSIS, |sky| sky.frequency(cosine))
            }),
        );
    }
    integrate(kinetics, &settings(SPIN_UP), &mut cells);
    cells
}

/// So many warm cells, of which those beyond the first hundreds are repetitions.
pub(in crate::cli) fn warm_cells_of(
    mechanism: &Mechanism,
    kinetics: &Kinetics,
    count: usize,
) -> Cells {
    let warm = warm_cells(mechanism, kinetics);
    picked((0..count).map(|cell| (&warm, cell % DIFFERENT)))
}

/// The same cells without radicals (cold start).
fn cooled(mechanism: &Mechanism, kinetics: &Kinetics, warm: &Cells) -> Cells {
    let reference = lifetimes(mechanism, kinetics);
    let is_radical = |species: usize| {
        reference.lifetimes.iter().any(|life| life.species == species && life.time < RADICAL)
    };
    let is_radical: Vec<bool> = kinetics.variable.iter().map(|&s| is_radical(s)).collect();
    let mut cold = warm.clone();
    for of_cell in cold.variable.chunks_mut(kinetics.variables()) {
        for (value, _) in of_cell.iter_mut().zip(&is_radical).filter(|(_, is)| **is) {
            *value = 0.0;
        }
    }
    cold
}

/// Cells of several sources.
fn picked<'a>(list: impl Iterator<Item = (&'a Cells, usize)>) -> Cells {
    let mut picked = Cells::default();
    for (from, cell) in list {
        for (to, values) in [
            (&mut picked.variable, &from.variable),
            (&mut picked.fixed, &from.fixed),
            (&mut picked.temperature, &from.temperature),
            (&mut picked.air_factor, &from.air_factor),
            (&mut picked.air_density, &from.air_density),
            (&mut picked.hydrolysis, &from.hydrolysis),
            (&mut picked.photolysis, &from.photolysis),
            (&mut picked.quantities, &from.quantities),
            (&mut picked.start, &from.start),
        ] {
            let each = values.len() / from.len();
            to.extend(&values[cell * each..][..each]);
        }
    }
    picked
}

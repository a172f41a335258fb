//! The chemistry on the device: mechanisms are converted to CUDA text, which is compiled at run time.
//!
//! - `rates` writes the rate constants of a mechanism as straight-line code, `straight_line` its reactions, factorisation
//!   and solution, for one or several threads for each cell; `rounds` distributes them among the threads.
//! - `source_text` writes the tables of a mechanism, for mechanisms that are too large for straight-line code; `schedule`
//!   distributes the linear algebra among several threads for each cell.
//! - `thread_mapping` is the mapping of cells to threads. The integrator, `kernels/chemistry/rosenbrock.cu`, has the same source
//!   for all of them: a block has several cells at a time, and one or several threads for each.
//!
//! A cell has the operations of the CPU version in order, so that its bits depend neither on the mapping nor on the
//! cells beside it.
//!
//! Every function that works on a device fails with [`Error::Gpu`] when the device does.

#![expect(clippy::missing_errors_doc, reason = "the documentation of the module has them")]
#![allow(unsafe_code, reason = "the launcher of a kernel is responsible for its arguments")]

pub mod arguments;
pub mod coupling;
mod coupling_arguments;
mod declarations;
mod memory_estimate;
mod rates;
mod rounds;
mod schedule;
mod source_text;
mod straight_line;
mod thread_mapping;
pub(crate) mod tuning;

pub use source_text::{Plan, RATE_THREADS, check, integration_source, rates_source};
pub use thread_mapping::ThreadMapping;

use rayon::prelude::*;

use self::arguments::ChemistryArgs;
use self::thread_mapping::ArraySlots;
use crate::chemistry::cells::{Cells, Outcome, RateUpdate, Settings};
use crate::chemistry::kinetics::Kinetics;
use crate::chemistry::rates::Program;
use crate::chemistry::rosenbrock::{Counters, Status, methods};
use crate::cuda_abi::ReadPointer;
use crate::device::{Buffer, Element, Gpu, Kernel, KernelSource, Launch, Resources};
use crate::error::{Advice, Error, Result};

/// The choice of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// The fastest one.
    Auto,
    /// One thread for each cell, with straight-line code if possible.
    Thread,
    /// Several threads for each cell, in different warps, which follow tables.
    Warp,
}

impl Mapping {
    /// The form of kernels for a number of cells of a mechanism on a device: with [`Self::Auto`] the one measured to be
    /// the fastest there, if any; else that of [`Mapping::form`].
    pub(crate) fn form_on(
        self,
        gpu: &Gpu,
        kinetics: &Kinetics,
        cells: usize,
    ) -> Result<ThreadMapping> {
        if self == Self::Auto
            && let Some(form) = tuning::measured(gpu, kinetics, cells)
        {
            return Ok(form);
        }
        self.form(kinetics, gpu.device().shared_bytes as usize)
    }

    /// The form of kernels for a mechanism on a device with this much shared memory in a block, bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] if several threads for each cell are requested and a cell does not fit.
    pub fn form(self, kinetics: &Kinetics, shared_bytes: usize) -> Result<ThreadMapping> {
        match self {
            Self::Auto => Ok(ThreadMapping::fastest(kinetics, shared_bytes)),
            Self::Thread => {
                let straight = ThreadMapping::straight(kinetics, shared_bytes, 1);
                Ok(straight.unwrap_or_else(ThreadMapping::thread))
            }
            Self::Warp => ThreadMapping::team(kinetics, shared_bytes).ok_or_else(|| {
                Error::Gpu(format!(
                    "mapping warp: the factors of {} entries do not fit into {shared_bytes} \
                     bytes of shared memory",
                    kinetics.lu.entries()
                ))
                .advise(Advice::UseThreadMapping)
            }),
        }
    }
}

/// Memory of a block: shared memory, bytes, and scratch in global memory, doubles.
pub fn memory_of_block(kinetics: &Kinetics, plan: &Plan) -> (usize, usize) {
    if plan.form.is_straight {
        let layout = source_text::layout(kinetics, plan);
        return (layout.shared * size_of::<f64>(), layout.scratch);
    }
    (plan.form.shared_bytes, ArraySlots::new(kinetics, plan.form).scratch)
}

/// Shared memory of a block of an H100, bytes.
const USUAL_SHARED: usize = 227 << 10;

/// All kernels for a mechanism with WRF-Chem's method, for inspection without a device.
///
/// # Errors
///
/// [`Error::Gpu`] if a mechanism is too large for the kernels.
pub fn catalogue(kinetics: &Kinetics) -> Result<Vec<(KernelSource, String)>> {
    check(kinetics).map_err(|message| Error::Gpu(message).advise(Advice::UseCpu))?;
    let size = format!("{} species", kinetics.variables());
    let mut entries = vec![(rates_source(kinetics), size.clone())];
    let workers = ThreadMapping::STRAIGHT_WORKERS[0];
    let forms = [
        ("straight", ThreadMapping::straight(kinetics, USUAL_SHARED, workers)),
        ("thread", Some(ThreadMapping::thread())),
        ("warp", ThreadMapping::team(kinetics, USUAL_SHARED)),
    ];
    for (mapping, form) in forms {
        let Some(form) = form else { continue };
        let plan = Plan { method: methods::ROS3, rates: RateUpdate::Frozen, form };
        entries.push((integration_source(kinetics, &plan), format!("{size}, {mapping}")));
    }
    Ok(entries)
}

/// Kernels for a mechanism.
#[derive(Debug)]
pub struct Integrator {
    gpu: Gpu,
    plan: Plan,
    shared_bytes: u32,
    blocks: usize,
    /// Numbers of variable species, of fixed species, and of stored results of the rates.
    sizes: [usize; 3],
    /// Rate constants.
    program: Program,
    rates: Kernel,
    integrate: Kernel,
    scratch: Buffer<f64>,
}

/// Cells on the device; arrays are (quantity, cell).
#[derive(Debug)]
pub struct CellsOnDevice {
    count: usize,
    /// Concentrations at the start, for repeated integrations.
    initial: Buffer<f64>,
    variable: Buffer<f64>,
    fixed: Buffer<f64>,
    /// Temperature, 1e-6 of the density of air, density of air, hydrolysis, start.
    conditions: [Buffer<f64>; 5],
    photolysis: Buffer<f64>,
    quantities: Buffer<f64>,
    rates: Buffer<f64>,
    status: Buffer<i32>,
    counters: Buffer<i32>,
    times: Buffer<f64>,
    taken: Buffer<u32>,
    order: Option<Buffer<i32>>,
    first_steps: Option<Buffer<f64>>,
}

/// Transposes arrays with contiguous values of a cell to arrays with contiguous values of a quantity.
fn by_quantity(values: &[f64], cells: usize) -> Vec<f64> {
    transposed(values, values.len() / cells.max(1))
}

/// Transposes a matrix of rows with `columns` columns.
fn transposed(values: &[f64], columns: usize) -> Vec<f64> {
    let rows = values.len() / columns.max(1);
    let mut out = vec![0.0; values.len()];
    out.par_chunks_mut(rows.max(1)).enumerate().for_each(|(column, out)| {
        out.iter_mut().enumerate().for_each(|(row, x)| *x = values[row * columns + column]);
    });
    out
}

impl Integrator {
    /// Compiles the kernels.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`], also if a mechanism is too large for the kernels.
    pub fn new(gpu: &Gpu, kinetics: &Kinetics, plan: Plan) -> Result<Self> {
        check(kinetics).map_err(|message| Error::Gpu(message).advise(Advice::UseCpu))?;
        let sources = [rates_source(kinetics), integration_source(kinetics, &plan)];
        gpu.compile_ahead(sources.to_vec())?;
        let [rates, integrate] = sources;
        let rates = gpu.module(&rates)?.kernel("chemistry_rates")?;
        let integrate = gpu.module(&integrate)?.kernel("chemistry_integrate")?;
        let (shared_bytes, scratch) = memory_of_block(kinetics, &plan);
        let shared_bytes = shared_bytes as u32;
        if shared_bytes > 0 {
            integrate.allow_shared_memory(shared_bytes)?;
        }
        let threads = plan.form.threads() as u32;
        let resident = integrate.blocks_at_a_time(threads, shared_bytes)?.max(1);
        let blocks = resident as usize * gpu.device().multiprocessors as usize;
        Ok(Self {
            gpu: gpu.clone(),
            plan,
            shared_bytes,
            blocks,
            sizes: [kinetics.variables(), kinetics.fixed.len(), kinetics.rates.kept.len()],
            program: kinetics.rates.clone(),
            rates,
            integrate,
            scratch: gpu.zeros(scratch * blocks)?,
        })
    }

    /// Choices that the kernels were compiled for.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Resources of the kernels.
    pub fn resources(&self) -> Result<[Resources; 2]> {
        let form = self.plan.form;
        Ok([
            self.rates.resources(RATE_THREADS, 0)?,
            self.integrate.resources(form.threads() as u32, self.shared_bytes)?,
        ])
    }

    /// Copies cells to the device.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`], and [`Error::Usage`] if an array does not have values for all cells.
    pub fn upload(&self, cells: &Cells) -> Result<CellsOnDevice> {
        let (gpu, count, [variable, fixed, _]) = (&self.gpu, cells.len(), self.sizes);
        if let Some(misfit) = cells.misfit(Some([variable, fixed]), &self.program) {
            return Err(Error::Usage(misfit));
        }
        let initial = gpu.upload(&by_quantity(&cells.variable, count))?;
        let variable = gpu.zeros(initial.len())?;
        variable.copy_from(&initial)?;
        Ok(CellsOnDevice {
            count,
            initial,
            variable,
            fixed: gpu.upload(&by_quantity(&cells.fixed, count))?,
            conditions: [
                gpu.upload(&cells.temperature)?,
                gpu.upload(&cells.air_factor)?,
                gpu.upload(&cells.air_density)?,
                gpu.upload(&cells.hydrolysis)?,
                gpu.upload(&cells.start)?,
            ],
            photolysis: gpu.upload(&by_quantity(&cells.photolysis, count))?,
            quantities: gpu.upload(&by_quantity(&cells.quantities, count))?,
            rates: gpu.zeros(self.sizes[2] * count)?,
            status: gpu.zeros(count)?,
            counters: gpu.zeros(Counters::NAMES.len() * count)?,
            times: gpu.zeros(TIMES * count)?,
            taken: gpu.zeros(1)?,
            order: None,
            first_steps: match &cells.first_step[..] {
                [] => None,
                steps => Some(gpu.upload(steps)?),
            },
        })
    }

    /// Integrates the cells over the interval of the settings. Method, rates and precision are those of the plan.
    pub fn integrate(&self, cells: &CellsOnDevice, settings: &Settings) -> Result<()> {
        if cells.count == 0 {
            return Ok(());
        }
        let args = self.args(cells, settings);
        cells.taken.clear()?;
        let rates = Launch::flat(cells.count, RATE_THREADS);
        let form = self.plan.form;
        let blocks = self.blocks.min(cells.count.div_ceil(form.cells));
        let integration = Launch::new([blocks as u32, 1], form.threads() as u32);
        let launch = Launch { shared_bytes: self.shared_bytes, ..integration };
        // SAFETY: the arrays have the lengths of the mechanism and the number of cells, and live as long as the device
        // works on them: freeing waits for it.
        unsafe {
            self.rates.launch(rates, &args)?;
            self.integrate.launch(launch, &args)
        }
    }

    /// The time of an integration on the device, s, from the concentrations at the start.
    pub fn timed(&self, cells: &CellsOnDevice, settings: &Settings) -> Result<f64> {
        cells.restart()?;
        self.gpu.elapsed(|| self.integrate(cells, settings))
    }

    fn args(&self, cells: &CellsOnDevice, settings: &Settings) -> ChemistryArgs {
        let [temperature, air_factor, air_density, hydrolysis, start] =
            cells.conditions.each_ref().map(|buffer| buffer.pointer().read());
        ChemistryArgs {
            variable: cells.variable.pointer(),
            fixed: cells.fixed.pointer().read(),
            temperature,
            air_factor,
            air_density,
            hydrolysis,
            photolysis: cells.photolysis.pointer().read(),
            quantities: cells.quantities.pointer().read(),
            start,
            first_steps: pointer(cells.first_steps.as_ref()),
            order: pointer(cells.order.as_ref()),
            rates: cells.rates.pointer(),
            status: cells.status.pointer(),
            counters: cells.counters.pointer(),
            times: cells.times.pointer(),
            taken: cells.taken.pointer(),
            scratch: self.scratch.pointer(),
            interval: settings.interval,
            first_step: settings.first_step,
            relative: settings.tolerances.relative,
            absolute: settings.tolerances.absolute,
            cells: cells.count as i64,
        }
    }
}

fn pointer<T: Element + Default>(buffer: Option<&Buffer<T>>) -> ReadPointer<T> {
    buffer.map(|buffer| buffer.pointer().read()).unwrap_or_default()
}

/// Number of times in a cell's outcome.
const TIMES: usize = 3;
/// Index of the counter of steps.
const STEPS: usize = 2;

impl CellsOnDevice {
    /// Resets the concentrations to those at the start.
    pub fn restart(&self) -> Result<()> {
        self.variable.copy_from(&self.initial)
    }

    /// Sets the order in which cells are processed, which changes no result.
    ///
    /// # Panics
    ///
    /// If the order does not contain every cell once.
    pub fn set_order(&mut self, gpu: &Gpu, order: &[i32]) -> Result<()> {
        let mut is_there = vec![false; self.count];
        for &cell in order {
            is_there[cell as usize] = true;
        }
        assert!(order.len() == self.count && is_there.iter().all(|&is| is), "every cell once");
        self.order = Some(gpu.upload(order)?);
        Ok(())
    }

    /// Processes cells in the order of their numbers of steps in the last call, the longest first, so that no cell with
    /// many steps runs alone at the end.
    pub fn order_by_steps(&mut self, gpu: &Gpu) -> Result<()> {
        let mut steps = vec![0; self.count];
        self.counters.download_from(STEPS * self.count, &mut steps)?;
        let mut order: Vec<i32> = (0..self.count as i32).collect();
        order.par_sort_by_key(|&cell| std::cmp::Reverse(steps[cell as usize]));
        self.set_order(gpu, &order)
    }

    /// Concentrations with contiguous values of a cell.
    pub fn concentrations(&self) -> Result<Vec<f64>> {
        Ok(transposed(&self.variable.to_vec()?, self.count))
    }

    /// The outcomes of all cells.
    pub fn outcomes(&self) -> Result<Vec<Outcome>> {
        let (status, counters) = (self.status.to_vec()?, self.counters.to_vec()?);
        Ok(outcomes(&status, &counters, &self.times.to_vec()?))
    }
}

/// Outcomes of cells from the arrays of the kernels.
pub fn outcomes(status: &[i32], counters: &[i32], times: &[f64]) -> Vec<Outcome> {
    let count = status.len();
    (0..count)
        .map(|cell| {
            let counter = |number: usize| counters[number * count + cell].cast_unsigned();
            Outcome {
                status: Status(status[cell]),
                counters: Counters::of(std::array::from_fn(counter)),
                time: times[cell],
                last_step: times[count + cell],
                next_step: times[2 * count + cell],
            }
        })
        .collect()
}

/// Integrates cells on the device. A cell that fails keeps its concentrations.
pub fn integrate(
    gpu: &Gpu,
    kinetics: &Kinetics,
    settings: &Settings,
    mapping: Mapping,
    cells: &mut Cells,
) -> Result<(Vec<Outcome>, Integrator)> {
    let form = mapping.form_on(gpu, kinetics, cells.len())?;
    let Settings { method, rates, .. } = *settings;
    let integrator = Integrator::new(gpu, kinetics, Plan { method, rates, form })?;
    let on_device = integrator.upload(cells)?;
    integrator.integrate(&on_device, settings)?;
    cells.variable = on_device.concentrations()?;
    Ok((on_device.outcomes()?, integrator))
}

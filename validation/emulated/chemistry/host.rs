//! Integrations on the emulated device.

use std::path::Path;

use nwp_mini::chemistry::cells::{Cells, Outcome, Settings};
use nwp_mini::chemistry::gpu::arguments::ChemistryArgs;
use nwp_mini::chemistry::gpu::{
    Plan, RATE_THREADS, ThreadMapping, integration_source, memory_of_block, outcomes, rates_source,
};
use nwp_mini::chemistry::kinetics::Kinetics;
use nwp_mini::cuda_abi::{DevicePointer, ReadPointer};
use nwp_mini::device::KernelSource;
use nwp_mini_support::emulator::Program;

use crate::lattice::host::Memory;

/// The kernels of a mechanism, compiled for the host.
pub(super) struct Emulated<'a> {
    kinetics: &'a Kinetics,
    plan: Plan,
    rates: Program,
    integrate: Program,
}

/// Settings that change no result.
#[derive(Clone, Default)]
pub(super) struct Circumstances {
    pub(super) seed: u64,
    pub(super) blocks: usize,
    pub(super) order: Option<Vec<i32>>,
}

fn compile(name: &str, source: &KernelSource, kernels: Option<&Path>) -> Program {
    let mut options = Vec::new();
    if let Some(kernels) = kernels {
        options.push(format!("-I{}", kernels.display()));
    }
    if source.file == "chemistry/rates.cu" {
        options.push("-DRATE_CONSTANTS".to_owned());
    }
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    Program::compile(name, "emulated/chemistry/program.cpp", &source.prelude, &options)
}

/// Transposes values that are contiguous for each cell.
fn by_quantity(values: &[f64], cells: usize) -> Vec<f64> {
    let each = values.len() / cells;
    (0..each).flat_map(|i| (0..cells).map(move |cell| values[cell * each + i])).collect()
}

impl<'a> Emulated<'a> {
    /// Compiles the kernels; `name` distinguishes the programs.
    pub(super) fn new(
        name: &str,
        kinetics: &'a Kinetics,
        settings: &Settings,
        form: ThreadMapping,
    ) -> Self {
        Self::with(name, kinetics, settings, form, None)
    }

    /// Compiles the kernels, with those of another folder taking precedence over those of the project.
    pub(super) fn with(
        name: &str,
        kinetics: &'a Kinetics,
        settings: &Settings,
        form: ThreadMapping,
        kernels: Option<&Path>,
    ) -> Self {
        let Settings { method, rates, .. } = *settings;
        let plan = Plan { method, rates, form };
        Self {
            kinetics,
            plan,
            rates: compile(&format!("chemistry-{name}-rates"), &rates_source(kinetics), None),
            integrate: compile(
                &format!("chemistry-{name}"),
                &integration_source(kinetics, &plan),
                kernels,
            ),
        }
    }

    /// Integrates the cells; returns concentrations by cell, and outcomes.
    ///
    /// # Errors
    ///
    /// The complaint of the emulator.
    pub(super) fn attempt(
        &self,
        settings: &Settings,
        cells: &Cells,
        circumstances: &Circumstances,
    ) -> Result<(Vec<f64>, Vec<Outcome>), String> {
        let count = cells.len();
        let kept = self.kinetics.rates.kept.len();
        let mut memory = Memory::default();
        let mut args = self.args(&mut memory, settings, cells, circumstances);
        memory.launch(
            "chemistry_rates",
            count.div_ceil(RATE_THREADS as usize),
            RATE_THREADS,
            &args,
        );
        let done = memory.attempt(&self.rates, circumstances.seed)?;
        let (rates, status) = (done.of(args.rates), done.of(args.status));
        assert_eq!(rates.len(), kept * count);

        let mut memory = Memory::default();
        args = ChemistryArgs {
            rates: memory.array(&rates),
            status: memory.array(&status),
            ..self.args(&mut memory, settings, cells, circumstances)
        };
        let form = self.plan.form;
        let blocks = circumstances.blocks.max(1);
        memory.launch("chemistry_integrate", blocks, form.threads() as u32, &args);
        let done = memory.attempt(&self.integrate, circumstances.seed)?;
        let variable = by_quantity(&done.of(args.variable), self.kinetics.variables());
        let out = outcomes(&done.of(args.status), &done.of(args.counters), &done.of(args.times));
        Ok((variable, out))
    }

    fn args(
        &self,
        memory: &mut Memory,
        settings: &Settings,
        cells: &Cells,
        circumstances: &Circumstances,
    ) -> ChemistryArgs {
        let count = cells.len();
        let read = |pointer: DevicePointer<f64>| pointer.read();
        let scratch = memory_of_block(self.kinetics, &self.plan).1 * circumstances.blocks.max(1);
        let order = match &circumstances.order {
            Some(order) => memory.array(order).read(),
            None => ReadPointer::default(),
        };
        ChemistryArgs {
            variable: memory.array(&by_quantity(&cells.variable, count)),
            fixed: read(memory.array(&by_quantity(&cells.fixed, count))),
            temperature: read(memory.array(&cells.temperature)),
            air_factor: read(memory.array(&cells.air_factor)),
            air_density: read(memory.array(&cells.air_density)),
            hydrolysis: read(memory.array(&cells.hydrolysis)),
            photolysis: read(memory.array(&by_quantity(&cells.photolysis, count))),
            quantities: read(memory.array(&by_quantity(&cells.quantities, count))),
            start: read(memory.array(&cells.start)),
            first_steps: ReadPointer::default(),
            order,
            rates: memory.array(&vec![f64::NAN; self.kinetics.rates.kept.len() * count]),
            status: memory.array(&vec![i32::MIN; count]),
            counters: memory.array(&vec![-1; 8 * count]),
            times: memory.array(&vec![f64::NAN; 3 * count]),
            taken: memory.array(&[0_u32]),
            scratch: memory.array(&vec![f64::NAN; scratch]),
            interval: settings.interval,
            first_step: settings.first_step,
            relative: settings.tolerances.relative,
            absolute: settings.tolerances.absolute,
            cells: count as i64,
        }
    }
}

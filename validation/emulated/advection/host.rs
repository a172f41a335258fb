//! A device emulated by arrays on the host.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use ndarray::{Array3, ArrayView1};
use nwp_mini::advection::flux::FluxConstants;
use nwp_mini::advection::gpu::{
    LaunchConfig, Stages, TransportLaunch, TransportSettings, air_pointers,
};
use nwp_mini::cuda_abi::{Bytes, DevicePointer, ReadPointer};
use nwp_mini::dry_mass::{AirMass, MassFlux};
use nwp_mini::gpu::prelude::{Configuration, prelude};
use nwp_mini::grid::Grid;
use nwp_mini::real::Precision;
use nwp_mini::state::BoundaryValues;
use nwp_mini::state::gpu::kernel_id::TRANSPORT;
use nwp_mini::wsm5::Sedimentation;

use super::emulator::{Element, Program, Records};

/// A precision that programs exchange numbers in.
pub(crate) trait Exchanged: FluxConstants + Element + Bytes {}

impl Exchanged for f32 {}
impl Exchanged for f64 {}

/// Rounding of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rounding {
    /// After every operation, as Rust does.
    Each,
    /// Once after a product and a sum, as the device does.
    Fused,
}

/// Transport of tracers on the emulated device.
pub(crate) struct Transport<'a, R> {
    pub(crate) grid: &'a Grid,
    pub(crate) air: &'a AirMass<R>,
    pub(crate) flux: &'a MassFlux<R>,
    pub(crate) inflow: &'a [BoundaryValues<R>],
    pub(crate) dt: f64,
    pub(crate) settings: TransportSettings,
    pub(crate) rounding: Rounding,
}

/// Arrays of the emulated device. An address is the number of an array, shifted, and an offset.
#[derive(Default)]
struct Memory {
    records: Records,
    arrays: u64,
}

const ARRAY_SHIFT: u32 = 40;

impl Memory {
    fn array<T: Element>(&mut self, values: &[T]) -> DevicePointer<T> {
        self.arrays += 1;
        self.records.put(&format!("array{}", self.arrays), values);
        DevicePointer::new(self.arrays << ARRAY_SHIFT)
    }

    /// An array that must be written before it is read.
    fn poisoned<R: Exchanged>(&mut self, count: usize) -> DevicePointer<R> {
        self.array(&vec![R::nan(); count])
    }

    fn read_only<R: Exchanged>(&mut self, values: &[R]) -> ReadPointer<R> {
        self.array(values).read()
    }

    fn name(address: u64) -> String {
        format!("array{}", address >> ARRAY_SHIFT)
    }
}

impl<R: Exchanged> Transport<'_, R> {
    /// Several steps of the tracers; returns them and the inflow through the sides.
    pub(crate) fn run(
        &self,
        tracers: &[Array3<R>],
        steps: usize,
        seed: u64,
    ) -> (Vec<Array3<R>>, Vec<f64>) {
        let (shape, settings) = (self.grid.shape, self.settings);
        let layout = settings.layout(self.grid);
        assert_eq!(tracers.len(), settings.tracers);
        let mut memory = Memory::default();
        let upload = |values: &[R]| Ok::<_, ()>(memory.read_only(values));
        let mut air = air_pointers(self.air, layout, upload).expect("memory suffices");
        let values = |field: &Array3<R>| field.iter().copied().collect::<Vec<R>>();
        let laid = |field: &Array3<R>| layout.padded(&values(field)).into_owned();
        air.flux_x = memory.read_only(&layout.padded_x_faces(&values(&self.flux.x)));
        air.flux_y = memory.read_only(&laid(&self.flux.y));
        air.flux_z = memory.read_only(&laid(&self.flux.z));
        let all = layout.cells() * settings.tracers;
        air.outgoing = memory.poisoned(all - layout.cells() * settings.unlimited);
        air.incoming = memory.poisoned(all - layout.cells() * settings.unlimited);
        let sides = self.inflow.iter().flat_map(|b| [&b.west, &b.east, &b.south, &b.north]);
        let inflow: Vec<R> = sides.flat_map(|side| side.iter().copied()).collect();
        if !inflow.is_empty() {
            air.inflow = memory.read_only(&inflow);
        }
        if !self.grid.sides.periodic_x() || !self.grid.sides.periodic_y() {
            let count = 2 * shape.nz * (shape.nx + shape.ny) * settings.tracers;
            air.side_flux = memory.poisoned(count);
            air.entered = memory.array(&vec![0.0; shape.nz * settings.tracers]);
        }

        let mut start = memory.array(&tracers.iter().flat_map(laid).collect::<Vec<R>>());
        let mut first = memory.poisoned(all);
        let second = memory.poisoned(all);
        let mut launches: Vec<TransportLaunch<R>> = Vec::new();
        for _ in 0..steps {
            let stages = Stages { start, first, second, end: first };
            launches.extend(settings.step(self.grid, &air, &stages, self.dt));
            launches.extend(settings.entering(self.grid, &air, self.dt));
            (start, first) = (first, start);
        }
        let (program, names) = self.program();
        memory.records.put("settings", &self.values_of(&names));
        for (n, launch) in launches.iter().enumerate() {
            let mut bytes = Vec::new();
            launch.args.write(&mut bytes);
            memory.records.put_bytes(&format!("args{n}"), bytes);
            let kernel = TRANSPORT.iter().position(|name| *name == launch.kernel);
            let kernel = kernel.expect("the program has this kernel") as i32;
            let [x, y, z] = launch.blocks;
            memory.records.put(
                &format!("launch{n}"),
                &[kernel, x as i32, y as i32, z as i32, launch.threads as i32],
            );
        }
        let found = program.run(&memory.records, seed);
        let fields: Vec<R> = found.take(&Memory::name(start.address()));
        let fields = fields.chunks_exact(layout.cells());
        let fields = fields.map(|field| {
            let cells = layout.unpadded(field);
            let field = ArrayView1::from(&*cells).into_shape_with_order(shape.centre());
            field.expect("a field of the grid").to_owned()
        });
        let entered = if air.entered.address() == 0 {
            vec![0.0; settings.tracers]
        } else {
            let levels: Vec<f64> = found.take(&Memory::name(air.entered.address()));
            levels.chunks_exact(shape.nz).map(|levels| levels.iter().sum()).collect()
        };
        (fields.collect(), entered)
    }

    /// The numbers that kernels are compiled for on the device.
    fn settings(&self) -> Vec<(String, i32)> {
        let nz = ("NZ", self.grid.shape.nz as i32);
        let settings = self.settings.constants(self.grid, R::PRECISION).into_iter().chain([nz]);
        settings.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn values_of(&self, names: &[String]) -> Vec<i32> {
        let settings: BTreeMap<String, i32> = self.settings().into_iter().collect();
        names.iter().map(|name| settings[name]).collect()
    }

    /// The program for these settings, and the names of the settings that it reads at run time.
    ///
    /// Settings that are not sizes of arrays are input of the program, so that one program serves many cases.
    fn program(&self) -> (Arc<Program>, Vec<String>) {
        static PROGRAMS: Mutex<BTreeMap<String, Arc<Program>>> = Mutex::new(BTreeMap::new());
        let LaunchConfig { cells, .. } = self.settings.launch_config;
        let key = format!("transport-{}-{cells}-{:?}", R::NAME, self.rounding);
        let names: Vec<String> = self
            .settings()
            .into_iter()
            .map(|(name, _)| name)
            .filter(|name| !SIZES.contains(&name.as_str()))
            .collect();
        let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        let program = programs.entry(key.clone()).or_insert_with(|| {
            let options: &[&str] = match self.rounding {
                Rounding::Each => &["-ffp-contract=off"],
                Rounding::Fused => &["-O2", "-ffp-contract=fast", "-mfma"],
            };
            let source = "emulated/advection/program.cpp";
            Arc::new(Program::compile(&key, source, &self.prelude(&names), options))
        });
        (Arc::clone(program), names)
    }

    fn prelude(&self, names: &[String]) -> String {
        let precision: Precision = R::PRECISION;
        let configuration = Configuration {
            precision,
            nz: self.grid.shape.nz,
            fallout: Sedimentation::SemiLagrangian,
            constants: self.settings().into_iter().filter(|(name, _)| name != "NZ").collect(),
        };
        let mut text = prelude(&configuration);
        let mut set = String::new();
        for (n, name) in names.iter().enumerate() {
            let constant = format!("constexpr int {name} =");
            assert!(text.contains(&constant), "the prelude does not define {name}");
            text = text.replace(&constant, &format!("inline int {name} ="));
            let _ = writeln!(set, "    {name} = values[{n}];");
        }
        let kernels = TRANSPORT.join(", ");
        text + &format!("#define TRANSPORT_KERNELS {kernels}\n")
            + "inline void set_settings(const int* values)\n{\n"
            + &set
            + "}\n"
    }
}

/// Settings that are sizes of arrays.
const SIZES: [&str; 10] = [
    "SUM_THREADS",
    "CELLS",
    "HALO",
    "TILE_ROWS",
    "STAGE_ROWS",
    "STAGE_SMEM_OF_ONE",
    "STAGE_SMEM_OF_TWO",
    "STAGE_LEVEL_NUMBERS",
    "LIMIT_SMEM",
    "LIMIT_LEVEL_NUMBERS",
];

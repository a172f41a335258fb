//! A scheme of a user's own, from outside the crate: columns on the CPU, a kernel as text, and a run on both backends.
#![allow(unsafe_code, reason = "the launcher of a kernel is responsible for its arguments")]

use std::ops::RangeInclusive;

use nwp_mini::advection::Limiter;
use nwp_mini::backend::Backend;
use nwp_mini::backend::cpu::Cpu;
use nwp_mini::backend::gpu::{GpuBackend, GpuConfig};
use nwp_mini::cuda_abi::DevicePointer;
use nwp_mini::device::{
    Branch, Buffer, Element, Gpu, Kernel, KernelSource, Launch, Prelude, Resources,
};
use nwp_mini::error::{Error, Result};
use nwp_mini::grid::gpu::Layout;
use nwp_mini::io::wrf;
use nwp_mini::model::RunInput;
use nwp_mini::physics::device::{DeviceColumns, DeviceGrid, DeviceRun};
use nwp_mini::physics::scheme::{
    About, AdaptedColumns, CpuColumns, Parameter, PhysicsPrecision, Scheme, SchemeIn,
};
use nwp_mini::physics::{Block, ColumnPhysics, Field};
use nwp_mini::real::{Precision, Real};
use nwp_mini::simd::Instructions;
use nwp_mini::state::gpu::device_fields::{ActiveColumns, DeviceFields};
use nwp_mini::state::gpu::member_layout::MemberLayout;
use nwp_mini::state::gpu::step_in_batch::StepInBatch;

use crate::gpu;

const DT: f64 = 60.0;

/// Threads of a block.
const THREADS: usize = 64;

/// Cloud water turns to rain at a rate, s⁻¹, and nothing falls.
#[derive(Clone, Copy, Debug)]
struct Drizzle {
    rate: f64,
}

static ABOUT: About = About {
    parameters: &[Parameter {
        name: "rate",
        description: "rate of autoconversion, s⁻¹",
        units: Some("s-1"),
        bounds: [0.0, 1.0],
        default: 1e-3,
    }],
    ..About::of::<Drizzle>("drizzle", "Drizzle: cloud water and rain", 0)
};

impl Default for Drizzle {
    fn default() -> Self {
        Self { rate: ABOUT.parameters[0].default }
    }
}

impl<R: Real> ColumnPhysics<R> for Drizzle {
    const NAME: &'static str = "Drizzle";
    const TRACERS: &'static [Field] = &[
        Field { name: "qc", units: "kg kg-1", about: "cloud water mixing ratio" },
        Field { name: "qr", units: "kg kg-1", about: "rain mixing ratio" },
    ];
    const AIR: &'static [Field] = &[];
    const SURFACE: &'static [Field] = &[];
    const LEVELS: RangeInclusive<usize> = 1..=256;

    type Work = ();

    fn work(&self, _nz: usize, _instructions: Option<Instructions>) {}

    fn call_block(&self, dt: R, (): &mut (), block: &mut Block<'_, R>) {
        let [qc, qr] = &mut block.tracers[..] else { unreachable!("two tracers") };
        let share = R::of(self.rate) * dt;
        qr.zip_mut_with(qc, |qr, qc| *qr += share * *qc);
        qc.mapv_inplace(|qc| qc - share * qc);
    }
}

impl Scheme for Drizzle {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn boxed(&self) -> Box<dyn Scheme> {
        Box::new(*self)
    }

    fn get(&self, parameter: &str) -> Option<f64> {
        (parameter == "rate").then_some(self.rate)
    }

    fn set(&mut self, parameter: &str, value: f64) -> Result<()> {
        if parameter != "rate" {
            return Err(Error::Usage(format!("Drizzle has no parameter {parameter}")));
        }
        self.rate = value;
        Ok(())
    }

    fn sources(&self, precision: Precision, _at: &DeviceGrid<'_>) -> Vec<KernelSource> {
        vec![source(precision)]
    }
}

impl<R: PhysicsPrecision> SchemeIn<R> for Drizzle {
    fn on_cpu(&self, nz: usize, other: Option<&dyn CpuColumns<R>>) -> Box<dyn CpuColumns<R>> {
        Box::new(AdaptedColumns::new(*self, nz, other))
    }

    fn on_gpu(
        &self,
        gpu: &Gpu,
        run: &DeviceRun<'_, R>,
        _other: Option<&dyn DeviceColumns<R>>,
    ) -> Result<Box<dyn DeviceColumns<R>>> {
        let DeviceGrid { layout, inside, .. } = run.grid.clone();
        let kernel = gpu.module(&source(R::PRECISION))?.kernel("drizzle")?;
        Ok(Box::new(DrizzleColumns {
            rate: R::of(self.rate),
            kernel,
            layout,
            inside,
            member: run.member,
        }))
    }
}

/// The kernel, in the text of which `real` is the working precision.
const TEXT: &str = "\
struct DrizzleArgs {
    real* qc;
    real* qr;
    real share;
    int columns, width, first, pitch, level, levels;
};

extern \"C\" __global__ void drizzle(__grid_constant__ const DrizzleArgs a)
{
    const int number = blockIdx.x * THREADS + threadIdx.x;
    if (number >= a.columns) return;
    const int place = a.first + number / a.width * a.pitch + number % a.width;
    for (int k = 0; k < a.levels; ++k) {
        const int at = k * a.level + place;
        const real rain = a.share * a.qc[at];
        a.qr[at] += rain;
        a.qc[at] -= rain;
    }
}
";

fn source(precision: Precision) -> KernelSource {
    let prelude = Prelude::new(precision).with(&format!("constexpr int THREADS = {THREADS};\n"));
    KernelSource::from_text("drizzle.cu", TEXT.to_owned(), prelude)
}

/// Arguments of the kernel.
#[repr(C)]
struct DrizzleArgs<R> {
    qc: DevicePointer<R>,
    qr: DevicePointer<R>,
    share: R,
    columns: i32,
    width: i32,
    first: i32,
    pitch: i32,
    level: i32,
    levels: i32,
}

#[derive(Debug)]
struct DrizzleColumns<R> {
    rate: R,
    kernel: Kernel,
    layout: Layout,
    inside: ActiveColumns,
    member: MemberLayout,
}

impl<R: Real + Element> DeviceColumns<R> for DrizzleColumns<R> {
    fn call_in(
        &self,
        branch: Branch<'_>,
        turn: StepInBatch,
        place: &DeviceFields<'_, R>,
        dt: f64,
    ) -> Result<()> {
        let Self { layout, inside: ActiveColumns { rows, columns }, .. } = self;
        let fields = place.pointers(*layout, self.member, turn).state;
        let [_, _, qc, qr] = fields[..] else { panic!("the fields of the scheme") };
        let in_memory = layout.places(columns.clone());
        let count = rows.len() * in_memory.len();
        let args = DrizzleArgs {
            qc,
            qr,
            share: self.rate * R::of(dt),
            columns: count as i32,
            width: in_memory.len() as i32,
            first: (rows.start * layout.pitch() + in_memory.start) as i32,
            pitch: layout.pitch() as i32,
            level: layout.columns() as i32,
            levels: layout.shape.nz as i32,
        };
        let grid = [count.div_ceil(THREADS) as u32, 1, 1];
        let launch = Launch { grid, block: [THREADS as u32, 1, 1], shared_bytes: 0 };
        // SAFETY: the kernel takes this struct, and its fields are those of the run.
        unsafe { self.kernel.launch_on(branch, launch, &args) }
    }

    fn call_with_fault(&self, _place: &DeviceFields<'_, R>, _dt: f64) -> Result<()> {
        Err(Error::Gpu("no call of this scheme fails on the device".to_owned()))
    }

    fn diagnose(
        &self,
        _place: &DeviceFields<'_, R>,
        _out: &Buffer<R>,
        _first: usize,
    ) -> Result<()> {
        Ok(())
    }

    fn resources(&self, _dt: f64) -> Result<[Resources; 2]> {
        let resources = self.kernel.resources(THREADS as u32, 0)?;
        Ok([resources, resources])
    }

    fn mapping(&self) -> String {
        format!("column NT{THREADS}")
    }

    fn kernels(&self) -> &'static [&'static str] {
        &["drizzle"]
    }
}

#[test]
fn a_scheme_from_outside_runs_on_both_backends() {
    let Some(gpu) = gpu(true) else { return };
    let (domain, frame) = wrf::read_for(&crate::storm_file(), None, &ABOUT.set()).unwrap();
    let mut case = RunInput::<f32>::new(domain, frame).unwrap();
    let state = case.take_state();
    let moment = case.drive(0.0, DT).unwrap();
    let (grid, coordinate) = (&case.domain.grid, &case.domain.coordinate);
    let limiter = Limiter::PositiveDefinite;
    let mut quick = Drizzle::default();
    quick.set("rate", 1e-2).unwrap();
    let mut rain = Vec::new();
    for scheme in [Drizzle::default(), quick] {
        let setting = GpuConfig {
            grid,
            coordinate,
            limiter,
            scheme: &scheme,
            mapping: None,
            tracers: &ABOUT.set(),
            has_sequence: false,
            chemistry: None,
        };
        let mut on_gpu = GpuBackend::new(&gpu, &setting, &state).unwrap();
        on_gpu.drive(&moment).unwrap();
        let mut on_cpu =
            Cpu::new(grid, coordinate, limiter, &scheme, &moment.before, state.clone());
        for _ in 0..2 {
            on_gpu.step(DT).unwrap();
            on_cpu.step(DT).unwrap();
        }
        let found = on_gpu.state().unwrap();
        for (name, found, expected) in [
            ("qc", found.named("qc"), on_cpu.state().named("qc")),
            ("qr", found.named("qr"), on_cpu.state().named("qr")),
        ] {
            let largest = expected.iter().copied().fold(0.0, f32::max);
            let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(largest > 0.0 && off < 1e-4 * largest, "{name}: {off:e} of {largest:e}");
        }
        rain.push(found.named("qr").sum());
    }
    assert!(rain[1] > rain[0], "{rain:?}");
}

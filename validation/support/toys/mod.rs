//! Toy schemes from outside the crate, with fields that its own schemes do not have: columns on the CPU, kernels as
//! texts, and a place in the registry, so that options name them.
#![allow(unsafe_code, reason = "the launcher of a kernel is responsible for its arguments")]

pub mod drops;
pub mod sleet;

use std::fmt::Debug;
use std::sync::Arc;

use nwp_mini::cuda_abi::{DevicePointer, ReadPointer};
use nwp_mini::device::{
    Branch, Buffer, Element, Gpu, Kernel, KernelSource, Launch, Prelude, Resources,
};
use nwp_mini::dry_mass::gpu::LayeredPointers;
use nwp_mini::error::{Error, Result};
use nwp_mini::grid::gpu::Layout;
use nwp_mini::physics::ColumnPhysics;
use nwp_mini::physics::device::{DeviceColumns, DeviceGrid, DeviceRun};
use nwp_mini::physics::registry;
use nwp_mini::physics::scheme::{
    About, AdaptedColumns, CpuColumns, PhysicsPrecision, Scheme, SchemeIn,
};
use nwp_mini::real::{Precision, Real};
use nwp_mini::state::gpu::device_fields::{ActiveColumns, DeviceFields};
use nwp_mini::state::gpu::member_layout::MemberLayout;
use nwp_mini::state::gpu::step_in_batch::StepInBatch;

/// Adds the toy schemes to the registry.
pub fn register() {
    registry::add(Box::new(Adapter(sleet::Sleet::default())));
    registry::add(Box::new(Adapter(drops::Drops::default())));
}

/// A toy scheme: a rate, and the text of a kernel for a call and of one for the diagnosis.
pub trait Toy:
    ColumnPhysics<f32, Work = ()> + ColumnPhysics<f64, Work = ()> + Copy + Debug + Send + 'static
{
    /// Its description; its only parameter is the rate.
    fn about() -> &'static About;
    /// Its kernels `NAME_call` and `NAME_diagnose`, after [`ARGUMENTS`].
    const TEXT: &'static str;
    /// Names of its kernels.
    const KERNELS: [&'static str; 2];

    /// Its rate, s⁻¹.
    fn rate(&self) -> f64;

    /// The same with another rate.
    #[must_use]
    fn with_rate(self, rate: f64) -> Self;
}

/// A toy scheme as the object that a run holds.
#[derive(Clone, Copy, Debug)]
pub struct Adapter<T>(pub T);

impl<T: Toy> Scheme for Adapter<T> {
    fn about(&self) -> &'static About {
        T::about()
    }

    fn boxed(&self) -> Box<dyn Scheme> {
        Box::new(*self)
    }

    fn get(&self, parameter: &str) -> Option<f64> {
        (parameter == T::about().parameters[0].name).then(|| self.0.rate())
    }

    fn set(&mut self, parameter: &str, value: f64) -> Result<()> {
        if self.get(parameter).is_none() {
            return Err(Error::Usage(format!("no parameter {parameter}")));
        }
        self.0 = self.0.with_rate(value);
        Ok(())
    }

    fn sources(&self, precision: Precision, _at: &DeviceGrid<'_>) -> Vec<KernelSource> {
        vec![source::<T>(precision)]
    }
}

impl<R, T> SchemeIn<R> for Adapter<T>
where
    R: PhysicsPrecision,
    T: Toy + ColumnPhysics<R, Work = ()>,
{
    fn on_cpu(&self, nz: usize, other: Option<&dyn CpuColumns<R>>) -> Box<dyn CpuColumns<R>> {
        Box::new(AdaptedColumns::new(self.0, nz, other))
    }

    fn on_gpu(
        &self,
        gpu: &Gpu,
        run: &DeviceRun<'_, R>,
        _other: Option<&dyn DeviceColumns<R>>,
    ) -> Result<Box<dyn DeviceColumns<R>>> {
        let DeviceGrid { layout, inside, .. } = run.grid.clone();
        let module = gpu.module(&source::<T>(R::PRECISION))?;
        let [call, diagnosis] = T::KERNELS;
        let (mass, area) = run.masses.unzip();
        let per_area = area.map(|area| {
            let per_area: Vec<R> = area.iter().map(|area| R::of(1.0 / area)).collect();
            gpu.upload(&layout.padded(&per_area)).map(Arc::new)
        });
        Ok(Box::new(ToyColumns {
            rate: R::of(self.0.rate()),
            call: module.kernel(call)?,
            diagnosis: module.kernel(diagnosis)?,
            mass: mass.unwrap_or_default(),
            per_area: per_area.transpose()?,
            layout,
            inside,
            member: run.member,
        }))
    }
}

/// Threads of a block.
const THREADS: usize = 64;

/// The arguments of the kernels, in the text of which `real` is the working precision.
pub const ARGUMENTS: &str = "\
struct LayeredPointers {
    const real *with_mu, *without_mu, *c1, *c2, *least;
};

#include \"dry_mass/mismatch.cuh\"
#include \"primitives/layered.cuh\"

struct ToyArgs {
    real* state[6];
    const real* air[5];
    real* planes[4];
    real* terms[4];
    real* out;
    LayeredPointers mass;
    const real* per_area;
    real share;
    int columns, width, first, pitch, level, levels;
};
";

fn source<T: Toy>(precision: Precision) -> KernelSource {
    let prelude = Prelude::new(precision).with(&format!("constexpr int THREADS = {THREADS};\n"));
    KernelSource::from_text("toy.cu", format!("{ARGUMENTS}{}", T::TEXT), prelude)
}

/// Arguments of the kernels.
#[repr(C)]
struct ToyArgs<R> {
    state: [DevicePointer<R>; 6],
    air: [ReadPointer<R>; 5],
    planes: [DevicePointer<R>; 4],
    terms: [DevicePointer<R>; 4],
    out: DevicePointer<R>,
    mass: LayeredPointers<R>,
    per_area: ReadPointer<R>,
    share: R,
    columns: i32,
    width: i32,
    first: i32,
    pitch: i32,
    level: i32,
    levels: i32,
}

#[derive(Debug)]
struct ToyColumns<R> {
    rate: R,
    call: Kernel,
    diagnosis: Kernel,
    mass: LayeredPointers<R>,
    per_area: Option<Arc<Buffer<R>>>,
    layout: Layout,
    inside: ActiveColumns,
    member: MemberLayout,
}

/// The first pointers of a list; null behind them.
fn padded<P: Copy + Default, const N: usize>(pointers: &[P]) -> [P; N] {
    std::array::from_fn(|n| pointers.get(n).copied().unwrap_or_default())
}

impl<R: Real + Element> ToyColumns<R> {
    fn launch(
        &self,
        (kernel, branch): (&Kernel, Branch<'_>),
        inside: &ActiveColumns,
        (place, turn): (&DeviceFields<'_, R>, StepInBatch),
        (share, out): (R, DevicePointer<R>),
    ) -> Result<()> {
        let (layout, ActiveColumns { rows, columns }) = (self.layout, inside);
        let fields = place.pointers(layout, self.member, turn);
        let in_memory = layout.places(columns.clone());
        let count = rows.len() * in_memory.len();
        let per_area = self.per_area.as_ref().map(|plane| plane.pointer().read());
        let args = ToyArgs {
            state: padded(&fields.state),
            air: padded(&fields.air),
            planes: padded(&fields.planes),
            terms: fields.terms,
            out,
            mass: self.mass,
            per_area: per_area.unwrap_or_default(),
            share,
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
        unsafe { kernel.launch_on(branch, launch, &args) }
    }
}

impl<R: Real + Element> DeviceColumns<R> for ToyColumns<R> {
    fn call_in(
        &self,
        branch: Branch<'_>,
        turn: StepInBatch,
        place: &DeviceFields<'_, R>,
        dt: f64,
    ) -> Result<()> {
        let share = self.rate * R::of(dt);
        let nothing = DevicePointer::default();
        self.launch((&self.call, branch), &self.inside, (place, turn), (share, nothing))
    }

    fn call_with_fault(&self, _place: &DeviceFields<'_, R>, _dt: f64) -> Result<()> {
        Err(Error::Gpu("no call of this scheme fails on the device".to_owned()))
    }

    fn diagnose(&self, place: &DeviceFields<'_, R>, out: &Buffer<R>, first: usize) -> Result<()> {
        let all = ActiveColumns::all(self.layout.shape);
        let (branch, turn) = (Branch::TRUNK, StepInBatch::ALONE);
        let out = (R::ZERO, out.pointer_to(first));
        self.launch((&self.diagnosis, branch), &all, (place, turn), out)
    }

    fn resources(&self, _dt: f64) -> Result<[Resources; 2]> {
        let of = |kernel: &Kernel| kernel.resources(THREADS as u32, 0);
        Ok([of(&self.call)?, of(&self.diagnosis)?])
    }

    fn mapping(&self) -> String {
        format!("column NT{THREADS}")
    }

    fn kernels(&self) -> &'static [&'static str] {
        // None has a number, as none tells of values that are not finite.
        &[]
    }
}

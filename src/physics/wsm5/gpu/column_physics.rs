//! Such a scheme on a device as any scheme of column physics has it.

use std::array;
use std::ops::RangeInclusive;

use super::kernels;
use super::launch::{
    ActiveColumns, DeviceFields, FieldPointers, MicrophysicsGpu, MicrophysicsKernels, planes_of,
};
use super::{DEVICE_LEVELS, KernelVariant, Mapping};
use crate::device::{Branch, Buffer, Element, Gpu, KernelSource};
use crate::error::Result;
use crate::grid::Shape;
use crate::grid::gpu::Layout;
use crate::physics::device::{ColumnLayout, DeviceArrays, DevicePhysics, Launcher, SeparateArrays};
use crate::physics::wsm5::reflectivity::RadarConstants;
use crate::physics::wsm5::scheme::Scheme;
use crate::physics::wsm5::{Sedimentation, Vectorised};
use crate::real::Precision;
use crate::state::gpu::step_in_batch::StepInBatch;

/// The compiled kernels for some columns, and planes for the water budget, which are not read.
#[derive(Debug)]
pub struct MicrophysicsLauncher<R: RadarConstants, S: MicrophysicsKernels<R>> {
    launcher: MicrophysicsGpu<R, S>,
    /// The same for fields in arrays of their own.
    apart: MicrophysicsGpu<R, S>,
    ground: Buffer<R>,
    nz: usize,
    places: ColumnLayout,
}

impl<R: Vectorised + Element> DevicePhysics<R> for Scheme<R> {
    const DEVICE_LEVELS: RangeInclusive<usize> = DEVICE_LEVELS;

    type Launcher = MicrophysicsLauncher<R, Self>;
    type Mapping = Mapping;

    fn sources(precision: Precision, nz: usize) -> Vec<(KernelSource, &'static str)> {
        let call =
            |fallout| kernels::source(precision, nz, fallout, Mapping::Column, KernelVariant::RUN);
        vec![
            (call(Sedimentation::SemiLagrangian), ""),
            (call(Sedimentation::Substepped), "sub-steps"),
        ]
    }

    fn launcher(
        &self,
        gpu: &Gpu,
        nz: usize,
        places: ColumnLayout,
        theta_base: R,
        mapping: Option<Mapping>,
    ) -> Result<Self::Launcher> {
        MicrophysicsLauncher::new(gpu, self.clone(), (nz, places), theta_base, mapping)
    }
}

impl<R: RadarConstants + Element, S: MicrophysicsKernels<R>> MicrophysicsLauncher<R, S> {
    /// Compiles the kernels for columns of `nz` levels; `theta_base` is the potential temperature minus the first tracer.
    /// Without a mapping the fastest is taken.
    ///
    /// # Errors
    ///
    /// As [`MicrophysicsGpu::new`].
    pub fn new(
        gpu: &Gpu,
        scheme: S,
        (nz, places): (usize, ColumnLayout),
        theta_base: R,
        mapping: Option<Mapping>,
    ) -> Result<Self> {
        let ColumnLayout { width, rows, first, pitch, level } = places;
        // The whole of the memory, of which the scheme acts in these columns.
        let shape = Shape { nx: pitch, ny: level / pitch, nz };
        let [j, i] = [first / pitch, first % pitch];
        let inside = ActiveColumns { rows: j..j + rows, columns: i..i + width };
        let mapping = mapping.unwrap_or_else(|| {
            Mapping::for_device(gpu, places.columns(), R::PRECISION, scheme.mappings(), nz)
        });
        let layout = Layout::tight(shape);
        let launcher = MicrophysicsGpu::new(gpu, layout, inside, scheme, mapping, theta_base)?;
        let apart = launcher.for_separate_arrays();
        let ground = gpu.zeros(planes_of(S::SURFACE.len(), 1) * level)?;
        Ok(Self { launcher, apart, ground, nz, places })
    }

    fn place<'a>(&'a self, memory: &DeviceArrays<'a, R>) -> DeviceFields<'a, R> {
        DeviceFields { state: memory.tracers, air: memory.air, surface: &self.ground }
    }
}

impl<R: RadarConstants + Element, S: MicrophysicsKernels<R>> Launcher<R>
    for MicrophysicsLauncher<R, S>
{
    fn call(&self, memory: &DeviceArrays<'_, R>, dt: f64) -> Result<()> {
        let fields = self.launcher.pointers(&self.place(memory), memory.surface);
        self.launcher.call_on(Branch::TRUNK, StepInBatch::ALONE, &fields, dt)
    }

    fn call_in_place(
        &self,
        branch: Branch<'_>,
        fields: &SeparateArrays<'_, R>,
        dt: f64,
    ) -> Result<()> {
        fields.check::<S>(self.nz, self.places);
        let SeparateArrays { tracers, air, surface } = fields;
        // The terms of the water budget go to planes that nobody reads.
        let unread = |term: usize| self.ground.pointer_to(term * self.places.level);
        let pointers = FieldPointers {
            state: tracers.iter().map(Buffer::pointer).collect(),
            air: air.iter().map(|field| field.pointer().read()).collect(),
            planes: surface.iter().map(Buffer::pointer).collect(),
            terms: array::from_fn(unread),
        };
        self.apart.call_on(branch, StepInBatch::ALONE, &pointers, dt)
    }

    fn diagnose(&self, memory: &DeviceArrays<'_, R>, out: &Buffer<R>) -> Result<()> {
        self.launcher.diagnose(&self.place(memory), out, 0)
    }

    fn mapping(&self) -> String {
        self.launcher.mapping().to_string()
    }
}

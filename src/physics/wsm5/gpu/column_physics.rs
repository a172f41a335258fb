//! WSM5 on a device as any scheme of column physics has it.

use std::array;
use std::ops::RangeInclusive;

use super::launch::{self, ActiveColumns, DeviceFields, FieldPointers, Wsm5Gpu, planes_of};
use super::{DEVICE_LEVELS, KernelVariant, Mapping, Wsm5Args};
use crate::device::{Branch, Buffer, Element, Gpu, KernelSource};
use crate::error::Result;
use crate::grid::Shape;
use crate::grid::gpu::Layout;
use crate::physics::device::{ColumnLayout, DeviceArrays, DevicePhysics, Launcher, SeparateArrays};
use crate::physics::wsm5::scheme::Scheme;
use crate::physics::wsm5::{Sedimentation, Vectorised};
use crate::physics::{ColumnPhysics, check_length};
use crate::real::Precision;
use crate::state::gpu::step_in_batch::StepInBatch;

/// The compiled kernels for some columns, and planes for the water budget, which are not read.
#[derive(Debug)]
pub struct Wsm5Launcher<R> {
    launcher: Wsm5Gpu<R>,
    /// The same for fields in arrays of their own.
    apart: Wsm5Gpu<R>,
    ground: Buffer<R>,
    nz: usize,
    places: ColumnLayout,
}

impl<R: Vectorised + Element> DevicePhysics<R> for Scheme<R> {
    const DEVICE_LEVELS: RangeInclusive<usize> = DEVICE_LEVELS;

    type Launcher = Wsm5Launcher<R>;
    type Mapping = Mapping;

    fn sources(precision: Precision, nz: usize) -> Vec<(KernelSource, &'static str)> {
        let call =
            |fallout| launch::source(precision, nz, fallout, Mapping::Column, KernelVariant::RUN);
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
    ) -> Result<Wsm5Launcher<R>> {
        let ColumnLayout { width, rows, first, pitch, level } = places;
        // The whole of the memory, of which the scheme acts in these columns.
        let shape = Shape { nx: pitch, ny: level / pitch, nz };
        let [j, i] = [first / pitch, first % pitch];
        let inside = ActiveColumns { rows: j..j + rows, columns: i..i + width };
        let mapping = mapping.unwrap_or_else(|| {
            Mapping::for_device(gpu, places.columns(), R::PRECISION, self.fallout, nz)
        });
        let layout = Layout::tight(shape);
        let launcher = Wsm5Gpu::new(gpu, layout, inside, self.clone(), mapping, theta_base)?;
        let apart = launcher.for_separate_arrays();
        let planes = planes_of(<Self as ColumnPhysics<R>>::SURFACE.len(), 1);
        Ok(Wsm5Launcher { launcher, apart, ground: gpu.zeros(planes * level)?, nz, places })
    }
}

impl<R: Vectorised + Element> Wsm5Launcher<R> {
    fn place<'a>(&'a self, memory: &DeviceArrays<'a, R>) -> DeviceFields<'a, R> {
        DeviceFields { state: memory.tracers, air: memory.air, surface: &self.ground }
    }
}

impl<R: Vectorised + Element> Launcher<R> for Wsm5Launcher<R> {
    fn call(&self, memory: &DeviceArrays<'_, R>, dt: f64) -> Result<()> {
        check_length(R::of(dt))?;
        let planes = <Scheme<R> as ColumnPhysics<R>>::SURFACE.len();
        let columns = self.places.level;
        assert!(memory.surface.len() >= planes * columns, "all planes of the ground");
        let plane = |number: usize| memory.surface.pointer_to(number * columns);
        let args = Wsm5Args {
            rain: plane(0),
            rainncv: plane(1),
            snow: plane(2),
            snowncv: plane(3),
            sr: plane(4),
            ..self.launcher.args_of_call(StepInBatch::ALONE, &self.place(memory), R::of(dt))
        };
        self.launcher.launch(Branch::TRUNK, &args)
    }

    fn call_in_place(
        &self,
        branch: Branch<'_>,
        fields: &SeparateArrays<'_, R>,
        dt: f64,
    ) -> Result<()> {
        check_length(R::of(dt))?;
        fields.check::<Scheme<R>>(self.nz, self.places);
        let SeparateArrays { tracers, air, surface } = fields;
        // The terms of the water budget go to planes that nobody reads.
        let unread = |term: usize| self.ground.pointer_to(term * self.places.level);
        let pointers = FieldPointers {
            state: tracers.iter().map(Buffer::pointer).collect(),
            air: air.iter().map(|field| field.pointer().read()).collect(),
            planes: surface.iter().map(Buffer::pointer).collect(),
            terms: array::from_fn(unread),
        };
        let args = self.apart.args_in_place(&pointers, R::of(dt));
        self.apart.launch(branch, &args)
    }

    fn diagnose(&self, memory: &DeviceArrays<'_, R>, out: &Buffer<R>) -> Result<()> {
        self.launcher.diagnose(&self.place(memory), out, 0)
    }

    fn mapping(&self) -> String {
        self.launcher.mapping().to_string()
    }
}

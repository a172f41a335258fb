//! Forcing of the steps, on the device: two frames of the input and the interpolation between them.
//!
//! Every function here that can fail does so with [`Error::Gpu`](crate::error::Error::Gpu) alone.

#![expect(clippy::missing_errors_doc, reason = "the documentation of the module has them")]
#![allow(unsafe_code, reason = "the launcher of a kernel is responsible for its arguments")]

pub mod arguments;

use crate::device::{Buffer, Element, Gpu, Kernel, KernelSource, Launch, structs};
use crate::error::Result;
use crate::forcing::gpu::arguments::{BlendArgs, CloseArgs, WeightArgs};
use crate::forcing::{Continuity, Forcing};
use crate::grid::Shape;
use crate::grid::gpu::Layout;
use crate::real::{Precision, Real};
use crate::state::Environment;
use crate::state::gpu::prelude;

/// Threads of a block.
const THREADS: u32 = 256;

/// Indices of the two weights.
const FLUX_WEIGHT: usize = 0;
const AIR_WEIGHT: usize = 1;
const WEIGHTS: usize = 2;

/// The kernels for a precision and a number of levels.
pub fn source(precision: Precision, nz: usize) -> KernelSource {
    let settings = [
        ("FORCING_THREADS", THREADS as i32),
        ("FLUX_WEIGHT", FLUX_WEIGHT as i32),
        ("AIR_WEIGHT", AIR_WEIGHT as i32),
    ];
    let prelude = prelude::grid(precision, nz)
        .with(&structs!(precision; BlendArgs, WeightArgs, CloseArgs))
        .with_settings(&settings);
    KernelSource::new("forcing.cu", prelude)
}

/// Forcing of a step without the air: one array for each kind.
#[derive(Debug)]
pub struct DeviceForcing<R> {
    /// Mass fluxes through the x-, y- and z-faces, kg s⁻¹. Shapes: (nz, ny, nx + 1), (nz, ny + 1, nx),
    /// (nz + 1, ny, nx), rows as [`Layout`] has them.
    pub flux: [Buffer<R>; 3],
    /// Boundary values: for each field on the device west, east, south, north, contiguous. NaN stands for the value of
    /// the neighbour inside.
    pub inflow: Buffer<R>,
    layout: Layout,
    /// Index of the tracer of each field.
    order: Vec<usize>,
}

/// Lengths of the arrays.
struct Lengths {
    /// Of the fluxes in each direction.
    fluxes: [usize; 3],
    /// Of the boundary values of one field.
    inflow: usize,
}

impl Lengths {
    fn of(layout: Layout) -> Self {
        let Shape { nx, ny, nz } = layout.shape;
        Self { fluxes: layout.faces(), inflow: 2 * nz * (nx + ny) }
    }
}

const WHOLE: &str = "arrays are in standard layout";

/// Uploads the fields of the air of a frame, contiguous, in rows as in `layout`.
pub(crate) fn upload_air<R: Real + Element>(
    air: &Environment<R>,
    to: &Buffer<R>,
    layout: Layout,
) -> Result<()> {
    for (number, from) in air.fields().enumerate() {
        layout.upload(from.as_slice().expect(WHOLE), to, number * layout.cells())?;
    }
    Ok(())
}

impl<R: Real + Element> DeviceForcing<R> {
    /// Device memory for a number of fields, bytes.
    pub fn bytes(layout: Layout, fields: usize) -> usize {
        let Lengths { fluxes: flux, inflow, .. } = Lengths::of(layout);
        (flux.iter().sum::<usize>() + fields * inflow) * size_of::<R>()
    }

    /// Allocates the forcing of a step; `order` has the index of the tracer of each field.
    pub fn new(gpu: &Gpu, layout: Layout, order: &[usize]) -> Result<Self> {
        let frame = Self::of_frame(gpu, layout, order)?;
        let [x, y, _] = frame.flux;
        let z = gpu.zeros(layout.faces()[2])?;
        Ok(Self { flux: [x, y, z], ..frame })
    }

    /// The same without the vertical fluxes, which follow from the others by continuity.
    fn of_frame(gpu: &Gpu, layout: Layout, order: &[usize]) -> Result<Self> {
        let Lengths { fluxes: [x, y, _], inflow, .. } = Lengths::of(layout);
        let flux = [gpu.zeros(x)?, gpu.zeros(y)?, gpu.zeros(0)?];
        let inflow = gpu.zeros(order.len() * inflow)?;
        Ok(Self { flux, inflow, layout, order: order.to_vec() })
    }

    /// Uploads the prescribed fields of a frame of the input that have arrays here.
    ///
    /// # Panics
    ///
    /// When the shapes differ.
    pub fn upload(&self, forcing: &Forcing<R>) -> Result<()> {
        let [x, y, z] = &self.flux;
        let [from_x, from_y, from_z] = [&forcing.flux.x, &forcing.flux.y, &forcing.flux.z]
            .map(|flux| flux.as_slice().expect(WHOLE));
        self.layout.upload_x_faces(from_x, x, 0)?;
        self.layout.upload(from_y, y, 0)?;
        if !z.is_empty() {
            self.layout.upload(from_z, z, 0)?;
        }
        let each = Lengths::of(self.layout).inflow;
        for (place, tracer) in self.order.iter().enumerate() {
            let mut first = place * each;
            let Some(values) = &forcing.inflow[*tracer] else {
                self.inflow.upload_to(first, &vec![R::nan(); each])?;
                continue;
            };
            for side in values.sides() {
                self.inflow.upload_to(first, side.as_slice().expect(WHOLE))?;
                first += side.len();
            }
        }
        Ok(())
    }
}

/// Interpolation between two frames.
///
/// The weights are kept on the device, so that the kernels can be part of a graph.
#[derive(Debug)]
pub struct ForcingInterpolator<R> {
    gpu: Gpu,
    set_weights: Kernel,
    blend: Kernel,
    close: Kernel,
    driving: [DeviceForcing<R>; 2],
    air: [Buffer<R>; 2],
    weights: Buffer<R>,
    mu: Buffer<f64>,
    below: [Buffer<f64>; 2],
    layout: Layout,
}

impl<R: Real + Element> ForcingInterpolator<R> {
    /// Device memory for a number of fields and of fields of the air, bytes.
    pub fn bytes(layout: Layout, (fields, air): (usize, usize)) -> usize {
        let Lengths { fluxes: [_, _, z], .. } = Lengths::of(layout);
        let air = air * layout.cells();
        let frame = DeviceForcing::<R>::bytes(layout, fields) + (air - z) * size_of::<R>();
        2 * frame + 8 * (layout.columns() + 2 * (layout.shape.nz + 1))
    }

    /// Compiles the kernels and allocates two frames for the fields of `order`, as [`DeviceForcing::new`], and of as
    /// many fields of the air.
    ///
    /// # Panics
    ///
    /// When the continuity belongs to another grid.
    pub fn new(
        gpu: &Gpu,
        layout: Layout,
        continuity: &Continuity,
        (order, air): (&[usize], usize),
    ) -> Result<Self> {
        let module = gpu.module(&source(R::PRECISION, layout.shape.nz))?;
        let [c1, c2] = continuity.below();
        let air = air * layout.cells();
        Ok(Self {
            gpu: gpu.clone(),
            set_weights: module.kernel("forcing_weights")?,
            blend: module.kernel("forcing_blend")?,
            close: module.kernel("forcing_close_acc64")?,
            driving: [
                DeviceForcing::of_frame(gpu, layout, order)?,
                DeviceForcing::of_frame(gpu, layout, order)?,
            ],
            air: [gpu.zeros(air)?, gpu.zeros(air)?],
            weights: gpu.zeros(WEIGHTS)?,
            mu: gpu.upload(&layout.padded(continuity.mu().as_slice().expect(WHOLE)))?,
            below: [gpu.upload(c1)?, gpu.upload(c2)?],
            layout,
        })
    }

    /// Uploads the frames before and after the current time.
    pub fn upload(&self, before: &Forcing<R>, after: &Forcing<R>) -> Result<()> {
        // Kernels of earlier steps may still read the old frames.
        self.gpu.synchronize()?;
        for (number, forcing) in [before, after].into_iter().enumerate() {
            self.driving[number].upload(forcing)?;
            upload_air(&forcing.environment, &self.air[number], self.layout)?;
        }
        Ok(())
    }

    /// Sets the weights of the later frame: for the fluxes, and for the air and the boundary values, 0 to 1.
    pub fn set_weights(&self, flux: f64, air: f64) -> Result<()> {
        let kept = self.weights.pointer();
        let args = WeightArgs { kept, flux: R::of(flux), air: R::of(air) };
        // SAFETY: the array has both elements, and memory is freed only after the device is done.
        unsafe { self.set_weights.launch(Launch::new([1, 1], 1), &args) }
    }

    /// Sets the forcing of a step without the air, as [`Forcing::set`] does.
    pub fn drive(&self, out: &DeviceForcing<R>) -> Result<()> {
        let [before, after] = &self.driving;
        for axis in 0..2 {
            self.blend(&out.flux[axis], [&before.flux[axis], &after.flux[axis]], FLUX_WEIGHT)?;
        }
        self.close(out)?;
        self.blend(&out.inflow, [&before.inflow, &after.inflow], AIR_WEIGHT)
    }

    /// Sets the air, in the first elements of `out`.
    pub fn air(&self, out: &Buffer<R>) -> Result<()> {
        let [before, after] = &self.air;
        self.blend(out, [before, after], AIR_WEIGHT)
    }

    fn blend(
        &self,
        out: &Buffer<R>,
        [before, after]: [&Buffer<R>; 2],
        weight: usize,
    ) -> Result<()> {
        let count = before.len();
        assert!(after.len() == count && out.len() >= count, "fields of one shape");
        let args = BlendArgs {
            out: out.pointer(),
            before: before.pointer().read(),
            after: after.pointer().read(),
            count: count as i64,
            weight: self.weights.pointer_to(weight).read(),
        };
        // SAFETY: the three arrays have `count` elements, and outlive the queued work, since memory is freed only after
        // the device is done with it.
        unsafe { self.blend.launch(Launch::flat(count, THREADS), &args) }
    }

    fn close(&self, out: &DeviceForcing<R>) -> Result<()> {
        let (layout, [x, y, z]) = (self.layout, &out.flux);
        let args = CloseArgs {
            x: x.pointer().read(),
            y: y.pointer().read(),
            z: z.pointer(),
            mu: self.mu.pointer().read(),
            c1_below: self.below[0].pointer().read(),
            c2_below: self.below[1].pointer().read(),
            pitch: layout.pitch() as i32,
            face_pitch: layout.face_pitch() as i32,
            ny: layout.shape.ny as i32,
            filler: 0,
        };
        // SAFETY: the arrays have the layout of the grid, and outlive the queued work.
        unsafe { self.close.launch(Launch::flat(layout.columns(), THREADS), &args) }
    }
}

//! What drives the steps, on the device: two frames of the input and what lies between them.

use super::arguments::{BlendArgs, CloseArgs};
use super::buffer::{Buffer, Element};
use super::compile::Source;
use super::device::Gpu;
use super::kernel::{Kernel, Launch};
use crate::error::Result;
use crate::forcing::{Continuity, Forcing};
use crate::grid::Shape;
use crate::real::{Precision, Real};

/// Threads of a block.
const THREADS: u32 = 256;

/// The kernels for a precision and a number of levels.
pub fn source(precision: Precision, nz: usize) -> Source {
    Source::new("forcing.cu", precision, nz, &[("FORCING_THREADS", THREADS as i32)])
}

/// What a frame prescribes, one array for each kind.
#[derive(Debug)]
pub struct Frame<R> {
    /// Mass fluxes through the faces of one direction each.
    pub flux: [Buffer<R>; 3],
    /// rho, exner, p, dz one after the other. Shape: (4, nz, ny, nx).
    pub air: Buffer<R>,
    /// Values at the sides, for each field west, east, south, north one after the other.
    pub inflow: Buffer<R>,
}

/// Fields of the air in [`Frame::air`].
pub const AIR_FIELDS: usize = 4;

/// Elements of the arrays of a [`Frame`]: the fluxes, the air, the values at the sides.
fn lengths(shape: Shape) -> ([usize; 3], usize, usize) {
    let Shape { nx, ny, nz } = shape;
    let flux = [nz * ny * (nx + 1), nz * (ny + 1) * nx, (nz + 1) * ny * nx];
    (flux, AIR_FIELDS * shape.cells(), 6 * 2 * nz * (nx + ny))
}

impl<R: Real + Element> Frame<R> {
    /// Bytes of device memory that one takes.
    pub fn bytes(shape: Shape) -> usize {
        let (flux, air, inflow) = lengths(shape);
        (flux.iter().sum::<usize>() + air + inflow) * size_of::<R>()
    }

    /// Room for a frame.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below.
    pub fn new(gpu: &Gpu, shape: Shape) -> Result<Self> {
        let ([x, y, z], air, inflow) = lengths(shape);
        Ok(Self {
            flux: [gpu.zeros(x)?, gpu.zeros(y)?, gpu.zeros(z)?],
            air: gpu.zeros(air)?,
            inflow: gpu.zeros(inflow)?,
        })
    }

    /// Copies what a frame of the input prescribes.
    ///
    /// # Errors
    ///
    /// As [`Frame::new`].
    ///
    /// # Panics
    ///
    /// When the shapes differ.
    pub fn upload(&self, forcing: &Forcing<R>) -> Result<()> {
        let whole = "arrays are in standard layout";
        let flux = &forcing.flux;
        for (to, from) in self.flux.iter().zip([&flux.x, &flux.y, &flux.z]) {
            to.upload(from.as_slice().expect(whole))?;
        }
        let air = &forcing.environment;
        for (number, from) in [&air.rho, &air.exner, &air.p, &air.dz].into_iter().enumerate() {
            self.air.upload_to(number * from.len(), from.as_slice().expect(whole))?;
        }
        let mut first = 0;
        for values in &forcing.inflow {
            for side in [&values.west, &values.east, &values.south, &values.north] {
                self.inflow.upload_to(first, side.as_slice().expect(whole))?;
                first += side.len();
            }
        }
        Ok(())
    }
}

/// Makes what lies between two frames.
#[derive(Debug)]
pub struct Between<R> {
    gpu: Gpu,
    blend: Kernel,
    close: Kernel,
    frames: [Frame<R>; 2],
    mu: Buffer<f64>,
    below: [Buffer<f64>; 2],
    shape: Shape,
}

impl<R: Real + Element> Between<R> {
    /// Bytes of device memory that it takes.
    pub fn bytes(shape: Shape) -> usize {
        2 * Frame::<R>::bytes(shape) + 8 * (shape.nx * shape.ny + 2 * (shape.nz + 1))
    }

    /// Compiles the kernels and makes room for two frames.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below.
    pub fn new(gpu: &Gpu, shape: Shape, continuity: &Continuity) -> Result<Self> {
        let module = gpu.module(&source(R::PRECISION, shape.nz))?;
        let [c1, c2] = continuity.below();
        Ok(Self {
            gpu: gpu.clone(),
            blend: module.kernel("forcing_blend")?,
            close: module.kernel("forcing_close_acc64")?,
            frames: [Frame::new(gpu, shape)?, Frame::new(gpu, shape)?],
            mu: gpu.upload(continuity.mu().as_slice().expect("a plane in standard layout"))?,
            below: [gpu.upload(c1)?, gpu.upload(c2)?],
            shape,
        })
    }

    /// Takes the frames before and after the present time.
    ///
    /// # Errors
    ///
    /// As [`Between::new`].
    pub fn upload(&self, before: &Forcing<R>, after: &Forcing<R>) -> Result<()> {
        // Kernels of earlier steps may still read them.
        self.gpu.synchronize()?;
        self.frames[0].upload(before)?;
        self.frames[1].upload(after)
    }

    /// Sets all that drives a step, as [`Forcing::set`] does.
    ///
    /// # Errors
    ///
    /// As [`Between::new`].
    pub fn set(&self, out: &Frame<R>, flux_weight: f64, air_weight: f64) -> Result<()> {
        let [before, after] = &self.frames;
        for axis in 0..2 {
            self.blend(&out.flux[axis], [&before.flux[axis], &after.flux[axis]], flux_weight)?;
        }
        self.close(out)?;
        self.blend(&out.inflow, [&before.inflow, &after.inflow], air_weight)?;
        self.set_air(out, air_weight)
    }

    /// Sets the air alone.
    ///
    /// # Errors
    ///
    /// As [`Between::new`].
    pub fn set_air(&self, out: &Frame<R>, weight: f64) -> Result<()> {
        let [before, after] = &self.frames;
        self.blend(&out.air, [&before.air, &after.air], weight)
    }

    fn blend(&self, out: &Buffer<R>, frames: [&Buffer<R>; 2], weight: f64) -> Result<()> {
        assert!(frames.iter().all(|frame| frame.len() == out.len()), "fields of one shape");
        let args = BlendArgs {
            out: out.pointer(),
            before: frames[0].pointer().read(),
            after: frames[1].pointer().read(),
            count: out.len() as i64,
            weight: R::of(weight),
            filler: R::ZERO,
        };
        // SAFETY: the three arrays have `count` elements, and outlive what is asked for, since
        // memory is freed only when the device is done with it.
        unsafe { self.blend.launch(Launch::flat(out.len(), THREADS), &args) }
    }

    fn close(&self, out: &Frame<R>) -> Result<()> {
        let Shape { nx, ny, .. } = self.shape;
        let [x, y, z] = &out.flux;
        let args = CloseArgs {
            x: x.pointer().read(),
            y: y.pointer().read(),
            z: z.pointer(),
            mu: self.mu.pointer().read(),
            c1_below: self.below[0].pointer().read(),
            c2_below: self.below[1].pointer().read(),
            nx: nx as i32,
            ny: ny as i32,
        };
        // SAFETY: the arrays have the shapes of the grid, and outlive what is asked for.
        unsafe { self.close.launch(Launch::flat(nx * ny, THREADS), &args) }
    }
}

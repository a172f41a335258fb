//! Passive tracers on the device: their sums, and their decay.

use std::ops::Range;

use crate::cuda_abi::{DevicePointer, shared_struct};
use crate::device::structs;
use crate::device::{Buffer, Element, Gpu, Kernel, KernelSource, Launch};
use crate::dry_mass::gpu::LayeredPointers;
use crate::error::Result;
use crate::grid::gpu::Layout;
use crate::real::{Precision, Real};
use crate::state::gpu::budget_region::BudgetRegion;
use crate::state::gpu::prelude;

/// Threads of a block that sums.
const THREADS: u32 = 256;
/// Most blocks that share the rows of a level.
const MOST_BLOCKS: usize = 64;

shared_struct! {
    /// Arguments of the kernels of passive tracers.
    #[derive(Default)]
    pub struct PassiveArgs<R> {
        /// The tracer, (k, j, i).
        tracer: DevicePointer<R>, "1";
        /// Mass of the cells.
        mass: LayeredPointers<R>, "kg";
        /// Partial sums by level and block.
        sums: DevicePointer<f64>, "kg";
        /// Change of the amount in a step, relative to it: the remaining part, less 1.
        change: f64, "1";
        /// Factor of decay.
        left: R, "1";
        /// Padding, so that the next member is aligned in both precisions.
        filler: R, "1";
        /// Region of the sums.
        region: BudgetRegion, "1";
    }
}

/// The kernels for a precision and a number of levels.
pub fn source(precision: Precision, nz: usize) -> KernelSource {
    let prelude = prelude::grid(precision, nz)
        .with(&BudgetRegion::cuda_text())
        .with(&structs!(precision; PassiveArgs))
        .with_settings(&[("SUM_THREADS", THREADS as i32)]);
    KernelSource::new("advection/passive.cu", prelude)
}

/// Sums and decay of the passive tracers of a run.
#[derive(Debug)]
pub struct Passive<R> {
    amount: Kernel,
    decay: Kernel,
    args: PassiveArgs<R>,
    levels: u32,
    blocks: u32,
    /// (tracer, level, block).
    decayed: Buffer<f64>,
    /// (level, block).
    sums: Buffer<f64>,
}

impl<R: Real + Element> Passive<R> {
    /// Compiles the kernels for `tracers` tracers, with sums over the given rows and columns of the grid. `mass` is the
    /// mass of the cells, in rows as in `layout`; the memory must outlive this value.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below.
    pub fn new(
        gpu: &Gpu,
        layout: Layout,
        [rows, columns]: [Range<usize>; 2],
        mass: LayeredPointers<R>,
        tracers: usize,
    ) -> Result<Self> {
        let module = gpu.module(&source(R::PRECISION, layout.shape.nz))?;
        let blocks = layout.shape.ny.clamp(1, MOST_BLOCKS);
        let each = blocks * layout.shape.nz;
        Ok(Self {
            amount: module.kernel("passive_amount_acc64")?,
            decay: module.kernel("passive_decay_acc64")?,
            args: PassiveArgs {
                mass,
                region: BudgetRegion::new(layout, rows, columns),
                ..PassiveArgs::default()
            },
            levels: layout.shape.nz as u32,
            blocks: blocks as u32,
            decayed: gpu.zeros(tracers * each)?,
            sums: gpu.zeros(each)?,
        })
    }

    /// Queues the decay of a tracer to the fraction `left` of it; `number` selects the sum that the loss is added to.
    ///
    /// # Errors
    ///
    /// As [`Passive::new`].
    ///
    /// # Panics
    ///
    /// When `number` is not below the number of tracers.
    pub fn decay(&self, number: usize, tracer: DevicePointer<R>, left: f64) -> Result<()> {
        let first = number * self.sums.len();
        assert!(first < self.decayed.len(), "tracer {number}");
        let sums = self.decayed.pointer_to(first);
        let args = PassiveArgs { tracer, sums, change: left - 1.0, left: R::of(left), ..self.args };
        // SAFETY: the field belongs to the run, in the layout given at construction; the sums are owned by this value.
        unsafe { self.decay.launch(self.launch(), &args) }
    }

    /// The amount of a tracer inside the region. Waits for the device.
    ///
    /// # Errors
    ///
    /// As [`Passive::new`].
    pub fn amount(&self, tracer: DevicePointer<R>) -> Result<f64> {
        let args = PassiveArgs { tracer, sums: self.sums.pointer(), ..self.args };
        // SAFETY: as above; the kernel writes nothing but the sums.
        unsafe { self.amount.launch(self.launch(), &args)? };
        Ok(self.sums.to_vec()?.iter().sum())
    }

    /// Losses of each tracer since the start, negative numbers. Waits for the device.
    ///
    /// # Errors
    ///
    /// As [`Passive::new`].
    pub fn decayed(&self) -> Result<Vec<f64>> {
        let sums = self.decayed.to_vec()?;
        Ok(sums.chunks_exact(self.sums.len()).map(|sums| sums.iter().sum()).collect())
    }

    /// Partial sums of the losses, (tracer, level, block). Waits for the device.
    ///
    /// # Errors
    ///
    /// As [`Passive::new`].
    pub fn sums(&self) -> Result<Vec<f64>> {
        self.decayed.to_vec()
    }

    /// Restores partial sums that [`Passive::sums`] returned.
    ///
    /// # Errors
    ///
    /// As [`Passive::new`].
    ///
    /// # Panics
    ///
    /// When their number is not that of [`Passive::sums`].
    pub fn resume(&self, sums: &[f64]) -> Result<()> {
        self.decayed.upload(sums)
    }

    /// Number of partial sums.
    pub fn words(&self) -> usize {
        self.decayed.len()
    }

    /// Restores the total past loss of each tracer.
    ///
    /// # Errors
    ///
    /// As [`Passive::new`].
    pub fn resume_decayed(&self, decayed: &[f64]) -> Result<()> {
        let mut sums = vec![0.0; self.decayed.len()];
        for (sums, decayed) in sums.chunks_exact_mut(self.sums.len()).zip(decayed) {
            sums[0] = *decayed;
        }
        self.resume(&sums)
    }

    fn launch(&self) -> Launch {
        Launch { grid: [self.blocks, self.levels, 1], block: [THREADS, 1, 1], shared_bytes: 0 }
    }
}

//! The end of a step on the device: what has entered through the sides and the terms of the water budget are
//! added up while the state is looked through, by one kernel.

use super::advection::grid_constants;
use super::arguments::StepEndArgs;
use super::budget::{self, Budget};
use super::buffer::{Buffer, Element};
use super::compile::Source;
use super::device::Gpu;
use super::kernel::{Kernel, Launch};
use super::transport::Transport;
use super::watch::{self, Watch};
use crate::error::Result;
use crate::grid::Grid;
use crate::real::{Precision, Real};

/// Threads of a block, a power of two.
const THREADS: u32 = 256;
/// Blocks of a multiprocessor that look through the state.
const BLOCKS: u32 = 2;

/// The kernel for a precision and a grid; `fields` are those that are looked through.
pub fn source(precision: Precision, grid: &Grid, fields: usize) -> Source {
    let own = [("SUM_THREADS", THREADS as i32), ("TALLY_PLANES", budget::TERMS as i32)];
    let settings = [&own[..], &grid_constants(grid, false), &watch::constants(fields)].concat();
    Source::new("step_end.cu", precision, grid.shape.nz, &settings)
}

/// Ends the steps of a run.
#[derive(Debug)]
pub struct StepEnd {
    kernel: Kernel,
    /// Most blocks that look through the state.
    most: u32,
}

impl StepEnd {
    /// Compiles the kernel.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as below.
    pub fn new<R: Real + Element>(gpu: &Gpu, grid: &Grid, watch: &Watch<R>) -> Result<Self> {
        let module = gpu.module(&source(R::PRECISION, grid, watch.fields()))?;
        let most = BLOCKS * gpu.device().multiprocessors;
        Ok(Self { kernel: module.kernel("step_end_acc64")?, most })
    }

    /// Ends a step of `dt` seconds that has left the fields of all states in `fields`.
    ///
    /// # Errors
    ///
    /// As [`StepEnd::new`].
    ///
    /// # Panics
    ///
    /// When they are not as many fields as are watched.
    pub fn end<R: Real + Element>(
        &self,
        transport: &Transport<R>,
        budget: &Budget<R>,
        watch: &Watch<R>,
        fields: &Buffer<R>,
        dt: f64,
    ) -> Result<()> {
        let (tally, tally_blocks) = budget.tally();
        let (transport, entered_blocks) = transport.entering(dt);
        let args = StepEndArgs {
            transport,
            tally,
            watch: watch.look_at(fields),
            entered_blocks: entered_blocks as i32,
            tally_blocks: tally_blocks as i32,
        };
        // A thread has sixteen bytes at a time.
        let threads = Launch::flat((fields.len() * size_of::<R>()).div_ceil(16), THREADS);
        let blocks = entered_blocks + tally_blocks + threads.grid[0].min(self.most);
        let launch = Launch { grid: [blocks, 1, 1], ..threads };
        // SAFETY: the kernel takes this struct; its parts lead to memory of transport, budget and watch,
        // which know its lengths, and to the fields, which have been counted; all of it is freed only when
        // the device is done with it.
        unsafe { self.kernel.launch(launch, &args) }
    }
}

//! The end of steps on the device: one kernel sums the inflow through the sides and the terms of the water budget, for
//! one step or for a batch.

use super::budget::{self, Budget};
use super::device_status::DeviceStatus;
use crate::advection::gpu::grid_constants;
use crate::advection::gpu::prelude::transport;
use crate::advection::gpu::transport::Transport;
use crate::device::{Element, Gpu, Kernel, KernelSource, Launch, structs};
use crate::error::Result;
use crate::gpu::arguments::{StepEndArgs, TallyArgs};
use crate::grid::Grid;
use crate::real::{Precision, Real};
use crate::state::gpu::budget_region::BudgetRegion;
use crate::state::gpu::kernel_id;

/// Threads of a block, a power of two.
const THREADS: u32 = 256;

/// The kernel for a precision and a grid.
pub fn source(precision: Precision, grid: &Grid) -> KernelSource {
    let own = [("SUM_THREADS", THREADS as i32), ("TALLY_PLANES", budget::TERMS as i32)];
    let settings = [&own[..], &grid_constants(grid, false)].concat();
    let prelude = transport(precision, grid.shape.nz)
        .with(&BudgetRegion::cuda_text())
        .with(&structs!(precision; TallyArgs, StepEndArgs))
        .with_settings(&settings);
    KernelSource::new("step_end.cu", prelude)
}

/// Ends the steps of a run.
#[derive(Debug)]
pub struct StepEnd {
    kernel: Kernel,
}

impl StepEnd {
    /// Compiles the kernel.
    pub(crate) fn new<R: Real>(gpu: &Gpu, grid: &Grid) -> Result<Self> {
        let module = gpu.module(&source(R::PRECISION, grid))?;
        Ok(Self { kernel: kernel_id::kernel(&module, kernel_id::STEP_END_ACC64)? })
    }

    /// Ends the steps of a batch, of `dt` seconds each; each has had its
    /// [`StepInBatch`](crate::state::gpu::step_in_batch::StepInBatch).
    ///
    /// # Panics
    ///
    /// When the transport stores the fluxes of fewer steps.
    pub(crate) fn end<R: Real + Element>(
        &self,
        transport: &Transport<R>,
        budget: &Budget<R>,
        status: &DeviceStatus,
        steps: usize,
        dt: f64,
    ) -> Result<()> {
        let (tally, tally_blocks) = budget.tally();
        let side_values = transport.side_values(steps);
        let (transport, entered_blocks) = transport.entering(dt);
        let [notes, shown] = status.notes();
        let args = StepEndArgs {
            transport,
            tally,
            notes,
            shown,
            entered_blocks: entered_blocks as i32,
            steps: steps as i32,
            side_values: side_values as i32,
            filler: 0,
        };
        let launch = Launch::new([entered_blocks + tally_blocks, 1], THREADS);
        // SAFETY: the kernel takes this struct; its parts point to memory of transport, budget and watch, which know
        // its lengths; all of it is freed only after the device is done with it.
        unsafe { self.kernel.launch(launch, &args) }
    }
}

//! Checkpoint of a run on the device, brought to the host.

use super::Frames;
use crate::backend::gpu::GpuPrecision;
use crate::backend::gpu::arrays::Arrays;
use crate::backend::gpu::budget::BudgetSums;
use crate::backend::gpu::step::Stepper;
use crate::backend::nan_check::check_owned;
use crate::backend::{Accumulators, Checkpoint};
use crate::error::Result;

impl<R: GpuPrecision> Frames<R> {
    /// Takes a checkpoint after a step: the present state and all sums. Waits for the device.
    pub(in crate::backend::gpu) fn begin_checkpoint(
        &mut self,
        number: usize,
        (arrays, budget): (&Arrays<R>, &BudgetSums<R>),
        step: &Stepper<R>,
    ) -> Result<()> {
        let state = arrays.state().map_err(|error| step.in_step(error))?;
        check_owned(&arrays.grid, &state, number)?;
        let (owned, surface) = (arrays.grid.owned(), arrays.surface(0)?);
        let (state, surface) = if arrays.grid.is_whole() {
            (state, surface)
        } else {
            (state.within(&owned), surface.within(&owned))
        };
        let parts = budget.parts(0, step.transports())?;
        let changes = budget.changes_of(arrays.order.indices(0), step.transports())?;
        let passive = step.passive_changes(arrays, budget, 0)?;
        let chemistry = step.chemistry_tally()?.unwrap_or_default();
        let first_steps = step.first_steps()?;
        let gathered = Accumulators { surface, changes, passive, chemistry, first_steps, parts };
        self.checkpoint = Some(Box::new(Checkpoint { state, gathered }));
        Ok(())
    }

    /// The checkpoint that was taken.
    pub(in crate::backend::gpu) fn end_checkpoint(&mut self) -> Option<Box<Checkpoint<R>>> {
        self.checkpoint.take()
    }
}

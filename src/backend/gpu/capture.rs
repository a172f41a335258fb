//! Frames of output on the device: gathered behind the steps, and brought to the host beside them.

use super::member::Member;
use super::{GpuBackend, GpuPrecision, check_finite};
use crate::backend::{Backend, CapturedFrame};
use crate::device::{Buffer, Graph};
use crate::error::Result;
use crate::forcing::TimeInterpolant;
use crate::state::{STATE_FIELDS, WATER_SPECIES};
use crate::wsm5::gpu::launch::SURFACE_PLANES;

impl<R: GpuPrecision> GpuBackend<R> {
    /// Begins a frame of a member, with its state after the requested steps.
    pub(super) fn begin_frame(&mut self, member: usize, moment: &TimeInterpolant<R>) -> Result<()> {
        self.flush_pending_steps()?;
        self.drive(moment)?;
        if let Some(between) = self.between() {
            between.drive(&self.driving)?;
            between.air(self.transport.spare())?;
        }
        // Recorded: one by one these many short launches would hold up the steps.
        if self.members[member].gathering[self.now].is_none() {
            let graph = self.gpu.capture(|| self.gather(&self.members[member]))?;
            self.members[member].gathering[self.now] = Some(graph);
        }
        self.download.open()?;
        self.summing.download.open()?;
        self.clock.gathering[0].record(&self.gpu)?;
        self.members[member].gathering[self.now].as_mut().map_or(Ok(()), Graph::launch)?;
        self.clock.gathering[1].record(&self.gpu)?;
        self.download.seal()?;
        self.summing.download.seal()?;
        self.captured.push_back((self.steps, member));
        Ok(())
    }

    /// Asks for all that a frame holds.
    fn gather(&self, member: &Member<R>) -> Result<()> {
        let Member { wsm5, surface, indices, .. } = member;
        let (packing, staging, layout) = (self.packing, self.download.staging(), self.layout);
        let (state, cells) = (&self.tracers[self.now], layout.cells());
        self.gather_fields(member, staging)?;
        wsm5.diagnose(&self.place(member, state), staging, packing.state())?;
        staging.copy_rows(
            packing.fields(),
            (surface, layout.rows()),
            0..SURFACE_PLANES * layout.columns(),
        )?;
        // The room begins with the state.
        self.summing.kernels.contents(staging, staging, packing.before_contents())?;
        let state = (staging, state.pointer_to(indices.water().start * cells).read());
        self.summing.gather(state, &self.driving.flux, &self.transport, (&self.budget, *indices))
    }

    /// Asks for the fields of a member without gaps, in the order of the set, at the beginning of `staging`.
    pub(super) fn gather_fields(&self, member: &Member<R>, staging: &Buffer<R>) -> Result<()> {
        let (state, layout) = (&self.tracers[self.now], self.layout);
        let (cells, own) = (layout.cells(), self.grid.shape.cells());
        let pick = |field: usize, place: usize, count: usize| {
            staging.copy_rows(
                field * own,
                (state, layout.rows()),
                place * cells..(place + count) * cells,
            )
        };
        let water = member.indices.water();
        pick(0, member.indices.theta(), 1)?;
        pick(STATE_FIELDS - WATER_SPECIES, water.start, water.len())?;
        (STATE_FIELDS..self.order.set.len())
            .try_for_each(|field| pick(field, self.order.place(member.indices.number, field), 1))
    }

    /// The oldest frame that has been begun, if it is here or `wait` says to wait for it.
    pub(super) fn end_frame(&mut self, wait: bool) -> Result<Option<CapturedFrame<R>>> {
        // The numbers are sent off last.
        if !wait && !self.summing.download.is_complete()? {
            return Ok(None);
        }
        let Some(&(step, member)) = self.captured.front() else { return Ok(None) };
        let packing = self.packing;
        let indices = self.members[member].indices;
        let numbers = self.summing.receive(&self.transport, &self.budget, indices)?;
        let Some(numbers) = numbers else { return Ok(None) };
        let set = &self.order.set;
        let received = self.download.receive(|values| packing.captured(set, values, numbers))?;
        let Some(frame) = received else { return Ok(None) };
        self.captured.pop_front();
        check_finite(&frame.state, step).map_err(|error| self.with_member(member, error))?;
        if self.captured.is_empty() {
            self.clock.gathered += self.clock.gathering[1].since(&self.clock.gathering[0])?;
        }
        Ok(Some(frame))
    }
}

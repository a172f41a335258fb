//! Frames of output on the device: gathered behind the steps, and brought to the host beside them.

use super::member::Member;
use super::{GpuBackend, OnDevice, check_finite};
use crate::backend::{Backend, Captured};
use crate::device::{Buffer, Graph};
use crate::error::Result;
use crate::forcing::TimeInterpolant;
use crate::state::{SPECIES, STATE_FIELDS};
use crate::wsm5::gpu::clouds::SURFACE_PLANES;

impl<R: OnDevice> GpuBackend<R> {
    /// Begins a frame of a member as the steps asked for so far leave it.
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
        self.parcel.open()?;
        self.summing.parcel().open()?;
        self.clock.gathering[0].record(&self.gpu)?;
        self.members[member].gathering[self.now].as_mut().map_or(Ok(()), Graph::launch)?;
        self.clock.gathering[1].record(&self.gpu)?;
        self.parcel.seal()?;
        self.summing.parcel().seal()?;
        self.captured.push_back((self.steps, member));
        Ok(())
    }

    /// Asks for all that a frame holds.
    fn gather(&self, member: &Member<R>) -> Result<()> {
        let Member { clouds, surface, abreast, .. } = member;
        let (packing, room, layout) = (self.packing, self.parcel.room(), self.layout);
        let (state, cells) = (&self.tracers[self.now], layout.cells());
        self.pick(member, room)?;
        clouds.diagnose(&self.place(member, state), room, packing.state())?;
        room.pick(
            packing.fields(),
            (surface, layout.rows()),
            0..SURFACE_PLANES * layout.columns(),
        )?;
        // The room begins with the state.
        self.summing.contents(room, room, packing.before_contents())?;
        let state = (room, state.pointer_to(abreast.water().start * cells).read());
        self.summing.gather(state, &self.driving.flux, &self.transport, (&self.budget, *abreast))
    }

    /// Asks for the fields of a member without gaps, in the order of the set, at the beginning of `room`.
    pub(super) fn pick(&self, member: &Member<R>, room: &Buffer<R>) -> Result<()> {
        let (state, layout) = (&self.tracers[self.now], self.layout);
        let (cells, own) = (layout.cells(), self.grid.shape.cells());
        let pick = |field: usize, place: usize, count: usize| {
            room.pick(field * own, (state, layout.rows()), place * cells..(place + count) * cells)
        };
        let water = member.abreast.water();
        pick(0, member.abreast.theta(), 1)?;
        pick(STATE_FIELDS - SPECIES, water.start, water.len())?;
        (STATE_FIELDS..self.order.set.len())
            .try_for_each(|field| pick(field, self.order.place(member.abreast.number, field), 1))
    }

    /// The oldest frame that has been begun, if it is here or `wait` says to wait for it.
    pub(super) fn end_frame(&mut self, wait: bool) -> Result<Option<Captured<R>>> {
        // The numbers are sent off last.
        if !wait && !self.summing.are_here().map_err(|error| self.in_step(error))? {
            return Ok(None);
        }
        let Some(&(step, member)) = self.captured.front() else { return Ok(None) };
        let packing = self.packing;
        let abreast = self.members[member].abreast;
        let numbers = self.summing.receive(&self.transport, &self.budget, abreast);
        let Some(numbers) = numbers.map_err(|error| self.in_step(error))? else { return Ok(None) };
        let received = self.parcel.receive(|values| {
            packing.captured(&self.order.set, values, |planes| numbers.with(planes))
        });
        let Some(frame) = received.map_err(|error| self.in_step(error))? else {
            return Ok(None);
        };
        self.captured.pop_front();
        check_finite(&frame.state, step).map_err(|error| self.told(member, error))?;
        if self.captured.is_empty() {
            self.clock.gathered += self.clock.gathering[1].since(&self.clock.gathering[0])?;
        }
        Ok(Some(frame))
    }
}

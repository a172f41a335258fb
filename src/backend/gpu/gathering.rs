//! Frames of output on the device: gathered behind the steps, and brought to the host beside them.

use super::{OnDevice, OnGpu, check_finite};
use crate::backend::{Backend, Captured};
use crate::error::Result;
use crate::forcing::Moment;
use crate::gpu::Graph;
use crate::gpu::clouds::Place;

impl<R: OnDevice> OnGpu<R> {
    /// Begins a frame of the state as the steps asked for so far leave it.
    pub(super) fn begin_frame(&mut self, moment: &Moment<R>) -> Result<()> {
        self.drive(moment)?;
        if let Some(between) = self.between() {
            between.drive(&self.driving)?;
            between.air(self.transport.spare())?;
        }
        // Recorded: one by one these many short launches would hold up the steps.
        if self.gathering[self.now].is_none() {
            self.gathering[self.now] = Some(self.gpu.capture(|| self.gather())?);
        }
        self.parcel.open()?;
        self.summing.parcel().open()?;
        self.clock.gathering[0].record(&self.gpu)?;
        self.gathering[self.now].as_mut().map_or(Ok(()), Graph::launch)?;
        self.clock.gathering[1].record(&self.gpu)?;
        self.parcel.seal()?;
        self.summing.parcel().seal()?;
        self.captured.push_back(self.steps);
        Ok(())
    }

    /// Asks for all that a frame holds.
    fn gather(&self) -> Result<()> {
        let state = &self.tracers[self.now];
        let air = self.air.array(&self.transport);
        let place = Place { state, air, surface: &self.surface };
        let (packing, room) = (self.packing, self.parcel.room());
        room.copy_range(0, state, 0..packing.state())?;
        self.clouds.diagnose(&place, room, packing.state())?;
        room.copy_range(packing.fields(), &self.surface, 0..packing.surface())?;
        self.summing.contents(state, room, packing.before_contents())?;
        self.summing.gather(state, &self.driving.flux, &self.transport, &self.budget)
    }

    /// The oldest frame that has been begun, if it is here or `wait` says to wait for it.
    pub(super) fn end_frame(&mut self, wait: bool) -> Result<Option<Captured<R>>> {
        // The numbers are sent off last.
        if !wait && !self.summing.are_here().map_err(|error| self.in_step(error))? {
            return Ok(None);
        }
        let packing = self.packing;
        let numbers = self.summing.receive(&self.transport, &self.budget);
        let Some(numbers) = numbers.map_err(|error| self.in_step(error))? else { return Ok(None) };
        let received =
            self.parcel.receive(|values| packing.captured(values, |planes| numbers.with(planes)));
        let Some(frame) = received.map_err(|error| self.in_step(error))? else {
            return Ok(None);
        };
        let step = self.captured.pop_front().unwrap_or(self.steps);
        check_finite(&frame.state, step)?;
        if self.captured.is_empty() {
            self.clock.gathered += self.clock.gathering[1].since(&self.clock.gathering[0])?;
        }
        Ok(Some(frame))
    }
}

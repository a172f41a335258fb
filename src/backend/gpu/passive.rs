//! Passive tracers of a run on the device: their decay in a step, and their budgets.

use super::{GpuBackend, GpuPrecision};
use crate::advection::gpu::passive::Passive;
use crate::advection::gpu::transport::Transport;
use crate::backend::TracerAmount;
use crate::device::Buffer;
use crate::error::Result;
use crate::state::{STATE_FIELDS, TracerChange};

impl<R: GpuPrecision> GpuBackend<R> {
    /// Asks for the decay of all passive tracers of all states over `dt` seconds.
    pub(super) fn decay(&self, tracers: &Buffer<R>, dt: f64) -> Result<()> {
        let Some(passive) = &self.passive else { return Ok(()) };
        for (number, tracer) in self.order.set.passive().iter().enumerate() {
            let Some(left) = tracer.left_after(dt) else { continue };
            for state in 0..self.order.states {
                let place = self.order.place(state, STATE_FIELDS + number);
                let field = tracers.pointer_to(place * self.layout.cells());
                passive.decay(number * self.order.states + state, field, left)?;
            }
        }
        Ok(())
    }

    /// Amounts of the passive tracers of a member, and their changes. Waits for the device.
    pub(super) fn passive_amounts(&self, member: usize) -> Result<Vec<TracerAmount>> {
        let Some(passive) = &self.passive else { return Ok(Vec::new()) };
        let changes = self.passive_changes(member)?;
        let amount = |(number, change)| {
            let place = self.order.place(member, STATE_FIELDS + number);
            let field = self.tracers[self.now].pointer_to(place * self.layout.cells());
            Ok(TracerAmount { amount: passive.amount(field)?, change })
        };
        changes.into_iter().enumerate().map(amount).collect()
    }

    /// Changes of the passive tracers of a member. Waits for the device.
    pub(super) fn passive_changes(&self, member: usize) -> Result<Vec<TracerChange>> {
        let Some(passive) = &self.passive else { return Ok(Vec::new()) };
        let mut entered = Vec::with_capacity(self.order.len());
        for transport in self.transports() {
            entered.extend(transport.entered()?);
        }
        let decayed = passive.decayed()?;
        let change = |number: usize| TracerChange {
            sides: entered[self.order.place(member, STATE_FIELDS + number)],
            decayed: decayed[number * self.order.states + member],
            ..TracerChange::default()
        };
        let mut changes: Vec<_> = (0..self.order.set.passive().len()).map(change).collect();
        if let Some(driver) = &self.chemistry {
            driver.add_changes(&mut changes)?;
        }
        Ok(changes)
    }

    /// Sums that make these changes, beside those of the transport of the water. Waits for the device.
    pub(super) fn passive_sums(&self) -> Result<Vec<f64>> {
        let Some(passive) = &self.passive else { return Ok(Vec::new()) };
        let mut sums = Vec::new();
        for transport in &self.apart {
            sums.extend(transport.entered_sums()?);
        }
        sums.extend(passive.sums()?);
        Ok(sums)
    }

    /// Number of them.
    pub(super) fn passive_words(&self) -> usize {
        let apart: usize = self.apart.iter().map(Transport::entered_words).sum();
        apart + self.passive.as_ref().map_or(0, Passive::words)
    }

    /// Goes on from such sums.
    pub(super) fn resume_passive_sums(&self, mut sums: &[f64]) -> Result<()> {
        self.resume_apart(&mut sums)?;
        self.passive.as_ref().map_or(Ok(()), |passive| passive.resume(sums))
    }

    /// Lets the transports of tracers with a limiter of their own take their sums from the first ones.
    fn resume_apart(&self, sums: &mut &[f64]) -> Result<()> {
        self.apart.iter().try_for_each(|transport| {
            let own = sums.split_off(..transport.entered_words());
            transport.resume_entered(own.unwrap_or_default())
        })
    }

    /// Goes on from changes that another backend has found; `of_water` are the sums of what has entered that the
    /// transport of the water takes up.
    pub(super) fn resume_passive(
        &self,
        changes: &[TracerChange],
        of_water: &mut [f64],
    ) -> Result<()> {
        let nz = self.grid.shape.nz;
        let mut all = of_water.to_vec();
        all.resize(self.order.len() * nz, 0.0);
        for (number, change) in changes.iter().enumerate() {
            all[self.order.place(0, STATE_FIELDS + number) * nz] = change.sides;
        }
        let (main, mut rest) = all.split_at(of_water.len());
        of_water.copy_from_slice(main);
        self.resume_apart(&mut rest)?;
        let decayed: Vec<f64> = changes.iter().map(|change| change.decayed).collect();
        self.passive.as_ref().map_or(Ok(()), |passive| passive.resume_decayed(&decayed))
    }
}

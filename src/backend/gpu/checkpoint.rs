//! Checkpoint of a run on the device: brought to the host, and taken up again.

use super::{Checkpoint, GpuBackend, GpuPrecision, WaterChange, check_finite};
use crate::backend::Accumulators;
use crate::error::Result;
use crate::state::ChemistryTally;

impl<R: GpuPrecision> GpuBackend<R> {
    /// State and sums after all requested steps.
    pub(super) fn checkpoint(&mut self, step: usize) -> Result<Checkpoint<R>> {
        let state = self.state();
        let state = state.map_err(|error| self.in_step(error))?;
        check_finite(&state, step)?;
        let surface = self.surface()?;
        let mut parts = self.budget.sums(self.sole_member().indices.number)?;
        parts.extend(self.transport.entered_sums()?);
        parts.extend(self.passive_sums()?);
        let changes = self.changes_of(self.sole_member())?;
        let passive = self.passive_changes(0)?;
        let (chemistry, first_steps) = match &self.chemistry {
            Some(driver) => (driver.tally()?, driver.coupling.first_steps()?),
            None => (ChemistryTally::default(), Vec::new()),
        };
        let gathered = Accumulators { surface, changes, passive, chemistry, first_steps, parts };
        Ok(Checkpoint { state, gathered })
    }

    /// Goes on with what has been gathered: with the very sums of a run on a device, or with what
    /// another backend makes of its own.
    pub(super) fn resume_from(&mut self, gathered: &Accumulators<R>) -> Result<()> {
        let Accumulators { surface, changes, passive, chemistry, first_steps, parts } = gathered;
        if let Some(driver) = &mut self.chemistry {
            driver.resume_from(*chemistry, passive, first_steps)?;
        }
        let (sole_member, layout) = (self.sole_member(), self.layout);
        // The first of `PLANES`.
        for (number, plane) in surface.planes().into_iter().enumerate() {
            let values = plane.as_slice().expect("planes are in standard layout");
            sole_member.surface.upload_to(number * layout.columns(), &layout.padded(values))?;
        }
        let number = sole_member.indices.number;
        let (terms, entered) = (self.budget.sums(number)?.len(), self.transport.entered_words());
        if parts.len() == terms + entered + self.passive_words() {
            let (of_terms, rest) = parts.split_at(terms);
            let (of_sides, of_passive) = rest.split_at(entered);
            self.budget.resume(number, of_terms)?;
            self.transport.resume_entered(of_sides)?;
            return self.resume_passive_sums(of_passive);
        }
        let WaterChange { fallen, sides, fallout_residual, clipped, mass_mismatch } = *changes;
        let mut of_terms = vec![0.0; terms];
        let first = [fallen, fallout_residual, clipped, mass_mismatch];
        of_terms[..first.len()].copy_from_slice(&first);
        let mut of_sides = vec![0.0; entered];
        of_sides[sole_member.indices.water().start * self.grid.shape.nz] = sides;
        self.resume_passive(passive, &mut of_sides)?;
        self.budget.resume(number, &of_terms)?;
        self.transport.resume_entered(&of_sides)
    }
}

//! The budgets of a member as exact sums, which the parts of a grid have in common.

use super::{Account, Precipitation, TracerAmount};
use crate::primitives::exact_sum::ExactSum;
use crate::state::{Accumulators, ChemistryTally, TracerChange, WaterChange};

/// Changes of water and passive tracers of a member since the start.
#[derive(Clone, Debug, Default)]
pub(super) struct ExactChanges {
    pub(super) water: ExactWaterChange,
    /// Those of the passive tracers.
    pub(super) passive: Vec<ExactTracerChange>,
}

/// The sums of a [`WaterChange`].
#[derive(Clone, Debug, Default)]
pub(super) struct ExactWaterChange {
    pub(super) fallen: ExactSum,
    pub(super) sides: ExactSum,
    pub(super) fallout_residual: ExactSum,
    pub(super) clipped: ExactSum,
    pub(super) mass_mismatch: ExactSum,
}

/// The sums of a [`TracerChange`].
#[derive(Clone, Debug, Default)]
pub(super) struct ExactTracerChange {
    pub(super) sides: ExactSum,
    pub(super) decayed: ExactSum,
    pub(super) reacted: ExactSum,
    pub(super) clipped: ExactSum,
}

impl ExactWaterChange {
    fn sums_mut(&mut self) -> [&mut ExactSum; 5] {
        let Self { fallen, sides, fallout_residual, clipped, mass_mismatch } = self;
        [fallen, sides, fallout_residual, clipped, mass_mismatch]
    }

    /// The sums, rounded.
    pub(super) fn rounded(&self) -> WaterChange {
        WaterChange {
            fallen: self.fallen.value(),
            sides: self.sides.value(),
            fallout_residual: self.fallout_residual.value(),
            clipped: self.clipped.value(),
            mass_mismatch: self.mass_mismatch.value(),
        }
    }
}

impl ExactTracerChange {
    fn sums_mut(&mut self) -> [&mut ExactSum; 4] {
        let Self { sides, decayed, reacted, clipped } = self;
        [sides, decayed, reacted, clipped]
    }

    /// The sums, rounded.
    fn rounded(&self) -> TracerChange {
        TracerChange {
            sides: self.sides.value(),
            decayed: self.decayed.value(),
            reacted: self.reacted.value(),
            clipped: self.clipped.value(),
        }
    }
}

impl ExactChanges {
    /// Sums of zero for so many passive tracers.
    pub(super) fn new(passive: usize) -> Self {
        let passive = vec![ExactTracerChange::default(); passive];
        Self { water: ExactWaterChange::default(), passive }
    }

    fn sums_mut(&mut self) -> Vec<&mut ExactSum> {
        let passive = self.passive.iter_mut().flat_map(ExactTracerChange::sums_mut);
        self.water.sums_mut().into_iter().chain(passive).collect()
    }

    /// The changes of the passive tracers, rounded.
    pub(super) fn rounded_passive(&self) -> Vec<TracerChange> {
        self.passive.iter().map(ExactTracerChange::rounded).collect()
    }

    /// The sums in the form of [`Accumulators::parts`]: the mark, and for each sum how many numbers make it and these.
    pub(super) fn parts(&mut self) -> Vec<f64> {
        let lists = self.sums_mut().into_iter().flat_map(|sum| {
            let numbers = sum.numbers();
            std::iter::once(numbers.len() as f64).chain(numbers)
        });
        std::iter::once(Accumulators::<f64>::EXACT).chain(lists).collect()
    }

    /// The sums of an earlier run: exactly where it kept them, otherwise as it rounded them.
    pub(super) fn resumed<R>(gathered: &Accumulators<R>) -> Self {
        let mut changes = Self::new(gathered.passive.len());
        if changes.set(&gathered.parts).is_some() {
            return changes;
        }
        Self::of_rounded(&gathered.changes, &gathered.passive)
    }

    /// The sums of changes that are rounded already.
    pub(super) fn of_rounded(water: &WaterChange, passive: &[TracerChange]) -> Self {
        let mut changes = Self::new(passive.len());
        let WaterChange { fallen, sides, fallout_residual, clipped, mass_mismatch } = *water;
        let of_water = [fallen, sides, fallout_residual, clipped, mass_mismatch];
        let of_passive = passive.iter().flat_map(|change| {
            let TracerChange { sides, decayed, reacted, clipped } = *change;
            [sides, decayed, reacted, clipped]
        });
        let rounded = of_water.into_iter().chain(of_passive);
        changes.sums_mut().into_iter().zip(rounded).for_each(|(sum, x)| sum.add(x));
        changes
    }

    /// Adds such parts; `None` where they are others.
    fn set(&mut self, parts: &[f64]) -> Option<()> {
        let (&mark, mut rest) = parts.split_first()?;
        if mark.to_bits() != Accumulators::<f64>::EXACT.to_bits() {
            return None;
        }
        for sum in self.sums_mut() {
            let (&count, numbers) = rest.split_first()?;
            let (numbers, others) = numbers.split_at_checked(count as usize)?;
            sum.extend(numbers.iter().copied());
            rest = others;
        }
        rest.is_empty().then_some(())
    }
}

/// The sums of an [`Account`] over the cells of a part.
#[derive(Clone, Debug, Default)]
pub(super) struct ExactAccount {
    /// Water, kg.
    pub(super) water: ExactSum,
    /// Amounts of the passive tracers.
    pub(super) amounts: Vec<ExactSum>,
    pub(super) changes: ExactChanges,
    /// Precipitation times area, all of it and its frozen parts.
    pub(super) fallen: Vec<ExactSum>,
    /// The most precipitation of any column, mm.
    pub(super) most: f64,
    pub(super) chemistry: Option<ChemistryTally>,
}

impl ExactAccount {
    /// All sums, in an order that all parts of a grid have in common.
    pub(super) fn sums_mut(&mut self) -> Vec<&mut ExactSum> {
        let Self { water, amounts, changes, fallen, .. } = self;
        let amounts = amounts.iter_mut().chain(fallen);
        std::iter::once(water).chain(amounts).chain(changes.sums_mut()).collect()
    }

    /// The account of a region of so many square metres.
    pub(super) fn rounded(&self, area: f64) -> Account {
        let mean = |sum: &ExactSum| sum.value() / area;
        let precipitation = match self.fallen.split_first() {
            None => Precipitation::default(),
            Some((all, frozen)) => Precipitation {
                mean: mean(all),
                frozen_mean: frozen.iter().map(mean).sum(),
                most: self.most,
            },
        };
        let pairs = self.amounts.iter().zip(self.changes.rounded_passive());
        Account {
            water: self.water.value(),
            changes: self.changes.water.rounded(),
            passive: pairs
                .map(|(sum, change)| TracerAmount { amount: sum.value(), change })
                .collect(),
            chemistry: self.chemistry,
            precipitation,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Shape;
    use crate::physics::registry::usual_set;
    use crate::state::Surface;

    fn accumulators(changes: &mut ExactChanges) -> Accumulators<f64> {
        let set = usual_set();
        Accumulators {
            surface: Surface::zeros(&set, Shape { nx: 1, ny: 1, nz: 1 }),
            changes: changes.water.rounded(),
            passive: changes.rounded_passive(),
            chemistry: ChemistryTally::default(),
            first_steps: Vec::new(),
            parts: changes.parts(),
        }
    }

    #[test]
    fn kept_sums_go_on_as_if_they_had_not_been_kept() {
        let mut changes = ExactChanges::new(2);
        for sum in changes.sums_mut() {
            sum.extend([1.0, 1e-30, -1e30]);
        }
        let mut kept = accumulators(&mut changes);
        assert_eq!(ExactChanges::resumed(&kept).parts(), kept.parts);
        // Those of another backend, and none: what it rounded counts.
        for parts in [vec![], kept.parts[1..].to_vec(), kept.parts[..9].to_vec()] {
            kept.parts = parts;
            let rounded = ExactChanges::resumed(&kept);
            assert_eq!(rounded.water.rounded(), kept.changes);
            assert_eq!(rounded.water.sides.numbers(), [kept.changes.sides]);
            assert_eq!(rounded.rounded_passive(), kept.passive);
        }
    }
}

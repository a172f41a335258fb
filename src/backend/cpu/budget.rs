//! Budget of a run on the CPU: changes of water and passive tracers of all members.

use ndarray::{Array2, Array3};

use super::arrays::{Arrays, MemberFields};
use crate::backend::{Account, BudgetDomain, Summary, TracerAmount};
use crate::constituents::{Constituents, Kind};
use crate::dry_mass::{AirMass, MassCoordinate};
use crate::grid::Grid;
use crate::physics::MismatchMasses;
use crate::real::Real;
use crate::state::{Accumulators, Surface, TracerChange, WaterChange};

/// Changes of water and passive tracers of all members since the start.
#[derive(Debug)]
pub(super) struct BudgetSums<R> {
    /// Columns of the budget.
    pub(super) region: BudgetDomain,
    /// Reciprocal area of the cells, m⁻².
    per_area: Array2<R>,
    /// Mass mismatch of the last call: mass of its changes minus that with rho dz as the mass of a cell, kg m⁻².
    mass_mismatch: Array2<R>,
    pub(super) members: Vec<Changes>,
}

/// Changes of a member since the start.
#[derive(Clone, Debug)]
pub(super) struct Changes {
    pub(super) water: WaterChange,
    /// Those of the passive tracers.
    pub(super) passive: Vec<TracerChange>,
}

impl<R: Real> BudgetSums<R> {
    /// Sums of zero for a number of members with the tracers of a set.
    pub(super) fn new(
        grid: &Grid,
        coordinate: &MassCoordinate,
        set: &Constituents,
        members: usize,
    ) -> Self {
        let region = BudgetDomain::new(grid, coordinate);
        let passive = vec![TracerChange::default(); set.passive().len()];
        Self {
            per_area: region.area.mapv(|area| R::of(1.0 / area)),
            mass_mismatch: Array2::zeros(region.area.dim()),
            region,
            members: vec![Changes { water: WaterChange::default(), passive }; members],
        }
    }

    /// Sets all sums to zero.
    pub(super) fn reset(&mut self) {
        for Changes { water, passive } in &mut self.members {
            *water = WaterChange::default();
            passive.fill(TracerChange::default());
        }
    }

    /// Continues the sums of an earlier run of one.
    pub(super) fn resume(&mut self, gathered: &Accumulators<R>) {
        let [member] = &mut self.members[..] else { panic!("sums of a run of one") };
        member.water = gathered.changes;
        member.passive.clone_from(&gathered.passive);
    }

    /// Masses that weigh the changes of a call of the microphysics; the mismatch goes to the plane of this part.
    pub(super) fn weighing<'a>(&'a mut self, air: &'a AirMass<R>) -> MismatchMasses<'a, R> {
        MismatchMasses::new(&air.cell, &self.per_area, &mut self.mass_mismatch)
    }

    /// Adds the inflow of each tracer of a set through the sides to the changes of the passive ones; returns that of
    /// the water, kg.
    pub(super) fn add_inflow(
        &mut self,
        member: usize,
        set: &Constituents,
        entered: impl Iterator<Item = f64> + Clone,
    ) -> f64 {
        let water = set.iter().zip(entered.clone());
        let is_water = |kind| matches!(kind, Kind::Water(_));
        let water = water.map(|(one, x)| if is_water(one.kind) { x } else { 0.0 }).sum();
        let first = set.carried();
        for (change, entered) in self.members[member].passive.iter_mut().zip(entered.skip(first)) {
            change.sides += entered;
        }
        water
    }

    /// Adds the decay of a passive tracer to the fraction `left` of `q`, which still has all of it.
    pub(super) fn add_decay(
        &mut self,
        member: usize,
        number: usize,
        left: f64,
        (air, q): (&AirMass<R>, &Array3<R>),
    ) {
        let lost = (left - 1.0) * self.region.amount(air, q);
        self.members[member].passive[number].decayed += lost;
    }

    /// Adds the terms of a step: inflow of water through the sides, kg, and those of its call of the microphysics.
    pub(super) fn add_step(&mut self, member: usize, sides: f64, surface: &Surface<R>) {
        let region = &self.region;
        let [fallen, fall_residual, clipped] = surface.terms();
        self.members[member].water.add(&WaterChange {
            sides,
            fallen: region.total(fallen),
            fallout_residual: region.total(fall_residual),
            clipped: region.total(clipped),
            mass_mismatch: region.total(&self.mass_mismatch),
        });
    }

    /// Sums and extrema of the present state of a member.
    pub(super) fn summary(&self, member: usize, arrays: &Arrays<R>) -> Summary<R> {
        let (state, flux) = (&arrays.members[member].state, &arrays.present.flux);
        Summary::of(&self.region, &arrays.air, state, flux, self.members[member].water)
    }

    /// Amounts of a member and their changes, without chemistry.
    pub(super) fn account(&self, member: usize, arrays: &Arrays<R>) -> Account {
        let MemberFields { state, surface } = &arrays.members[member];
        let Changes { water: changes, passive } = &self.members[member];
        let amount = |q| self.region.amount(&arrays.air, q);
        let pairs = state.passive().iter().zip(passive);
        Account {
            water: self.region.water(&arrays.air, state),
            changes: *changes,
            passive: pairs.map(|(q, &change)| TracerAmount { amount: amount(q), change }).collect(),
            chemistry: None,
            precipitation: self.region.precipitation(surface),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::fixture::{SHAPE, coordinate, forcing, grid, with_passive};
    use super::*;
    use crate::state::State;

    fn sums() -> (BudgetSums<f64>, Arrays<f64>) {
        let set = with_passive();
        let state = State::zeros(&set, SHAPE);
        let arrays = Arrays::new(&grid(), &coordinate(), &Arc::new(forcing(1.0)), [state]);
        (BudgetSums::new(&grid(), &coordinate(), &set, 1), arrays)
    }

    #[test]
    fn inflow_counts_as_water_or_for_its_tracer() {
        let (mut sums, arrays) = sums();
        let set = with_passive();
        // Of the potential temperature, of five species of water, and of two passive tracers.
        let entered = [1000.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        assert_eq!(set.len(), entered.len());
        for _ in 0..2 {
            let water = sums.add_inflow(0, &set, entered.iter().copied());
            assert_eq!(water, 31.0);
            sums.add_step(0, water, &arrays.members[0].surface);
        }
        let account = sums.account(0, &arrays);
        assert_eq!(account.changes, WaterChange { sides: 62.0, ..WaterChange::default() });
        let sides: Vec<f64> = account.passive.iter().map(|tracer| tracer.change.sides).collect();
        assert_eq!(sides, [64.0, 128.0]);
        sums.reset();
        assert_eq!(sums.account(0, &arrays).changes, WaterChange::default());
    }

    #[test]
    fn terms_of_a_step_are_sums_over_the_area_of_the_budget() {
        let (mut sums, mut arrays) = sums();
        let surface = &mut arrays.members[0].surface;
        surface.named_mut("fallen").fill(2.0);
        surface.named_mut("clipped").fill(0.5);
        let inside = sums.region.extent();
        assert!(inside > 0.0);
        sums.add_step(0, 3.0, surface);
        let expected = WaterChange {
            sides: 3.0,
            fallen: 2.0 * inside,
            clipped: 0.5 * inside,
            ..WaterChange::default()
        };
        assert_eq!(sums.members[0].water, expected);
    }

    #[test]
    fn decay_loses_what_is_not_left() {
        let (mut sums, mut arrays) = sums();
        arrays.members[0].state.fields_mut()[with_passive().carried() + 1].fill(4.0);
        let q = &arrays.members[0].state.passive()[1];
        let before = sums.region.amount(&arrays.air, q);
        assert!(before > 0.0);
        sums.add_decay(0, 1, 0.25, (&arrays.air, q));
        let changes = &sums.members[0].passive;
        assert_eq!([changes[0].decayed, changes[1].decayed], [0.0, -0.75 * before]);
    }
}

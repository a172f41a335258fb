//! Budget of a run on the CPU: changes of water and passive tracers of all members.

use ndarray::{Array2, Array3};

use super::arrays::{Arrays, MemberFields};
use crate::backend::exact_budget::{ExactAccount, ExactChanges};
use crate::backend::{BudgetDomain, Summary};
use crate::constituents::{Constituents, Kind};
use crate::dry_mass::{AirMass, MassCoordinate};
use crate::grid::Grid;
use crate::physics::MismatchMasses;
use crate::primitives::exact_sum::ExactSum;
use crate::real::Real;
use crate::state::{Accumulators, Surface};

/// Changes of water and passive tracers of all members since the start.
#[derive(Debug)]
pub(super) struct BudgetSums<R> {
    /// Columns of the budget.
    pub(super) region: BudgetDomain,
    /// Reciprocal area of the cells, m⁻².
    per_area: Array2<R>,
    /// Mass mismatch of the last call: mass of its changes minus that with rho dz as the mass of a cell, kg m⁻².
    mass_mismatch: Array2<R>,
    pub(super) members: Vec<ExactChanges>,
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
        Self {
            per_area: region.area.mapv(|area| R::of(1.0 / area)),
            mass_mismatch: Array2::zeros(region.area.dim()),
            region,
            members: vec![ExactChanges::new(set.passive().len()); members],
        }
    }

    /// Sets all sums to zero.
    pub(super) fn reset(&mut self) {
        for changes in &mut self.members {
            *changes = ExactChanges::new(changes.passive.len());
        }
    }

    /// Continues the sums of an earlier run of one.
    pub(super) fn resume(&mut self, gathered: &Accumulators<R>) {
        let [member] = &mut self.members[..] else { panic!("sums of a run of one") };
        *member = ExactChanges::resumed(gathered);
    }

    /// Masses that weigh the changes of a call of the microphysics; the mismatch goes to the plane of this part.
    pub(super) fn weighing<'a>(&'a mut self, air: &'a AirMass<R>) -> MismatchMasses<'a, R> {
        MismatchMasses::new(&air.cell, &self.per_area, &mut self.mass_mismatch)
    }

    /// Adds the inflow of each tracer of a set through the sides to the changes of the water, kg, or to its own.
    pub(super) fn add_inflow<'a>(
        &mut self,
        member: usize,
        set: &Constituents,
        entered: impl Iterator<Item = &'a ExactSum>,
    ) {
        let ExactChanges { water, passive } = &mut self.members[member];
        for (number, (one, entered)) in set.iter().zip(entered).enumerate() {
            if let Some(change) = number.checked_sub(set.carried()) {
                passive[change].sides += entered;
            } else if matches!(one.kind, Kind::Water(_)) {
                water.sides += entered;
            }
        }
    }

    /// Adds the decay of a passive tracer to the fraction `left` of `q`, which still has all of it.
    pub(super) fn add_decay(
        &mut self,
        member: usize,
        number: usize,
        left: f64,
        (air, q): (&AirMass<R>, &Array3<R>),
    ) {
        let lost = self.region.amount_of_part(air, q, left - 1.0);
        self.members[member].passive[number].decayed += &lost;
    }

    /// Adds the terms of a call of the microphysics.
    pub(super) fn add_call(&mut self, member: usize, surface: &Surface<R>) {
        let region = &self.region;
        let water = &mut self.members[member].water;
        let [fallen, fall_residual, clipped] = surface.terms();
        water.fallen += &region.total(fallen);
        water.fallout_residual += &region.total(fall_residual);
        water.clipped += &region.total(clipped);
        water.mass_mismatch += &region.total(&self.mass_mismatch);
    }

    /// Sums and extrema of the present state of a member.
    pub(super) fn summary(&self, member: usize, arrays: &Arrays<R>) -> Summary<R> {
        let (state, flux) = (&arrays.members[member].state, &arrays.present.flux);
        let changes = self.members[member].water.rounded();
        Summary::of(&self.region, &arrays.air, state, flux, changes)
    }

    /// Amounts of a member in the owned cells and their changes, without chemistry.
    pub(super) fn account(&self, member: usize, arrays: &Arrays<R>) -> ExactAccount {
        let MemberFields { state, surface } = &arrays.members[member];
        let (region, owned) = (&self.region, arrays.grid.owned());
        let all = surface.precipitation();
        let most =
            all.map_or(0.0, |all| owned.of_plane(all).iter().map(|x| x.f64()).fold(0.0, f64::max));
        let fallen = all.into_iter().flat_map(|all| std::iter::once(all).chain(surface.frozen()));
        ExactAccount {
            water: region.water(&arrays.air, state),
            amounts: state.passive().iter().map(|q| region.amount(&arrays.air, q)).collect(),
            changes: self.members[member].clone(),
            fallen: fallen.map(|plane| region.total(plane)).collect(),
            most,
            chemistry: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::fixture::{SHAPE, coordinate, forcing, grid, with_passive};
    use super::*;
    use crate::backend::Account;
    use crate::state::{State, WaterChange};

    fn sums() -> (BudgetSums<f64>, Arrays<f64>) {
        let set = with_passive();
        let state = State::zeros(&set, SHAPE);
        let arrays = Arrays::new(&grid(), &coordinate(), &Arc::new(forcing(1.0)), [state]);
        (BudgetSums::new(&grid(), &coordinate(), &set, 1), arrays)
    }

    /// The account of the only member, rounded.
    fn account(sums: &BudgetSums<f64>, arrays: &Arrays<f64>) -> Account {
        sums.account(0, arrays).rounded(sums.region.extent())
    }

    #[test]
    fn inflow_counts_as_water_or_for_its_tracer() {
        let (mut sums, arrays) = sums();
        let set = with_passive();
        // Of the potential temperature, of five species of water, and of two passive tracers.
        let entered = [1000.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        let entered = entered.map(|x| std::iter::once(x).collect::<ExactSum>());
        assert_eq!(set.len(), entered.len());
        for _ in 0..2 {
            sums.add_inflow(0, &set, entered.iter());
        }
        let found = account(&sums, &arrays);
        assert_eq!(found.changes, WaterChange { sides: 62.0, ..WaterChange::default() });
        let sides: Vec<f64> = found.passive.iter().map(|tracer| tracer.change.sides).collect();
        assert_eq!(sides, [64.0, 128.0]);
        sums.reset();
        assert_eq!(account(&sums, &arrays).changes, WaterChange::default());
    }

    #[test]
    fn terms_of_a_call_are_sums_over_the_area_of_the_budget() {
        let (mut sums, mut arrays) = sums();
        let surface = &mut arrays.members[0].surface;
        surface.named_mut("fallen").fill(2.0);
        surface.named_mut("clipped").fill(0.5);
        let inside = sums.region.extent();
        assert!(inside > 0.0);
        sums.add_call(0, surface);
        let expected =
            WaterChange { fallen: 2.0 * inside, clipped: 0.5 * inside, ..WaterChange::default() };
        assert_eq!(sums.members[0].water.rounded(), expected);
    }

    #[test]
    fn decay_loses_what_is_not_left() {
        let (mut sums, mut arrays) = sums();
        arrays.members[0].state.fields_mut()[with_passive().carried() + 1].fill(4.0);
        let q = &arrays.members[0].state.passive()[1];
        let before = sums.region.amount(&arrays.air, q).value();
        assert!(before > 0.0);
        sums.add_decay(0, 1, 0.25, (&arrays.air, q));
        let changes = sums.members[0].rounded_passive();
        assert_eq!([changes[0].decayed, changes[1].decayed], [0.0, -0.75 * before]);
    }
}

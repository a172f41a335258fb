//! Budget of a run on the device: sums of water and passive tracers of all states, and the decay of the latter.

use super::GpuPrecision;
use super::arrays::Arrays;
use super::transports::Transports;
use crate::advection::gpu::passive::Passive;
use crate::backend::exact_budget::{ExactAccount, ExactChanges};
use crate::backend::{Account, BudgetDomain, Precipitation, TracerAmount};
use crate::device::{Buffer, Gpu};
use crate::error::Result;
use crate::gpu::budget::{Budget, BudgetColumns};
use crate::primitives::exact_sum::ExactSum;
use crate::state::gpu::device_fields::TERMS;
use crate::state::gpu::member_layout::MemberLayout;
use crate::state::{Accumulators, Surface, TracerChange, WaterChange};

/// Sums of the water and of the passive tracers.
#[derive(Debug)]
pub(super) struct BudgetSums<R> {
    region: BudgetDomain,
    /// Sums of the terms of the water budget, which the end of a step adds to.
    pub(super) water: Budget<R>,
    /// Sums and decay of the passive tracers, where there are any.
    passive: Option<Passive<R>>,
}

impl<R: GpuPrecision> BudgetSums<R> {
    /// Compiles the kernels and sets the sums to zero.
    pub(super) fn new(
        gpu: &Gpu,
        region: BudgetDomain,
        arrays: &Arrays<R>,
        transports: &Transports<R>,
    ) -> Result<Self> {
        let (layout, order) = (arrays.layout, &arrays.order);
        let inner = [region.rows.clone(), region.columns.clone()];
        let [rows, columns] = inner.clone();
        let columns = BudgetColumns { rows, columns, area: area_of(&region) };
        let planes: Vec<_> = (0..order.states).map(|state| arrays.budget_planes(state)).collect();
        let water = Budget::new(
            gpu,
            layout,
            &columns,
            transports.cell_mass(),
            (&planes, order.set.water().len()),
        )?;
        let passive = match order.states * order.set.passive().len() {
            0 => None,
            count => Some(Passive::new(gpu, layout, inner, transports.cell_mass(), count)?),
        };
        Ok(Self { region, water, passive })
    }

    /// Area of the columns of the grid, m².
    pub(super) fn area(&self) -> &[f64] {
        area_of(&self.region)
    }

    /// Sets all sums to zero.
    pub(super) fn reset(&self) -> Result<()> {
        self.water.reset()?;
        self.passive.as_ref().map_or(Ok(()), |passive| passive.resume_decayed(&[]))
    }

    /// Queues the decay of all passive tracers of all states in `tracers` over `dt` seconds.
    pub(super) fn decay(&self, arrays: &Arrays<R>, tracers: &Buffer<R>, dt: f64) -> Result<()> {
        let Some(passive) = &self.passive else { return Ok(()) };
        let order = &arrays.order;
        for (number, tracer) in order.set.passive().iter().enumerate() {
            let Some(left) = tracer.left_after(dt) else { continue };
            for state in 0..order.states {
                let field = arrays.field(tracers, state, order.set.carried() + number);
                passive.decay(number * order.states + state, field, left)?;
            }
        }
        Ok(())
    }

    /// Present water of a member, kg. Waits for the device.
    pub(super) fn water_of(&self, arrays: &Arrays<R>, member: usize) -> Result<f64> {
        self.water.water(arrays.water(member))
    }

    /// Changes of the water of a member. Waits for the device.
    pub(super) fn changes_of(
        &self,
        indices: MemberLayout,
        transports: &Transports<R>,
    ) -> Result<WaterChange> {
        let terms = self.water.terms(indices.number)?;
        Ok(changes(terms, &transports.main.entered()?, indices))
    }

    /// Amounts of the passive tracers of a member beside their changes. Waits for the device.
    pub(super) fn passive_amounts(
        &self,
        arrays: &Arrays<R>,
        member: usize,
        changes: Vec<TracerChange>,
    ) -> Result<Vec<TracerAmount>> {
        let Some(passive) = &self.passive else { return Ok(Vec::new()) };
        let amount = |(number, change)| {
            let field = arrays.order.set.carried() + number;
            let field = arrays.field(arrays.present(), member, field);
            Ok(TracerAmount { amount: passive.amount(field)?, change })
        };
        changes.into_iter().enumerate().map(amount).collect()
    }

    /// Changes of the passive tracers of a member by inflow and decay. Waits for the device.
    pub(super) fn passive_changes(
        &self,
        arrays: &Arrays<R>,
        member: usize,
        transports: &Transports<R>,
    ) -> Result<Vec<TracerChange>> {
        let Some(passive) = &self.passive else { return Ok(Vec::new()) };
        let (order, entered) = (&arrays.order, transports.entered()?);
        let decayed = passive.decayed()?;
        let change = |number: usize| TracerChange {
            sides: entered[order.place(member, order.set.carried() + number)],
            decayed: decayed[number * order.states + member],
            ..TracerChange::default()
        };
        Ok((0..order.set.passive().len()).map(change).collect())
    }

    /// The account of the owned cells that others have to be added to: precipitation exactly, all else as the device has
    /// rounded it.
    pub(super) fn exact(&self, account: &Account, surface: &Surface<R>) -> ExactAccount {
        let sum = |x: f64| std::iter::once(x).collect::<ExactSum>();
        let all = surface.precipitation();
        let fallen = all.into_iter().flat_map(|all| std::iter::once(all).chain(surface.frozen()));
        let changes: Vec<TracerChange> =
            account.passive.iter().map(|tracer| tracer.change).collect();
        ExactAccount {
            water: sum(account.water),
            amounts: account.passive.iter().map(|tracer| sum(tracer.amount)).collect(),
            changes: ExactChanges::of_rounded(&account.changes, &changes),
            fallen: fallen.map(|plane| self.region.total(plane)).collect(),
            most: account.precipitation.most,
            chemistry: account.chemistry,
        }
    }

    /// Precipitation of the region by the planes at the ground.
    pub(super) fn precipitation(&self, surface: &Surface<R>) -> Precipitation {
        self.region.precipitation(surface)
    }

    /// Partial sums that make all changes of a member and of the passive tracers. Waits for the device.
    pub(super) fn parts(&self, member: usize, transports: &Transports<R>) -> Result<Vec<f64>> {
        let mut parts = self.water.sums(member)?;
        parts.extend(transports.main.entered_sums()?);
        if let Some(passive) = &self.passive {
            parts.extend(transports.sums_apart()?);
            parts.extend(passive.sums()?);
        }
        Ok(parts)
    }

    /// Continues the sums of an earlier run of one: with the very sums of a run on a device, or with the changes that
    /// another backend has found.
    pub(super) fn resume(
        &self,
        gathered: &Accumulators<R>,
        arrays: &Arrays<R>,
        transports: &Transports<R>,
    ) -> Result<()> {
        let Accumulators { changes, passive, parts, .. } = gathered;
        let indices = arrays.order.indices(0);
        let number = indices.number;
        let main = &transports.main;
        let (terms, entered) = (self.water.sums(number)?.len(), main.entered_words());
        let decayed = self.passive.as_ref().map_or(0, Passive::words);
        let is_own = parts.first() != Some(&Accumulators::<R>::EXACT);
        if is_own && parts.len() == terms + entered + transports.words_apart() + decayed {
            let (of_terms, rest) = parts.split_at(terms);
            let (of_sides, mut of_passive) = rest.split_at(entered);
            self.water.resume(number, of_terms)?;
            main.resume_entered(of_sides)?;
            transports.resume_apart(&mut of_passive)?;
            return self.passive.as_ref().map_or(Ok(()), |passive| passive.resume(of_passive));
        }
        let mut of_sides = vec![0.0; entered];
        of_sides[indices.water().start * arrays.layout.shape.nz] = changes.sides;
        self.resume_passive(passive, &mut of_sides, arrays, transports)?;
        self.water.resume(number, &first_sums(changes, terms))?;
        main.resume_entered(&of_sides)
    }

    /// Continues the changes of passive tracers that another backend has found; `of_water` are the sums of inflow that
    /// the transport of the water takes up.
    fn resume_passive(
        &self,
        changes: &[TracerChange],
        of_water: &mut [f64],
        arrays: &Arrays<R>,
        transports: &Transports<R>,
    ) -> Result<()> {
        let (order, nz) = (&arrays.order, arrays.layout.shape.nz);
        let mut all = of_water.to_vec();
        all.resize(order.len() * nz, 0.0);
        for (number, change) in changes.iter().enumerate() {
            all[order.place(0, order.set.carried() + number) * nz] = change.sides;
        }
        let (main, mut rest) = all.split_at(of_water.len());
        of_water.copy_from_slice(main);
        transports.resume_apart(&mut rest)?;
        let decayed: Vec<f64> = changes.iter().map(|change| change.decayed).collect();
        self.passive.as_ref().map_or(Ok(()), |passive| passive.resume_decayed(&decayed))
    }
}

/// Area of the columns of the grid of a region, m².
fn area_of(region: &BudgetDomain) -> &[f64] {
    region.area.as_slice().expect("a plane in standard layout")
}

/// The changes of the water of a state, out of the terms of its budget and the inflow of the tracers of all states.
pub(super) fn changes(terms: [f64; TERMS], entered: &[f64], indices: MemberLayout) -> WaterChange {
    let [fallen, fallout_residual, clipped, mass_mismatch] = terms;
    let sides = entered[indices.water()].iter().sum();
    WaterChange { fallen, sides, fallout_residual, clipped, mass_mismatch }
}

/// Partial sums of the terms, so many, of which the first of each term holds the change.
fn first_sums(changes: &WaterChange, count: usize) -> Vec<f64> {
    let WaterChange { fallen, fallout_residual, clipped, mass_mismatch, .. } = *changes;
    let first: [f64; TERMS] = [fallen, fallout_residual, clipped, mass_mismatch];
    let mut sums = vec![0.0; count];
    sums[..first.len()].copy_from_slice(&first);
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::registry::usual_set;

    #[test]
    fn changes_are_those_that_their_partial_sums_were_made_of() {
        // The second of two states: the inflow of its five species of water, of 14 fields.
        let alone = MemberLayout::alone(&usual_set());
        let indices = MemberLayout { number: 1, before_water: 2, ..alone };
        let mut entered = [0.0; 14];
        entered[indices.water()].copy_from_slice(&[1.0, 2.0, 4.0, 8.0, 16.0]);
        entered[indices.theta()] = 1000.0;
        entered[2] = 500.0;
        entered[13] = 2000.0;
        let expected = WaterChange {
            fallen: 3.0,
            sides: 31.0,
            fallout_residual: 5.0,
            clipped: 7.0,
            mass_mismatch: 11.0,
        };
        let sums = first_sums(&expected, 3 * TERMS);
        assert_eq!(sums.len(), 3 * TERMS);
        let term = |term: usize| sums.iter().skip(term).step_by(TERMS).sum();
        assert_eq!(changes(std::array::from_fn(term), &entered, indices), expected);
    }
}

//! Steps of a run on the CPU: transport, microphysics and chemistry of one member after the other.

use std::iter;
use std::sync::Arc;
use std::time::Instant;

use ndarray::Array3;
use rayon::prelude::*;

use super::arrays::{Arrays, MemberFields};
use super::budget::BudgetSums;
use super::scheme_calls::SchemeCalls;
use crate::advection::{self, InflowValues, Limiter, Transported, Wind, Workspace};
use crate::backend::chemistry::{CellAir, ChemistryDriver};
use crate::backend::margins::Neighbours;
use crate::backend::{ComputePrecision, PhaseTimes, UlpPerturbation};
use crate::chemistry::coupled::Coupled;
use crate::error::Result;
use crate::forcing::{Forcing, TimeInterpolant};
use crate::grid::Shape;
use crate::real::Real;
use crate::state::{ChemistryTally, State};

/// The processes of a step, with their work space.
#[derive(Debug)]
pub(super) struct Stepper<R: Real> {
    limiter: Limiter,
    /// One for each thread that has tracers of its own.
    workspaces: Vec<Workspace<R>>,
    pub(super) schemes: SchemeCalls<R>,
    chemistry: Option<Box<ChemistryDriver<R>>>,
    /// Neighbours of a part of a grid, which refresh its margins.
    neighbours: Option<Box<dyn Neighbours<R>>>,
    /// Seed of the ULP perturbation before the next step, if there is one.
    disturbance: Option<u64>,
}

impl<R: ComputePrecision> Stepper<R> {
    /// Steps of so many tracers.
    pub(super) fn new(
        shape: Shape,
        tracers: usize,
        limiter: Limiter,
        schemes: SchemeCalls<R>,
    ) -> Self {
        let each = tracers.div_ceil(rayon::current_num_threads()).max(1);
        let workspace = Workspace::for_tracers(shape, each);
        let sibling: Vec<_> = (1..tracers.div_ceil(each)).map(|_| workspace.sibling()).collect();
        Self {
            limiter,
            workspaces: iter::once(workspace).chain(sibling).collect(),
            schemes,
            chemistry: None,
            neighbours: None,
            disturbance: None,
        }
    }

    pub(super) fn set_chemistry(&mut self, coupled: Option<&Arc<Coupled>>) {
        self.chemistry = coupled.map(|coupled| Box::new(ChemistryDriver::new(Arc::clone(coupled))));
    }

    pub(super) fn set_neighbours(&mut self, neighbours: Box<dyn Neighbours<R>>) {
        self.neighbours = Some(neighbours);
    }

    /// Perturbs every value by one ULP up or down, by `seed`, before every later step.
    pub(super) fn disturb(&mut self, seed: Option<u64>) {
        self.disturbance = seed;
    }

    /// Takes the time of the present step, and its light where the input gives it.
    pub(super) fn drive(&mut self, moment: &TimeInterpolant<R>) {
        if let Some(driver) = &mut self.chemistry {
            driver.drive(moment);
        }
    }

    /// Continues the chemistry with the tally and the first steps of an earlier run, or anew.
    pub(super) fn resume_chemistry(&mut self, tally: ChemistryTally, first_steps: &[f64]) {
        if let Some(driver) = &mut self.chemistry {
            (driver.tally, driver.first_steps) = (tally, first_steps.to_vec());
        }
    }

    /// Tally of the chemistry; `None` without chemistry.
    pub(super) fn chemistry_tally(&self) -> Option<ChemistryTally> {
        self.chemistry.as_ref().map(|driver| driver.tally)
    }

    /// First steps of the cells' next calls of the chemistry, s.
    pub(super) fn first_steps(&self) -> Vec<f64> {
        self.chemistry.as_ref().map_or_else(Vec::new, |driver| driver.first_steps.clone())
    }

    /// One step of a member over `dt` seconds.
    pub(super) fn step(
        &mut self,
        member: usize,
        (arrays, budget): (&mut Arrays<R>, &mut BudgetSums<R>),
        dt: f64,
        times: &mut PhaseTimes,
    ) -> Result<()> {
        self.perturb(&mut arrays.members[member].state);
        let start = Instant::now();
        match &mut self.neighbours {
            Some(neighbours) => neighbours.refresh(&mut arrays.members[member].state)?,
            None => assert!(
                arrays.grid.is_whole(),
                "the margins of a part of a grid have to be refreshed by its neighbours"
            ),
        }
        self.transport(member, arrays, budget, dt);
        let between = Instant::now();
        times.advection.add_host((between - start).as_secs_f64());

        self.schemes.call(member, arrays, budget, dt);
        budget.add_call(member, &arrays.members[member].surface);
        let after = Instant::now();
        times.microphysics.add_host((after - between).as_secs_f64());

        if let Some(driver) = &mut self.chemistry {
            let Arrays { grid, air, members, present, .. } = arrays;
            let passive = &mut budget.members[member].passive[..];
            let air = CellAir { grid, region: &budget.region, mass: air };
            driver.step(dt, air, &present.environment, &mut members[member].state, passive);
            times.chemistry.add_host(after.elapsed().as_secs_f64());
        }
        Ok(())
    }

    /// Perturbs a state before its step, each time with the next seed.
    fn perturb(&mut self, state: &mut State<R>) {
        if let Some(seed) = &mut self.disturbance {
            UlpPerturbation::Either { units: 1, seed: *seed }.apply(state);
            *seed += 1;
        }
    }

    /// Transports all fields of a member, with the decay of its passive tracers.
    pub(super) fn transport(
        &mut self,
        member: usize,
        arrays: &mut Arrays<R>,
        budget: &mut BudgetSums<R>,
        dt: f64,
    ) {
        let Arrays { grid, air, members, present, .. } = arrays;
        let MemberFields { state, .. } = &mut members[member];
        let Forcing { flux, inflow, .. } = &**present;
        let wind = Wind { grid, air, flux, dt };
        let set = Arc::clone(state.set());
        let limiters = set.iter().map(|tracer| tracer.limiter(self.limiter));
        let fields = state.fields_mut().iter_mut().zip(inflow).zip(limiters);
        let mut tracers: Vec<_> = fields
            .map(|((q, inflow), limiter)| {
                let inflow = inflow.as_ref().map_or(InflowValues::Neighbour, InflowValues::Values);
                Transported { q, limiter, inflow }
            })
            .collect();
        let each = tracers.len().div_ceil(self.workspaces.len()).max(1);
        let of_threads = tracers.par_chunks_mut(each).zip(&mut self.workspaces);
        let entered: Vec<_> = of_threads
            .map(|(tracers, work)| advection::step_together(&wind, tracers, work))
            .collect();
        budget.add_inflow(member, &set, entered.iter().flatten());
        let fields = state.fields_mut()[set.carried()..].iter_mut();
        for (number, (tracer, q)) in set.passive().iter().zip(fields).enumerate() {
            let Some(left) = tracer.left_after(dt) else { continue };
            budget.add_decay(member, number, left, (air, q));
            decay(q, left);
        }
    }
}

/// Leaves a fraction of a tracer.
fn decay<R: Real>(q: &mut Array3<R>, left: f64) {
    q.par_mapv_inplace(|q| R::of(left) * q);
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{SHAPE, coordinate, forcing, grid, with_passive};
    use super::*;
    use crate::dry_mass::AirMass;
    use crate::physics::registry::usual_set;
    use crate::state::{TracerChange, WaterChange};

    fn stepper(tracers: usize) -> Stepper<f64> {
        let schemes = SchemeCalls::of_one(SHAPE.nz);
        Stepper::new(SHAPE, tracers, Limiter::PositiveDefinite, schemes)
    }

    /// Values after perturbations, without transport.
    fn perturbed(seed: Option<u64>, times: usize) -> Vec<f64> {
        let mut stepper = stepper(with_passive().len());
        stepper.disturb(seed);
        let mut state = State::zeros(&usual_set(), SHAPE).into_map(|field| field + 1.0);
        for _ in 0..times {
            stepper.perturb(&mut state);
        }
        state.fields()[0].iter().copied().collect()
    }

    #[test]
    fn a_perturbation_moves_each_value_by_one_ulp_and_goes_on_with_the_next_seed() {
        assert!(perturbed(None, 2).iter().all(|x| *x == 1.0));
        let once = perturbed(Some(7), 1);
        assert!(once.iter().all(|x| [1.0_f64.next_up(), 1.0_f64.next_down()].contains(x)));
        let mut after_both = perturbed(Some(8), 1);
        // The moves of seeds 7 and 8, one after the other.
        for (x, first) in after_both.iter_mut().zip(&once) {
            *x = match (*first > 1.0, *x > 1.0) {
                (true, true) => 1.0_f64.next_up().next_up(),
                (false, false) => 1.0_f64.next_down().next_down(),
                _ => 1.0,
            };
        }
        assert_eq!(perturbed(Some(7), 2), after_both);
        assert!(after_both.contains(&1.0) && after_both.iter().any(|x| *x != 1.0));
    }

    /// A step of tracers that differ, so many of them at a time: their fields, and the water that entered.
    fn transported(together: usize) -> (Vec<Array3<f64>>, WaterChange) {
        let set = with_passive();
        let mut state = State::zeros(&set, SHAPE);
        for (n, field) in state.fields_mut().iter_mut().enumerate() {
            for ((k, j, i), q) in field.indexed_iter_mut() {
                *q = ((n + 2 * k + 3 * j + 5 * i) % 7) as f64;
            }
        }
        let mut wind = forcing(1.0);
        // A tenth of a cell in a step.
        wind.flux.x.fill(0.1 * AirMass::<f64>::new(&grid(), &coordinate()).cell.at(0, 0, 0));
        let mut arrays = Arrays::new(&grid(), &coordinate(), &Arc::new(wind), [state]);
        let mut budget = BudgetSums::new(&grid(), &coordinate(), &set, 1);
        let mut stepper = stepper(set.len());
        stepper.workspaces = vec![Workspace::together(SHAPE, together)];
        stepper.transport(0, &mut arrays, &mut budget, 1.0);
        (arrays.members[0].state.fields().to_vec(), budget.members[0].water.rounded())
    }

    #[test]
    fn tracers_have_the_same_bits_together_and_one_after_the_other() {
        let apart = transported(1);
        assert!(apart.0[1].iter().any(|q| q.fract() != 0.0), "nothing was carried");
        // Groups of which the last one is smaller, and all of them.
        for together in [3, with_passive().len()] {
            assert_eq!(transported(together), apart, "{together} at a time");
        }
    }

    #[test]
    fn air_at_rest_carries_nothing_and_tracers_decay() {
        let set = with_passive();
        let state = State::zeros(&set, SHAPE).into_map(|field| field + 8.0);
        let mut arrays = Arrays::new(&grid(), &coordinate(), &Arc::new(forcing(1.0)), [state]);
        let mut budget = BudgetSums::new(&grid(), &coordinate(), &set, 1);
        let [stable, unstable] = set.passive() else { panic!("two passive tracers") };
        assert_eq!(stable.left_after(1.0), None);
        let left = unstable.left_after(1.0).expect("a tracer that decays");
        stepper(set.len()).transport(0, &mut arrays, &mut budget, 1.0);
        assert_eq!(budget.members[0].water.rounded(), WaterChange::default());
        let fields = arrays.members[0].state.fields();
        let (last, others) = fields.split_last().expect("fields");
        assert!(others.iter().flatten().all(|q| *q == 8.0));
        assert!(last.iter().all(|q| *q == left * 8.0));
        let [stable, unstable] = budget.members[0].rounded_passive()[..] else {
            panic!("two changes")
        };
        assert_eq!(stable, TracerChange::default());
        assert!(unstable.decayed < 0.0 && unstable.sides == 0.0);
    }
}

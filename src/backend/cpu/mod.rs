//! The CPU backend: all cores through rayon, the same bits on any number of them.
//!
//! Its parts are those of the GPU backend: `arrays`, `budget`, `step`, `sampling` and `frames`. A part borrows parts
//! before it in this list only, and the backend calls them in turn.

mod arrays;
mod budget;
#[cfg(test)]
mod fixture;
mod frames;
mod sampling;
mod scheme_calls;
mod step;

use std::fs;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use arrays::Arrays;
use budget::BudgetSums;
use frames::Frames;
use sampling::Sampler;
use scheme_calls::SchemeCalls;
use step::Stepper;

use super::exact_budget::ExactAccount;
use super::interpolation::Operator;
use super::margins::Neighbours;
use super::{
    Account, Backend, CollectedOutput, ComputePrecision, Info, Output, PhaseTimes, Products,
    RunStart,
};
use crate::advection::Limiter;
use crate::chemistry::coupled::Coupled;
use crate::dry_mass::{AirMass, MassCoordinate};
use crate::error::Result;
use crate::forcing::{Forcing, TimeInterpolant};
use crate::grid::Grid;
use crate::physics::check_length;
use crate::physics::scheme::Scheme;
use crate::primitives::reduce::Number;
use crate::real::Real;
use crate::state::{ChemistryTally, CloudDiagnostics, State};

/// States of all members, which are computed sequentially, each on all cores, and the data of a step.
#[derive(Debug)]
pub struct Cpu<R: Real> {
    arrays: Arrays<R>,
    budget: BudgetSums<R>,
    step: Stepper<R>,
    sampler: Sampler<R>,
    frames: Frames<R>,
    times: PhaseTimes,
}

impl<R: ComputePrecision> Cpu<R> {
    /// A run of one from a state; `forcing` drives the steps until the next [`drive`](Backend::drive).
    pub fn new(
        grid: &Grid,
        coordinate: &MassCoordinate,
        limiter: Limiter,
        scheme: &dyn Scheme,
        forcing: &Arc<Forcing<R>>,
        state: State<R>,
    ) -> Self {
        Self::of_members(grid, coordinate, limiter, forcing, [(scheme.boxed(), state)])
    }

    /// The members of an ensemble, each with an initial state and a scheme: the same one with parameters of its own.
    ///
    /// # Panics
    ///
    /// Without any member.
    pub fn of_members(
        grid: &Grid,
        coordinate: &MassCoordinate,
        limiter: Limiter,
        forcing: &Arc<Forcing<R>>,
        members: impl IntoIterator<Item = (Box<dyn Scheme>, State<R>)>,
    ) -> Self {
        let (schemes, states): (Vec<_>, Vec<_>) = members.into_iter().unzip();
        let (shape, members) = (grid.shape, schemes.len());
        let schemes = SchemeCalls::new(&schemes, shape.nz);
        let arrays = Arrays::new(grid, coordinate, forcing, states);
        let set = arrays.members[0].state.set();
        Self {
            budget: BudgetSums::new(grid, coordinate, set, members),
            step: Stepper::new(shape, set.len(), limiter, schemes),
            arrays,
            sampler: Sampler::default(),
            frames: Frames::new(),
            times: PhaseTimes::default(),
        }
    }

    /// Adds the chemistry of a mechanism, whose species are among the tracers of the state.
    ///
    /// # Panics
    ///
    /// With chemistry in several members.
    #[must_use]
    pub fn with_chemistry(mut self, coupled: Option<&Arc<Coupled>>) -> Self {
        let is_of_one = self.arrays.members.len() == 1;
        assert!(coupled.is_none() || is_of_one, "chemistry in a run of one");
        self.step.set_chemistry(coupled);
        self
    }

    /// Refreshes the margins of a part of a grid by its neighbours; grid, coordinate, forcing and state of the
    /// constructor are those of the part.
    #[must_use]
    pub fn with_neighbours(mut self, neighbours: Box<dyn Neighbours<R>>) -> Self {
        self.step.set_neighbours(neighbours);
        self
    }

    /// Transports all fields of the first member, with the decay of its passive tracers.
    pub fn transport(&mut self, dt: f64) {
        self.step.transport(0, &mut self.arrays, &mut self.budget, dt);
    }

    /// The budget of a member in the owned cells.
    pub(super) fn exact_account(&self, member: usize) -> ExactAccount {
        let account = self.budget.account(member, &self.arrays);
        ExactAccount { chemistry: self.step.chemistry_tally(), ..account }
    }

    /// The values of the columns that an operator reads, in the air of a moment.
    pub(super) fn column_values(
        &mut self,
        operator: &Operator<R>,
        moment: &TimeInterpolant<R>,
    ) -> Products<R> {
        self.arrays.show_air(moment);
        sampling::column_values(operator, &self.arrays, &self.step.schemes)
    }

    /// The owned columns of the fields, and what is diagnosed from them in the air of a moment.
    pub(super) fn owned_columns(
        &mut self,
        moment: &TimeInterpolant<R>,
    ) -> (State<R>, CloudDiagnostics<R>) {
        self.arrays.show_air(moment);
        let owned = self.arrays.grid.owned();
        let diagnostics = sampling::diagnosed(&self.arrays, &self.step.schemes);
        (self.state().within(&owned), diagnostics.within(&owned))
    }

    /// One call of the microphysics of the first member over `dt` seconds, in the owned columns outside the
    /// specified rows.
    pub fn microphysics(&mut self, dt: f64) {
        self.step.schemes.call(0, &mut self.arrays, &mut self.budget, dt);
    }

    /// Reflectivity and effective radii of the state of the first member.
    pub fn diagnose(&self, out: &mut CloudDiagnostics<R>) {
        let environment = &self.arrays.present.environment;
        self.step.schemes.diagnose(0, self.state(), environment, out);
    }

    /// Replaces the scheme of the first member by the same one with other parameters, for tests that perturb it.
    pub fn set_scheme(&mut self, scheme: &dyn Scheme) {
        self.step.schemes.replace(scheme);
    }

    /// Perturbs every value by one ULP up or down, by `seed`, before every later step, as other rounding would.
    pub fn disturb(&mut self, seed: Option<u64>) {
        self.step.disturb(seed);
    }

    /// The fields of the first member.
    pub fn state(&self) -> &State<R> {
        &self.arrays.members[0].state
    }

    /// Mass of the cells and capacity of the faces.
    pub fn air(&self) -> &AirMass<R> {
        &self.arrays.air
    }
}

impl<R> Backend<R> for Cpu<R>
where
    R: ComputePrecision + Number,
{
    fn info(&mut self) -> Result<Info> {
        let threads = rayon::current_num_threads();
        let plural = if threads == 1 { "" } else { "s" };
        let vectors = self.step.schemes.instructions();
        let with = vectors.map_or_else(String::new, |instructions| format!(", {instructions}"));
        Ok(Info {
            kind: "cpu",
            description: format!("CPU, {threads} thread{plural}, {}{with}", name()),
            device: name().to_owned(),
            members: self.arrays.members.len(),
            times: self.times,
            exchange: None,
        })
    }

    fn start(&mut self, start: RunStart<'_, R>) -> Result<()> {
        let RunStart { states, gathered, attached } = start;
        self.sampler = Sampler::new(self.arrays.grid.shape, &attached);
        if !states.is_empty() {
            self.arrays.restore(states);
            self.budget.reset();
            self.step.resume_chemistry(ChemistryTally::default(), &[]);
            self.frames.clear();
        }
        if let Some(gathered) = gathered {
            self.step.resume_chemistry(gathered.chemistry, &gathered.first_steps);
            self.budget.resume(gathered);
            self.arrays.members[0].surface = gathered.surface.clone();
        }
        Ok(())
    }

    fn drive(&mut self, moment: &TimeInterpolant<R>) -> Result<()> {
        let start = Instant::now();
        self.arrays.show(moment);
        self.step.drive(moment);
        self.times.input.add_host(start.elapsed().as_secs_f64());
        Ok(())
    }

    fn step(&mut self, dt: f64) -> Result<()> {
        check_length(R::of(dt))?;
        let Self { arrays, budget, step, times, .. } = self;
        (0..arrays.members.len())
            .try_for_each(|member| step.step(member, (&mut *arrays, &mut *budget), dt, times))
    }

    fn check(&mut self, step: usize, _wait: bool) -> Result<()> {
        self.arrays.check(step)
    }

    fn capture(&mut self, output: Output, moment: &TimeInterpolant<R>) -> Result<()> {
        let start = Instant::now();
        let Self { arrays, budget, step, sampler, frames, times } = self;
        match output {
            Output::Frame(member) => {
                arrays.show(moment);
                frames.begin(member, arrays, budget, step);
            }
            Output::Products(operator) => {
                arrays.show_air(moment);
                sampler.begin_products(operator, arrays, &step.schemes);
            }
            Output::Profiles => {
                arrays.show_air(moment);
                sampler.begin_profiles(arrays, &step.schemes);
            }
            Output::Checkpoint(number) => {
                arrays.check(number)?;
                frames.begin_checkpoint(arrays, budget, step);
                return Ok(());
            }
        }
        times.output.add_host(start.elapsed().as_secs_f64());
        Ok(())
    }

    fn collect(&mut self, output: Output, _wait: bool) -> Result<Option<CollectedOutput<R>>> {
        Ok(match output {
            Output::Frame(member) => self.frames.end(member).map(CollectedOutput::Frame),
            Output::Products(operator) => {
                self.sampler.end_products(operator).map(CollectedOutput::Products)
            }
            Output::Profiles => self.sampler.end_profiles().map(CollectedOutput::Profiles),
            Output::Checkpoint(_) => self.frames.end_checkpoint().map(CollectedOutput::Checkpoint),
        })
    }

    fn account(&mut self, member: usize) -> Result<Account> {
        Ok(self.exact_account(member).rounded(self.budget.region.extent()))
    }
}

/// Name of the processor, as the system has it.
pub fn name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let about = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        about
            .lines()
            .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
            .map_or_else(|| "unknown".to_owned(), |(_, name)| name.to_owned())
    })
}

//! The CPU backend: all cores through rayon, the same bits on any number of them.

mod member;

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use std::{fs, iter};

use ndarray::Array2;
use rayon::prelude::*;

use member::{Member, warm_rain};

use super::chemistry::{CellAir, ChemistryDriver};
use super::column_profiles::ProfileExtractor;
use super::interpolation::{GatheredColumns, Operator};
use super::margins::Neighbours;
use super::nan_check::check_owned;
use super::{
    Account, Accumulators, Backend, BudgetDomain, CapturedFrame, Checkpoint, CollectedOutput,
    ComputePrecision, FRAMES_IN_FLIGHT, Info, Microphysics, Output, PhaseTimes, RunStart,
    SamplingRequest, Summary, TracerAmount, UlpPerturbation, WaterChange,
};
use crate::advection::{self, InflowValues, Limiter, Wind, Workspace};
use crate::chemistry::coupled::Coupled;
use crate::dry_mass::{AirMass, MassCoordinate};
use crate::error::{Error, Result};
use crate::forcing::{Continuity, Forcing, TimeInterpolant};
use crate::grid::{Grid, Window};
use crate::physics::kessler::{self, Kessler};
use crate::physics::{self, MismatchMasses, Scratch};
use crate::primitives::reduce::Number;
use crate::real::Real;
use crate::simd::Instructions;
use crate::state::{ChemistryTally, CloudDiagnostics, STATE_FIELDS, State};
use crate::tracers::{Role, Tracer};
use crate::wsm5::reflectivity::Bins;
use crate::wsm5::scheme::Scheme;
use crate::wsm5::{self, DiagnosticFields};

/// States of all members, which are computed sequentially, each on all cores, and the data of a step.
#[derive(Debug)]
pub struct Cpu<R: Real> {
    grid: Grid,
    air: AirMass<R>,
    region: BudgetDomain,
    limiter: Limiter,
    members: Vec<Member<R>>,
    /// The Kessler scheme, if it replaces WSM5, and its work space.
    kessler: Option<(Kessler<R>, Scratch<kessler::Work<R>>)>,
    /// Seed of the ULP perturbation before the next step, if there is one.
    disturbance: Option<u64>,
    bins: Bins<R>,
    /// Winds, air and sides that drive the steps: a frame of the input, shared, or one made here between two frames.
    present: Arc<Forcing<R>>,
    continuity: Continuity,
    chemistry: Option<Box<ChemistryDriver<R>>>,
    /// Reciprocal area of the cells, m⁻².
    per_area: Array2<R>,
    /// Neighbours of a part of a grid, which refresh its margins.
    neighbours: Option<Box<dyn Neighbours<R>>>,
    /// Mass mismatch of the last call: mass of its changes minus that with rho dz as the mass of a cell, kg m⁻².
    mass_mismatch: Array2<R>,
    /// Frames that have not been collected, with the numbers of their members.
    frames: VecDeque<(usize, Box<CapturedFrame<R>>)>,
    checkpoint: Option<Box<Checkpoint<R>>>,
    operators: Vec<Operator<R>>,
    extractor: Option<ProfileExtractor<R>>,
    /// One for each of the tracers that are transported at a time.
    workspaces: Vec<Workspace<R>>,
    scratch: Scratch<wsm5::Work<R>>,
    times: PhaseTimes,
}

impl<R: ComputePrecision> Cpu<R> {
    /// A run of one from a state; `forcing` drives the steps until the next [`drive`](Backend::drive).
    pub fn new(
        grid: &Grid,
        coordinate: &MassCoordinate,
        limiter: Limiter,
        microphysics: impl Into<Microphysics>,
        forcing: &Arc<Forcing<R>>,
        state: State<R>,
    ) -> Self {
        let microphysics = microphysics.into();
        let scheme = Scheme::default().with_fallout(microphysics.fallout());
        Self::of_members(grid, coordinate, (limiter, microphysics), forcing, [(scheme, state)])
    }

    /// The members of an ensemble, each with parameters of WSM5 of its own and an initial state.
    ///
    /// # Panics
    ///
    /// Without any member.
    pub fn of_members(
        grid: &Grid,
        coordinate: &MassCoordinate,
        (limiter, microphysics): (Limiter, Microphysics),
        forcing: &Arc<Forcing<R>>,
        members: impl IntoIterator<Item = (Scheme<R>, State<R>)>,
    ) -> Self {
        let shape = grid.shape;
        let members: Vec<_> =
            members.into_iter().map(|member| Member::new(shape, member)).collect();
        let kessler = (microphysics == Microphysics::Kessler).then(|| {
            let scheme = Kessler::default();
            (scheme, Scratch::new(&scheme, shape.nz))
        });
        let workspace = Workspace::new(shape);
        let tracers = members[0].state.set().len();
        let each = tracers.div_ceil(rayon::current_num_threads());
        let region = BudgetDomain::new(grid, coordinate);
        let sibling: Vec<_> = (1..tracers.div_ceil(each)).map(|_| workspace.sibling()).collect();
        Self {
            grid: *grid,
            air: AirMass::new(grid, coordinate),
            limiter,
            scratch: Scratch::new(&members[0].scheme, shape.nz),
            members,
            kessler,
            disturbance: None,
            bins: Bins::default(),
            present: Arc::clone(forcing),
            continuity: Continuity::new(coordinate),
            chemistry: None,
            neighbours: None,
            per_area: region.area.mapv(|area| R::of(1.0 / area)),
            mass_mismatch: Array2::zeros((shape.ny, shape.nx)),
            region,
            frames: VecDeque::with_capacity(FRAMES_IN_FLIGHT),
            checkpoint: None,
            operators: Vec::new(),
            extractor: None,
            workspaces: iter::once(workspace).chain(sibling).collect(),
            times: PhaseTimes::default(),
        }
    }

    /// Adds the chemistry of a mechanism, whose species are among the tracers of the state.
    ///
    /// # Panics
    ///
    /// With chemistry in several members.
    #[must_use]
    pub fn with_chemistry(self, coupled: Option<&Arc<Coupled>>) -> Self {
        assert!(coupled.is_none() || self.members.len() == 1, "chemistry in a run of one");
        let chemistry = coupled.map(|coupled| Box::new(ChemistryDriver::new(Arc::clone(coupled))));
        Self { chemistry, ..self }
    }

    /// Refreshes the margins of a part of a grid by its neighbours; grid, coordinate, forcing and state of the
    /// constructor are those of the part.
    #[must_use]
    pub fn with_neighbours(self, neighbours: Box<dyn Neighbours<R>>) -> Self {
        Self { neighbours: Some(neighbours), ..self }
    }

    /// Transports all fields of the first member, with the decay of its passive tracers; returns the inflow of water
    /// through the sides, kg.
    pub fn transport(&mut self, dt: f64) -> f64 {
        self.transport_of(0, dt)
    }

    fn transport_of(&mut self, member: usize, dt: f64) -> f64 {
        let member = &mut self.members[member];
        let Forcing { flux, inflow, .. } = &*self.present;
        let wind = Wind { grid: &self.grid, air: &self.air, flux, dt };
        let set = Arc::clone(member.state.set());
        let limiters = set.iter().map(|tracer| tracer.limiter(self.limiter));
        let fields = member.state.fields_mut().iter_mut().zip(inflow).zip(limiters);
        let mut tracers: Vec<_> = fields.map(|tracer| (tracer, 0.0)).collect();
        let each = tracers.len().div_ceil(self.workspaces.len());
        // Threads that have no tracer of their own help the others with their rows.
        tracers.par_chunks_mut(each).zip(&mut self.workspaces).for_each(|(tracers, work)| {
            for (((q, inflow), limiter), entered) in tracers {
                let inflow = inflow.as_ref().map_or(InflowValues::Neighbour, InflowValues::Values);
                *entered = advection::step(&wind, *limiter, inflow, q, work);
            }
        });
        let entered = |(tracer, (_, entered)): (&Tracer, &(_, f64))| {
            if tracer.role == Role::Water { *entered } else { 0.0 }
        };
        let water = set.iter().zip(&tracers).map(entered).sum();
        for (change, (_, entered)) in member.passive.iter_mut().zip(&tracers[STATE_FIELDS..]) {
            change.sides += entered;
        }
        // Decay of the passive tracers.
        let fields = member.state.fields_mut()[STATE_FIELDS..].iter_mut();
        for ((tracer, q), change) in set.passive().iter().zip(fields).zip(&mut member.passive) {
            let Some(left) = tracer.left_after(dt) else { continue };
            change.decayed += (left - 1.0) * self.region.amount(&self.air, q);
            q.par_mapv_inplace(|q| R::of(left) * q);
        }
        water
    }

    /// One call of the microphysics of the first member over `dt` seconds, in the owned columns outside the
    /// specified rows.
    pub fn microphysics(&mut self, dt: f64) {
        self.microphysics_of(0, dt);
    }

    fn microphysics_of(&mut self, member: usize, dt: f64) {
        let Window { rows, columns } = self.grid.unspecified();
        let environment = &self.present.environment;
        let Member { scheme: wsm5, state, surface, .. } = &mut self.members[member];
        let weighing = MismatchMasses::new(&self.air.cell, &self.per_area, &mut self.mass_mismatch);
        if let Some((scheme, scratch)) = &self.kessler {
            let block = warm_rain(state, environment, surface).weighed(weighing);
            physics::call(scheme, R::of(dt), scratch, block.within(rows, columns));
        } else {
            let block = wsm5::block(R::THETA_BASE, state, environment, surface).weighed(weighing);
            physics::call(wsm5, R::of(dt), &self.scratch, block.within(rows, columns));
        }
    }

    /// Reflectivity and effective radii of the state of the first member.
    pub fn diagnose(&self, out: &mut CloudDiagnostics<R>) {
        self.diagnose_of(0, out);
    }

    fn diagnose_of(&self, member: usize, out: &mut CloudDiagnostics<R>) {
        let (member, environment) = (&self.members[member], &self.present.environment);
        let fields = DiagnosticFields::new(R::THETA_BASE, &member.state, environment, out);
        wsm5::diagnose(&member.scheme, &self.bins, Instructions::best(), fields);
    }

    /// The microphysics of the first member, for tests that perturb it.
    pub fn scheme_mut(&mut self) -> &mut Scheme<R> {
        &mut self.members[0].scheme
    }

    /// The Kessler scheme, if the run uses it, for tests that perturb it.
    pub fn kessler_mut(&mut self) -> Option<&mut Kessler<R>> {
        self.kessler.as_mut().map(|(scheme, _)| scheme)
    }

    /// Perturbs every value by one ULP up or down, by `seed`, before every later step, as other rounding would.
    pub fn disturb(&mut self, seed: Option<u64>) {
        self.disturbance = seed;
    }

    /// The fields of the first member.
    pub fn state(&self) -> &State<R> {
        &self.members[0].state
    }

    /// Mass of the cells and capacity of the faces.
    pub fn air(&self) -> &AirMass<R> {
        &self.air
    }

    /// Sets the air and the winds at a time: between two frames of the input, or of a frame.
    fn show(&mut self, moment: &TimeInterpolant<R>) {
        if let Some(forcing) = moment.buffer(&mut self.present) {
            forcing.set(moment, &mut self.continuity);
        }
    }

    /// Sets the air only.
    fn show_air(&mut self, moment: &TimeInterpolant<R>) {
        if let Some(forcing) = moment.buffer(&mut self.present) {
            forcing.set_air(moment);
        }
    }

    /// The member of a run of one.
    fn sole_member(&self) -> &Member<R> {
        assert_eq!(self.members.len(), 1, "an output of a run of one");
        &self.members[0]
    }

    /// An error with the number of its member, where there are several.
    fn with_member(&self, member: usize, error: Error) -> Error {
        if self.members.len() > 1 { error.of_member(member) } else { error }
    }
}

/// The outputs.
impl<R: ComputePrecision + Number> Cpu<R> {
    fn begin_frame(&mut self, member: usize, moment: &TimeInterpolant<R>) {
        assert!(self.frames.len() < FRAMES_IN_FLIGHT, "a frame was not collected");
        self.show(moment);
        let mut diagnostics = CloudDiagnostics::zeros(self.grid.shape);
        self.diagnose_of(member, &mut diagnostics);
        let Member { state, surface, changes, .. } = &self.members[member];
        let flux = &self.present.flux;
        let summary = Summary::of(&self.region, &self.air, state, flux, *changes);
        let owned = self.grid.owned();
        let (state, surface) = (state.within(&owned), surface.within(&owned));
        let diagnostics = diagnostics.within(&owned);
        let frame = CapturedFrame { state, diagnostics, surface, summary };
        self.frames.push_back((member, Box::new(frame)));
    }

    fn begin_products(&mut self, operator: usize, moment: &TimeInterpolant<R>) {
        self.show_air(moment);
        let Member { scheme, state, surface, .. } = self.sole_member();
        let working = &self.operators[operator];
        assert!(working.in_flight.len() < FRAMES_IN_FLIGHT, "a sample was not collected");
        let GatheredColumns { state, air, mut diagnostics } =
            working.gather(state, &self.present.environment);
        let fields = DiagnosticFields::new(R::THETA_BASE, &state, &air, &mut diagnostics);
        wsm5::diagnose(scheme, &self.bins, Instructions::best(), fields);
        let products = working.products((&state, &diagnostics), surface);
        self.operators[operator].in_flight.push_back(products);
    }

    fn begin_profiles(&mut self, moment: &TimeInterpolant<R>) {
        self.show_air(moment);
        let shape = self.grid.shape;
        let mut diagnostics = CloudDiagnostics::zeros(shape);
        self.diagnose(&mut diagnostics);
        self.sole_member();
        let state = &self.members[0].state;
        let extractor = self.extractor.as_mut().expect("weights are attached");
        assert!(extractor.in_flight.len() < FRAMES_IN_FLIGHT, "columns were not collected");
        let profiles = extractor.profiles(shape, state, &diagnostics);
        extractor.in_flight.push_back(profiles);
    }

    /// The state and all sums.
    fn checkpoint(&self) -> Checkpoint<R> {
        let Member { state, surface, changes, passive, .. } = self.sole_member();
        let chemistry = self.chemistry.as_ref().map(|x| (x.tally, x.first_steps.clone()));
        let ((chemistry, first_steps), parts) = (chemistry.unwrap_or_default(), Vec::new());
        let owned = self.grid.owned();
        let (surface, changes, passive) = (surface.within(&owned), *changes, passive.clone());
        let gathered = Accumulators { surface, changes, passive, chemistry, first_steps, parts };
        Checkpoint { state: state.within(&owned), gathered }
    }
}

impl<R> Backend<R> for Cpu<R>
where
    R: ComputePrecision + Number,
{
    fn info(&mut self) -> Result<Info> {
        let threads = rayon::current_num_threads();
        let plural = if threads == 1 { "" } else { "s" };
        // Single precision has other bits with them than without.
        let vectors = match &self.kessler {
            Some(_) => Instructions::best(),
            None => wsm5::instructions::<R>(self.members[0].scheme.fallout, Instructions::best()),
        };
        let with = vectors.map_or_else(String::new, |instructions| format!(", {instructions}"));
        Ok(Info {
            kind: "cpu",
            description: format!("CPU, {threads} thread{plural}, {}{with}", name()),
            device: name().to_owned(),
            members: self.members.len(),
            times: self.times,
        })
    }

    fn start(&mut self, start: RunStart<'_, R>) -> Result<()> {
        let RunStart { states, gathered, attached: SamplingRequest { operators, weights } } = start;
        let shape = self.grid.shape;
        self.operators = operators.iter().map(|x| Operator::new(x, shape.columns())).collect();
        self.extractor = weights.as_ref().map(|weights| ProfileExtractor::new(shape, weights));
        if !states.is_empty() {
            assert_eq!(states.len(), self.members.len(), "a state for each member");
            for (member, state) in self.members.iter_mut().zip(states) {
                member.restore(state);
            }
            if let Some(driver) = &mut self.chemistry {
                (driver.tally, driver.first_steps) = (ChemistryTally::default(), Vec::new());
            }
            self.frames.clear();
        }
        if let Some(Accumulators { surface, changes, passive, chemistry, first_steps, .. }) =
            gathered
        {
            if let Some(driver) = &mut self.chemistry {
                (driver.tally, driver.first_steps) = (*chemistry, first_steps.clone());
            }
            let [member] = &mut self.members[..] else { panic!("sums of a run of one") };
            member.surface = surface.clone();
            member.changes = *changes;
            member.passive.clone_from(passive);
        }
        Ok(())
    }

    fn drive(&mut self, moment: &TimeInterpolant<R>) -> Result<()> {
        let start = Instant::now();
        self.show(moment);
        if let Some(driver) = &mut self.chemistry {
            driver.drive(moment);
        }
        self.times.input.add_host(start.elapsed().as_secs_f64());
        Ok(())
    }

    fn step(&mut self, dt: f64) -> Result<()> {
        wsm5::check_length(R::of(dt))?;
        for member in 0..self.members.len() {
            if let Some(seed) = &mut self.disturbance {
                let state = &mut self.members[member].state;
                UlpPerturbation::Either { units: 1, seed: *seed }.apply(state);
                *seed += 1;
            }
            let start = Instant::now();
            match &mut self.neighbours {
                Some(neighbours) => neighbours.refresh(&mut self.members[member].state)?,
                None => assert!(
                    self.grid.is_whole(),
                    "the margins of a part of a grid have to be refreshed by its neighbours"
                ),
            }
            let sides = self.transport_of(member, dt);
            let between = Instant::now();
            self.times.advection.add_host((between - start).as_secs_f64());

            self.microphysics_of(member, dt);
            let Member { state, surface, changes, passive, .. } = &mut self.members[member];
            changes.add(&WaterChange {
                sides,
                fallen: self.region.total(&surface.fallen),
                fallout_residual: self.region.total(&surface.fall_residual),
                clipped: self.region.total(&surface.clipped),
                mass_mismatch: self.region.total(&self.mass_mismatch),
            });
            let after = Instant::now();
            self.times.microphysics.add_host((after - between).as_secs_f64());

            if let Some(driver) = &mut self.chemistry {
                let air = CellAir { grid: &self.grid, region: &self.region, mass: &self.air };
                driver.step(dt, air, &self.present.environment, state, passive);
                self.times.chemistry.add_host(after.elapsed().as_secs_f64());
            }
        }
        Ok(())
    }

    fn check(&mut self, step: usize, _wait: bool) -> Result<()> {
        self.members.iter().enumerate().try_for_each(|(number, member)| {
            check_owned(&self.grid, &member.state, step).map_err(|e| self.with_member(number, e))
        })
    }

    fn capture(&mut self, output: Output, moment: &TimeInterpolant<R>) -> Result<()> {
        let start = Instant::now();
        match output {
            Output::Frame(member) => self.begin_frame(member, moment),
            Output::Products(operator) => self.begin_products(operator, moment),
            Output::Profiles => self.begin_profiles(moment),
            Output::Checkpoint(step) => {
                self.check(step, true)?;
                self.checkpoint = Some(Box::new(self.checkpoint()));
                return Ok(());
            }
        }
        self.times.output.add_host(start.elapsed().as_secs_f64());
        Ok(())
    }

    fn collect(&mut self, output: Output, _wait: bool) -> Result<Option<CollectedOutput<R>>> {
        Ok(match output {
            Output::Frame(member) => self.frames.pop_front().map(|(number, frame)| {
                assert_eq!(number, member, "the member of the oldest frame");
                CollectedOutput::Frame(frame)
            }),
            Output::Products(operator) => {
                self.operators[operator].in_flight.pop_front().map(CollectedOutput::Products)
            }
            Output::Profiles => {
                let extractor = self.extractor.as_mut();
                extractor.and_then(|x| x.in_flight.pop_front()).map(CollectedOutput::Profiles)
            }
            Output::Checkpoint(_) => self.checkpoint.take().map(CollectedOutput::Checkpoint),
        })
    }

    fn account(&mut self, member: usize) -> Result<Account> {
        let Member { state, surface, changes, passive, .. } = &self.members[member];
        let amount = |q| self.region.amount(&self.air, q);
        let pairs = state.passive().iter().zip(passive);
        Ok(Account {
            water: self.region.water(&self.air, state),
            changes: *changes,
            passive: pairs.map(|(q, &change)| TracerAmount { amount: amount(q), change }).collect(),
            chemistry: self.chemistry.as_ref().map(|driver| driver.tally),
            precipitation: self.region.precipitation(&surface.rain, &surface.snow),
        })
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

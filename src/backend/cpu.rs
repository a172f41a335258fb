//! The CPU backend: all cores through rayon, the same bits on any number of them.

use std::collections::VecDeque;
use std::mem::swap;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use std::{fs, iter};

use ndarray::Array2;
use rayon::prelude::*;

use super::chemist::Chemist;
use super::finite::check_owned;
use super::margins::{Margins, refresh};
use super::microphysics::warm_rain;
use super::operators::Operator;
use super::present::Present;
use super::turned::Turning;
use super::{
    Attached, Backend, Captured, Computing, FRAMES_IN_FLIGHT, Gathered, Microphysics, Observed,
    PhaseTimes, Precipitation, Products, Profiles, Region, Shift, Standing, Summary, TracerAmount,
    WaterChange,
};
use crate::advection::{self, Entering, Limiter, Wind, Workspace};
use crate::chemistry::coupled::Coupled;
use crate::error::Result;
use crate::forcing::{Continuity, Forcing, Moment};
use crate::grid::{Grid, Window};
use crate::lanes::Instructions;
use crate::mass::{AirMass, MassCoordinate};
use crate::physics::{
    self,
    kessler::{self, Kessler},
};
use crate::primitives::reduce::Number;
use crate::real::Real;
use crate::state::{ChemistryTally, CloudDiagnostics, STATE_FIELDS, State, Surface, TracerChange};
use crate::tracers::{Role, Tracer};
use crate::wsm5::reflectivity::Bins;
use crate::wsm5::scheme::Scheme;
use crate::wsm5::{self, DiagnosticFields, Fields, Scratch, Weighing};

/// The state of a run and what a step needs beside it.
#[derive(Debug)]
pub struct Cpu<R: Real> {
    grid: Grid,
    air: AirMass<R>,
    region: Region,
    limiter: Limiter,
    /// WSM5, which diagnoses in any case.
    scheme: Scheme<R>,
    /// The Kessler scheme in its place, with its work space.
    kessler: Option<(Kessler<R>, physics::Scratch<kessler::Work<R>>)>,
    /// Seed of the units that the values are moved by before the next step, if they are.
    disturbance: Option<u64>,
    bins: Bins<R>,
    present: Present<R>,
    continuity: Continuity,
    state: State<R>,
    surface: Surface<R>,
    changes: WaterChange,
    /// Changes of the passive tracers.
    passive: Vec<TracerChange>,
    chemist: Option<Box<Chemist>>,
    /// Reciprocal area of the cells, m⁻².
    per_area: Array2<R>,
    /// What refreshes the margins of a part of a grid.
    margins: Option<Box<dyn Margins<R>>>,
    /// What the changes of the last call weigh where rho dz of a cell is not its dry mass, kg m⁻².
    mass_mismatch: Array2<R>,
    frames: VecDeque<Captured<R>>,
    operators: Vec<Operator<R>>,
    turning: Option<Turning<R>>,
    /// One for each of the tracers that are carried at a time.
    workspaces: Vec<Workspace<R>>,
    scratch: Scratch<R>,
    times: PhaseTimes,
}

/// What belongs to one run alone: the rest serves any run that the same winds drive.
#[derive(Debug)]
pub(super) struct Own<R> {
    pub(super) scheme: Scheme<R>,
    pub(super) state: State<R>,
    pub(super) surface: Surface<R>,
    pub(super) changes: WaterChange,
    pub(super) passive: Vec<TracerChange>,
}

impl<R: Computing> Cpu<R> {
    /// Takes over a state; `forcing` drives the steps until another one is given.
    pub fn new(
        grid: &Grid,
        coordinate: &MassCoordinate,
        limiter: Limiter,
        microphysics: impl Into<Microphysics>,
        forcing: &Arc<Forcing<R>>,
        state: State<R>,
    ) -> Self {
        let (shape, microphysics) = (grid.shape, microphysics.into());
        let kessler = (microphysics == Microphysics::Kessler).then(|| {
            let scheme = Kessler::default();
            (scheme, physics::Scratch::new(&scheme, shape.nz))
        });
        let workspace = Workspace::new(shape);
        let (tracers, passive) = (state.set().len(), state.set().passive().len());
        let each = tracers.div_ceil(rayon::current_num_threads());
        let region = Region::new(grid, coordinate);
        let beside: Vec<_> = (1..tracers.div_ceil(each)).map(|_| workspace.beside()).collect();
        Self {
            grid: *grid,
            air: AirMass::new(grid, coordinate),
            limiter,
            scheme: Scheme::default().with_fallout(microphysics.fallout()),
            kessler,
            disturbance: None,
            bins: Bins::default(),
            present: Present::Frame(Arc::clone(forcing)),
            continuity: Continuity::new(coordinate),
            state,
            surface: Surface::zeros(shape),
            changes: WaterChange::default(),
            passive: vec![TracerChange::default(); passive],
            chemist: None,
            margins: None,
            per_area: region.area.mapv(|area| R::of(1.0 / area)),
            mass_mismatch: Array2::zeros((shape.ny, shape.nx)),
            region,
            frames: VecDeque::with_capacity(FRAMES_IN_FLIGHT),
            operators: Vec::new(),
            turning: None,
            workspaces: iter::once(workspace).chain(beside).collect(),
            scratch: Scratch::new(shape.nz),
            times: PhaseTimes::default(),
        }
    }

    /// Has the chemistry of a mechanism too, whose species are among the tracers of the state.
    #[must_use]
    pub fn with_chemistry(self, coupled: Option<&Arc<Coupled>>) -> Self {
        let chemist = coupled.map(|coupled| Box::new(Chemist::new(Arc::clone(coupled))));
        Self { chemist, ..self }
    }

    /// Has the margins of a part of a grid refreshed; the grid, the coordinate, the forcing and the state of the
    /// constructor are those of the part.
    #[must_use]
    pub fn with_margins(self, margins: Box<dyn Margins<R>>) -> Self {
        Self { margins: Some(margins), ..self }
    }

    /// Moves all fields with the air, and lets passive tracers decay; returns the water that came in through the
    /// sides, kg.
    pub fn transport(&mut self, dt: f64) -> f64 {
        let Forcing { flux, inflow, .. } = self.present.get();
        let wind = Wind { grid: &self.grid, air: &self.air, flux, dt };
        let set = Arc::clone(self.state.set());
        let limiters = set.iter().map(|tracer| tracer.limiter(self.limiter));
        let fields = self.state.fields_mut().iter_mut().zip(inflow).zip(limiters);
        let mut tracers: Vec<_> = fields.map(|tracer| (tracer, 0.0)).collect();
        let each = tracers.len().div_ceil(self.workspaces.len());
        // Threads that have no tracer of their own help the others with their rows.
        tracers.par_chunks_mut(each).zip(&mut self.workspaces).for_each(|(tracers, work)| {
            for (((q, inflow), limiter), entered) in tracers {
                let inflow = inflow.as_ref().map_or(Entering::Neighbour, Entering::Values);
                *entered = advection::step(&wind, *limiter, inflow, q, work);
            }
        });
        let entered = |(tracer, (_, entered)): (&Tracer, &(_, f64))| {
            if tracer.role == Role::Water { *entered } else { 0.0 }
        };
        let water = set.iter().zip(&tracers).map(entered).sum();
        for (change, (_, entered)) in self.passive.iter_mut().zip(&tracers[STATE_FIELDS..]) {
            change.sides += entered;
        }
        self.decay(dt);
        water
    }

    /// Lets passive tracers decay for `dt` seconds.
    fn decay(&mut self, dt: f64) {
        let set = Arc::clone(self.state.set());
        let fields = self.state.fields_mut()[STATE_FIELDS..].iter_mut();
        for ((tracer, q), change) in set.passive().iter().zip(fields).zip(&mut self.passive) {
            let Some(left) = tracer.left_after(dt) else { continue };
            change.decayed += (left - 1.0) * self.region.amount(&self.air, q);
            q.par_mapv_inplace(|q| R::of(left) * q);
        }
    }

    /// One call of the microphysics over `dt` seconds, in the owned columns outside the specified rows.
    pub fn microphysics(&mut self, dt: f64) {
        let Window { rows, columns } = self.grid.unspecified();
        let environment = &self.present.get().environment;
        if let Some((scheme, scratch)) = &self.kessler {
            let (air, weight) = (&self.air.cell, &self.per_area);
            let (state, surface) = (&mut self.state, &mut self.surface);
            let block =
                warm_rain(state, environment, surface, (air, weight, &mut self.mass_mismatch));
            physics::call(scheme, R::of(dt), scratch, block.within(rows, columns));
            return;
        }
        let weighing = Weighing::new(&self.air.cell, &self.per_area, &mut self.mass_mismatch);
        let fields = Fields::new(R::THETA_BASE, &mut self.state, environment, &mut self.surface);
        let fields = fields.weighed(weighing);
        wsm5::call(&self.scheme, R::of(dt), &self.scratch, fields.within(rows, columns));
    }

    /// Reflectivity and effective radii of the state.
    pub fn diagnose(&self, out: &mut CloudDiagnostics<R>) {
        let environment = &self.present.get().environment;
        let fields = DiagnosticFields::new(R::THETA_BASE, &self.state, environment, out);
        wsm5::diagnose(&self.scheme, &self.bins, &self.scratch, fields);
    }

    /// The microphysics, to be changed where a check is to notice it.
    pub fn scheme_mut(&mut self) -> &mut Scheme<R> {
        &mut self.scheme
    }

    /// The Kessler scheme, where the run is made with it, to be changed where a check is to notice it.
    pub fn kessler_mut(&mut self) -> Option<&mut Kessler<R>> {
        self.kessler.as_mut().map(|(scheme, _)| scheme)
    }

    /// Moves every value by a unit in the last place up or down before every step from here on,
    /// as `seed` has it: what arithmetic that rounds otherwise does.
    pub fn disturb(&mut self, seed: Option<u64>) {
        self.disturbance = seed;
    }

    /// The fields.
    pub fn state(&self) -> &State<R> {
        &self.state
    }

    /// Mass of the cells and capacity of the faces.
    pub fn air(&self) -> &AirMass<R> {
        &self.air
    }

    /// Exchanges what belongs to one run alone for that of another one on the same grid.
    pub(super) fn exchange(&mut self, other: &mut Own<R>) {
        swap(&mut self.scheme, &mut other.scheme);
        swap(&mut self.state, &mut other.state);
        swap(&mut self.surface, &mut other.surface);
        swap(&mut self.changes, &mut other.changes);
        swap(&mut self.passive, &mut other.passive);
    }

    /// Sets the air that output is diagnosed in.
    fn show(&mut self, moment: &Moment<R>) {
        if moment.after.is_some() {
            self.present.between().set_air(moment);
        } else {
            self.present = Present::Frame(Arc::clone(&moment.before));
        }
    }
}

impl<R> Backend<R> for Cpu<R>
where
    R: Computing + Number,
{
    fn kind(&self) -> &'static str {
        "cpu"
    }

    fn describe(&self) -> String {
        let threads = rayon::current_num_threads();
        let plural = if threads == 1 { "" } else { "s" };
        // Single precision has other bits with them than without.
        let vectors = match &self.kessler {
            Some(_) => Instructions::best(),
            None => self.scratch.instructions(self.scheme.fallout),
        };
        let with = vectors.map_or_else(String::new, |instructions| format!(", {instructions}"));
        format!("CPU, {threads} thread{plural}, {}{with}", name())
    }

    fn device(&self) -> String {
        name().to_owned()
    }

    fn restore(&mut self, state: &State<R>) -> Result<()> {
        for (mine, given) in self.state.fields_mut().iter_mut().zip(state.fields()) {
            mine.assign(given);
        }
        for plane in [&mut self.surface.rain, &mut self.surface.snow] {
            plane.fill(R::ZERO);
        }
        self.changes = WaterChange::default();
        self.passive.fill(TracerChange::default());
        if let Some(chemist) = &mut self.chemist {
            chemist.tally = ChemistryTally::default();
        }
        self.frames.clear();
        for operator in &mut self.operators {
            operator.under_way.clear();
        }
        if let Some(turning) = &mut self.turning {
            turning.under_way.clear();
        }
        Ok(())
    }

    fn resume(&mut self, gathered: &Gathered<R>) -> Result<()> {
        let Gathered { surface, changes, passive, chemistry, .. } = gathered;
        if let Some(chemist) = &mut self.chemist {
            chemist.tally = *chemistry;
        }
        self.surface = surface.clone();
        self.changes = *changes;
        self.passive.clone_from(passive);
        Ok(())
    }

    fn standing(&mut self, step: usize) -> Result<Standing<R>> {
        check_owned(&self.grid, &self.state, step)?;
        let owned = self.grid.owned();
        let (surface, changes) = (self.surface.within(&owned), self.changes);
        let passive = self.passive.clone();
        let chemistry = self.chemist.as_ref().map(|chemist| chemist.tally).unwrap_or_default();
        let gathered = Gathered { surface, changes, passive, chemistry, parts: Vec::new() };
        Ok(Standing { state: self.state.within(&owned), gathered })
    }

    fn drive(&mut self, moment: &Moment<R>) -> Result<()> {
        let start = Instant::now();
        if moment.after.is_some() {
            self.present.between().set(moment, &mut self.continuity);
        } else {
            self.present = Present::Frame(Arc::clone(&moment.before));
        }
        if let Some(chemist) = &mut self.chemist {
            chemist.now = moment.seconds;
        }
        self.times.input.add_host(start.elapsed().as_secs_f64());
        Ok(())
    }

    fn step(&mut self, dt: f64) -> Result<()> {
        wsm5::check_length(R::of(dt))?;
        if let Some(seed) = &mut self.disturbance {
            Shift::Either { units: 1, seed: *seed }.apply(&mut self.state);
            *seed += 1;
        }
        let start = Instant::now();
        refresh(&self.grid, self.margins.as_deref_mut(), &mut self.state)?;
        let sides = self.transport(dt);
        let between = Instant::now();
        self.times.advection.add_host((between - start).as_secs_f64());

        self.microphysics(dt);
        let change = WaterChange {
            sides,
            fallen: self.region.total(&self.surface.fallen),
            fallout_residual: self.region.total(&self.surface.fall_residual),
            clipped: self.region.total(&self.surface.clipped),
            mass_mismatch: self.region.total(&self.mass_mismatch),
        };
        self.changes.add(&change);
        let after = Instant::now();
        self.times.microphysics.add_host((after - between).as_secs_f64());

        if let Some(chemist) = &mut self.chemist {
            let environment = &self.present.get().environment;
            let place = (&self.grid, &self.region, &self.air);
            chemist.step(dt, place, environment, &mut self.state, &mut self.passive);
            self.times.chemistry.add_host(after.elapsed().as_secs_f64());
        }
        Ok(())
    }

    fn check(&mut self, step: usize, _wait: bool) -> Result<()> {
        check_owned(&self.grid, &self.state, step)
    }

    fn capture(&mut self, moment: &Moment<R>) -> Result<()> {
        assert!(self.frames.len() < FRAMES_IN_FLIGHT, "a frame was not collected");
        let start = Instant::now();
        if moment.after.is_some() {
            self.present.between().set(moment, &mut self.continuity);
        } else {
            self.present = Present::Frame(Arc::clone(&moment.before));
        }
        let mut diagnostics = CloudDiagnostics::zeros(self.grid.shape);
        self.diagnose(&mut diagnostics);
        let flux = &self.present.get().flux;
        let summary = Summary::of(&self.region, &self.air, &self.state, flux, self.changes);
        let owned = self.grid.owned();
        let (state, surface) = (self.state.within(&owned), self.surface.within(&owned));
        let diagnostics = diagnostics.within(&owned);
        self.frames.push_back(Captured { state, diagnostics, surface, summary });
        self.times.output.add_host(start.elapsed().as_secs_f64());
        Ok(())
    }

    fn collect(&mut self, _wait: bool) -> Result<Option<Captured<R>>> {
        Ok(self.frames.pop_front())
    }

    fn water(&mut self) -> Result<f64> {
        Ok(self.region.water(&self.air, &self.state))
    }

    fn water_changes(&mut self) -> Result<WaterChange> {
        Ok(self.changes)
    }

    fn passive(&mut self) -> Result<Vec<TracerAmount>> {
        let pairs = self.state.passive().iter().zip(&self.passive);
        let amount = |q| self.region.amount(&self.air, q);
        Ok(pairs.map(|(q, &change)| TracerAmount { amount: amount(q), change }).collect())
    }

    fn chemistry(&mut self) -> Result<Option<ChemistryTally>> {
        Ok(self.chemist.as_ref().map(|chemist| chemist.tally))
    }

    fn precipitation(&mut self) -> Result<Precipitation> {
        Ok(self.region.precipitation(&self.surface.rain, &self.surface.snow))
    }

    fn times(&mut self) -> Result<PhaseTimes> {
        Ok(self.times)
    }
}

impl<R> Observed<R> for Cpu<R>
where
    R: Computing + Number,
{
    fn attach(&mut self, attached: &Attached<R>) -> Result<()> {
        let shape = self.grid.shape;
        let Attached { operators, weights } = attached;
        self.operators = operators.iter().map(|x| Operator::new(x, shape.columns())).collect();
        self.turning = weights.as_ref().map(|weights| Turning::new(shape, weights));
        Ok(())
    }

    fn sample(&mut self, operator: usize, moment: &Moment<R>) -> Result<()> {
        let start = Instant::now();
        self.show(moment);
        let Self { operators, present, state, surface, .. } = self;
        let operator = &mut operators[operator];
        assert!(operator.under_way.len() < FRAMES_IN_FLIGHT, "a sample was not collected");
        let (mut columns, air) = operator.gather(state, &present.get().environment);
        let fields =
            DiagnosticFields::new(R::THETA_BASE, &columns.state, &air, &mut columns.diagnostics);
        wsm5::diagnose(&self.scheme, &self.bins, &self.scratch, fields);
        let products = operator.products(&columns, surface);
        operator.under_way.push_back(products);
        self.times.output.add_host(start.elapsed().as_secs_f64());
        Ok(())
    }

    fn collect_sample(&mut self, operator: usize, _wait: bool) -> Result<Option<Products<R>>> {
        Ok(self.operators[operator].under_way.pop_front())
    }

    fn profile(&mut self, moment: &Moment<R>) -> Result<()> {
        let start = Instant::now();
        self.show(moment);
        let shape = self.grid.shape;
        let mut diagnostics = CloudDiagnostics::zeros(shape);
        self.diagnose(&mut diagnostics);
        let turning = self.turning.as_mut().expect("weights are attached");
        assert!(turning.under_way.len() < FRAMES_IN_FLIGHT, "columns were not collected");
        let profiles = turning.profiles(shape, &self.state, &diagnostics);
        turning.under_way.push_back(profiles);
        self.times.output.add_host(start.elapsed().as_secs_f64());
        Ok(())
    }

    fn collect_profiles(&mut self, _wait: bool) -> Result<Option<Profiles<R>>> {
        Ok(self.turning.as_mut().and_then(|turning| turning.under_way.pop_front()))
    }
}

/// What the system calls the processor.
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

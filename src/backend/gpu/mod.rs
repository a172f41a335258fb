//! The GPU backend: state, winds, boundary values and sums stay on the device for the whole run.
//!
//! A step is a graph of kernels, recorded once and replayed. Nothing comes back to the host but
//! frames of output, which travel while the next steps run, and a few notes.

mod chemist;
mod clock;
mod frames;
mod gathering;
mod making;
mod measuring;
mod member;
mod members;
mod memory;
mod order;
mod passive;
mod samples;
mod setting;
mod standing;
mod steps;
mod summing;

use std::collections::VecDeque;
use std::time::Instant;

use chemist::Chemist;
use clock::Clock;
use frames::Packing;
use member::Member;
pub use members::MembersOnGpu;
pub use memory::Needs;
use order::Order;
use samples::Samples;
pub use setting::Setting;
use steps::{Recorded, Waiting};
use summing::Summing;

use super::{
    Backend, Captured, Computing, Gathered, PhaseTime, PhaseTimes, Precipitation, Region, Standing,
    TracerAmount, WaterChange, check_finite,
};
use crate::advection::gpu::passive::Passive;
use crate::advection::gpu::transport::Transport;
use crate::device::{Branches, Buffer, Gpu, Parcel};
use crate::error::{Error, Result};
use crate::forcing::Moment;
use crate::forcing::gpu::{Between, Driving, upload_air};
use crate::gpu::budget::Budget;
use crate::gpu::step_end::StepEnd;
use crate::gpu::watch::Watch;
use crate::grid::Grid;
use crate::grid::gpu::Layout;
use crate::primitives::gpu::reduce::Reducible;
use crate::shared::ReadPointer;
use crate::state::gpu::notes::Flaw;
use crate::state::{ChemistryTally, State, Surface};
use crate::wsm5::check_length;
use crate::wsm5::gpu::Mapping;
use crate::wsm5::gpu::clouds::Place;

/// A precision that the GPU computes in.
pub trait OnDevice: Computing + Reducible {}

impl OnDevice for f32 {}
impl OnDevice for f64 {}

/// The state of a run on the device and what a step needs beside it.
#[derive(Debug)]
pub struct OnGpu<R> {
    gpu: Gpu,
    grid: Grid,
    region: Region,
    transport: Transport<R>,
    /// What each state has of its own: a run has one, an ensemble several.
    members: Vec<Member<R>>,
    /// What lets their microphysics run side by side; a single one has no need for it.
    branches: Option<Branches>,
    budget: Budget<R>,
    watch: Watch,
    step_end: StepEnd,
    /// The places of the fields.
    order: Order,
    /// Transports of the tracers with a limiter of their own.
    apart: Vec<Transport<R>>,
    /// Sums and decay of the passive tracers, where there are any.
    passive: Option<Passive<R>>,
    chemist: Option<Box<Chemist<R>>>,
    /// The fields of all states, and room for the next ones.
    tracers: [Buffer<R>; 2],
    /// Which of them are the present ones.
    now: usize,
    driving: Driving<R>,
    air: Air<R>,
    /// Number of the frame whose values are on the device, and whether another follows it.
    uploaded: Option<(usize, bool)>,
    /// Step that is to fail, counted from 1.
    failing: Option<usize>,
    /// Steps asked for that the device does not know of yet, and how many may wait for each other.
    waiting: Waiting,
    together: usize,
    /// Steps that it knows of, and up to which of them any end together with others.
    launched: usize,
    launched_together: usize,
    recorded: Vec<Recorded>,
    /// How rows lie on the device; frames of output have them without gaps.
    layout: Layout,
    packing: Packing,
    parcel: Parcel<R>,
    samples: Samples<R>,
    summing: Summing<R>,
    /// Steps done when the frames under way were begun, and whose frames they are.
    captured: VecDeque<(usize, usize)>,
    steps: usize,
    clock: Clock,
}

/// Where the air is that the microphysics reads.
#[derive(Debug)]
enum Air<R> {
    /// In an array of its own, the same in all steps.
    Kept(Buffer<R>),
    /// Made from two frames of the input when it is needed, in the memory that the stages of the
    /// transport use otherwise.
    Between(Box<Between<R>>),
}

impl<R: OnDevice> Air<R> {
    fn array<'a>(&'a self, transport: &'a Transport<R>) -> &'a Buffer<R> {
        match self {
            Self::Kept(air) => air,
            Self::Between(_) => transport.spare(),
        }
    }
}

impl<R: OnDevice> OnGpu<R> {
    /// The device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Mapping of columns to threads.
    pub fn mapping(&self) -> Mapping {
        self.alone().clouds.mapping()
    }

    /// The state, as it is after all steps asked for. Waits for the device.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when the device has failed.
    pub fn state(&mut self) -> Result<State<R>> {
        self.hand_over()?;
        Ok(self.packing.state_of(&self.order, &self.layout.pick(&self.tracers[self.now].to_vec()?)))
    }

    /// Frames of output that have been begun and not collected.
    pub fn frames_under_way(&self) -> usize {
        self.captured.len()
    }

    /// What has fallen. Waits for the device.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when the device has failed.
    pub fn surface(&mut self) -> Result<Surface<R>> {
        self.hand_over()?;
        self.surface_of(self.alone())
    }

    /// Lets a step fail on the device, counted from 1: for tests of what is left then.
    #[doc(hidden)]
    pub fn fail_at(&mut self, step: usize) {
        self.failing = Some(step);
    }

    /// All that carry tracers.
    fn transports(&self) -> impl Iterator<Item = &Transport<R>> {
        std::iter::once(&self.transport).chain(&self.apart)
    }

    /// The place of the water of a member.
    fn water_of(&self, member: &Member<R>) -> ReadPointer<R> {
        let first = member.abreast.water().start * self.layout.cells();
        self.tracers[self.now].pointer_to(first).read()
    }

    /// What lies between two frames, where the device holds two.
    fn between(&self) -> Option<&Between<R>> {
        match (&self.air, self.uploaded) {
            (Air::Between(between), Some(_)) => Some(between),
            _ => None,
        }
    }

    /// Sets the air that output is diagnosed in.
    fn show(&mut self, moment: &Moment<R>) -> Result<()> {
        self.hand_over()?;
        self.drive(moment)?;
        self.between().map_or(Ok(()), |between| between.air(self.transport.spare()))
    }

    fn place<'a>(&'a self, member: &'a Member<R>, state: &'a Buffer<R>) -> Place<'a, R> {
        Place { state, air: self.air.array(&self.transport), surface: &member.surface }
    }

    /// Copies the frames of a moment to the device, unless they are there.
    fn bring(&mut self, moment: &Moment<R>) -> Result<()> {
        let frames = (moment.number, moment.after.is_some());
        if self.uploaded == Some(frames) {
            return Ok(());
        }
        let start = Instant::now();
        // Kernels of earlier steps may still read what is replaced.
        self.hand_over()?;
        self.gpu.synchronize()?;
        match (&self.air, &moment.after) {
            (Air::Between(between), Some(after)) => between.upload(&moment.before, after)?,
            // The last frame holds: it lies between itself and itself.
            (Air::Between(between), None) => between.upload(&moment.before, &moment.before)?,
            (Air::Kept(air), _) => {
                self.driving.upload(&moment.before)?;
                upload_air(&moment.before.environment, air, self.layout)?;
            }
        }
        self.uploaded = Some(frames);
        self.clock.upload += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// A flaw as the error that ends the run.
    fn blow_up(&self, flaw: Flaw) -> Error {
        let Flaw { step, field, place } = flaw;
        let at = field * self.layout.cells() + place;
        let mut value = [R::nan()];
        // What it has become since is at least as bad, unless the device fails too.
        let _ = self.tracers[self.now].download_from(at, &mut value);
        let value = if value[0].is_finite() { f64::NAN } else { value[0].f64() };
        let [number, field] = self.order.at(field);
        let variable = self.order.set[field].name;
        let plane = self.layout.columns();
        let [j, i] = self.layout.row_and_column(place % plane);
        let cell = [place / plane, j, i];
        self.told(number, Error::BlowUp { variable, value, step, cell })
    }
}

impl<R: OnDevice> Backend<R> for OnGpu<R> {
    fn kind(&self) -> &'static str {
        "gpu"
    }

    fn describe(&self) -> String {
        format!("GPU, {}", self.gpu.device().name)
    }

    fn device(&self) -> String {
        self.gpu.device().name.clone()
    }

    fn restore(&mut self, state: &State<R>) -> Result<()> {
        self.hand_over()?;
        self.gpu.synchronize()?;
        while self.parcel.receive(|_| ())?.is_some() {}
        self.samples.clear()?;
        let abreast = self.alone().abreast;
        while self.summing.receive(&self.transport, &self.budget, abreast)?.is_some() {}
        self.captured.clear();
        self.put(0, state)?;
        self.alone().surface.clear()?;
        self.budget.reset()?;
        self.transports().try_for_each(Transport::forget_entered)?;
        if let Some(passive) = &self.passive {
            passive.resume_decayed(&[])?;
        }
        if let Some(chemist) = &mut self.chemist {
            chemist.take_up(ChemistryTally::default(), &[], &[])?;
        }
        (self.steps, self.launched, self.launched_together) = (0, 0, 0);
        self.clock.restart();
        self.watch.reset()
    }

    fn resume(&mut self, gathered: &Gathered<R>) -> Result<()> {
        self.hand_over()?;
        self.take_up(gathered)
    }

    fn standing(&mut self, step: usize) -> Result<Standing<R>> {
        self.check(step, true)?;
        self.whole_standing(step)
    }

    fn drive(&mut self, moment: &Moment<R>) -> Result<()> {
        self.bring(moment)?;
        if let Some(chemist) = &mut self.chemist {
            chemist.now = moment.seconds;
        }
        self.between()
            .map_or(Ok(()), |between| between.weigh(moment.flux_weight, moment.air_weight))
    }

    fn step(&mut self, dt: f64) -> Result<()> {
        check_length(R::of(dt))?;
        self.ask_for_step(dt)?;
        self.react(dt)
    }

    fn check(&mut self, _step: usize, wait: bool) -> Result<()> {
        if wait {
            self.hand_over()?;
            self.gpu.synchronize().map_err(|error| self.in_step(error))?;
        }
        self.watch.flaw().map_or(Ok(()), |flaw| Err(self.blow_up(flaw)))
    }

    fn capture(&mut self, moment: &Moment<R>) -> Result<()> {
        self.begin_frame(0, moment)
    }

    fn collect(&mut self, wait: bool) -> Result<Option<Captured<R>>> {
        self.end_frame(wait)
    }

    fn water(&mut self) -> Result<f64> {
        self.hand_over()?;
        let water = self.water_of(self.alone());
        self.budget.water(water).map_err(|error| self.in_step(error))
    }

    fn water_changes(&mut self) -> Result<WaterChange> {
        self.hand_over()?;
        self.changes_of(self.alone())
    }

    fn passive(&mut self) -> Result<Vec<TracerAmount>> {
        self.hand_over()?;
        self.passive_amounts().map_err(|error| self.in_step(error))
    }

    fn chemistry(&mut self) -> Result<Option<ChemistryTally>> {
        self.hand_over()?;
        self.chemist.as_ref().map(|chemist| chemist.tally()).transpose()
    }

    fn precipitation(&mut self) -> Result<Precipitation> {
        self.hand_over()?;
        self.precipitation_of(0)
    }

    fn times(&mut self) -> Result<PhaseTimes> {
        self.hand_over()?;
        self.gpu.synchronize()?;
        self.clock.read()?;
        let transfer = self.parcel.seconds() + self.samples.seconds() + self.summing.seconds();
        let chemistry = self.chemist.as_mut().map_or(Ok(0.0), |chemist| chemist.time())?;
        let chemistry =
            PhaseTime { kernel_s: chemistry, transfer_s: Some(0.0), total_s: chemistry };
        Ok(PhaseTimes { chemistry, ..self.clock.times(self.steps, transfer) })
    }
}

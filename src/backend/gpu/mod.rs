//! The GPU backend: state, winds, boundary values and sums stay on the device for the whole run.
//!
//! A step is a graph of kernels, recorded once and replayed. Nothing comes back to the host but
//! frames of output, which travel while the next steps run, and a few notes.

mod builder;
mod capture;
mod checkpoint;
mod chemistry;
mod field_order;
mod frame_layout;
mod frame_reductions;
mod gpu_config;
mod gpu_sampling;
mod member;
mod memory;
mod passive;
mod phase_clock;
mod preparation;
mod steps;

use std::collections::VecDeque;
use std::time::Instant;

use chemistry::ChemistryDriver;
use field_order::FieldOrder;
use frame_layout::FrameLayout;
use frame_reductions::FrameReductions;
pub use gpu_config::GpuConfig;
use gpu_sampling::GpuSampling;
use member::Member;
pub use memory::MemoryEstimate;
use phase_clock::Clock;
pub use preparation::GpuPreparation;
use steps::{GraphKey, QueuedSteps};

use super::{
    Account, Backend, BudgetDomain, Checkpoint, CollectedOutput, ComputePrecision, Info, Output,
    PhaseTime, PhaseTimes, RunStart, WaterChange, check_finite,
};
use crate::advection::gpu::passive::Passive;
use crate::advection::gpu::transport::Transport;
use crate::device::{AsyncDownload, Buffer, ForkJoin, Gpu, Graph, Resources};
use crate::error::{Error, Result};
use crate::forcing::TimeInterpolant;
use crate::forcing::gpu::{DeviceForcing, ForcingInterpolator, upload_air};
use crate::gpu::budget::Budget;
use crate::gpu::device_status::DeviceStatus;
use crate::gpu::step_end::StepEnd;
use crate::grid::Grid;
use crate::grid::gpu::Layout;
use crate::primitives::gpu::reduce::Reducible;
use crate::state::gpu::status_word::NonFiniteValue;
use crate::state::{ChemistryTally, State, Surface};
use crate::wsm5::check_length;
use crate::wsm5::gpu::Mapping;
use crate::wsm5::gpu::launch::DeviceFields;

/// A precision that the GPU computes in.
pub trait GpuPrecision: ComputePrecision + Reducible {}

impl GpuPrecision for f32 {}
impl GpuPrecision for f64 {}

/// The states of all members on the device and what a step needs beside them.
///
/// In a step the tracers of all members are one set, so that masses and fluxes are read once, and the calls of the
/// microphysics run side by side.
#[derive(Debug)]
pub struct GpuBackend<R> {
    gpu: Gpu,
    grid: Grid,
    region: BudgetDomain,
    transport: Transport<R>,
    /// Members: a run has one, an ensemble several.
    members: Vec<Member<R>>,
    /// Streams for the microphysics of several members side by side.
    branches: Option<ForkJoin>,
    budget: Budget<R>,
    status: DeviceStatus,
    step_end: StepEnd,
    /// The places of the fields.
    order: FieldOrder,
    /// Transports of the tracers with a limiter of their own.
    apart: Vec<Transport<R>>,
    /// Sums and decay of the passive tracers, where there are any.
    passive: Option<Passive<R>>,
    chemistry: Option<Box<ChemistryDriver<R>>>,
    /// The fields of all states, and room for the next ones.
    tracers: [Buffer<R>; 2],
    /// Which of them are the present ones.
    now: usize,
    driving: DeviceForcing<R>,
    air: Air<R>,
    /// Number of the frame whose values are on the device, and whether another follows it.
    uploaded: Option<(usize, bool)>,
    /// Step that is to fail, counted from 1.
    failing: Option<usize>,
    /// Requested steps that have not been launched, and the most steps of a graph.
    waiting: QueuedSteps,
    together: usize,
    /// Steps that it knows of, and up to which of them any end together with others.
    launched: usize,
    launched_together: usize,
    /// Graphs of steps.
    recorded: Vec<(GraphKey, Graph)>,
    /// Memory layout of rows on the device; frames of output have them without gaps.
    layout: Layout,
    packing: FrameLayout,
    download: AsyncDownload<R>,
    samples: GpuSampling<R>,
    checkpoint: Option<Box<Checkpoint<R>>>,
    summing: FrameReductions<R>,
    /// Steps done when the frames under way were begun, and whose frames they are.
    captured: VecDeque<(usize, usize)>,
    steps: usize,
    clock: Clock,
}

/// Memory of the air that the microphysics reads.
#[derive(Debug)]
enum Air<R> {
    /// In an array of its own, the same in all steps.
    Kept(Buffer<R>),
    /// Made from two frames of the input when it is needed, in the memory that the stages of the
    /// transport use otherwise.
    Between(Box<ForcingInterpolator<R>>),
}

impl<R: GpuPrecision> Air<R> {
    fn array<'a>(&'a self, transport: &'a Transport<R>) -> &'a Buffer<R> {
        match self {
            Self::Kept(air) => air,
            Self::Between(_) => transport.spare(),
        }
    }
}

impl<R: GpuPrecision> GpuBackend<R> {
    /// Mapping of columns to threads.
    pub fn mapping(&self) -> Mapping {
        self.sole_member().wsm5.mapping()
    }

    /// The state after all requested steps. Waits for the device.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when the device has failed.
    pub fn state(&mut self) -> Result<State<R>> {
        self.flush_pending_steps()?;
        Ok(self
            .packing
            .state_of(&self.order, &self.layout.unpadded(&self.tracers[self.now].to_vec()?)))
    }

    /// Planes at the ground. Waits for the device.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when the device has failed.
    pub fn surface(&mut self) -> Result<Surface<R>> {
        self.flush_pending_steps()?;
        self.surface_of(self.sole_member())
    }

    /// Registers, spills and shared memory of the kernels of transport and microphysics in steps of `dt` seconds.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when the driver does not tell.
    pub fn resources(&self, dt: f64) -> Result<Vec<Resources>> {
        let [call, _] = self.sole_member().wsm5.resources(dt)?;
        Ok(self.transport.resources()?.into_iter().chain([call]).collect())
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

    /// Interpolation between two frames, where the device holds two.
    fn between(&self) -> Option<&ForcingInterpolator<R>> {
        match (&self.air, self.uploaded) {
            (Air::Between(between), Some(_)) => Some(between),
            _ => None,
        }
    }

    /// Sets the air that output is diagnosed in.
    fn show(&mut self, moment: &TimeInterpolant<R>) -> Result<()> {
        self.flush_pending_steps()?;
        self.drive(moment)?;
        self.between().map_or(Ok(()), |between| between.air(self.transport.spare()))
    }

    fn place<'a>(&'a self, member: &'a Member<R>, state: &'a Buffer<R>) -> DeviceFields<'a, R> {
        DeviceFields { state, air: self.air.array(&self.transport), surface: &member.surface }
    }

    /// Goes back to the states of all members.
    fn restore(&mut self, states: &[State<R>]) -> Result<()> {
        assert_eq!(states.len(), self.members.len(), "a state for each member");
        self.flush_pending_steps()?;
        self.gpu.synchronize()?;
        while self.download.receive(|_| ())?.is_some() {}
        self.samples.clear()?;
        let indices = self.members[0].indices;
        while self.summing.receive(&self.transport, &self.budget, indices)?.is_some() {}
        self.captured.clear();
        for (number, state) in states.iter().enumerate() {
            self.put(number, state)?;
            self.members[number].surface.clear()?;
        }
        self.budget.reset()?;
        self.transports().try_for_each(Transport::forget_entered)?;
        if let Some(passive) = &self.passive {
            passive.resume_decayed(&[])?;
        }
        if let Some(driver) = &mut self.chemistry {
            driver.resume_from(ChemistryTally::default(), &[], &[])?;
        }
        (self.steps, self.launched, self.launched_together) = (0, 0, 0);
        self.clock.restart();
        self.status.reset()
    }

    /// Time spent in the phases. Waits for the device.
    fn times(&mut self) -> Result<PhaseTimes> {
        self.flush_pending_steps()?;
        self.gpu.synchronize()?;
        self.clock.read()?;
        let transfer =
            self.download.seconds() + self.samples.seconds() + self.summing.download.seconds();
        let chemistry = self.chemistry.as_mut().map_or(Ok(0.0), |driver| driver.time())?;
        let chemistry =
            PhaseTime { kernel_s: chemistry, transfer_s: Some(0.0), total_s: chemistry };
        Ok(PhaseTimes { chemistry, ..self.clock.times(self.steps, transfer) })
    }

    /// Copies the frames of a moment to the device, unless they are there.
    fn upload_frames(&mut self, moment: &TimeInterpolant<R>) -> Result<()> {
        let frames = (moment.number, moment.after.is_some());
        if self.uploaded == Some(frames) {
            return Ok(());
        }
        let start = Instant::now();
        // Kernels of earlier steps may still read what is replaced.
        self.flush_pending_steps()?;
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
        if let Some(driver) = &self.chemistry {
            driver.upload_photolysis(moment, self.layout)?;
        }
        self.uploaded = Some(frames);
        self.clock.upload += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// A flaw as the error that ends the run.
    fn nonfinite_error(&self, flaw: NonFiniteValue) -> Error {
        let NonFiniteValue { step, field, place } = flaw;
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
        self.with_member(number, Error::BlowUp { variable, value, step, cell })
    }
}

impl<R: GpuPrecision> Backend<R> for GpuBackend<R> {
    fn info(&mut self) -> Result<Info> {
        let device = self.gpu.device().name.clone();
        let description = format!("GPU, {device}");
        Ok(Info {
            kind: "gpu",
            description,
            device,
            members: self.members.len(),
            times: self.times()?,
        })
    }

    fn start(&mut self, start: RunStart<'_, R>) -> Result<()> {
        let RunStart { states, gathered, attached } = start;
        if !states.is_empty() {
            self.restore(states)?;
        }
        if let Some(gathered) = gathered {
            assert_eq!(self.members.len(), 1, "sums of a run of one");
            self.flush_pending_steps()?;
            self.resume_from(gathered)?;
        }
        self.samples = GpuSampling::new(&self.gpu, (self.layout, self.order.set.len()), &attached)?;
        Ok(())
    }

    fn drive(&mut self, moment: &TimeInterpolant<R>) -> Result<()> {
        self.upload_frames(moment)?;
        if let Some(driver) = &mut self.chemistry {
            driver.drive(moment);
        }
        self.between()
            .map_or(Ok(()), |between| between.set_weights(moment.flux_weight, moment.air_weight))
    }

    fn step(&mut self, dt: f64) -> Result<()> {
        check_length(R::of(dt))?;
        self.request_step(dt)?;
        self.react(dt)
    }

    fn check(&mut self, _step: usize, wait: bool) -> Result<()> {
        if wait {
            self.flush_pending_steps()?;
            self.gpu.synchronize().map_err(|error| self.in_step(error))?;
        }
        self.status.flaw().map_or(Ok(()), |flaw| Err(self.nonfinite_error(flaw)))
    }

    fn capture(&mut self, output: Output, moment: &TimeInterpolant<R>) -> Result<()> {
        let is_of_one = matches!(output, Output::Frame(_)) || self.members.len() == 1;
        assert!(is_of_one, "an output of a run of one");
        match output {
            Output::Frame(member) => self.begin_frame(member, moment),
            Output::Products(operator) => {
                self.show(moment)?;
                self.begin_products(operator, moment)
            }
            Output::Profiles => {
                self.show(moment)?;
                self.begin_profiles(moment)
            }
            Output::Checkpoint(step) => {
                self.check(step, true)?;
                self.checkpoint = Some(Box::new(self.checkpoint(step)?));
                Ok(())
            }
        }
    }

    fn collect(&mut self, output: Output, wait: bool) -> Result<Option<CollectedOutput<R>>> {
        let collected = match output {
            Output::Frame(member) => {
                let oldest = self.captured.front().map_or(member, |(_, oldest)| *oldest);
                assert_eq!(oldest, member, "the member of the oldest frame");
                let frame = self.end_frame(wait);
                frame.map(|found| found.map(Box::new).map(CollectedOutput::Frame))
            }
            Output::Products(operator) => {
                self.end_products(operator, wait).map(|found| found.map(CollectedOutput::Products))
            }
            Output::Profiles => {
                self.end_profiles(wait).map(|found| found.map(CollectedOutput::Profiles))
            }
            Output::Checkpoint(_) => Ok(self.checkpoint.take().map(CollectedOutput::Checkpoint)),
        };
        collected.map_err(|error| self.in_step(error))
    }

    fn account(&mut self, member: usize) -> Result<Account> {
        self.flush_pending_steps()?;
        let first = self.members[member].indices.water().start * self.layout.cells();
        let water = self.budget.water(self.tracers[self.now].pointer_to(first).read());
        let water = water.map_err(|error| self.in_step(error))?;
        let passive = self.passive_amounts(member).map_err(|error| self.in_step(error))?;
        let surface = self.surface_of(&self.members[member])?;
        Ok(Account {
            water,
            changes: self.changes_of(&self.members[member])?,
            passive,
            chemistry: self.chemistry.as_ref().map(|driver| driver.tally()).transpose()?,
            precipitation: self.region.precipitation(&surface.rain, &surface.snow),
        })
    }
}

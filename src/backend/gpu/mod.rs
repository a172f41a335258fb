//! The GPU backend: state, winds, boundary values and sums stay on the device for the whole run.
//!
//! A step is a graph of kernels, recorded once and replayed. Nothing comes back to the host but
//! frames of output, which travel while the next steps run, and a few notes.
//!
//! Its parts own all that it holds: `arrays`, `budget`, `step`, `sampling` and `frames`. A part borrows parts before it
//! in this list only, and the backend calls them in turn.

mod arrays;
mod budget;
mod builder;
mod field_order;
mod frame_layout;
mod frames;
mod gpu_config;
mod margins;
mod memory;
mod owned_part;
mod preparation;
mod sampling;
mod step;
mod transports;

use std::sync::Arc;
use std::time::Instant;

use arrays::Arrays;
use budget::BudgetSums;
use frames::Frames;
pub use gpu_config::GpuConfig;
pub use margins::GpuNeighbours;
pub use memory::MemoryEstimate;
pub use preparation::GpuPreparation;
use sampling::Sampler;
use step::Stepper;

use super::{
    Account, Accumulators, Backend, CollectedOutput, ComputePrecision, Info, Output, PhaseTimes,
    RunStart,
};
use crate::chemistry::coupled::Coupled;
use crate::device::{Gpu, Resources};
use crate::error::Result;
use crate::forcing::TimeInterpolant;
use crate::physics::check_length;
use crate::primitives::gpu::reduce::Reducible;
use crate::state::{State, Surface};

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
    arrays: Arrays<R>,
    budget: BudgetSums<R>,
    step: Stepper<R>,
    sampler: Sampler<R>,
    frames: Frames<R>,
}

impl<R: GpuPrecision> GpuBackend<R> {
    /// Adds the chemistry of a mechanism, whose species are among the tracers of the run.
    ///
    /// # Errors
    ///
    /// Those of the device.
    pub fn with_chemistry(mut self, coupled: Option<&Arc<Coupled>>) -> Result<Self> {
        if let Some(coupled) = coupled {
            self.step.set_chemistry(coupled, &self.arrays)?;
        }
        Ok(self)
    }

    /// Mapping of columns to threads in the microphysics, in short.
    pub fn mapping(&self) -> String {
        self.step.mapping()
    }

    /// The state after all requested steps. Waits for the device.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the device has failed.
    pub fn state(&mut self) -> Result<State<R>> {
        self.flush()?;
        self.arrays.state()
    }

    /// Planes at the ground. Waits for the device.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the device has failed.
    pub fn surface(&mut self) -> Result<Surface<R>> {
        self.flush()?;
        self.arrays.surface(0)
    }

    /// Registers, spills and shared memory of the kernels of transport and microphysics in steps of `dt` seconds.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the driver does not tell.
    pub fn resources(&self, dt: f64) -> Result<Vec<Resources>> {
        self.step.resources(dt)
    }

    /// Lets a step fail on the device, counted from 1: for tests of what is left then.
    #[doc(hidden)]
    pub fn fail_at(&mut self, step: usize) {
        self.step.fail_at(step);
    }

    /// Leaves frames on the device until they are collected, as those of large grids: for tests.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the memory does not suffice.
    #[doc(hidden)]
    pub fn leave_frames_on_device(&mut self) -> Result<()> {
        self.frames.leave_on_device()
    }

    /// Requests steps without timing their phases, whatever their numbers: for callers that time them all.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the device has failed.
    pub fn step_untimed(&mut self, dt: f64, count: usize) -> Result<()> {
        self.step.request_untimed(&mut self.arrays, &self.budget, (dt, count))
    }

    /// Launches all queued steps, so that later work of the device follows them.
    fn flush(&mut self) -> Result<()> {
        self.step.flush(&mut self.arrays, &self.budget)
    }

    /// Sets the air that output is diagnosed in.
    fn show_air(&mut self, moment: &TimeInterpolant<R>) -> Result<()> {
        self.flush()?;
        self.drive(moment)?;
        self.arrays.interpolate_air(self.step.spare())
    }

    /// Sets winds and air of a frame of output.
    fn show(&mut self, moment: &TimeInterpolant<R>) -> Result<()> {
        self.flush()?;
        self.drive(moment)?;
        self.arrays.interpolate_wind()?;
        self.arrays.interpolate_air(self.step.spare())
    }

    /// Goes back to the states of all members.
    fn restore(&mut self, states: &[State<R>]) -> Result<()> {
        assert_eq!(states.len(), self.arrays.members(), "a state for each member");
        self.flush()?;
        self.gpu.synchronize()?;
        self.frames.clear()?;
        self.sampler.clear()?;
        for (member, state) in states.iter().enumerate() {
            self.arrays.restore(member, state)?;
        }
        self.budget.reset()?;
        self.step.restart()
    }

    /// Continues the sums of an earlier run: the very sums of a run on a device, or those of another backend.
    fn resume(&mut self, gathered: &Accumulators<R>) -> Result<()> {
        assert_eq!(self.arrays.members(), 1, "sums of a run of one");
        self.flush()?;
        self.step.resume_chemistry(gathered)?;
        self.arrays.put_surface(0, &gathered.surface)?;
        self.budget.resume(gathered, &self.arrays, self.step.transports())
    }

    /// Time spent in the phases. Waits for the device.
    fn times(&mut self) -> Result<PhaseTimes> {
        self.flush()?;
        self.gpu.synchronize()?;
        let times = self.step.times()?;
        let output = self.frames.time(self.sampler.seconds());
        Ok(PhaseTimes { input: self.arrays.upload_time(), output, ..times })
    }

    /// Uploads the frames of a moment, unless they are on the device.
    fn upload_frames(&mut self, moment: &TimeInterpolant<R>) -> Result<()> {
        if self.arrays.has_frames_of(moment) {
            return Ok(());
        }
        let start = Instant::now();
        // Kernels of earlier steps may still read what is replaced.
        self.flush()?;
        self.gpu.synchronize()?;
        self.arrays.upload_frames(moment)?;
        self.step.upload_photolysis(moment, &self.arrays)?;
        self.arrays.upload_seconds += start.elapsed().as_secs_f64();
        Ok(())
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
            members: self.arrays.members(),
            times: self.times()?,
            exchange: self.step.exchange_times(),
        })
    }

    fn start(&mut self, start: RunStart<'_, R>) -> Result<()> {
        let RunStart { states, gathered, attached } = start;
        if !states.is_empty() {
            self.restore(states)?;
        }
        if let Some(gathered) = gathered {
            self.resume(gathered)?;
        }
        let (layout, set) = (self.arrays.layout, &self.arrays.order.set);
        self.sampler = Sampler::new(&self.gpu, (layout, set), &attached)?;
        Ok(())
    }

    fn drive(&mut self, moment: &TimeInterpolant<R>) -> Result<()> {
        self.upload_frames(moment)?;
        self.step.drive(moment);
        self.arrays.set_weights(moment)
    }

    fn step(&mut self, dt: f64) -> Result<()> {
        check_length(R::of(dt))?;
        self.step.request(&mut self.arrays, &self.budget, dt)?;
        self.step.react(&mut self.arrays, &self.budget, dt)
    }

    fn check(&mut self, _step: usize, wait: bool) -> Result<()> {
        if wait {
            self.flush()?;
            self.gpu.synchronize().map_err(|error| self.step.in_step(error))?;
        }
        self.step.flaw().map_or(Ok(()), |flaw| Err(self.arrays.nonfinite_error(flaw)))
    }

    fn capture(&mut self, output: Output, moment: &TimeInterpolant<R>) -> Result<()> {
        let is_of_one = matches!(output, Output::Frame(_)) || self.arrays.members() == 1;
        assert!(is_of_one, "an output of a run of one");
        match output {
            Output::Frame(_) => self.show(moment)?,
            Output::Products(_) | Output::Profiles => self.show_air(moment)?,
            Output::Checkpoint(step) => self.check(step, true)?,
        }
        let Self { arrays, budget, step, sampler, frames, .. } = self;
        match output {
            Output::Frame(member) => frames.begin(member, (arrays, budget), step),
            Output::Products(operator) => sampler.begin_products(operator, moment, arrays, step),
            Output::Profiles => sampler.begin_profiles(moment, arrays, step),
            Output::Checkpoint(number) => frames.begin_checkpoint(number, (arrays, budget), step),
        }
    }

    fn collect(&mut self, output: Output, wait: bool) -> Result<Option<CollectedOutput<R>>> {
        let Self { arrays, budget, step, sampler, frames, .. } = self;
        let fields = (arrays.layout.shape, &*arrays.order.set);
        let collected = match output {
            Output::Frame(member) => {
                let frame = frames.end(member, wait, (arrays, budget), step);
                frame.map(|found| found.map(Box::new).map(CollectedOutput::Frame))
            }
            Output::Products(operator) => {
                let products = sampler.end_products(operator, wait, fields);
                products.map(|found| found.map(CollectedOutput::Products))
            }
            Output::Profiles => {
                let profiles = sampler.end_profiles(wait, fields);
                profiles.map(|found| found.map(CollectedOutput::Profiles))
            }
            Output::Checkpoint(_) => Ok(frames.end_checkpoint().map(CollectedOutput::Checkpoint)),
        };
        collected.map_err(|error| step.in_step(error))
    }

    fn account(&mut self, member: usize) -> Result<Account> {
        self.flush()?;
        let Self { arrays, budget, step, .. } = self;
        let in_step = |error| step.in_step(error);
        let water = budget.water_of(arrays, member).map_err(in_step)?;
        let changes = step.passive_changes(arrays, budget, member).map_err(in_step)?;
        let passive = budget.passive_amounts(arrays, member, changes).map_err(in_step)?;
        let surface = arrays.surface(member)?;
        Ok(Account {
            water,
            changes: budget.changes_of(arrays.order.indices(member), step.transports())?,
            passive,
            chemistry: step.chemistry_tally()?,
            precipitation: budget.precipitation(&surface),
        })
    }
}

//! Steps on the device: requested steps are queued and launched as graphs of one or several steps, when a graph is full
//! or when the host needs a result.

mod chemistry;
mod divided_call;
mod graphs;
mod kernels;
mod pace;
mod phase_clock;
mod queue;
mod scheme_calls;

use std::sync::Arc;

use chemistry::ChemistryDriver;
use graphs::{GraphKey, StepGraphs};
use kernels::StepKernels;
use pace::Pace;
use phase_clock::Clock;
use queue::StepQueue;
pub(super) use queue::steps_together;

use super::GpuPrecision;
use super::arrays::Arrays;
use super::budget::BudgetSums;
use super::gpu_config::GpuConfig;
use super::margins::Margins;
use super::transports::Transports;
use crate::backend::{ExchangeTimes, PhaseTime, PhaseTimes};
use crate::chemistry::coupled::Coupled;
use crate::device::{Branch, Buffer, Gpu, Graph, Resources};
use crate::error::{Error, Result};
use crate::forcing::TimeInterpolant;
use crate::physics::scheme::Scheme;
use crate::state::gpu::status_word::NonFiniteValue;
use crate::state::{Accumulators, ChemistryTally, TracerChange};

/// The steps of a run: their kernels, graphs of them, and the queue of those that are requested.
#[derive(Debug)]
pub(super) struct Stepper<R> {
    gpu: Gpu,
    /// They end before the exchange that they have recorded.
    graphs: StepGraphs<Graph>,
    kernels: StepKernels<R>,
    chemistry: Option<Box<ChemistryDriver<R>>>,
    queue: StepQueue,
    clock: Clock,
    /// Of steps that wait for other devices.
    pace: Option<Pace>,
    /// The margins of the present states are those of the neighbours.
    has_fresh_margins: bool,
}

impl<R: GpuPrecision> Stepper<R> {
    /// Compiles the kernels for graphs of so many steps at most; a scheme for each member.
    pub(super) fn new(
        gpu: &Gpu,
        setting: &GpuConfig<'_>,
        schemes: (&[Box<dyn Scheme>], Option<&str>),
        (transports, margins, together): (Transports<R>, Option<Margins>, usize),
        run: (&Arrays<R>, &BudgetSums<R>),
    ) -> Result<Self> {
        let has_exchange = margins.as_ref().is_some_and(Margins::are_recordable);
        Ok(Self {
            gpu: gpu.clone(),
            pace: has_exchange.then(|| Pace::new(gpu)),
            kernels: StepKernels::new(gpu, setting, schemes, (transports, margins), run)?,
            chemistry: None,
            queue: StepQueue::new(together),
            graphs: StepGraphs::new(),
            clock: Clock::new(gpu, has_exchange)?,
            has_fresh_margins: false,
        })
    }

    /// Adds the chemistry of a mechanism.
    pub(super) fn set_chemistry(
        &mut self,
        coupled: &Arc<Coupled>,
        arrays: &Arrays<R>,
    ) -> Result<()> {
        let mass = self.kernels.transports.cell_mass();
        self.chemistry = Some(Box::new(ChemistryDriver::new(&self.gpu, coupled, arrays, mass)?));
        Ok(())
    }

    /// Mapping of columns to threads in the microphysics, in short.
    pub(super) fn mapping(&self) -> String {
        self.kernels.mapping()
    }

    /// Resources of the kernels of transport and microphysics in steps of `dt` seconds.
    pub(super) fn resources(&self, dt: f64) -> Result<Vec<Resources>> {
        self.kernels.resources(dt)
    }

    /// Transports of all tracers, with the sums of the inflow.
    pub(super) fn transports(&self) -> &Transports<R> {
        &self.kernels.transports
    }

    /// Memory that is free between the transports of two steps.
    pub(super) fn spare(&self) -> &Buffer<R> {
        self.kernels.transports.spare()
    }

    /// Number of steps requested since the start.
    pub(super) fn requested(&self) -> usize {
        self.queue.requested()
    }

    /// Lets a step fail on the device, counted from 1.
    pub(super) fn fail_at(&mut self, step: usize) {
        self.queue.fail_at(step);
    }

    /// The first value that is not finite, as far as the host can see now.
    pub(super) fn flaw(&self) -> Option<NonFiniteValue> {
        self.kernels.status.flaw()
    }

    /// Starts anew, with all queued steps done.
    pub(super) fn restart(&mut self) -> Result<()> {
        self.kernels.transports.forget_entered()?;
        if let Some(driver) = &mut self.chemistry {
            driver.resume_from(ChemistryTally::default(), &[], &[])?;
        }
        self.has_fresh_margins = false;
        self.queue.restart();
        self.clock.restart();
        self.kernels.status.reset()
    }

    /// Queues the diagnosis of the present state of a member; the results go to `out` from `first` on.
    pub(super) fn diagnose(
        &self,
        member: usize,
        arrays: &Arrays<R>,
        out: &Buffer<R>,
        first: usize,
    ) -> Result<()> {
        self.kernels.diagnose(member, arrays, out, first)
    }

    /// Time of the phases of all steps. The device has done them.
    pub(super) fn times(&mut self) -> Result<PhaseTimes> {
        self.clock.read()?;
        let chemistry = self.chemistry.as_mut().map_or(Ok(0.0), |driver| driver.time())?;
        let chemistry = PhaseTime::on_device(chemistry, 0.0);
        let [advection, microphysics] = self.clock.times(self.queue.requested());
        Ok(PhaseTimes { advection, microphysics, chemistry, ..PhaseTimes::default() })
    }

    /// Times of the exchanges of margins, where there are any.
    pub(super) fn exchange_times(&self) -> Option<ExchangeTimes> {
        let (mean_s, exposed_s) = self.clock.exchange().map(<(f64, f64)>::from).unzip();
        let about = self.kernels.margins.as_ref()?.about();
        Some(ExchangeTimes { mean_s, exposed_s, ..about })
    }

    /// An error of the device with the number of its step.
    pub(super) fn in_step(&self, error: Error) -> Error {
        match error {
            Error::Gpu(message) => {
                let status = &self.kernels.status;
                let (step, kernel) = (status.steps() + 1, self.kernels.last_begun());
                let later = if self.queue.is_in_batch(step) { " or soon after it" } else { "" };
                Error::Gpu(format!("in step {step}{later}, kernel {kernel}: {message}"))
            }
            other => other,
        }
    }
}

/// The launches.
impl<R: GpuPrecision> Stepper<R> {
    /// Requests a step of `dt` seconds.
    pub(super) fn request(
        &mut self,
        arrays: &mut Arrays<R>,
        budget: &BudgetSums<R>,
        dt: f64,
    ) -> Result<()> {
        self.clock.read()?;
        let next = self.queue.next_step(self.clock.is_running);
        // The interpolation between two frames has been set for this very step.
        let is_single = next.is_timed || next.is_failing || arrays.is_between_frames();
        if is_single || !self.queue.admits(dt) {
            self.flush(arrays, budget)?;
        }
        if is_single {
            self.queue.count();
            let key = GraphKey::new(arrays.now(), 1, dt);
            let (is_timed, is_failing) = (next.is_timed, next.is_failing);
            return self.launch(arrays, budget, GraphKey { is_timed, is_failing, ..key });
        }
        if self.queue.push(1, dt) { self.flush(arrays, budget) } else { Ok(()) }
    }

    /// Requests and launches steps without timing their phases, whatever their numbers.
    pub(super) fn request_untimed(
        &mut self,
        arrays: &mut Arrays<R>,
        budget: &BudgetSums<R>,
        (dt, count): (f64, usize),
    ) -> Result<()> {
        self.flush(arrays, budget)?;
        self.queue.push(count, dt);
        self.flush(arrays, budget)
    }

    /// Launches all queued steps, so that later work of the device follows them.
    pub(super) fn flush(&mut self, arrays: &mut Arrays<R>, budget: &BudgetSums<R>) -> Result<()> {
        let batches = self.queue.take();
        let dt = batches.dt;
        for count in batches {
            self.launch(arrays, budget, GraphKey::new(arrays.now(), count, dt))?;
        }
        Ok(())
    }

    /// Launches the graph of some steps from the present states.
    fn launch(
        &mut self,
        arrays: &mut Arrays<R>,
        budget: &BudgetSums<R>,
        key: GraphKey,
    ) -> Result<()> {
        let may_go_on = self.pace.as_mut().map_or(Ok(()), Pace::wait);
        may_go_on.map_err(|error| self.in_step(error))?;
        self.exchange(arrays)?;
        // A failure shows up while the step runs, as in a graph, but leaves no graph behind.
        let launched = if key.is_failing {
            self.kernels.enqueue(key, (arrays, budget), &self.clock)
        } else {
            self.launch_graph(arrays, budget, key)
        };
        let counted = launched.and_then(|()| self.pace.as_mut().map_or(Ok(()), Pace::count));
        counted.map_err(|error| self.in_step(error))?;
        arrays.advance(key.count);
        self.queue.count_launched(key.count);
        Ok(())
    }

    /// Refreshes the margins of the present states, where the step before has not: every time if the host carries them,
    /// otherwise at the start, where an exchange comes before the first that is recorded, and after what changes the states
    /// between two steps.
    fn exchange(&mut self, arrays: &Arrays<R>) -> Result<()> {
        let Some(margins) = &self.kernels.margins else { return Ok(()) };
        if self.has_fresh_margins {
            return Ok(());
        }
        self.has_fresh_margins = margins.are_recordable();
        let refreshed = margins.refresh(Branch::TRUNK, arrays.present());
        refreshed.map_err(|error| self.in_step(error))
    }

    /// Launches the graph of some steps, recorded where it is not there yet.
    fn launch_graph(
        &mut self,
        arrays: &Arrays<R>,
        budget: &BudgetSums<R>,
        key: GraphKey,
    ) -> Result<()> {
        let Self { gpu, kernels, graphs, clock, .. } = self;
        let graph = graphs.find_or_record(key, || {
            kernels.prepare(key.dt)?;
            gpu.capture(|| kernels.enqueue(key, (arrays, budget), clock))
        })?;
        clock.is_running |= key.is_timed;
        if key.count > 1 { clock.time(gpu, key.count, || graph.launch()) } else { graph.launch() }
    }
}

/// The chemistry.
impl<R: GpuPrecision> Stepper<R> {
    /// Takes the time of the present step and those of its frames.
    pub(super) fn drive(&mut self, moment: &TimeInterpolant<R>) {
        if let Some(driver) = &mut self.chemistry {
            driver.drive(moment);
        }
    }

    /// Uploads the light of the frames of a moment, where they give it.
    pub(super) fn upload_photolysis(
        &self,
        moment: &TimeInterpolant<R>,
        arrays: &Arrays<R>,
    ) -> Result<()> {
        let driver = self.chemistry.as_ref();
        driver.map_or(Ok(()), |driver| driver.upload_photolysis(moment, arrays.layout))
    }

    /// Counts a step; if a call is due, launches the chemistry of all steps since the last call.
    pub(super) fn react(
        &mut self,
        arrays: &mut Arrays<R>,
        budget: &BudgetSums<R>,
        dt: f64,
    ) -> Result<()> {
        let done = self.react_if_due(arrays, budget, dt);
        done.map_err(|error| self.in_step(error))
    }

    fn react_if_due(
        &mut self,
        arrays: &mut Arrays<R>,
        budget: &BudgetSums<R>,
        dt: f64,
    ) -> Result<()> {
        let is_due = self.chemistry.as_mut().map_or(Ok(false), |driver| driver.count(dt))?;
        if !is_due {
            return Ok(());
        }
        self.flush(arrays, budget)?;
        let Self { gpu, kernels, chemistry, .. } = self;
        let fields = (arrays.present(), arrays.air(kernels.transports.spare()));
        self.has_fresh_margins = false;
        chemistry.as_mut().map_or(Ok(()), |driver| driver.react(gpu, fields))
    }

    /// Tally of the chemistry; `None` without chemistry. Waits for the device.
    pub(super) fn chemistry_tally(&self) -> Result<Option<ChemistryTally>> {
        self.chemistry.as_ref().map(|driver| driver.tally()).transpose()
    }

    /// First steps of the cells' next calls of the chemistry, s. Waits for the device.
    pub(super) fn first_steps(&self) -> Result<Vec<f64>> {
        self.chemistry.as_ref().map_or_else(|| Ok(Vec::new()), |driver| driver.first_steps())
    }

    /// Continues the chemistry of an earlier run.
    pub(super) fn resume_chemistry(&mut self, gathered: &Accumulators<R>) -> Result<()> {
        let Accumulators { passive, chemistry, first_steps, .. } = gathered;
        let driver = self.chemistry.as_mut();
        driver.map_or(Ok(()), |driver| driver.resume_from(*chemistry, passive, first_steps))
    }

    /// Changes of the passive tracers of a member by inflow, decay and chemistry. Waits for the device.
    pub(super) fn passive_changes(
        &self,
        arrays: &Arrays<R>,
        budget: &BudgetSums<R>,
        member: usize,
    ) -> Result<Vec<TracerChange>> {
        let mut changes = budget.passive_changes(arrays, member, &self.kernels.transports)?;
        if let Some(driver) = &self.chemistry {
            driver.add_changes(&mut changes)?;
        }
        Ok(changes)
    }
}

//! Steps on the device: requested steps are queued and launched as graphs of one or several steps, when a graph is full
//! or when the host needs a result.

use super::gpu_config::GpuConfig;
use super::{GpuBackend, GpuPrecision};
use crate::advection::gpu::TransportSettings;
use crate::advection::gpu::transport::{Wind, side_values};
use crate::device::Branch;
use crate::error::{Error, Result};
use crate::gpu::budget::TERMS;
use crate::state::gpu::step_in_batch::StepInBatch;

/// Numbers of steps in a graph. The device is idle for a while between two graphs, and the launch that ends steps takes
/// as long for one as for several.
const BATCH_SIZES: [usize; 3] = [32, 8, 1];

/// Most memory for the terms that the steps of a graph store until they are added up at its end, bytes. On grids that
/// need more, a step takes so long that the launch at its end does not matter.
const MOST_KEPT: usize = 32 << 20;

/// Fewest steps from one whose phases are timed to the next. A timed step is a graph of its own, since events between
/// kernels take time themselves; the steps between two timed ones fill a graph.
const TIMED_EVERY: usize = 10;

/// Most steps of a graph for a number of states, and the bytes that all but one of them need for their terms. The
/// forcing between frames is set for every step.
pub(super) fn steps_together<R>(
    GpuConfig { grid, has_sequence, .. }: &GpuConfig<'_>,
    (settings, states): (&TransportSettings, usize),
) -> [usize; 2] {
    if *has_sequence {
        return [1, 0];
    }
    let planes = states * TERMS * settings.layout(grid).columns();
    let each = size_of::<R>() * (planes + side_values(grid, settings.tracers));
    let bytes = |steps: usize| (steps - 1) * each;
    let steps = BATCH_SIZES.into_iter().find(|steps| bytes(*steps) <= MOST_KEPT).unwrap_or(1);
    [steps, bytes(steps)]
}

/// Requested steps that have not been launched, all of the same length.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct QueuedSteps {
    count: usize,
    dt: f64,
}

/// Properties that all steps of a graph share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct GraphKey {
    /// Index of the state, of two, that the first step starts from.
    now: usize,
    count: usize,
    dt: f64,
    /// Single step whose phases are timed.
    is_timed: bool,
    /// Step that is to fail, for tests.
    is_failing: bool,
}

impl<R: GpuPrecision> GpuBackend<R> {
    /// Requests a step of `dt` seconds.
    pub(super) fn request_step(&mut self, dt: f64) -> Result<()> {
        self.clock.read()?;
        // The first step may still wait for memory and code.
        let is_timed =
            self.steps % TIMED_EVERY.max(self.together + 1) == 1 && !self.clock.is_running;
        let is_failing = self.failing == Some(self.steps + 1);
        // The interpolation between two frames has been set for this very step.
        let is_single = is_timed || is_failing || self.between().is_some();
        if is_single || self.waiting.dt != dt {
            self.flush_pending_steps()?;
        }
        self.steps += 1;
        if is_single {
            return self.launch(GraphKey { is_timed, is_failing, ..self.key(1, dt) });
        }
        self.waiting = QueuedSteps { count: self.waiting.count + 1, dt };
        if self.waiting.count == self.together { self.flush_pending_steps() } else { Ok(()) }
    }

    /// Launches all queued steps, so that later work of the device follows them.
    pub(super) fn flush_pending_steps(&mut self) -> Result<()> {
        let QueuedSteps { mut count, dt } = std::mem::take(&mut self.waiting);
        let most = self.together;
        for together in BATCH_SIZES.into_iter().filter(|together| *together <= most) {
            while count >= together {
                self.launch(self.key(together, dt))?;
                count -= together;
            }
        }
        Ok(())
    }

    /// Asks for steps without timing their phases, whatever their numbers: for those who time them all.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when the device has failed.
    pub fn step_untimed(&mut self, dt: f64, count: usize) -> Result<()> {
        self.flush_pending_steps()?;
        self.waiting = QueuedSteps { count, dt };
        self.steps += count;
        self.flush_pending_steps()
    }

    /// Steps from the present state.
    fn key(&self, count: usize, dt: f64) -> GraphKey {
        GraphKey { now: self.now, count, dt, is_timed: false, is_failing: false }
    }

    /// Launches the graph of some steps.
    fn launch(&mut self, key: GraphKey) -> Result<()> {
        // What fails shows up while it runs, as in a graph, but leaves no graph behind.
        let launched = if key.is_failing { self.enqueue(key) } else { self.launch_graph(key) };
        launched.map_err(|error| self.in_step(error))?;
        self.now = (self.now + key.count) % self.tracers.len();
        self.launched += key.count;
        if key.count > 1 {
            self.launched_together = self.launched;
        }
        Ok(())
    }

    fn launch_graph(&mut self, key: GraphKey) -> Result<()> {
        let at = self.find_or_record(key)?;
        let Self { gpu, clock, recorded, .. } = self;
        let (_, graph) = &mut recorded[at];
        clock.is_running |= key.is_timed;
        if key.count > 1 { clock.time(gpu, key.count, || graph.launch()) } else { graph.launch() }
    }

    /// The number of the graph of some steps, recorded where it is not there yet.
    fn find_or_record(&mut self, key: GraphKey) -> Result<usize> {
        /// Both states, all numbers of steps and a timed one, of the usual length and of a last one that is shorter.
        const MOST: usize = 2 * 2 * (BATCH_SIZES.len() + 1);
        if let Some(at) = self.recorded.iter().position(|(recorded, _)| *recorded == key) {
            return Ok(at);
        }
        // All members share the kernels.
        self.members[0].prepare(key.dt)?;
        let graph = self.gpu.capture(|| self.enqueue(key))?;
        if self.recorded.len() == MOST {
            self.recorded.remove(0);
        }
        self.recorded.push((key, graph));
        Ok(self.recorded.len() - 1)
    }

    /// Asks for the kernels of some steps, which end together.
    fn enqueue(&self, steps: GraphKey) -> Result<()> {
        let of = steps.count;
        for number in 1..=of {
            let now = (steps.now + number - 1) % self.tracers.len();
            self.advance(StepInBatch { number, of }, GraphKey { now, ..steps })?;
        }
        self.step_end.end(&self.transport, &self.budget, &self.status, of, steps.dt)?;
        self.mark(2, steps)
    }

    /// Asks for transport and microphysics of a step.
    fn advance(&self, turn: StepInBatch, step: GraphKey) -> Result<()> {
        let (now, dt) = (step.now, step.dt);
        let [start, end] = [&self.tracers[now], &self.tracers[1 - now]];
        let between = self.between();
        if let Some(between) = between {
            between.drive(&self.driving)?;
        }
        let [x, y, z] = &self.driving.flux;
        let wind = Wind { flux: [x, y, z], inflow: Some(&self.driving.inflow) };
        self.mark(0, step)?;
        self.transport.step_in(turn, &wind, start, end, dt)?;
        for transport in &self.apart {
            transport.step(&wind, start, end, dt)?;
            transport.count_entered(dt)?;
        }
        self.decay(end, dt)?;
        self.mark(1, step)?;
        if let Some(between) = between {
            between.air(self.transport.spare())?;
        }
        let microphysics = |member: usize, branch: Branch<'_>| {
            let member = &self.members[member];
            let place = self.place(member, end);
            if step.is_failing {
                member.call_with_fault(&place, dt)
            } else {
                member.call_in(branch, turn, &place, dt)
            }
        };
        match &self.branches {
            Some(branches) => branches.fork_join(self.members.len(), microphysics),
            None => microphysics(0, Branch::TRUNK),
        }
    }

    /// An error of the device with the number of its step.
    pub(super) fn in_step(&self, error: Error) -> Error {
        match error {
            Error::Gpu(message) => {
                let (step, kernel) = (self.status.steps() + 1, self.status.kernel());
                // It is unknown which steps of a batch are complete.
                let later = if step <= self.launched_together { " or soon after it" } else { "" };
                Error::Gpu(format!("in step {step}{later}, kernel {kernel}: {message}"))
            }
            other => other,
        }
    }

    /// Records one of the marks between the phases of a timed step.
    fn mark(&self, number: usize, step: GraphKey) -> Result<()> {
        if step.is_timed { self.clock.marks[number].record_in_graph() } else { Ok(()) }
    }
}

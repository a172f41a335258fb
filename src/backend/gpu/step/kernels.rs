//! Kernels of a step on the device, in the order in which they are queued.

use super::graphs::GraphKey;
use super::phase_clock::Clock;
use super::scheme_calls;
use crate::backend::gpu::GpuPrecision;
use crate::backend::gpu::arrays::Arrays;
use crate::backend::gpu::budget::BudgetSums;
use crate::backend::gpu::gpu_config::GpuConfig;
use crate::backend::gpu::margins::Margins;
use crate::backend::gpu::transports::Transports;
use crate::device::{Branch, Buffer, ForkJoin, Gpu, Resources};
use crate::error::Result;
use crate::gpu::device_status::DeviceStatus;
use crate::gpu::step_end::StepEnd;
use crate::physics::device::DeviceColumns;
use crate::physics::scheme::Scheme;
use crate::state::gpu::step_in_batch::StepInBatch;

/// Launchers of the kernels of a step.
#[derive(Debug)]
pub(super) struct StepKernels<R> {
    pub(super) transports: Transports<R>,
    /// Margins of a part of a grid.
    pub(super) margins: Option<Margins>,
    /// Microphysics of each member.
    schemes: Vec<Box<dyn DeviceColumns<R>>>,
    /// Streams for the microphysics of several members side by side.
    branches: Option<ForkJoin>,
    pub(super) status: DeviceStatus,
    step_end: StepEnd,
}

impl<R: GpuPrecision> StepKernels<R> {
    /// Compiles the kernels of the steps of a setting; a scheme for each member.
    pub(super) fn new(
        gpu: &Gpu,
        setting: &GpuConfig<'_>,
        schemes: (&[Box<dyn Scheme>], Option<&str>),
        (mut transports, margins): (Transports<R>, Option<Margins>),
        (arrays, budget): (&Arrays<R>, &BudgetSums<R>),
    ) -> Result<Self> {
        let count = arrays.members();
        let status = DeviceStatus::new(gpu, arrays.layout, arrays.order.len())?;
        let columns = (arrays, budget.area());
        let watched = (&mut transports, &status);
        let schemes = scheme_calls::of_members(gpu, setting, schemes, columns, watched)?;
        Ok(Self {
            transports,
            margins,
            schemes,
            branches: if count > 1 { Some(ForkJoin::new(gpu, count)?) } else { None },
            status,
            step_end: StepEnd::new::<R>(gpu, setting.grid)?,
        })
    }

    /// Mapping of columns to threads in the microphysics, in short.
    pub(super) fn mapping(&self) -> String {
        self.schemes[0].mapping()
    }

    /// The kernel that began last; also known after a device failure.
    pub(super) fn last_begun(&self) -> &'static str {
        self.status.kernel(self.schemes[0].kernels())
    }

    /// Resources of the kernels of transport and microphysics in steps of `dt` seconds.
    pub(super) fn resources(&self, dt: f64) -> Result<Vec<Resources>> {
        let [call, _] = self.schemes[0].resources(dt)?;
        Ok(self.transports.main.resources()?.into_iter().chain([call]).collect())
    }

    /// Compiles what steps of `dt` seconds need, before any is recorded. All members share the kernels.
    pub(super) fn prepare(&self, dt: f64) -> Result<()> {
        self.schemes[0].prepare(dt)
    }

    /// Queues the kernels of some steps, which end together.
    pub(super) fn enqueue(
        &self,
        steps: GraphKey,
        (arrays, budget): (&Arrays<R>, &BudgetSums<R>),
        clock: &Clock,
    ) -> Result<()> {
        let of = steps.count;
        for number in 1..=of {
            let now = arrays.after(steps.now, number - 1);
            let step = GraphKey { now, ..steps };
            self.advance(StepInBatch { number, of }, step, (arrays, budget), clock)?;
        }
        self.step_end.end(&self.transports.main, &budget.water, &self.status, of, steps.dt)?;
        clock.mark(2, steps.is_timed)
    }

    /// Queues transport and microphysics of a step.
    fn advance(
        &self,
        turn: StepInBatch,
        step: GraphKey,
        (arrays, budget): (&Arrays<R>, &BudgetSums<R>),
        clock: &Clock,
    ) -> Result<()> {
        let (dt, spare) = (step.dt, self.transports.spare());
        let [start, end] = arrays.of_step(step.now);
        arrays.interpolate_wind()?;
        clock.mark(0, step.is_timed)?;
        if let Some(margins) = self.margins.as_ref().filter(|margins| margins.are_recordable()) {
            margins.refresh(start)?;
        }
        self.transports.step(turn, &arrays.wind(), [start, end], dt)?;
        budget.decay(arrays, end, dt)?;
        clock.mark(1, step.is_timed)?;
        arrays.interpolate_air(spare)?;
        let microphysics = |member: usize, branch: Branch<'_>| {
            let (calls, place) = (&self.schemes[member], arrays.of_call(member, end, spare));
            if step.is_failing {
                calls.call_with_fault(&place, dt)
            } else {
                calls.call_in(branch, turn, &place, dt)
            }
        };
        match &self.branches {
            Some(branches) => branches.fork_join(self.schemes.len(), microphysics),
            None => microphysics(0, Branch::TRUNK),
        }
    }

    /// Queues the diagnosis of the present state of a member; the results go to `out` from `first` on.
    pub(super) fn diagnose(
        &self,
        member: usize,
        arrays: &Arrays<R>,
        out: &Buffer<R>,
        first: usize,
    ) -> Result<()> {
        let place = arrays.of_call(member, arrays.present(), self.transports.spare());
        self.schemes[member].diagnose(&place, out, first)
    }
}

//! Kernels of a step on the device, in the order in which they are queued.

use super::divided_call::{Call, DividedCall};
use super::graphs::GraphKey;
use super::phase_clock::{Clock, Mark};
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
    /// The microphysics of a part, beside an exchange that can be recorded.
    divided: Option<DividedCall<R>>,
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
        let recorded = margins.as_ref().filter(|margins| margins.are_recordable());
        let divided = recorded.map(|margins| DividedCall::new(gpu, &*schemes[0], margins));
        Ok(Self {
            divided: divided.transpose()?.flatten(),
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
        clock.mark(Mark::End, Branch::TRUNK, steps.is_timed)
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
        clock.mark(Mark::Start, Branch::TRUNK, step.is_timed)?;
        self.transports.step(turn, &arrays.wind(), [start, end], dt)?;
        budget.decay(arrays, end, dt)?;
        clock.mark(Mark::Between, Branch::TRUNK, step.is_timed)?;
        arrays.interpolate_air(spare)?;
        let microphysics = |member: usize, branch: Branch<'_>| {
            let (calls, place) = (&self.schemes[member], arrays.of_call(member, end, spare));
            if step.is_failing {
                calls.call_with_fault(&place, dt)
            } else {
                calls.call_in(branch, turn, &place, dt)
            }
        };
        let margins = self.margins.as_ref().filter(|margins| margins.are_recordable());
        match (&self.branches, margins) {
            (Some(branches), _) => branches.fork_join(self.schemes.len(), microphysics),
            (None, None) => microphysics(0, Branch::TRUNK),
            (None, Some(_)) if step.is_failing => microphysics(0, Branch::TRUNK),
            (None, Some(margins)) => {
                let call = Call { turn, place: &arrays.of_call(0, end, spare), dt };
                self.call_and_exchange(call, margins, (clock, step.is_timed))
            }
        }
    }

    /// Queues the microphysics of a part and the exchange of its margins, side by side where the scheme can.
    fn call_and_exchange(
        &self,
        call: Call<'_, R>,
        margins: &Margins,
        (clock, is_timed): (&Clock, bool),
    ) -> Result<()> {
        if let Some(divided) = &self.divided {
            return divided.call(call, margins, (clock, is_timed));
        }
        let mark = |mark| clock.mark(mark, Branch::TRUNK, is_timed);
        self.schemes[0].call_in(Branch::TRUNK, call.turn, call.place, call.dt)?;
        mark(Mark::OthersEnd)?;
        mark(Mark::ExchangeStart)?;
        margins.refresh(Branch::TRUNK, call.place.state)?;
        mark(Mark::ExchangeEnd)
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

//! The microphysics of a part of a grid beside the exchange of its margins.

use super::phase_clock::{Clock, Mark};
use crate::backend::gpu::GpuPrecision;
use crate::backend::gpu::margins::Margins;
use crate::device::{Branch, Gpu, SideStream};
use crate::error::Result;
use crate::physics::device::DeviceColumns;
use crate::state::gpu::device_fields::DeviceFields;
use crate::state::gpu::step_in_batch::StepInBatch;

/// The columns of a part in two groups: those that other parts need come first, and go there while the others are computed.
#[derive(Debug)]
pub(super) struct DividedCall<R> {
    given: Vec<Box<dyn DeviceColumns<R>>>,
    others: Vec<Box<dyn DeviceColumns<R>>>,
    side: SideStream,
}

/// A call of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a, R> {
    pub(super) turn: StepInBatch,
    pub(super) place: &'a DeviceFields<'a, R>,
    pub(super) dt: f64,
}

impl<R: GpuPrecision> DividedCall<R> {
    /// The groups of the columns of a scheme; `None` where the scheme cannot be called for some of them.
    pub(super) fn new(
        gpu: &Gpu,
        scheme: &dyn DeviceColumns<R>,
        margins: &Margins,
    ) -> Result<Option<Self>> {
        let [given, others] = margins.groups();
        let groups = scheme.within(given).zip(scheme.within(others));
        let call = |(given, others)| Ok(Self { given, others, side: SideStream::new(gpu)? });
        groups.map(call).transpose()
    }

    /// Queues a call of the scheme and the exchange of the margins of what it leaves.
    pub(super) fn call(
        &self,
        call: Call<'_, R>,
        margins: &Margins,
        (clock, is_timed): (&Clock, bool),
    ) -> Result<()> {
        let Call { turn, place, dt } = call;
        let of_group = |group: &[Box<dyn DeviceColumns<R>>], branch: Branch<'_>| {
            group.iter().try_for_each(|columns| columns.call_in(branch, turn, place, dt))
        };
        let exchange = |side: Branch<'_>| {
            of_group(&self.given, side)?;
            clock.mark(Mark::ExchangeStart, side, is_timed)?;
            margins.refresh(side, place.state)?;
            clock.mark(Mark::ExchangeEnd, side, is_timed)
        };
        self.side.beside(exchange, || {
            of_group(&self.others, Branch::TRUNK)?;
            clock.mark(Mark::OthersEnd, Branch::TRUNK, is_timed)
        })
    }
}

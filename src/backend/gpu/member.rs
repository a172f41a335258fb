//! Members on the device.

use super::frame_reductions::changes;
use super::{GpuBackend, GpuPrecision};
use crate::backend::WaterChange;
use crate::cuda_abi::ReadPointer;
use crate::device::{Branch, Buffer, Graph};
use crate::error::{Error, Result};
use crate::gpu::budget::TERMS;
use crate::grid::gpu::Layout;
use crate::physics::kessler::gpu::KesslerInRun;
use crate::state::gpu::step_in_batch::StepInBatch;
use crate::state::{State, Surface};
use crate::wsm5::gpu::launch::{DeviceFields, MemberLayout, PLANES, Wsm5Gpu};

/// A member: all that is not shared, but for its fields.
#[derive(Debug)]
pub(super) struct Member<R> {
    /// WSM5, which diagnoses in any case.
    pub(super) wsm5: Wsm5Gpu<R>,
    /// The Kessler scheme in its place.
    kessler: Option<KesslerInRun<R>>,
    pub(super) surface: Buffer<R>,
    /// Places of its fields.
    pub(super) indices: MemberLayout,
    /// Frames of it in either array of all states, recorded.
    pub(super) gathering: [Option<Graph>; 2],
}

impl<R: GpuPrecision> Member<R> {
    pub(super) fn new(
        (wsm5, kessler): (Wsm5Gpu<R>, Option<KesslerInRun<R>>),
        surface: Buffer<R>,
        indices: MemberLayout,
    ) -> Self {
        Self { wsm5, kessler, surface, indices, gathering: [None, None] }
    }

    /// Compiles what calls of `dt` seconds need, before any is recorded.
    pub(super) fn prepare(&self, dt: f64) -> Result<()> {
        if self.kessler.is_some() { Ok(()) } else { self.wsm5.prepare(dt) }
    }

    /// Asks for one call of the microphysics in a branch.
    pub(super) fn call_in(
        &self,
        branch: Branch<'_>,
        turn: StepInBatch,
        place: &DeviceFields<'_, R>,
        dt: f64,
    ) -> Result<()> {
        match &self.kessler {
            Some(kessler) => kessler.call_in(branch, turn, place, dt),
            None => self.wsm5.call_in(branch, turn, place, dt),
        }
    }

    /// The same for a call that fails on the device.
    pub(super) fn call_with_fault(&self, place: &DeviceFields<'_, R>, dt: f64) -> Result<()> {
        match &self.kessler {
            Some(kessler) => kessler.call_with_fault(place, dt),
            None => self.wsm5.call_with_fault(place, dt),
        }
    }
}

impl<R: GpuPrecision> GpuBackend<R> {
    /// The member of a run of one.
    pub(super) fn sole_member(&self) -> &Member<R> {
        &self.members[0]
    }

    /// An error with the number of its member, where there are several.
    pub(super) fn with_member(&self, member: usize, error: Error) -> Error {
        if self.members.len() > 1 { error.of_member(member) } else { error }
    }

    /// Sets the state of a member.
    pub(super) fn put(&mut self, member: usize, state: &State<R>) -> Result<()> {
        let (indices, layout) = (self.members[member].indices, self.layout);
        assert_eq!(state.set(), &self.order.set, "the tracers of the run");
        for (number, field) in state.fields().iter().enumerate() {
            let values = field.as_slice().expect("fields are in standard layout");
            let first = self.order.place(indices.number, number) * layout.cells();
            self.tracers[self.now].upload_to(first, &layout.padded(values))?;
        }
        Ok(())
    }

    /// Changes of the water of a member. Waits for the device.
    pub(super) fn changes_of(&self, member: &Member<R>) -> Result<WaterChange> {
        let terms = self.budget.terms(member.indices.number)?;
        Ok(changes(terms, &self.transport.entered()?, member.indices))
    }

    /// Planes at the ground of a member. Waits for the device.
    pub(super) fn surface_of(&self, member: &Member<R>) -> Result<Surface<R>> {
        let mut planes = vec![R::ZERO; PLANES.len() * self.layout.columns()];
        member.surface.download_from(0, &mut planes)?;
        Ok(self.packing.surface_of(&self.layout.unpadded(&planes)))
    }
}

/// The first of the planes with the terms of the water budget.
pub(super) fn terms_of<R: GpuPrecision>(surface: &Buffer<R>, layout: Layout) -> ReadPointer<R> {
    surface.pointer_to((PLANES.len() - TERMS) * layout.columns()).read()
}

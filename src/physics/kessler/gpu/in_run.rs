//! Calls in a run: on the water of one of several states, with the water budget and the notes of a step.

use std::sync::Arc;

use super::super::{Kessler, Vectorised};
use super::{KesslerArgs, KesslerLauncher};
use crate::cuda_abi::DevicePointer;
use crate::device::{Branch, Buffer, Element, Gpu};
use crate::dry_mass::gpu::LayeredPointers;
use crate::error::Result;
use crate::grid::gpu::Layout;
use crate::physics::device::{ColumnLayout, DevicePhysics};
use crate::state::gpu::device_fields::{ActiveColumns, DeviceFields};
use crate::state::gpu::member_layout::MemberLayout;
use crate::state::gpu::step_in_batch::StepInBatch;

/// The scheme in a run.
#[derive(Clone, Debug)]
pub struct KesslerInRun<R> {
    launcher: KesslerLauncher<R>,
    layout: Layout,
    mass: LayeredPointers<R>,
    per_area: Arc<Buffer<R>>,
    marks: DevicePointer<u64>,
    notes: DevicePointer<u64>,
    indices: MemberLayout,
}

impl<R: Vectorised + Element> KesslerInRun<R> {
    /// Compiles the kernel for the columns of a grid. `area` is the area of all its cells, m², row by row; the memory
    /// of `mass`, the marks and the notes must outlive this value.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the device fails, and for unsupported numbers of levels or cells.
    pub fn new(
        gpu: &Gpu,
        layout: Layout,
        ActiveColumns { rows, columns }: ActiveColumns,
        (mass, area): (LayeredPointers<R>, &[f64]),
        [marks, notes]: [DevicePointer<u64>; 2],
    ) -> Result<Self> {
        let per_area: Vec<R> = area.iter().map(|area| R::of(1.0 / area)).collect();
        let in_memory = layout.places(columns);
        let places = ColumnLayout {
            width: in_memory.len(),
            rows: rows.len(),
            first: rows.start * layout.pitch() + in_memory.start,
            pitch: layout.pitch(),
            level: layout.columns(),
        };
        let scheme = Kessler::<R>::default();
        Ok(Self {
            launcher: scheme.launcher(gpu, layout.shape.nz, places, R::THETA_BASE, None)?,
            layout,
            mass,
            per_area: Arc::new(gpu.upload(&layout.padded(&per_area))?),
            marks,
            notes,
            indices: MemberLayout::ALONE,
        })
    }

    /// The same for one of several states in an array.
    pub fn of_state(&self, indices: MemberLayout) -> Self {
        Self { indices, ..self.clone() }
    }

    /// One call of the scheme, `dt` seconds, in a branch, for one step of a batch; the notes and budget terms of the
    /// other steps are kept.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the device has failed.
    ///
    /// # Panics
    ///
    /// When an array is too short.
    pub fn call_in(
        &self,
        branch: Branch<'_>,
        turn: StepInBatch,
        place: &DeviceFields<'_, R>,
        dt: f64,
    ) -> Result<()> {
        self.launcher.launch(branch, &self.args(turn, place, R::of(dt)))
    }

    /// For tests: a call that fails on the device.
    #[doc(hidden)]
    pub fn call_with_fault(&self, place: &DeviceFields<'_, R>, dt: f64) -> Result<()> {
        // An invalid address.
        let theta = DevicePointer::new(16);
        let args = KesslerArgs { theta, ..self.args(StepInBatch::ALONE, place, R::of(dt)) };
        self.launcher.launch(Branch::TRUNK, &args)
    }

    fn args(&self, turn: StepInBatch, place: &DeviceFields<'_, R>, dt: R) -> KesslerArgs<R> {
        let fields = place.pointers(self.layout, self.indices, turn);
        let [theta, qv, qc, qr, _, _] = fields.state;
        let [rho, exner, _, dz] = fields.air;
        let [rain, _, rainncv, _, _, fallen, fall_residual, clipped, mass_mismatch] = fields.planes;
        KesslerArgs {
            marks: self.marks,
            notes: self.notes,
            theta,
            qv,
            qc,
            qr,
            rho,
            exner,
            dz,
            rain,
            rainncv,
            fallen,
            fall_residual,
            clipped,
            mass_mismatch,
            mass: self.mass,
            per_area: self.per_area.pointer().read(),
            step: turn.number as i32,
            theta_number: self.indices.theta() as i32,
            water_number: self.indices.water().start as i32,
            ..self.launcher.bare(dt)
        }
    }
}

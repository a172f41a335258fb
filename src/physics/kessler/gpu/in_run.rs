//! Calls in a run: on the water of one of several states, with the water budget and the notes of a step.

use std::sync::Arc;

use super::super::{Kessler, Vectorised};
use super::{KesslerArgs, KesslerLauncher};
use crate::cuda_abi::{DevicePointer, ReadPointer};
use crate::device::{Branch, Buffer, Element, Gpu};
use crate::dry_mass::gpu::LayeredPointers;
use crate::error::Result;
use crate::grid::gpu::Layout;
use crate::physics::device::{ColumnLayout, DevicePhysics};
use crate::state::gpu::AIR_FIELDS;
use crate::state::gpu::device_fields::{
    ActiveColumns, DeviceFields, PLANES, SURFACE_PLANES, TERMS, planes_of,
};
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
    abreast: MemberLayout,
}

/// Index of a plane at the ground.
fn plane(name: &str) -> usize {
    PLANES.iter().position(|plane| *plane == name).expect("a plane of the ground")
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
            abreast: MemberLayout::ALONE,
        })
    }

    /// The same for one of several states in an array.
    pub fn of_state(&self, abreast: MemberLayout) -> Self {
        Self { abreast, ..self.clone() }
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
        let DeviceFields { state, air, surface } = place;
        let (cells, columns) = (self.layout.cells(), self.layout.columns());
        assert!(state.len() >= self.abreast.fields() * cells, "all fields of the state");
        assert!(air.len() >= AIR_FIELDS * cells, "all fields of the air");
        assert!(surface.len() >= planes_of(turn.of) * columns, "all planes of the ground");
        let [theta, qv, qc, qr] =
            std::array::from_fn(|field| state.pointer_to(self.abreast.place(field) * cells));
        let [rho, exner, _, dz]: [ReadPointer<R>; AIR_FIELDS] =
            std::array::from_fn(|number| air.pointer_to(number * cells).read());
        let plane = |name: &str| {
            let number = plane(name);
            let is_term = number >= SURFACE_PLANES - TERMS;
            let before = if is_term { turn.place() * TERMS } else { 0 };
            surface.pointer_to((before + number) * columns)
        };
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
            rain: plane("rain"),
            rainncv: plane("rainncv"),
            fallen: plane("fallen"),
            fall_residual: plane("fall_residual"),
            clipped: plane("clipped"),
            mass_mismatch: plane("mass_mismatch"),
            mass: self.mass,
            per_area: self.per_area.pointer().read(),
            step: turn.number as i32,
            theta_number: self.abreast.theta() as i32,
            water_number: self.abreast.water().start as i32,
            ..self.launcher.bare(dt)
        }
    }
}

//! Calls in a run: on the water of one of several states, with the water budget and the notes of a step.

use std::any::Any;
use std::sync::Arc;

use super::super::{ABOUT, Kessler, Vectorised};
use super::{KERNEL, KesslerArgs, KesslerLauncher, blocks};
use crate::cuda_abi::DevicePointer;
use crate::device::{Branch, Buffer, Element, Gpu, Resources};
use crate::dry_mass::gpu::LayeredPointers;
use crate::error::Result;
use crate::grid::gpu::Layout;
use crate::physics::device::{ColumnLayout, DeviceColumns, DeviceGrid, DevicePhysics, DeviceRun};
use crate::state::gpu::device_fields::{ActiveColumns, DeviceFields};
use crate::state::gpu::member_layout::MemberLayout;
use crate::state::gpu::step_in_batch::StepInBatch;

/// The scheme in a run.
#[derive(Clone, Debug)]
pub struct KesslerInRun<R> {
    launcher: KesslerLauncher<R>,
    layout: Layout,
    mass: LayeredPointers<R>,
    per_area: Option<Arc<Buffer<R>>>,
    marks: DevicePointer<u64>,
    notes: DevicePointer<u64>,
    indices: MemberLayout,
}

impl<R: Vectorised + Element> KesslerInRun<R> {
    /// Compiles the kernel for the columns of a grid. `masses` are the mass of the cells and the area of all columns,
    /// m², row by row, for the mass mismatch of calls; the memory of the mass, the marks and the notes must outlive
    /// this value.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the device fails, and for unsupported numbers of levels or cells.
    pub fn new(
        scheme: &Kessler<R>,
        gpu: &Gpu,
        layout: Layout,
        inside: &ActiveColumns,
        masses: Option<(LayeredPointers<R>, &[f64])>,
        [marks, notes]: [DevicePointer<u64>; 2],
    ) -> Result<Self> {
        let (mass, area) = masses.unzip();
        let per_area = area.map(|area| {
            let per_area: Vec<R> = area.iter().map(|area| R::of(1.0 / area)).collect();
            gpu.upload(&layout.padded(&per_area)).map(Arc::new)
        });
        let places = places_of(layout, inside);
        Ok(Self {
            launcher: scheme.launcher(gpu, layout.shape.nz, places, R::THETA_BASE, None)?,
            layout,
            mass: mass.unwrap_or_default(),
            per_area: per_area.transpose()?,
            marks,
            notes,
            indices: MemberLayout::alone(&ABOUT.set()),
        })
    }

    /// The same with other factors, for one of several states in an array.
    fn of_state(&self, scheme: &Kessler<R>, indices: MemberLayout) -> Self {
        let launcher = KesslerLauncher { scheme: *scheme, ..self.launcher.clone() };
        Self { launcher, indices, ..self.clone() }
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
        let [theta, qv, qc, qr] = fields.state[..] else { panic!("the fields of Kessler") };
        let [rho, exner, _, dz, ..] = fields.air[..] else { panic!("the air of every scheme") };
        let [rain, rainncv] = fields.planes[..] else { panic!("the planes of Kessler") };
        let [fallen, fall_residual, clipped, mass_mismatch] = fields.terms;
        let per_area = self.per_area.as_ref().map(|plane| plane.pointer().read());
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
            mass_mismatch: per_area.map(|_| mass_mismatch).unwrap_or_default(),
            mass: self.mass,
            per_area: per_area.unwrap_or_default(),
            step: turn.number as i32,
            theta_number: self.indices.theta() as i32,
            water_number: self.indices.limited().start as i32,
            ..self.launcher.bare(dt)
        }
    }
}

/// Places of columns of a grid in the fields.
fn places_of(layout: Layout, ActiveColumns { rows, columns }: &ActiveColumns) -> ColumnLayout {
    let in_memory = layout.places(columns.clone());
    ColumnLayout {
        width: in_memory.len(),
        rows: rows.len(),
        first: rows.start * layout.pitch() + in_memory.start,
        pitch: layout.pitch(),
        level: layout.columns(),
    }
}

/// The columns of a member of a run, with the kernels of another one if there is one.
pub(in crate::physics::kessler) fn columns<R: Vectorised + Element>(
    scheme: &Kessler<R>,
    gpu: &Gpu,
    run: &DeviceRun<'_, R>,
    other: Option<&dyn DeviceColumns<R>>,
) -> Result<Box<dyn DeviceColumns<R>>> {
    let other = other.and_then(|other| (other as &dyn Any).downcast_ref::<KesslerInRun<R>>());
    let DeviceGrid { layout, inside, .. } = &run.grid;
    let first = match other {
        Some(other) => other.clone(),
        None => KesslerInRun::new(scheme, gpu, *layout, inside, run.masses, run.status)?,
    };
    Ok(Box::new(first.of_state(scheme, run.member)))
}

impl<R: Vectorised + Element> DeviceColumns<R> for KesslerInRun<R> {
    fn call_in(
        &self,
        branch: Branch<'_>,
        turn: StepInBatch,
        place: &DeviceFields<'_, R>,
        dt: f64,
    ) -> Result<()> {
        self.call_in(branch, turn, place, dt)
    }

    fn within(&self, windows: &[ActiveColumns]) -> Option<Vec<Box<dyn DeviceColumns<R>>>> {
        let window = |window: &ActiveColumns| -> Box<dyn DeviceColumns<R>> {
            let places = places_of(self.layout, window);
            let launcher = KesslerLauncher { places, ..self.launcher.clone() };
            Box::new(Self { launcher, ..self.clone() })
        };
        Some(windows.iter().map(window).collect())
    }

    fn call_with_fault(&self, place: &DeviceFields<'_, R>, dt: f64) -> Result<()> {
        self.call_with_fault(place, dt)
    }

    fn diagnose(&self, place: &DeviceFields<'_, R>, out: &Buffer<R>, first: usize) -> Result<()> {
        let fields = place.pointers(self.layout, self.indices, StepInBatch::ALONE);
        let shape = self.layout.shape;
        let places = places_of(self.layout, &ActiveColumns::all(shape));
        assert!(out.len() >= first + shape.cells(), "room for the reflectivity");
        let read = [fields.air[0], fields.state[3].read()];
        self.launcher.diagnose_in(places, read, out.pointer_to(first))
    }

    fn resources(&self, _dt: f64) -> Result<[Resources; 2]> {
        let [_, threads] = blocks(1);
        let KesslerLauncher { kernel, diagnosis, .. } = &self.launcher;
        Ok([kernel.resources(threads as u32, 0)?, diagnosis.resources(threads as u32, 0)?])
    }

    fn mapping(&self) -> String {
        let [_, threads] = blocks(1);
        format!("column NT{threads}")
    }

    fn kernels(&self) -> &'static [&'static str] {
        &[KERNEL]
    }
}

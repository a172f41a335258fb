//! Calls in a run: on the water of one of several states, with the water budget and the notes of a step.

use std::any::Any;
use std::sync::Arc;

use super::super::{Kessler, Vectorised};
use super::{KERNEL, KesslerArgs, KesslerLauncher, blocks, source};
use crate::cuda_abi::DevicePointer;
use crate::device::{Branch, Buffer, Element, Gpu, KernelSource, Resources};
use crate::dry_mass::gpu::LayeredPointers;
use crate::error::Result;
use crate::grid::gpu::Layout;
use crate::physics::device::{ColumnLayout, DeviceColumns, DeviceGrid, DevicePhysics, DeviceRun};
use crate::physics::wsm5::gpu::Mapping;
use crate::physics::wsm5::gpu::launch::{Wsm5Gpu, diagnosis_source};
use crate::physics::wsm5::{self, Sedimentation, scheme::Scheme};
use crate::real::Precision;
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
        ActiveColumns { rows, columns }: ActiveColumns,
        masses: Option<(LayeredPointers<R>, &[f64])>,
        [marks, notes]: [DevicePointer<u64>; 2],
    ) -> Result<Self> {
        let (mass, area) = masses.unzip();
        let per_area = area.map(|area| {
            let per_area: Vec<R> = area.iter().map(|area| R::of(1.0 / area)).collect();
            gpu.upload(&layout.padded(&per_area)).map(Arc::new)
        });
        let in_memory = layout.places(columns);
        let places = ColumnLayout {
            width: in_memory.len(),
            rows: rows.len(),
            first: rows.start * layout.pitch() + in_memory.start,
            pitch: layout.pitch(),
            level: layout.columns(),
        };
        Ok(Self {
            launcher: scheme.launcher(gpu, layout.shape.nz, places, R::THETA_BASE, None)?,
            layout,
            mass: mass.unwrap_or_default(),
            per_area: per_area.transpose()?,
            marks,
            notes,
            indices: MemberLayout::ALONE,
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
        let [theta, qv, qc, qr, _, _] = fields.state;
        let [rho, exner, _, dz] = fields.air;
        let [rain, _, rainncv, _, _, fallen, fall_residual, clipped, mass_mismatch] = fields.planes;
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
            water_number: self.indices.water().start as i32,
            ..self.launcher.bare(dt)
        }
    }
}

/// Kernels of a run for columns of `nz` levels.
pub(in crate::physics::kessler) fn sources(precision: Precision, nz: usize) -> Vec<KernelSource> {
    let fallout = Sedimentation::default();
    vec![source(precision, nz), diagnosis_source(precision, nz, fallout)]
}

/// The columns of a member of a run, with the kernels of another one if there is one.
pub(in crate::physics::kessler) fn columns<R: Vectorised + wsm5::Vectorised + Element>(
    scheme: &Kessler<R>,
    gpu: &Gpu,
    run: &DeviceRun<'_, R>,
    other: Option<&dyn DeviceColumns<R>>,
) -> Result<Box<dyn DeviceColumns<R>>> {
    let member = run.member;
    let other = other.and_then(|other| (other as &dyn Any).downcast_ref::<DiagnosedColumns<R>>());
    let first = match other {
        Some(other) => other.clone(),
        None => DiagnosedColumns::new(scheme, gpu, run)?,
    };
    Ok(Box::new(DiagnosedColumns {
        calls: first.calls.of_state(scheme, member),
        diagnosis: first.diagnosis.of_state(Scheme::default(), member),
    }))
}

/// The scheme with a diagnosis by the drops of WSM5, since it has no sizes of its own.
#[derive(Clone, Debug)]
struct DiagnosedColumns<R> {
    calls: KesslerInRun<R>,
    diagnosis: Wsm5Gpu<R>,
}

impl<R: Vectorised + wsm5::Vectorised + Element> DiagnosedColumns<R> {
    fn new(scheme: &Kessler<R>, gpu: &Gpu, run: &DeviceRun<'_, R>) -> Result<Self> {
        let DeviceGrid { layout, inside, .. } = &run.grid;
        let of_drops = Scheme::default();
        // The mapping is that of calls, of which there are none.
        let diagnosis =
            Wsm5Gpu::new(gpu, *layout, inside.clone(), of_drops, Mapping::Column, R::THETA_BASE)?;
        let calls =
            KesslerInRun::new(scheme, gpu, *layout, inside.clone(), run.masses, run.status)?;
        Ok(Self { calls, diagnosis })
    }
}

impl<R: Vectorised + wsm5::Vectorised + Element> DeviceColumns<R> for DiagnosedColumns<R> {
    fn call_in(
        &self,
        branch: Branch<'_>,
        turn: StepInBatch,
        place: &DeviceFields<'_, R>,
        dt: f64,
    ) -> Result<()> {
        self.calls.call_in(branch, turn, place, dt)
    }

    fn call_with_fault(&self, place: &DeviceFields<'_, R>, dt: f64) -> Result<()> {
        self.calls.call_with_fault(place, dt)
    }

    fn diagnose(&self, place: &DeviceFields<'_, R>, out: &Buffer<R>, first: usize) -> Result<()> {
        self.diagnosis.diagnose(place, out, first)
    }

    fn resources(&self, _dt: f64) -> Result<[Resources; 2]> {
        let [_, threads] = blocks(1);
        let call = self.calls.launcher.kernel.resources(threads as u32, 0)?;
        Ok([call, self.diagnosis.diagnosis_resources()?])
    }

    fn mapping(&self) -> String {
        let [_, threads] = blocks(1);
        format!("column NT{threads}")
    }

    fn kernels(&self) -> &'static [&'static str] {
        &[KERNEL]
    }
}

//! The columns of a run on a device, and the mappings to threads to choose from.

use std::any::Any;

use super::Wsm5;
use crate::device::{Branch, Buffer, Element, Gpu, KernelSource, Resources};
use crate::error::Result;
use crate::grid::Shape;
use crate::grid::gpu::Layout;
use crate::physics::device::{
    ColumnLayout, DeviceColumns, DeviceGrid, DevicePhysics, DeviceRun, Launcher, ListedKernel,
    Mappings,
};
use crate::physics::wsm5::gpu::launch::{self, ActiveColumns, DeviceFields, Wsm5Gpu};
use crate::physics::wsm5::gpu::{KERNELS, KernelVariant, Mapping, tuning};
use crate::physics::wsm5::scheme::Scheme;
use crate::physics::wsm5::{Sedimentation, Vectorised};
use crate::real::Precision;
use crate::state::gpu::step_in_batch::StepInBatch;

/// Allowed register spills in calls of several minor steps, bytes: they keep a little more between the steps than wide
/// tiles have registers for. As many as NVRTC 13.0 makes for an H200.
const LONG_CALLS_SPILLED: u32 = 64;

/// Kernels of a run with calls of one minor step; the others are compiled when they are needed.
pub(super) fn sources(
    fallout: Sedimentation,
    precision: Precision,
    DeviceGrid { layout, inside, mapping }: &DeviceGrid<'_>,
) -> Vec<KernelSource> {
    let Shape { nz, .. } = layout.shape;
    let usual = || Mapping::choose(layout.shape.columns(), precision, fallout, nz);
    let mapping = mapping.and_then(|text| tuning::parse(text, precision, fallout, nz));
    let mapping = mapping.unwrap_or_else(usual);
    let variant = launch::variant_for(*layout, inside, mapping, true, true);
    vec![
        launch::source(precision, nz, fallout, mapping, variant),
        launch::diagnosis_source(precision, nz, fallout),
    ]
}

/// Every kernel.
pub(super) fn all_kernels(
    precision: Precision,
    nz: usize,
    [small, large]: [Shape; 2],
) -> Vec<ListedKernel> {
    let cold = |source, variant: &str| ListedKernel {
        source,
        variant: variant.to_owned(),
        is_hot: false,
        most_spilled: 0,
    };
    let mut kernels = Vec::new();
    for fallout in Sedimentation::ALL {
        let name = match fallout {
            Sedimentation::SemiLagrangian => "",
            Sedimentation::Substepped => ", sub-steps",
        };
        for (size, columns) in [("small", small.columns()), ("large", large.columns())] {
            let mapping = Mapping::choose(columns, precision, fallout, nz);
            let variants = [
                ("", KernelVariant::RUN),
                (", alone", KernelVariant { tracks_mismatch: false, ..KernelVariant::RUN }),
                (", long calls", KernelVariant { is_short: false, ..KernelVariant::RUN }),
            ];
            // The same mapping as on the small grid, if it is compiled for a region.
            let (layout, all) = (Layout::in_sectors(small), ActiveColumns::all(small));
            let made_for = launch::variant_for(layout, &all, mapping, true, true);
            let made_for = made_for.region.map(|_| (", its region", made_for));
            for (variant, asked) in variants.into_iter().chain(made_for) {
                kernels.push(ListedKernel {
                    source: launch::source(precision, nz, fallout, mapping, asked),
                    variant: format!("{size}{name}{variant}"),
                    is_hot: true,
                    most_spilled: if asked.is_short { 0 } else { LONG_CALLS_SPILLED },
                });
            }
        }
    }
    // The mapping of 2008 keeps its columns in local memory by design.
    let of_columns = <Scheme<f32> as DevicePhysics<f32>>::sources(precision, nz);
    kernels.extend(of_columns.into_iter().map(|(source, variant)| cold(source, variant)));
    kernels.push(cold(launch::diagnosis_source(precision, nz, Sedimentation::default()), ""));
    kernels
}

/// The columns of a member of a run, with the kernels of another one of the same variant if there is one.
pub(super) fn columns<R: Vectorised + Element>(
    wsm5: &Wsm5,
    gpu: &Gpu,
    run: &DeviceRun<'_, R>,
    other: Option<&dyn DeviceColumns<R>>,
) -> Result<Box<dyn DeviceColumns<R>>> {
    let scheme = wsm5.scheme::<R>();
    if let Some(other) = other.and_then(|other| (other as &dyn Any).downcast_ref::<Wsm5Gpu<R>>()) {
        return Ok(Box::new(other.of_state(scheme, run.member)));
    }
    let DeviceGrid { layout, inside, mapping } = &run.grid;
    let shape = layout.shape;
    let mapping = chosen::<R>(wsm5, gpu, *mapping, [shape.nz, shape.columns()]);
    let mut columns =
        Wsm5Gpu::new(gpu, *layout, inside.clone(), scheme.clone(), mapping, R::THETA_BASE)?;
    if let Some((mass, area)) = run.masses {
        columns.track_mass_mismatch(gpu, mass, area)?;
    }
    let [marks, notes] = run.status;
    columns.note(marks, notes);
    Ok(Box::new(columns.of_state(scheme, run.member)))
}

/// Kernels for independent columns.
pub(super) fn launcher<R: Vectorised + Element>(
    wsm5: &Wsm5,
    gpu: &Gpu,
    (nz, places): (usize, ColumnLayout),
    mapping: Option<&str>,
) -> Result<Box<dyn Launcher<R>>> {
    let mapping = chosen::<R>(wsm5, gpu, mapping, [nz, places.columns()]);
    Ok(Box::new(wsm5.scheme::<R>().launcher(gpu, nz, places, R::ZERO, Some(mapping))?))
}

/// The mapping of a text, or else the fastest.
fn chosen<R: Vectorised>(
    Wsm5 { fallout, .. }: &Wsm5,
    gpu: &Gpu,
    text: Option<&str>,
    [nz, columns]: [usize; 2],
) -> Mapping {
    let read = text.and_then(|text| tuning::parse(text, R::PRECISION, *fallout, nz));
    read.unwrap_or_else(|| Mapping::for_device(gpu, columns, R::PRECISION, *fallout, nz))
}

impl<R: Vectorised + Element> DeviceColumns<R> for Wsm5Gpu<R> {
    fn prepare(&self, dt: f64) -> Result<()> {
        self.prepare(dt)
    }

    fn call_in(
        &self,
        branch: Branch<'_>,
        turn: StepInBatch,
        place: &DeviceFields<'_, R>,
        dt: f64,
    ) -> Result<()> {
        self.call_in(branch, turn, place, dt)
    }

    fn call_with_fault(&self, place: &DeviceFields<'_, R>, dt: f64) -> Result<()> {
        self.call_with_fault(place, dt)
    }

    fn diagnose(&self, place: &DeviceFields<'_, R>, out: &Buffer<R>, first: usize) -> Result<()> {
        self.diagnose(place, out, first)
    }

    fn resources(&self, dt: f64) -> Result<[Resources; 2]> {
        self.resources(dt)
    }

    fn mapping(&self) -> String {
        self.mapping().in_short()
    }

    fn kernels(&self) -> &'static [&'static str] {
        &KERNELS
    }
}

impl Mappings for Wsm5 {
    fn knob(&self) -> &'static str {
        tuning::name(self.fallout)
    }

    fn is_possible(&self, text: &str, precision: Precision, nz: usize) -> bool {
        tuning::parse(text, precision, self.fallout, nz).is_some()
    }

    fn built_in(&self, precision: Precision, nz: usize, columns: usize) -> String {
        Mapping::choose(columns, precision, self.fallout, nz).text()
    }

    fn candidates(&self, precision: Precision, nz: usize) -> Vec<String> {
        let all = tuning::candidates(precision, self.fallout, nz);
        all.into_iter().map(Mapping::text).collect()
    }

    fn variants(&self, text: &str, precision: Precision, nz: usize) -> Vec<String> {
        let mapping = tuning::parse(text, precision, self.fallout, nz);
        let others = |mapping| tuning::variants(mapping, precision, self.fallout, nz);
        mapping.map(others).unwrap_or_default().into_iter().map(Mapping::text).collect()
    }
}

//! The columns of a run on a device.

use std::any::Any;

use super::column_physics::MicrophysicsLauncher;
use super::launch::{self, ActiveColumns, DeviceFields, MicrophysicsGpu, MicrophysicsKernels};
use super::{KernelVariant, Mapping};
use crate::device::{Branch, Buffer, Element, Gpu, KernelSource, Resources};
use crate::error::Result;
use crate::grid::Shape;
use crate::grid::gpu::Layout;
use crate::physics::device::{
    ColumnLayout, DeviceColumns, DeviceGrid, DeviceRun, Launcher, ListedKernel,
};
use crate::physics::wsm5::reflectivity::RadarConstants;
use crate::real::Precision;
use crate::state::gpu::step_in_batch::StepInBatch;

/// Kernels of a run with calls of one minor step; the others are compiled when they are needed.
pub(crate) fn sources<S: MicrophysicsKernels<f32>>(
    scheme: &S,
    precision: Precision,
    DeviceGrid { layout, inside, is_divided, mapping }: &DeviceGrid<'_>,
) -> Vec<KernelSource> {
    let (Shape { nz, .. }, mappings) = (layout.shape, scheme.mappings());
    let usual = || Mapping::choose(layout.shape.columns(), precision, mappings.contents, nz);
    let mapping = mapping.and_then(|text| mappings.parse(text, precision, nz));
    let mapping = mapping.unwrap_or_else(usual);
    let inside = (!is_divided).then_some(inside);
    let variant = launch::variant_for(*layout, inside, mapping, true, true);
    vec![scheme.source(precision, nz, mapping, variant), scheme.diagnosis_source(precision, nz)]
}

/// The kernels of calls in tiles, on a small and on a large grid, with words for the variant of the scheme. Those of
/// several minor steps may spill a little.
pub(crate) fn tile_kernels<S: MicrophysicsKernels<f32>>(
    scheme: &S,
    name: &str,
    (precision, nz): (Precision, usize),
    [small, large]: [Shape; 2],
    most_spilled: u32,
) -> Vec<ListedKernel> {
    let mut kernels = Vec::new();
    for (size, columns) in [("small", small.columns()), ("large", large.columns())] {
        let mapping = Mapping::choose(columns, precision, scheme.mappings().contents, nz);
        let variants = [
            ("", KernelVariant::RUN),
            (", alone", KernelVariant { tracks_mismatch: false, ..KernelVariant::RUN }),
            (", long calls", KernelVariant { is_short: false, ..KernelVariant::RUN }),
        ];
        // The same mapping as on the small grid, if it is compiled for a region.
        let (layout, all) = (Layout::in_sectors(small), ActiveColumns::all(small));
        let made_for = launch::variant_for(layout, Some(&all), mapping, true, true);
        let made_for = made_for.region.map(|_| (", its region", made_for));
        for (variant, asked) in variants.into_iter().chain(made_for) {
            kernels.push(ListedKernel {
                source: scheme.source(precision, nz, mapping, asked),
                variant: format!("{size}{name}{variant}"),
                is_hot: true,
                most_spilled: if asked.is_short { 0 } else { most_spilled },
            });
        }
    }
    kernels
}

/// A kernel that no run depends on for its speed.
pub(crate) fn cold(source: KernelSource, variant: &str) -> ListedKernel {
    ListedKernel { source, variant: variant.to_owned(), is_hot: false, most_spilled: 0 }
}

/// The columns of a member of a run, with the kernels of another one of the same variant if there is one.
pub(crate) fn columns<R: RadarConstants + Element, S: MicrophysicsKernels<R>>(
    scheme: S,
    gpu: &Gpu,
    run: &DeviceRun<'_, R>,
    other: Option<&dyn DeviceColumns<R>>,
) -> Result<Box<dyn DeviceColumns<R>>> {
    let other = other.and_then(|other| (other as &dyn Any).downcast_ref::<MicrophysicsGpu<R, S>>());
    if let Some(other) = other {
        return Ok(Box::new(other.of_state(scheme, run.member)));
    }
    let DeviceGrid { layout, inside, is_divided, mapping } = &run.grid;
    let shape = layout.shape;
    let mappings = scheme.mappings();
    let mapping = Mapping::chosen(*mapping, gpu, shape.columns(), R::PRECISION, mappings, shape.nz);
    let mut columns =
        MicrophysicsGpu::new(gpu, *layout, inside.clone(), scheme.clone(), mapping, R::THETA_BASE)?;
    if *is_divided {
        columns.take_any_columns();
    }
    if let Some((mass, area)) = run.masses {
        columns.track_mass_mismatch(gpu, mass, area)?;
    }
    let [marks, notes] = run.status;
    columns.note(marks, notes);
    Ok(Box::new(columns.of_state(scheme, run.member)))
}

/// Kernels for independent columns, which hold the full potential temperature.
pub(crate) fn launcher<R: RadarConstants + Element, S: MicrophysicsKernels<R>>(
    scheme: S,
    gpu: &Gpu,
    (nz, places): (usize, ColumnLayout),
    mapping: Option<&str>,
) -> Result<Box<dyn Launcher<R>>> {
    let mappings = scheme.mappings();
    let mapping = Mapping::chosen(mapping, gpu, places.columns(), R::PRECISION, mappings, nz);
    let at = (nz, places);
    Ok(Box::new(MicrophysicsLauncher::new(gpu, scheme, at, R::ZERO, Some(mapping))?))
}

impl<R: RadarConstants + Element, S: MicrophysicsKernels<R>> DeviceColumns<R>
    for MicrophysicsGpu<R, S>
{
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

    fn within(&self, windows: &[ActiveColumns]) -> Option<Vec<Box<dyn DeviceColumns<R>>>> {
        let window = |window: &ActiveColumns| -> Option<Box<dyn DeviceColumns<R>>> {
            Some(Box::new(self.of_columns(window.clone())?))
        };
        windows.iter().map(window).collect()
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
        S::KERNELS
    }
}

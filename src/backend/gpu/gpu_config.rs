//! The setting of a run on the device: what follows from it for kernels and memory, before any is made or taken.

use std::sync::Arc;

use super::GpuPrecision;
use super::field_order::{FieldOrder, TracerGroup};
use crate::advection::Limiter;
use crate::advection::gpu::{TransportSettings, passive, transport};
use crate::chemistry::coupled::Coupled;
use crate::constituents::{Constituents, Inflow};
use crate::device::{Gpu, KernelSource};
use crate::dry_mass::MassCoordinate;
use crate::forcing::gpu as forcing;
use crate::gpu::{budget, margins, step_end, summary};
use crate::grid::gpu::Layout;
use crate::grid::{Grid, Window};
use crate::physics::device::DeviceGrid;
use crate::physics::scheme::Scheme;
use crate::primitives::gpu::reduce;
use crate::real::Real;
use crate::state::gpu::device_fields::ActiveColumns;

/// Grid, schemes and tracers that a run on the GPU is made for.
#[derive(Clone, Copy, Debug)]
pub struct GpuConfig<'a> {
    /// The grid and its sides.
    pub grid: &'a Grid,
    /// Its air.
    pub coordinate: &'a MassCoordinate,
    /// Limiter of the water species.
    pub limiter: Limiter,
    /// The microphysics.
    pub scheme: &'a dyn Scheme,
    /// Its mapping of columns to threads, as its `Mappings` write it; without it the fastest one.
    pub mapping: Option<&'a str>,
    /// The tracers that the air carries.
    pub tracers: &'a Arc<Constituents>,
    /// `true` for an input of several frames.
    pub has_sequence: bool,
    /// The chemistry of species among the tracers, for the memory that it takes.
    pub chemistry: Option<&'a Coupled>,
}

/// The columns of the microphysics and their mapping to threads. Those of a part of a grid are called in groups, of those
/// that other parts need and of all others.
pub(super) fn device_grid<'a>(
    grid: &Grid,
    layout: Layout,
    mapping: Option<&'a str>,
) -> DeviceGrid<'a> {
    let Window { rows, columns } = grid.unspecified();
    let inside = ActiveColumns { rows, columns };
    DeviceGrid { layout, inside, is_divided: !grid.is_whole(), mapping }
}

/// Settings of the kernels of each transport: of that which carries the water, then of those of other
/// limiters.
///
/// The cells are shared out as for one state, so that its roundings do not depend on how many there
/// are, and alike in all transports, whose rows lie alike.
pub(super) fn transport_settings<R: GpuPrecision>(
    gpu: &Gpu,
    setting: &GpuConfig<'_>,
    order: &FieldOrder,
) -> Vec<TransportSettings> {
    let GpuConfig { grid, limiter, .. } = *setting;
    let precision = <R as Real>::PRECISION;
    let groups = order.groups(limiter);
    let of_one = groups[0].tracers.map(|tracers| tracers / order.states);
    let sole_member = TransportSettings::for_device(gpu, grid, precision, of_one, limiter);
    let zero_gradient = order.set.iter().any(|tracer| tracer.inflow == Inflow::ZeroGradient);
    let settings = |group: TracerGroup| {
        let TracerGroup { tracers: [tracers, unlimited], limiter, .. } = group;
        TransportSettings { tracers, unlimited, limiter, zero_gradient, ..sole_member }
    };
    groups.into_iter().map(settings).collect()
}

/// Mapping of columns to threads; `None` in a scheme without a choice.
pub(super) fn mapping_of<R: GpuPrecision>(gpu: &Gpu, setting: &GpuConfig<'_>) -> Option<String> {
    // That of the whole grid in all of its parts.
    let shape = setting.grid.global();
    let mappings = setting.scheme.mappings()?;
    let fastest = || mappings.fastest(gpu, <R as Real>::PRECISION, shape.nz, shape.columns());
    Some(setting.mapping.map_or_else(fastest, str::to_owned))
}

/// Kernels of a single run of a setting.
pub(super) fn sources_of<R: GpuPrecision>(gpu: &Gpu, setting: &GpuConfig<'_>) -> Vec<KernelSource> {
    let order = FieldOrder::new(setting.tracers, setting.limiter, 1);
    let settings = transport_settings::<R>(gpu, setting, &order);
    sources::<R>(setting, &settings, mapping_of::<R>(gpu, setting).as_deref())
}

/// Kernels of a run with calls of one minor step; the others are compiled when they are needed.
pub(super) fn sources<R: GpuPrecision>(
    setting: &GpuConfig<'_>,
    settings: &[TransportSettings],
    mapping: Option<&str>,
) -> Vec<KernelSource> {
    let GpuConfig { grid, has_sequence, .. } = *setting;
    let at = device_grid(grid, settings[0].layout(grid), mapping);
    let (precision, nz) = (<R as Real>::PRECISION, grid.shape.nz);
    let mut all = setting.scheme.sources(precision, &at);
    all.extend([
        step_end::source(precision, grid),
        budget::source(precision, nz, setting.tracers.water().len()),
        summary::source(precision, nz),
        reduce::source::<R>(reduce::ReduceConfig::long::<R>()),
    ]);
    all.extend(settings.iter().map(|own| transport::source(precision, grid, *own)));
    if !setting.tracers.passive().is_empty() {
        all.push(passive::source(precision, nz));
    }
    if !grid.is_whole() {
        all.push(margins::source(precision));
    }
    if has_sequence {
        all.push(forcing::source(precision, nz));
    }
    all
}

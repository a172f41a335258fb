//! The setting of a run on the device: what follows from it for kernels and memory, before any is made or taken.

use std::sync::Arc;

use super::GpuPrecision;
use super::field_order::{FieldOrder, TracerGroup};
use crate::advection::Limiter;
use crate::advection::gpu::TransportSettings;
use crate::backend::Microphysics;
use crate::chemistry::coupled::Coupled;
use crate::device::Gpu;
use crate::dry_mass::MassCoordinate;
use crate::grid::{Grid, Window};
use crate::real::Real;
use crate::tracers::{Inflow, TracerSet};
use crate::wsm5::gpu::Mapping;
use crate::wsm5::gpu::launch::ActiveColumns;

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
    pub microphysics: Microphysics,
    /// Mapping of columns to threads in WSM5; without it the fastest one.
    pub mapping: Option<Mapping>,
    /// The tracers that the air carries.
    pub tracers: &'a Arc<TracerSet>,
    /// `true` for an input of several frames.
    pub has_sequence: bool,
    /// The chemistry of species among the tracers, for the memory that it takes.
    pub chemistry: Option<&'a Coupled>,
}

/// The columns of the microphysics and of the chemistry.
pub(super) fn inside_of(grid: &Grid) -> ActiveColumns {
    let Window { rows, columns } = grid.unspecified();
    ActiveColumns { rows, columns }
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

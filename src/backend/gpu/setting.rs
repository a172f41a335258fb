//! The setting of a run on the device: what follows from it for kernels and memory, before any is made or taken.

use super::OnDevice;
use super::steps::together;
use crate::advection::Limiter;
use crate::advection::gpu::TransportSettings;
use crate::device::Gpu;
use crate::grid::Grid;
use crate::mass::MassCoordinate;
use crate::real::Real;
use crate::wsm5::Fallout;
use crate::wsm5::gpu::Mapping;
use crate::wsm5::gpu::clouds::STATE_FIELDS;

/// What a run on the GPU is made for.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The grid and its sides.
    pub grid: &'a Grid,
    /// Its air.
    pub coordinate: &'a MassCoordinate,
    /// What keeps the water species in bounds.
    pub limiter: Limiter,
    /// How precipitation falls.
    pub fallout: Fallout,
    /// How columns are shared out among threads; without it the fastest way.
    pub mapping: Option<Mapping>,
    /// Whether the input has several frames.
    pub has_sequence: bool,
}

/// The most steps that end together, and the bytes that this takes. What lies between frames is set for every step.
pub(super) fn steps_together<R: OnDevice>(
    setting: &Setting<'_>,
    settings: &TransportSettings,
) -> [usize; 2] {
    if setting.has_sequence {
        return [1, 0];
    }
    let states = settings.unlimited;
    together::<R>(setting.grid, settings.layout(setting.grid), [states, settings.tracers])
}

/// What the kernels of the transport are compiled for.
///
/// The cells are shared out as for one state, so that its roundings do not depend on how many there
/// are.
pub(super) fn transport_settings<R: OnDevice>(
    gpu: &Gpu,
    setting: &Setting<'_>,
    states: usize,
) -> TransportSettings {
    // Potential temperature may have any value: nothing to keep above zero.
    const TRACERS: [usize; 2] = [STATE_FIELDS, 1];
    let Setting { grid, limiter, .. } = *setting;
    let precision = <R as Real>::PRECISION;
    let alone = TransportSettings::for_device(gpu, grid, precision, TRACERS, limiter);
    let [tracers, unlimited] = TRACERS.map(|tracers| states * tracers);
    TransportSettings { tracers, unlimited, ..alone }
}

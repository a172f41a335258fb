//! Files of `nwp-mini columns`. Input: independent columns; output: results of the microphysics.

mod fields;
pub mod physics;

use crate::physics::ColumnPhysics;
use crate::wsm5::scheme::Scheme;

/// Fewest and most levels that WSM5 takes.
pub const SUPPORTED_LEVELS: std::ops::RangeInclusive<usize> =
    <Scheme<f32> as ColumnPhysics<f32>>::LEVELS;

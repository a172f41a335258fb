//! Definitions common to the kernels of a step: their names and notes, and their constants.

pub mod budget_region;
pub mod device_fields;
pub mod kernel_id;
pub mod member_layout;
pub(crate) mod prelude;
pub mod status_word;
pub mod step_in_batch;

use crate::constituents::Constituents;

/// Fields of the air of every scheme: rho, exner, p, dz.
pub const AIR_FIELDS: usize = 4;

/// Fields of the air of a set: those of every scheme, and the vertical wind if its scheme reads it.
pub fn air_fields(set: &Constituents) -> usize {
    AIR_FIELDS + usize::from(set.has_vertical_wind())
}

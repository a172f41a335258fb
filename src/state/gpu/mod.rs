//! Definitions common to the kernels of a step: their names and notes, and their constants.

pub mod budget_region;
pub mod device_fields;
pub mod kernel_id;
pub mod member_layout;
pub(crate) mod prelude;
pub mod status_word;
pub mod step_in_batch;

/// Fields of the air: rho, exner, p, dz.
pub const AIR_FIELDS: usize = 4;

//! Definitions common to the kernels of a step: their names and notes, and their constants.

pub mod mark;
pub mod member_layout;
pub mod notes;
pub mod place;
pub(crate) mod prelude;
pub mod step_in_batch;

/// Fields of the air: rho, exner, p, dz.
pub const AIR_FIELDS: usize = 4;

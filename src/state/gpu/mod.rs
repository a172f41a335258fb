//! Definitions common to the kernels of a step: their names and notes, and their constants.

pub mod abreast;
pub mod mark;
pub mod notes;
pub mod place;
pub(crate) mod prelude;
pub mod turn;

/// Fields of the air: rho, exner, p, dz.
pub const AIR_FIELDS: usize = 4;

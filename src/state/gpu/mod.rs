//! The kernels of a step have this in common: their names and notes, and the constants that they are given.

pub mod abreast;
pub mod mark;
pub mod notes;
pub mod place;
pub(crate) mod prelude;
pub mod turn;

/// Fields of the air: rho, exner, p, dz.
pub const AIR_FIELDS: usize = 4;

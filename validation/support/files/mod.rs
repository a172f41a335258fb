//! Files that the program reads, for tests to spoil.

pub mod bases;
pub mod model;
pub mod weights;

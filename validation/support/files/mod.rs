//! Files that the program reads, for tests that corrupt them.

pub mod bases;
pub mod model;
pub mod weights;

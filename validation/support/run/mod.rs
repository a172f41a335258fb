//! The program in a folder of its own: what it is given, and what it leaves.

pub mod place;
pub mod result;
pub mod small;
pub mod tracers;

//! The program in its own folder: its input, and its output.

pub mod place;
pub mod result;
pub mod small;
pub mod tracers;

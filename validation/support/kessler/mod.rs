//! The Kessler scheme on columns of the reference data, by any implementation, and how it is judged.

pub mod case;
pub mod judge;

//! WSM6 on columns of the reference data, for all implementations, and the limits for it.

pub mod case;
pub mod judge;

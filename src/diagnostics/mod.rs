//! What a run is judged by.

pub mod budget;
pub mod comparison;
pub mod difference;
pub mod frame;
pub mod pair;
pub mod tolerance;
pub mod totals;

//! The microphysics on columns of the reference data, for all implementations, and the limits for it.

pub mod agreement;
pub mod case;
pub mod columns;
pub mod difference;
pub mod judge;
pub mod oracle;
pub mod parameters;
pub mod reference;
pub mod substepped;
pub mod variant;
pub mod weather;

pub use crate::column_reference::{report, yardstick};

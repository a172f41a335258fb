//! Rate constants: expressions of a mechanism as one list of operations, and its evaluation.
//!
//! Common subexpressions are computed once: in RADM2 17 reactions have the same rate. All rates are in double
//! precision, since rates of 1e-54 occur (termolecular, in molecules and cm3).

mod lowering;
mod program;
pub mod sun;

pub use lowering::PER_AIR_FACTOR;
pub use program::{Operation, Program, Unary};

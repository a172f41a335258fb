//! The kernels of the project on the [device](crate::device): what they are compiled from, and a safe
//! launcher for each.

#![allow(unsafe_code, reason = "whoever launches a kernel answers for its arguments")]

pub mod advection;
pub mod arguments;
pub mod budget;
mod catalogue;
pub mod ceilings;
pub mod chemistry;
pub mod clouds;
pub mod columns;
pub mod conjugate_gradient;
pub mod csr;
pub mod forcing;
pub mod lattice;
mod layout;
pub mod mark;
pub mod memory_lab;
pub mod notes;
pub mod passive;
pub mod prelude;
pub mod reduce;
pub mod region;
pub mod sampling;
pub mod step_end;
pub mod summary;
pub mod transport;
pub mod transpose;
pub mod tuning;
pub mod turn;
pub mod watch;
pub mod wsm5;

pub use catalogue::{DOUBLE_SUMS, Entry, catalogue};
pub use layout::Layout;

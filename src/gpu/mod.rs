//! The GPU: libraries found at run time, kernels compiled at run time, memory, and launches.
//!
//! All unsafe code of the project stands here. What leaves this module is safe: [`Gpu`], its
//! [`Buffer`]s, and one launcher for each kernel.

#![allow(unsafe_code, reason = "the driver and the compiler are C libraries")]

pub mod advection;
pub mod arguments;
mod branches;
pub mod budget;
mod buffer;
mod cache;
mod catalogue;
pub mod ceilings;
pub mod chemistry;
pub mod clouds;
pub mod columns;
pub mod compile;
pub mod conjugate_gradient;
pub mod csr;
mod device;
pub mod forcing;
mod graph;
mod kernel;
pub mod lattice;
mod layout;
mod library;
pub mod mark;
pub mod memory_lab;
pub mod notes;
mod parcel;
mod pinned;
pub mod prelude;
mod receipt;
pub mod reduce;
pub mod region;
pub mod sampling;
mod shuttle;
mod sources;
pub mod step_end;
pub mod summary;
pub mod transport;
pub mod transpose;
pub mod tuning;
pub mod turn;
pub mod watch;
pub mod wsm5;

pub use branches::{Branch, Branches};
pub use buffer::{Buffer, Element};
pub use cache::user_folder;
pub use catalogue::{DOUBLE_SUMS, Entry, catalogue};
pub use compile::{Architecture, Compiler, Source};
pub use device::{Device, Gpu, Options, Survey, survey};
pub use graph::{Event, Graph};
pub use kernel::{Kernel, Launch, Module, Resources};
pub use layout::Layout;
pub use library::{Attempt, Search};
pub use parcel::Parcel;
pub use receipt::{Receipt, receipts};
pub use shuttle::Shuttle;

/// Threads that run in step: a warp, on every device that there is. Kernels have it from here.
pub const WARP: usize = 32;

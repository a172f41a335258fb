//! The device layer: libraries found at run time, kernels compiled at run time, memory, streams, graphs.
//!
//! It is independent of the computation. A kernel is given as a [`KernelSource`]: the entry file, and a [`Prelude`]
//! before it, which the launcher of the kernel assembles. Items of this module are safe except the launch itself, whose
//! caller promises that the arguments are those of the kernel.
//!
//! # Decisions
//!
//! **The GPU is found, not linked** (`library`). A library that is absent, old or a stub is reported in one line. NVRTC
//! compiles the kernels for the device at hand from sources embedded in the program, below a prelude that Rust writes
//! (`prelude` beside the launchers). The machine code is kept in the user's cache folder under the digest of everything
//! that it depends on. A launcher is in the module of its subject: `advection/gpu` launches `kernels/advection`, which
//! has the formulas of `src/advection`. Launchers for several subjects (`budget`, `summary`, `step_end`) are in `gpu`.

#![allow(unsafe_code, reason = "the driver and the compiler are C libraries")]

mod async_download;
mod branch;
mod buffer;
mod cuda;
pub mod driver;
mod exchange;
mod facts;
mod foreign_kernels;
mod fork_join;
mod gpu;
mod graph;
mod kernel;
mod kernel_source;
mod launch;
mod pinned;
mod prelude;
mod sources;
mod staging;
mod stream;
pub mod tuning;
mod user_folder;

pub use async_download::AsyncDownload;
pub use branch::Branch;
pub use buffer::{Buffer, Element, Rows};
pub use cuda::{Attempt, Compiler, PtxasReport, Search, Survey, ptxas_reports, survey};
pub use driver::CompilerFacts;
pub use exchange::{DirectExchange, Exchange, Message, Parcels, StagedExchange, bandwidth};
pub use facts::{Device, Options};
pub(crate) use foreign_kernels::ForeignTask;
pub use foreign_kernels::{ForeignKernel, ForeignLibrary};
pub(crate) use fork_join::{ForkJoin, SideStream};
pub use gpu::Gpu;
pub use graph::{Event, Graph};
pub use kernel::{Kernel, Module, Resources};
pub use kernel_source::{Architecture, KernelSource};
pub use launch::Launch;
pub(crate) use pinned::Pinned;
pub use pinned::PinnedTransfer;
pub use prelude::Prelude;
pub(crate) use prelude::{constants, structs};
pub use stream::Stream;
pub use user_folder::user_folder;

/// Threads of a warp, the same on all devices. Kernels get the number from here.
pub const WARP: usize = 32;

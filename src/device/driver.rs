//! The driver below the device layer: memory, copies, streams, events, graphs and launches, as calls on addresses and
//! numbers.
//!
//! CUDA is one implementation (`cuda`); the emulated device of the tests is the other. A driver knows no element type,
//! no lifetimes and no kernel arguments: what the arrays and kernels of this layer promise is promised to it.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::facts::{Device, Options};
use super::kernel_source::KernelSource;
use super::launch::Launch;
use crate::error::{Error, Result};

/// An address on the device, or of pinned memory on the host, bytes.
pub type Address = u64;

/// Number that a driver has for a stream, an event, a graph, a module or a function.
pub type Handle = u64;

/// A failed call, in the words of the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Turns a refusal of the driver into an [`Error`]; `action` completes "could not".
pub(crate) fn failed(action: impl fmt::Display) -> impl FnOnce(Refusal) -> Error {
    move |refusal| Error::Gpu(format!("could not {action}: {refusal}"))
}

/// Result of a call.
pub type Outcome<T> = std::result::Result<T, Refusal>;

/// Code for a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// Machine code.
    Binary(Vec<u8>),
    /// Assembly for a range of devices, with the zero byte at its end.
    Ptx(Vec<u8>),
}

/// Direction of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the host to the device.
    Upload,
    /// From the device to the host.
    Download,
    /// From the device to the device.
    Within,
}

/// A copy of rows of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Sides of the copy.
    pub direction: Direction,
    /// First byte to write.
    pub to: Address,
    /// First byte to read.
    pub from: Address,
    /// Bytes of a row.
    pub bytes: usize,
    /// Rows; of 1 the pitches do not matter.
    pub rows: usize,
    /// Bytes from row to row where it writes.
    pub pitch_to: usize,
    /// Bytes from row to row where it reads.
    pub pitch_from: usize,
}

impl Transfer {
    /// A copy of `bytes` consecutive bytes.
    pub(crate) fn contiguous(
        direction: Direction,
        to: Address,
        from: Address,
        bytes: usize,
    ) -> Self {
        Self { direction, to, from, bytes, rows: 1, pitch_to: bytes, pitch_from: bytes }
    }
}

/// Resources of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Registers of a thread.
    pub registers: u32,
    /// Local memory of a thread, bytes.
    pub local_bytes: u32,
    /// Shared memory of a block that the kernel declares, bytes.
    pub shared_bytes: u32,
}

/// Compiler of a driver, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompilerFacts {
    /// Its name.
    pub name: &'static str,
    /// Its version, as "13.0".
    pub version: String,
    /// `true` if it uses fast, less exact functions.
    pub fast_math: bool,
    /// Options of a compilation.
    pub options: Vec<String>,
}

/// Consecutive bytes of the device that go to another device of a group, or come from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipment {
    /// Number of the other device in the group.
    pub peer: usize,
    /// The first byte.
    pub address: Address,
    /// Their number.
    pub bytes: usize,
}

/// A driver of one device. Calls may come from any thread; work of a stream is done in its order.
pub trait Driver: fmt::Debug + Send + Sync {
    /// Properties of the device.
    fn device(&self) -> &Device;
    /// The compiler.
    fn compiler(&self) -> CompilerFacts;
    /// Code for a source, from the compiler or a cache of it.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] with the compiler's log.
    fn code(&self, source: &KernelSource) -> Result<Code>;

    /// Free and total memory, bytes.
    ///
    /// # Errors
    ///
    /// A [`Refusal`], as all below.
    fn memory(&self) -> Outcome<[usize; 2]>;
    /// Memory of the device, at least one byte.
    ///
    /// # Errors
    ///
    /// When it does not suffice.
    fn allocate(&self, bytes: usize) -> Outcome<Address>;
    /// Frees memory of the device after all work that was queued.
    ///
    /// # Safety
    ///
    /// The address came from [`Driver::allocate`] and is freed once.
    unsafe fn free(&self, address: Address);
    /// Pinned memory of the host, zeroed, with one address for host and device.
    ///
    /// # Errors
    ///
    /// When it does not suffice.
    fn pin(&self, bytes: usize) -> Outcome<Address>;
    /// Frees pinned memory.
    ///
    /// # Safety
    ///
    /// The address came from [`Driver::pin`] and is freed once.
    unsafe fn unpin(&self, address: Address);
    /// Queues setting `bytes` bytes to a value.
    ///
    /// # Safety
    ///
    /// The range lies inside one allocation that lives until the stream is done.
    ///
    /// # Errors
    ///
    /// When it cannot be queued, or earlier work has failed.
    unsafe fn fill(&self, stream: Handle, address: Address, value: u8, bytes: usize)
    -> Outcome<()>;
    /// Queues a copy.
    ///
    /// # Safety
    ///
    /// Both ranges lie inside allocations that live until the stream is done.
    ///
    /// # Errors
    ///
    /// As [`Driver::fill`].
    unsafe fn copy(&self, stream: Handle, copy: Transfer) -> Outcome<()>;

    /// An empty stream. Where blocks of several streams could begin, those of a preferred one come first.
    ///
    /// # Errors
    ///
    /// When there can be no more of them.
    fn stream(&self, is_preferred: bool) -> Outcome<Handle>;
    /// Ends a stream after the work that was queued in it.
    fn end_stream(&self, stream: Handle);
    /// Waits until the work of a stream is done.
    ///
    /// # Errors
    ///
    /// When any of it has failed.
    fn finish(&self, stream: Handle) -> Outcome<()>;

    /// An event, with or without timing.
    ///
    /// # Errors
    ///
    /// When there can be no more of them.
    fn event(&self, has_timing: bool) -> Outcome<Handle>;
    /// Ends an event.
    fn end_event(&self, event: Handle);
    /// Records an event after the work queued in a stream. Of a stream that is being captured it is an edge of the
    /// graph, or, `in_graph`, a node that records it at every replay.
    ///
    /// # Errors
    ///
    /// When earlier work has failed.
    fn record(&self, event: Handle, stream: Handle, in_graph: bool) -> Outcome<()>;
    /// Makes the work queued in a stream from now on wait for an event.
    ///
    /// # Errors
    ///
    /// As [`Driver::record`].
    fn hold(&self, stream: Handle, event: Handle) -> Outcome<()>;
    /// Waits on the host for an event.
    ///
    /// # Errors
    ///
    /// When work before it has failed.
    fn wait(&self, event: Handle) -> Outcome<()>;
    /// Returns `true` if the device has reached an event.
    ///
    /// # Errors
    ///
    /// As [`Driver::wait`].
    fn is_reached(&self, event: Handle) -> Outcome<bool>;
    /// Time between two events with timing, s.
    ///
    /// # Errors
    ///
    /// When the device has not reached both.
    fn seconds(&self, start: Handle, end: Handle) -> Outcome<f64>;

    /// Begins to capture the work that this thread queues in a stream, and in those that wait for it.
    ///
    /// # Errors
    ///
    /// When the stream is being captured already.
    fn begin_capture(&self, stream: Handle) -> Outcome<()>;
    /// Ends a capture: a graph of it, ready for replays; `None` when nothing was queued.
    ///
    /// # Errors
    ///
    /// When the work cannot be captured, or a stream did not join.
    fn end_capture(&self, stream: Handle) -> Outcome<Option<Handle>>;
    /// Queues a replay of a graph.
    ///
    /// # Errors
    ///
    /// As [`Driver::fill`].
    fn replay(&self, stream: Handle, graph: Handle) -> Outcome<()>;
    /// Ends a graph.
    fn end_graph(&self, graph: Handle);

    /// Loads code.
    ///
    /// # Errors
    ///
    /// When the device does not take it.
    fn load(&self, code: &Code) -> Outcome<Handle>;
    /// Unloads a module.
    fn unload(&self, module: Handle);
    /// The function of a module with this name.
    ///
    /// # Errors
    ///
    /// When there is none.
    fn function(&self, module: Handle, name: &str) -> Outcome<Handle>;
    /// Resources of a function.
    ///
    /// # Errors
    ///
    /// When the device has failed.
    fn usage(&self, function: Handle) -> Outcome<Usage>;
    /// Blocks of so many threads, with so much dynamic shared memory, that a multiprocessor holds at a time.
    ///
    /// # Errors
    ///
    /// As [`Driver::usage`].
    fn blocks_at_a_time(&self, function: Handle, threads: u32, shared_bytes: u32) -> Outcome<u32>;
    /// Allows a function this much dynamic shared memory, bytes.
    ///
    /// # Errors
    ///
    /// When a block cannot have it.
    fn allow_shared_memory(&self, function: Handle, bytes: u32) -> Outcome<()>;
    /// Part of the memory beside the L1 cache that should be shared memory while the function runs, percent.
    ///
    /// # Errors
    ///
    /// As [`Driver::usage`].
    fn prefer_shared_memory(&self, function: Handle, percent: u32) -> Outcome<()>;
    /// Queues a launch. If `waits`, the function itself waits for the end of preceding work, and its blocks may start
    /// before that (programmatic dependent launch).
    ///
    /// # Safety
    ///
    /// `arguments` are the bytes of the one struct that the function takes; its pointers lead to memory that is large
    /// enough and lives until the work, and every replay of a graph with it, is done.
    ///
    /// # Errors
    ///
    /// When the launch is not possible, or earlier work has failed.
    unsafe fn launch(
        &self,
        stream: Handle,
        function: Handle,
        launch: Launch,
        waits: bool,
        arguments: &[u8],
    ) -> Outcome<()>;

    /// The carrier of messages between the devices of a group, with its version. A driver need not have one.
    ///
    /// # Errors
    ///
    /// When there is none, with the places that were searched.
    fn group_carrier(&self) -> Outcome<String> {
        Err(Refusal("devices of this kind form no groups".to_owned()))
    }
    /// A token for a new group, of which every device of it needs a copy.
    ///
    /// # Errors
    ///
    /// As [`Driver::group_carrier`].
    fn group_token(&self) -> Outcome<Vec<u8>> {
        self.group_carrier().map(|_| Vec::new())
    }
    /// Joins the group of a token as the device of this number, of so many; returns when all have joined.
    ///
    /// # Errors
    ///
    /// When they do not find each other.
    fn join(&self, token: &[u8], [number, size]: [usize; 2]) -> Outcome<Handle> {
        let _ = (token, number, size);
        self.group_carrier().map(|_| 0)
    }
    /// Leaves a group after all work that was queued; graphs with its exchanges are ended.
    fn leave(&self, group: Handle) {
        let _ = group;
    }
    /// Queues an exchange of messages with other devices of a group, all at once, which a capture may record. All devices
    /// queue the same exchanges in the same order; to one device there is one message at most.
    ///
    /// # Safety
    ///
    /// The ranges lie inside allocations that live until the stream, and every replay of a graph with it, is done.
    ///
    /// # Errors
    ///
    /// As [`Driver::fill`].
    unsafe fn exchange(
        &self,
        stream: Handle,
        group: Handle,
        [sent, received]: [&[Shipment]; 2],
    ) -> Outcome<()> {
        let _ = (stream, group, sent, received);
        self.group_carrier().map(|_| ())
    }
}

/// Opens a driver for the options of a user.
pub type Opener = fn(&Options) -> Result<Arc<dyn Driver>>;

static INSTALLED: OnceLock<Opener> = OnceLock::new();

/// Makes all devices of this process those of another driver than CUDA, as the test executables do; the first call
/// counts. A process-wide choice, so that commands need no option of which a user has no use.
#[doc(hidden)]
pub fn install(open: Opener) {
    let _ = INSTALLED.set(open);
}

/// The driver of this process, if it is not CUDA.
pub(super) fn installed() -> Option<Opener> {
    INSTALLED.get().copied()
}

//! Compiled kernels, loaded and launched.

use std::sync::Arc;

use serde::Serialize;
use tracing::trace;

use super::WARP;
use super::branch::Branch;
use super::driver::{Code, Handle, Usage, failed};
use super::gpu::Gpu;
use super::kernel_source::{Architecture, KernelSource};
use super::launch::Launch;
use crate::error::Result;

/// Code on the device.
#[derive(Clone, Debug)]
pub struct Module {
    loaded: Arc<Loaded>,
}

#[derive(Debug)]
struct Loaded {
    gpu: Gpu,
    file: &'static str,
    module: Handle,
}

impl Drop for Loaded {
    fn drop(&mut self) {
        self.gpu.driver().unload(self.module);
    }
}

impl Gpu {
    /// Compiles a source, or takes it from the cache, and loads it.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) with the compiler's log, or with the reason why the driver
    /// rejects the code.
    pub fn module(&self, source: &KernelSource) -> Result<Module> {
        Module::load(self, source.file, &self.code(source)?)
    }
}

impl Module {
    pub(super) fn load(gpu: &Gpu, file: &'static str, code: &Code) -> Result<Self> {
        let loaded = gpu.driver().load(code);
        let module = loaded.map_err(failed(format!("load the code of kernels/{file}")))?;
        Ok(Self { loaded: Arc::new(Loaded { gpu: gpu.clone(), file, module }) })
    }

    /// The kernel of this name.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the module has no such kernel.
    pub fn kernel(&self, name: &'static str) -> Result<Kernel> {
        let Loaded { gpu, file, module } = &*self.loaded;
        let found = gpu.driver().function(*module, name);
        let function =
            found.map_err(failed(format!("find the kernel {name} in kernels/{file}")))?;
        Ok(Kernel { module: self.clone(), name, function, waits: false, most_blocks: u32::MAX })
    }
}

/// A kernel: a function that the device runs in many threads.
#[derive(Clone, Debug)]
pub struct Kernel {
    module: Module,
    name: &'static str,
    function: Handle,
    /// `true` if the kernel itself waits for the end of preceding work (programmatic dependent launch).
    waits: bool,
    /// Most blocks that a multiprocessor should hold.
    most_blocks: u32,
}

/// First architecture with programmatic dependent launch: blocks may start before preceding work has ended.
const WAITING: Architecture = Architecture(90);

/// Resources of a kernel on the device, as the driver reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Resources {
    /// Name of the kernel.
    pub kernel: &'static str,
    /// Threads of a block.
    pub threads: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// Local memory of a thread: arrays that are not in registers, and register spills; bytes.
    pub local_bytes: u32,
    /// Shared memory of a block that the kernel declares, bytes.
    pub shared_bytes: u32,
    /// Blocks that a multiprocessor holds at a time.
    pub blocks: u32,
    /// Warps that a multiprocessor holds at a time.
    pub warps: u32,
}

impl Kernel {
    /// Kernel name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The same kernel with programmatic dependent launch: it waits for the end of preceding work by itself
    /// (`kernels/primitives/pdl_wait.cuh`), so that its blocks start earlier on devices that can do that.
    pub(crate) fn waiting_by_itself(self) -> Self {
        let waits = self.gpu().device().architecture >= WAITING;
        Self { waits, ..self }
    }

    /// Queues a launch of the kernel on the stream of all work.
    ///
    /// # Safety
    ///
    /// As [`Kernel::launch_on`].
    pub(crate) unsafe fn launch<A>(&self, launch: Launch, arguments: &A) -> Result<()> {
        // SAFETY: as promised by the caller.
        unsafe { self.launch_on(Branch::TRUNK, launch, arguments) }
    }

    /// Queues a launch of the kernel in the stream of a branch, after the work queued there before; a failure while it
    /// runs shows up later.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the device has failed.
    ///
    /// # Safety
    ///
    /// `arguments` is the one struct that the kernel takes, field for field. All its pointers lead to memory that is
    /// large enough and lives until the kernel, and every replay of a graph that contains it, is done.
    pub unsafe fn launch_on<A>(
        &self,
        branch: Branch<'_>,
        launch: Launch,
        arguments: &A,
    ) -> Result<()> {
        let gpu = self.gpu();
        let stream = branch.stream_of(gpu).handle();
        let Launch { grid, block, shared_bytes } = launch;
        trace!("{} <<<{grid:?}, {block:?}, {shared_bytes}>>>", self.name);
        // SAFETY: any bytes of a value may be handed to the driver; the rest is promised by the caller.
        unsafe {
            let bytes =
                std::slice::from_raw_parts(std::ptr::from_ref(arguments).cast(), size_of::<A>());
            gpu.driver().launch(stream, self.function, launch, self.waits, bytes)
        }
        .map_err(failed(format!(
            "launch the kernel {} with {grid:?} blocks of {block:?} threads",
            self.name
        )))
    }

    /// Allows the kernel this much dynamic shared memory, bytes.
    pub(crate) fn allow_shared_memory(&self, bytes: u32) -> Result<()> {
        let allowed = self.gpu().driver().allow_shared_memory(self.function, bytes);
        allowed.map_err(failed(format!("reserve {bytes} bytes of shared memory for {}", self.name)))
    }

    /// The same kernel with at most `blocks` blocks of `threads` threads on a multiprocessor: it reserves shared memory
    /// for so many, in the steps of the driver, and leaves the rest to the L1 cache.
    pub(crate) fn with_blocks(self, threads: u32, blocks: u32) -> Result<Self> {
        /// Shared memory that the driver reserves for every block, bytes.
        const OWN: u32 = 1 << 10;
        let Resources { shared_bytes, blocks: possible, .. } = self.resources(threads, 0)?;
        if possible <= blocks {
            // A kernel with another partition of shared memory would have to wait for the preceding one.
            return Ok(self);
        }
        let all = self.gpu().device().shared_bytes + OWN;
        let percent = (100 * blocks * (shared_bytes + OWN)).div_ceil(all).min(100);
        let preferred = self.gpu().driver().prefer_shared_memory(self.function, percent);
        preferred.map_err(failed(format!("set shared memory apart for {}", self.name)))?;
        Ok(Self { most_blocks: blocks, ..self })
    }

    /// Occupancy of a multiprocessor by the kernel in blocks of `threads` threads with this much dynamic shared memory,
    /// bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the driver does not tell.
    pub fn resources(&self, threads: u32, shared_bytes: u32) -> Result<Resources> {
        let usage = self.gpu().driver().usage(self.function);
        let Usage { registers, local_bytes, shared_bytes: declared } =
            usage.map_err(failed(format!("ask what {} takes", self.name)))?;
        let blocks = self.blocks_at_a_time(threads, shared_bytes)?;
        Ok(Resources {
            kernel: self.name,
            threads,
            registers,
            local_bytes,
            shared_bytes: shared_bytes + declared,
            blocks,
            warps: blocks * threads.div_ceil(WARP as u32),
        })
    }

    /// Blocks of `threads` threads that fit on a multiprocessor at a time.
    pub(crate) fn blocks_at_a_time(&self, threads: u32, shared_bytes: u32) -> Result<u32> {
        let blocks = self.gpu().driver().blocks_at_a_time(self.function, threads, shared_bytes);
        blocks
            .map(|blocks| blocks.min(self.most_blocks))
            .map_err(failed(format!("ask how often {} fits", self.name)))
    }

    fn gpu(&self) -> &Gpu {
        &self.module.loaded.gpu
    }
}

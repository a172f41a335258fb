//! Compiled kernels, loaded and launched.

use std::ffi::CString;
use std::sync::Arc;

use cudarc::driver::{result, sys};
use serde::Serialize;
use tracing::trace;

use super::WARP;
use super::compile::{Architecture, Code, KernelSource};
use super::fork_join::Branch;
use super::gpu::{Gpu, failed};
use crate::error::{Error, Result};

/// Code on the device.
#[derive(Clone, Debug)]
pub struct Module {
    loaded: Arc<Loaded>,
}

#[derive(Debug)]
struct Loaded {
    gpu: Gpu,
    file: &'static str,
    module: sys::CUmodule,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Loaded {}
// SAFETY: as above.
unsafe impl Sync for Loaded {}

impl Drop for Loaded {
    fn drop(&mut self) {
        if self.gpu.bind().is_ok() {
            // SAFETY: the module was loaded once and is unloaded once.
            let _ = unsafe { result::module::unload(self.module) };
        }
    }
}

impl Gpu {
    /// Compiles a source, or takes it from the cache, and loads it.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] with the compiler's log, or with the reason why the driver rejects the code.
    pub fn module(&self, source: &KernelSource) -> Result<Module> {
        Module::load(self, source.file, &self.code(source)?)
    }
}

impl Module {
    pub(super) fn load(gpu: &Gpu, file: &'static str, code: &Code) -> Result<Self> {
        gpu.bind()?;
        let (Code::Cubin(image) | Code::Ptx(image)) = code;
        // SAFETY: the image is complete, made by NVRTC, and PTX ends in zero.
        let module = unsafe { result::module::load_data(image.as_ptr().cast()) }
            .map_err(failed(format!("load the code of kernels/{file}")))?;
        Ok(Self { loaded: Arc::new(Loaded { gpu: gpu.clone(), file, module }) })
    }

    /// The kernel of this name.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when the module has no such kernel.
    pub fn kernel(&self, name: &'static str) -> Result<Kernel> {
        let Loaded { gpu, file, module } = &*self.loaded;
        gpu.bind()?;
        let symbol = CString::new(name).map_err(|error| Error::Gpu(error.to_string()))?;
        // SAFETY: the module is loaded, and stays so as long as the kernel holds it.
        let function = unsafe { result::module::get_function(*module, symbol) }
            .map_err(failed(format!("find the kernel {name} in kernels/{file}")))?;
        Ok(Kernel { module: self.clone(), name, function, waits: false, most_blocks: u32::MAX })
    }
}

/// A kernel: a function that the device runs in many threads.
#[derive(Clone, Debug)]
pub struct Kernel {
    module: Module,
    name: &'static str,
    function: sys::CUfunction,
    /// `true` if the kernel itself waits for the end of preceding work (programmatic dependent launch).
    waits: bool,
    /// Most blocks that a multiprocessor should hold.
    most_blocks: u32,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

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

/// Launch configuration: blocks, threads of a block, and dynamic shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Shared memory of a block beyond what the kernel declares, bytes.
    pub shared_bytes: u32,
}

impl Launch {
    /// Blocks in x and y of so many threads.
    pub(crate) fn new([x, y]: [u32; 2], threads: u32) -> Self {
        Self { grid: [x, y, 1], block: [threads, 1, 1], shared_bytes: 0 }
    }

    /// A one-dimensional launch of at least `threads` threads in blocks of `block`.
    pub(crate) fn flat(threads: usize, block: u32) -> Self {
        let blocks = threads.div_ceil(block as usize).max(1);
        let blocks = i32::try_from(blocks).expect("blocks of a grid").unsigned_abs();
        Self::new([blocks, 1], block)
    }
}

impl Kernel {
    /// Kernel name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The same kernel with programmatic dependent launch: it waits for the end of preceding work by itself
    /// (`kernels/primitives/pdl_wait.cuh`), so that its blocks start earlier on devices that can do that.
    pub(crate) fn waiting_by_itself(self) -> Self {
        let waits = self.module.loaded.gpu.device().architecture >= WAITING;
        Self { waits, ..self }
    }

    /// Queues a launch of the kernel, after the work queued before; a failure while it runs shows up later.
    ///
    /// # Safety
    ///
    /// `arguments` is the one struct that the kernel takes, field for field. All its pointers lead to memory that is
    /// large enough and lives until the kernel, and every replay of a graph that contains it, is done.
    pub(crate) unsafe fn launch<A>(&self, launch: Launch, arguments: &A) -> Result<()> {
        // SAFETY: as promised by the caller.
        unsafe { self.launch_on(Branch::TRUNK, launch, arguments) }
    }

    /// The same in the stream of a branch.
    ///
    /// # Safety
    ///
    /// As [`Kernel::launch`].
    pub(crate) unsafe fn launch_on<A>(
        &self,
        branch: Branch<'_>,
        launch: Launch,
        arguments: &A,
    ) -> Result<()> {
        let stream = branch.stream().unwrap_or(self.module.loaded.gpu.compute());
        self.module.loaded.gpu.bind()?;
        let Launch { grid, block, shared_bytes } = launch;
        trace!("{} <<<{grid:?}, {block:?}, {shared_bytes}>>>", self.name);
        let mut pointers = [std::ptr::from_ref(arguments).cast_mut().cast()];
        let mut attribute = sys::CUlaunchAttribute {
            id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            pad: Default::default(),
            value: sys::CUlaunchAttributeValue {
                programmaticStreamSerializationAllowed: i32::from(self.waits),
            },
        };
        let [[grid_x, grid_y, grid_z], [block_x, block_y, block_z]] = [grid, block];
        let config = sys::CUlaunchConfig {
            gridDimX: grid_x,
            gridDimY: grid_y,
            gridDimZ: grid_z,
            blockDimX: block_x,
            blockDimY: block_y,
            blockDimZ: block_z,
            sharedMemBytes: shared_bytes,
            hStream: stream.cu_stream(),
            attrs: &raw mut attribute,
            numAttrs: 1,
        };
        // SAFETY: as promised by the caller; the driver copies the arguments at once.
        unsafe {
            sys::cuLaunchKernelEx(
                &raw const config,
                self.function,
                pointers.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        }
        .result()
        .map_err(failed(format!(
            "launch the kernel {} with {grid:?} blocks of {block:?} threads",
            self.name
        )))
    }

    /// Allows the kernel this much dynamic shared memory, bytes.
    pub(crate) fn allow_shared_memory(&self, bytes: u32) -> Result<()> {
        use sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as SIZE;
        self.module.loaded.gpu.bind()?;
        // SAFETY: the function belongs to a loaded module.
        unsafe { result::function::set_function_attribute(self.function, SIZE, bytes as i32) }
            .map_err(failed(format!("reserve {bytes} bytes of shared memory for {}", self.name)))
    }

    /// The same kernel with at most `blocks` blocks of `threads` threads on a multiprocessor: it reserves shared memory
    /// for so many, in the steps of the driver, and leaves the rest to the L1 cache.
    pub(crate) fn with_blocks(self, threads: u32, blocks: u32) -> Result<Self> {
        use sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT as PERCENT;
        /// Shared memory that the driver reserves for every block, bytes.
        const OWN: u32 = 1 << 10;
        let Resources { shared_bytes, blocks: possible, .. } = self.resources(threads, 0)?;
        if possible <= blocks {
            // A kernel with another partition of shared memory would have to wait for the preceding one.
            return Ok(self);
        }
        let all = self.module.loaded.gpu.device().shared_bytes + OWN;
        let percent = (100 * blocks * (shared_bytes + OWN)).div_ceil(all).min(100);
        // SAFETY: the function belongs to a loaded module.
        unsafe { result::function::set_function_attribute(self.function, PERCENT, percent as i32) }
            .map_err(failed(format!("set shared memory apart for {}", self.name)))?;
        Ok(Self { most_blocks: blocks, ..self })
    }

    /// Occupancy of a multiprocessor by the kernel in blocks of `threads` threads with this much dynamic shared memory,
    /// bytes.
    pub(crate) fn resources(&self, threads: u32, shared_bytes: u32) -> Result<Resources> {
        use sys::CUfunction_attribute as Attribute;
        self.module.loaded.gpu.bind()?;
        let ask = |what| {
            // SAFETY: the function belongs to a loaded module.
            unsafe { result::function::get_function_attribute(self.function, what) }
                .map(i32::unsigned_abs)
                .map_err(failed(format!("ask what {} takes", self.name)))
        };
        let blocks = self.blocks_at_a_time(threads, shared_bytes)?;
        Ok(Resources {
            kernel: self.name,
            threads,
            registers: ask(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            local_bytes: ask(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            shared_bytes: shared_bytes + ask(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            blocks,
            warps: blocks * threads.div_ceil(WARP as u32),
        })
    }

    /// Blocks of `threads` threads that fit on a multiprocessor at a time.
    pub(crate) fn blocks_at_a_time(&self, threads: u32, shared_bytes: u32) -> Result<u32> {
        self.module.loaded.gpu.bind()?;
        // SAFETY: the function belongs to a loaded module.
        unsafe {
            result::occupancy::max_active_block_per_multiprocessor(
                self.function,
                threads as i32,
                shared_bytes as usize,
            )
        }
        .map(|blocks| blocks.unsigned_abs().min(self.most_blocks))
        .map_err(failed(format!("ask how often {} fits", self.name)))
    }
}

//! The calls of CUDA's driver. Handles are its pointers.

use std::ffi::CString;

use cudarc::driver::sys::{CUevent_flags, CUfunction_attribute, CUgraphInstantiate_flags};
use cudarc::driver::{DriverError, result, sys};

use super::nccl::{self, Nccl};
use super::{Cuda, cache, in_words};
use crate::device::driver::{
    Address, Code, CompilerFacts, Direction, Driver, Handle, Outcome, Shipment, Transfer, Usage,
};
use crate::device::facts::Device;
use crate::device::kernel_source::KernelSource;
use crate::device::launch::Launch;
use crate::error::Result;

impl Cuda {
    /// Makes the device the current one of this thread.
    fn bind(&self) -> Outcome<()> {
        self.context.bind_to_thread().map_err(in_words)
    }
}

/// The driver's pointer of a handle.
fn pointer<T>(handle: Handle) -> *mut T {
    std::ptr::with_exposed_provenance_mut(handle as usize)
}

fn handle<T>(pointer: *mut T) -> Handle {
    pointer.expose_provenance() as Handle
}

impl Driver for Cuda {
    fn device(&self) -> &Device {
        &self.device
    }

    fn compiler(&self) -> CompilerFacts {
        let (major, minor) = self.compiler.version();
        CompilerFacts {
            name: "NVRTC",
            version: format!("{major}.{minor}"),
            fast_math: self.compiler.fast_math(),
            options: self.compiler.options(&self.device.architecture.to_string()),
        }
    }

    fn code(&self, source: &KernelSource) -> Result<Code> {
        cache::compile(self.cache.as_deref(), &self.compiler, source, self.device.architecture)
    }

    fn memory(&self) -> Outcome<[usize; 2]> {
        let (free, total) = self.context.mem_get_info().map_err(in_words)?;
        Ok([free, total])
    }

    fn allocate(&self, bytes: usize) -> Outcome<Address> {
        self.bind()?;
        // SAFETY: nothing is read before it is written, as the caller promises with each use.
        unsafe { result::malloc_sync(bytes.max(1)) }.map_err(in_words)
    }

    unsafe fn free(&self, address: Address) {
        // Errors are ignored: a failed device cannot free anything, and a destructor cannot report it.
        if self.bind().is_ok() {
            // SAFETY: as promised by the caller.
            let _ = unsafe { result::free_sync(address) };
        }
    }

    fn pin(&self, bytes: usize) -> Outcome<Address> {
        self.bind()?;
        let bytes = bytes.max(1);
        // SAFETY: the memory has this many bytes.
        unsafe {
            let address = result::malloc_host(bytes, 0).map_err(in_words)?;
            std::ptr::write_bytes(address.cast::<u8>(), 0, bytes);
            Ok(handle(address))
        }
    }

    unsafe fn unpin(&self, address: Address) {
        if self.bind().is_ok() {
            // SAFETY: as promised by the caller.
            let _ = unsafe { result::free_host(pointer(address)) };
        }
    }

    unsafe fn fill(
        &self,
        stream: Handle,
        address: Address,
        value: u8,
        bytes: usize,
    ) -> Outcome<()> {
        self.bind()?;
        // SAFETY: as promised by the caller.
        unsafe { result::memset_d8_async(address, value, bytes, pointer(stream)) }.map_err(in_words)
    }

    unsafe fn copy(&self, stream: Handle, copy: Transfer) -> Outcome<()> {
        self.bind()?;
        let Transfer { direction, to, from, bytes, rows, .. } = copy;
        let stream = pointer(stream);
        // SAFETY: as promised by the caller.
        let code = unsafe {
            match direction {
                _ if rows > 1 => sys::cuMemcpy2DAsync_v2(&two_dimensional(copy), stream),
                Direction::Upload => sys::cuMemcpyHtoDAsync_v2(to, pointer(from), bytes, stream),
                Direction::Download => sys::cuMemcpyDtoHAsync_v2(pointer(to), from, bytes, stream),
                Direction::Within => sys::cuMemcpyDtoDAsync_v2(to, from, bytes, stream),
            }
        };
        code.result().map_err(in_words)
    }

    fn stream(&self, is_preferred: bool) -> Outcome<Handle> {
        self.bind()?;
        let (mut usual, mut preferred) = (0, 0);
        let mut stream = std::ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: the pointers are valid for the numbers and the handle that are written.
        unsafe {
            sys::cuCtxGetStreamPriorityRange(&raw mut usual, &raw mut preferred)
                .result()
                .map_err(in_words)?;
            let priority = if is_preferred { preferred } else { usual };
            sys::cuStreamCreateWithPriority(&raw mut stream, flags, priority)
                .result()
                .map_err(in_words)?;
        }
        Ok(handle(stream))
    }

    fn end_stream(&self, stream: Handle) {
        if self.bind().is_ok() {
            // SAFETY: the stream was made by `stream` and is ended once.
            let _ = unsafe { result::stream::destroy(pointer(stream)) };
        }
    }

    fn finish(&self, stream: Handle) -> Outcome<()> {
        self.bind()?;
        // SAFETY: the stream lives.
        unsafe { result::stream::synchronize(pointer(stream)) }.map_err(in_words)
    }

    fn event(&self, has_timing: bool) -> Outcome<Handle> {
        self.bind()?;
        let flags = if has_timing {
            CUevent_flags::CU_EVENT_DEFAULT
        } else {
            CUevent_flags::CU_EVENT_DISABLE_TIMING
        };
        result::event::create(flags).map(handle).map_err(in_words)
    }

    fn end_event(&self, event: Handle) {
        if self.bind().is_ok() {
            // SAFETY: the event was made by `event` and is ended once.
            let _ = unsafe { result::event::destroy(pointer(event)) };
        }
    }

    fn record(&self, event: Handle, stream: Handle, in_graph: bool) -> Outcome<()> {
        use sys::CUevent_record_flags_enum as Flags;
        self.bind()?;
        let flags = if in_graph {
            Flags::CU_EVENT_RECORD_EXTERNAL as u32
        } else {
            Flags::CU_EVENT_RECORD_DEFAULT as u32
        };
        // SAFETY: event and stream belong to the same device and live.
        unsafe { sys::cuEventRecordWithFlags(pointer(event), pointer(stream), flags) }
            .result()
            .map_err(in_words)
    }

    fn hold(&self, stream: Handle, event: Handle) -> Outcome<()> {
        self.bind()?;
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: event and stream belong to the same device and live.
        unsafe { result::stream::wait_event(pointer(stream), pointer(event), flags) }
            .map_err(in_words)
    }

    fn wait(&self, event: Handle) -> Outcome<()> {
        self.bind()?;
        // SAFETY: the event lives.
        unsafe { result::event::synchronize(pointer(event)) }.map_err(in_words)
    }

    fn is_reached(&self, event: Handle) -> Outcome<bool> {
        self.bind()?;
        // SAFETY: the event lives.
        match unsafe { result::event::query(pointer(event)) } {
            Ok(()) => Ok(true),
            Err(DriverError(sys::CUresult::CUDA_ERROR_NOT_READY)) => Ok(false),
            Err(error) => Err(in_words(error)),
        }
    }

    fn seconds(&self, start: Handle, end: Handle) -> Outcome<f64> {
        self.bind()?;
        // SAFETY: both events live.
        unsafe { result::event::elapsed(pointer(start), pointer(end)) }
            .map(|milliseconds| 1e-3 * f64::from(milliseconds))
            .map_err(in_words)
    }

    fn begin_capture(&self, stream: Handle) -> Outcome<()> {
        use sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL as MODE;
        self.bind()?;
        // SAFETY: the stream lives.
        unsafe { result::stream::begin_capture(pointer(stream), MODE) }.map_err(in_words)
    }

    fn end_capture(&self, stream: Handle) -> Outcome<Option<Handle>> {
        self.bind()?;
        // SAFETY: the stream lives; the recorded graph is used here alone.
        unsafe {
            let recorded = result::stream::end_capture(pointer(stream)).map_err(in_words)?;
            if recorded.is_null() {
                return Ok(None);
            }
            let graph = result::graph::instantiate(recorded, CUgraphInstantiate_flags(0));
            let _ = result::graph::destroy(recorded);
            let graph = graph.map_err(in_words)?;
            if let Err(error) = result::graph::upload(graph, pointer(stream)) {
                let _ = result::graph::exec_destroy(graph);
                return Err(in_words(error));
            }
            Ok(Some(handle(graph)))
        }
    }

    fn replay(&self, stream: Handle, graph: Handle) -> Outcome<()> {
        self.bind()?;
        // SAFETY: both live.
        unsafe { result::graph::launch(pointer(graph), pointer(stream)) }.map_err(in_words)
    }

    fn end_graph(&self, graph: Handle) {
        if self.bind().is_ok() {
            // SAFETY: the graph was made by `end_capture` and is ended once.
            let _ = unsafe { result::graph::exec_destroy(pointer(graph)) };
        }
    }

    fn load(&self, code: &Code) -> Outcome<Handle> {
        self.bind()?;
        let (Code::Binary(image) | Code::Ptx(image)) = code;
        // SAFETY: the image is complete, made by NVRTC, and PTX ends in zero.
        unsafe { result::module::load_data(image.as_ptr().cast()) }.map(handle).map_err(in_words)
    }

    fn unload(&self, module: Handle) {
        if self.bind().is_ok() {
            // SAFETY: the module was loaded once and is unloaded once.
            let _ = unsafe { result::module::unload(pointer(module)) };
        }
    }

    fn function(&self, module: Handle, name: &str) -> Outcome<Handle> {
        self.bind()?;
        let symbol = CString::new(name).expect("no zero byte in the name of a kernel");
        // SAFETY: the module is loaded.
        unsafe { result::module::get_function(pointer(module), symbol) }
            .map(handle)
            .map_err(in_words)
    }

    fn usage(&self, function: Handle) -> Outcome<Usage> {
        use CUfunction_attribute as Attribute;
        self.bind()?;
        let ask = |what| {
            // SAFETY: the function belongs to a loaded module.
            unsafe { result::function::get_function_attribute(pointer(function), what) }
                .map(i32::unsigned_abs)
                .map_err(in_words)
        };
        Ok(Usage {
            registers: ask(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            local_bytes: ask(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            shared_bytes: ask(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
        })
    }

    fn blocks_at_a_time(&self, function: Handle, threads: u32, shared_bytes: u32) -> Outcome<u32> {
        use result::occupancy::max_active_block_per_multiprocessor;
        self.bind()?;
        let (threads, shared_bytes) = (threads as i32, shared_bytes as usize);
        // SAFETY: the function belongs to a loaded module.
        unsafe { max_active_block_per_multiprocessor(pointer(function), threads, shared_bytes) }
            .map(i32::unsigned_abs)
            .map_err(in_words)
    }

    fn allow_shared_memory(&self, function: Handle, bytes: u32) -> Outcome<()> {
        use CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as SIZE;
        self.bind()?;
        // SAFETY: the function belongs to a loaded module.
        unsafe { result::function::set_function_attribute(pointer(function), SIZE, bytes as i32) }
            .map_err(in_words)
    }

    fn prefer_shared_memory(&self, function: Handle, percent: u32) -> Outcome<()> {
        use CUfunction_attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT as PERCENT;
        self.bind()?;
        let percent = percent as i32;
        // SAFETY: the function belongs to a loaded module.
        unsafe { result::function::set_function_attribute(pointer(function), PERCENT, percent) }
            .map_err(in_words)
    }

    unsafe fn launch(
        &self,
        stream: Handle,
        function: Handle,
        launch: Launch,
        waits: bool,
        arguments: &[u8],
    ) -> Outcome<()> {
        self.bind()?;
        let Launch { grid, block, shared_bytes } = launch;
        let mut arguments = [arguments.as_ptr().cast_mut().cast()];
        let mut attribute = sys::CUlaunchAttribute {
            id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            pad: Default::default(),
            value: sys::CUlaunchAttributeValue {
                programmaticStreamSerializationAllowed: i32::from(waits),
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
            hStream: pointer(stream),
            attrs: &raw mut attribute,
            numAttrs: 1,
        };
        // SAFETY: as promised by the caller; the driver copies the arguments at once.
        unsafe {
            sys::cuLaunchKernelEx(
                &raw const config,
                pointer(function),
                arguments.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        }
        .result()
        .map_err(in_words)
    }

    fn group_carrier(&self) -> Outcome<String> {
        nccl::library().map(Nccl::about)
    }

    fn group_token(&self) -> Outcome<Vec<u8>> {
        nccl::library()?.token()
    }

    fn join(&self, token: &[u8], place: [usize; 2]) -> Outcome<Handle> {
        self.bind()?;
        nccl::library()?.join(token, place).map(handle)
    }

    fn leave(&self, group: Handle) {
        if let (Ok(nccl), Ok(())) = (nccl::library(), self.bind()) {
            // SAFETY: the group was made by `join` and is left once.
            unsafe { nccl.leave(pointer(group)) };
        }
    }

    unsafe fn exchange(
        &self,
        stream: Handle,
        group: Handle,
        messages: [&[Shipment]; 2],
    ) -> Outcome<()> {
        self.bind()?;
        // SAFETY: stream and group live; the rest is promised by the caller.
        unsafe { nccl::library()?.exchange(pointer(group), pointer(stream), messages) }
    }
}

/// A copy of rows on the device, as the driver describes it.
fn two_dimensional(copy: Transfer) -> sys::CUDA_MEMCPY2D_st {
    let Transfer { direction, to, from, bytes, rows, pitch_to, pitch_from } = copy;
    assert_eq!(direction, Direction::Within, "rows are copied on the device alone");
    let on_device = sys::CUmemorytype::CU_MEMORYTYPE_DEVICE;
    sys::CUDA_MEMCPY2D_st {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: on_device,
        srcHost: std::ptr::null(),
        srcDevice: from,
        srcArray: std::ptr::null_mut(),
        srcPitch: pitch_from,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: on_device,
        dstHost: std::ptr::null_mut(),
        dstDevice: to,
        dstArray: std::ptr::null_mut(),
        dstPitch: pitch_to,
        WidthInBytes: bytes,
        Height: rows,
    }
}

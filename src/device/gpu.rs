//! The device in use: its context, its streams, and the compiler for it.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use cudarc::driver::sys::CUdevice_attribute as Attribute;
use cudarc::driver::{CudaContext, CudaStream, DriverError, result};
use rayon::prelude::*;
use serde::Serialize;
use tracing::{debug, warn};

use super::cache;
use super::compile::{Architecture, Code, Compiler, KernelSource};
use super::library::{Search, find_driver};
use super::tuning::{IsPossible, Tuning};
use crate::error::{Advice, Error, Result};
use crate::os_text::Shown;

/// Options of the GPU.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of the device.
    pub device: usize,
    /// Location of NVRTC, file or folder; without it all usual places are searched.
    pub compiler_library: Option<PathBuf>,
    /// `true` to use fast, less exact functions.
    pub fast_math: bool,
    /// `true` if compiled kernels are kept for later runs.
    pub cache: bool,
    /// Check for possible settings: with it the settings measured on this GPU are used, without it the built-in ones.
    pub tuning: Option<IsPossible>,
}

impl Default for Options {
    fn default() -> Self {
        Self { device: 0, compiler_library: None, fast_math: true, cache: true, tuning: None }
    }
}

/// Properties of a device.
#[derive(Clone, Debug, Serialize)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Its compute capability as the compiler names it.
    #[serde(serialize_with = "as_text")]
    pub architecture: Architecture,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Largest shared memory of a block, bytes.
    pub shared_bytes: u32,
    /// All of its memory, bytes.
    pub memory: usize,
    /// L2 cache, shared by all multiprocessors, bytes.
    pub cache: usize,
}

fn as_text<S: serde::Serializer>(value: &impl fmt::Display, s: S) -> Result<S::Ok, S::Error> {
    s.collect_str(value)
}

/// Libraries and devices of this machine, and the places that were searched.
#[derive(Debug, Serialize)]
pub struct Survey {
    /// The driver's library.
    pub driver: Search,
    /// The compiler's library.
    pub compiler: Search,
    /// The devices.
    pub devices: Vec<Device>,
    /// Reason why the GPU cannot be used; `None` if it can.
    pub problem: Option<String>,
}

/// Finds the libraries and the devices. Never fails: missing ones are part of the result.
pub fn survey(options: &Options) -> Survey {
    let (driver, usable) = find_driver();
    let (found, compiler) = Compiler::find(options.compiler_library.as_deref(), options.fast_math);
    let mut problems = Vec::new();
    let devices = match usable {
        Ok(()) => guarded(devices).unwrap_or_else(|error| {
            problems.push(error.to_string());
            Vec::new()
        }),
        Err(why) => {
            problems.push(format!("{why}; {}", Advice::InstallDriver.text()));
            Vec::new()
        }
    };
    if let Err(error) = compiler {
        problems.push(bare(error));
    }
    let problem = (!problems.is_empty()).then(|| problems.join("; "));
    Survey { driver, compiler: found, devices, problem }
}

/// The message without its prefix "the GPU cannot be used".
fn bare(error: Error) -> String {
    match error {
        Error::Gpu(message) => message,
        Error::Advised { error, advice } => format!("{}; {}", bare(*error), advice.text()),
        other => other.to_string(),
    }
}

fn devices() -> Result<Vec<Device>> {
    result::init().map_err(failed("initialise the driver"))?;
    let count = CudaContext::device_count().map_err(failed("count the devices"))?;
    (0..count).map(|number| describe(number).map_err(failed("ask what a device is"))).collect()
}

fn describe(number: i32) -> Result<Device, DriverError> {
    let device = result::device::get(number)?;
    // SAFETY: the device was handed out by the driver.
    let ask = |what| unsafe { result::device::get_attribute(device, what) };
    let major = ask(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = ask(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    Ok(Device {
        name: result::device::get_name(device)?,
        architecture: Architecture((10 * major + minor) as u32),
        multiprocessors: ask(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as u32,
        shared_bytes: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)? as u32,
        // SAFETY: as above.
        memory: unsafe { result::device::total_mem(device) }?,
        cache: ask(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)? as usize,
    })
}

thread_local! {
    /// `true` while panics of this thread are turned into errors and need no report of their own.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Result of a call of cudarc with panics turned into errors: cudarc panics if a library lacks a function.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    static QUIETEN: Once = Once::new();
    // Installed once for all threads: repeated changes of the hook could lose reports of other panics.
    QUIETEN.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |about| {
            if !IS_GUARDED.get() {
                usual(about);
            }
        }));
    });
    IS_GUARDED.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(false);
    outcome.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
        let line = text.lines().next().unwrap_or_default();
        Err(Error::Gpu(format!("the driver library cannot be used: {line}; update the driver")))
    })
}

/// Turns an error of the driver into an [`Error`]; `action` completes "could not".
pub(crate) fn failed(action: impl fmt::Display) -> impl FnOnce(DriverError) -> Error {
    move |error| Error::Gpu(format!("could not {action}: {}", in_words(error)))
}

fn in_words(error: DriverError) -> String {
    let text = |found: Result<&std::ffi::CStr, DriverError>| {
        found.map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
    };
    format!("{} ({})", text(error.error_name()), text(error.error_string()))
}

/// Settings in the user's file for a GPU; the reason for ignoring a file is logged once.
fn tuning_of(name: &str, is_possible: IsPossible) -> Option<Tuning> {
    let path = Tuning::path(name)?;
    Tuning::load(&path, name, is_possible).unwrap_or_else(|why| {
        let path = path.shown();
        warn!(
            "built-in settings are used, not those of {path}: {why}; nwp-mini tune rewrites the \
             file"
        );
        None
    })
}

/// A device in use; a clone refers to the same device.
#[derive(Clone)]
pub struct Gpu {
    shared: Arc<GpuInner>,
}

struct GpuInner {
    context: Arc<CudaContext>,
    /// Stream of the kernels, and of copies that kernels wait for.
    compute: Arc<CudaStream>,
    /// Stream of the copies to the host that run concurrently with the kernels.
    copies: Arc<CudaStream>,
    compiler: Compiler,
    /// Folder of compiled kernels that are kept; `None` to keep none.
    cache: Option<PathBuf>,
    device: Device,
    tuning: Option<Tuning>,
    /// Code that was compiled ahead and not yet used.
    ahead: Mutex<HashMap<KernelSource, Code>>,
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gpu({})", self.device().name)
    }
}

impl Gpu {
    /// Opens a device.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] with the missing library and the places searched, or for a device number out of range.
    pub fn open(options: &Options) -> Result<Self> {
        let (_, usable) = find_driver();
        usable.map_err(|why| Error::Gpu(why).advise(Advice::InstallDriver))?;
        let (search, compiler) =
            Compiler::find(options.compiler_library.as_deref(), options.fast_math);
        let compiler = compiler?;
        debug!("NVRTC {:?} at {:?}", search.version, search.found);
        guarded(|| Self::start(options, compiler))
    }

    fn start(options: &Options, compiler: Compiler) -> Result<Self> {
        let number = options.device;
        let devices = devices()?;
        let count = devices.len();
        let device = devices.into_iter().nth(number).ok_or_else(|| {
            Error::Gpu(format!("there is no device {number}: there are {count}, numbered from 0"))
                .advise(Advice::ChooseDevice)
        })?;
        // A device that is too old for the compiler is reported now, not with the first kernel.
        compiler.target(device.architecture)?;
        let context = CudaContext::new(number).map_err(failed("take the device into use"))?;
        // SAFETY: no memory of cudarc's own is used; the program orders work by its own events.
        unsafe { context.disable_event_tracking() };
        let stream = || context.new_stream().map_err(failed("make a stream"));
        let (compute, copies) = (stream()?, stream()?);
        let tuning = options.tuning.and_then(|is_possible| tuning_of(&device.name, is_possible));
        let cache = options.cache.then(cache::user_folder).flatten();
        let ahead = Mutex::default();
        let shared = GpuInner { context, compute, copies, compiler, cache, device, tuning, ahead };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Properties of the device.
    pub fn device(&self) -> &Device {
        &self.shared.device
    }

    /// The settings measured on this GPU, if any.
    pub fn tuning(&self) -> Option<&Tuning> {
        self.shared.tuning.as_ref()
    }

    /// The compiler and its options.
    pub fn compiler(&self) -> &Compiler {
        &self.shared.compiler
    }

    /// Free and total memory of the device, bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`], as all below, when the device has failed.
    pub fn memory(&self) -> Result<[usize; 2]> {
        let (free, total) =
            self.shared.context.mem_get_info().map_err(failed("ask for the free memory"))?;
        Ok([free, total])
    }

    /// Compiles the sources ahead, concurrently: one after the other, the kernels of a run take seconds.
    pub(crate) fn compile_ahead(&self, sources: Vec<KernelSource>) -> Result<()> {
        let compiled = sources.into_par_iter().map(|source| {
            let code = self.code(&source)?;
            Ok((source, code))
        });
        let compiled: Vec<_> = compiled.collect::<Result<_>>()?;
        self.ahead().extend(compiled);
        Ok(())
    }

    /// Code for a source: compiled ahead, or from the cache or the compiler.
    pub(super) fn code(&self, source: &KernelSource) -> Result<Code> {
        let ahead = self.ahead().remove(source);
        let GpuInner { compiler, cache, device, .. } = &*self.shared;
        let cache = cache.as_deref();
        ahead.map_or_else(|| cache::compile(cache, compiler, source, device.architecture), Ok)
    }

    fn ahead(&self) -> MutexGuard<'_, HashMap<KernelSource, Code>> {
        // A poisoned lock is no problem: entries are complete whatever happened to another thread.
        self.shared.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until all queued work is done.
    pub(crate) fn synchronize(&self) -> Result<()> {
        self.bind()?;
        self.compute().synchronize().map_err(failed("finish the work on the device"))?;
        self.copies().synchronize().map_err(failed("finish the copies from the device"))
    }

    /// The context of the device.
    pub(super) fn context(&self) -> &Arc<CudaContext> {
        &self.shared.context
    }

    /// The stream of the kernels.
    pub(crate) fn compute(&self) -> &Arc<CudaStream> {
        &self.shared.compute
    }

    /// The stream of the copies to the host.
    pub(crate) fn copies(&self) -> &Arc<CudaStream> {
        &self.shared.copies
    }

    /// Makes the device the current one of this thread.
    pub(crate) fn bind(&self) -> Result<()> {
        self.shared.context.bind_to_thread().map_err(failed("use the device"))
    }
}

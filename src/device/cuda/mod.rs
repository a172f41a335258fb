//! CUDA: libraries found at run time, kernels compiled by NVRTC and kept in a cache, and the driver's calls.

mod cache;
mod calls;
mod library;
mod nccl;
mod nvrtc;
mod ptxas_report;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};

use cudarc::driver::sys::CUdevice_attribute as Attribute;
use cudarc::driver::{CudaContext, DriverError, result};
use serde::Serialize;
use tracing::debug;

use library::find_driver;
pub use library::{Attempt, Search};
pub use nvrtc::Compiler;
pub use ptxas_report::{PtxasReport, ptxas_reports};

use super::driver::{Driver, Refusal};
use super::facts::{Device, Options};
use super::kernel_source::Architecture;
use super::user_folder::user_folder;
use crate::error::{Advice, Error, Result};

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

/// Number of devices that are visible here.
pub(super) fn count() -> Result<usize> {
    let (_, usable) = find_driver();
    usable.map_err(|why| Error::Gpu(why).advise(Advice::InstallDriver))?;
    guarded(|| devices().map(|devices| devices.len()))
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
fn failed(action: &str) -> impl FnOnce(DriverError) -> Error {
    move |error| Error::Gpu(format!("could not {action}: {}", in_words(error)))
}

fn in_words(error: DriverError) -> Refusal {
    let text = |found: Result<&std::ffi::CStr, DriverError>| {
        found.map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
    };
    Refusal(format!("{} ({})", text(error.error_name()), text(error.error_string())))
}

/// A device of CUDA with its compiler.
#[derive(Debug)]
pub(super) struct Cuda {
    context: Arc<CudaContext>,
    compiler: Compiler,
    /// Folder of compiled kernels that are kept; `None` to keep none.
    cache: Option<PathBuf>,
    device: Device,
}

impl Cuda {
    /// Opens a device.
    pub(super) fn open(options: &Options) -> Result<Arc<dyn Driver>> {
        let (_, usable) = find_driver();
        usable.map_err(|why| Error::Gpu(why).advise(Advice::InstallDriver))?;
        let place: Option<&Path> = options.compiler_library.as_deref();
        let (search, compiler) = Compiler::find(place, options.fast_math);
        let compiler = compiler?;
        debug!("NVRTC {:?} at {:?}", search.version, search.found);
        guarded(|| Self::start(options, compiler))
    }

    fn start(options: &Options, compiler: Compiler) -> Result<Arc<dyn Driver>> {
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
        let cache = options.cache.then(user_folder).flatten();
        Ok(Arc::new(Self { context, compiler, cache, device }))
    }
}

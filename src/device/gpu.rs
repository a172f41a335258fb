//! The device in use: its context, its streams, and the compiler for it.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use tracing::warn;

use super::cuda::Cuda;
use super::driver::{Code, CompilerFacts, Driver, Handle, failed, installed};
use super::facts::{Device, Options};
use super::kernel_source::KernelSource;
use super::staging::Staging;
use super::stream::Stream;
use super::tuning::{IsPossible, Tuning};
use crate::error::Result;
use crate::os_text::Shown;

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
    /// Stream of the kernels, and of copies that kernels wait for.
    compute: Stream,
    /// Stream of the copies to the host that run concurrently with the kernels.
    copies: Stream,
    driver: Arc<dyn Driver>,
    tuning: Option<Tuning>,
    /// Code that was compiled ahead and not yet used.
    ahead: Mutex<HashMap<KernelSource, Code>>,
    /// The way of large arrays to the device, made when there is one.
    staging: Mutex<Option<Staging>>,
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
    /// [`Error::Gpu`](crate::error::Error::Gpu) with the missing library and the places searched, or for a
    /// device number out of range.
    pub fn open(options: &Options) -> Result<Self> {
        let driver = installed().unwrap_or(Cuda::open)(options)?;
        let (compute, copies) = (Stream::of(&driver)?, Stream::of(&driver)?);
        let name = &driver.device().name;
        let tuning = options.tuning.and_then(|is_possible| tuning_of(name, is_possible));
        let (ahead, staging) = (Mutex::default(), Mutex::default());
        let shared = GpuInner { compute, copies, driver, tuning, ahead, staging };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Number of devices that can be opened.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when there is no driver.
    pub fn count() -> Result<usize> {
        if installed().is_some() { Ok(1) } else { super::cuda::count() }
    }

    /// Properties of the device.
    pub fn device(&self) -> &Device {
        self.shared.driver.device()
    }

    /// The settings measured on this GPU, if any.
    pub fn tuning(&self) -> Option<&Tuning> {
        self.shared.tuning.as_ref()
    }

    /// The compiler and its options.
    pub fn compiler(&self) -> CompilerFacts {
        self.shared.driver.compiler()
    }

    /// Free and total memory of the device, bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below, when the device has failed.
    pub fn memory(&self) -> Result<[usize; 2]> {
        self.driver().memory().map_err(failed("ask for the free memory"))
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
        ahead.map_or_else(|| self.driver().code(source), Ok)
    }

    fn ahead(&self) -> MutexGuard<'_, HashMap<KernelSource, Code>> {
        // A poisoned lock is no problem: entries are complete whatever happened to another thread.
        self.shared.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until all queued work is done.
    pub(crate) fn synchronize(&self) -> Result<()> {
        self.compute().synchronize()?;
        self.copies().synchronize()
    }

    /// The way of large arrays to the device, unless another upload has it: a thread that waits for the filling of a
    /// piece may take up work with an upload of its own.
    pub(super) fn staging(&self) -> Option<MutexGuard<'_, Option<Staging>>> {
        let mut staging = self.shared.staging.try_lock().ok()?;
        if staging.is_none() {
            *staging = Some(Staging::new(self.driver()).ok()?);
        }
        Some(staging)
    }

    /// The driver below.
    pub(super) fn driver(&self) -> &Arc<dyn Driver> {
        &self.shared.driver
    }

    /// The stream of the kernels.
    pub(crate) fn compute(&self) -> &Stream {
        &self.shared.compute
    }

    /// The stream of the copies to the host.
    pub(crate) fn copies(&self) -> &Stream {
        &self.shared.copies
    }
}

impl Stream {
    /// An empty stream.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the device has failed.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        Self::of(gpu.driver())
    }

    /// A stream of somebody else, who ends it: a `CUstream`, 0 for the default one.
    ///
    /// # Safety
    ///
    /// The stream belongs to this device, in its primary context, and lives as long as this value.
    pub unsafe fn borrowed(gpu: &Gpu, handle: Handle) -> Self {
        Self::lent(gpu.driver(), handle)
    }
}

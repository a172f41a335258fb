//! Work beside that of the kernels, which they need not wait for.

use super::device::Gpu;
use super::graph::Event;
use super::kernel::{Kernel, Launch};
use crate::error::Result;

/// A second line of work, on which sums are made while the next kernels run; also inside of a graph
/// that is being recorded.
#[derive(Debug)]
pub struct Aside {
    gpu: Gpu,
    left: Event,
    done: Event,
}

impl Aside {
    /// A line without work.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below, when the device has failed.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        Ok(Self { gpu: gpu.clone(), left: Event::new(gpu)?, done: Event::new(gpu)? })
    }

    /// Asks for a kernel that waits for all kernels asked for so far, which nothing waits for
    /// before [`Aside::join`].
    ///
    /// # Errors
    ///
    /// As [`Aside::new`].
    ///
    /// # Safety
    ///
    /// As [`Kernel::launch`].
    pub(super) unsafe fn launch<A>(
        &self,
        kernel: &Kernel,
        launch: Launch,
        arguments: &A,
    ) -> Result<()> {
        self.left.record(&self.gpu)?;
        self.left.hold_aside()?;
        // SAFETY: as promised by the caller.
        unsafe { kernel.launch_in(self.gpu.aside(), launch, arguments) }
    }

    /// Lets the kernels asked for from now on wait for the work on this line, of which there is some.
    ///
    /// # Errors
    ///
    /// As [`Aside::new`].
    pub fn join(&self) -> Result<()> {
        self.done.record_aside(&self.gpu)?;
        self.done.hold_kernels()
    }
}

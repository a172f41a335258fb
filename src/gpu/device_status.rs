//! Status of the steps, which the host reads without waiting for them: the number of steps done, and the first value
//! that became infinite or NaN.

use crate::advection::gpu::transport::Transport;
use crate::cuda_abi::DevicePointer;
use crate::device::{Buffer, Element, Gpu, Pinned};
use crate::error::Result;
use crate::grid::gpu::Layout;
use crate::real::Real;
use crate::state::gpu::kernel_id;
use crate::state::gpu::status_word::{self, NonFiniteValue};

/// Status of the steps.
#[derive(Debug)]
pub struct DeviceStatus {
    notes: Buffer<u64>,
    shown: Pinned<u64>,
}

impl DeviceStatus {
    /// Most fields that a note can distinguish.
    pub const MOST_FIELDS: usize = 1 << (status_word::STEP_SHIFT - status_word::FIELD_SHIFT);

    /// Allocates the notes for a number of fields; they are empty.
    ///
    /// # Panics
    ///
    /// When there are more fields or cells than a note can distinguish.
    pub(crate) fn new(gpu: &Gpu, layout: Layout, fields: usize) -> Result<Self> {
        assert!(fields <= Self::MOST_FIELDS, "{fields} fields");
        assert!(layout.cells() <= 1 << status_word::FIELD_SHIFT, "{} cells", layout.cells());
        let status = Self {
            notes: gpu.zeros(status_word::COUNT)?,
            shown: Pinned::zeros(gpu, status_word::COUNT)?,
        };
        status.reset()?;
        Ok(status)
    }

    /// Enables marks in the kernels of a transport; this value must outlive them.
    pub(crate) fn listen<R: Real + Element>(&self, transport: &mut Transport<R>) {
        transport.note(self.marks());
    }

    /// Pointers for a call of the microphysics: to the marks and to the notes. This value must outlive the call.
    pub(crate) fn of_calls(&self) -> [DevicePointer<u64>; 2] {
        [self.marks(), self.notes.pointer()]
    }

    /// Removes all notes. Waits for the device.
    pub(crate) fn reset(&self) -> Result<()> {
        let mut notes = [0; status_word::COUNT];
        notes[status_word::FLAW] = status_word::NONE;
        self.notes.upload(&notes)?;
        notes.into_iter().enumerate().for_each(|(at, note)| self.shown.set(at, note));
        Ok(())
    }

    /// Pointers to the notes on the device and in host-mapped memory.
    pub(super) fn notes(&self) -> [DevicePointer<u64>; 2] {
        [self.notes.pointer(), self.shown.pointer()]
    }

    /// Steps that are done, as far as the host can see now; also known after a device failure.
    pub(crate) fn steps(&self) -> usize {
        self.shown.get(status_word::STEPS) as usize
    }

    /// Pointer to the marks of kernels that have begun.
    fn marks(&self) -> DevicePointer<u64> {
        self.shown.pointer().offset(status_word::MARK)
    }

    /// The kernel that began last, in a run whose scheme has these kernels; also known after a device failure.
    pub(crate) fn kernel(&self, scheme: &[&'static str]) -> &'static str {
        kernel_id::name(self.shown.get(status_word::MARK), scheme)
    }

    /// The first value that is not finite, as far as the host can see now.
    pub(crate) fn flaw(&self) -> Option<NonFiniteValue> {
        NonFiniteValue::of(self.shown.get(status_word::FLAW))
    }
}

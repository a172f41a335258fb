//! Kernels of other libraries, queued in the stream of this device on its memory, so that both can be timed under the
//! same conditions. `validation/peers/peers.cu` is such a library.

use std::ffi::{CStr, CString, c_char, c_int, c_longlong, c_void};
use std::path::Path;
use std::ptr::NonNull;

use libloading::Library;

use super::driver::Address;
use super::gpu::Gpu;
use crate::error::{Error, Result};
use crate::os_text::Shown;

/// What a kernel is to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForeignTask<'a> {
    /// The operation, as "sum".
    pub(crate) operation: &'a str,
    /// Type of the elements, as "f32".
    pub(crate) precision: &'a str,
    /// Arrays that it reads, on the device.
    pub(crate) arrays: [Address; 4],
    /// Where the result goes, on the device.
    pub(crate) result: Address,
    /// Sizes, in the order of the operation.
    pub(crate) sizes: [usize; 4],
}

/// The same in C, as in `validation/peers/peers.cu`.
#[repr(C)]
struct Task {
    operation: *const c_char,
    precision: *const c_char,
    arrays: [Address; 4],
    result: Address,
    sizes: [c_longlong; 4],
}

type New = unsafe extern "C" fn(
    *const Task,
    c_int,
    *mut c_void,
    *mut *const c_char,
    *mut *const c_char,
) -> *mut c_void;
type Call = unsafe extern "C" fn(*mut c_void) -> *const c_char;
type Delete = unsafe extern "C" fn(*mut c_void);

/// A library of such kernels.
#[derive(Debug)]
pub struct ForeignLibrary {
    name: String,
    new: New,
    launch: Call,
    delete: Delete,
    /// Holds the functions.
    _library: Library,
}

/// An implementation of a task.
#[derive(Debug)]
pub struct ForeignKernel<'a> {
    library: &'a ForeignLibrary,
    kernel: NonNull<c_void>,
    name: String,
}

/// A text of the library, which it keeps until the next call.
unsafe fn text(found: *const c_char) -> Option<String> {
    // SAFETY: the library's texts end with a zero byte.
    (!found.is_null()).then(|| unsafe { CStr::from_ptr(found) }.to_string_lossy().into_owned())
}

impl ForeignLibrary {
    /// Loads a library.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] when the file is no library, or lacks a function.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.shown().into_owned();
        let refused = |why| {
            Error::Usage(format!(
                "{name} is no library of kernels to compare with: {why}; build one with \
                 validation/peers/run.sh"
            ))
        };
        // SAFETY: whoever names a library on the command line trusts its code; the types of the functions are those of
        // validation/peers.
        unsafe {
            let library = Library::new(path).map_err(refused)?;
            let new = *library.get::<New>(b"nwp_mini_peer_new\0").map_err(refused)?;
            let launch = *library.get::<Call>(b"nwp_mini_peer_launch\0").map_err(refused)?;
            let delete = *library.get::<Delete>(b"nwp_mini_peer_delete\0").map_err(refused)?;
            Ok(Self { name, new, launch, delete, _library: library })
        }
    }

    /// All implementations of a task, for the stream of all work of the device.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] with the reason that the library gives.
    ///
    /// # Safety
    ///
    /// The arrays and the memory of the result have the sizes of the task and live as long as the kernels.
    pub(crate) unsafe fn kernels<'a>(
        &'a self,
        gpu: &Gpu,
        task: &ForeignTask<'_>,
    ) -> Result<Vec<ForeignKernel<'a>>> {
        let ForeignTask { operation, precision, arrays, result, sizes } = *task;
        let [operation_, precision_] =
            [operation, precision].map(|text| CString::new(text).expect("a name without zeros"));
        let task = Task {
            operation: operation_.as_ptr(),
            precision: precision_.as_ptr(),
            arrays,
            result,
            sizes: sizes.map(|size| size as c_longlong),
        };
        let stream = std::ptr::with_exposed_provenance_mut(gpu.compute().handle() as usize);
        let mut kernels = Vec::new();
        loop {
            let (mut name, mut why) = (std::ptr::null(), std::ptr::null());
            let number = kernels.len() as c_int;
            // SAFETY: the pointers lead to values of this function; the rest is promised by the caller.
            let (kernel, name, why) = unsafe {
                let kernel =
                    (self.new)(&raw const task, number, stream, &raw mut name, &raw mut why);
                (NonNull::new(kernel), text(name), text(why))
            };
            match (kernel, why) {
                (Some(kernel), _) => {
                    let name = name.unwrap_or_default();
                    kernels.push(ForeignKernel { library: self, kernel, name });
                }
                (None, Some(why)) => {
                    return Err(Error::Gpu(format!("{}, {operation}: {why}", self.name)));
                }
                (None, None) => return Ok(kernels),
            }
        }
    }
}

impl ForeignKernel<'_> {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Queues the work.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] with the reason that the library gives.
    pub fn launch(&self) -> Result<()> {
        // SAFETY: made by the library; its memory lives as long as it.
        match unsafe { text((self.library.launch)(self.kernel.as_ptr())) } {
            None => Ok(()),
            Some(why) => Err(Error::Gpu(format!("{}, {}: {why}", self.library.name, self.name))),
        }
    }
}

impl Drop for ForeignKernel<'_> {
    fn drop(&mut self) {
        // SAFETY: made by the library, and not used any more.
        unsafe { (self.library.delete)(self.kernel.as_ptr()) };
    }
}

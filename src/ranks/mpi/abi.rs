//! Handles and constants of MPI, in which its binary interfaces differ.

use std::ffi::{c_int, c_void};

/// A handle: an integer in the family of MPICH, a pointer elsewhere.
pub(super) trait Handle: Copy + 'static {
    /// A handle of nothing, before a call sets it.
    const NOTHING: Self;
}

impl Handle for c_int {
    const NOTHING: Self = 0;
}

impl Handle for *mut c_void {
    const NOTHING: Self = std::ptr::null_mut();
}

/// The constants of a library.
pub(super) struct Constants<H> {
    /// `MPI_COMM_WORLD`.
    pub(super) world: H,
    /// `MPI_INFO_NULL`.
    pub(super) no_info: H,
    /// `MPI_BYTE`.
    pub(super) byte: H,
    /// `MPI_INT64_T`.
    pub(super) integer: H,
    /// `MPI_SUM`.
    pub(super) sum: H,
    /// `MPI_IN_PLACE`, as an address.
    pub(super) in_place: isize,
    /// `MPI_STATUSES_IGNORE`, as an address.
    pub(super) no_status: isize,
    /// `MPI_COMM_TYPE_SHARED`.
    pub(super) shared: c_int,
    /// `MPI_THREAD_FUNNELED`.
    pub(super) funneled: c_int,
}

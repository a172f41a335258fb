//! nwp-mini for C, and for languages that call C: the functions of `include/nwp_mini.h`.
//!
//! `physics` has the column physics on arrays of a host and of a device, `chemistry` the reactions in cells. A call runs
//! within `call`: with the floating-point settings that the library needs (`nwp_mini_host`), errors and panics as a
//! status, and the text of the last error (`last_error`). Arrays are views (`arrays`), texts of descriptions live with
//! their handle (`texts`).

#![allow(unsafe_code, reason = "pointers of C")]
#![allow(clippy::missing_safety_doc, reason = "the text of the header says what an argument is")]

pub mod arrays;
mod call;
pub mod chemistry;
pub mod description;
mod last_error;
pub mod log;
pub mod physics;
mod texts;

use std::ffi::c_char;

/// Version of the interface: functions and structures of one number fit together. A host compares it with NWP_MINI_ABI.
pub const NWP_MINI_ABI: u32 = 1;

/// Version of the interface, NWP_MINI_ABI in a header that fits.
#[unsafe(no_mangle)]
pub extern "C" fn nwp_mini_abi() -> u32 {
    NWP_MINI_ABI
}

/// Version of the library, as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn nwp_mini_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Text of the last error of this thread; empty without one. The place stays the same as long as the thread lives, and
/// its text until the next error.
#[unsafe(no_mangle)]
pub extern "C" fn nwp_mini_last_error() -> *const c_char {
    last_error::text()
}

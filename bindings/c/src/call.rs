//! A call from C: errors and panics as a status, with their text.

use nwp_mini::error::{Error, Result};
use nwp_mini_host::guarded;

use crate::last_error;

/// Status of a call that succeeded.
pub(crate) const SUCCESS: i32 = 0;
/// Status after a panic: a fault of the library, EX_SOFTWARE of `sysexits.h`.
const FAULT: i32 = 70;

/// Runs a call. Nothing is written to standard error, which is the host's.
pub(crate) fn call(work: impl FnOnce() -> Result<()>) -> i32 {
    match guarded(work) {
        Ok(Ok(())) => SUCCESS,
        Ok(Err(error)) => {
            last_error::set(&error.to_string());
            error.exit_code().into()
        }
        Err(fault) => {
            last_error::set(&fault);
            FAULT
        }
    }
}

/// An error about an argument.
pub(crate) fn refused(message: impl Into<String>) -> Error {
    Error::Usage(message.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    fn text() -> String {
        // SAFETY: the text ends in zero and is this thread's own.
        unsafe { CStr::from_ptr(last_error::text()) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn errors_and_panics_are_a_status_with_a_text() {
        assert_eq!(call(|| Ok(())), 0);
        assert_eq!(call(|| Err(refused("no such thing"))), 2);
        assert_eq!(text(), "no such thing");
        assert_eq!(call(|| panic!("broken {}", 3)), 70);
        assert!(text().contains("broken 3 (") && text().contains("call.rs:"), "{}", text());
        assert_eq!(call(|| Ok(())), 0);
    }
}

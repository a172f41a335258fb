//! A call from C: errors and panics as a status, with their text.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use nwp_mini::error::{Error, Result};

use crate::floating_point::HostSettings;
use crate::last_error;

/// Status of a call that succeeded.
pub(crate) const SUCCESS: i32 = 0;
/// Status after a panic: a fault of the library, EX_SOFTWARE of `sysexits.h`.
const FAULT: i32 = 70;

thread_local! {
    /// File and line of the last panic of this thread.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs a call. Nothing is written to standard error, which is the host's.
pub(crate) fn call(work: impl FnOnce() -> Result<()>) -> i32 {
    static QUIET: Once = Once::new();
    // The library has a standard library of its own: all panics that it sees are of this code.
    QUIET.call_once(|| {
        std::panic::set_hook(Box::new(|about| {
            let place = about.location().map(ToString::to_string).unwrap_or_default();
            let _ = PLACE.try_with(|kept| kept.replace(place));
        }));
    });
    let host = HostSettings::replace();
    let outcome = catch_unwind(AssertUnwindSafe(work));
    drop(host);
    match outcome {
        Ok(Ok(())) => SUCCESS,
        Ok(Err(error)) => {
            last_error::set(&error.to_string());
            error.exit_code().into()
        }
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
            let place = PLACE.take();
            last_error::set(&format!("a fault of nwp-mini, please report it: {text} ({place})"));
            // A payload whose destructor panics would end the host.
            std::mem::forget(panic);
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

//! A call whose panic becomes a text.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use crate::floating_point::HostSettings;

thread_local! {
    /// File and line of the last panic of this thread.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs a call with the floating-point settings of the library. Nothing is written to standard error, which is the
/// host's.
///
/// # Errors
///
/// The reason of a panic, and its place, in words.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
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
    outcome.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
        let place = PLACE.take();
        let text = format!("a fault of nwp-mini, please report it: {text} ({place})");
        // A payload whose destructor panics would end the host.
        std::mem::forget(panic);
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_texts_with_their_place() {
        assert_eq!(guarded(|| 3), Ok(3));
        let text = guarded(|| panic!("broken {}", 3)).map(|()| 0).unwrap_err();
        assert!(text.contains("broken 3 (") && text.contains("guard.rs:"), "{text}");
    }
}

//! Guard against damaged files: crates that read them may panic, which the guard turns into a message.

use std::any::Any;
use std::cell::Cell;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;

use crate::error::{Error, Result};

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Length of an input file, bytes, which must be a regular file with contents; `needed` describes it in an error.
pub(in crate::io) fn regular_file(path: &Path, needed: &str) -> Result<u64> {
    let about = fs::metadata(path).map_err(|e| Error::cannot_read(path, &e))?;
    let what = match about.len() {
        _ if about.is_dir() => "a folder",
        // Opening a pipe would wait for a writer.
        _ if !about.is_file() => "a device or a pipe",
        0 => "empty",
        length => return Ok(length),
    };
    Err(Error::input(path, format!("is {what}; {needed} is needed")))
}

/// Suppresses the report of panics in guarded calls.
fn silence() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |about| {
            // Arrays are decoded on several threads; their panics come back to the one that waits.
            let is_of_decoder = about.location().is_some_and(|at| at.file().contains("/zarrs-"));
            if !IS_GUARDED.get() && !is_of_decoder {
                usual(about);
            }
        }));
    });
}

/// Calls a crate; a panic becomes its message.
pub(in crate::io) fn caught<T>(call: impl FnOnce() -> T) -> std::result::Result<T, String> {
    silence();
    let before = IS_GUARDED.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(call));
    IS_GUARDED.set(before);
    result.map_err(|panic| reason(&*panic).to_owned())
}

/// The first line of the message of a panic.
fn reason(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason told");
    text.lines().next().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_messages() {
        assert_eq!(caught(|| 3), Ok(3));
        let told = caught(|| -> i32 { panic!("no such\nname") });
        assert_eq!(told, Err("no such".to_owned()));
        assert!(!IS_GUARDED.get());
    }
}

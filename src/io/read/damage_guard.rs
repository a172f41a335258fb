//! Guard against damaged files: the NetCDF crate panics if the library reports damage, or if a name is not text. The
//! guard turns that into an error.

use std::any::Any;
use std::cell::Cell;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;

use netcdf::File;

use crate::error::{Error, Result};
use crate::io::read::dataset::Variable;

/// Most bytes that a compressed byte can expand to.
///
/// Source: zlib technical details, "maximum compression factor": 1032.
const MOST_DEFLATED: u64 = 1032;

/// Size up to which the size of a variable is not checked, bytes.
const HARMLESS: u64 = 64 << 20;

/// First bytes of an HDF5 file, the container of NetCDF-4.
const HDF5: &[u8] = b"\x89HDF";

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

/// Calls the NetCDF crate about the file `path`.
fn guarded<T>(path: &Path, call: impl FnOnce() -> T) -> Result<T> {
    caught(call).map_err(|why| {
        Error::input(
            path,
            format!(
                "is damaged inside ({why}); copy or create it again; ncdump -h shows its \
                     intact part"
            ),
        )
    })
}

/// The first line of the message of a panic.
fn reason(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason told");
    text.lines().next().unwrap_or(text)
}

/// Fails if a part of the file's metadata cannot be read. After this check the metadata cannot make the crate panic.
pub(in crate::io) fn check_metadata(path: &Path, file: &File) -> Result<()> {
    guarded(path, || {
        let named =
            |attribute: netcdf::Attribute<'_>| drop((attribute.name().len(), attribute.value()));
        file.dimensions().for_each(|dimension| drop((dimension.name(), dimension.len())));
        file.attributes().for_each(named);
        for variable in file.variables() {
            drop((variable.name(), variable.vartype()));
            variable.dimensions().iter().for_each(|axis| drop((axis.name(), axis.len())));
            variable.attributes().for_each(named);
        }
        file.groups().map(|groups| groups.for_each(|group| drop(group.name())))
    })
    .map(drop)
}

/// Returns `true` if a file is HDF5, by its first bytes.
pub(in crate::io) fn is_hdf5(begins_with: &[u8]) -> bool {
    begins_with.starts_with(HDF5)
}

/// Most bytes that the values of a variable of this file can take.
pub(in crate::io) fn most_bytes(length: u64, begins_with: &[u8]) -> u64 {
    let ratio = if is_hdf5(begins_with) { MOST_DEFLATED } else { 1 };
    length.saturating_mul(ratio).max(HARMLESS)
}

/// Describes a variable that is larger than the file can hold; `None` otherwise.
pub(in crate::io) fn excess(variable: &Variable, most_bytes: u64) -> Option<String> {
    let values = variable.lengths().into_iter().fold(1, usize::saturating_mul);
    let bytes = (values as u64).saturating_mul(variable.kind.size() as u64);
    (bytes > most_bytes).then(|| {
        format!(
            "variable {} would have {values} values, {bytes} bytes, by its dimensions, and the \
             whole file can hold {most_bytes} at most; it is truncated, damaged, or was never \
             filled",
            variable.name
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_errors() {
        let path = Path::new("damaged.nc");
        assert_eq!(guarded(path, || 3).expect("no panic"), 3);
        let error = guarded(path, || -> i32 { panic!("no such\nname") }).expect_err("a panic");
        let text = error.to_string();
        assert!(text.starts_with("damaged.nc: is damaged inside (no such)"), "{text}");
        assert!(!IS_GUARDED.get());
    }

    #[test]
    fn compressed_files_hold_more() {
        let [small, large] = [1 << 10, 1 << 30];
        assert_eq!(most_bytes(small, b"CDF\x01"), HARMLESS);
        assert_eq!(most_bytes(large, b"CDF\x05"), large);
        assert_eq!(most_bytes(large, b"\x89HDF\r\n"), 1032 * large);
    }
}

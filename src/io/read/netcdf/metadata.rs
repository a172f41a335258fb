//! Metadata of a file, read with panics caught: the NetCDF crate panics if the library reports damage, or if a name is
//! not text.

use std::path::Path;

use netcdf::File;

use crate::error::{Error, Result};
use crate::io::read::damage_guard::caught;
use crate::io::read::dataset::Variable;

/// Most bytes that a compressed byte can expand to.
///
/// Source: zlib technical details, "maximum compression factor": 1032.
const MOST_DEFLATED: u64 = 1032;

/// Size up to which the size of a variable is not checked, bytes.
const HARMLESS: u64 = 64 << 20;

/// First bytes of an HDF5 file, the container of NetCDF-4.
const HDF5: &[u8] = b"\x89HDF";

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
    }

    #[test]
    fn compressed_files_hold_more() {
        let [small, large] = [1 << 10, 1 << 30];
        assert_eq!(most_bytes(small, b"CDF\x01"), HARMLESS);
        assert_eq!(most_bytes(large, b"CDF\x05"), large);
        assert_eq!(most_bytes(large, b"\x89HDF\r\n"), 1032 * large);
    }
}

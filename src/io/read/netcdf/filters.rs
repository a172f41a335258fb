//! Filters of compressed HDF5 variables that this program does not have.
//!
//! The library reports that a filter is missing, but not which. The list of a variable's filters is stored in the file
//! as the message "filter pipeline". An entry for a filter that is not maintained by the HDF Group begins with the
//! number of the filter, the length of its name, flags and the number of its parameters, two bytes each.
//!
//! Source: HDF5 File Format Specification 3.0, IV.A.2.l, and the registry of filters of the HDF Group.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::metadata;

/// Part of the library's message on a missing filter.
const MISSING: &str = "undefined filter";

/// Registered filters that occur in weather files.
const FILTERS: [(u16, &str); 12] = [
    (32_015, "zstandard"),
    (307, "bzip2"),
    (32_001, "blosc"),
    (32_026, "blosc2"),
    (32_004, "lz4"),
    (32_000, "lzf"),
    (32_008, "bitshuffle"),
    (32_013, "zfp"),
    (32_017, "sz"),
    (32_024, "sz3"),
    (32_022, "granular bit rounding"),
    (32_023, "bit grooming"),
];

/// Bytes that are searched: headers of variables are near the start.
const LOOKED_THROUGH: u64 = 16 << 20;

/// Advice for a read that failed because of a missing filter; `None` for other failures.
pub(in crate::io) fn explained(path: &Path, name: &str, error: &str) -> Option<String> {
    if !error.to_lowercase().contains(MISSING) {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(LOOKED_THROUGH).read_to_end(&mut bytes).ok()?;
    if !metadata::is_hdf5(&bytes) {
        return None;
    }
    let filter = found(&bytes).map_or_else(
        || "a filter".to_owned(),
        |(number, filter)| format!("{filter} (filter {number})"),
    );
    Some(format!(
        "variable {name} is compressed with {filter}, which this program cannot decompress; \
         rewrite the file without it: nccopy -F none in.nc out.nc, or -d 1 for deflate, which all \
         programs support"
    ))
}

/// Longest name of a filter.
const LONGEST: usize = 128;
/// Most parameters of a filter.
const MOST_PARAMETERS: u16 = 64;

/// The first registered filter in bytes that look like a list of filters; an entry with a name is preferred.
fn found(bytes: &[u8]) -> Option<(u16, &'static str)> {
    let number = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let entry = |at: usize, is_named: bool| {
        let id = number(at)?;
        let (_, name) = FILTERS.iter().find(|(known, _)| *known == id)?;
        let length = usize::from(number(at + 2)?);
        let text = bytes.get(at + 8..at + 8 + length)?;
        let is_text = text.iter().all(|b| *b == 0 || (32..127).contains(b));
        // Only the lowest flag is in use.
        let fits = number(at + 4)? <= 1 && (1..=MOST_PARAMETERS).contains(&number(at + 6)?);
        let is_one = (length > 0) == is_named && length <= LONGEST && is_text && fits;
        is_one.then_some((id, *name))
    };
    [true, false]
        .into_iter()
        .find_map(|is_named| (0..bytes.len()).find_map(|at| entry(at, is_named)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_found_by_their_entries() {
        let entry = |id: u16, name: &str| {
            let head = [id, name.len() as u16, 1, 1].map(u16::to_le_bytes).concat();
            [b"....".as_slice(), &head, name.as_bytes(), &[3, 0, 0, 0]].concat()
        };
        assert_eq!(found(&entry(32_015, "Zstandard compression")), Some((32_015, "zstandard")));
        assert_eq!(found(&entry(307, "")), Some((307, "bzip2")));
        assert_eq!(found(&entry(1, "deflate")), None);
        // The number alone does not identify a filter.
        assert_eq!(found(&[0x0f, 0x7d, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0]), None);
    }
}

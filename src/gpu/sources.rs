//! The CUDA sources, carried inside the program.

use std::path::Path;

include!(concat!(env!("OUT_DIR"), "/kernel_sources.rs"));

/// The text of a file below `kernels/`, as `"wsm5/column.cu"`.
///
/// # Panics
///
/// When there is no such file: the name is part of the program.
pub(super) fn text(file: &str) -> &'static str {
    let found = FILES.iter().find(|(name, _)| *name == file);
    found.unwrap_or_else(|| panic!("no file {file} below kernels/")).1
}

/// All headers: what an `#include` can name, and its text.
pub(super) fn headers() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES
        .iter()
        .copied()
        .filter(|(name, _)| Path::new(name).extension().is_some_and(|e| e == "cuh"))
}

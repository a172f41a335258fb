//! The CUDA sources, carried inside the program.

use std::path::Path;

use sha2::{Digest, Sha256};

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

/// Digest of all files, in hexadecimal digits.
pub(super) fn digest() -> String {
    let mut digest = Sha256::new();
    for text in FILES.iter().flat_map(|(name, text)| [name, text]) {
        digest.update(text.len().to_le_bytes());
        digest.update(text);
    }
    format!("{:x}", digest.finalize())
}

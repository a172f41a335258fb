//! The CUDA sources, embedded in the program.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

include!(concat!(env!("OUT_DIR"), "/kernel_sources.rs"));

/// The text of a file below `kernels/`, as `"advection/transport.cu"`; a missing one is an error of the program.
pub(super) fn text(file: &str) -> &'static str {
    entry(file).1
}

fn entry(file: &str) -> (&'static str, &'static str) {
    let found = FILES.iter().find(|(name, _)| *name == file);
    *found.unwrap_or_else(|| panic!("no file {file} below kernels/"))
}

/// Headers that two texts include, directly or indirectly: each once, by name, with its text.
pub(super) fn headers_of(body: &str, before: &str) -> BTreeMap<&'static str, &'static str> {
    let mut headers = BTreeMap::new();
    let mut open: Vec<&str> = included(before).chain(included(body)).collect();
    while let Some(name) = open.pop() {
        let (name, text) = entry(name);
        if headers.insert(name, text).is_none() {
            open.extend(included(text));
        }
    }
    headers
}

/// The names in the lines `#include "name"` of a text.
fn included(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix("#include \"")?.strip_suffix('"'))
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

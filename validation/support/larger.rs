//! Data that are too large for the project, in a folder that a variable names; nothing else outside
//! the project is read.

use std::path::PathBuf;

/// The variable that names the folder.
const VARIABLE: &str = "NWP_MINI_REFERENCE";

/// The folders under it that files are looked for in too.
const FOLDERS: [&str; 4] = ["", "reference", "real", "chemistry"];

/// The file of this name in the folder of larger data; `None` if no folder is named.
///
/// Panics if a named folder does not have the file, rather than testing with another one.
pub(crate) fn larger(name: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os(VARIABLE).filter(|value| !value.is_empty())?);
    let found = FOLDERS.map(|part| folder.join(part).join(name)).into_iter().find(|p| p.exists());
    assert!(
        found.is_some(),
        "{VARIABLE}={} has no {name}, neither itself nor in its folders reference, real and chemistry",
        folder.display()
    );
    found
}

/// Data for tests that need it; these are ignored by default.
pub fn needed(name: &str) -> PathBuf {
    larger(name).unwrap_or_else(|| panic!("set {VARIABLE} to the folder that holds {name}"))
}

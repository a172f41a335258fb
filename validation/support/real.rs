//! Files of WRF that are too large for the project, or not ours, where they are at hand.

use std::path::PathBuf;

/// A WRF file where the project or its surroundings have one; says so where they do not.
pub fn real(name: &str) -> Option<PathBuf> {
    let project = crate::project();
    let found = ["data", "../shared/real"]
        .map(|folder| project.join(folder).join(name))
        .into_iter()
        .find(|path| path.exists());
    if found.is_none() {
        println!("{name} is not here: skipped");
    }
    found
}

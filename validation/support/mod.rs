//! Where the tests find their reference data.

use std::path::{Path, PathBuf};

/// The reference file `name` ("wsm5", "adv"): the whole one where it is at hand, else the subset
/// that is shipped with the project.
pub fn reference(name: &str) -> netcdf::File {
    let path = reference_path(name);
    netcdf::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The path of the file that [`reference`] opens.
pub fn reference_path(name: &str) -> PathBuf {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let whole = project.join(format!("../shared/reference/{name}_dev.nc"));
    let path =
        if whole.exists() { whole } else { project.join(format!("data/reference/{name}.nc")) };
    println!("reference data: {}", path.display());
    path
}

/// The text of the table of what other builds of WRF's code are off by, for the reference `name`.
pub fn yardstick(name: &str) -> String {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = format!("{name}_yardstick.csv");
    let whole = project.join("../shared/reference").join(&file);
    let path = if whole.exists() { whole } else { project.join("data/reference").join(&file) };
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

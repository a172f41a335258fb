//! Location of the reference data.

use std::path::PathBuf;

use crate::larger::larger;
use crate::project;

/// The reference file `name` ("wsm5", "adv"): the whole one if NWP_MINI_REFERENCE names its folder, else the subset
/// that is shipped with the project.
pub fn reference(name: &str) -> netcdf::File {
    let path = reference_path(name);
    netcdf::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The path of the file that [`reference`] opens.
pub fn reference_path(name: &str) -> PathBuf {
    shipped_or_larger(&format!("{name}.nc"), &format!("{name}_dev.nc"))
}

/// The text of the table of errors of other builds of WRF's code, for the reference `name`.
pub fn yardstick(name: &str) -> String {
    let file = format!("{name}_yardstick.csv");
    let path = shipped_or_larger(&file, &file);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn shipped_or_larger(shipped: &str, whole: &str) -> PathBuf {
    let (path, which) = match larger(whole) {
        Some(path) => (path, "by NWP_MINI_REFERENCE"),
        None => (project().join("data/reference").join(shipped), "shipped with the project"),
    };
    println!("reference data, {which}: {}", path.display());
    path
}

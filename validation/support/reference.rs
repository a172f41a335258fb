//! Where the tests find their reference data.

use std::io::{Write, stderr};
use std::path::{Path, PathBuf};

use crate::project;

/// The reference file `name` ("wsm5", "adv"): the whole one where it is at hand, else the subset
/// that is shipped with the project.
pub fn reference(name: &str) -> netcdf::File {
    let path = reference_path(name);
    netcdf::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The path of the file that [`reference`] opens.
pub fn reference_path(name: &str) -> PathBuf {
    let project = project();
    let whole = project.join(format!("../shared/reference/{name}_dev.nc"));
    let path =
        if whole.exists() { whole } else { project.join(format!("data/reference/{name}.nc")) };
    println!("reference data: {}", path.display());
    path
}

/// The text of the table of what other builds of WRF's code are off by, for the reference `name`.
pub fn yardstick(name: &str) -> String {
    let project = project();
    let file = format!("{name}_yardstick.csv");
    let whole = project.join("../shared/reference").join(&file);
    let path = if whole.exists() { whole } else { project.join("data/reference").join(&file) };
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The reference data of the scheme with sub-stepped fall, which is not shipped.
pub struct Substepped {
    /// What goes in: groups of the same names as those of `output`.
    pub input: netcdf::File,
    /// What comes out.
    pub output: netcdf::File,
    /// The table of what other builds of that code are off by.
    pub yardstick: String,
}

/// The reference data of the scheme with sub-stepped fall, where they are at hand; says so where
/// they are not.
pub fn substepped() -> Option<Substepped> {
    let folder = project().join("../shared/reference");
    let [input, output, yardstick] =
        ["wsm5_dev.nc", "wsm5_substepped_dev.nc", "wsm5_substepped_yardstick.csv"]
            .map(|name| folder.join(name));
    if let Some(missing) = [&input, &output, &yardstick].into_iter().find(|path| !path.exists()) {
        // Past the capture of the test's output: a test that was left out should be seen.
        let _ = writeln!(stderr(), "skipped: {} is not here", missing.display());
        return None;
    }
    let open =
        |path: &Path| netcdf::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let text = std::fs::read_to_string(&yardstick)
        .unwrap_or_else(|e| panic!("{}: {e}", yardstick.display()));
    Some(Substepped { input: open(&input), output: open(&output), yardstick: text })
}

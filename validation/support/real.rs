//! Files of WRF and of other programs.

use std::path::PathBuf;

pub use crate::larger::needed;

/// The storm that is shipped with the project.
pub fn storm() -> PathBuf {
    crate::project().join("data/soc.nc")
}

//! Missing contents of one time of a file, reported all at once.

use time::PrimitiveDateTime;

use super::source::{MAPS, Stagger, TimeReader};
use crate::calendar;
use crate::error::Result;
use crate::io::missing_values::MissingValues;

/// Precipitation. A run does not read it, but if other contents are missing it shows how far the file was written.
const FALLEN: [&str; 2] = ["RAINNC", "RAINC"];

/// Checks the variables that a run copies or takes its grid from, and lists missing contents.
pub(super) fn look_at_grid(source: &TimeReader<'_>, holes: &MissingValues) -> Result<()> {
    let source = TimeReader { holes: Some(holes), ..*source };
    for name in ["MU", "MUB", "HGT", "XLAT", "XLONG"] {
        source.optional_plane(name, Stagger::Centre)?;
    }
    for name in MAPS.as_flattened() {
        source.optional_plane(name, Stagger::of_map_factor(name))?;
    }
    for name in ["ZNU", "DNW", "RDNW", "DN", "RDN", "FNM", "FNP", "C1H", "C2H"] {
        source.profile(name, Stagger::Centre)?;
    }
    for name in ["ZNW", "C1F", "C2F"] {
        source.profile(name, Stagger::FaceZ)?;
    }
    source.scalar("P_TOP").map(drop)
}

/// Fails if any contents are missing.
pub(super) fn refuse(
    source: &TimeReader<'_>,
    holes: MissingValues,
    time: PrimitiveDateTime,
) -> Result<()> {
    if holes.is_empty() {
        return Ok(());
    }
    let fallen = TimeReader { holes: Some(&holes), ..*source };
    // Other faults of these variables are not reported here.
    for name in FALLEN {
        drop(fallen.optional_plane(name, Stagger::Centre));
    }
    Err(source.reader.error(format!(
        "cannot be used at {}: {}; a run needs every value: remove that time (as with ncks -d \
         Time), or write the file again",
        calendar::format(time),
        holes.words()
    )))
}

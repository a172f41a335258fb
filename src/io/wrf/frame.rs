//! The fields of one time of a WRF file, whose missing contents are reported all at once.

use ndarray::Array3;
use time::PrimitiveDateTime;
use tracing::debug;

use super::source::{MAPS, TimeReader};
use super::theta::Origin;
use super::vertical::{FACE_PROFILES, LAYER_PROFILES};
use super::{Frame, air, species, theta};
use crate::calendar;
use crate::error::Result;
use crate::io::layout::Axes;
use crate::io::read::missing_values::MissingValues;
use crate::state::State;
use crate::tracers::{Role, TracerSet};

/// Reads the fields of a time, which must all exist and be those of air; also returns the source of the potential
/// temperature.
pub(super) fn read_frame(
    source: &TimeReader<'_>,
    time: PrimitiveDateTime,
) -> Result<(Frame, Origin)> {
    let holes = MissingValues::default();
    let (mut frame, origin) = gather(&TimeReader { holes: Some(&holes), ..*source }, time)?;
    look_at_grid(source, &holes)?;
    refuse_missing(source, holes, time)?;
    species::split(source.reader, &mut frame)?;
    air::check(source.reader, &frame)?;
    Ok((frame, origin))
}

fn gather(source: &TimeReader<'_>, time: PrimitiveDateTime) -> Result<(Frame, Origin)> {
    let volume = |name: &str, axes| source.volume(name, axes);
    let water = |name: &str| {
        if source.has(name) {
            return volume(name, Axes::Volume);
        }
        debug!("{name} is not in the file and is taken as zero");
        Ok(Array3::zeros(source.shape.centre()))
    };
    let set = TracerSet::moist_air();
    // The potential temperature of some files is that of moist air.
    let mut fields = Vec::with_capacity(set.len());
    for tracer in set.iter().filter(|tracer| tracer.role == Role::Water) {
        fields.push(water(tracer.variable)?);
    }
    let (theta, origin) = theta::read(source, &fields[0])?;
    fields.insert(0, theta);
    let frame = Frame {
        time,
        state: State::new(set, fields),
        u: volume("U", Axes::VolumeX)?,
        v: volume("V", Axes::VolumeY)?,
        pressure: [volume("P", Axes::Volume)?, volume("PB", Axes::Volume)?],
        geopotential: [volume("PH", Axes::VolumeZ)?, volume("PHB", Axes::VolumeZ)?],
        column_mass: [source.plane("MU", Axes::Plane)?, source.plane("MUB", Axes::Plane)?],
        sources: Vec::new(),
        photolysis: Vec::new(),
    };
    Ok((frame, origin))
}

/// Precipitation. A run does not read it, but if other contents are missing it shows how far the file was written.
const FALLEN: [&str; 2] = ["RAINNC", "RAINC"];

/// Checks the variables that a run copies or takes its grid from, and lists missing contents.
pub(super) fn look_at_grid(source: &TimeReader<'_>, holes: &MissingValues) -> Result<()> {
    let source = TimeReader { holes: Some(holes), ..*source };
    for name in ["MU", "MUB", "HGT", "XLAT", "XLONG"] {
        source.optional_plane(name, Axes::Plane)?;
    }
    for name in MAPS.as_flattened() {
        source.optional_plane(name, Axes::of_map_factor(name))?;
    }
    for name in LAYER_PROFILES {
        source.profile(name, Axes::Layer)?;
    }
    for name in FACE_PROFILES {
        source.profile(name, Axes::Face)?;
    }
    source.scalar("P_TOP").map(drop)
}

/// Fails if any contents are missing.
pub(super) fn refuse_missing(
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
        drop(fallen.optional_plane(name, Axes::Plane));
    }
    Err(source.reader.error(format!(
        "cannot be used at {}: {}; a run needs every value: remove that time (as with ncks -d \
         Time), or write the file again",
        calendar::format(time),
        holes.words()
    )))
}

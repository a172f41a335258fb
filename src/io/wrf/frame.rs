//! The fields of one time of a WRF file, whose missing contents are reported all at once.

use std::sync::Arc;

use ndarray::Array3;
use time::PrimitiveDateTime;
use tracing::debug;

use super::source::{MAPS, TimeReader};
use super::theta::Origin;
use super::vertical::{FACE_PROFILES, LAYER_PROFILES};
use super::{Frame, air, species, theta};
use crate::calendar;
use crate::constituents::{Absent, Constituents};
use crate::error::Result;
use crate::io::layout::Axes;
use crate::io::read::missing_values::MissingValues;
use crate::state::State;

/// Reads the fields of a time, which must all exist and be those of air; also returns the source of the potential
/// temperature.
pub(super) fn read_frame(
    source: &TimeReader<'_>,
    time: PrimitiveDateTime,
    set: &Arc<Constituents>,
) -> Result<(Frame, Origin)> {
    let holes = MissingValues::default();
    let (mut frame, origin) = gather(&TimeReader { holes: Some(&holes), ..*source }, time, set)?;
    look_at_grid(source, &holes)?;
    refuse_missing(source, holes, time)?;
    species::split(source, &mut frame)?;
    air::check(source.reader, &frame, source.window)?;
    Ok((frame, origin))
}

fn gather(
    source: &TimeReader<'_>,
    time: PrimitiveDateTime,
    set: &Arc<Constituents>,
) -> Result<(Frame, Origin)> {
    let volume = |name: &str, axes| source.volume(name, axes);
    // The potential temperature of some files is that of moist air.
    let mut fields: Vec<Array3<f32>> = Vec::with_capacity(set.carried());
    for one in &set.of_scheme_only()[1..] {
        let field = match one.absent {
            _ if source.has(one.variable) => volume(one.variable, Axes::Volume)?,
            Absent::Zero => {
                debug!("{} is not in the file and is taken as zero", one.variable);
                Array3::zeros(source.cells().centre())
            }
            Absent::Refused => {
                return Err(source.reader.error(format!(
                    "lacks the variable {}, which {} needs; give a file that has it",
                    one.variable,
                    set.scheme()
                )));
            }
            Absent::PerMass { of, factor } => {
                let species = set.species().iter().position(|water| water.name == of);
                let species = &fields[species.unwrap_or_default()];
                debug!("{} is not in the file and is taken as {factor:e} {of}", one.variable);
                species.mapv(|q| (factor * f64::from(q)) as f32)
            }
        };
        fields.push(field);
    }
    let (theta, origin) = theta::read(source, &fields[0])?;
    fields.insert(0, theta);
    let frame = Frame {
        time,
        state: State::new(Arc::new(set.with_passive([])), fields),
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

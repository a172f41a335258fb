//! The fields of one time of a WRF file.

use ndarray::Array3;
use time::PrimitiveDateTime;
use tracing::debug;

use super::source::{Stagger, TimeReader};
use super::theta::Origin;
use super::{Frame, air, missing_contents, species, theta};
use crate::error::Result;
use crate::io::missing_values::MissingValues;
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
    missing_contents::look_at_grid(source, &holes)?;
    missing_contents::refuse(source, holes, time)?;
    species::split(source.reader, &mut frame)?;
    air::check(source.reader, &frame)?;
    Ok((frame, origin))
}

fn gather(source: &TimeReader<'_>, time: PrimitiveDateTime) -> Result<(Frame, Origin)> {
    let volume = |name: &str, place| source.volume(name, place);
    let water = |name: &str| {
        if source.has(name) {
            return volume(name, Stagger::Centre);
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
        u: volume("U", Stagger::FaceX)?,
        v: volume("V", Stagger::FaceY)?,
        pressure: [volume("P", Stagger::Centre)?, volume("PB", Stagger::Centre)?],
        geopotential: [volume("PH", Stagger::FaceZ)?, volume("PHB", Stagger::FaceZ)?],
        column_mass: [source.plane("MU", Stagger::Centre)?, source.plane("MUB", Stagger::Centre)?],
        sources: Vec::new(),
        photolysis: Vec::new(),
    };
    Ok((frame, origin))
}

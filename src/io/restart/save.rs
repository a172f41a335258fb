//! Writing restart files (checkpoints).

use super::{
    CHEMISTRY_TALLY, COLUMN_MASS, DIGEST, DOMAIN_PLANES, FIRST_STEPS, FORM, RunConstants,
    dimension, dimensions, kept_name, planes, profiles,
};
use crate::calendar;
use crate::domain::Domain;
use crate::error::Result;
use crate::frame::{Frame, FrameSource, Saved};
use crate::grid::Shape;
use crate::io::attribute::AttributeValue;
use crate::io::kind::Kind;
use crate::io::read::reader::RESTART_MARK;
use crate::io::store::format::{BlockStore, Definition, Done, Values};
use crate::io::store::writer::{Element, Stored};
use crate::io::wrf::restart_frame::{CENTRE, FRAME, FRAME_PLANES, volumes};
use crate::os_text::Shown;
use crate::state::{Accumulators, Surface, TracerChange, WaterChange, memory};

/// Writer of restart files; each replaces the preceding one.
#[derive(Debug)]
pub struct Restarter {
    file: Box<dyn BlockStore>,
    about: RunConstants,
}

impl Restarter {
    /// A writer of a file.
    pub(crate) fn new(file: Box<dyn BlockStore>, about: RunConstants) -> Self {
        Self { file, about }
    }

    /// Writes a file, and renames it to its final name when it is complete.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io) when it cannot be written; the preceding file then stays.
    /// Those of [`Series::frame`](crate::io::wrf::series::Series::frame).
    pub fn write<R: Stored>(&mut self, saved: &Saved<R>) -> Result<()> {
        let Self { file, about } = self;
        let file = &mut **file;
        let numbers = saved.number..about.series.len();
        let mut frame = about.series.as_stored(saved.number, &about.domain)?;
        file.create()
            .and_then(|()| define::<R>(file, about, saved, (&frame, numbers.len())))
            .and_then(|()| put_lists(file, saved))
            .and_then(|()| put_domain(file, &about.domain))
            .map_err(|e| file.failed(e))?;
        for (index, number) in numbers.enumerate() {
            if index > 0 {
                frame = about.series.as_stored(number, &about.domain)?;
            }
            let put = put_frame(file, index, (&frame, &about.series.variables()));
            put.map_err(|e| file.failed(e))?;
        }
        let signed = file.digest(DIGEST).and_then(|sum| file.attribute(None, DIGEST, sum.into()));
        signed.map_err(|e| file.failed(e))?;
        file.deliver()
    }
}

fn define<R: Stored>(
    file: &mut dyn BlockStore,
    about: &RunConstants,
    saved: &Saved<R>,
    (frame, frames): (&Frame, usize),
) -> Done {
    let (nz, ny, nx) = saved.checkpoint.state.theta().dim();
    let input = about.domain.grid.shape;
    let surface = &saved.checkpoint.gathered.surface;
    for (name, length) in dimensions(Shape { nx, ny, nz }, input) {
        file.dimension(name, Some(length))?;
    }
    file.dimension(FRAME, Some(frames))?;
    define_attributes(file, about, saved)?;
    for (tracer, field) in saved.checkpoint.state.tracers() {
        add(file, &kept_name(tracer), &dimension::RUN, memory(field))?;
    }
    for (name, plane) in Surface::<R>::names(saved.checkpoint.state.set()).zip(surface.planes()) {
        add(file, name, &dimension::RUN[1..], memory(plane))?;
    }
    for (name, plane) in COLUMN_MASS.into_iter().zip(&about.column_mass) {
        add(file, name, &dimension::RUN[1..], memory(plane))?;
    }
    for (name, [z, y, x], _) in volumes(frame, &about.series.variables()) {
        file.variable(&Definition::small(&name, Kind::Float, &[FRAME, z, y, x]))?;
    }
    for name in FRAME_PLANES {
        let [_, y, x] = CENTRE;
        file.variable(&Definition::small(name, Kind::Float, &[FRAME, y, x]))?;
    }
    Ok(())
}

fn define_attributes<R: Stored>(
    file: &mut dyn BlockStore,
    about: &RunConstants,
    saved: &Saved<R>,
) -> Done {
    let RunConstants { domain, series, dt, options, provenance, .. } = about;
    let Saved { checkpoint, past, seconds, number, reports, water_start, .. } = saved;
    let WaterChange { fallen, sides, fallout_residual, clipped, mass_mismatch } =
        checkpoint.gathered.changes;
    let mut attributes: Vec<(String, AttributeValue)> = Vec::new();
    let mut add = |name: &str, value: AttributeValue| {
        // Options and the domain precede the provenance.
        if !attributes.iter().any(|(other, _)| other == name) {
            attributes.push((name.to_owned(), value));
        }
    };
    add("title", "checkpoint of a run of nwp-mini".into());
    add(RESTART_MARK, FORM.into());
    add("nwp_mini_version", env!("CARGO_PKG_VERSION").into());
    for (name, value) in options {
        add(name, value.as_str().into());
    }
    add("dt", (*dt).into());
    add("steps", (past.steps as i64).into());
    add("lack", past.lack.into());
    add("seconds", (*seconds).into());
    add("begin", calendar::format(series.start()).into());
    add("time", calendar::format(calendar::after(series.start(), *seconds)).into());
    add("first_frame", (*number as i64).into());
    let times = (*number..series.len()).map(|number| series.time(number));
    add("frame_times", times.collect::<Vec<_>>().join(" ").into());
    let times = reports.iter().map(|report| report.time.as_str());
    add("report_times", times.collect::<Vec<_>>().join(" ").into());
    add("water_start", (*water_start).into());
    let changes = vec![fallen, sides, fallout_residual, clipped, mass_mismatch];
    add("water_changes", changes.into());
    let passive = &checkpoint.gathered.passive;
    if !passive.is_empty() {
        let changes = passive.iter().flat_map(|change| {
            let TracerChange { sides, decayed, reacted, clipped } = *change;
            [sides, decayed, reacted, clipped]
        });
        add("tracer_changes", changes.collect::<Vec<f64>>().into());
        add("tracer_start", saved.passive_start.clone().into());
    }
    add(CHEMISTRY_TALLY, checkpoint.gathered.chemistry.numbers().to_vec().into());
    add("input_path", domain.path.shown().into_owned().into());
    add("dx", domain.grid.dx.into());
    add("dy", domain.grid.dy.into());
    add("unit", domain.coordinate.unit.into());
    add("p_top", domain.vertical.p_top.into());
    add("simulation_start", calendar::format(domain.start).into());
    if let Some(dt) = domain.dt {
        add("input_dt", dt.into());
    }
    for (name, value) in domain.projection.iter().chain(provenance) {
        add(name, value.into());
    }
    for (name, value) in attributes {
        file.attribute(None, &name, value)?;
    }
    Ok(())
}

/// Adds a variable with all its values.
fn add<T: Element>(
    file: &mut dyn BlockStore,
    name: &str,
    dimensions: &[&str],
    values: &[T],
) -> Done {
    file.variable(&Definition::small(name, T::KIND, dimensions))?;
    file.fill(name, T::of_kind(values))
}

fn put_lists<R: Stored>(file: &mut dyn BlockStore, saved: &Saved<R>) -> Done {
    let Saved { checkpoint, reports, .. } = saved;
    let Accumulators { first_steps, parts, .. } = &checkpoint.gathered;
    if !parts.is_empty() {
        file.dimension(dimension::PART, Some(parts.len()))?;
        add(file, "parts", &[dimension::PART], parts)?;
    }
    if !first_steps.is_empty() {
        file.dimension(dimension::CHEMISTRY_CELL, Some(first_steps.len()))?;
        add(file, FIRST_STEPS, &[dimension::CHEMISTRY_CELL], first_steps)?;
    }
    if !reports.is_empty() {
        let figures: Vec<f64> = reports.iter().flat_map(|report| report.figures).collect();
        file.dimension(dimension::REPORT, Some(reports.len()))?;
        file.dimension(dimension::FIGURE, Some(figures.len() / reports.len()))?;
        add(file, "reports", &[dimension::REPORT, dimension::FIGURE], &figures)?;
    }
    Ok(())
}

fn put_domain(file: &mut dyn BlockStore, domain: &Domain) -> Done {
    let Domain { terrain, latitude, longitude, .. } = domain;
    for ((name, along), plane) in DOMAIN_PLANES.into_iter().zip(planes(domain)) {
        add(file, name, &along, memory(plane))?;
    }
    for (name, along, values) in profiles(domain) {
        add(file, name, &[along], values)?;
    }
    let planes = [
        ("terrain", Some(terrain)),
        ("latitude", latitude.as_ref()),
        ("longitude", longitude.as_ref()),
    ];
    for (name, plane) in planes {
        if let Some(plane) = plane {
            add(file, name, &CENTRE[1..], memory(plane))?;
        }
    }
    Ok(())
}

fn put_frame(
    file: &mut dyn BlockStore,
    index: usize,
    (frame, variables): (&Frame, &[&str]),
) -> Done {
    let mut put = |name: &str, lengths: &[usize], values: &[f32]| {
        let one = std::iter::once(index..index + 1);
        let extents: Vec<_> = one.chain(lengths.iter().map(|length| 0..*length)).collect();
        file.put(name, &extents, Values::Single(values))
    };
    for (name, _, field) in volumes(frame, variables) {
        put(&name, field.shape(), memory(field))?;
    }
    for (name, plane) in FRAME_PLANES.into_iter().zip(&frame.column_mass) {
        put(name, plane.shape(), memory(plane))?;
    }
    Ok(())
}

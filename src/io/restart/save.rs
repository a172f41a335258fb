//! Writing restart files (checkpoints).

use super::{
    CHEMISTRY_TALLY, COLUMN_MASS, DIGEST, DOMAIN_PLANES, FIRST_STEPS, FORM, RunConstants,
    dimension, dimensions, kept_name, planes, profiles,
};
use std::ops::Range;
use std::sync::Arc;

use ndarray::{ArrayView3, Axis};

use crate::calendar;
use crate::domain::Domain;
use crate::error::Result;
use crate::frame::{Frame, FrameSource, Saved};
use crate::grid::{DividedGrid, Parts, Shape, Slab};
use crate::io::attribute::AttributeValue;
use crate::io::kind::Kind;
use crate::io::read::reader::RESTART_MARK;
use crate::io::store::format::{BlockStore, Definition, Done, Values};
use crate::io::store::writer::{Element, Stored};
use crate::io::wrf::restart_frame::{CENTRE, FRAME, FRAME_PLANES, volumes};
use crate::io::wrf::window::InputWindow;
use crate::os_text::Shown;
use crate::state::{Accumulators, Checkpoint, Surface, TracerChange, WaterChange, memory};

/// Most values of a slab that the first of several ranks writes at a time, unless a level has more.
const SLAB: usize = 2 << 20;

/// Writer of restart files; each replaces the preceding one.
#[derive(Debug)]
pub struct Restarter {
    /// `None` on the ranks that do not write.
    file: Option<Box<dyn BlockStore>>,
    about: RunConstants,
    /// The grid whose columns several ranks have.
    divided: Option<Arc<DividedGrid>>,
}

/// A file in the making, on the rank that writes it, until something fails.
struct Target<'a> {
    file: Option<&'a mut Box<dyn BlockStore>>,
    done: Result<()>,
}

impl Target<'_> {
    /// Does something to the file.
    fn with(&mut self, call: impl FnOnce(&mut dyn BlockStore) -> Done) {
        if let Some(file) = &mut self.file
            && self.done.is_ok()
        {
            self.done = call(&mut ***file).map_err(|e| file.failed(e));
        }
    }
}

impl Restarter {
    /// A writer of a file.
    pub(crate) fn new(file: Option<Box<dyn BlockStore>>, about: RunConstants) -> Self {
        Self { file, about, divided: None }
    }

    /// The same of several ranks, of which the first has the file, and each its columns of the state.
    pub(crate) fn divided(
        file: Option<Box<dyn BlockStore>>,
        about: RunConstants,
        divided: &Arc<DividedGrid>,
    ) -> Self {
        Self { file, about, divided: Some(Arc::clone(divided)) }
    }

    /// Writes a file, and renames it to its final name when it is complete. All of several ranks call it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io) when it cannot be written; the preceding file then stays.
    /// Those of [`Series::frame`](crate::io::wrf::series::Series::frame).
    pub fn write<R: Stored>(&mut self, saved: &Saved<R>) -> Result<()> {
        let Self { file, about, divided } = self;
        let divided = divided.as_deref();
        let mut target = Target { file: file.as_mut(), done: Ok(()) };
        target.with(|file| {
            file.create()?;
            define::<R>(file, about, saved)
        });
        put_state(&mut target, divided, saved);
        put_lists(&mut target, divided, saved);
        target.with(|file| put_domain(file, &about.domain));
        put_frames(&mut target, divided, about, saved.number..about.series.len());
        target.with(|file| {
            let sum = file.digest(DIGEST)?;
            file.attribute(None, DIGEST, sum.into())
        });
        target.done?;
        file.as_mut().map_or(Ok(()), |file| file.deliver())
    }
}

fn define<R: Stored>(file: &mut dyn BlockStore, about: &RunConstants, saved: &Saved<R>) -> Done {
    let (ny, nx) = about.column_mass[0].dim();
    let input = about.domain.grid.shape;
    for (name, length) in dimensions(Shape { nx, ny, nz: input.nz }, input) {
        file.dimension(name, Some(length))?;
    }
    file.dimension(FRAME, Some(about.series.len() - saved.number))?;
    define_attributes(file, about, saved)?;
    for (tracer, _) in saved.checkpoint.state.tracers() {
        file.variable(&Definition::small(&kept_name(tracer), R::KIND, &dimension::RUN))?;
    }
    for (name, plane) in COLUMN_MASS.into_iter().zip(&about.column_mass) {
        add(file, name, &dimension::RUN[1..], memory(plane))?;
    }
    Ok(())
}

/// Writes the state, and the planes at the ground.
fn put_state<R: Stored>(target: &mut Target<'_>, divided: Option<&DividedGrid>, saved: &Saved<R>) {
    let Checkpoint { state, gathered } = &saved.checkpoint;
    for (tracer, field) in state.tracers() {
        put_volume(target, divided, &[], &kept_name(tracer), &field.view());
    }
    let names = Surface::<R>::names(state.set());
    for (name, plane) in names.zip(gathered.surface.planes()) {
        let plane = plane.view().insert_axis(Axis(0)).to_owned();
        let whole = divided.map_or(Some(plane.clone()), |divided| divided.on_first(&plane));
        let values = whole.map(|plane| plane.into_raw_vec_and_offset().0).unwrap_or_default();
        target.with(|file| add(file, name, &dimension::RUN[1..], &values));
    }
}

/// Writes a volume at some indices of the dimensions before it: of several ranks the columns that each has, brought together
/// slab by slab.
fn put_volume<T: Stored>(
    target: &mut Target<'_>,
    divided: Option<&DividedGrid>,
    at: &[Range<usize>],
    name: &str,
    field: &ArrayView3<'_, T>,
) {
    let mut put = |levels: Range<usize>, [rows, columns]: [usize; 2], values: &[T]| {
        target.with(|file| {
            let block = [at, &[levels, 0..rows, 0..columns]].concat();
            file.put(name, &block, T::of_kind(values))
        });
    };
    let (nz, ny, nx) = field.dim();
    let Some(divided) = divided else {
        return put(0..nz, [ny, nx], field.to_slice().expect("standard layout"));
    };
    let more = divided.more_of(field);
    let (layout, own) = (divided.layout(more), divided.own_points(field, more));
    let [rows, columns] = layout.extents();
    let each = (SLAB / (rows * columns)).max(1);
    for first in (0..nz).step_by(each) {
        let levels = first..(first + each).min(nz);
        let slab = Slab { levels: levels.clone(), rows: 0..rows };
        let values = layout.slabs(&**divided.ranks(), &own, &[Some(slab)]);
        put(levels, [rows, columns], &values);
    }
}

/// Writes the frames of the input that are not passed yet: each of several ranks reads some rows of them.
fn put_frames(
    target: &mut Target<'_>,
    divided: Option<&DividedGrid>,
    about: &RunConstants,
    numbers: Range<usize>,
) {
    let (domain, series) = (&about.domain, &about.series);
    let grid = &domain.grid;
    let rows = divided.and_then(|divided| {
        let (rows, ranks) = (grid.shape.ny, divided.ranks().size());
        let cuts: Vec<usize> = (1..ranks).map(|n| n * rows / ranks).collect();
        let parts = || Parts::new(grid, [&[], &cuts], [0, 0]);
        (rows >= ranks).then(|| divided.with_parts(parts()))
    });
    // Fewer rows than ranks are no burden for one.
    if rows.is_none() && target.file.is_none() {
        return;
    }
    for (index, number) in numbers.enumerate() {
        let frame = match &rows {
            None => series.as_stored(number, domain),
            Some(rows) => {
                let window = InputWindow::of_rows(rows.own());
                rows.agree(series.in_window(number, domain, Some(&window)))
            }
        };
        match frame {
            Err(error) => {
                target.done = std::mem::replace(&mut target.done, Ok(())).and(Err(error));
                return;
            }
            Ok(frame) => put_frame(target, rows.as_ref(), index, (&frame, &series.variables())),
        }
    }
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

fn put_lists<R: Stored>(target: &mut Target<'_>, divided: Option<&DividedGrid>, saved: &Saved<R>) {
    let Saved { checkpoint, reports, .. } = saved;
    let Accumulators { first_steps, parts, .. } = &checkpoint.gathered;
    target.with(|file| {
        if !parts.is_empty() {
            file.dimension(dimension::PART, Some(parts.len()))?;
            add(file, "parts", &[dimension::PART], parts)?;
        }
        if !reports.is_empty() {
            let figures: Vec<f64> = reports.iter().flat_map(|report| report.figures).collect();
            file.dimension(dimension::REPORT, Some(reports.len()))?;
            file.dimension(dimension::FIGURE, Some(figures.len() / reports.len()))?;
            add(file, "reports", &[dimension::REPORT, dimension::FIGURE], &figures)?;
        }
        Ok(())
    });
    if !first_steps.is_empty() {
        put_first_steps(target, divided, first_steps);
    }
}

/// Writes the first steps of the chemistry, in the cells that have it.
fn put_first_steps(target: &mut Target<'_>, divided: Option<&DividedGrid>, first_steps: &[f64]) {
    let of_cells = [dimension::CHEMISTRY_CELL];
    let Some(divided) = divided else {
        return target.with(|file| {
            file.dimension(of_cells[0], Some(first_steps.len()))?;
            add(file, FIRST_STEPS, &of_cells, first_steps)
        });
    };
    let nz = divided.own().shape.nz;
    let layout = divided.unspecified();
    let [rows, columns] = layout.extents();
    target.with(|file| {
        file.dimension(of_cells[0], Some(nz * rows * columns))?;
        file.variable(&Definition::small(FIRST_STEPS, Kind::Double, &of_cells))
    });
    let own = layout.window(divided.ranks().rank());
    let own = ArrayView3::from_shape((nz, own.rows.len(), own.columns.len()), first_steps)
        .expect("a step for each cell");
    for level in 0..nz {
        let slab = Slab { levels: level..level + 1, rows: 0..rows };
        let values = layout.slabs(&**divided.ranks(), &own, &[Some(slab)]);
        let cells = level * rows * columns..(level + 1) * rows * columns;
        target.with(|file| {
            file.put(FIRST_STEPS, std::slice::from_ref(&cells), Values::Double(&values))
        });
    }
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

/// Defines the variables of a frame of the input, if it is the first, and writes them.
fn put_frame(
    target: &mut Target<'_>,
    rows: Option<&DividedGrid>,
    index: usize,
    (frame, variables): (&Frame, &[&str]),
) {
    let at = index..index + 1;
    for (name, [z, y, x], field) in volumes(frame, variables) {
        if index == 0 {
            target.with(|file| {
                file.variable(&Definition::small(&name, Kind::Float, &[FRAME, z, y, x]))
            });
        }
        put_volume(target, rows, std::slice::from_ref(&at), &name, &field.view());
    }
    let [_, y, x] = CENTRE;
    for (name, plane) in FRAME_PLANES.into_iter().zip(&frame.column_mass) {
        let (rows, columns) = plane.dim();
        target.with(|file| {
            if index == 0 {
                file.variable(&Definition::small(name, Kind::Float, &[FRAME, y, x]))?;
            }
            file.put(name, &[at.clone(), 0..rows, 0..columns], Values::Single(memory(plane)))
        });
    }
}

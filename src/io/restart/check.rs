//! Checks of a restart file beyond its digest. The digest shows that a file is unchanged, not that its contents make
//! sense.

use ndarray::Array2;
use time::PrimitiveDateTime;

use super::dimension::CHEMISTRY_CELL;
use super::{COLUMN_MASS, DOMAIN_PLANES, FIRST_STEPS, Restart, dimensions, kept_name, planes};
use crate::calendar;
use crate::constants::Constants;
use crate::constituents::{Constituents, Kind};
use crate::domain::Domain;
use crate::error::Result;
use crate::frame::{FrameSource, PastRun};
use crate::grid::{Grid, Shape, Sides};
use crate::io::read::reader::Reader;
use crate::io::store::writer::Stored;
use crate::io::wrf::{check_levels, check_masses, check_shape};
use crate::state::State;

/// Most past steps: the largest number of steps that the command line accepts.
const MOST_STEPS: usize = u32::MAX as usize;

/// Tolerance, as a fraction of a step, between times that are computed in two ways.
const SAME_TIME: f64 = 1e-6;

/// Relative tolerance between two numbers that can be derived from each other.
const SAME: f64 = 1e-9;

/// Bounds of the state, far beyond a run without blow-up: kg kg⁻¹, and K less 300.
const MOST_WATER: f64 = 1.0;
const THETA: std::ops::Range<f64> = -300.0..10_000.0;

/// Fails if a variable is larger than the file can hold.
pub(super) fn sizes(reader: &Reader) -> Result<()> {
    reader.variable_names().iter().try_for_each(|name| reader.check_size(&reader.variable(name)?))
}

/// Fails if the dimensions are not those of a grid, of its faces and of its division.
pub(super) fn grids(
    reader: &Reader,
    run: Shape,
    (input, sides): (Shape, Sides),
    (refine, set): (usize, &Constituents),
) -> Result<()> {
    check_shape(reader, (input, sides), set)?;
    let wanted =
        Shape { nx: input.nx.saturating_mul(refine), ny: input.ny.saturating_mul(refine), ..input };
    for (name, wanted) in dimensions(wanted, input) {
        let found = reader.dimension(name)?;
        if found != wanted {
            return Err(reader.error(format!(
                "dimension {name} is {found}; {wanted} is needed for an input of {input} cells, each \
                 divided into {refine} x {refine}, and a run of {run}"
            )));
        }
    }
    Ok(())
}

/// Fails if the contents cannot be those of a run.
pub(super) fn contents<R: Stored>(
    reader: &Reader,
    restart: &Restart<R>,
    times: &[PrimitiveDateTime],
    part: Option<&Grid>,
) -> Result<()> {
    steps(reader, restart)?;
    frames(reader, restart, times)?;
    domain(reader, &restart.domain)?;
    for (name, plane) in COLUMN_MASS.into_iter().zip(&restart.run.column_mass) {
        finite(reader, name, plane.iter().map(|x| f64::from(*x)))?;
    }
    state(reader, &restart.run.checkpoint.state, part)
}

/// Fails where the first steps of the chemistry are no steps of cells of a grid.
pub(super) fn first_steps(reader: &Reader, steps: &[f64], shape: Shape) -> Result<()> {
    if steps.len() > shape.cells() {
        return Err(reader.error(format!(
            "dimension {CHEMISTRY_CELL} is {}; {} at most is expected, the cells of the run",
            steps.len(),
            shape.cells()
        )));
    }
    match steps.iter().position(|step| !(*step >= 0.0 && step.is_finite())) {
        None => Ok(()),
        Some(at) => Err(reader.error(format!(
            "variable {FIRST_STEPS} is {} at {at}; seconds from 0 on are expected",
            steps[at]
        ))),
    }
}

fn steps<R>(reader: &Reader, restart: &Restart<R>) -> Result<()> {
    let Restart { past, dt, begin, .. } = restart;
    if *dt <= 0.0 {
        return Err(reader.error(format!("attribute dt is {dt} s; a positive number is needed")));
    }
    if past.steps > MOST_STEPS {
        let message =
            format!("attribute steps is {}; at most {MOST_STEPS} is expected", past.steps);
        return Err(reader.error(message));
    }
    let whole = past.steps as f64 * dt;
    if past.lack < 0.0 || past.lack > whole {
        return Err(reader.error(format!(
            "attribute lack is {} s; from 0 to the {whole} s of all steps is expected",
            past.lack
        )));
    }
    if !calendar::reaches(*begin, whole) {
        return Err(reader.error(format!(
            "{} steps of {dt} s from {} on end after the year 9999; check the attributes steps, \
             dt and begin",
            past.steps,
            calendar::format(*begin)
        )));
    }
    Ok(())
}

/// Fails if the times of the frames are out of order, or do not enclose the time of the restart.
fn frames<R>(reader: &Reader, restart: &Restart<R>, times: &[PrimitiveDateTime]) -> Result<()> {
    let Restart { series, begin, run: PastRun { reports, .. }, past, dt, .. } = restart;
    let first = series.first();
    if reports.len() != first {
        return Err(reader.error(format!(
            "contains reports of {} frames, but {first} frames are past; the two numbers must be \
             equal",
            reports.len()
        )));
    }
    if let Some(pair) = times.windows(2).find(|pair| pair[0] >= pair[1]) {
        return Err(reader.error(format!(
            "attribute frame_times has {} before {}; later times must follow",
            calendar::format(pair[0]),
            calendar::format(pair[1])
        )));
    }
    let since = (times[0] - *begin).as_seconds_f64();
    let present = past.steps as f64 * dt - past.lack;
    if since < 0.0 || since > present + SAME_TIME * dt {
        return Err(reader.error(format!(
            "its first frame is that of {}, {since} s after the start, and its own time is \
             {present} s; a frame from the start on, and not after the present, is needed",
            calendar::format(times[0])
        )));
    }
    Ok(())
}

fn domain(reader: &Reader, domain: &Domain) -> Result<()> {
    let (grid, vertical) = (&domain.grid, &domain.vertical);
    for (name, length) in [("dx", grid.dx), ("dy", grid.dy)] {
        if length <= 0.0 {
            let message = format!("attribute {name} is {length} m; a positive distance is needed");
            return Err(reader.error(message));
        }
    }
    let (unit, wanted) = (domain.coordinate.unit, grid.dx * grid.dy / f64::GRAVITY);
    if (unit / wanted - 1.0).abs() > SAME || !wanted.is_finite() {
        let message =
            format!("attribute unit is {unit} m s²; dx dy / g is {wanted}, and is needed");
        return Err(reader.error(message));
    }
    for ((name, _), plane) in DOMAIN_PLANES.into_iter().zip(planes(domain)) {
        positive(reader, name, plane)?;
    }
    for (name, _, values) in super::profiles(domain) {
        finite(reader, name, values.iter().copied())?;
    }
    check_levels(reader, &vertical.rdnw, &vertical.dnw, &vertical.znw)?;
    check_masses(reader, grid, &domain.coordinate)
}

/// Fails on an impossible map factor or column mass.
fn positive(reader: &Reader, name: &str, plane: &Array2<f64>) -> Result<()> {
    match plane.indexed_iter().find(|(_, x)| !(**x > 0.0 && x.is_finite())) {
        None => Ok(()),
        Some(((j, i), x)) => Err(reader.error(format!(
            "variable {name} is {x} at row {j}, column {i}; a positive number is needed"
        ))),
    }
}

fn finite(reader: &Reader, name: &str, mut values: impl Iterator<Item = f64>) -> Result<()> {
    match values.find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(x) => {
            Err(reader.error(format!("variable {name} holds {x}; finite numbers are needed")))
        }
    }
}

fn state<R: Stored>(reader: &Reader, state: &State<R>, part: Option<&Grid>) -> Result<()> {
    for (tracer, field) in state.tracers() {
        let name = kept_name(tracer);
        let is_good = |x: f64| match tracer.kind {
            Kind::Temperature => THETA.contains(&x),
            Kind::Water(_) => x.abs() < MOST_WATER,
            Kind::Property { .. } | Kind::Passive | Kind::Chemical => x.is_finite(),
        };
        let bad = field.indexed_iter().find(|(_, x)| !is_good(x.f64()));
        if let Some(((k, j, i), x)) = bad {
            let [j, i] = part.map_or([j, i], |part| part.global_column([j, i]));
            return Err(reader.error(format!(
                "variable {name} is {} in cell i={i} j={j} k={k}, which a run never writes; use \
                 another restart file, or start again from the input",
                x.f64()
            )));
        }
    }
    Ok(())
}

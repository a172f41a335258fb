//! Input frames in restart files: the variables of a frame, and how to read them.

use ndarray::{Array2, Array3};
use time::PrimitiveDateTime;

use super::{Frame, check_air};
use crate::error::Result;
use crate::grid::Shape;
use crate::io::reader::Reader;
use crate::io::typed_arrays::{shaped, typed};
use crate::state::State;
use crate::tracers::TracerSet;

/// Dimension of the frames, and dimensions of space of the input's grid.
pub(in crate::io) const FRAME: &str = "frame";
/// See [`FRAME`]; the cells.
pub(in crate::io) const CENTRE: [&str; 3] = ["z", "input_y", "input_x"];
const FACE_X: [&str; 3] = ["z", "input_y", "input_x_face"];
const FACE_Y: [&str; 3] = ["z", "input_y_face", "input_x"];
const FACE_Z: [&str; 3] = ["z_face", "input_y", "input_x"];

/// Prefix of the variables of an input frame.
const OF_FRAME: &str = "frame_";

/// Prefix of the variables of passive tracers in an input frame.
const OF_SOURCE: &str = "frame_source_";

/// Fields with levels of an input frame: name of the variable, dimensions, values. `variables` are the names of the
/// sources of passive tracers.
pub(in crate::io) fn volumes<'a>(
    frame: &'a Frame,
    variables: &[&str],
) -> Vec<(String, [&'static str; 3], &'a Array3<f32>)> {
    let Frame { u, v, pressure: [p, pb], geopotential: [ph, phb], .. } = frame;
    let tracers = frame.state.tracers().map(|(tracer, field)| (tracer.name, CENTRE, field));
    let sources = variables.iter().zip(&frame.sources);
    let sources = sources.map(|(name, field)| (format!("{OF_SOURCE}{name}"), CENTRE, field));
    let others = [
        ("u", FACE_X, u),
        ("v", FACE_Y, v),
        ("pressure_perturbation", CENTRE, p),
        ("pressure_base", CENTRE, pb),
        ("geopotential_perturbation", FACE_Z, ph),
        ("geopotential_base", FACE_Z, phb),
    ];
    let all = tracers.chain(others);
    let all = all.map(|(name, along, field)| (format!("{OF_FRAME}{name}"), along, field));
    all.chain(sources).collect()
}

/// Fields without levels of an input frame.
pub(in crate::io) const FRAME_PLANES: [&str; 2] =
    ["frame_column_mass_perturbation", "frame_column_mass_base"];

/// An input frame of a restart file.
///
/// # Errors
///
/// [`Error::Input`](crate::error::Error::Input) when it is missing or damaged.
pub(in crate::io) fn frame(
    reader: &Reader,
    shape: Shape,
    index: usize,
    time: PrimitiveDateTime,
) -> Result<Frame> {
    let lengths = |along: &[&str]| -> Result<Vec<usize>> {
        along.iter().map(|name| reader.dimension(name)).collect()
    };
    let values = |name: &str, along: &[&str]| -> Result<Vec<f32>> {
        let lengths = lengths(along)?;
        let one = std::iter::once(index..index + 1);
        let ranges: Vec<_> = one.chain(lengths.iter().map(|length| 0..*length)).collect();
        typed(reader, name, &ranges)
    };
    let volume = |name: &str, along: [&str; 3]| -> Result<Array3<f32>> {
        let name = &format!("{OF_FRAME}{name}");
        let lengths = lengths(&along)?;
        let shape = (lengths[0], lengths[1], lengths[2]);
        shaped(reader, name, shape, values(name, &along)?)
    };
    let plane = |name: &str| -> Result<Array2<f32>> {
        let found = values(name, &CENTRE[1..])?;
        shaped(reader, name, (shape.ny, shape.nx), found)
    };
    let set = TracerSet::moist_air();
    let fields = set.iter().map(|tracer| volume(tracer.name, CENTRE)).collect::<Result<_>>()?;
    let [perturbation, base] = FRAME_PLANES;
    let frame = Frame {
        time,
        state: State::new(set, fields),
        u: volume("u", FACE_X)?,
        v: volume("v", FACE_Y)?,
        pressure: [volume("pressure_perturbation", CENTRE)?, volume("pressure_base", CENTRE)?],
        geopotential: [
            volume("geopotential_perturbation", FACE_Z)?,
            volume("geopotential_base", FACE_Z)?,
        ],
        column_mass: [plane(perturbation)?, plane(base)?],
        sources: Vec::new(),
        photolysis: Vec::new(),
    };
    check_air(reader, &frame)?;
    Ok(frame)
}

/// A source variable of passive tracers, from an input frame of a restart file.
///
/// # Errors
///
/// As [`frame`].
pub(in crate::io) fn source(
    reader: &Reader,
    shape: Shape,
    index: usize,
    variable: &str,
) -> Result<Array3<f32>> {
    let name = format!("{OF_SOURCE}{variable}");
    let (nz, ny, nx) = shape.centre();
    let values = typed(reader, &name, &[index..index + 1, 0..nz, 0..ny, 0..nx])?;
    shaped(reader, &name, shape.centre(), values)
}

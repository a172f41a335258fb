//! Input frames in restart files: the variables of a frame, and how to read them.

use std::sync::Arc;

use ndarray::{Array2, Array3, ArrayD, IxDyn};
use time::PrimitiveDateTime;

use super::{Frame, check_air};
use crate::constituents::Constituents;
use crate::error::Result;
use crate::grid::Shape;
use crate::io::read::reader::{Reader, try_map};
use crate::io::read::typed_arrays::{shaped, typed};
use crate::state::State;

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

/// Fields with levels besides those of the state, with their dimensions.
const OTHERS: [(&str, [&str; 3]); 6] = [
    ("u", FACE_X),
    ("v", FACE_Y),
    ("pressure_perturbation", CENTRE),
    ("pressure_base", CENTRE),
    ("geopotential_perturbation", FACE_Z),
    ("geopotential_base", FACE_Z),
];

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
    let others = OTHERS.into_iter().zip([u, v, p, pb, ph, phb]);
    let others = others.map(|((name, along), field)| (name, along, field));
    let all = tracers.chain(others);
    let all = all.map(|(name, along, field)| (format!("{OF_FRAME}{name}"), along, field));
    all.chain(sources).collect()
}

/// Fields without levels of an input frame.
pub(in crate::io) const FRAME_PLANES: [&str; 2] =
    ["frame_column_mass_perturbation", "frame_column_mass_base"];

/// An input frame of a restart file, for a run with a scheme that carries `set`.
pub(in crate::io) fn frame(
    reader: &Reader,
    (shape, set): (Shape, &Arc<Constituents>),
    index: usize,
    time: PrimitiveDateTime,
) -> Result<Frame> {
    let values = |name: &str, along: &[&str]| -> Result<ArrayD<f32>> {
        let lengths =
            along.iter().map(|name| reader.dimension(name)).collect::<Result<Vec<_>>>()?;
        let one = std::iter::once(index..index + 1);
        let ranges: Vec<_> = one.chain(lengths.iter().map(|length| 0..*length)).collect();
        shaped(reader, name, IxDyn(&lengths), typed(reader, name, &ranges)?)
    };
    let volume = |(name, along): (&str, [&str; 3])| -> Result<Array3<f32>> {
        let field = values(&format!("{OF_FRAME}{name}"), &along)?;
        Ok(field.into_dimensionality().expect("three dimensions were read"))
    };
    let plane = |name: &str| -> Result<Array2<f32>> {
        let field = values(name, &CENTRE[1..])?;
        shaped(reader, name, (shape.ny, shape.nx), field.into_iter().collect())
    };
    let set = Arc::new(set.with_passive([]));
    let fields = set.iter().map(|tracer| volume((tracer.name, CENTRE))).collect::<Result<_>>()?;
    let [u, v, p, pb, ph, phb] = try_map(OTHERS, volume)?;
    let frame = Frame {
        time,
        state: State::new(set, fields),
        u,
        v,
        pressure: [p, pb],
        geopotential: [ph, phb],
        column_mass: try_map(FRAME_PLANES, plane)?,
        sources: Vec::new(),
        photolysis: Vec::new(),
    };
    check_air(reader, &frame)?;
    Ok(frame)
}

/// A source variable of passive tracers, from an input frame of a restart file.
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

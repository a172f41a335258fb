//! Input frames in restart files: the variables of a frame, and how to read them.

use std::ops::Range;
use std::sync::Arc;

use ndarray::{Array2, Array3};
use time::PrimitiveDateTime;

use super::window::InputWindow;
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

/// A volume of an input frame, or its window for a part of the grid.
fn volume(
    (reader, window): (&Reader, Option<&InputWindow>),
    index: usize,
    (name, along): (&str, [&str; 3]),
) -> Result<Array3<f32>> {
    let [nz, ny, nx] = try_map(along, |name| reader.dimension(name))?;
    let read = |[z, y, x]: [Range<usize>; 3]| {
        let ranges = [index..index + 1, z.clone(), y.clone(), x.clone()];
        let values: Vec<f32> = typed(reader, name, &ranges)?;
        shaped(reader, name, (z.len(), y.len(), x.len()), values)
    };
    match window {
        None => read([0..nz, 0..ny, 0..nx]),
        Some(window) => {
            let [_, y, x] = along;
            let more = [usize::from(y == FACE_Y[1]), usize::from(x == FACE_X[2])];
            window.volume((nz, more), |ranges| Ok(read(ranges)?.into_raw_vec_and_offset().0))
        }
    }
}

/// An input frame of a restart file, or the window of one, for a run with a scheme that carries `set`.
pub(in crate::io) fn frame(
    (reader, window): (&Reader, Option<&InputWindow>),
    (shape, set): (Shape, &Arc<Constituents>),
    index: usize,
    time: PrimitiveDateTime,
) -> Result<Frame> {
    let volume = |(name, along): (&str, [&str; 3])| {
        volume((reader, window), index, (&format!("{OF_FRAME}{name}"), along))
    };
    let plane = |name: &str| -> Result<Array2<f32>> {
        let values = typed(reader, name, &[index..index + 1, 0..shape.ny, 0..shape.nx])?;
        shaped(reader, name, (shape.ny, shape.nx), values)
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
    check_air(reader, &frame, window)?;
    Ok(frame)
}

/// A source variable of passive tracers, from an input frame of a restart file.
pub(in crate::io) fn source(
    file: (&Reader, Option<&InputWindow>),
    index: usize,
    variable: &str,
) -> Result<Array3<f32>> {
    volume(file, index, (&format!("{OF_SOURCE}{variable}"), CENTRE))
}

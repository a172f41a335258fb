//! Input frames as a restart file keeps them: its variables of a frame, and how one is read.

use ndarray::{Array2, Array3};
use time::PrimitiveDateTime;

use super::{Frame, check_air};
use crate::error::Result;
use crate::grid::Shape;
use crate::io::exact::{shaped, typed};
use crate::io::reader::Reader;
use crate::state::State;

/// Dimension of the frames, and dimensions of space of the input's grid.
pub(in crate::io) const FRAME: &str = "frame";
/// See [`FRAME`]; the cells.
pub(in crate::io) const CENTRE: [&str; 3] = ["z", "input_y", "input_x"];
const FACE_X: [&str; 3] = ["z", "input_y", "input_x_face"];
const FACE_Y: [&str; 3] = ["z", "input_y_face", "input_x"];
const FACE_Z: [&str; 3] = ["z_face", "input_y", "input_x"];

/// Variables of an input frame with levels, each with its dimensions, in the order of
/// [`volumes`].
pub(in crate::io) const FRAME_VOLUMES: [(&str, [&str; 3]); 12] = [
    ("frame_theta", CENTRE),
    ("frame_qv", CENTRE),
    ("frame_qc", CENTRE),
    ("frame_qr", CENTRE),
    ("frame_qi", CENTRE),
    ("frame_qs", CENTRE),
    ("frame_u", FACE_X),
    ("frame_v", FACE_Y),
    ("frame_pressure_perturbation", CENTRE),
    ("frame_pressure_base", CENTRE),
    ("frame_geopotential_perturbation", FACE_Z),
    ("frame_geopotential_base", FACE_Z),
];

/// Variables of an input frame without levels.
pub(in crate::io) const FRAME_PLANES: [&str; 2] =
    ["frame_column_mass_perturbation", "frame_column_mass_base"];

/// The values of [`FRAME_VOLUMES`].
pub(in crate::io) fn volumes(frame: &Frame) -> [&Array3<f32>; FRAME_VOLUMES.len()] {
    let [theta, qv, qc, qr, qi, qs] = frame.state.fields();
    let Frame { u, v, pressure: [p, pb], geopotential: [ph, phb], .. } = frame;
    [theta, qv, qc, qr, qi, qs, u, v, p, pb, ph, phb]
}

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
    let volume = |at: usize| -> Result<Array3<f32>> {
        let (name, along) = FRAME_VOLUMES[at];
        let lengths = lengths(&along)?;
        let shape = (lengths[0], lengths[1], lengths[2]);
        shaped(reader, name, shape, values(name, &along)?)
    };
    let plane = |name: &str| -> Result<Array2<f32>> {
        let found = values(name, &CENTRE[1..])?;
        shaped(reader, name, (shape.ny, shape.nx), found)
    };
    let [perturbation, base] = FRAME_PLANES;
    let frame = Frame {
        time,
        state: State {
            theta: volume(0)?,
            qv: volume(1)?,
            qc: volume(2)?,
            qr: volume(3)?,
            qi: volume(4)?,
            qs: volume(5)?,
        },
        u: volume(6)?,
        v: volume(7)?,
        pressure: [volume(8)?, volume(9)?],
        geopotential: [volume(10)?, volume(11)?],
        column_mass: [plane(perturbation)?, plane(base)?],
    };
    check_air(reader, &frame)?;
    Ok(frame)
}

//! Files of `nwp-mini columns`. Input: independent columns; output: results of the microphysics.

mod fields;
pub mod physics;

use std::path::Path;

use ndarray::Array3;

use self::fields::Fields;
use crate::error::Result;
use crate::grid::Shape;
use crate::io::reader::Reader;
use crate::io::writer::{Stored, Writer};
use crate::physics::ColumnPhysics;
use crate::state::{Environment, State};
use crate::wsm5::scheme::Scheme;

/// Fewest and most levels that the scheme takes.
pub const SUPPORTED_LEVELS: std::ops::RangeInclusive<usize> =
    <Scheme<f32> as ColumnPhysics<f32>>::LEVELS;

/// Independent columns, and the calls to make.
#[derive(Clone, Debug)]
pub struct ColumnCase<R> {
    /// `nx` columns in one row, `nz` levels.
    pub shape: Shape,
    /// State of the columns; `theta` is the full potential temperature here.
    pub state: State<R>,
    /// Their air.
    pub environment: Environment<R>,
    /// Change of theta before every call, K s⁻¹. Shape: (nz, 1, nx).
    pub theta_tendency: Option<Array3<R>>,
    /// Change of vapour before every call, s⁻¹. Shape: (nz, 1, nx).
    pub qv_tendency: Option<Array3<R>>,
    /// Time step of a call (attribute `dt`), s.
    pub dt: Option<f64>,
    /// Number of calls (attribute `calls`).
    pub calls: Option<f64>,
}

impl<R: Stored> ColumnCase<R> {
    /// Reads a case.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Io`] or [`crate::error::Error::Input`] when a variable is missing, of another shape, not
    /// finite or not physical.
    pub fn read(path: &Path) -> Result<Self> {
        Self::read_in(&Reader::open(path)?, "", ["level", "column"])
    }

    /// Reads the case of a group of reference data, whose dimensions are `k` and `col`.
    ///
    /// # Errors
    ///
    /// As [`ColumnCase::read`]; also when the group does not exist.
    pub fn read_group(path: &Path, group: &str) -> Result<Self> {
        let reader = Reader::open(path)?;
        let groups = reader.group_names()?;
        if !groups.iter().any(|name| name == group) {
            let found = if groups.is_empty() { "none".to_owned() } else { groups.join(", ") };
            return Err(reader.error(format!("has no group {group}; its groups: {found}")));
        }
        Self::read_in(&reader, &format!("{group}/"), ["k", "col"])
    }

    fn read_in(reader: &Reader, group: &str, dimensions: [&str; 2]) -> Result<Self> {
        let fields = Fields::new(reader, group, dimensions, &SUPPORTED_LEVELS)?;
        Ok(Self {
            shape: fields.shape,
            state: State::of_moist_air([
                fields.read("th")?,
                fields.read("q")?,
                fields.read("qc")?,
                fields.read("qr")?,
                fields.read("qi")?,
                fields.read("qs")?,
            ]),
            environment: Environment {
                rho: fields.read("den")?,
                exner: fields.read("pii")?,
                p: fields.read("p")?,
                dz: fields.read("delz")?,
            },
            theta_tendency: fields.optional("th_tend")?,
            qv_tendency: fields.optional("q_tend")?,
            dt: fields.number("dt")?,
            calls: fields.number("calls")?,
        })
    }
}

/// Writes a case as the input of `nwp-mini columns`, with global attributes that describe it.
///
/// # Errors
///
/// Those of [`Writer`].
///
/// # Panics
///
/// When the case has several rows of columns, or its arrays differ in shape.
pub fn write_case<R: Stored>(
    mut writer: Writer,
    case: &ColumnCase<R>,
    about: &[(&str, &str)],
) -> Result<()> {
    writer.dimension("level", case.shape.nz)?;
    writer.dimension("column", case.shape.nx)?;
    for (name, text) in about {
        writer.text(name, text)?;
    }
    for (name, number) in [("dt", case.dt), ("calls", case.calls)] {
        if let Some(number) = number {
            writer.number(name, number)?;
        }
    }
    let air = &case.environment;
    let air: [(&str, &Array3<R>, [&str; 2]); 4] = [
        ("den", &air.rho, ["kg m-3", "density of dry air"]),
        ("pii", &air.exner, ["1", "Exner function"]),
        ("p", &air.p, ["Pa", "pressure"]),
        ("delz", &air.dz, ["m", "depth of the layer"]),
    ];
    for (name, field, about) in prognostic(&case.state).into_iter().chain(air) {
        let values = field.as_slice().expect("standard layout");
        writer.variable(name, &["level", "column"], about, values)?;
    }
    let tendencies = [
        ("th_tend", &case.theta_tendency, ["K s-1", "change of potential temperature"]),
        ("q_tend", &case.qv_tendency, ["s-1", "change of the water vapour mixing ratio"]),
    ];
    for (name, field, about) in tendencies {
        if let Some(field) = field {
            let values = field.as_slice().expect("standard layout");
            writer.variable(name, &["level", "column"], about, values)?;
        }
    }
    writer.commit()
}

/// The six fields that the scheme changes: name, units and description.
fn prognostic<R>(state: &State<R>) -> [(&'static str, &Array3<R>, [&'static str; 2]); 6] {
    [
        ("th", state.theta(), ["K", "potential temperature"]),
        ("q", state.qv(), ["kg kg-1", "water vapour mixing ratio"]),
        ("qc", state.qc(), ["kg kg-1", "cloud water mixing ratio"]),
        ("qr", state.qr(), ["kg kg-1", "rain mixing ratio"]),
        ("qi", state.qi(), ["kg kg-1", "cloud ice mixing ratio"]),
        ("qs", state.qs(), ["kg kg-1", "snow mixing ratio"]),
    ]
}

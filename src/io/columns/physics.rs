//! Columns of any scheme of column physics: input and output of its own fields.

use std::path::Path;

use ndarray::{Array2, Array3, Zip, s};

use super::fields::Fields;
use crate::error::Result;
use crate::grid::Shape;
use crate::io::reader::Reader;
use crate::io::writer::{Stored, Writer};
use crate::physics::{Block, ColumnPhysics, Field};
use crate::state::memory;

/// Independent columns, and the calls to make.
#[derive(Clone, Debug)]
pub struct PhysicsCase<R> {
    /// `nx` columns in one row, `nz` levels.
    pub shape: Shape,
    /// The tracers of the scheme; the first is the full potential temperature here. Shape of each: (nz, 1, nx).
    pub tracers: Vec<Array3<R>>,
    /// The fields of the air that the scheme reads. Shape of each: (nz, 1, nx).
    pub air: Vec<Array3<R>>,
    /// The planes at the ground, all 0 at first. Shape of each: (1, nx).
    pub surface: Vec<Array2<R>>,
    /// The fields diagnosed after the last call; none before. Shape of each: (nz, 1, nx).
    pub diagnosed: Vec<Array3<R>>,
    /// Changes of the first two tracers before every call, in their units a second. Shape of each: (nz, 1, nx).
    pub tendencies: [Option<Array3<R>>; 2],
    /// Time step of a call (attribute `dt`), s.
    pub dt: Option<f64>,
    /// Number of calls (attribute `calls`).
    pub calls: Option<f64>,
}

/// Changes before every call.
const TENDENCIES: [Field; 2] = [
    Field { name: "th_tend", units: "K s-1", about: "change of potential temperature" },
    Field { name: "q_tend", units: "s-1", about: "change of the water vapour mixing ratio" },
];

impl<R: Stored> PhysicsCase<R> {
    /// Reads the fields of a scheme; the rest of the file is ignored.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Io`] or [`crate::error::Error::Input`] when a variable is missing, of another shape, not
    /// finite or not physical.
    pub fn read<P: ColumnPhysics<R>>(path: &Path) -> Result<Self> {
        Self::read_in::<P>(&Reader::open(path)?, "", ["level", "column"])
    }

    /// Reads a group of reference data, whose dimensions are `k` and `col`.
    pub(crate) fn read_group<P: ColumnPhysics<R>>(path: &Path, group: &str) -> Result<Self> {
        let reader = Reader::open(path)?;
        let groups = reader.group_names()?;
        if !groups.iter().any(|name| name == group) {
            let found = if groups.is_empty() { "none".to_owned() } else { groups.join(", ") };
            return Err(reader.error(format!("has no group {group}; its groups: {found}")));
        }
        Self::read_in::<P>(&reader, &format!("{group}/"), ["k", "col"])
    }

    fn read_in<P: ColumnPhysics<R>>(
        reader: &Reader,
        group: &str,
        dimensions: [&str; 2],
    ) -> Result<Self> {
        let fields = Fields::new(reader, group, dimensions, &P::LEVELS)?;
        let all = |list: &[Field]| -> Result<Vec<Array3<R>>> {
            list.iter().map(|field| fields.read(field.name)).collect()
        };
        let [theta, qv] = TENDENCIES.map(|field| fields.optional(field.name));
        let shape = fields.shape;
        Ok(Self {
            shape,
            tracers: all(P::TRACERS)?,
            air: all(P::AIR)?,
            surface: P::SURFACE.iter().map(|_| Array2::zeros((shape.ny, shape.nx))).collect(),
            diagnosed: Vec::new(),
            tendencies: [theta?, qv?],
            dt: fields.number("dt")?,
            calls: fields.number("calls")?,
        })
    }

    /// All columns.
    pub fn block(&mut self) -> Block<'_, R> {
        Block {
            theta_base: R::ZERO,
            tracers: self.tracers.iter_mut().map(|field| field.view_mut()).collect(),
            air: self.air.iter().map(|field| field.view()).collect(),
            surface: self.surface.iter_mut().map(|plane| plane.view_mut()).collect(),
            budget: None,
        }
    }

    /// Adds the prescribed tendencies of a call of `dt` seconds; they do not make vapour negative.
    pub fn force(&mut self, dt: R) {
        let [theta, qv] = &self.tendencies;
        if let Some(tendency) = theta {
            Zip::from(&mut self.tracers[0]).and(tendency).for_each(|theta, &x| *theta += dt * x);
        }
        if let Some(tendency) = qv {
            Zip::from(&mut self.tracers[1])
                .and(tendency)
                .for_each(|qv, &x| *qv = (*qv + dt * x).larger(R::ZERO));
        }
    }

    /// Writes the result of `calls` calls of `dt` seconds.
    ///
    /// # Errors
    ///
    /// Those of [`Writer`].
    ///
    /// # Panics
    ///
    /// When a field is not in standard layout.
    pub fn write<P: ColumnPhysics<R>>(
        &self,
        mut writer: Writer,
        [dt, calls]: [f64; 2],
    ) -> Result<()> {
        self.put_dimensions(&mut writer)?;
        writer.text("title", &format!("columns after {} cloud microphysics", P::NAME))?;
        writer.text("nwp_mini_version", env!("CARGO_PKG_VERSION"))?;
        writer.text("precision", R::NAME)?;
        writer.number("dt", dt)?;
        writer.number("calls", calls)?;
        let tracers = P::TRACERS.iter().zip(&self.tracers);
        let diagnosed = P::DIAGNOSED.iter().zip(&self.diagnosed);
        put_fields(&mut writer, tracers.chain(diagnosed))?;
        for (Field { name, units, about }, plane) in P::SURFACE.iter().zip(&self.surface) {
            let values: Vec<R> = plane.slice(s![0, ..]).to_vec();
            writer.variable(name, &["column"], [units, about], &values)?;
        }
        writer.commit()
    }

    /// Writes the columns as input, with global attributes that describe them.
    pub(crate) fn write_input<P: ColumnPhysics<R>>(
        &self,
        mut writer: Writer,
        about: &[(&str, &str)],
    ) -> Result<()> {
        self.put_dimensions(&mut writer)?;
        for (name, text) in about {
            writer.text(name, text)?;
        }
        for (name, number) in [("dt", self.dt), ("calls", self.calls)] {
            if let Some(number) = number {
                writer.number(name, number)?;
            }
        }
        let air = P::AIR.iter().zip(&self.air);
        let tendencies = TENDENCIES.iter().zip(&self.tendencies);
        let tendencies = tendencies.filter_map(|(field, values)| Some((field, values.as_ref()?)));
        put_fields(&mut writer, P::TRACERS.iter().zip(&self.tracers).chain(air).chain(tendencies))?;
        writer.commit()
    }

    fn put_dimensions(&self, writer: &mut Writer) -> Result<()> {
        writer.dimension("level", self.shape.nz)?;
        writer.dimension("column", self.shape.nx)
    }
}

fn put_fields<'a, R: Stored>(
    writer: &mut Writer,
    fields: impl Iterator<Item = (&'a Field, &'a Array3<R>)>,
) -> Result<()> {
    for (Field { name, units, about }, field) in fields {
        writer.variable(name, &["level", "column"], [units, about], memory(field))?;
    }
    Ok(())
}

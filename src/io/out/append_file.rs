//! Files besides the output that grow with the run, with attributes of the CF conventions.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::calendar;
use crate::error::Result;
use crate::io::attribute::AttributeValue;
use crate::io::kind::Kind;
use crate::io::layout::Variable;
use crate::io::out::output::Header;
use crate::io::read::packing::FLOAT_FILL;
use crate::io::store::fields::{OF_TIME, describe, describe_file};
use crate::io::store::format::{BlockStore, Definition, Done, Schema, Values};
use crate::io::store::storage::Compression;
use crate::io::store::writer::{Element, Stored};

/// Value of missing data: the fill value of NetCDF for both precisions.
pub(in crate::io) const MISSING: f64 = FLOAT_FILL as f64;

/// `<output without .nc>.<what>.nc`, in the folder of the output.
pub(crate) fn aux_path(output: &Path, what: &str) -> PathBuf {
    let mut name = output.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{what}.nc"));
    output.with_file_name(name)
}

/// Name and attributes of a variable.
#[derive(Clone, Debug, Default)]
pub(in crate::io) struct VariableInfo<'a> {
    pub(in crate::io) name: &'a str,
    pub(in crate::io) dimensions: &'a [&'a str],
    pub(in crate::io) units: &'a str,
    pub(in crate::io) long_name: Cow<'a, str>,
    pub(in crate::io) standard_name: Option<&'a str>,
    /// Names of its coordinate variables.
    pub(in crate::io) coordinates: &'a str,
    /// `true` if values may be missing.
    pub(in crate::io) has_gaps: bool,
    /// Lengths of a chunk along each dimension; empty for one chunk a time.
    pub(in crate::io) chunks: &'a [usize],
}

impl<'a> VariableInfo<'a> {
    /// Name and attributes of a variable of the output.
    pub(in crate::io) fn of(
        about: &Variable,
        dimensions: &'a [&'a str],
        coordinates: &'a str,
    ) -> Self {
        let Variable { name, units, standard_name, .. } = *about;
        let long_name = about.description.to_lowercase().into();
        Self { name, dimensions, units, long_name, standard_name, coordinates, ..Self::default() }
    }
}

/// The largest reflectivity of a column; its dimensions and coordinates depend on the file.
pub(in crate::io) const STRONGEST: VariableInfo<'static> = VariableInfo {
    name: "REFL_10CM_MAX",
    dimensions: &[],
    units: "dBZ",
    long_name: Cow::Borrowed("largest radar reflectivity of the column (lamda = 10 cm)"),
    standard_name: None,
    coordinates: "",
    has_gaps: false,
    chunks: &[],
};

/// A file with the unlimited dimension `time`.
#[derive(Debug)]
pub(in crate::io) struct AppendFile {
    file: Box<dyn BlockStore>,
    /// Seconds from the reference time of the file to the start of the run.
    offset: f64,
    times: usize,
}

impl AppendFile {
    /// Starts a file with the attribute `title`.
    pub(in crate::io) fn create(
        mut file: Box<dyn BlockStore>,
        header: &Header,
        title: &str,
    ) -> Result<Self> {
        file.create().map_err(|e| file.failed(e))?;
        let offset = 60.0 * calendar::minutes(header.domain.start, header.start);
        let mut growing = Self { file, offset, times: 0 };
        growing.define(|file| {
            describe_file(file, title)?;
            for (name, value) in &header.provenance {
                file.attribute(None, name, value.into())?;
            }
            file.dimension("time", None)?;
            file.variable(&Definition::small("time", Kind::Double, &["time"]))?;
            let since = calendar::format(header.domain.start).replace('_', " ");
            let since = format!("seconds since {since}");
            describe(file, "time", &[("units", &since), ("long_name", "time")])?;
            describe(file, "time", &OF_TIME)
        })?;
        Ok(growing)
    }

    /// Adds the variables that are written once, at the start.
    pub(in crate::io) fn define(
        &mut self,
        add: impl FnOnce(&mut dyn Schema) -> Done,
    ) -> Result<()> {
        add(&mut *self.file).map_err(|e| self.file.failed(e))
    }

    /// Writes a block of a variable.
    pub(in crate::io) fn put(
        &mut self,
        name: &str,
        block: &[Range<usize>],
        values: Values<'_>,
    ) -> Result<()> {
        self.file.put(name, block, values).map_err(|e| self.file.failed(e))
    }

    /// Adds a variable.
    pub(in crate::io) fn variable<R: Stored>(&mut self, about: &VariableInfo<'_>) -> Result<()> {
        self.define(|file| {
            let is_large = about.dimensions.len() > 2;
            file.variable(&Definition {
                name: about.name,
                kind: R::KIND,
                dimensions: about.dimensions,
                chunks: (!about.chunks.is_empty()).then(|| about.chunks.to_vec()),
                compression: if is_large { Compression::Fast } else { Compression::None },
                fill: about.has_gaps.then_some(MISSING),
            })?;
            let attributes = [
                ("units", about.units),
                ("long_name", &*about.long_name),
                ("standard_name", about.standard_name.unwrap_or_default()),
                ("coordinates", about.coordinates),
            ];
            describe(file, about.name, &attributes)
        })
    }

    /// Adds a variable with all its values and further attributes.
    pub(in crate::io) fn fixed<T: Element>(
        &mut self,
        name: &str,
        dimensions: &[&str],
        attributes: &[(&str, &str)],
        values: &[T],
    ) -> Result<()> {
        self.define(|file| {
            file.variable(&Definition::small(name, T::KIND, dimensions))?;
            describe(file, name, attributes)?;
            file.fill(name, T::of_kind(values))
        })
    }

    /// Adds an attribute to a variable.
    pub(in crate::io) fn attribute(
        &mut self,
        variable: &str,
        name: &str,
        value: impl Into<AttributeValue>,
    ) -> Result<()> {
        self.define(|file| file.attribute(Some(variable), name, value.into()))
    }

    /// Begins the next time, `seconds` after the start of the run.
    pub(in crate::io) fn begin(&mut self, seconds: f64) -> Result<()> {
        let (at, seconds) = (self.times, self.offset + seconds);
        self.times += 1;
        self.put("time", std::slice::from_ref(&(at..at + 1)), Values::Double(&[seconds]))
    }

    /// Writes the values of a variable at the current time. `along` are the lengths of its other dimensions, the first
    /// `before` of which precede time.
    pub(in crate::io) fn now<R: Stored>(
        &mut self,
        name: &str,
        before: usize,
        along: &[usize],
        values: &[R],
    ) -> Result<()> {
        let block: Vec<Range<usize>> = along.iter().map(|n| 0..*n).collect();
        self.now_in(name, before, &block, values)
    }

    /// The same of a block of its other dimensions.
    pub(in crate::io) fn now_in<R: Stored>(
        &mut self,
        name: &str,
        before: usize,
        block: &[Range<usize>],
        values: &[R],
    ) -> Result<()> {
        let at = self.times - 1;
        let mut extents = block.to_vec();
        extents.insert(before, at..at + 1);
        self.put(name, &extents, R::of_kind(values))?;
        self.file.relieve(size_of_val(values)).map_err(|e| self.file.failed(e))
    }

    /// Copies the file as it is now to its final name.
    pub(in crate::io) fn publish(&mut self) -> Result<()> {
        self.file.publish()
    }

    /// Completes the file and renames it to its final name.
    pub(in crate::io) fn commit(self) -> Result<()> {
        self.file.commit()
    }
}

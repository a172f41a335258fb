//! Files besides the output that grow with the run, with attributes of the CF conventions.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};

use netcdf::types::NcTypeDescriptor;
use netcdf::{AttributeValue, FileMut};

use crate::calendar;
use crate::error::Result;
use crate::io::atomic_file::AtomicFile;
use crate::io::fields::{DEFLATE, existing};
use crate::io::flushing_file::FlushingFile;
use crate::io::output::Header;
use crate::io::selection::is_left_out;
use crate::io::weights::Coordinates;
use crate::io::wrf::Attribute;
use crate::io::writer::Stored;

/// Value of missing data: the fill value of NetCDF for both precisions.
pub(super) const MISSING: f64 = 9.969_209_968_386_869e36;

/// `<output without .nc>.<what>.nc`, in the folder of the output.
pub fn beside(output: &Path, what: &str) -> PathBuf {
    let mut name = output.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{what}.nc"));
    output.with_file_name(name)
}

/// Name and attributes of a variable.
#[derive(Clone, Debug, Default)]
pub(super) struct VariableInfo<'a> {
    pub(super) name: &'a str,
    pub(super) dimensions: &'a [&'a str],
    pub(super) units: &'a str,
    pub(super) long_name: Cow<'a, str>,
    pub(super) standard_name: Option<&'a str>,
    /// Names of its coordinate variables.
    pub(super) coordinates: &'a str,
    /// `true` if values may be missing.
    pub(super) has_gaps: bool,
    /// Lengths of a chunk along each dimension; empty for one chunk a time.
    pub(super) chunks: &'a [usize],
}

/// Names and attributes of the coordinates along x and y.
pub(super) fn coordinates(
    of: Coordinates,
) -> [(&'static str, [(&'static str, &'static str); 3]); 2] {
    let about = |name, units, long_name, standard_name| {
        let units = ("units", units);
        (name, [units, ("long_name", long_name), ("standard_name", standard_name)])
    };
    match of {
        Coordinates::Degrees => [
            about("lon", "degrees_east", "longitude", "longitude"),
            about("lat", "degrees_north", "latitude", "latitude"),
        ],
        Coordinates::Metres => [
            about("x", "m", "distance along x", "projection_x_coordinate"),
            about("y", "m", "distance along y", "projection_y_coordinate"),
        ],
    }
}

/// A NetCDF file with the unlimited dimension `time`.
#[derive(Debug)]
pub(super) struct AppendFile {
    file: FlushingFile,
    pending: AtomicFile,
    /// Seconds from the reference time of the file to the start of the run.
    offset: f64,
    times: usize,
    /// Variables that the run excludes.
    left_out: Vec<&'static str>,
}

impl AppendFile {
    /// Starts a file with the attribute `title`.
    pub(super) fn create(pending: AtomicFile, header: &Header, title: &str) -> Result<Self> {
        let file = FlushingFile::create(pending.path()).map_err(|e| pending.failed(e))?;
        let offset = 60.0 * calendar::minutes(header.domain.start, header.start);
        let left_out = header.left_out.clone();
        let mut growing = Self { file, pending, offset, times: 0, left_out };
        growing.define(|file| {
            let attributes = [
                ("Conventions", "CF-1.11"),
                ("title", title),
                ("institution", "not stated"),
                ("source", concat!("nwp-mini ", env!("CARGO_PKG_VERSION"))),
                ("references", "Skamarock and others, ARW Technical Note, version 4"),
            ];
            for (name, text) in attributes {
                file.add_attribute(name, text)?;
            }
            for (name, value) in &header.provenance {
                match value {
                    Attribute::Number(x) => file.add_attribute(name, *x)?,
                    Attribute::Text(text) => file.add_attribute(name, text.as_str())?,
                };
            }
            file.add_unlimited_dimension("time")?;
            let mut time = file.add_variable::<f64>("time", &["time"])?;
            let since = calendar::format(header.domain.start).replace('_', " ");
            time.put_attribute("units", format!("seconds since {since}"))?;
            time.put_attribute("long_name", "time")?;
            time.put_attribute("standard_name", "time")?;
            time.put_attribute("calendar", "proleptic_gregorian")?;
            time.put_attribute("units_metadata", "leap_seconds: none")?;
            time.put_attribute("axis", "T")?;
            Ok(())
        })?;
        Ok(growing)
    }

    /// The final name of the file.
    pub(super) fn target(&self) -> &Path {
        self.pending.target()
    }

    /// Adds the variables that are written once, at the start.
    pub(super) fn define(
        &mut self,
        add: impl FnOnce(&mut FileMut) -> netcdf::Result<()>,
    ) -> Result<()> {
        self.file.file().and_then(add).map_err(|e| self.pending.failed(e))
    }

    /// Adds a variable, unless the run excludes it.
    pub(super) fn variable<R: Stored>(&mut self, about: &VariableInfo<'_>) -> Result<()> {
        if is_left_out(&self.left_out, about.name) {
            return Ok(());
        }
        self.define(|file| {
            let mut variable = file.add_variable::<R>(about.name, about.dimensions)?;
            if about.dimensions.len() > 2 {
                variable.set_compression(DEFLATE, true)?;
            }
            if !about.chunks.is_empty() {
                variable.set_chunking(about.chunks)?;
            }
            if about.has_gaps {
                variable.set_fill_value(R::of(MISSING))?;
            }
            let attributes = [
                ("units", about.units),
                ("long_name", &*about.long_name),
                ("standard_name", about.standard_name.unwrap_or_default()),
                ("coordinates", about.coordinates),
            ];
            for (name, text) in attributes.into_iter().filter(|(_, text)| !text.is_empty()) {
                variable.put_attribute(name, text)?;
            }
            Ok(())
        })
    }

    /// Adds a variable with all its values and further attributes.
    pub(super) fn fixed<T: NcTypeDescriptor>(
        &mut self,
        name: &str,
        dimensions: &[&str],
        attributes: &[(&str, &str)],
        values: &[T],
    ) -> Result<()> {
        self.define(|file| {
            let mut variable = file.add_variable::<T>(name, dimensions)?;
            for (name, text) in attributes {
                variable.put_attribute(name, *text)?;
            }
            variable.put_values(values, ..)
        })
    }

    /// Adds an attribute to a variable, unless the run excludes that.
    pub(super) fn attribute(
        &mut self,
        variable: &str,
        name: &str,
        value: impl Into<AttributeValue>,
    ) -> Result<()> {
        if is_left_out(&self.left_out, variable) {
            return Ok(());
        }
        self.define(|file| existing(file, variable)?.put_attribute(name, value).map(drop))
    }

    /// Begins the next time, `seconds` after the start of the run.
    pub(super) fn begin(&mut self, seconds: f64) -> Result<()> {
        let (at, seconds) = (self.times, self.offset + seconds);
        self.times += 1;
        self.define(|file| existing(file, "time")?.put_value(seconds, [at]))
    }

    /// Writes the values of a variable at the current time, unless the run excludes it. `along` are the lengths of its
    /// other dimensions, the first `before` of which precede time.
    pub(super) fn now<R: Stored>(
        &mut self,
        name: &str,
        before: usize,
        along: &[usize],
        values: &[R],
    ) -> Result<()> {
        if is_left_out(&self.left_out, name) {
            return Ok(());
        }
        let at = self.times - 1;
        let mut extents: Vec<Range<usize>> = along.iter().map(|n| 0..*n).collect();
        extents.insert(before, at..at + 1);
        self.define(|file| existing(file, name)?.put_values(values, extents))?;
        self.file.count_written(size_of_val(values)).map_err(|e| self.pending.failed(e))
    }

    /// Copies the file as it is now to its final name.
    pub(super) fn publish(&mut self) -> Result<()> {
        self.file.sync().map_err(|e| self.pending.failed(e))?;
        self.pending.publish()
    }

    /// Completes the file and renames it to its final name.
    pub(super) fn commit(self) -> Result<()> {
        let Self { file, pending, .. } = self;
        file.close().map_err(|e| pending.failed(e))?;
        pending.commit()
    }
}

//! NetCDF behind the seam: the library defines a file; HDF5 fills its frames, and the library other blocks (`blocks`).

pub(in crate::io) mod blocks;
pub(in crate::io) mod chunks;
pub mod digest;
pub(in crate::io) mod frames;
pub(in crate::io) mod hdf5_lock;
pub mod nc_char;
pub(in crate::io) mod types;

use std::path::Path;

use netcdf::{FileMut, VariableMut};

use crate::error::{Error, Result};
use crate::io::attribute::AttributeValue;
use crate::io::kind::Kind;
use crate::io::store::atomic_file::AtomicFile;
use crate::io::store::format::{Definition, Done, Field, Form, Schema, Store, Values};
use crate::io::store::rounding_attributes::tell;
use frames::FrameFile;
use nc_char::NcChar;

/// The message of the library.
#[expect(clippy::needless_pass_by_value, reason = "the form that map_err takes")]
fn message(error: netcdf::Error) -> String {
    error.to_string()
}

/// A variable that must exist.
fn existing<'f>(file: &'f mut FileMut, name: &str) -> netcdf::Result<VariableMut<'f>> {
    file.variable_mut(name).ok_or_else(|| format!("no variable {name}").into())
}

impl Schema for FileMut {
    fn dimension(&mut self, name: &str, length: Option<usize>) -> Done {
        match length {
            None => self.add_unlimited_dimension(name).map(drop),
            Some(length) => self.add_dimension(name, length).map(drop),
        }
        .map_err(message)
    }

    fn length_of(&self, dimension: &str) -> Option<usize> {
        self.dimension_len(dimension)
    }

    fn variable(&mut self, about: &Definition<'_>) -> Done {
        let Definition { name, kind, dimensions, chunks, compression, fill } = about;
        let mut variable = self
            .add_variable_with_type(name, dimensions, &types::stored(*kind)?)
            .map_err(message)?;
        if let Some(chunks) = chunks {
            variable.set_chunking(chunks).map_err(message)?;
        }
        if let Some(level) = compression.deflate() {
            variable.set_compression(level, true).map_err(message)?;
        }
        match fill {
            Some(fill) if *kind == Kind::Float => variable.set_fill_value(*fill as f32),
            Some(fill) => variable.set_fill_value(*fill),
            None => Ok(()),
        }
        .map_err(message)
    }

    fn has(&self, variable: &str) -> bool {
        netcdf::File::variable(self, variable).is_some()
    }

    fn attribute(&mut self, of: Option<&str>, name: &str, value: AttributeValue) -> Done {
        let value = types::attribute(value)?;
        match of {
            None => self.add_attribute(name, value).map(drop),
            Some(variable) => existing(self, variable)
                .and_then(|mut variable| variable.put_attribute(name, value).map(drop)),
        }
        .map_err(message)
    }

    fn text_of(&self, variable: &str, name: &str) -> Option<String> {
        match netcdf::File::variable(self, variable)?.attribute_value(name)?.ok()? {
            netcdf::AttributeValue::Str(text) => Some(text),
            _ => None,
        }
    }

    fn fill(&mut self, name: &str, values: Values<'_>) -> Done {
        let put = |file: &mut FileMut| -> netcdf::Result<()> {
            let mut variable = existing(file, name)?;
            match values {
                Values::Single(values) => variable.put_values(values, ..),
                Values::Double(values) => variable.put_values(values, ..),
                Values::Whole(values) => variable.put_values(values, ..),
                Values::Text(text) => variable.put_values(&NcChar::of(text), ..),
            }
        };
        put(self).map_err(message)
    }
}

/// A NetCDF file of frames, under a temporary name until it is complete.
#[derive(Debug)]
pub(in crate::io) struct NetcdfStore {
    pending: AtomicFile,
    form: Option<Form>,
    body: Body,
}

/// Who has the file open.
#[derive(Debug)]
enum Body {
    /// Nobody: it is not begun, or is being handed over.
    Closed,
    /// The NetCDF library, which defines it.
    Defined(FileMut),
    /// HDF5, which fills it.
    Filled(FrameFile),
}

impl NetcdfStore {
    /// An output of this name.
    pub(in crate::io) fn new(pending: AtomicFile) -> Self {
        Self { pending, form: None, body: Body::Closed }
    }

    /// The file while it is defined.
    fn defined(&mut self) -> std::result::Result<&mut FileMut, String> {
        match &mut self.body {
            Body::Defined(file) => Ok(file),
            _ => Err("the file is complete in its variables".to_owned()),
        }
    }

    /// The file while it is filled.
    fn filled(&mut self) -> std::result::Result<&mut FrameFile, String> {
        if !matches!(self.body, Body::Filled(_)) {
            if let Body::Defined(file) = std::mem::replace(&mut self.body, Body::Closed) {
                file.close().map_err(message)?;
            }
            let form = self.form.clone().ok_or("the file is not begun")?;
            self.body = Body::Filled(FrameFile::open(self.pending.path(), form)?);
        }
        match &mut self.body {
            Body::Filled(file) => Ok(file),
            _ => Err("the file is not open".to_owned()),
        }
    }

    /// Closes the file and adds the attributes about rounding.
    fn close(&mut self) -> Done {
        match std::mem::replace(&mut self.body, Body::Closed) {
            Body::Closed => {}
            Body::Defined(file) => file.close().map_err(message)?,
            Body::Filled(file) => file.close()?,
        }
        let kept = self.form.as_ref().map(|form| form.statistics.kept()).unwrap_or_default();
        if kept.is_empty() {
            return Ok(());
        }
        let mut file = netcdf::append(self.pending.path()).map_err(message)?;
        tell(&mut file, &kept)?;
        file.close().map_err(message)
    }

    /// Makes the file readable, which stays open for more frames unless values are rounded.
    fn whole(&mut self) -> Done {
        let is_rounded = self.form.as_ref().is_some_and(|form| !form.statistics.kept().is_empty());
        if is_rounded { self.close() } else { self.filled()?.sync() }
    }
}

impl Schema for NetcdfStore {
    fn dimension(&mut self, name: &str, length: Option<usize>) -> Done {
        self.defined()?.dimension(name, length)
    }

    fn length_of(&self, dimension: &str) -> Option<usize> {
        match &self.body {
            Body::Defined(file) => file.length_of(dimension),
            _ => None,
        }
    }

    fn variable(&mut self, about: &Definition<'_>) -> Done {
        Schema::variable(self.defined()?, about)
    }

    fn has(&self, variable: &str) -> bool {
        matches!(&self.body, Body::Defined(file) if file.has(variable))
    }

    fn attribute(&mut self, of: Option<&str>, name: &str, value: AttributeValue) -> Done {
        Schema::attribute(self.defined()?, of, name, value)
    }

    fn text_of(&self, variable: &str, name: &str) -> Option<String> {
        match &self.body {
            Body::Defined(file) => file.text_of(variable, name),
            _ => None,
        }
    }

    fn fill(&mut self, name: &str, values: Values<'_>) -> Done {
        self.defined()?.fill(name, values)
    }
}

impl Store for NetcdfStore {
    fn target(&self) -> &Path {
        self.pending.target()
    }

    fn failed(&self, reason: String) -> Error {
        self.pending.failed(reason)
    }

    fn create(&mut self, form: &Form) -> Done {
        self.body = Body::Defined(netcdf::create(self.pending.path()).map_err(message)?);
        self.form = Some(form.clone());
        Ok(())
    }

    fn begin(&mut self, frame: usize) -> Done {
        self.filled()?.begin(frame)
    }

    fn put(&mut self, name: &'static str, frame: usize, values: Values<'_>) -> Done {
        self.filled()?.put(name, frame, values)
    }

    fn put_fields(&mut self, frame: usize, fields: &[Field<'_>]) -> Done {
        self.filled()?.put_fields(frame, fields)
    }

    fn end(&mut self, frame: usize) -> Done {
        self.filled()?.end(frame);
        Ok(())
    }

    fn publish(&mut self) -> Result<()> {
        self.whole().map_err(|e| self.pending.failed(e))?;
        self.pending.publish()
    }

    fn commit(mut self: Box<Self>) -> Result<()> {
        self.filled().map(drop).and_then(|()| self.close()).map_err(|e| self.pending.failed(e))?;
        self.pending.commit()
    }
}

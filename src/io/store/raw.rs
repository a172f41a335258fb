//! A second store, for tests: a folder of raw values, and a list of what was said of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use netcdf::AttributeValue;

use crate::error::{Error, Result};
use crate::io::store::format::{Definition, Done, Field, Form, Schema, Store, Values};

/// A folder of raw values: `name.frame`, or `name` if it does not grow.
#[derive(Debug)]
pub(crate) struct RawStore {
    folder: PathBuf,
    dimensions: BTreeMap<String, Option<usize>>,
    attributes: BTreeMap<(Option<String>, String), AttributeValue>,
    variables: Vec<String>,
    /// Frames that are begun and that are complete.
    frames: [usize; 2],
}

impl RawStore {
    /// A store in an existing folder.
    pub(crate) fn new(folder: &Path) -> Self {
        let (folder, variables) = (folder.to_owned(), Vec::new());
        let (dimensions, attributes) = (BTreeMap::new(), BTreeMap::new());
        Self { folder, dimensions, attributes, variables, frames: [0; 2] }
    }

    fn write(&self, name: &str, values: Values<'_>) -> Done {
        fs::write(self.folder.join(name), values.plain()).map_err(|e| e.to_string())
    }

    fn is_known(&self, name: &str) -> Done {
        if self.has(name) { Ok(()) } else { Err(format!("no variable {name}")) }
    }
}

impl Schema for RawStore {
    fn dimension(&mut self, name: &str, length: Option<usize>) -> Done {
        self.dimensions.insert(name.to_owned(), length);
        Ok(())
    }

    fn length_of(&self, dimension: &str) -> Option<usize> {
        *self.dimensions.get(dimension)?
    }

    fn variable(&mut self, about: &Definition<'_>) -> Done {
        let unknown = about.dimensions.iter().find(|name| !self.dimensions.contains_key(**name));
        self.variables.push(about.name.to_owned());
        unknown.map_or(Ok(()), |name| Err(format!("no dimension {name}")))
    }

    fn has(&self, variable: &str) -> bool {
        self.variables.iter().any(|name| name == variable)
    }

    fn attribute(&mut self, of: Option<&str>, name: &str, value: AttributeValue) -> Done {
        of.map_or(Ok(()), |variable| self.is_known(variable))?;
        self.attributes.insert((of.map(str::to_owned), name.to_owned()), value);
        Ok(())
    }

    fn text_of(&self, variable: &str, name: &str) -> Option<String> {
        match self.attributes.get(&(Some(variable.to_owned()), name.to_owned()))? {
            AttributeValue::Str(text) => Some(text.clone()),
            _ => None,
        }
    }

    fn fill(&mut self, name: &str, values: Values<'_>) -> Done {
        self.is_known(name)?;
        self.write(name, values)
    }
}

impl Store for RawStore {
    fn target(&self) -> &Path {
        &self.folder
    }

    fn failed(&self, reason: String) -> Error {
        Error::io(&self.folder, "write to", reason)
    }

    fn create(&mut self, _form: &Form) -> Done {
        Ok(())
    }

    fn begin(&mut self, frame: usize) -> Done {
        self.frames[0] = frame + 1;
        Ok(())
    }

    fn put(&mut self, name: &'static str, frame: usize, values: Values<'_>) -> Done {
        self.is_known(name)?;
        self.write(&format!("{name}.{frame}"), values)
    }

    fn put_fields(&mut self, frame: usize, fields: &[Field<'_>]) -> Done {
        fields.iter().try_for_each(|field| self.put(field.about.name, frame, field.values))
    }

    fn end(&mut self, frame: usize) -> Done {
        self.frames[1] = frame + 1;
        Ok(())
    }

    fn publish(&mut self) -> Result<()> {
        Ok(())
    }

    fn commit(self: Box<Self>) -> Result<()> {
        assert_eq!(self.frames[0], self.frames[1], "every frame that is begun is ended");
        Ok(())
    }
}

//! A second format, for tests: folders of raw values, and a list of what was said of them. It takes all outputs that a
//! thread begins within [`instead`], beside each of which, under its own name, nothing is left.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::io::attribute::AttributeValue;
use crate::io::store::format::{BlockStore, Definition, Done, Field, Form, Schema, Store, Values};

thread_local! {
    static FOLDER: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
}

/// Calls something, the outputs of which become folders in this one.
pub(crate) fn instead<T>(folder: &Path, call: impl FnOnce() -> T) -> T {
    FOLDER.set(Some(folder.to_owned()));
    let done = call();
    FOLDER.set(None);
    done
}

/// The folder for an output of this name, within [`instead`].
pub(in crate::io) fn asked(target: &Path) -> Option<RawStore> {
    let folder = FOLDER.with_borrow(Option::clone)?.join(target.file_name()?);
    fs::create_dir_all(&folder).expect("a folder");
    Some(RawStore::new(&folder))
}

/// Name of the file with a block of a variable.
fn of_block(name: &str, block: &[Range<usize>]) -> String {
    let ranges: Vec<String> = block.iter().map(|range| format!("{range:?}")).collect();
    format!("{name}@{}", ranges.join(","))
}

/// The variable and the block of a file; no block for a file with all values.
pub(crate) fn block_of(file: &str) -> (&str, Option<Vec<Range<usize>>>) {
    let Some((name, ranges)) = file.split_once('@') else { return (file, None) };
    let number = |text: &str| text.parse().expect("a whole number");
    let ranges = ranges.split(',').map(|range| {
        let (begin, end) = range.split_once("..").expect("a range");
        number(begin)..number(end)
    });
    (name, Some(ranges.collect()))
}

/// A folder of raw values: `name@ranges`, or `name` if they are all of a variable.
#[derive(Debug)]
pub(crate) struct RawStore {
    folder: PathBuf,
    dimensions: BTreeMap<String, Option<usize>>,
    attributes: BTreeMap<(Option<String>, String), AttributeValue>,
    /// Dimensions of each variable.
    variables: BTreeMap<String, Vec<String>>,
    /// Frames that are begun and that are complete.
    frames: [usize; 2],
}

impl RawStore {
    /// A store in an existing folder.
    pub(crate) fn new(folder: &Path) -> Self {
        let (folder, variables) = (folder.to_owned(), BTreeMap::new());
        let (dimensions, attributes) = (BTreeMap::new(), BTreeMap::new());
        Self { folder, dimensions, attributes, variables, frames: [0; 2] }
    }

    fn write(&self, name: &str, values: Values<'_>) -> Done {
        fs::write(self.folder.join(name), values.plain()).map_err(|e| e.to_string())
    }

    fn dimensions_of(&self, name: &str) -> std::result::Result<&Vec<String>, String> {
        self.variables.get(name).ok_or_else(|| format!("no variable {name}"))
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
        let owned = about.dimensions.iter().map(|name| (*name).to_owned()).collect();
        self.variables.insert(about.name.to_owned(), owned);
        unknown.map_or(Ok(()), |name| Err(format!("no dimension {name}")))
    }

    fn has(&self, variable: &str) -> bool {
        self.variables.contains_key(variable)
    }

    fn attribute(&mut self, of: Option<&str>, name: &str, value: AttributeValue) -> Done {
        of.map(|variable| self.dimensions_of(variable)).transpose()?;
        self.attributes.insert((of.map(str::to_owned), name.to_owned()), value);
        Ok(())
    }

    fn text_of(&self, variable: &str, name: &str) -> Option<String> {
        match self.attributes.get(&(Some(variable.to_owned()), name.to_owned()))? {
            AttributeValue::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    fn fill(&mut self, name: &str, values: Values<'_>) -> Done {
        self.dimensions_of(name)?;
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
        let axis = |name: &str| format!("no length of {name}");
        let along = self.dimensions_of(name)?;
        let along = along.iter().skip(1);
        let lengths = along.map(|name| self.length_of(name).ok_or_else(|| axis(name)));
        let lengths = lengths.collect::<std::result::Result<Vec<usize>, _>>()?;
        let rest = lengths.into_iter().map(|length| 0..length);
        let block: Vec<_> = std::iter::once(frame..frame + 1).chain(rest).collect();
        self.write(&of_block(name, &block), values)
    }

    fn put_fields(&mut self, frame: usize, fields: &[Field<'_>]) -> Done {
        fields.iter().try_for_each(|field| Store::put(self, field.about.name, frame, field.values))
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

impl BlockStore for RawStore {
    fn target(&self) -> &Path {
        &self.folder
    }

    fn failed(&self, reason: String) -> Error {
        Store::failed(self, reason)
    }

    fn create(&mut self) -> Done {
        Ok(())
    }

    fn put(&mut self, name: &str, block: &[Range<usize>], values: Values<'_>) -> Done {
        let along = self.dimensions_of(name)?.len();
        if along != block.len() {
            return Err(format!(
                "{name} has {along} dimensions, and {block:?} is a block of others"
            ));
        }
        self.write(&of_block(name, block), values)
    }

    fn relieve(&mut self, _bytes: usize) -> Done {
        Ok(())
    }

    fn digest(&mut self, _except: &str) -> std::result::Result<String, String> {
        Ok("not computed".to_owned())
    }

    fn publish(&mut self) -> Result<()> {
        Ok(())
    }

    fn deliver(&mut self) -> Result<()> {
        Ok(())
    }

    fn commit(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

//! Zarr behind the seam: a folder of chunks, version 3 of the format.
//!
//! A frame is written in this order: its chunks, the metadata of the arrays, then that of the root, which holds the
//! metadata of all arrays too. A reader that begins at the root therefore sees whole frames only, at any time.
//!
//! Source: Zarr core specification, version 3.1; the codecs `sharding_indexed`, `bytes`, `blosc`, `crc32c` and
//! `vlen-utf8`. A variable of several chunks is stored in shards, which hold them with an index at the end.
//!
//! # Decisions
//!
//! **Shards are cut in levels and rows, by the shape of the grid alone** (`shards`): at most 64 MB each, of chunks of
//! about 1 MB. Shards are written side by side, each by the thread that has encoded it, so that nothing is collected;
//! their bytes do not depend on the number of threads.
//!
//! **Several processes may write the shards of one store,** each shard by one of them. One defines it and writes all
//! metadata, after the others have finished their shards of the frame.
//!
//! **A store stands under its own name from the first complete frame on,** and before that in a hidden folder beside it.
//! A run that is killed leaves whole frames.
//!
//! **Texts are of the type `string`,** one for each time, since readers of Zarr know no characters. A missing chunk of
//! floats reads as NaN, a missing value.

mod metadata;
mod place;
mod shards;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::io::attribute::AttributeValue;
use crate::io::kind::Kind;
use crate::io::store::format::{Definition, Done, Field, Form, Schema, Store, Values};
use crate::io::store::rounding_attributes::tell;
use crate::io::store::storage::Compression;
use metadata::{Array, Attributes};
use place::{Place, write_whole};
use shards::Packer;
pub(super) use shards::Shards;

/// Name of the dimension that grows.
const TIME: &str = "Time";

/// A Zarr store being written.
#[derive(Debug)]
pub(in crate::io) struct ZarrStore {
    place: Place,
    form: Option<Form>,
    attributes: Attributes,
    dimensions: Vec<(String, Option<usize>)>,
    /// In the order of their definition.
    arrays: Vec<Array>,
    /// Complete frames.
    frames: usize,
    /// Fields that are the same in all frames and are stored, with the frame that has them.
    lasting: BTreeMap<&'static str, usize>,
    /// Folders that exist.
    folders: BTreeSet<PathBuf>,
    /// Chunks, within the store, that may not be on the disk yet.
    unsynced: Vec<PathBuf>,
}

impl ZarrStore {
    /// A store of this name.
    pub(in crate::io) fn new(target: &Path, force: bool) -> Result<Self> {
        Place::new(target, force).map(Self::at)
    }

    fn at(place: Place) -> Self {
        let (form, attributes, folders) = (None, Attributes::new(), BTreeSet::new());
        let (dimensions, arrays) = (Vec::new(), Vec::new());
        let lasting = BTreeMap::new();
        Self {
            place,
            form,
            attributes,
            dimensions,
            arrays,
            frames: 0,
            lasting,
            folders,
            unsynced: Vec::new(),
        }
    }

    /// The shards of a store that another process defines, of which this one writes some.
    pub(in crate::io) fn joined(target: &Path) -> Self {
        Self::at(Place::joined(target))
    }

    fn array(&self, name: &str) -> std::result::Result<&Array, String> {
        let found = self.arrays.iter().find(|array| array.name == name);
        found.ok_or_else(|| format!("no variable {name}"))
    }

    /// Path of a chunk, whose folder exists after the call.
    fn chunk(&mut self, name: &str, at: &[usize]) -> std::result::Result<PathBuf, String> {
        let inside = Path::new(name).join(metadata::chunk_key(at));
        let path = self.place.path().join(&inside);
        self.unsynced.push(inside);
        let Some(folder) = path.parent() else { return Ok(path) };
        if !self.folders.contains(folder) {
            fs::create_dir_all(folder).map_err(|e| e.to_string())?;
            self.folders.insert(folder.to_owned());
        }
        Ok(path)
    }

    /// Writes the metadata of the arrays, then those of the root.
    fn describe(&self) -> Done {
        for array in &self.arrays {
            let path = self.place.path().join(&array.name).join(metadata::NAME);
            write_whole(&path, &array.document(self.frames))?;
        }
        let root = metadata::root(&self.attributes, &self.arrays, self.frames);
        write_whole(&self.place.path().join(metadata::NAME), &root)
    }
}

impl Schema for ZarrStore {
    fn dimension(&mut self, name: &str, length: Option<usize>) -> Done {
        self.dimensions.push((name.to_owned(), length));
        Ok(())
    }

    fn length_of(&self, dimension: &str) -> Option<usize> {
        self.dimensions.iter().find(|(name, _)| name == dimension)?.1
    }

    fn variable(&mut self, about: &Definition<'_>) -> Done {
        let of = |name: &str| {
            let found = self.dimensions.iter().find(|(other, _)| other == name);
            found.map(|(_, length)| *length).ok_or_else(|| format!("no dimension {name}"))
        };
        // The last dimension of characters is the length of a text.
        let dimensions = match about.kind {
            Kind::Char => &about.dimensions[..about.dimensions.len().saturating_sub(1)],
            _ => about.dimensions,
        };
        let dimensions = dimensions.iter().map(|name| Ok(((*name).to_owned(), of(name)?)));
        let dimensions = dimensions.collect::<std::result::Result<_, String>>()?;
        fs::create_dir_all(self.place.path().join(about.name)).map_err(|e| e.to_string())?;
        self.arrays.push(Array::new(about, dimensions)?);
        Ok(())
    }

    fn has(&self, variable: &str) -> bool {
        self.array(variable).is_ok()
    }

    fn attribute(&mut self, of: Option<&str>, name: &str, value: AttributeValue) -> Done {
        let attributes = match of {
            None => &mut self.attributes,
            Some(variable) => {
                let found = self.arrays.iter_mut().find(|array| array.name == variable);
                &mut found.ok_or_else(|| format!("no variable {variable}"))?.attributes
            }
        };
        metadata::put(attributes, name, value);
        Ok(())
    }

    fn text_of(&self, variable: &str, name: &str) -> Option<String> {
        metadata::text(&self.array(variable).ok()?.attributes, name)
    }

    fn fill(&mut self, name: &str, values: Values<'_>) -> Done {
        let at = vec![0; self.array(name)?.dimensions.len()];
        let path = self.chunk(name, &at)?;
        fs::write(path, values.plain()).map_err(|e| e.to_string())
    }
}

impl Store for ZarrStore {
    fn target(&self) -> &Path {
        self.place.target()
    }

    fn failed(&self, reason: String) -> Error {
        Error::io(self.place.target(), "write to", reason)
    }

    fn create(&mut self, form: &Form) -> Done {
        self.form = Some(form.clone());
        Ok(())
    }

    fn begin(&mut self, _frame: usize) -> Done {
        Ok(())
    }

    fn put(&mut self, name: &'static str, frame: usize, values: Values<'_>) -> Done {
        let rest = self.array(name)?.dimensions.len().saturating_sub(1);
        let at: Vec<usize> = std::iter::once(frame).chain(std::iter::repeat_n(0, rest)).collect();
        let bytes = match values {
            Values::Text(text) => metadata::vlen_utf8(text),
            values => values.plain(),
        };
        fs::write(self.chunk(name, &at)?, bytes).map_err(|e| e.to_string())
    }

    fn put_fields(&mut self, frame: usize, fields: &[Field<'_>]) -> Done {
        let form = self.form.clone().ok_or("the store is not begun")?;
        let mut tasks = Vec::new();
        for field in fields {
            let name = field.about.name;
            let size = field.values.size();
            let shards = Shards::of(field.about.axes, form.shape, size)
                .ok_or_else(|| format!("{name} is neither a volume nor a plane"))?;
            let same_as = self.lasting.get(name).copied();
            let same_as = same_as.filter(|before| field.lasts && *before < frame);
            for shard in shards.of_field(field) {
                let path = self.chunk(name, &shard.at(frame))?;
                let stored = same_as.map(|frame| {
                    self.place.path().join(name).join(metadata::chunk_key(&shard.at(frame)))
                });
                tasks.push((field, shards, shard, path, stored));
            }
            if field.lasts {
                self.lasting.entry(name).or_insert(frame);
            }
        }
        // Threads that are left when every shard has one.
        let side_by_side = rayon::current_num_threads().div_ceil(tasks.len().max(1));
        tasks.into_par_iter().try_for_each(|(field, shards, shard, path, stored)| {
            let raw = shard.values() * field.values.size();
            let written = if let Some(stored) = stored {
                fs::copy(stored, path).map_err(|e| e.to_string())?
            } else {
                let packer = Packer::new(form.compression, field.values.size())?;
                shards.write(field, &shard, &packer, side_by_side, &path)?
            };
            form.statistics.count(raw, written as usize);
            Ok(())
        })
    }

    fn end(&mut self, frame: usize) -> Done {
        self.frames = frame + 1;
        if self.place.is_own() {
            let kept = self.form.as_ref().map(|form| form.statistics.kept()).unwrap_or_default();
            tell(self, &kept)?;
            self.describe()?;
        }
        let before = self.place.path().to_owned();
        if self.place.settle()? {
            // The folders have moved with the store.
            let moved = |path: PathBuf| match path.strip_prefix(&before) {
                Ok(inside) => self.place.path().join(inside),
                Err(_) => path,
            };
            self.folders = std::mem::take(&mut self.folders).into_iter().map(moved).collect();
        }
        Ok(())
    }

    /// The store has its name already; what it holds is brought to the disk.
    fn publish(&mut self) -> Result<()> {
        let arrays = self.arrays.iter().filter(|_| self.place.is_own());
        let documents = arrays.map(|array| Path::new(&array.name).join(metadata::NAME));
        let files: Vec<PathBuf> = self.unsynced.drain(..).chain(documents).collect();
        self.place.sync(&files).map_err(|e| self.failed(e))
    }

    fn commit(mut self: Box<Self>) -> Result<()> {
        if self.frames == 0 && self.place.is_own() {
            self.describe().map_err(|e| self.failed(e))?;
            self.place.settle().map_err(|e| self.failed(e))?;
        }
        Ok(())
    }
}

/// The codec of a compression, and its level.
fn level(compression: Compression) -> Option<u8> {
    match compression {
        Compression::None => None,
        Compression::Fast => Some(1),
        Compression::Small => Some(5),
    }
}

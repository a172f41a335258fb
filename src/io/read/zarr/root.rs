//! The top of a store: names and metadata of its arrays.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::os_text::Shown;

/// Longest document that is read, bytes.
const LONGEST: u64 = 64 << 20;

/// Metadata of an array.
#[derive(Clone, Debug)]
pub(super) struct Document {
    pub(super) own: Map<String, Value>,
    pub(super) attributes: Map<String, Value>,
}

/// What the top of a store holds.
#[derive(Debug, Default)]
pub(super) struct Root {
    pub(super) arrays: BTreeMap<String, Document>,
    pub(super) groups: Vec<String>,
    pub(super) attributes: Map<String, Value>,
}

impl Root {
    /// The top of the store in a folder.
    pub(super) fn read(path: &Path) -> std::result::Result<Self, String> {
        if let Some(mut own) = document(&path.join("zarr.json"))? {
            return match own.get("node_type").and_then(Value::as_str) {
                Some("group") => {
                    let mut root =
                        Self { attributes: take(&mut own, "attributes"), ..Self::default() };
                    let mut inside = take(&mut own, "consolidated_metadata");
                    if inside.is_empty() {
                        root.look(path)?;
                    } else {
                        for (name, own) in take(&mut inside, "metadata") {
                            root.add(&name, own)?;
                        }
                    }
                    Ok(root)
                }
                _ => Err("is a single array of Zarr, not a store; give the folder that holds it"
                    .to_owned()),
            };
        }
        if document(&path.join(".zgroup"))?.is_none() {
            return Err(
                "is a folder without zarr.json or .zgroup, so no Zarr store; a NetCDF file or \
                        the folder of a Zarr store is needed"
                    .to_owned(),
            );
        }
        let attributes = document(&path.join(".zattrs"))?.unwrap_or_default();
        let mut root = Self { attributes, ..Self::default() };
        match document(&path.join(".zmetadata"))? {
            None => root.look(path)?,
            Some(mut all) => {
                let mut all = take(&mut all, "metadata");
                let names: Vec<String> = all
                    .keys()
                    .filter_map(|key| Some(key.strip_suffix("/.zarray")?.to_owned()))
                    .collect();
                for name in names {
                    let own = take(&mut all, &format!("{name}/.zarray"));
                    let attributes = take(&mut all, &format!("{name}/.zattrs"));
                    root.put(&name, Document { own, attributes });
                }
            }
        }
        Ok(root)
    }

    /// Adds the node of a document of version 3.
    fn add(&mut self, name: &str, own: Value) -> std::result::Result<(), String> {
        let Value::Object(mut own) = own else {
            return Err(format!("states no metadata of {name}; the store is damaged"));
        };
        let attributes = take(&mut own, "attributes");
        if own.get("node_type").and_then(Value::as_str) == Some("array") {
            self.put(name, Document { own, attributes });
        } else {
            self.groups.push(name.to_owned());
        }
        Ok(())
    }

    /// Adds an array; one inside of a group is not read.
    fn put(&mut self, name: &str, document: Document) {
        if name.is_empty() || name.starts_with('.') || name.contains('/') {
            self.groups.extend(name.split('/').next().map(str::to_owned));
            self.groups.dedup();
        } else {
            self.arrays.insert(name.to_owned(), document);
        }
    }

    /// Adds what lies in the folder.
    fn look(&mut self, path: &Path) -> std::result::Result<(), String> {
        let failed = |e: std::io::Error| e.to_string();
        for entry in fs::read_dir(path).map_err(failed)? {
            let folder: PathBuf = entry.map_err(failed)?.path();
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if let Some(own) = document(&folder.join("zarr.json"))? {
                self.add(&name, Value::Object(own))?;
            } else if let Some(own) = document(&folder.join(".zarray"))? {
                let attributes = document(&folder.join(".zattrs"))?.unwrap_or_default();
                self.put(&name, Document { own, attributes });
            }
        }
        Ok(())
    }
}

/// An entry that is an object, or an empty one.
fn take(from: &mut Map<String, Value>, name: &str) -> Map<String, Value> {
    match from.remove(name) {
        Some(Value::Object(inside)) => inside,
        _ => Map::new(),
    }
}

/// A document; `None` if there is no such file.
fn document(path: &Path) -> std::result::Result<Option<Map<String, Value>>, String> {
    let name = path.shown();
    if !path.is_file() {
        return Ok(None);
    }
    let mut text = Vec::new();
    let file = fs::File::open(path).map_err(|e| format!("{name} cannot be read ({e})"))?;
    file.take(LONGEST)
        .read_to_end(&mut text)
        .map_err(|e| format!("{name} cannot be read ({e})"))?;
    match serde_json::from_slice(&text) {
        Ok(Value::Object(all)) => Ok(Some(all)),
        Ok(_) => Err(format!("{name} is no object of JSON; copy or create the store again")),
        Err(e) => Err(format!("{name} is not JSON ({e}); copy or create the store again")),
    }
}

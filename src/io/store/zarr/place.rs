//! The folder of a store: hidden until it has a complete frame, then under its own name.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::io::store::atomic_file::FileLock;
use crate::io::store::destination::{folder_of, refuse_existing};
use crate::os_text::Shown;

/// Names at the top of a store that are no arrays; the last is what a run leaves that is killed while it writes the
/// first.
const DOCUMENTS: [&str; 5] = ["zarr.json", ".zgroup", ".zattrs", ".zmetadata", "zarr.json.part"];
/// Names of which a folder of an array or of a group has one.
const OF_NODE: [&str; 3] = ["zarr.json", ".zarray", ".zgroup"];

/// A folder being written.
#[derive(Debug)]
pub(super) struct Place {
    /// The name as the user gave it.
    target: PathBuf,
    /// The folder until there is a frame.
    hidden: PathBuf,
    /// A store that is replaced, while the names change.
    old: PathBuf,
    is_settled: bool,
    force: bool,
    /// The lock of the process that defines the store; `None` where this one only adds to it.
    claim: Option<FileLock>,
}

impl Place {
    /// Prepares to write a store, so that an error comes before the computation.
    pub(super) fn new(target: &Path, force: bool) -> Result<Self> {
        let Some(name) = target.file_name() else {
            return Err(Error::input(target, "is not the name of a store to write"));
        };
        let folder = folder_of(target);
        if !folder.is_dir() {
            let message = format!("the folder {} does not exist; create it first", folder.shown());
            return Err(Error::input(target, message));
        }
        refuse(target, force)?;
        let claim = FileLock::new(target, sibling(&folder, name, ".lock"))?;
        let (hidden, old) = (sibling(&folder, name, ".part"), sibling(&folder, name, ".old"));
        // A run that was killed between two names has left the store that it was to replace.
        if old.exists() && !target.exists() {
            fs::rename(&old, target).map_err(|e| Error::io(target, "bring back", e))?;
        }
        refuse(target, force)?;
        let failed = |e| Error::io(target, "write to", e);
        remove(&hidden).and_then(|()| remove(&old)).map_err(failed)?;
        fs::create_dir(&hidden).map_err(failed)?;
        let target = target.to_owned();
        Ok(Self { target, hidden, old, is_settled: false, force, claim: Some(claim) })
    }

    /// The folder of a store that another process has prepared.
    pub(super) fn joined(target: &Path) -> Self {
        let (folder, name) = (folder_of(target), target.file_name().unwrap_or_default());
        let [hidden, old] = [".part", ".old"].map(|what| sibling(&folder, name, what));
        let target = target.to_owned();
        Self { target, hidden, old, is_settled: false, force: false, claim: None }
    }

    /// `true` if this process defines the store.
    pub(super) fn is_own(&self) -> bool {
        self.claim.is_some()
    }

    /// The name as the user gave it.
    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    /// The folder to write into.
    pub(super) fn path(&self) -> &Path {
        if self.is_settled { &self.target } else { &self.hidden }
    }

    /// Gives the folder its own name, if it has not got it; `true` if the name has changed. A process that does not define
    /// the store calls it after the one that does.
    pub(super) fn settle(&mut self) -> std::result::Result<bool, String> {
        if self.is_settled {
            return Ok(false);
        }
        if !self.is_own() {
            self.is_settled = true;
            return Ok(true);
        }
        // Somebody else may have put something there meanwhile.
        refuse(&self.target, self.force).map_err(|e| e.to_string())?;
        let failed = |e: std::io::Error| e.to_string();
        if self.target.exists() {
            fs::rename(&self.target, &self.old).map_err(failed)?;
        }
        fs::rename(&self.hidden, &self.target).map_err(failed)?;
        self.is_settled = true;
        remove(&self.old).map_err(failed)?;
        Ok(true)
    }

    /// Brings files of the store to the disk, then its root.
    pub(super) fn sync(&self, files: &[PathBuf]) -> std::result::Result<(), String> {
        if !self.is_settled {
            return Ok(());
        }
        files
            .par_iter()
            .try_for_each(|inside| sync(&self.target.join(inside)))
            .and_then(|()| if self.is_own() { self.sync_root() } else { Ok(()) })
            .map_err(|e| e.to_string())
    }

    fn sync_root(&self) -> std::io::Result<()> {
        sync(&self.target.join(super::metadata::NAME))?;
        sync(&self.target)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.is_own() && !self.is_settled {
            // What cannot be removed the next run removes.
            let _ = remove(&self.hidden);
        }
    }
}

/// A hidden name beside that of a store.
fn sibling(folder: &Path, name: &OsStr, what: &str) -> PathBuf {
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(what);
    folder.join(hidden)
}

fn sync(path: &Path) -> std::io::Result<()> {
    File::open(path).and_then(|file| file.sync_all())
}

/// Removes a folder, if there is one; a link is removed, not followed.
fn remove(path: &Path) -> std::io::Result<()> {
    match path.symlink_metadata() {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
        Ok(about) if about.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    }
}

/// Fails if the name is taken, unless by a store that may be replaced.
fn refuse(target: &Path, force: bool) -> Result<()> {
    let Ok(about) = target.symlink_metadata() else { return Ok(()) };
    if about.is_symlink() {
        return Err(Error::input(target, "is a link; give the name of a store itself"));
    }
    refuse_existing(target, force)?;
    match foreign(target) {
        Ok(None) => Ok(()),
        Ok(Some(what)) => Err(Error::input(
            target,
            format!(
                "{what}, and nothing but a Zarr store is replaced; choose another name, or move it \
                 away"
            ),
        )),
        Err(e) => Err(Error::io(target, "look into", e)),
    }
}

/// What keeps a folder from being a Zarr store and nothing else.
fn foreign(target: &Path) -> std::io::Result<Option<String>> {
    if !target.is_dir() {
        return Ok(Some("is not a folder".to_owned()));
    }
    if !DOCUMENTS[..2].iter().any(|name| target.join(name).is_file()) {
        return Ok(Some("is a folder without zarr.json or .zgroup".to_owned()));
    }
    for entry in fs::read_dir(target)? {
        let entry = entry?;
        let path = entry.path();
        let is_known = match entry.file_type()? {
            kind if kind.is_dir() => OF_NODE.iter().any(|name| path.join(name).is_file()),
            kind if kind.is_file() => DOCUMENTS.iter().any(|name| entry.file_name() == *name),
            _ => false,
        };
        if !is_known {
            let name = PathBuf::from(entry.file_name());
            return Ok(Some(format!("holds {}, which is no part of a store", name.shown())));
        }
    }
    Ok(None)
}

/// Writes a document at once: a reader finds the old one or the new one.
pub(super) fn write_whole(path: &Path, document: &Value) -> std::result::Result<(), String> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let text = serde_json::to_string_pretty(document).map_err(|e| e.to_string())?;
    fs::write(&part, text).and_then(|()| fs::rename(&part, path)).map_err(|e| e.to_string())
}

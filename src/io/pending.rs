//! A file under a temporary name that takes its own name only when it is complete.

use std::fmt;
use std::fs::{self, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::TempPath;

use crate::error::{Error, Result};

/// Readable and writable by all whom the user's mask admits, as any new file.
const MODE: u32 = 0o666;

/// What is written to learn whether there is room, bytes: more than the library holds back.
const ROOM: usize = 1 << 24;

/// A part of it.
static BLOCK: [u8; 1 << 16] = [0; 1 << 16];

/// An output file in the making. Dropped without [`Pending::commit`], it leaves nothing behind.
#[derive(Debug)]
pub struct Pending {
    target: PathBuf,
    temporary: TempPath,
    force: bool,
}

impl Pending {
    /// Prepares to write `target`, so that a refusal comes before the computation.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] when there is such a file and `force` is not given; [`Error::Input`] when
    /// the folder is missing or the name is that of a folder; [`Error::Io`] when nothing can be
    /// written there.
    pub fn new(target: &Path, force: bool) -> Result<Self> {
        if target.is_dir() {
            return Err(Error::input(target, "is a folder; give the name of a file to write"));
        }
        // The rename at the end would put a file in the place of a device or of a pipe.
        if target.metadata().is_ok_and(|about| !about.is_file()) {
            let message = "is a device or a pipe; give the name of a file to write";
            return Err(Error::input(target, message));
        }
        let Some(name) = target.file_name() else {
            return Err(Error::input(target, "is not the name of a file to write"));
        };
        // A link to nowhere is in the way of the new name too.
        if target.symlink_metadata().is_ok() && !force {
            return Err(Error::Exists(target.to_owned()));
        }
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        if !folder.is_dir() {
            let message =
                format!("the folder {} does not exist; create it first", folder.display());
            return Err(Error::input(target, message));
        }
        let temporary = tempfile::Builder::new()
            .prefix(&format!(".{}.", name.to_string_lossy()))
            .suffix(".part")
            .permissions(Permissions::from_mode(MODE))
            .tempfile_in(folder)
            .map_err(|e| Error::io(target, "write to", e))?
            .into_temp_path();
        Ok(Self { target: target.to_owned(), temporary, force })
    }

    /// Where to write until the file is complete.
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// The name that the complete file gets.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// An [`Error::Io`] about this file that says what the library said, and why.
    ///
    /// NetCDF does not pass on what the system answered. Where there is no room, there is still
    /// none for what is written here.
    pub fn failed(&self, reason: impl fmt::Display) -> Error {
        let append = || -> std::io::Result<()> {
            let mut file = OpenOptions::new().append(true).open(&self.temporary)?;
            for _ in 0..ROOM / BLOCK.len() {
                file.write_all(&BLOCK)?;
            }
            file.sync_data()
        };
        match append() {
            Ok(()) => Error::io(&self.target, "write to", reason),
            Err(cause) => {
                let reason = format!("{cause}; make room or write elsewhere ({reason})");
                Error::io(&self.target, "write to", reason)
            }
        }
    }

    /// Writes a value as JSON and gives the file its name.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when it cannot be written, and those of [`Pending::commit`].
    pub fn write_json(self, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string_pretty(value).map_err(|e| self.failed(e))?;
        self.write_text(&(text + "\n"))
    }

    /// Writes a text and gives the file its name.
    ///
    /// # Errors
    ///
    /// As [`Pending::write_json`].
    pub fn write_text(self, text: &str) -> Result<()> {
        self.write_bytes(text.as_bytes())
    }

    /// Writes bytes and gives the file its name.
    ///
    /// # Errors
    ///
    /// As [`Pending::write_json`].
    pub fn write_bytes(self, bytes: &[u8]) -> Result<()> {
        fs::write(self.path(), bytes).map_err(|e| self.failed(e))?;
        self.commit()
    }

    /// Gives the complete file its name.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] when another program wrote the target meanwhile and it may not be
    /// replaced, [`Error::Io`] when the system refuses.
    pub fn commit(self) -> Result<()> {
        let Self { target, temporary, force } = self;
        let done =
            if force { temporary.persist(&target) } else { temporary.persist_noclobber(&target) };
        done.map_err(|e| match e.error.kind() {
            std::io::ErrorKind::AlreadyExists => Error::Exists(target.clone()),
            _ => Error::io(&target, "write to", e.error),
        })
    }
}

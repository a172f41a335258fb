//! A file under a temporary name that takes its own name only when it is complete.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use crate::error::{Error, Result};

/// Readable and writable by all whom the user's mask admits, as any new file.
const MODE: u32 = 0o666;

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
        let Some(name) = target.file_name() else {
            return Err(Error::input(target, "is not the name of a file to write"));
        };
        if target.exists() && !force {
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

//! A file under a temporary name that takes its own name only when it is complete.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use crate::error::{Error, Result};

/// An output file in the making. Dropped without [`Pending::commit`], it leaves nothing behind.
#[derive(Debug)]
pub struct Pending {
    target: PathBuf,
    temporary: PathBuf,
    force: bool,
}

impl Pending {
    /// Prepares to write `target`.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] when there is such a file and `force` is not given; [`Error::Input`] when
    /// the folder is missing or the name is that of a folder.
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
        let temporary = folder.join(format!(".{}.{}.part", name.to_string_lossy(), process::id()));
        // Found out now rather than after the computation.
        fs::File::create(&temporary).map_err(|e| Error::io(target, "write to", e))?;
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
    /// [`Error::Exists`] when another program wrote the target meanwhile, [`Error::Io`] when the
    /// system refuses.
    pub fn commit(self) -> Result<()> {
        if self.force {
            fs::rename(&self.temporary, &self.target)
                .map_err(|e| Error::io(&self.target, "write to", e))
        } else {
            // A hard link, unlike a rename, never replaces a file that appeared meanwhile.
            match fs::hard_link(&self.temporary, &self.target) {
                Ok(()) => Ok(()),
                Err(_) if self.target.exists() => Err(Error::Exists(self.target.clone())),
                Err(_) => fs::rename(&self.temporary, &self.target)
                    .map_err(|e| Error::io(&self.target, "write to", e)),
            }
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        // After a rename there is nothing left to remove.
        let _ = fs::remove_file(&self.temporary);
    }
}

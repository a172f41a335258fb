//! A file under a temporary name that gets its final name only when it is complete.
//!
//! If the name is a link, its target is written and the link stays. The mode and owner of a replaced file are kept.
//!
//! While `out.nc` is being written, its folder has `.out.nc.part` with the contents so far, and `.out.nc.lock`, whose
//! lock the system releases when the program ends for any reason. The holder of the lock may write the file, and
//! overwrites what a killed run has left.
//!
//! # Decisions
//!
//! **The lock is a separate file beside the output.** HDF5 locks its files itself, with the same system call. The lock
//! ends with the process, and its holder overwrites a file under the temporary name.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::TempPath;
use tracing::warn;

use crate::error::{Error, Result};
use crate::io::store::destination;
use crate::io::store::destination::refuse_existing;
use crate::io::store::netcdf::hdf5_lock;
use crate::os_text::Shown;

/// Length of the trial write that detects a full disk, bytes: more than the library buffers.
const ROOM: usize = 1 << 24;

/// A piece of the trial write.
static BLOCK: [u8; 1 << 16] = [0; 1 << 16];

/// An output file being written. Dropped without [`AtomicFile::commit`], it leaves no file.
///
/// While it exists, no other run of the program can write the target.
#[derive(Debug)]
pub(crate) struct AtomicFile {
    /// The name as the user gave it.
    target: PathBuf,
    /// The file that the name refers to.
    place: PathBuf,
    // Dropped in this order: the incomplete file is removed before the next run may begin its own.
    temporary: TempPath,
    claim: FileLock,
    /// `true` if an existing file may be replaced; a file that this run has written may.
    may_replace: bool,
}

impl AtomicFile {
    /// Prepares to write `target`, so that an error comes before the computation.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] when the file exists and `force` is `false`; [`Error::Input`] when another run is writing it,
    /// when the folder is missing or the name is that of a folder; [`Error::Io`] when the folder is not writable.
    pub(crate) fn new(target: &Path, force: bool) -> Result<Self> {
        if destination::is_zarr(target) {
            let message = "is the name of a Zarr store, and this output is a file; give it another \
                           ending";
            return Err(Error::input(target, message));
        }
        if target.is_dir() {
            return Err(Error::input(target, "is a folder; give the name of a file to write"));
        }
        // The rename at the end would replace a device or a pipe by a file.
        if target.metadata().is_ok_and(|about| !about.is_file()) {
            let message = "is a device or a pipe; give the name of a file to write";
            return Err(Error::input(target, message));
        }
        let place = destination::resolve(target)?;
        let Some(name) = place.file_name() else {
            return Err(Error::input(target, "is not the name of a file to write"));
        };
        refuse_existing(target, force)?;
        let folder = destination::folder_of(&place);
        if !folder.is_dir() {
            let link = if place == target { "" } else { "is a link, and " };
            let message =
                format!("{link}the folder {} does not exist; create it first", folder.shown());
            return Err(Error::input(target, message));
        }
        let sibling = |what: &str| {
            let mut hidden = std::ffi::OsString::from(".");
            hidden.push(name);
            hidden.push(what);
            folder.join(hidden)
        };
        let failed = |e: io::Error| Error::io(target, "write to", e);
        let claim = FileLock::new(target, sibling(".lock"))?;
        // Another run may have completed it in the meantime.
        refuse_existing(target, force)?;
        let part = sibling(".part");
        destination::create(&part, &place).map_err(failed)?;
        let temporary = TempPath::try_from_path(part).map_err(failed)?;
        // A run that was killed while copying may have left this file.
        let _ = fs::remove_file(copy_of(&temporary));
        let target = target.to_owned();
        Ok(Self { target, place, temporary, claim, may_replace: force })
    }

    /// The file of an option, where one is given.
    ///
    /// # Errors
    ///
    /// As [`AtomicFile::new`].
    pub(crate) fn if_asked(target: Option<&Path>, force: bool) -> Result<Option<Self>> {
        target.map(|target| Self::new(target, force)).transpose()
    }

    /// Path for writing until the file is complete.
    pub(crate) fn path(&self) -> &Path {
        &self.temporary
    }

    /// The final name of the file.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// An [`Error::Io`] about this file with the message of the library and the system's reason.
    ///
    /// NetCDF does not pass on the system's error. A trial write finds it, as a full disk is still full, or a trial lock.
    pub(crate) fn failed(&self, reason: impl fmt::Display) -> Error {
        let append = || -> std::io::Result<()> {
            let mut file = OpenOptions::new().append(true).open(&self.temporary)?;
            for _ in 0..ROOM / BLOCK.len() {
                file.write_all(&BLOCK)?;
            }
            file.sync_data()
        };
        match append() {
            Ok(()) => {
                let locked = hdf5_lock::refusal_to_write(&self.temporary);
                Error::io(&self.target, "write to", locked.unwrap_or_else(|| reason.to_string()))
            }
            Err(cause) => {
                let reason = format!("{cause}; free space or write elsewhere ({reason})");
                Error::io(&self.target, "write to", reason)
            }
        }
    }

    /// Writes a value as JSON and renames the file to its final name.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when it cannot be written, and those of [`AtomicFile::commit`].
    pub(crate) fn write_json(self, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string_pretty(value).map_err(|e| self.failed(e))?;
        self.write_text(&(text + "\n"))
    }

    /// Writes a text and renames the file to its final name.
    ///
    /// # Errors
    ///
    /// As [`AtomicFile::write_json`].
    pub(crate) fn write_text(self, text: &str) -> Result<()> {
        self.write_bytes(text.as_bytes())
    }

    /// Writes bytes and renames the file to its final name.
    ///
    /// # Errors
    ///
    /// As [`AtomicFile::write_json`].
    pub(crate) fn write_bytes(self, bytes: &[u8]) -> Result<()> {
        fs::write(self.path(), bytes).map_err(|e| self.failed(e))?;
        self.commit()
    }

    /// Renames the complete file to its final name.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] when another program has written the target meanwhile and it may not be replaced,
    /// [`Error::Io`] when the system refuses.
    pub(crate) fn commit(self) -> Result<()> {
        let Self { target, place, temporary, claim, may_replace } = self;
        let done = give_name(temporary, [&target, &place], may_replace);
        drop(claim);
        done
    }

    /// Renames the complete file to its final name, and begins the next one, which will replace it.
    ///
    /// # Errors
    ///
    /// As [`AtomicFile::commit`].
    pub(crate) fn deliver(&mut self) -> Result<()> {
        let failed = |e: io::Error| Error::io(&self.target, "write to", e);
        let part = self.temporary.to_path_buf();
        // After a failure of the machine, too, the name must refer to a complete file.
        File::open(&part).and_then(|file| file.sync_all()).map_err(failed)?;
        let complete = TempPath::try_from_path(&part).map_err(failed)?;
        give_name(complete, [&self.target, &self.place], self.may_replace)?;
        self.may_replace = true;
        destination::create(&part, &self.place).map_err(failed)
    }

    /// Copies the file as it is now, which must be readable, to its final name.
    ///
    /// # Errors
    ///
    /// As [`AtomicFile::commit`].
    pub(crate) fn publish(&mut self) -> Result<()> {
        let failed = |e: io::Error| Error::io(&self.target, "write to", e);
        let copy = TempPath::try_from_path(copy_of(&self.temporary)).map_err(failed)?;
        destination::create(&copy, &self.place).map_err(failed)?;
        if let Err(e) = fs::copy(&self.temporary, &copy) {
            let reason = format!("{e}; free space or write elsewhere");
            return Err(Error::io(&self.target, "write a copy of the unfinished", reason));
        }
        give_name(copy, [&self.target, &self.place], self.may_replace)?;
        self.may_replace = true;
        Ok(())
    }
}

/// Path of the copy of an incomplete file.
fn copy_of(part: &Path) -> PathBuf {
    let mut name = part.as_os_str().to_owned();
    name.push(".copy");
    name.into()
}

/// Renames a complete file to the target, following links.
fn give_name(file: TempPath, [target, place]: [&Path; 2], may_replace: bool) -> Result<()> {
    let done = if may_replace {
        destination::take_after(&file, place).map_err(|e| Error::io(target, "write to", e))?;
        file.persist(place)
    } else {
        file.persist_noclobber(place)
    };
    done.map_err(|e| match e.error.kind() {
        io::ErrorKind::AlreadyExists => Error::Exists(target.to_owned()),
        _ => Error::io(target, "write to", e.error),
    })
}

/// The lock of a file, which one run holds at a time. It ends with the program, even if that is killed; the lock file
/// then stays without a lock.
#[derive(Debug)]
pub(in crate::io) struct FileLock {
    path: PathBuf,
    _file: File,
}

impl FileLock {
    /// Takes the lock of `target`, in the file `path`.
    pub(in crate::io) fn new(target: &Path, path: PathBuf) -> Result<Self> {
        let failed = |e: io::Error| Error::io(target, "write to", e);
        loop {
            // The lock file must not be opened through a link.
            if path.symlink_metadata().is_ok_and(|about| about.is_symlink()) {
                return Err(Error::input(
                    &path,
                    "is a symbolic link, where a run needs a file of \
                                                its own; remove it",
                ));
            }
            let mut file = OpenOptions::new()
                .create(true)
                .truncate(false)
                .read(true)
                .write(true)
                .open(&path)
                .map_err(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let who = fs::read_to_string(&path).unwrap_or_default();
                    let who = match who.trim() {
                        "" => String::new(),
                        number => format!(", process {number}"),
                    };
                    return Err(Error::input(
                        target,
                        format!(
                            "is being written by another run{who}; wait for its end, or choose \
                             another name"
                        ),
                    ));
                }
                // A file system without locks, or one whose server grants none.
                Err(TryLockError::Error(e)) => {
                    let target = target.shown();
                    warn!(
                        "{target}: this file system has no locks ({e}); make sure that no other \
                           run writes it"
                    );
                }
            }
            // The previous holder may have removed the name in the end; a lock on a file without a name excludes no
            // other run.
            let about = file.metadata().map_err(failed)?;
            let is_same =
                |there: fs::Metadata| (there.dev(), there.ino()) == (about.dev(), about.ino());
            if fs::metadata(&path).is_ok_and(is_same) {
                // Only information for users; the lock holds without it.
                let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
                return Ok(Self { path, _file: file });
            }
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // If it cannot be removed, it blocks no other run.
        let _ = fs::remove_file(&self.path);
    }
}

//! A file under a temporary name that takes its own name only when it is complete.
//!
//! A name may be a link: then the file that it stands for is written, and the link stays. Mode and
//! owner of a file that is replaced are kept.
//!
//! Beside `out.nc` in the making lie `.out.nc.part` with the contents so far, and `.out.nc.lock`,
//! whose lock the system drops when the program ends, however it ends. The holder of that lock may
//! write the file, and overwrites the remains of a killed run.
//!
//! # Decisions
//!
//! **The lock is a file of its own beside the output.** HDF5 locks its files itself, with the same system call. The
//! lock ends with the process, and its holder overwrites a file that it finds under the temporary name.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::TempPath;
use tracing::warn;

use crate::error::{Error, Result};
use crate::io::destination::{self, refuse_existing};
use crate::os_text::Shown;

/// Length of the trial write that tells whether there is room, bytes: more than the library holds back.
const ROOM: usize = 1 << 24;

/// A part of it.
static BLOCK: [u8; 1 << 16] = [0; 1 << 16];

/// An output file in the making. Dropped without [`Pending::commit`], it leaves nothing behind.
///
/// As long as it is there no other program of ours can write the target.
#[derive(Debug)]
pub struct Pending {
    /// The name as the user gave it.
    target: PathBuf,
    /// The file that it stands for.
    place: PathBuf,
    // In this order: what is not complete goes before the next run may begin its own.
    temporary: TempPath,
    claim: Claim,
    /// `true` if a file of the name may be replaced; one of our own may.
    may_replace: bool,
}

impl Pending {
    /// Prepares to write `target`, so that a refusal comes before the computation.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] when there is such a file and `force` is not given; [`Error::Input`] when
    /// another run is writing it, when the folder is missing or the name is that of a folder;
    /// [`Error::Io`] when nothing can be written there.
    pub fn new(target: &Path, force: bool) -> Result<Self> {
        if target.is_dir() {
            return Err(Error::input(target, "is a folder; give the name of a file to write"));
        }
        // The rename at the end would put a file in the place of a device or of a pipe.
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
        let beside = |what: &str| {
            let mut hidden = std::ffi::OsString::from(".");
            hidden.push(name);
            hidden.push(what);
            folder.join(hidden)
        };
        let failed = |e: io::Error| Error::io(target, "write to", e);
        let claim = Claim::new(target, beside(".lock"))?;
        // Another run may have completed it since.
        refuse_existing(target, force)?;
        let part = beside(".part");
        destination::create(&part, &place).map_err(failed)?;
        let temporary = TempPath::try_from_path(part).map_err(failed)?;
        // A run that was killed in the middle of it may have left this.
        let _ = fs::remove_file(copy_of(&temporary));
        let target = target.to_owned();
        Ok(Self { target, place, temporary, claim, may_replace: force })
    }

    /// Path to write to until the file is complete.
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// The name that the complete file gets.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// An [`Error::Io`] about this file with the message of the library, and its reason.
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
        let Self { target, place, temporary, claim, may_replace } = self;
        let done = give_name(temporary, [&target, &place], may_replace);
        drop(claim);
        done
    }

    /// Gives the complete file its name, and begins the next one, which will take its place.
    ///
    /// # Errors
    ///
    /// As [`Pending::commit`].
    pub fn deliver(&mut self) -> Result<()> {
        let failed = |e: io::Error| Error::io(&self.target, "write to", e);
        let part = self.temporary.to_path_buf();
        // The name is to be that of the whole file when the machine fails, too.
        File::open(&part).and_then(|file| file.sync_all()).map_err(failed)?;
        let complete = TempPath::try_from_path(&part).map_err(failed)?;
        give_name(complete, [&self.target, &self.place], self.may_replace)?;
        self.may_replace = true;
        destination::create(&part, &self.place).map_err(failed)
    }

    /// Gives a copy of the file as it is now, which has to be whole, the name of the complete one.
    ///
    /// # Errors
    ///
    /// As [`Pending::commit`].
    pub fn show(&mut self) -> Result<()> {
        let failed = |e: io::Error| Error::io(&self.target, "write to", e);
        let copy = TempPath::try_from_path(copy_of(&self.temporary)).map_err(failed)?;
        destination::create(&copy, &self.place).map_err(failed)?;
        if let Err(e) = fs::copy(&self.temporary, &copy) {
            let reason = format!("{e}; make room or write elsewhere");
            return Err(Error::io(&self.target, "write a copy of what there is of", reason));
        }
        give_name(copy, [&self.target, &self.place], self.may_replace)?;
        self.may_replace = true;
        Ok(())
    }
}

/// Path of the copy of a file that is not complete.
fn copy_of(part: &Path) -> PathBuf {
    let mut name = part.as_os_str().to_owned();
    name.push(".copy");
    name.into()
}

/// Gives a complete file the name of the place that the target stands for.
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

/// The right to write a file, which one run has at a time. It ends with the program, even where
/// that is killed: a file without a lock stays then.
#[derive(Debug)]
struct Claim {
    path: PathBuf,
    _file: File,
}

impl Claim {
    /// # Errors
    ///
    /// [`Error::Input`] when another run has it; [`Error::Io`] when nothing can be written there.
    fn new(target: &Path, path: PathBuf) -> Result<Self> {
        let failed = |e: io::Error| Error::io(target, "write to", e);
        loop {
            // Its contents are not to go elsewhere.
            if path.symlink_metadata().is_ok_and(|about| about.is_symlink()) {
                return Err(Error::input(&path, "is a link and in the way of a run; remove it"));
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
                            "is being written by another run{who}; wait for its end, or give \
                             another name"
                        ),
                    ));
                }
                Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => {
                    let target = target.shown();
                    warn!("{target}: this file system has no locks; let no other run write it");
                }
                Err(TryLockError::Error(e)) => return Err(failed(e)),
            }
            // Whoever had it before has taken the name away in the end; a file without a name
            // keeps nobody out.
            let about = file.metadata().map_err(failed)?;
            let is_same =
                |there: fs::Metadata| (there.dev(), there.ino()) == (about.dev(), about.ino());
            if fs::metadata(&path).is_ok_and(is_same) {
                // Only to tell others; without room for it the lock holds as well.
                let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
                return Ok(Self { path, _file: file });
            }
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // If it cannot be removed, it blocks no other run.
        let _ = fs::remove_file(&self.path);
    }
}

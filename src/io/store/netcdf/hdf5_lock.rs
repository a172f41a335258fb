//! Locks that the HDF5 library takes on files, and the reason if it gets none.
//!
//! The library locks a file that it opens, shared for reading and exclusive for writing, and fails without a reason if
//! that is refused. The same lock is requested here, for the system's reason.

use std::env;
use std::fs::{File, TryLockError};
use std::path::Path;

/// The environment variable with which a user switches the locks off.
const USE_FILE_LOCKING: &str = "HDF5_USE_FILE_LOCKING";

/// Values that switch them off.
const OFF: [&str; 2] = ["FALSE", "0"];

/// The reason why HDF5 cannot lock a file for reading, with the remedy; `None` if it can, or does not try.
pub(in crate::io) fn refusal_to_read(path: &Path) -> Option<String> {
    match attempt(path, File::try_lock_shared)? {
        TryLockError::WouldBlock => Some(format!(
            "is locked by another program, which may be writing it; wait until that ends, or, if nothing writes it, \
             set {USE_FILE_LOCKING}=FALSE in the environment"
        )),
        TryLockError::Error(reason) => Some(without_locks(&reason)),
    }
}

/// The reason why HDF5 cannot lock a file of this program for writing, with the remedy; `None` if the file system has
/// locks, or the library does not try.
pub(in crate::io) fn refusal_to_write(path: &Path) -> Option<String> {
    match attempt(path, File::try_lock)? {
        // By this program, which has the file open.
        TryLockError::WouldBlock => None,
        TryLockError::Error(reason) => Some(without_locks(&reason)),
    }
}

fn attempt(path: &Path, lock: impl Fn(&File) -> Result<(), TryLockError>) -> Option<TryLockError> {
    let value = env::var_os(USE_FILE_LOCKING);
    if value.is_some_and(|value| OFF.iter().any(|off| value == *off)) {
        return None;
    }
    lock(&File::open(path).ok()?).err()
}

fn without_locks(reason: &std::io::Error) -> String {
    format!(
        "cannot be locked, which some network file systems refuse ({reason}); set {USE_FILE_LOCKING}=FALSE in the \
         environment, and let no two programs write it"
    )
}

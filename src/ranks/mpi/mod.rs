//! MPI, found when the program runs.
//!
//! Environment variables of the launcher tell whether there are several processes, and which one this is. Then libraries
//! are tried: first one that `NWP_MPI_LIBRARY` names, then those beside the launchers on the path, then those that the
//! dynamic loader knows.

#![allow(unsafe_code, reason = "MPI is a C library")]

mod abi;
mod functions;
mod interfaces;
mod launch;
mod search;
mod world;

use std::sync::Arc;

use super::{Alone, Ranks};
use crate::error::{Error, Result};
pub use launch::Launch;
pub use search::Found;

/// The environment variable that names the library.
pub const LIBRARY: &str = "NWP_MPI_LIBRARY";

/// The ranks of this run: those of MPI where a launcher has started several processes, otherwise this process alone,
/// without a look at MPI. Called once, by the main thread.
///
/// # Errors
///
/// [`Error::Usage`] when a launcher has started several processes and no library of MPI counts as many.
pub fn ranks() -> Result<Arc<dyn Ranks>> {
    let Some(launch) = Launch::of_environment().filter(|launch| launch.size > 1) else {
        return Ok(Arc::new(Alone));
    };
    let found = search::library(&launch).map_err(|tried| {
        Error::Usage(format!(
            "{} says that {} processes were started, and no library of MPI was found ({tried}); name \
             it with the environment variable {LIBRARY}, or start one process",
            launch.variable, launch.size
        ))
    })?;
    let about = format!("{}, {}", found.version, found.name);
    let refused = |why: String| Error::Usage(format!("{about}: {why}"));
    let ranks = interfaces::start(found).map_err(refused)?;
    if ranks.size() == launch.size {
        return Ok(ranks);
    }
    let counted = ranks.size();
    // Alone in its world: it has nobody to wait for.
    ranks.finish();
    Err(Error::Usage(format!(
        "{} says that {} processes were started, of which {about} counts {counted}: launcher and \
         library are of different MPIs; start with the mpirun of this library, or name the library \
         of that launcher with the environment variable {LIBRARY}",
        launch.variable, launch.size
    )))
}

/// Ends this process without a word to the others, and without what a process does at its end: for threads other than the
/// main one, which MPI does not expect.
pub fn leave(code: u8) -> ! {
    unsafe extern "C" {
        fn _exit(code: std::ffi::c_int) -> !;
    }
    // SAFETY: a function of every C library.
    unsafe { _exit(code.into()) }
}

/// The library that a run on several ranks would take, without starting it.
///
/// # Errors
///
/// Attempts, in words.
pub fn survey() -> Result<Found, String> {
    search::library(&Launch::of_environment().unwrap_or_default())
}

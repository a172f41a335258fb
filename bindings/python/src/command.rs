//! The command, and runs and pictures inside Python.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use nwp_mini::cli::{self, RunHost};
use nwp_mini_host::guarded;
use pyo3::prelude::*;

use crate::errors::{Failure, Result};
use crate::process::use_common_threads;

/// Time between two looks at the signals and the progress of a run.
const LOOK: Duration = Duration::from_millis(50);

/// Runs the command `nwp-mini` with a command line; returns its exit code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| cli::call(arguments))
}

/// Runs the command `run` or `plot` in a thread of its own, and looks after signals and progress meanwhile: `on_step` is
/// called with the numbers of completed and of all steps. An exception of either stops a run after its present step.
#[pyfunction]
#[pyo3(signature = (arguments, on_step = None, threads = None))]
pub(crate) fn call(
    py: Python<'_>,
    arguments: Vec<OsString>,
    on_step: Option<&Bound<'_, PyAny>>,
    threads: Option<usize>,
) -> Result<()> {
    use_common_threads()?;
    let (stop, done, all) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicUsize::new(0)),
    );
    let (to_done, to_all) = (Arc::clone(&done), Arc::clone(&all));
    let host = RunHost {
        stop: Arc::clone(&stop),
        on_step: Arc::new(move |step, steps| {
            to_all.store(steps, Ordering::Relaxed);
            to_done.store(step, Ordering::Release);
        }),
    };
    let (sender, ended) = channel();
    let ended = Mutex::new(ended);
    let work = move || {
        let outcome = guarded(|| match threads {
            None => cli::call_within(arguments, host),
            Some(threads) => in_pool(threads, || cli::call_within(arguments, host)),
        });
        // The receiver waits for it.
        let _ = sender.send(outcome);
    };
    let thread = thread::Builder::new().name("nwp-mini run".to_owned()).spawn(work);
    let thread =
        thread.map_err(|error| Failure::Value(format!("no thread for the run: {error}")))?;
    let mut told = 0;
    let mut raised = None;
    let outcome = loop {
        let looked =
            py.detach(|| ended.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK));
        let step = done.load(Ordering::Acquire);
        if raised.is_none() {
            let news = on_step.filter(|_| step > told);
            told = step;
            let seen = py.check_signals().and_then(|()| match news {
                Some(on_step) => on_step.call1((step, all.load(Ordering::Relaxed))).map(drop),
                None => Ok(()),
            });
            if let Err(exception) = seen {
                raised = Some(exception);
                stop.store(true, Ordering::Relaxed);
            }
        }
        match looked {
            Ok(outcome) => break outcome,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                break Err("the thread of the run ended".to_owned());
            }
        }
    };
    py.detach(|| thread.join())
        .map_err(|_| Failure::Fault("the thread of the run panicked".to_owned()))?;
    match raised {
        Some(exception) => Err(exception.into()),
        None => Ok(outcome.map_err(Failure::Fault)??),
    }
}

/// Work in a pool of threads of its own.
fn in_pool<T: Send>(
    threads: usize,
    work: impl FnOnce() -> nwp_mini::error::Result<T> + Send,
) -> nwp_mini::error::Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| {
        nwp_mini::error::Error::Usage(format!("threads={threads}: no threads: {error}"))
    })?;
    pool.install(work)
}

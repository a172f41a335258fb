//! Progress of a run.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use tracing::info;

use crate::cli::run::host::RunHost;

/// A progress bar on a terminal; elsewhere a line for every tenth of the run. Inside another program it is told.
pub(in crate::cli) struct Progress {
    host: Option<RunHost>,
    bar: Option<ProgressBar>,
    steps: usize,
    start: Instant,
}

impl Progress {
    pub(in crate::cli) fn new(steps: usize, host: Option<&RunHost>) -> Self {
        let is_wanted =
            host.is_none() && tracing::enabled!(tracing::Level::INFO) && io::stderr().is_terminal();
        let bar = is_wanted.then(|| {
            let style = ProgressStyle::with_template("{bar:40} step {pos}/{len}, {eta} left");
            ProgressBar::new(steps as u64)
                .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Self { host: host.cloned(), bar, steps, start: Instant::now() }
    }

    pub(in crate::cli) fn at(&mut self, step: usize) {
        if let Some(RunHost { on_step, .. }) = &self.host {
            return on_step(step, self.steps);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(step as u64);
            return;
        }
        let tenths = |step: usize| 10 * step / self.steps;
        if tenths(step) > tenths(step - 1) {
            let left =
                self.start.elapsed().as_secs_f64() / step as f64 * (self.steps - step) as f64;
            info!("step {step} of {}, {:.0?} left", self.steps, Duration::from_secs_f64(left));
        }
    }

    pub(in crate::cli) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

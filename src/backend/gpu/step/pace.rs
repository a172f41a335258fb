//! Bound on the graphs that the host is ahead of the device.

use std::collections::VecDeque;

use crate::device::{Event, Gpu};
use crate::error::Result;

/// Most graphs that are launched and not done.
const MOST: usize = 8;

/// Ends of the graphs that are launched and not done, of which there are only so many: where more of them fill the device's
/// queue, a launch waits inside CUDA, and can crash there or never end when a kernel fails.
#[derive(Debug)]
pub(super) struct Pace {
    gpu: Gpu,
    ends: VecDeque<Event>,
    idle: Vec<Event>,
}

impl Pace {
    pub(super) fn new(gpu: &Gpu) -> Self {
        Self { gpu: gpu.clone(), ends: VecDeque::new(), idle: Vec::new() }
    }

    /// Waits until another graph may be launched.
    pub(super) fn wait(&mut self) -> Result<()> {
        while self.ends.len() >= MOST {
            let end = self.ends.pop_front().expect("there are some");
            end.wait()?;
            self.idle.push(end);
        }
        Ok(())
    }

    /// Counts a graph that has been launched.
    pub(super) fn count(&mut self) -> Result<()> {
        let end = self.idle.pop().map_or_else(|| Event::new(&self.gpu), Ok)?;
        end.record(&self.gpu)?;
        self.ends.push_back(end);
        Ok(())
    }
}

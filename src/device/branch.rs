//! Branches of work that a device may do side by side.

use super::gpu::Gpu;
use super::stream::Stream;

/// A branch: one of several concurrent streams, or the default stream.
#[derive(Clone, Copy, Debug)]
pub struct Branch<'a> {
    stream: Option<&'a Stream>,
}

impl<'a> Branch<'a> {
    /// The default stream, for work without a branch.
    pub const TRUNK: Branch<'static> = Branch { stream: None };

    /// Work in a stream.
    pub(crate) fn of(stream: &'a Stream) -> Self {
        Self { stream: Some(stream) }
    }

    /// Stream of the branch.
    pub(super) fn stream_of(self, gpu: &'a Gpu) -> &'a Stream {
        self.stream.unwrap_or(gpu.compute())
    }
}

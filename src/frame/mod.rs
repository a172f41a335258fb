//! Input and output of a run as data: frames of the input and their source, frames of output,
//! samples, columns, checkpoints. No file format is known here; `io` reads and writes all of it.

mod checkpoint;
mod input;
pub mod output_statistics;
mod samples;
mod snapshot;
mod source;

pub use checkpoint::{FIGURES, FrameRow, PastRun, Saved};
pub use input::{Frame, promote};
pub use samples::{ColumnFrame, PointSample, SampleOrder};
pub use snapshot::{PassThrough, Snapshot};
pub use source::FrameSource;

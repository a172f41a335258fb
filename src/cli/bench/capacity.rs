//! Checks, before any measurement, that the memory of the machine is sufficient.

use super::scale::HOST_VALUES;
use super::{Bench, Part};
use crate::cli::run::refine::lack_of_memory;
use crate::error::{Error, Result};
use crate::model::replicated_grid::Replication;

/// Arrays of a transpose on the CPU: input, expectation, result.
const TRANSPOSE_ARRAYS: usize = 3;
/// Bytes of the integers of `reduce --integers`.
const WHOLE_NUMBER: usize = size_of::<i32>();

impl Bench {
    /// Fails if the requested arrays of a ladder do not fit into memory.
    pub(super) fn check_ladders(&self) -> Result<()> {
        if self.wants(Part::Reduce) {
            let value = if self.integers { WHOLE_NUMBER } else { self.precision.bytes() };
            for elements in &self.elements {
                refuse("--elements", &elements.to_string(), [elements.0, value])?;
            }
        }
        if self.wants(Part::Transpose) {
            let value = TRANSPOSE_ARRAYS * self.precision.bytes();
            for extent in &self.extent {
                refuse("--extent", &extent.to_string(), [extent.len(), value])?;
            }
        }
        Ok(())
    }

    /// Fails if the columns of the input on a requested grid do not fit into memory.
    pub(super) fn check_tiles(&self, levels: usize) -> Result<()> {
        for tile in &self.tile {
            let Replication { nx, ny } = *tile;
            let cells = nx.saturating_mul(ny).saturating_mul(levels);
            refuse("--tile", &tile.to_string(), [cells, HOST_VALUES * self.precision.bytes()])?;
        }
        Ok(())
    }
}

/// Fails if `count` elements of `bytes` bytes do not fit into the free memory.
fn refuse(option: &str, size: &str, [count, bytes]: [usize; 2]) -> Result<()> {
    let needed = count.saturating_mul(bytes);
    let Some([needed, free]) = lack_of_memory(needed) else { return Ok(()) };
    Err(Error::Usage(format!(
        "{option} {size}: {count} elements of {bytes} bytes need about {needed:.1} GB of memory, and \
         {free:.1} GB are free; choose a smaller size"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::run::refine::free_memory;

    #[test]
    fn what_does_not_fit_is_refused_with_both_sizes() {
        if free_memory().is_none() {
            return;
        }
        assert!(refuse("--elements", "1", [1, 4]).is_ok());
        let message =
            refuse("--extent", "9x9", [usize::MAX, 4]).expect_err("too large").to_string();
        for words in ["--extent 9x9", "GB of memory", "GB are free"] {
            assert!(message.contains(words), "{message}");
        }
    }
}

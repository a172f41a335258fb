//! `--refine`: the input on a finer grid, if the memory holds it.

use std::fs;

use tracing::info;

use crate::error::{Error, Result};
use crate::io::wrf::series::Series;
use crate::io::wrf::{Domain, Frame, refine};
use crate::real::Precision;

/// Memory of a run for each cell in single precision, bytes: 276 were measured on the CPU with seven frames of the
/// storm at `--refine 4`.
pub(super) const BYTES_A_CELL: usize = 280;

/// The input with its cells divided as requested.
pub(super) fn refined(
    count: usize,
    precision: Precision,
    (domain, frame, series): (Domain, Frame, Series),
) -> Result<(Domain, Frame, Series)> {
    if count == 1 {
        return Ok((domain, frame, series));
    }
    let bytes = match precision {
        Precision::F32 => BYTES_A_CELL,
        Precision::F64 => 2 * BYTES_A_CELL,
    };
    let cells = domain.grid.shape.cells().saturating_mul(count * count);
    let (needed, free) = (cells.saturating_mul(bytes), free_memory());
    if free.is_some_and(|free| needed > free) {
        let gigabytes = |bytes: usize| bytes as f64 / 1e9;
        let bound = free.unwrap_or_default() / bytes / domain.grid.shape.cells();
        return Err(Error::Usage(format!(
            "--refine {count}: a run of {cells} cells needs about {:.1} GB, and {:.1} GB are \
             free; use --refine {} or less",
            gigabytes(needed),
            gigabytes(free.unwrap_or_default()),
            ((bound as f64).sqrt() as usize).max(1)
        )));
    }
    let fine = refine::domain(&domain, count);
    let frame = refine::frame(&frame, domain.grid.sides, count);
    info!("cells divided into {count}x{count}: {} cells, {:.0} m", fine.grid.shape, fine.grid.dx);
    Ok((fine, frame, series.refined(domain, count)))
}

/// Available memory, bytes; `None` if the system does not report it.
pub(super) fn free_memory() -> Option<usize> {
    Some(1024 * kilobytes("/proc/meminfo", "MemAvailable:")?)
}

/// A number of kilobytes from the system's report in a file.
pub(super) fn kilobytes(file: &str, key: &str) -> Option<usize> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}

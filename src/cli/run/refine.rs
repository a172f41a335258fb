//! `--refine`: the input on a finer grid, if the memory holds it.

use std::fs;

use tracing::info;

use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::grid::DividedGrid;
use crate::io::wrf::refine;
use crate::io::wrf::series::Series;
use crate::real::Precision;

/// Memory of a run for each cell in single precision, bytes: 276 were measured on the CPU with seven frames of the
/// storm at `--refine 4`, and the transport has ten fields more since.
pub(in crate::cli) const BYTES_A_CELL: usize = 320;

/// The input with its cells divided as requested.
pub(in crate::cli) fn refined(
    count: usize,
    precision: Precision,
    (domain, frame, series): (Domain, Frame, Series),
    divided: Option<&DividedGrid>,
) -> Result<(Domain, Frame, Series)> {
    if count == 1 {
        let frame = series.on_grid(frame, (domain.grid.sides, count));
        return Ok((domain, frame, series));
    }
    let bytes = match precision {
        Precision::F32 => BYTES_A_CELL,
        Precision::F64 => 2 * BYTES_A_CELL,
    };
    let cells = domain.grid.shape.cells().saturating_mul(count * count);
    // The ranks of a host have their parts there.
    let here = divided.map_or(cells, |divided| {
        divided.own().shape.cells().saturating_mul(divided.ranks().on_host())
    });
    if let Some([needed, free]) = lack_of_memory(here.saturating_mul(bytes)) {
        let coarse = here / (count * count) * bytes;
        let bound = ((1e9 * free / coarse as f64).sqrt() as usize).max(1);
        return Err(Error::Usage(format!(
            "--refine {count}: a run of {here} cells needs about {needed:.1} GB, and {free:.1} \
             GB are free; use --refine {bound} or less"
        )));
    }
    let fine = refine::domain(&domain, count);
    let frame = series.on_grid(frame, (domain.grid.sides, count));
    info!("cells divided into {count}x{count}: {} cells, {:.0} m", fine.grid.shape, fine.grid.dx);
    Ok((fine, frame, series.refined(domain, count)))
}

/// Needed and free memory, GB, if that is not sufficient.
pub(in crate::cli) fn lack_of_memory(needed: usize) -> Option<[f64; 2]> {
    let free = free_memory().filter(|free| needed > *free)?;
    Some([needed, free].map(|bytes| bytes as f64 / 1e9))
}

/// Available memory, bytes; `None` if the system does not report it.
pub(in crate::cli) fn free_memory() -> Option<usize> {
    Some(1024 * kilobytes("/proc/meminfo", "MemAvailable:")?)
}

/// A number of kilobytes from the system's report in a file.
pub(in crate::cli) fn kilobytes(file: &str, key: &str) -> Option<usize> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}

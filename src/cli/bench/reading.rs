//! Speed of reading an input.

use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use super::record::Record;
use crate::cli::run_metadata::machine;
use crate::error::Result;
use crate::io::wrf::series::Overlap;
use crate::io::wrf::{self, Frame};

/// Number of times that a file is read: the first time it may come from disk.
const TIMES: usize = 5;

/// A line of the table.
#[derive(Debug, Serialize)]
struct Row {
    bench: &'static str,
    grid: [usize; 3],
    threads: usize,
    /// Shortest time until the fields are read, checked and stored, s.
    least_s: f64,
    raw_bytes: usize,
    raw_gb_per_s: f64,
}

/// Reads the first time of a WRF file as a run does.
pub(super) fn reading(path: &Path, record: &mut Record) -> Result<()> {
    let (mut least_s, mut raw_bytes, mut grid) = (f64::INFINITY, 0, [0; 3]);
    for _ in 0..TIMES {
        let begin = Instant::now();
        let (domain, frame, _) =
            wrf::open(std::slice::from_ref(&path.to_owned()), None, Overlap::Refuse)?;
        least_s = least_s.min(begin.elapsed().as_secs_f64());
        raw_bytes = bytes(&frame);
        let shape = domain.grid.shape;
        grid = [shape.nx, shape.ny, shape.nz];
    }
    let threads = machine().threads;
    let raw_gb_per_s = raw_bytes as f64 / least_s / 1e9;
    let [nx, ny, nz] = grid;
    writeln!(
        record.out,
        "reading: {} of {nx}x{ny}x{nz} cells, {threads} threads\n\
         {:.1} MB of values in {:.1} ms, {raw_gb_per_s:.3} GB/s",
        path.display(),
        raw_bytes as f64 / 1e6,
        1e3 * least_s
    )?;
    record.add(&Row { bench: "reading", grid, threads, least_s, raw_bytes, raw_gb_per_s });
    Ok(())
}

/// Bytes of the planes and volumes.
fn bytes(frame: &Frame) -> usize {
    let Frame { state, u, v, pressure, geopotential, column_mass, .. } = frame;
    let volumes = state.fields().iter().chain([u, v]).chain(pressure).chain(geopotential);
    let values: usize = volumes.map(ndarray::Array::len).sum();
    let planes: usize = column_mass.iter().map(ndarray::Array::len).sum();
    (values + planes) * size_of::<f32>()
}

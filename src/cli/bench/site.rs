//! Processors on which a ladder is measured, and kernels beside which.

use super::record::Record;
use super::{Bench, Pool, gpu};
use crate::device::{ForeignLibrary, Gpu};
use crate::error::Result;

/// Processors of the ladders.
pub(super) struct Site<'a> {
    /// The GPU, and the bandwidth of a copy there, bytes a second.
    pub(super) device: Option<(&'a Gpu, f64)>,
    pub(super) pools: Vec<Pool>,
    /// Kernels to compare with.
    pub(super) peers: Option<&'a ForeignLibrary>,
    /// Timed calls.
    pub(super) runs: u32,
}

impl<'a> Site<'a> {
    pub(super) fn new(bench: &Bench, gpu: Option<&'a Gpu>, record: &mut Record) -> Result<Self> {
        // Pairs are of the GPU alone.
        let pools = if bench.peers.is_some() { Vec::new() } else { bench.pools(record)? };
        let runs = bench.runs;
        let Some(gpu) = gpu else {
            writeln!(record.out, "without a GPU: lines of the CPU only")?;
            return Ok(Self { device: None, pools, peers: None, runs });
        };
        let copy = Self::copy_speed(gpu, runs, record)?;
        Ok(Self { device: Some((gpu, copy)), pools, peers: None, runs })
    }

    /// Measures the bandwidth of a copy on the GPU, bytes a second.
    pub(super) fn copy_speed(gpu: &Gpu, runs: u32, record: &mut Record) -> Result<f64> {
        let copy = gpu::copy_speed(gpu, runs)?;
        let (name, cache) = (&gpu.device().name, gpu.device().cache as f64 / 1e6);
        writeln!(
            record.out,
            "{name}, a copy moves {:.1} GB/s, read and written; its cache holds {cache:.1} MB",
            copy / 1e9
        )?;
        Ok(copy)
    }
}

//! Speed by occupancy: allocating unused shared memory reduces the number of blocks.

use super::form_search::FormSearch;
use super::forms::described;
use super::row::MOST_WARPS;
use crate::cli::bench::record::Record;
use crate::error::Result;
use crate::lattice::gpu::{KernelConfig, LatticePrecision};
use crate::lattice::number::Vectorised;
use crate::plot::canvas::Stroke;
use crate::plot::colour::series;
use crate::plot::curves::{self, Curve, Layout, Panel};

/// Granularity of shared memory, bytes.
const STEP: u32 = 128;

/// Shared memory that the driver reserves for every block, bytes.
const OWN: u32 = 1 << 10;

impl<R: LatticePrecision + Vectorised> FormSearch<'_, R> {
    /// Times the fastest form with fewer and fewer blocks on a multiprocessor; returns the plot.
    pub(super) fn sweep(&self, best: KernelConfig, record: &mut Record) -> Result<String> {
        let laid = self.lay(best, 1, None)?;
        let most = laid.operator.resources(0)?;
        let all = self.gpu.device().shared_bytes + OWN;
        laid.operator.allow_shared_memory(self.gpu.device().shared_bytes)?;
        writeln!(
            record.out,
            "\nby occupancy, {} sites, {}:\n{:>10} {:>6} {:>10} {:>12} {:>9} {:>9}",
            self.subject.extents,
            described(&best),
            "blocks/SM",
            "warps",
            "occupancy",
            "shared, B",
            "GB/s",
            "no reuse"
        )?;
        let mut points = Vec::new();
        for blocks in (1..=most.blocks).rev() {
            // The least that prevents one more block: the rest is L1 cache.
            let shared = if blocks == most.blocks {
                0
            } else {
                (all / (blocks + 1) - most.shared_bytes) / STEP * STEP
            };
            let resources = laid.operator.resources(shared)?;
            if resources.blocks != blocks {
                continue;
            }
            let times = self.times(self.runs, || laid.hop(shared))?;
            let row = self.row("occupancy", best, 1, times, &resources);
            let occupancy = f64::from(resources.warps) / MOST_WARPS;
            let line = format!(
                "{blocks:>10} {:>6} {:>8.0} % {shared:>12} {:>9.1} {:>9.1}",
                resources.warps,
                100.0 * occupancy,
                row.gb_per_s,
                row.gb_per_s_without_reuse
            );
            points.push([100.0 * occupancy, row.gb_per_s]);
            record.show(&line, &row)?;
        }
        points.push([0.0, 0.0]);
        points.reverse();
        Ok(draw(self.gpu.device().name.as_str(), &described(&best), points))
    }
}

fn draw(device: &str, form: &str, points: Vec<[f64; 2]>) -> String {
    let stroke = Stroke::solid(series(0), 2.0);
    let panel = Panel {
        title: device.to_owned(),
        names: ["occupancy, %".to_owned(), "bytes moved once / time, GB/s".to_owned()],
        curves: vec![Curve { name: "hopping term".to_owned(), points, stroke, has_dots: true }],
        zero_on: Some(1),
        x_range: None,
    };
    let layout = Layout { columns: 1, size: [560.0, 320.0] };
    let title = "Hopping term of the Wilson operator by occupancy";
    curves::draw(title, &[form.to_owned()], &[panel], layout).svg("occupancy")
}

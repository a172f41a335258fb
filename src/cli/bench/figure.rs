//! A measured part: its times, and what they mean beside a copy and a count of operations.

use std::time::Instant;

use serde::Serialize;

use crate::error::Result;
use crate::real::Real;

/// What a part has to move and to compute for each cell.
///
/// Counted on the equations, each array moved once: not what an implementation does, but what none
/// can do without.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    /// Values read or written.
    pub(super) values: f64,
    /// Additions, multiplications, divisions, roots, exponentials, comparisons that select.
    pub(super) operations: Option<f64>,
}

/// Fields that the microphysics reads, and writes.
const CLOUDS_MOVED: f64 = 10.0 + 6.0;
/// Fields of reflectivity and effective radii.
const DIAGNOSED: f64 = 4.0;
/// Operations of the default microphysics: the mean of a storm of which a third is cloud.
const CLOUDS_OPERATIONS: f64 = 240.0;
/// Fields of a tracer that three stages move: q, or q and its start, read; one written.
const TRACER_MOVED: f64 = 2.0 + 3.0 + 3.0;
/// The three fluxes that each stage reads, shared by all tracers.
const WINDS_MOVED: f64 = 3.0 * 3.0;
/// Operations of a stage without a limiter.
const PLAIN_STAGE: f64 = 63.0;
/// Operations of a step with the positive-definite limiter.
const POSITIVE_STEP: f64 = 262.0;
/// What the monotonic limiter takes besides.
const MONOTONIC_BESIDES: f64 = 45.0;

impl Cost {
    /// The microphysics in its default variant, or without a count of operations.
    pub(super) fn clouds(is_default: bool, with_diagnostics: bool) -> Self {
        let diagnosed = if with_diagnostics { DIAGNOSED } else { 0.0 };
        let counted = is_default && !with_diagnostics;
        let operations = counted.then_some(CLOUDS_OPERATIONS);
        Self { values: CLOUDS_MOVED + diagnosed, operations }
    }

    /// One tracer without limiter.
    pub(super) fn plain() -> Self {
        Self { values: TRACER_MOVED + WINDS_MOVED, operations: Some(3.0 * PLAIN_STAGE) }
    }

    /// One tracer with the positive-definite limiter.
    pub(super) fn positive() -> Self {
        Self { values: TRACER_MOVED + WINDS_MOVED, operations: Some(POSITIVE_STEP) }
    }

    /// One tracer with the monotonic limiter.
    pub(super) fn monotonic() -> Self {
        let operations = Some(POSITIVE_STEP + MONOTONIC_BESIDES);
        Self { values: TRACER_MOVED + WINDS_MOVED, operations }
    }

    /// Theta without limiter, five species with the positive-definite one, and the microphysics.
    pub(super) fn step(is_default: bool) -> Self {
        const WATER: f64 = 5.0;
        let clouds = Self::clouds(is_default, false);
        let moved = (WATER + 1.0) * TRACER_MOVED + WINDS_MOVED;
        let transport = 3.0 * PLAIN_STAGE + WATER * POSITIVE_STEP;
        Self { values: moved + clouds.values, operations: clouds.operations.map(|n| n + transport) }
    }
}

/// One measured part.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Figure {
    bench: &'static str,
    variant: String,
    backend: &'static str,
    precision: &'static str,
    threads: usize,
    grid_or_n: String,
    median_s: f64,
    min_s: f64,
    max_s: f64,
    runs: usize,
    cells_per_s: f64,
    ns_per_cell: f64,
    /// Bytes that the part has to move.
    bytes: f64,
    /// Operations that it has to make, in billions a second.
    gop_per_s: Option<f64>,
    gb_per_s: f64,
    /// How near that is to a copy on the same backend.
    percent_of_copy: Option<f64>,
}

/// Where something is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) backend: &'static str,
    pub(super) threads: usize,
    pub(super) cells: usize,
    /// What a copy moves here, read and written, bytes a second.
    pub(super) copy: f64,
}

impl Figure {
    /// Times in s; `grid` names the grid.
    pub(super) fn new<R: Real>(
        (bench, variant): (&'static str, &str),
        grid: String,
        cost: Cost,
        place: Place,
        mut times: Vec<f64>,
    ) -> Self {
        times.sort_by(f64::total_cmp);
        let median_s = times[times.len() / 2];
        let cells = place.cells as f64;
        let bytes = cost.values * cells * size_of::<R>() as f64;
        Self {
            bench,
            variant: variant.to_owned(),
            backend: place.backend,
            precision: R::NAME,
            threads: place.threads,
            grid_or_n: grid,
            median_s,
            min_s: times[0],
            max_s: times[times.len() - 1],
            runs: times.len(),
            cells_per_s: cells / median_s,
            ns_per_cell: median_s * 1e9 / cells,
            bytes,
            gop_per_s: cost.operations.map(|count| count * cells / median_s / 1e9),
            gb_per_s: bytes / median_s / 1e9,
            percent_of_copy: Some(100.0 * bytes / median_s / place.copy),
        }
    }

    /// The heads of [`Figure::line`].
    pub(super) fn head() -> String {
        format!(
            "{:<10} {:<34} {:>14} {:>7} {:>10} {:>20} {:>8} {:>9} {:>9} {:>7} {:>6}",
            "part",
            "variant",
            "grid",
            "threads",
            "median ms",
            "min .. max ms",
            "ns/cell",
            "M cells/s",
            "G op/s",
            "GB/s",
            "% copy"
        )
    }

    /// One line of the table.
    pub(super) fn line(&self) -> String {
        let number = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{x:.2}"));
        format!(
            "{:<10} {:<34} {:>14} {:>7} {:>10.3} {:>20} {:>8.2} {:>9.2} {:>9} {:>7.2} {:>6}",
            self.bench,
            self.variant,
            self.grid_or_n,
            self.threads,
            self.median_s * 1e3,
            format!("{:.3} .. {:.3}", self.min_s * 1e3, self.max_s * 1e3),
            self.ns_per_cell,
            self.cells_per_s / 1e6,
            number(self.gop_per_s),
            self.gb_per_s,
            self.percent_of_copy.map_or_else(|| "-".to_owned(), |x| format!("{x:.1}"))
        )
    }
}

/// Wall times of `work` on `subject`, made new by `restore` before every call, s.
///
/// # Errors
///
/// Those of the two.
pub(super) fn wall_times<S: ?Sized>(
    runs: u32,
    subject: &mut S,
    mut restore: impl FnMut(&mut S) -> Result<()>,
    mut work: impl FnMut(&mut S) -> Result<()>,
) -> Result<Vec<f64>> {
    let mut times = Vec::new();
    // The first call warms up and is not counted.
    for run in 0..=runs {
        restore(subject)?;
        let start = Instant::now();
        work(subject)?;
        if run > 0 {
            times.push(start.elapsed().as_secs_f64());
        }
    }
    Ok(times)
}

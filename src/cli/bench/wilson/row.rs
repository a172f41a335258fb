//! A measured rung, for the table and for programs.

use serde::Serialize;

use crate::cli::bench::measurement::statistics;
use crate::device::{Gpu, Resources};
use crate::lattice::Extents;

/// Operations of the hopping term at a site: projections 96, products with links 1056, sums 168. Rebuilding the third
/// row of a link is not counted.
pub(in crate::cli::bench) const FLOPS: f64 = 1320.0;

/// Reals that a site needs: without any reuse, and with each field moved once.
#[derive(Clone, Copy, Debug)]
pub(super) struct RealsPerSite {
    pub(super) without_reuse: f64,
    pub(super) ideal: f64,
}

/// One measured rung.
#[derive(Clone, Debug, Serialize)]
pub(in crate::cli::bench) struct Row {
    bench: &'static str,
    pub(super) variant: String,
    backend: &'static str,
    threads: Option<usize>,
    grid_or_n: String,
    pub(super) median_s: f64,
    min_s: f64,
    max_s: f64,
    runs: usize,
    timing: &'static str,
    precision: &'static str,
    /// Sites times right-hand sides.
    pub(super) sites: usize,
    pub(super) gflop_per_s: f64,
    /// Bytes of all loads and stores by time.
    pub(super) gb_per_s_without_reuse: f64,
    /// Bytes with each field moved once by time.
    pub(super) gb_per_s: f64,
    percent_of_copy_without_reuse: f64,
    percent_of_copy: f64,
    copy_gb_per_s: f64,
    registers: Option<u32>,
    local_bytes: Option<u32>,
    /// Warps that a multiprocessor holds, of 64.
    occupancy: Option<f64>,
    /// The fastest form, as settings.
    form: Option<String>,
    pub(super) step_speed_up: Option<f64>,
    is_right: bool,
    device: String,
    version: &'static str,
    commit: &'static str,
}

/// Warps that a multiprocessor can hold, for compute capabilities 8.0 to 10.0 except 8.6 to 8.9.
pub(super) const MOST_WARPS: f64 = 64.0;

impl Row {
    /// A row of the CPU, the template of one of the GPU.
    pub(super) fn new(
        variant: String,
        extents: Extents,
        [sites, real]: [usize; 2],
        moved: RealsPerSite,
        times: Vec<f64>,
        copy: f64,
    ) -> Self {
        let runs = times.len();
        let [min_s, median_s, max_s] = statistics(times);
        let per_s = |of_site: f64| sites as f64 * of_site / median_s;
        let [without, ideal] = [moved.without_reuse, moved.ideal].map(|n| per_s(n * real as f64));
        Self {
            bench: "wilson",
            variant,
            backend: "cpu",
            threads: None,
            grid_or_n: extents.to_string(),
            median_s,
            min_s,
            max_s,
            runs,
            timing: "wall",
            precision: if real == size_of::<f32>() { "f32" } else { "f64" },
            sites,
            gflop_per_s: per_s(FLOPS) / 1e9,
            gb_per_s_without_reuse: without / 1e9,
            gb_per_s: ideal / 1e9,
            percent_of_copy_without_reuse: 100.0 * without / copy,
            percent_of_copy: 100.0 * ideal / copy,
            copy_gb_per_s: copy / 1e9,
            registers: None,
            local_bytes: None,
            occupancy: None,
            form: None,
            step_speed_up: None,
            is_right: true,
            device: crate::backend::cpu::name().to_owned(),
            version: env!("CARGO_PKG_VERSION"),
            commit: env!("NWP_MINI_COMMIT"),
        }
    }

    /// The same with this number of threads.
    pub(super) fn with_threads(self, threads: usize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// The same as one of the GPU.
    pub(super) fn on(self, gpu: &Gpu, resources: &Resources, form: String) -> Self {
        Self {
            backend: "gpu",
            timing: "graph",
            device: gpu.device().name.clone(),
            registers: Some(resources.registers),
            local_bytes: Some(resources.local_bytes),
            occupancy: Some(f64::from(resources.warps) / MOST_WARPS),
            form: Some(form),
            ..self
        }
    }

    /// The same with the result of the check.
    pub(super) fn judged(self, is_right: bool) -> Self {
        Self { is_right, ..self }
    }

    /// Names of the columns.
    pub(super) fn head() -> String {
        format!(
            "{:<22} {:>9} {:>8} {:>6} {:>9} {:>6} {:>9} {:>6} {:>5} {:>6} {:>6}  form",
            "rung",
            "us",
            "GFLOP/s",
            "step",
            "no reuse",
            "% copy",
            "ideal",
            "% copy",
            "regs",
            "local",
            "occ."
        )
    }

    /// The row as text.
    pub(super) fn line(&self) -> String {
        let whole = |n: Option<u32>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
        let step = self.step_speed_up.map_or_else(|| "-".to_owned(), |step| format!("{step:.2}"));
        format!(
            "{:<22} {:>9.2} {:>8.1} {:>6} {:>9.1} {:>6.1} {:>9.1} {:>6.1} {:>5} {:>6} {:>6}  {}{}",
            self.variant,
            self.median_s * 1e6,
            self.gflop_per_s,
            step,
            self.gb_per_s_without_reuse,
            self.percent_of_copy_without_reuse,
            self.gb_per_s,
            self.percent_of_copy,
            whole(self.registers),
            whole(self.local_bytes),
            self.occupancy.map_or_else(|| "-".to_owned(), |o| format!("{:.0} %", 100.0 * o)),
            self.form.as_deref().unwrap_or("-"),
            if self.is_right { "" } else { "  WRONG" }
        )
    }
}

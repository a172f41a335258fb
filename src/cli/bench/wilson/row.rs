//! A measured rung, for the table and for programs.

use serde::Serialize;

use crate::cli::bench::measurement::{Measured, Timing};
use crate::cli::bench::record::digits;
use crate::device::{Gpu, Resources};
use crate::lattice::Extents;
use crate::real::Real;

/// Operations of the hopping term at a site: projections 96, products with links 1056, sums 168. Rebuilding the third
/// row of a link is not counted.
const FLOPS: f64 = 1320.0;

/// Reals that a site needs: without any reuse, and with each field moved once.
#[derive(Clone, Copy, Debug)]
pub(super) struct RealsPerSite {
    pub(super) without_reuse: f64,
    pub(super) ideal: f64,
}

/// One measured rung.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    #[serde(flatten)]
    pub(super) measured: Measured,
    /// Sites times right-hand sides.
    pub(super) sites: usize,
    pub(super) gflop_per_s: f64,
    /// Bytes of all loads and stores by time.
    pub(super) gb_per_s_without_reuse: f64,
    /// Bytes with each field moved once by time.
    pub(super) gb_per_s: f64,
    percent_of_copy_without_reuse: f64,
    percent_of_copy: f64,
    registers: Option<u32>,
    local_bytes: Option<u32>,
    /// Warps that a multiprocessor holds, of 64.
    occupancy: Option<f64>,
    /// The fastest form, as settings.
    form: Option<String>,
    pub(super) step_speed_up: Option<f64>,
    pub(super) is_right: bool,
}

/// Warps that a multiprocessor can hold, for compute capabilities 8.0 to 10.0 except 8.6 to 8.9.
pub(super) const MOST_WARPS: f64 = 64.0;

impl Row {
    /// A row of the CPU, the template of one of the GPU.
    pub(super) fn new<R: Real>(
        variant: String,
        extents: Extents,
        sites: usize,
        moved: RealsPerSite,
        times: Vec<f64>,
        copy: f64,
    ) -> Self {
        let names = ["wilson", R::NAME];
        let measured = Measured::on_cpu(names, variant, extents.to_string(), times, copy);
        let per_s = |of_site: f64| sites as f64 * of_site / measured.median_s;
        let [without, ideal] =
            [moved.without_reuse, moved.ideal].map(|n| per_s(n * size_of::<R>() as f64));
        Self {
            sites,
            gflop_per_s: per_s(FLOPS) / 1e9,
            gb_per_s_without_reuse: without / 1e9,
            gb_per_s: ideal / 1e9,
            percent_of_copy_without_reuse: 100.0 * without / copy,
            percent_of_copy: 100.0 * ideal / copy,
            registers: None,
            local_bytes: None,
            occupancy: None,
            form: None,
            step_speed_up: None,
            is_right: true,
            measured,
        }
    }

    /// The same as one of the GPU.
    pub(super) fn on(self, gpu: &Gpu, resources: &Resources, form: String) -> Self {
        Self {
            measured: self.measured.on(gpu, Timing::Graph),
            registers: Some(resources.registers),
            local_bytes: Some(resources.local_bytes),
            occupancy: Some(f64::from(resources.warps) / MOST_WARPS),
            form: Some(form),
            ..self
        }
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
        format!(
            "{:<22} {:>9.2} {:>8.1} {:>6} {:>9.1} {:>6.1} {:>9.1} {:>6.1} {:>5} {:>6} {:>6}  {}{}",
            self.measured.variant,
            self.measured.median_s * 1e6,
            self.gflop_per_s,
            digits(self.step_speed_up, 2),
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

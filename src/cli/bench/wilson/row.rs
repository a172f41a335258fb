//! A measured rung, for the table and for programs.

use serde::Serialize;

use crate::cli::bench::ladder::verdict;
use crate::cli::bench::measurement::{Measured, Processor, Timing};
use crate::cli::bench::table::{self, Column, digits, or_dash};
use crate::device::Resources;
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
    /// A row without the resources of a kernel, as on the CPU.
    pub(super) fn new<R: Real>(
        variant: String,
        extents: Extents,
        sites: usize,
        moved: RealsPerSite,
        (processor, timing): (&Processor, Timing),
        times: Vec<f64>,
    ) -> Self {
        let (names, size) = (["wilson", R::NAME], extents.to_string());
        let measured = Measured::new(names, variant, size, (processor, timing), times);
        let per_s = |of_site: f64| sites as f64 * of_site / measured.median_s;
        let [without, ideal] =
            [moved.without_reuse, moved.ideal].map(|n| per_s(n * size_of::<R>() as f64));
        Self {
            sites,
            gflop_per_s: per_s(FLOPS) / 1e9,
            gb_per_s_without_reuse: without / 1e9,
            gb_per_s: ideal / 1e9,
            percent_of_copy_without_reuse: 100.0 * without / processor.copy,
            percent_of_copy: 100.0 * ideal / processor.copy,
            registers: None,
            local_bytes: None,
            occupancy: None,
            form: None,
            step_speed_up: None,
            is_right: true,
            measured,
        }
    }

    /// The same with the resources and the form of a kernel.
    pub(super) fn of_kernel(self, resources: &Resources, form: String) -> Self {
        Self {
            registers: Some(resources.registers),
            local_bytes: Some(resources.local_bytes),
            occupancy: Some(f64::from(resources.warps) / MOST_WARPS),
            form: Some(form),
            ..self
        }
    }

    /// Names of the columns.
    pub(super) fn head() -> String {
        format!("{}  form", table::head(&COLUMNS))
    }

    /// The row as text.
    pub(super) fn line(&self) -> String {
        let form = self.form.as_deref().unwrap_or("-");
        format!("{}  {form}{}", table::line(&COLUMNS, self), verdict(self.is_right))
    }
}

/// Columns of the table, without the form.
const COLUMNS: [Column<Row>; 11] = [
    ("rung", -22, |row| row.measured.variant.clone()),
    ("us", 9, |row| format!("{:.2}", row.measured.median_s * 1e6)),
    ("GFLOP/s", 8, |row| format!("{:.1}", row.gflop_per_s)),
    ("step", 6, |row| digits(row.step_speed_up, 2)),
    ("no reuse", 9, |row| format!("{:.1}", row.gb_per_s_without_reuse)),
    ("% copy", 6, |row| format!("{:.1}", row.percent_of_copy_without_reuse)),
    ("ideal", 9, |row| format!("{:.1}", row.gb_per_s)),
    ("% copy", 6, |row| format!("{:.1}", row.percent_of_copy)),
    ("regs", 5, |row| or_dash(row.registers)),
    ("local", 6, |row| or_dash(row.local_bytes)),
    ("occ.", 6, |row| or_dash(row.occupancy.map(|o| format!("{:.0} %", 100.0 * o)))),
];

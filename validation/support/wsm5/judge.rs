//! Limits for whole calls of the scheme, for all implementations.
//!
//! In smooth calls (one minor step) every cell of the columns that are not sensitive to rounding must be near the
//! truth. In other calls rounding decides between finite outcomes in single cells: complete evaporation leaves either
//! nothing or a residue of rounding, which then falls. There only the distribution of the errors is bounded.

use crate::column_reference::field::{FLOOR, STORED_DIGITS};
use crate::column_reference::yardstick::Spread;
use crate::column_reference::{Field, Limits, Report};

/// Single precision, one minor step: maximum error relative to that of the worst build.
pub(super) const MAX_FACTOR: f64 = 4.0;
/// Single precision: 99th percentile of the error relative to that of the worst build.
pub(super) const P99_FACTOR: f64 = 10.0;
/// Single precision: fraction of cells that are off relative to that of the worst build.
pub(super) const SHARE_FACTOR: f64 = 2.0;
/// Factor of errors in single precision on a device: its fast functions have errors of two ULP and more, those of WRF's
/// builds of one.
const FAST_FUNCTIONS: f64 = 2.0;
/// Additional number of cells that may be off: fractions of zero or nearly zero in WRF's builds are based on a few
/// cells.
const CELLS_OFF: f64 = 3.0;
/// Allowance for large cases, as a fraction of the cells.
const SHARE_OFF: f64 = 5.0e-4;

/// Number of cells that rounding may send to another outcome than in WRF.
#[derive(Clone, Copy, Debug)]
pub struct Parting {
    /// Relative to the allowance of the CPU version.
    pub factor: f64,
}

impl Parting {
    /// The CPU version has WRF's operations one by one and its mathematical library.
    pub const LIKE_WRF: Self = Self { factor: 1.0 };
    /// A device has its own functions and fused products: it differs from WRF wherever rounding decides, not only where
    /// the order of sums differs.
    pub const ON_ITS_OWN: Self = Self { factor: 4.0 };

    /// True for other arithmetic than WRF's.
    pub(super) fn is_on_its_own(self) -> bool {
        self.factor > Self::LIKE_WRF.factor
    }

    /// The fraction of the cells of a field that may be off in any case.
    pub(super) fn spare(self, field: &Field<'_>) -> f64 {
        self.factor * (CELLS_OFF / field.errors.len() as f64).max(SHARE_OFF)
    }
}

/// Double precision on a device, many calls: 99th percentile of the error relative to that of the worst build; the
/// builds differ from one another by as much.
const PARTED_FACTOR: f64 = 4.0;

/// Double precision, one call of several minor steps: the error, over the root mean square, that
/// a share of the cells may reach.
///
/// From the second minor step on, two runs in double precision have different outcomes in some cells: a species that
/// evaporates leaves zero or a residue of rounding, which sediments differently. This affects some cells in a thousand;
/// the others agree to the precision of the stored truth.
const F64_ONE_CALL: [(f64, f64); 3] = [(0.5, 1.0e-8), (0.1, 3.0e-7), (0.01, 1.0e-4)];
/// The limits after many calls, in which such cells affect their columns, and the truth is stored to 1/64 of larger
/// errors.
const F64_MANY_CALLS: [(f64, f64); 3] = [(0.5, 3.0e-7), (0.1, 3.0e-5), (0.01, 5.0e-3)];

/// Error allowed in double precision in addition, relative to the root mean square: the precision of the stored truth.
/// The sum of the reflectivity is stored with fewer digits in the original.
fn f64_floor(output: &str) -> f64 {
    if output == "refl_10cm" { 1.0e-6 } else { 1.0e-8 }
}

/// Outputs that are discontinuous where a mixing ratio crosses a threshold, also in columns that are not fragile; they
/// are judged by their 99.9th percentile.
fn jumps(output: &str) -> bool {
    ["refl_10cm", "re_cloud", "re_ice", "re_snow", "sr"].contains(&output)
}

/// Errors of the worst build in the selected cells, estimated from those of the stored one.
fn most(field: &Field<'_>) -> Spread {
    field.yardstick.scaled(Spread::of(&field.truth.off, &field.truth.exact))
}

impl Parting {
    /// Judges the share of the cells that are off by that of WRF's builds in single precision.
    fn judge_share(self, field: &Field<'_>, report: &mut Report) {
        // Even if the stored build has no cells off among few columns, other builds may have some.
        let most = most(field).share.max(field.yardstick.most.share);
        let limit = field.share_at_hand(SHARE_FACTOR * most) + self.spare(field);
        field.note("share off", field.share_off(), limit, report);
    }
}

impl Limits for Parting {
    fn judge_f32(&self, field: &Field<'_>, report: &mut Report) {
        let y = &field.yardstick;
        let floor = FLOOR * y.rms;
        if field.stage.is_smooth() && !jumps(field.name) {
            let limit = (MAX_FACTOR * y.robust_max).max(floor);
            field.note_worst("maximum", |_| limit, |column| field.is_robust(column), report);
        }
        if field.stage.is_smooth() {
            let limit = (MAX_FACTOR * y.p999).max(floor);
            field.note("99.9th percentile", field.tail(1e-3), limit, report);
        }
        // Of few columns, the percentile of the stored build rests on a cell or two.
        let factor = if self.is_on_its_own() { P99_FACTOR * FAST_FUNCTIONS } else { P99_FACTOR };
        let limit = (factor * most(field).p99.max(y.most.p99)).max(floor);
        field.note("99th percentile", field.tail(0.01), limit, report);
        self.judge_share(field, report);
    }

    fn judge_f64(&self, field: &Field<'_>, report: &mut Report) {
        let Field { stage, yardstick: y, .. } = field;
        let floor = f64_floor(field.name) * y.rms;
        if stage.is_smooth() {
            let limit = |at: [usize; 2]| field.truth.off[at] * STORED_DIGITS + floor;
            field.note_worst("double precision", limit, |_| true, report);
            return;
        }
        if stage.calls > 1 && self.is_on_its_own() {
            // The columns that have parted outweigh all else by now. WRF's builds in single precision
            // part as well, and as many cells.
            let limit = (PARTED_FACTOR * y.most.p99).max(FLOOR * y.rms);
            field.note("99th percentile", field.tail(0.01), limit, report);
            self.judge_share(field, report);
            return;
        }
        let spread = if stage.calls == 1 { F64_ONE_CALL } else { F64_MANY_CALLS };
        for (share, most) in spread {
            // Half of the cells, and nine of ten, are nowhere near a threshold.
            let share = if share < 0.1 { self.factor * share } else { share };
            let limit = (most * y.rms).max(floor);
            field.note("double precision, spread", field.tail(share), limit, report);
        }
        // Both outcomes are within the range of the field.
        let range = field.largest().max(floor);
        field.note_worst("double precision, maximum", |_| range, |_| true, report);
    }
}

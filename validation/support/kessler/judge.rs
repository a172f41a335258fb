//! The limits for the scheme, for all implementations: those of the reference data.
//!
//! The scheme is continuous except for the number of sub-steps and the threshold of autoconversion, so that every cell
//! of a column is judged, after one call and after thirty, unless the column is marked as sensitive to rounding.

use super::case::{CASES, Reference};
use crate::column_reference::field::{FLOOR, STORED_DIGITS};
use crate::column_reference::{Field, Limits, Report};

/// Single precision: maximum error relative to that of the worst build.
const MAX_FACTOR: f64 = 4.0;
/// The floor for cloud water and rain, kg kg⁻¹: needed for approximate functions of a device.
const WATER_FLOOR: f64 = 2.5e-9;
/// The floor for precipitation, relative to the largest value.
const GROUND_FLOOR: f64 = 1.0e-6;
/// Single precision, 30 calls, all columns: 99th percentile of the error relative to that of the worst build.
const P99_FACTOR: f64 = 10.0;
/// Single precision, 30 calls: fraction of cells that are off relative to that of the worst build.
const SHARE_FACTOR: f64 = 2.0;
/// The part of these statistical limits that may be exceeded.
const EXCEEDED: f64 = 0.02;
/// Double precision: precision of the stored truth, relative to the root mean square.
const F64_FLOOR: f64 = 1.0e-8;

/// All cases.
pub fn reference() -> Reference {
    Reference::read(&CASES, |_, _| true)
}

/// The limits of the scheme.
#[derive(Clone, Copy, Debug)]
pub struct KesslerLimits;

/// The kind of the checks of single cells.
fn kind(field: &Field<'_>) -> String {
    format!("{}, calls: {}", field.name, field.stage.calls)
}

impl Limits for KesslerLimits {
    fn judge_f32(&self, field: &Field<'_>, report: &mut Report) {
        let y = &field.yardstick;
        let floor = match field.name {
            "qc" | "qr" => WATER_FLOOR,
            "rain" | "rainncv" => GROUND_FLOOR * field.largest(),
            _ => 0.0,
        };
        let floor = floor.max(FLOOR * y.rms);
        let limit = MAX_FACTOR * y.robust_max.max(floor);
        field.note_worst(&kind(field), |_| limit, |column| field.is_robust(column), report);
        if field.stage.calls == 1 {
            return;
        }
        let p99 = field.tail(0.01);
        field.tally("99 %:", p99, P99_FACTOR * y.most.p99.max(floor), report);
        let limit = field.share_at_hand(SHARE_FACTOR * y.most.share);
        field.tally("share off:", field.share_off(), limit, report);
    }

    fn judge_f64(&self, field: &Field<'_>, report: &mut Report) {
        // There too many columns are at thresholds.
        if field.case == "edge" && field.stage.calls > 1 {
            return;
        }
        let floor = F64_FLOOR * field.yardstick.rms;
        let limit = |at: [usize; 2]| field.truth.off[at] * STORED_DIGITS + floor;
        field.note_worst(&kind(field), limit, |column| field.is_robust(column), report);
    }

    fn exceeded(&self) -> f64 {
        EXCEEDED
    }
}

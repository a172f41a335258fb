//! Limits for whole calls of the variant, for all implementations.

use super::case::{CASES, Reference};
use super::judge::{MAX_FACTOR, P99_FACTOR, Parting, SHARE_FACTOR};
use super::variant::OUTPUTS;
use crate::column_reference::field::{FLOOR, STORED_DIGITS};
use crate::column_reference::{Field, Limits, Report};

/// Double precision: precision of the stored truth, relative to the root mean square.
const F64_FLOOR: f64 = 1.0e-8;
/// Double precision after many calls: the share of cells that a rounding may have sent to the
/// other side of a threshold (0.5 % of `edge` at 300 s; at most 0.15 % elsewhere).
const F64_MANY_CALLS_SHARE: f64 = 0.01;
/// Number of such cells in fields at the ground: twice the number found.
const F64_MANY_CALLS_CELLS: usize = 4;

/// Largest error of such a cell, relative to the root mean square: about twice the error found. The case `edge`
/// consists of columns at thresholds.
fn f64_many_calls_most(case: &str) -> f64 {
    if case == "edge" { 0.2 } else { 0.02 }
}

/// The reference file with the results of the variant.
pub const NAME: &str = "wsm5_substepped";

/// All cases.
pub fn reference() -> Reference {
    Reference::of_variant(NAME, &OUTPUTS, &CASES, |_, _| true)
}

/// The limits of the variant.
#[derive(Clone, Copy, Debug)]
pub struct Substepped(pub Parting);

impl Limits for Substepped {
    fn judge_f32(&self, field: &Field<'_>, report: &mut Report) {
        let y = &field.yardstick;
        let floor = FLOOR * y.rms;
        if field.stage.is_smooth() {
            let limit = (MAX_FACTOR * y.robust_max).max(floor);
            field.note_worst("maximum", |_| limit, |column| field.is_robust(column), report);
            return;
        }
        let limit = (P99_FACTOR * y.most.p99).max(floor);
        field.note("99th percentile", field.tail(0.01), limit, report);
        let limit = field.share_at_hand(SHARE_FACTOR * y.most.share) + self.0.spare(field);
        field.note("share off", field.share_off(), limit, report);
    }

    fn judge_f64(&self, field: &Field<'_>, report: &mut Report) {
        let Field { case, stage, truth, errors, yardstick: y, .. } = field;
        let exact = |at: [usize; 2]| truth.off[at] * STORED_DIGITS + F64_FLOOR * y.rms;
        // Arithmetic other than WRF's leads to other outcomes in the second minor step already; the error is then
        // the distance between two outcomes, both within the range of the field.
        let is_other = self.0.is_on_its_own();
        if stage.is_smooth() || stage.calls == 1 && !is_other {
            field.note_worst("one call", exact, |_| true, report);
        } else {
            let usual = if is_other { field.largest() } else { f64_many_calls_most(case) * y.rms };
            field.note_worst("many calls, maximum", |at| exact(at).max(usual), |_| true, report);
        }
        let parted = errors.indexed_iter().filter(|((k, i), error)| **error > exact([*k, *i]));
        let share = field.share_at_hand(F64_MANY_CALLS_SHARE) * errors.len() as f64;
        let spare = self.0.factor * (share as usize).max(F64_MANY_CALLS_CELLS) as f64;
        field.note("cells that part", parted.count() as f64, spare, report);
    }
}

//! The limits for the scheme, for all implementations: those of the reference data.
//!
//! After one minor step every cell of the columns that are not sensitive to rounding is judged. From the second minor
//! step on rounding decides between finite outcomes (a species that is used up leaves zero or a residue, which falls),
//! so that only the distribution of the errors is.

use super::case::{ON_LEVELS, OUTPUTS, Reference};
use crate::column_reference::field::{FLOOR, STORED_DIGITS};
use crate::column_reference::stage::is_smooth;
use crate::column_reference::{Field, Limits, Report};

/// Single precision, one minor step: maximum error relative to that of the worst build.
const MAX_FACTOR: f64 = 4.0;
/// The floor of that for reflectivity and radii, relative to the root mean square.
const DIAGNOSED_FLOOR: f64 = 1.0e-6;
/// For fields at the ground, relative to the largest value.
const GROUND_FLOOR: f64 = 1.0e-6;
/// For mixing ratios, kg kg⁻¹.
const WATER_FLOOR: f64 = 1.0e-12;
/// Single precision, other calls: percentile of the error relative to that of the worst build, and what is added,
/// relative to the root mean square.
const PERCENTILE_FACTOR: f64 = 10.0;
/// See [`PERCENTILE_FACTOR`].
const PERCENTILE_FLOOR: f64 = 1.0e-5;
/// Fewest values of which the 99th percentile is judged; of fewer it is the 90th.
const FEWEST_OF_P99: usize = 1000;
/// Single precision, other calls: share of cells that are off relative to that of the worst build, and what is added.
const SHARE_FACTOR: f64 = 2.0;
/// See [`SHARE_FACTOR`].
const SHARE_FLOOR: f64 = 0.005;
/// The part of these statistical limits that may be exceeded.
const EXCEEDED: f64 = 0.02;
/// Double precision: precision of the truth, relative to the root mean square; of the reflectivity
/// [`DIAGNOSED_FLOOR`].
const F64_FLOOR: f64 = 1.0e-8;

/// Of a field that jumps at thresholds: the one that it is made of, and the least of that in cells that are judged.
fn threshold(output: &str) -> Option<(&'static str, f64)> {
    match output {
        "refl_10cm" => Some(("refl_10cm", -20.0)),
        "re_cloud" => Some(("qc", 5.0e-8)),
        "re_ice" => Some(("qi", 5.0e-8)),
        "re_snow" => Some(("qs", 5.0e-8)),
        "sr" => Some(("rainncv", 1.0e-5)),
        _ => None,
    }
}

/// All calls of these cases.
pub fn reference(cases: &[&'static str]) -> Reference {
    Reference::read(cases, |_, _| true)
}

/// The single calls of one minor step of these cases.
pub fn smooth(cases: &[&'static str]) -> Reference {
    Reference::read(cases, is_smooth)
}

/// The limits of the scheme.
#[derive(Clone, Copy, Debug)]
pub struct Wsm6Limits;

fn is_at_the_ground(name: &str) -> bool {
    OUTPUTS[ON_LEVELS..].contains(&name)
}

impl Limits for Wsm6Limits {
    fn judge_f32(&self, field: &Field<'_>, report: &mut Report) {
        let y = &field.yardstick;
        if field.stage.is_smooth() {
            let threshold = threshold(field.name);
            let floor = match field.name {
                name if is_at_the_ground(name) => GROUND_FLOOR * field.largest(),
                name if name.starts_with('q') => WATER_FLOOR,
                _ if threshold.is_some() => DIAGNOSED_FLOOR * y.rms,
                _ => 0.0,
            };
            let limit = MAX_FACTOR * y.robust_max.max(floor).max(FLOOR * y.rms);
            let source = threshold.map(|(name, least)| {
                let of_name = |(output, _): &&(&str, _)| *output == name;
                let (_, truth) = field.stage.truths.iter().find(of_name).expect("an output");
                (&truth.exact, least)
            });
            let is_judged = |at| source.is_none_or(|(exact, least)| exact[at] > least);
            let limit = |at| if is_judged(at) { limit } else { f64::INFINITY };
            field.note_worst(field.name, limit, |column| field.is_robust(column), report);
            return;
        }
        let is_large = field.errors.len() >= FEWEST_OF_P99;
        let (beyond, most) = if is_large { (0.01, y.most.p99) } else { (0.1, y.p90) };
        let limit = PERCENTILE_FACTOR * most + PERCENTILE_FLOOR * y.rms;
        field.tally("percentile", field.tail(beyond), limit, report);
        let limit = SHARE_FACTOR * y.most.share + SHARE_FLOOR;
        field.tally("share off", field.share_off(), limit, report);
    }

    fn judge_f64(&self, field: &Field<'_>, report: &mut Report) {
        if !field.stage.is_smooth() {
            return;
        }
        let floor = if field.name == "refl_10cm" { DIAGNOSED_FLOOR } else { F64_FLOOR };
        let floor = floor * field.yardstick.rms;
        let limit = |at: [usize; 2]| field.truth.off[at] * STORED_DIGITS + floor;
        field.note_worst(field.name, limit, |column| field.is_robust(column), report);
    }

    fn exceeded(&self) -> f64 {
        EXCEEDED
    }
}

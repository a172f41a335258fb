//! The air of a WRF file, derived from its fields, with checks that its values are possible.

use std::ops::RangeInclusive;

use ndarray::{Array3, Zip};
use rayon::prelude::*;

use super::window::InputWindow;
use crate::bounds;
use crate::constants::Constants;
use crate::constituents::Kind;
use crate::error::Result;
use crate::frame::Frame;
use crate::io::read::reader::Reader;
use crate::io::store::quantization;
use crate::real::Real;
use crate::state::Environment;

/// Converts moist to dry potential temperature, both less 300 K, in place.
///
/// θ = (THM + 300) / (1 + rv / rd qv)
pub(super) fn dry_theta(mut thm: Array3<f32>, qv: &Array3<f32>) -> Array3<f32> {
    let base = <f64 as Constants>::THETA_BASE;
    let ratio = <f64 as Constants>::R_VAPOUR / <f64 as Constants>::R_DRY;
    Zip::from(&mut thm).and(qv).for_each(|theta, &qv| {
        let dry = (f64::from(*theta) + base) / (1.0 + ratio * f64::from(qv));
        *theta = (dry - base) as f32;
    });
    thm
}

/// Fails if the fields, of all cells or of a window, cannot be those of air.
pub(in crate::io) fn check(
    reader: &Reader,
    frame: &Frame,
    window: Option<&InputWindow>,
) -> Result<()> {
    for (tracer, field) in frame.state.tracers().filter(|(x, _)| matches!(x.kind, Kind::Water(_))) {
        let what = format!("{} (kg/kg)", tracer.variable);
        within(reader, (field, window), bounds::WATER, &what)?;
    }
    let air: Environment<f64> = frame.environment();
    within(reader, (&air.p, window), bounds::PRESSURE, "P + PB (Pa)")?;
    let t = Zip::from(frame.state.theta())
        .and(&air.exner)
        .par_map_collect(|&theta, &exner| (f64::from(theta) + f64::THETA_BASE) * exner);
    let temperature = "the temperature from T, P and PB (K)";
    within(reader, (&t, window), bounds::TEMPERATURE, temperature)?;
    let depth = "the depth of the layer from PH + PHB (m)";
    within_or(reader, (&air.dz, window), bounds::DEPTH, depth, || {
        quantization::remedy(reader, &["PH", "PHB"])
    })?;
    within(reader, (&frame.u, window), bounds::WIND, "U (m/s)")?;
    within(reader, (&frame.v, window), bounds::WIND, "V (m/s)")
}

/// Values of a thread's part of the check.
const LOOKED_AT: usize = 1 << 14;

/// Fails where a field, of all cells or of a window, lies outside of a range, with the first such place.
pub(super) fn within<R: Real>(
    reader: &Reader,
    field: (&Array3<R>, Option<&InputWindow>),
    range: RangeInclusive<f64>,
    what: &str,
) -> Result<()> {
    within_or(reader, field, range, what, || None)
}

/// The same, with a remedy of its own, if there is one.
fn within_or<R: Real>(
    reader: &Reader,
    (field, window): (&Array3<R>, Option<&InputWindow>),
    range: RangeInclusive<f64>,
    what: &str,
    remedy: impl FnOnce() -> Option<String>,
) -> Result<()> {
    let field = field.as_standard_layout();
    let values = field.as_slice().expect("standard layout");
    let first = |(number, part): (usize, &[R])| {
        let at = part.iter().position(|x| !range.contains(&x.f64()))?;
        Some(number * LOOKED_AT + at)
    };
    let Some(at) = values.par_chunks(LOOKED_AT).enumerate().find_map_first(first) else {
        return Ok(());
    };
    let (_, ny, nx) = field.dim();
    let (place, k) = ([at / nx % ny, at % nx], at / nx / ny);
    let [j, i] = window.map_or(place, |window| window.place(place, [ny, nx]));
    Err(reader.error(format!(
        "{what} is {:.6e} in cell i={i} j={j} k={k}; between {} and {} is expected; {}",
        values[at].f64(),
        short(*range.start()),
        short(*range.end()),
        remedy().unwrap_or_else(|| "check the units in the file".to_owned())
    )))
}

/// A bound in four digits, without the rounding that it allows.
fn short(bound: f64) -> String {
    let rounded = format!("{bound:.3e}").parse().unwrap_or(bound);
    format!("{rounded:e}")
}

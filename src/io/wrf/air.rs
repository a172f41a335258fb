//! The air of a WRF file, derived from its fields, with checks that its values are possible.

use std::ops::RangeInclusive;

use ndarray::{Array3, Zip};
use rayon::prelude::*;

use crate::constants::Constants;
use crate::error::Result;
use crate::frame::Frame;
use crate::io::read::reader::Reader;
use crate::real::Real;
use crate::state::Environment;
use crate::tracers::Role;

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

/// Bounds of atmospheric values, wide enough for any weather.
mod bounds {
    use std::ops::RangeInclusive;

    /// Mixing ratios, kg kg⁻¹: transport leaves small negative ones.
    pub(super) const WATER: RangeInclusive<f64> = -1e-3..=0.1;
    /// Pressure, Pa.
    pub(super) const PRESSURE: RangeInclusive<f64> = 1.0..=120_000.0;
    /// Temperature, K.
    pub(super) const TEMPERATURE: RangeInclusive<f64> = 100.0..=400.0;
    /// Horizontal wind, m s⁻¹.
    pub(super) const WIND: RangeInclusive<f64> = -300.0..=300.0;
    /// Depth of a layer, m.
    pub(super) const DEPTH: RangeInclusive<f64> = 0.1..=50_000.0;
}

/// Fails if the fields cannot be those of air.
pub(in crate::io) fn check(reader: &Reader, frame: &Frame) -> Result<()> {
    for (tracer, field) in frame.state.tracers().filter(|(x, _)| x.role == Role::Water) {
        within(reader, field, bounds::WATER, &format!("{} (kg/kg)", tracer.variable))?;
    }
    let air: Environment<f64> = frame.environment();
    within(reader, &air.p, bounds::PRESSURE, "P + PB (Pa)")?;
    let t = Zip::from(frame.state.theta())
        .and(&air.exner)
        .par_map_collect(|&theta, &exner| (f64::from(theta) + f64::THETA_BASE) * exner);
    within(reader, &t, bounds::TEMPERATURE, "the temperature from T, P and PB (K)")?;
    within(reader, &air.dz, bounds::DEPTH, "the depth of the layer from PH + PHB (m)")?;
    within(reader, &frame.u, bounds::WIND, "U (m/s)")?;
    within(reader, &frame.v, bounds::WIND, "V (m/s)")
}

/// Values of a thread's part of the check.
const LOOKED_AT: usize = 1 << 14;

/// Fails where a field lies outside of a range, with the first such place.
pub(super) fn within<R: Real>(
    reader: &Reader,
    field: &Array3<R>,
    range: RangeInclusive<f64>,
    what: &str,
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
    let (i, j, k) = (at % nx, at / nx % ny, at / nx / ny);
    Err(reader.error(format!(
        "{what} is {:.6e} in cell i={i} j={j} k={k}; between {:e} and {:e} is expected; check the \
         units in the file",
        values[at].f64(),
        range.start(),
        range.end()
    )))
}

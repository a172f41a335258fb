//! The air of a WRF file: what follows from its fields, and whether it is air at all.

use ndarray::{Array3, Zip};

use super::Frame;
use crate::constants::Constants;
use crate::error::Result;
use crate::io::reader::Reader;
use crate::state::Environment;
use crate::thermo;
use crate::tracers::Role;

/// Potential temperature less 300 K from the moist one, in place.
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

/// Density from the equation of state, depth from the geopotential, Exner function from pressure.
pub(super) fn environment<R: Constants>(frame: &Frame) -> Environment<R> {
    let sum = |[a, b]: &[Array3<f32>; 2]| {
        Zip::from(a).and(b).map_collect(|&a, &b| R::of(a.into()) + R::of(b.into()))
    };
    let p: Array3<R> = sum(&frame.pressure);
    let rho = Zip::from(frame.state.theta()).and(frame.state.qv()).and(&p).map_collect(
        |&theta, &qv, &p| {
            let theta = R::of(theta.into()) + R::THETA_BASE;
            R::ONE / thermo::specific_volume(theta, R::of(qv.into()), p)
        },
    );
    let [ph, phb] = &frame.geopotential;
    let dz = Array3::from_shape_fn(p.dim(), |(k, j, i)| {
        // In double precision: the difference of two large numbers.
        let height = |k: usize| f64::from(ph[[k, j, i]]) + f64::from(phb[[k, j, i]]);
        R::of((height(k + 1) - height(k)) / <f64 as Constants>::GRAVITY)
    });
    Environment { rho, exner: p.mapv(thermo::exner), p, dz }
}

/// Bounds of what can be air, wide enough for every weather.
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

/// Fails where the fields cannot be those of air.
pub(in crate::io) fn check(reader: &Reader, frame: &Frame) -> Result<()> {
    let within = |field: &Array3<f64>, range: std::ops::RangeInclusive<f64>, what: &str| match field
        .indexed_iter()
        .find(|(_, x)| !range.contains(*x))
    {
        None => Ok(()),
        Some(((k, j, i), value)) => Err(reader.error(format!(
            "{what} is {value:.6e} in cell i={i} j={j} k={k}; between {:e} and {:e} is \
                 expected; look at the units of the file",
            range.start(),
            range.end()
        ))),
    };
    let wide = |field: &Array3<f32>| field.mapv(f64::from);
    for (tracer, field) in frame.state.tracers().filter(|(x, _)| x.role == Role::Water) {
        within(&wide(field), bounds::WATER, &format!("{} (kg/kg)", tracer.variable))?;
    }
    let air: Environment<f64> = environment(frame);
    within(&air.p, bounds::PRESSURE, "P + PB (Pa)")?;
    let t = Zip::from(frame.state.theta())
        .and(&air.exner)
        .map_collect(|&theta, &exner| (f64::from(theta) + f64::THETA_BASE) * exner);
    within(&t, bounds::TEMPERATURE, "the temperature from T, P and PB (K)")?;
    within(&air.dz, bounds::DEPTH, "the depth of the layer from PH + PHB (m)")?;
    within(&wide(&frame.u), bounds::WIND, "U (m/s)")?;
    within(&wide(&frame.v), bounds::WIND, "V (m/s)")
}

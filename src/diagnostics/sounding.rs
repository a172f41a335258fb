//! Ascent of a parcel of air from the lowest layer.

use crate::constants::Constants;
use crate::thermo::vapour_pressure;

const R_DRY: f64 = <f64 as Constants>::R_DRY;
const CP_DRY: f64 = <f64 as Constants>::CP_DRY;
const EPSILON: f64 = <f64 as Constants>::EPSILON;
const FREEZING: f64 = <f64 as Constants>::FREEZING;

/// A column of air, from the ground up. Length of each: nz.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sounding {
    /// Pressure, Pa.
    pub p: Vec<f64>,
    /// Temperature, K.
    pub t: Vec<f64>,
    /// Vapour mixing ratio, kg kg⁻¹.
    pub qv: Vec<f64>,
    /// Wind along x and y, m s⁻¹, where it is known.
    pub wind: Option<[Vec<f64>; 2]>,
}

/// Air lifted from the lowest layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Parcel {
    /// Pressure, Pa, and temperature, K, along the ascent.
    pub path: Vec<[f64; 2]>,
    /// Condensation level: pressure, Pa, and temperature, K; `None` if there is no condensation up to the uppermost
    /// layer, as in dry air.
    pub condensation: Option<[f64; 2]>,
    /// Convective available potential energy, J kg⁻¹.
    pub cape: f64,
    /// Convective inhibition, the energy needed to reach the buoyant layer, J kg⁻¹, ≤ 0.
    pub cin: f64,
}

/// Pressure step of the ascent, Pa.
const STEP: f64 = 250.0;

/// Saturation vapour pressure over water. Units: `t` K; returns Pa.
pub(crate) fn saturation_pressure(t: f64) -> f64 {
    let tr = (FREEZING + <f64 as Constants>::TRIPLE_POINT_EXCESS) / t;
    vapour_pressure(tr, tr.ln(), f64::C_LIQUID, f64::L_VAPORISATION)
}

/// Saturation mixing ratio over water. Units: `t` K, `p` Pa; returns kg kg⁻¹; infinite above the boiling point.
pub(crate) fn saturation_ratio(t: f64, p: f64) -> f64 {
    let e = saturation_pressure(t);
    if e < p { EPSILON * e / (p - e) } else { f64::INFINITY }
}

/// Dew point of a mixing ratio.
///
/// e = p qv / (ε + qv) = es(td), solved by bisection.
///
/// Units: `qv` kg kg⁻¹, `p` Pa; returns K, at least 120.
pub(crate) fn dew_point(qv: f64, p: f64) -> f64 {
    let e = p * qv.max(0.0) / (EPSILON + qv.max(0.0));
    let (mut low, mut high) = (120.0, 373.15);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if saturation_pressure(middle) < e { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// Derivative of the temperature of saturated air with respect to the logarithm of pressure, if all condensate falls
/// out (pseudoadiabatic).
///
/// dT / d ln p = (rd T + L rs) / (cp + L² rs ε / (rd T²))
///
/// Source: American Meteorological Society, Glossary of Meteorology, pseudoadiabatic lapse rate, with
/// the hydrostatic equation. Units: `t` K, `p` Pa; returns K.
fn saturated_slope(t: f64, p: f64) -> f64 {
    let l = f64::L_VAPORISATION - f64::L_SLOPE * (t - FREEZING);
    let rs = saturation_ratio(t, p).min(1.0);
    (R_DRY * t + l * rs) / (CP_DRY + l * l * rs * EPSILON / (R_DRY * t * t))
}

/// Temperature of saturated air after a displacement from pressure `from` to `to`, by Heun's rule in steps of `STEP`.
/// Units: Pa, `t` K; returns K.
pub(crate) fn saturated_ascent(t: f64, from: f64, to: f64) -> f64 {
    let count = ((from - to).abs() / STEP).ceil().max(1.0) as usize;
    let (mut t, mut p) = (t, from);
    for n in 1..=count {
        let next = from + (to - from) * n as f64 / count as f64;
        let span = (next / p).ln();
        let first = saturated_slope(t, p);
        let second = saturated_slope(t + span * first, next);
        (t, p) = (t + span * 0.5 * (first + second), next);
    }
    t
}

/// Temperature of dry air after an adiabatic displacement. Units: Pa, `t` K; returns K.
pub(crate) fn dry_ascent(t: f64, from: f64, to: f64) -> f64 {
    t * (to / from).powf(R_DRY / CP_DRY)
}

/// Virtual temperature. Units: `t` K, `qv` kg kg⁻¹; returns K.
fn virtual_temperature(t: f64, qv: f64) -> f64 {
    t * (1.0 + qv / EPSILON) / (1.0 + qv)
}

impl Sounding {
    /// The dew point of each layer, K; NaN without vapour.
    pub fn dew_points(&self) -> Vec<f64> {
        let of = |(&qv, &p): (&f64, &f64)| if qv > 0.0 { dew_point(qv, p) } else { f64::NAN };
        self.qv.iter().zip(&self.p).map(of).collect()
    }

    /// The air of the lowest layer, lifted to the uppermost one; `None` without two layers.
    ///
    /// Energies use virtual temperatures. CAPE is the energy gained where the parcel is buoyant above its condensation
    /// level; CIN is the energy lost below the lowest buoyant layer.
    pub fn lift(&self) -> Option<Parcel> {
        let (&[start, ..], &[t, ..], &[qv, ..]) = (&*self.p, &*self.t, &*self.qv) else {
            return None;
        };
        let top = *self.p.last()?;
        let usable = [start, top, t, qv].iter().all(|x| x.is_finite());
        if !usable || top >= start {
            return None;
        }
        let (mut path, mut energy) = (vec![[start, t]], Vec::new());
        let mut condensation = None;
        let (mut now, mut p) = (t, start);
        while p > top {
            let next = (p - STEP).max(top);
            let dry = dry_ascent(now, p, next);
            let saturated = condensation.is_some() || saturation_ratio(dry, next) < qv;
            let then = if saturated { saturated_ascent(now, p, next) } else { dry };
            if saturated && condensation.is_none() {
                condensation = Some([p, now]);
            }
            let vapour = if saturated { saturation_ratio(then, next) } else { qv };
            let around = virtual_temperature(self.at(&self.t, next), self.at(&self.qv, next));
            let lighter = virtual_temperature(then, vapour) - around;
            energy.push((R_DRY * lighter * (p / next).ln(), saturated));
            path.push([next, then]);
            (now, p) = (then, next);
        }
        let is_gain = |&(gain, saturated): &(f64, bool)| saturated && gain > 0.0;
        let cape = energy.iter().filter(|part| is_gain(part)).map(|(gain, _)| gain).sum();
        let first = energy.iter().position(is_gain).unwrap_or(0);
        let cin = energy[..first].iter().map(|(gain, _)| gain.min(0.0)).sum();
        Some(Parcel { path, condensation, cape, cin })
    }

    /// A profile interpolated to a pressure, linear in the logarithm. Units: `p` Pa.
    fn at(&self, profile: &[f64], p: f64) -> f64 {
        let above = self.p.partition_point(|&q| q > p).clamp(1, self.p.len() - 1);
        let [below, there] = [self.p[above - 1], self.p[above]];
        let share = ((below / p).ln() / (below / there).ln()).clamp(0.0, 1.0);
        profile[above - 1] + share * (profile[above] - profile[above - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dew point, and the well-known saturation vapour pressure at freezing (611 Pa).
    #[test]
    fn the_dew_point_undoes_saturation() {
        assert!((saturation_pressure(273.15) - 611.0).abs() < 2.0);
        for t in [210.0, 250.0, 280.0, 303.0] {
            let p = 7e4;
            assert!((dew_point(saturation_ratio(t, p), p) - t).abs() < 1e-6);
        }
        assert!(dew_point(0.0, 1e5) < 121.0);
    }

    /// Saturated air at 20 degrees and 1000 hPa has an equivalent potential temperature of about 333 K.
    /// At 400 hPa dry air of that potential temperature has -17 degrees; 2 g/kg of remaining vapour account for some 4
    /// K.
    #[test]
    fn saturated_air_cools_as_on_a_diagram() {
        let t = saturated_ascent(293.15, 1e5, 4e4) - 273.15;
        assert!((-21.5..-19.5).contains(&t), "{t}");
        let back = saturated_ascent(t + 273.15, 4e4, 1e5);
        assert!((back - 293.15).abs() < 0.02, "{back}");
    }

    fn column(lapse: f64, humidity: f64) -> Sounding {
        let p: Vec<f64> = (0..40).map(|n| 1e5 * (-0.05 * f64::from(n)).exp()).collect();
        let t: Vec<f64> = p.iter().map(|p| (300.0 * (p / 1e5).powf(lapse)).max(210.0)).collect();
        let qv = p.iter().zip(&t).map(|(&p, &t)| humidity * saturation_ratio(t, p)).collect();
        Sounding { p, t, qv, wind: None }
    }

    #[test]
    fn warm_moist_air_below_cold_air_has_energy_and_stable_air_has_none() {
        let unstable = column(0.25, 0.85).lift().expect("a parcel");
        let condensation = unstable.condensation.expect("clouds");
        assert!(unstable.cape > 500.0 && unstable.cin <= 0.0, "{unstable:?}");
        assert!((8.5e4..1e5).contains(&condensation[0]), "{condensation:?}");
        let stable = column(0.05, 0.5).lift().expect("a parcel");
        assert_eq!(stable.cape, 0.0);
        assert!(Sounding::default().lift().is_none());
    }

    /// Dry air does not condense, and has no CAPE.
    #[test]
    fn dry_air_has_no_level_of_condensation() {
        let parcel = column(0.25, 0.0).lift().expect("a parcel");
        assert_eq!((parcel.condensation, parcel.cape, parcel.cin), (None, 0.0, 0.0));
    }

    /// Far below saturation the ascent is a dry adiabat.
    #[test]
    fn dry_air_keeps_its_potential_temperature() {
        let parcel = column(0.2, 1e-6).lift().expect("a parcel");
        let [p, t] = parcel.path[parcel.path.len() / 2];
        assert!((t - dry_ascent(300.0, 1e5, p)).abs() < 1e-6);
    }
}

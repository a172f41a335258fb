//! Columns of air in hydrostatic balance, in the discrete sense of WRF's grid: density times depth, as the reader of
//! the file derives them, is the mass of the layers.

use crate::constants::Constants;
use crate::thermo;

/// Vertical structure of the air.
#[derive(Clone, Copy)]
pub(super) struct Sounding {
    /// Pressure at the ground, Pa.
    pub(super) surface: f64,
    /// Potential temperature (K) at a height (m).
    pub(super) theta: fn(f64) -> f64,
    /// Vapour (kg per kg of dry air) at a height (m), as a function of its saturation over water there.
    pub(super) vapour: fn(f64, f64) -> f64,
}

/// A sounding on layers of equal depth.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// Height of the middle of the layers, m. Length: nz, as all below but `z_face`.
    pub(super) z: Vec<f64>,
    /// Height of the faces, m. Length: nz + 1.
    pub(super) z_face: Vec<f64>,
    /// Dry mass of the layers, kg m⁻².
    pub(super) mass: Vec<f64>,
    /// Potential temperature, K.
    pub(super) theta: Vec<f64>,
    /// Vapour, kg kg⁻¹.
    pub(super) qv: Vec<f64>,
    /// Pressure, Pa.
    pub(super) p: Vec<f64>,
    /// Pressure at the lid, Pa.
    pub(super) p_top: f64,
}

/// Most iterations that make pressure, vapour and mass of a layer consistent; each gains two digits or more if a layer
/// holds less than a tenth of the air.
const ROUNDS: usize = 30;

/// Relative change of pressure and vapour at which the iteration ends.
const FITTING: f64 = 1e-15;

impl Column {
    /// Builds layers of the depth `lid / nz` from the ground up.
    ///
    /// `m = dz / α(θ, qv, p)`, `p = p_face - g m (1 + qv) / 2`: the pressure includes the weight of the vapour, the
    /// mass is that of the dry air.
    pub(super) fn of(sounding: &Sounding, lid: f64, nz: usize) -> Self {
        let depth = lid / nz as f64;
        let z_face: Vec<f64> = (0..=nz).map(|k| depth * k as f64).collect();
        let z: Vec<f64> = (0..nz).map(|k| depth * (k as f64 + 0.5)).collect();
        let theta: Vec<f64> = z.iter().map(|&z| (sounding.theta)(z)).collect();
        let (mut mass, mut qv, mut p) = (vec![0.0; nz], vec![0.0; nz], vec![0.0; nz]);
        let mut below = sounding.surface;
        for k in 0..nz {
            p[k] = below;
            for _ in 0..ROUNDS {
                qv[k] = (sounding.vapour)(z[k], saturation(theta[k], p[k]));
                mass[k] = depth / thermo::specific_volume(theta[k], qv[k], p[k]);
                let before = p[k];
                p[k] = below - 0.5 * weight(mass[k], qv[k]);
                if (p[k] - before).abs() <= FITTING * before {
                    break;
                }
            }
            below -= weight(mass[k], qv[k]);
        }
        Self { z, z_face, mass, theta, qv, p, p_top: below }
    }

    /// Eta of the faces: the fraction of the dry mass above them.
    pub(super) fn eta(&self) -> Vec<f64> {
        let total = self.dry_mass();
        let mut above = vec![0.0; self.mass.len() + 1];
        for k in (0..self.mass.len()).rev() {
            above[k] = above[k + 1] + self.mass[k];
        }
        above.iter().map(|mass| mass / total).collect()
    }

    /// Dry mass of the whole column, kg m⁻².
    pub(super) fn dry_mass(&self) -> f64 {
        self.mass.iter().sum()
    }

    /// A column with the same masses and pressure at the lid, but with other air: heights and pressures differ.
    ///
    /// `vapour` returns the mixing ratio in a layer from its saturation there.
    pub(super) fn filled(
        &self,
        theta: impl Fn(usize) -> f64,
        vapour: impl Fn(usize, f64) -> f64,
    ) -> Self {
        let mut filled = self.clone();
        let mut above = self.p_top;
        for k in (0..self.mass.len()).rev() {
            filled.theta[k] = theta(k);
            for _ in 0..ROUNDS {
                let p = above + 0.5 * weight(self.mass[k], filled.qv[k]);
                filled.p[k] = p;
                let before = filled.qv[k];
                filled.qv[k] = vapour(k, saturation(filled.theta[k], p));
                if (filled.qv[k] - before).abs() <= FITTING * before {
                    break;
                }
            }
            above += weight(self.mass[k], filled.qv[k]);
        }
        let mut height = 0.0;
        for k in 0..self.mass.len() {
            let volume = thermo::specific_volume(filled.theta[k], filled.qv[k], filled.p[k]);
            let depth = self.mass[k] * volume;
            filled.z[k] = height + 0.5 * depth;
            height += depth;
            filled.z_face[k + 1] = height;
        }
        filled
    }

    /// Density of the dry air at the faces: mean mass over mean depth of the layers beside them.
    /// Units: kg m⁻³.
    pub(super) fn face_density(&self) -> Vec<f64> {
        let nz = self.mass.len();
        (0..=nz)
            .map(|face| {
                let [a, b] = [face.saturating_sub(1), face.min(nz - 1)];
                let depth = |k: usize| self.z_face[k + 1] - self.z_face[k];
                (self.mass[a] + self.mass[b]) / (depth(a) + depth(b))
            })
            .collect()
    }
}

/// Saturation over water, kg kg⁻¹.
fn saturation(theta: f64, p: f64) -> f64 {
    let cap = <f64 as thermo::TransportConstants>::VAPOUR_PRESSURE_CAP;
    thermo::saturation_water(theta * thermo::exner(p), p, cap)
}

/// Pressure difference across a layer, with its vapour. Units: kg m⁻² and kg kg⁻¹; returns Pa.
fn weight(mass: f64, qv: f64) -> f64 {
    f64::GRAVITY * mass * (1.0 + qv)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moist() -> Column {
        let sounding = Sounding {
            surface: 1e5,
            theta: |z| 300.0 + 4e-3 * z,
            vapour: |z, saturation| 0.014_f64.min(0.8 * saturation * (-z / 8000.0).exp()),
        };
        Column::of(&sounding, 16_000.0, 40)
    }

    /// The pressure at every height is the weight of the air above it, and density times depth is the mass.
    #[test]
    fn columns_are_in_balance() {
        let column = moist();
        let weights =
            |from: usize| -> f64 { (from..40).map(|k| weight(column.mass[k], column.qv[k])).sum() };
        assert!((column.p_top + weights(0) - 1e5).abs() < 1e-6);
        for k in 0..40 {
            let middle = column.p_top + weights(k) - 0.5 * weight(column.mass[k], column.qv[k]);
            assert!((column.p[k] / middle - 1.0).abs() < 1e-12, "{k}");
            let volume = thermo::specific_volume(column.theta[k], column.qv[k], column.p[k]);
            assert!((column.mass[k] * volume - 400.0).abs() < 1e-9, "{k}");
        }
        // The lowest layers are dry air of 300 K at 1000 hPa: the scale height is R T / g.
        let scale = 287.0 * column.theta[0] / 9.81;
        assert!((column.mass[0] * 9.81 / 1e5 - 400.0 / scale).abs() < 2e-3);
    }

    /// The same air gives the same column; warmer air fills a larger depth with the same mass.
    #[test]
    fn other_air_keeps_the_mass() {
        let column = moist();
        let same = column.filled(|k| column.theta[k], |k, _| column.qv[k]);
        let warm = column.filled(|k| column.theta[k] + 3.0, |k, _| column.qv[k]);
        for k in 0..40 {
            assert!((same.p[k] / column.p[k] - 1.0).abs() < 1e-12);
            assert!((same.z_face[k + 1] / column.z_face[k + 1] - 1.0).abs() < 1e-12);
            assert_eq!(warm.mass[k], column.mass[k]);
            let growth = warm.theta[k] / column.theta[k];
            let depth = warm.z_face[k + 1] - warm.z_face[k];
            assert!((depth / 400.0 - growth).abs() < 1e-9, "{k}");
        }
        let eta = column.eta();
        assert!((eta[0] - 1.0).abs() < 1e-12 && eta[40] == 0.0);
        assert!(eta.windows(2).all(|pair| pair[1] < pair[0]));
    }
}

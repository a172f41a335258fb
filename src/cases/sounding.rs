//! Profiles from the literature, and some of this program.

use super::column::Sounding;
use crate::constants::Constants;

/// Pressure at the ground, Pa.
pub(super) const SURFACE: f64 = 1e5;

/// The environment of severe convection.
///
/// `θ = θ0 + (θtr - θ0) (z / ztr)^(5/4)`, `H = 1 - 3/4 (z / ztr)^(5/4)` up to ztr, and
/// `θ = θtr exp(g (z - ztr) / (cp Ttr))`, `H = 1/4` above; qv ≤ 14 g/kg.
///
/// Source: WK82.
pub(super) const WEISMAN_KLEMP: Sounding = {
    /// Potential temperature at the ground and at the tropopause, K.
    const THETA: [f64; 2] = [300.0, 343.0];
    /// Temperature of the tropopause, K.
    const TROPOPAUSE_TEMPERATURE: f64 = 213.0;
    /// Height of the tropopause, m.
    const TROPOPAUSE: f64 = 12_000.0;
    /// Largest mixing ratio of vapour, kg kg⁻¹.
    const MOST_VAPOUR: f64 = 0.014;

    Sounding {
        surface: SURFACE,
        theta: |z| {
            let [ground, tropopause] = THETA;
            if z <= TROPOPAUSE {
                return ground + (tropopause - ground) * (z / TROPOPAUSE).powf(1.25);
            }
            let scale = f64::CP_DRY * TROPOPAUSE_TEMPERATURE / f64::GRAVITY;
            tropopause * ((z - TROPOPAUSE) / scale).exp()
        },
        vapour: |z, saturation| {
            let humidity =
                if z <= TROPOPAUSE { 1.0 - 0.75 * (z / TROPOPAUSE).powf(1.25) } else { 0.25 };
            MOST_VAPOUR.min(humidity * saturation)
        },
    }
};

/// The trade-wind layer of the kinematic driver.
///
/// θ = 297.9 K and qv = 15 to 13.8 g/kg up to 740 m; linear to 312.66 K and 2.4 g/kg at 3260 m.
/// Above that it continues to 317 K and 1.8 g/kg at 4000 m, where the driver has no air.
///
/// Source: SH12, after the composite of RICO.
pub(super) const TRADE_WIND: Sounding = {
    /// Height in m, potential temperature in K, vapour in kg kg⁻¹.
    const TABLE: [[f64; 3]; 4] = [
        [0.0, 297.9, 0.015],
        [740.0, 297.9, 0.0138],
        [3260.0, 312.66, 0.0024],
        [4000.0, 317.0, 0.0018],
    ];
    Sounding {
        surface: SURFACE,
        theta: |z| linear(&TABLE, z, 1),
        vapour: |z, _| linear(&TABLE, z, 2),
    }
};

/// A cold, moist and slightly stable troposphere, 3 degrees above freezing at the ground; a profile of this program.
/// The humidity is relative to saturation over water.
pub(super) const COLD_LAYER: Sounding = {
    /// Height in m, potential temperature in K, relative humidity.
    const TABLE: [[f64; 3]; 4] =
        [[0.0, 276.0, 0.90], [1000.0, 278.0, 0.92], [6000.0, 303.0, 0.75], [9000.0, 320.0, 0.30]];
    Sounding {
        surface: SURFACE,
        theta: |z| linear(&TABLE, z, 1),
        vapour: |z, saturation| linear(&TABLE, z, 2) * saturation,
    }
};

/// Air of uniform stability with humidity that decreases with height; a profile of this program.
pub(super) const STABLE_LAYER: Sounding = {
    /// Square of the buoyancy frequency, s⁻².
    const STABILITY: f64 = 1e-4;
    /// Potential temperature at the ground, K.
    const GROUND: f64 = 300.0;
    /// Height in m, relative humidity.
    const HUMIDITY: [[f64; 2]; 4] = [[0.0, 0.85], [1500.0, 0.90], [4000.0, 0.5], [10_000.0, 0.2]];
    Sounding {
        surface: SURFACE,
        theta: |z| GROUND * (STABILITY * z / f64::GRAVITY).exp(),
        vapour: |z, saturation| linear(&HUMIDITY, z, 1) * saturation,
    }
};

/// Column `of` of a table at a height, linear between its rows and constant beyond them.
fn linear<const N: usize>(table: &[[f64; N]], z: f64, of: usize) -> f64 {
    let (first, last) = (table[0], table[table.len() - 1]);
    if z <= first[0] {
        return first[of];
    }
    let between = table.windows(2).find(|rows| z <= rows[1][0]);
    between.map_or(last[of], |rows| {
        let weight = (z - rows[0][0]) / (rows[1][0] - rows[0][0]);
        rows[0][of] + weight * (rows[1][of] - rows[0][of])
    })
}

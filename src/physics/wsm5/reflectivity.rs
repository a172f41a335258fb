//! Radar reflectivity at 10 cm, with the bright band where snow melts (WRF `refl_10cm`).
//!
//! Z = Zr + Zs by Rayleigh scattering; below the melting level, one above the highest level at which snow
//! [melts](is_melting), Zs is that of melting snow. [`diagnose`](super::diagnose()) computes it in columns.

use num_complex::Complex;

use crate::cuda_abi::{shared_constants, shared_struct};
use crate::physics::wsm5::params::{SchemeConstants, Wsm5Params};

shared_constants! {
    /// Constants of the reflectivity (WRF `refl10cm_wsm5` and `module_mp_radar`).
    pub trait RadarConstants: SchemeConstants;

    /// Ratio of the molar masses of water and dry air, as in WRF's radar code.
    exact RADAR_EPSILON = 0.622, "1";
    /// Least vapour in the density of WRF's radar code.
    exact RADAR_VAPOUR_MIN = 1.0e-10, "kg kg⁻¹";
    /// Reflectivity factor of a species that is absent.
    exact Z_NONE = 1.0e-22, "m³";
    /// Least reflectivity.
    exact DBZ_MIN = -35.0, "dBZ";
    /// From m³ to mm⁶ m⁻³.
    exact MM6_PER_M3 = 1.0e18, "mm⁶ m⁻⁶";
    /// Decibels in a factor of ten.
    exact DECIBEL = 10.0, "dB";
    /// Γ(7), the sixth moment of an exponential distribution.
    exact GAMMA_7 = 720.0, "1";
    /// Γ(4), its third moment.
    exact GAMMA_4 = 6.0, "1";
    /// Dielectric factor of ice over that of water.
    exact ICE_DIELECTRIC = 0.176 / 0.93, "1";
    /// Dielectric factor of water at 10 cm.
    exact WATER_DIELECTRIC = 0.934_168_651, "1";
    /// Density of solid ice.
    exact RHO_ICE = 900.0, "kg m⁻³";
    /// Least cold in the snow intercept.
    exact SNOW_COLD_MIN = 0.001, "K";
    /// Least melted fraction in the bright band.
    exact MELTED_MIN = 0.005, "1";
    /// Largest melted fraction in the bright band.
    exact MELTED_MAX = 0.99, "1";
    /// Part of the melt water outside the snow flake when it begins to melt.
    exact MELT_OUTSIDE = 0.9, "1";
    /// Smallest diameter of snow in the bright band.
    exact BIN_MIN = 1.0e-4, "m";
    /// Largest diameter of snow in the bright band.
    exact BIN_MAX = 0.02, "m";
    /// Real part of the refractive index of water at 0 °C, 10 cm.
    exact WATER_INDEX = 9.038_708_69, "1";
    /// Imaginary part of the refractive index of water, negative.
    exact WATER_ABSORPTION = 1.387_900_11, "1";
    /// Real part of the refractive index of ice at 0 °C, 10 cm.
    exact ICE_INDEX = 1.785_609_15, "1";
    /// Imaginary part of the refractive index of ice, negative.
    exact ICE_ABSORPTION = 1.348_469_10e-4, "1";
    /// Least ice and water fraction that the mixing rule divides by.
    exact FRACTION_MIN = 1.0e-10, "1";
}

/// Number of size bins of melting snow.
pub const BINS: usize = 50;

shared_struct! {
    /// Size bins of melting snow: integration by Simpson's rule over logarithmic diameters.
    pub struct Bins<R> {
        /// Diameter.
        diameter: [R; BINS], "m";
        /// Simpson weight times diameter to the sixth times width.
        weight: [R; BINS], "m⁷";
    }
}

impl<R: RadarConstants> Default for Bins<R> {
    /// The bins of snow.
    fn default() -> Self {
        Self::up_to(f64::BIN_MAX)
    }
}

impl<R: RadarConstants> Bins<R> {
    /// Bins from the smallest diameter to the `largest` one, m.
    pub fn up_to(largest: f64) -> Self {
        let ratio = largest / f64::BIN_MIN;
        let edge = |n: usize| f64::BIN_MIN * ratio.powf(n as f64 / BINS as f64);
        let simpson = |n: usize| match n {
            0 => 1.0 / 3.0,
            n if n % 2 == 1 => 4.0 / 3.0,
            _ => 2.0 / 3.0,
        };
        let diameter = |n| (edge(n) * edge(n + 1)).sqrt();
        let weight = |n| simpson(n) * diameter(n).powi(6) * (edge(n + 1) - edge(n));
        Self {
            diameter: std::array::from_fn(|n| R::of(diameter(n))),
            weight: std::array::from_fn(|n| R::of(weight(n))),
        }
    }
}

shared_struct! {
    /// Input of the reflectivity at one level of a column.
    pub struct Target<R> {
        /// Temperature.
        t: R, "K";
        /// Pressure.
        p: R, "Pa";
        /// Vapour mixing ratio.
        qv: R, "kg kg⁻¹";
        /// Rain mixing ratio.
        qr: R, "kg kg⁻¹";
        /// Snow mixing ratio.
        qs: R, "kg kg⁻¹";
    }
}

impl<R> Target<R> {
    /// The same in another precision.
    pub fn map<S>(self, with: impl Fn(R) -> S) -> Target<S> {
        let Self { t, p, qv, qr, qs } = self;
        Target { t: with(t), p: with(p), qv: with(qv), qr: with(qr), qs: with(qs) }
    }
}

/// Returns `true` if there is rain above the threshold of the radar, `Q_PRECIPITATION_MIN`.
#[inline(always)]
pub fn has_rain<R: RadarConstants>(target: &Target<R>) -> bool {
    target.qr > R::Q_PRECIPITATION_MIN
}

/// Returns `true` if there is snow above the threshold of the radar, `Q_PRECIPITATION_MIN`.
#[inline(always)]
pub fn has_snow<R: RadarConstants>(target: &Target<R>) -> bool {
    target.qs > R::Q_PRECIPITATION_MIN
}

/// Returns `true` if snow melts at this level: it is warmer than freezing and holds rain, and `above`, the next level,
/// holds snow.
#[inline(always)]
pub fn is_melting<R: RadarConstants>(target: &Target<R>, above: &Target<R>) -> bool {
    target.t > R::FREEZING && has_rain(target) && has_snow(above)
}

/// Reflectivity of a reflectivity factor.
///
/// Units: `z` m³; returns dBZ, ≥ -35.
#[inline(always)]
pub fn decibels<R: RadarConstants>(z: R) -> R {
    (R::DECIBEL * (z * R::MM6_PER_M3).log10()).larger(R::DBZ_MIN)
}

/// Content of a species in the air, with the density of moist air.
///
/// q 0.622 p / (rd t (max(1e-10, qv) + 0.622))
///
/// Units: `q` kg kg⁻¹; returns kg m⁻³.
#[inline(always)]
pub fn content<R: RadarConstants>(target: &Target<R>, q: R) -> R {
    let epsilon = R::RADAR_EPSILON;
    let qv = target.qv.larger(R::RADAR_VAPOUR_MIN);
    q * epsilon * target.p / (R::R_DRY * target.t * (qv + epsilon))
}

/// Mass of a sphere over the cube of its diameter, π rho / 6, kg m⁻³.
#[inline(always)]
pub fn sphere<R: RadarConstants>(rho: R) -> R {
    R::PI * rho / R::GAMMA_4
}

/// Inverse slope of an exponential distribution of spheres.
///
/// L = (content / (π rho / 6 Γ(4) intercept))^(1/4)
///
/// Units: `content` and `rho` kg m⁻³, `intercept` m⁻⁴; returns m.
#[inline(always)]
pub fn inverse_slope<R: RadarConstants>(content: R, rho: R, intercept: R) -> R {
    (content / (sphere(rho) * R::GAMMA_4 * intercept)).sqrt().sqrt()
}

/// The seventh power of a length, as in the sixth moment of an exponential distribution. Units: m; returns m⁷.
#[inline(always)]
pub fn seventh_power<R: RadarConstants>(x: R) -> R {
    let x2 = x * x;
    x * x2 * (x2 * x2)
}

/// Reflectivity factor of rain.
///
/// Zr = n0r Γ(7) L⁷
///
/// Units: returns m³.
#[inline(always)]
pub fn z_rain<R: RadarConstants>(p: &Wsm5Params<R>, target: &Target<R>) -> R {
    if !has_rain(target) {
        return R::Z_NONE;
    }
    let length = inverse_slope(content(target, target.qr), R::RHO_WATER, p.n0r);
    p.n0r * R::GAMMA_7 * seventh_power(length)
}

/// Intercept of the snow size distribution, as in WRF's radar code.
///
/// Ns = min(n0smax, n0s exp(-α min(-0.001, t - t0)))
///
/// Units: `t` K; returns m⁻⁴.
#[inline(always)]
pub fn snow_intercept<R: RadarConstants>(p: &Wsm5Params<R>, t: R) -> R {
    let warmth = (t - R::FREEZING).smaller(-R::SNOW_COLD_MIN);
    (p.n0s * (-p.alpha * warmth).exp()).smaller(p.n0s_max)
}

/// Reflectivity factor of dry snow.
///
/// Zs = 0.176 / 0.93 (6 / π)² (am / 900)² Ns Γ(7) L⁷
///
/// Units: returns m³.
#[inline(always)]
pub fn z_snow<R: RadarConstants>(p: &Wsm5Params<R>, target: &Target<R>) -> R {
    if !has_snow(target) {
        return R::Z_NONE;
    }
    let intercept = snow_intercept(p, target.t);
    let length = inverse_slope(content(target, target.qs), R::RHO_SNOW, intercept);
    let packing = R::GAMMA_4 / R::PI * sphere(R::RHO_SNOW) / R::RHO_ICE;
    R::ICE_DIELECTRIC * packing * packing * intercept * R::GAMMA_7 * seventh_power(length)
}

/// Sixth moment of an exponential size distribution, over its intercept.
///
/// Σ σ D⁶ exp(-D / L) ΔD
///
/// Units: `length` L m; returns m⁷.
pub fn sixth_moment<R: RadarConstants>(bins: &Bins<R>, length: R) -> R {
    let pairs = bins.diameter.iter().zip(&bins.weight);
    pairs.map(|(&diameter, &weight)| weight * (-diameter / length).exp()).sum()
}

/// Reflectivity factor of melting snow.
///
/// Zs = W(φ) / Kw Ns Σ σ D⁶ exp(-D / L) ΔD, φ = 1 - Ms / Ms(melting level)
///
/// Units: `snow_above` kg m⁻³; returns m³.
pub fn z_melting_snow<R: RadarConstants>(
    p: &Wsm5Params<R>,
    bins: &Bins<R>,
    target: &Target<R>,
    snow_above: R,
) -> R {
    let snow = content(target, target.qs);
    let intercept = snow_intercept(p, target.t);
    let length = inverse_slope(snow, R::RHO_SNOW, intercept);
    let melted = melted_fraction(snow, snow_above);
    let sum = sixth_moment(bins, length);
    melting_backscatter(melted) / R::WATER_DIELECTRIC * intercept * sum
}

/// Melted fraction of a species, from its content and that at the melting level.
///
/// φ = 1 - M / M(melting level), within bounds
///
/// Units: kg m⁻³; returns 1.
pub fn melted_fraction<R: RadarConstants>(content: R, content_above: R) -> R {
    (R::ONE - content / content_above).smaller(R::MELTED_MAX).larger(R::MELTED_MIN)
}

/// Squared dielectric factor of a melting flake times the sixth power of its shrinking, W(φ).
///
/// Units: `melted` fraction 1; returns 1.
pub fn melting_backscatter<R: RadarConstants>(melted: R) -> R {
    backscatter_of_melting(R::RHO_SNOW, melted)
}

/// Squared dielectric factor of a melting particle times the sixth power of its shrinking, W(φ).
///
/// Ice in water, then air in both, by the mixing rule of Maxwell Garnett.
///
/// Units: `rho` of the dry particle kg m⁻³, `melted` fraction 1; returns 1.
pub fn backscatter_of_melting<R: RadarConstants>(rho: R, melted: R) -> R {
    let rho_ice = R::RHO_ICE;
    let rho_water = R::RHO_WATER;
    let outside = R::MELT_OUTSIDE + (R::ONE - R::MELT_OUTSIDE) * melted;
    // Melted fraction at which the particle has collapsed onto its water.
    let collapse = (rho_ice - rho) / (rho_ice * outside - rho + rho_ice * rho / rho_water);
    let volume = if melted <= collapse {
        R::ONE - outside * melted
    } else {
        rho * ((R::ONE - melted) / rho_ice + melted / rho_water)
    };
    let ice = rho * (R::ONE - melted) / (rho_ice * volume);
    let water = rho * melted / (rho_water * volume);
    let air = R::ONE - ice - water;

    let water_index = Complex::new(R::WATER_INDEX, -R::WATER_ABSORPTION);
    let ice_index = Complex::new(R::ICE_INDEX, -R::ICE_ABSORPTION);
    let wet = mix(
        water_index * water_index,
        ice_index * ice_index,
        ice / (ice + water).larger(R::FRACTION_MIN),
    );
    let one = Complex::new(R::ONE, R::ZERO);
    let particle = mix(wet, one, air);
    let dielectric = (particle - one) / (particle + one + one);
    dielectric.norm_sqr() * volume * volume
}

/// Permittivity of a matrix with inclusions of the volume fraction `fraction`.
///
/// β = 2 e1 / (e2 - e1) (e2 / (e2 - e1) ln(e2 / e1) - 1); e = ((1 - c) e1 + c β e2) / (1 - c + c β)
///
/// Source: Maxwell Garnett mixing with spheroidal inclusions of all shapes.
pub fn mix<R: RadarConstants>(
    matrix: Complex<R>,
    inclusion: Complex<R>,
    fraction: R,
) -> Complex<R> {
    let contrast = inclusion - matrix;
    let beta =
        (inclusion / contrast * (inclusion / matrix).ln() - R::ONE) * matrix / contrast * R::TWO;
    let share = beta * fraction;
    let rest = R::ONE - fraction;
    (matrix * rest + share * inclusion) / (share + rest)
}

//! Thermodynamics of moist air, and the transport coefficients of heat and vapour in it.

use crate::constants::Constants;
use crate::cuda_abi::{shared_constants, shared_struct};

shared_constants! {
    /// Coefficients of the empirical transport laws.
    ///
    /// Source: RH83 appendix; the laws of viscosity and diffusivity as in HDC04.
    pub trait TransportConstants: Constants;

    /// Factor of the dynamic viscosity law.
    exact VISCOSITY = 1.496e-6, "kg m⁻¹ s⁻¹ K⁻¹ᐟ²";
    /// Temperature offset of the dynamic viscosity law (Sutherland).
    exact SUTHERLAND = 120.0, "K";
    /// Factor of the law of vapour diffusivity.
    exact DIFFUSIVITY = 8.794e-5, "m² s⁻¹ Pa K⁻¹·⁸¹";
    /// Exponent of temperature in the law of vapour diffusivity.
    exact DIFFUSIVITY_EXPONENT = 1.81, "1";
    /// Ratio of heat conductivity to dynamic viscosity.
    exact CONDUCTIVITY = 1.414e3, "J kg⁻¹ K⁻¹";
    /// Exponent of the Schmidt number in the ventilation factor, one third to seven digits.
    exact VENTILATION_EXPONENT = 0.333_333_3, "1";
    /// Largest fraction of the pressure that saturated vapour may take.
    exact VAPOUR_PRESSURE_CAP = 0.99, "1";
}

/// Specific heat of moist air at constant pressure (WRF `cpm`).
///
/// cpm = cpd (1 - max(qv, qmin)) + cpv max(qv, qmin)
///
/// Units: `qv` kg kg⁻¹; returns J kg⁻¹ K⁻¹.
#[inline(always)]
pub fn heat_capacity<R: Constants>(qv: R) -> R {
    let vapour = qv.larger(R::Q_MIN);
    R::CP_DRY * (R::ONE - vapour) + vapour * R::CP_VAPOUR
}

/// Latent heat of vaporisation (WRF `xl`).
///
/// L = `xlv0` - `xlv1` (t - t0)
///
/// Units: `t` K; returns J kg⁻¹.
#[inline(always)]
pub fn latent_heat<R: Constants>(t: R) -> R {
    R::L_VAPORISATION - R::L_SLOPE * (t - R::FREEZING)
}

shared_struct! {
    /// Saturation mixing ratios at one temperature and pressure.
    #[derive(Default)]
    pub struct Saturation<R> {
        /// Over water.
        water: R, "kg kg⁻¹";
        /// Over ice below the triple point and over water above it.
        ice: R, "kg kg⁻¹";
    }
}

/// Saturation over water and over ice (WRF `qs`).
///
/// e = psat exp(a ln(tr) + b (1 - tr)), tr = tt / t; e ≤ `cap` p; qs = max(ε e / (p - e), qmin)
///
/// with a = (c - cpv) / rv, b = a + l / (rv tt) of water or ice. Without a cap, qs = qmin if the pressure is too low
/// for e.
///
/// Source: HDC04 appendix. Units: `t` K, `p` Pa, `cap` 1 ([`TransportConstants::VAPOUR_PRESSURE_CAP`]
/// or infinite); returns kg kg⁻¹, ≥ qmin.
#[inline(always)]
pub fn saturation<R: TransportConstants>(t: R, p: R, cap: R) -> Saturation<R> {
    let triple_point = R::FREEZING + R::TRIPLE_POINT_EXCESS;
    let tr = triple_point / t;
    let ln_tr = tr.ln();
    let water = mixing_ratio(p, vapour_pressure(tr, ln_tr, R::C_LIQUID, R::L_VAPORISATION), cap);
    let ice = if t < triple_point {
        mixing_ratio(p, vapour_pressure(tr, ln_tr, R::C_ICE, R::L_SUBLIMATION), cap)
    } else {
        water
    };
    Saturation { water, ice }
}

/// Saturation over water alone: [`Saturation::water`] of [`saturation`].
///
/// Units: `t` K, `p` Pa, `cap` 1; returns kg kg⁻¹, ≥ qmin.
#[inline(always)]
pub fn saturation_water<R: TransportConstants>(t: R, p: R, cap: R) -> R {
    let tr = (R::FREEZING + R::TRIPLE_POINT_EXCESS) / t;
    mixing_ratio(p, vapour_pressure(tr, tr.ln(), R::C_LIQUID, R::L_VAPORISATION), cap)
}

/// Vapour pressure in equilibrium with a phase of specific heat `c` and latent heat `l`.
///
/// The e of [`saturation`], from tr and its logarithm.
///
/// Units: `tr` and `ln_tr` 1, `c` J kg⁻¹ K⁻¹, `l` J kg⁻¹; returns Pa.
#[inline(always)]
pub fn vapour_pressure<R: Constants>(tr: R, ln_tr: R, c: R, l: R) -> R {
    let a = (c - R::CP_VAPOUR) / R::R_VAPOUR;
    let b = a + l / (R::R_VAPOUR * (R::FREEZING + R::TRIPLE_POINT_EXCESS));
    R::TRIPLE_POINT_PRESSURE * (a * ln_tr + b * (R::ONE - tr)).exp()
}

/// Mixing ratio of vapour at partial pressure `e`, up to `cap` of the air's pressure `p`.
#[inline(always)]
pub fn mixing_ratio<R: TransportConstants>(p: R, e: R, cap: R) -> R {
    let e = e.smaller(cap * p);
    (R::EPSILON * e / (p - e)).larger(R::Q_MIN)
}

/// Kinematic viscosity of air.
///
/// ν = 1.496e-6 t^(3/2) / (t + 120) / rho
///
/// Source: RH83. Units: `t` K, `rho` kg m⁻³; returns m² s⁻¹.
#[inline(always)]
pub fn viscosity<R: TransportConstants>(t: R, rho: R) -> R {
    R::VISCOSITY * t * t.sqrt() / (t + R::SUTHERLAND) / rho
}

/// Heat conductivity of air from its viscosity.
///
/// K = 1.414e3 ν rho
///
/// Source: RH83. Units: `viscosity` m² s⁻¹, `rho` kg m⁻³; returns J m⁻¹ s⁻¹ K⁻¹.
#[inline(always)]
pub fn conductivity<R: TransportConstants>(viscosity: R, rho: R) -> R {
    R::CONDUCTIVITY * viscosity * rho
}

/// Diffusivity of vapour in air.
///
/// D = 8.794e-5 t^1.81 / p
///
/// Source: RH83. Units: `t` K, `p` Pa; returns m² s⁻¹.
#[inline(always)]
pub fn diffusivity<R: TransportConstants>(t: R, p: R) -> R {
    R::DIFFUSIVITY * t.powf(R::DIFFUSIVITY_EXPONENT) / p
}

/// Resistance to the growth of a particle by vapour (WRF `diffac`).
///
/// A = rho l² / (K rv t²) + 1 / (qs D): heat to carry away and vapour to bring.
///
/// Source: RH83; HDC04 eq. 9. Units: `l` J kg⁻¹, `t` K, `rho` kg m⁻³, `conductivity`
/// J m⁻¹ s⁻¹ K⁻¹, `diffusivity` m² s⁻¹, `saturation` kg kg⁻¹; returns s m⁻².
#[inline(always)]
pub fn growth_resistance<R: Constants>(
    l: R,
    t: R,
    rho: R,
    conductivity: R,
    diffusivity: R,
    saturation: R,
) -> R {
    let heat = rho * l * l / (conductivity * R::R_VAPOUR * t * t);
    heat + R::ONE / (saturation * diffusivity)
}

/// Ventilation of a falling particle, without its size (WRF `venfac`).
///
/// V = (ν / D)^(1/3) (rho0 / rho)^(1/4) / √ν
///
/// Source: RH83; HDC04 eq. 14. Units: `viscosity`, `diffusivity` m² s⁻¹, `rho` kg m⁻³;
/// returns s¹ᐟ² m⁻¹.
#[inline(always)]
pub fn ventilation<R: TransportConstants>(viscosity: R, diffusivity: R, rho: R) -> R {
    let schmidt = (viscosity / diffusivity).powf(R::VENTILATION_EXPONENT);
    schmidt * (R::RHO_REFERENCE / rho).sqrt().sqrt() / viscosity.sqrt()
}

/// Exner function of a pressure.
///
/// π = (p / p0)^(rd / cpd)
///
/// Units: `p` Pa; returns 1.
#[inline(always)]
pub fn exner<R: Constants>(p: R) -> R {
    (p / R::REFERENCE_PRESSURE).powf(R::R_DRY / R::CP_DRY)
}

/// Specific volume of the dry part of moist air (WRF `alt`).
///
/// α = rd / p0 θ (1 + rv / rd qv) (p / p0)^(-cv / cp)
///
/// Source: equation of state, with cv = cp - rd. Units: `theta` K, `qv` kg kg⁻¹, `p` Pa;
/// returns m³ kg⁻¹.
#[inline(always)]
pub fn specific_volume<R: Constants>(theta: R, qv: R, p: R) -> R {
    let cv_over_cp = (R::CP_DRY - R::R_DRY) / R::CP_DRY;
    R::R_DRY / R::REFERENCE_PRESSURE
        * theta
        * (R::ONE + R::R_VAPOUR / R::R_DRY * qv)
        * (p / R::REFERENCE_PRESSURE).powf(-cv_over_cp)
}

//! Physical constants, each with its unit, as WRF passes them to its microphysics.

use crate::cuda_abi::shared_constants;
use crate::real::Real;

shared_constants! {
    /// Physical constants of dry air, water vapour, water and ice.
    ///
    /// Source: WRF `share/module_model_constants`, whose values the scheme was tuned with.
    pub trait Constants: Real;

    /// Acceleration due to gravity (WRF `g`).
    exact GRAVITY = 9.81, "m s⁻²";
    /// Specific heat of dry air at constant pressure (WRF `cp`), 7/2 `R_DRY`.
    exact CP_DRY = 1004.5, "J kg⁻¹ K⁻¹";
    /// Specific heat of water vapour at constant pressure (WRF `cpv`), 4 `R_VAPOUR`.
    exact CP_VAPOUR = 1846.4, "J kg⁻¹ K⁻¹";
    /// Gas constant of dry air (WRF `r_d`).
    exact R_DRY = 287.0, "J kg⁻¹ K⁻¹";
    /// Gas constant of water vapour (WRF `r_v`).
    exact R_VAPOUR = 461.6, "J kg⁻¹ K⁻¹";
    /// Ratio of the gas constants of dry air and vapour (WRF `ep_2`).
    exact EPSILON = 287.0_f64 / 461.6_f64, "1";
    /// Specific heat of liquid water (WRF `cliq`).
    exact C_LIQUID = 4190.0, "J kg⁻¹ K⁻¹";
    /// Specific heat of ice (WRF `cice`).
    exact C_ICE = 2106.0, "J kg⁻¹ K⁻¹";
    /// Latent heat of vaporisation at freezing (WRF `xlv`).
    exact L_VAPORISATION = 2.5e6, "J kg⁻¹";
    /// Latent heat of sublimation (WRF `xls`).
    exact L_SUBLIMATION = 2.85e6, "J kg⁻¹";
    /// Latent heat of fusion (WRF `xlf`).
    exact L_FUSION = 3.5e5, "J kg⁻¹";
    /// Decrease of the latent heat of vaporisation with temperature (WRF `xlv1`),
    /// `C_LIQUID` - `CP_VAPOUR`.
    single L_SLOPE = 4190.0_f32 - 1846.4_f32, "J kg⁻¹ K⁻¹";
    /// Freezing point of water (WRF `svpt0`).
    exact FREEZING = 273.15, "K";
    /// Triple point of water above [`Constants::FREEZING`].
    exact TRIPLE_POINT_EXCESS = 0.01, "K";
    /// Saturation vapour pressure at the triple point (WRF `psat`).
    exact TRIPLE_POINT_PRESSURE = 610.78, "Pa";
    /// Reference pressure of the Exner function (WRF `p1000mb`).
    exact REFERENCE_PRESSURE = 1.0e5, "Pa";
    /// Base of the potential temperature that WRF's files store (WRF `t0`).
    exact THETA_BASE = 300.0, "K";
    /// Density of liquid water (WRF `rhowater`).
    exact RHO_WATER = 1000.0, "kg m⁻³";
    /// Density of snow (WRF `rhosnow`).
    exact RHO_SNOW = 100.0, "kg m⁻³";
    /// Reference air density of the fall speeds (WRF `rhoair0`).
    exact RHO_REFERENCE = 1.28, "kg m⁻³";
    /// Mixing ratio below which a species counts as absent (WRF `epsilon`, `qmin`).
    exact Q_MIN = 1.0e-15, "kg kg⁻¹";
    /// π as WSM5 computes it, 4 atan 1 in single precision.
    single PI = core::f32::consts::PI, "1";
}

//! Effective radii of cloud drops, ice crystals and snow, as inputs for radiation schemes.

use crate::cuda_abi::shared_constants;
use crate::physics::wsm5::params::{SchemeConstants, Wsm5Params};
use crate::physics::wsm5::slope::{ice_number, snow_intercept_factor};

shared_constants! {
    /// Bounds and shapes of the effective radii (WRF `effectRad_wsm5`).
    pub trait RadiusConstants: SchemeConstants;

    /// Content up to which a species has no radius of its own.
    exact CONTENT_MIN = 1.0e-12, "kg m⁻³";
    /// Radius of cloud drops where there is no cloud.
    exact RE_CLOUD_NONE = 2.49e-6, "m";
    /// Smallest radius of cloud drops.
    exact RE_CLOUD_MIN = 2.51e-6, "m";
    /// Largest radius of cloud drops.
    exact RE_CLOUD_MAX = 50.0e-6, "m";
    /// Effective radius of cloud drops over the length of their distribution.
    exact RE_CLOUD_SHAPE = 1.5, "1";
    /// Radius of ice crystals where there is no ice.
    exact RE_ICE_NONE = 4.99e-6, "m";
    /// Smallest radius of ice crystals.
    exact RE_ICE_MIN = 10.01e-6, "m";
    /// Largest radius of ice crystals.
    exact RE_ICE_MAX = 125.0e-6, "m";
    /// Effective radius of ice crystals over their diameter.
    exact RE_ICE_SHAPE = 0.75 * 0.163, "1";
    /// Radius of snow where there is no snow.
    exact RE_SNOW_NONE = 9.99e-6, "m";
    /// Smallest radius of snow.
    exact RE_SNOW_MIN = 25.0e-6, "m";
    /// Largest radius of snow.
    exact RE_SNOW_MAX = 999.0e-6, "m";
}

/// Effective radius of cloud drops (WRF `re_cloud`).
///
/// re = 1.5 (qc rho / (π rhow / 6 · xncr))^(1/3), 2.51 µm to 50 µm; 2.49 µm without cloud
///
/// Units: `rho` kg m⁻³, `qc` kg kg⁻¹; returns m.
#[inline(always)]
pub fn re_cloud<R: RadiusConstants>(p: &Wsm5Params<R>, rho: R, qc: R) -> R {
    let content = qc * rho;
    if content <= R::CONTENT_MIN {
        return R::RE_CLOUD_NONE;
    }
    let radius = R::RE_CLOUD_SHAPE * (content / (p.pidnc * p.xncr)).cbrt();
    radius.smaller(R::RE_CLOUD_MAX).larger(R::RE_CLOUD_MIN)
}

/// Effective radius of ice crystals (WRF `re_ice`).
///
/// re = 0.75 · 0.163 · 11.9 √(qi rho / N), 10.01 µm to 125 µm; 4.99 µm without ice
///
/// Units: `rho` kg m⁻³, `qi` kg kg⁻¹; returns m.
#[inline(always)]
pub fn re_ice<R: RadiusConstants>(p: &Wsm5Params<R>, rho: R, qi: R) -> R {
    let content = qi * rho;
    if content <= R::CONTENT_MIN {
        return R::RE_ICE_NONE;
    }
    let radius = R::RE_ICE_SHAPE * p.dicon * (content / ice_number(rho, qi)).sqrt();
    radius.smaller(R::RE_ICE_MAX).larger(R::RE_ICE_MIN)
}

/// Effective radius of snow (WRF `re_snow`).
///
/// re = 0.5 (qs rho / (π rhos n0s F))^(1/4), 25 µm to 999 µm; 9.99 µm without snow
///
/// Units: `t` K, `rho` kg m⁻³, `qs` kg kg⁻¹; returns m.
#[inline(always)]
pub fn re_snow<R: RadiusConstants>(p: &Wsm5Params<R>, t: R, rho: R, qs: R) -> R {
    let content = qs * rho;
    if content <= R::CONTENT_MIN {
        return R::RE_SNOW_NONE;
    }
    let density = p.pidn0s * snow_intercept_factor(p, t);
    let radius = R::HALF * (content / density).sqrt().sqrt();
    radius.smaller(R::RE_SNOW_MAX).larger(R::RE_SNOW_MIN)
}

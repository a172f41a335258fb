//! A cell: its contents, and the coefficients that its rates share. Its air is that of WSM5.

use super::params::{Wsm6Constants, Wsm6Params};
use super::shared::slope::{Slope, slope_rain, slope_snow, snow_intercept_factor};
use super::shared::{self, Air, StepStart};
use super::slope::slope_graupel;
use crate::cuda_abi::shared_struct;
use crate::real::Real;
use crate::thermo::{conductivity, diffusivity, growth_resistance, ventilation, viscosity};

shared_struct! {
    /// Contents of a cell.
    #[derive(Default)]
    pub struct Wsm6Cell<R> {
        /// Temperature.
        t: R, "K";
        /// Vapour.
        qv: R, "kg kg⁻¹";
        /// Cloud water.
        qc: R, "kg kg⁻¹";
        /// Rain.
        qr: R, "kg kg⁻¹";
        /// Cloud ice.
        qi: R, "kg kg⁻¹";
        /// Snow.
        qs: R, "kg kg⁻¹";
        /// Graupel.
        qg: R, "kg kg⁻¹";
    }
}

shared_struct! {
    /// Coefficients that several rates of a cell share.
    #[derive(Default)]
    pub struct Wsm6Coefficients<R> {
        /// Those of rain, snow and vapour.
        common: shared::Coefficients<R>, "1";
        /// Slope of the graupel size distribution.
        graupel: Slope<R>, "m, mᵇ";
    }
}

/// The contents of a cell that WSM5 knows.
#[inline(always)]
pub fn without_graupel<R: Real>(cell: &Wsm6Cell<R>) -> shared::Cell<R> {
    let Wsm6Cell { t, qv, qc, qr, qi, qs, .. } = *cell;
    shared::Cell { t, qv, qc, qr, qi, qs }
}

/// Returns `true` if a cell holds nothing but vapour.
#[inline(always)]
pub fn is_clear<R: Wsm6Constants>(cell: &Wsm6Cell<R>) -> bool {
    shared::cell::is_clear(&without_graupel(cell)) && cell.qg <= R::ZERO
}

/// All water of a cell, kg kg⁻¹.
#[inline(always)]
pub fn water<R: Real>(cell: &Wsm6Cell<R>) -> R {
    shared::cell::water(&without_graupel(cell)) + cell.qg
}

/// The coefficients of a cell; zeros if no rate needs them.
#[inline(always)]
pub fn coefficients<R: Wsm6Constants>(
    p: &Wsm6Params<R>,
    air: &Air<R>,
    step_start: &StepStart<R>,
    cell: &Wsm6Cell<R>,
) -> Wsm6Coefficients<R> {
    let (rain, snow, graupel) = (cell.qr > R::ZERO, cell.qs > R::ZERO, cell.qg > R::ZERO);
    let rimed = snow || graupel;
    let is_cold = cell.t < R::FREEZING;
    let n0s_factor = if snow { snow_intercept_factor(&p.common, cell.t) } else { R::ONE };
    let mut common = shared::Coefficients {
        rain: slope_rain(&p.common, air.rho, cell.qr),
        snow: slope_snow(&p.common, air.rho, cell.qs, n0s_factor),
        n0s_factor,
        ..shared::Coefficients::default()
    };
    let viscosity = viscosity(cell.t, air.rho);
    let conductivity = conductivity(viscosity, air.rho);
    let diffusivity = diffusivity(cell.t, air.p);
    let resistance = |latent_heat, saturation| {
        growth_resistance(latent_heat, cell.t, air.rho, conductivity, diffusivity, saturation)
    };
    // Snow and graupel evaporate where they melt.
    if rain || rimed && !is_cold {
        common.resistance_water = resistance(air.latent_heat, step_start.qsw);
    }
    if is_cold && (rimed || cell.qi > R::ZERO) {
        common.resistance_ice = resistance(R::L_SUBLIMATION, step_start.qsi);
    }
    if rain || rimed {
        common.ventilation = ventilation(viscosity, diffusivity, air.rho);
    }
    Wsm6Coefficients { common, graupel: slope_graupel(p, air.rho, cell.qg) }
}

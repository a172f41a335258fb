//! A cell: its contents, its air, and the coefficients that its rates share.

use crate::cuda_abi::shared_struct;
use crate::physics::wsm5::Sedimentation;
use crate::physics::wsm5::params::{SchemeConstants, Wsm5Params};
use crate::physics::wsm5::scheme::Scheme;
use crate::physics::wsm5::slope::{Slope, slope_rain, slope_snow, snow_intercept_factor};
use crate::real::Real;
use crate::thermo::{
    conductivity, diffusivity, growth_resistance, heat_capacity, latent_heat, saturation,
    ventilation, viscosity,
};

shared_struct! {
    /// Contents of a cell.
    #[derive(Default)]
    pub struct Cell<R> {
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
    }
}

shared_struct! {
    /// The air of a cell, invariant during a call.
    #[derive(Default)]
    pub struct Air<R> {
        /// Density of dry air.
        rho: R, "kg m⁻³";
        /// Pressure.
        p: R, "Pa";
        /// Depth of the layer.
        dz: R, "m";
        /// √(rho0 / rho), the factor by which thin air speeds up the fall (WRF `denfac`).
        density_factor: R, "1";
        /// Specific heat at the start of the call (WRF `cpm`).
        heat_capacity: R, "J kg⁻¹ K⁻¹";
        /// Latent heat of vaporisation at the start of the call (WRF `xl`).
        latent_heat: R, "J kg⁻¹";
    }
}

shared_struct! {
    /// Values at the start of a minor step that are used until its end.
    #[derive(Default)]
    pub struct StepStart<R> {
        /// Temperature.
        t: R, "K";
        /// Saturation over water.
        qsw: R, "kg kg⁻¹";
        /// Saturation over ice.
        qsi: R, "kg kg⁻¹";
    }
}

shared_struct! {
    /// Coefficients that several rates of a cell share.
    #[derive(Default)]
    pub struct Coefficients<R> {
        /// Slope of the rain size distribution.
        rain: Slope<R>, "m, mᵇ";
        /// Slope of the snow size distribution.
        snow: Slope<R>, "m, mᵇ";
        /// Factor of the snow intercept (WRF `n0sfac`).
        n0s_factor: R, "1";
        /// Resistance to growth in vapour over water (WRF `work1(:,:,1)`).
        resistance_water: R, "s m⁻²";
        /// Resistance to growth in vapour over ice (WRF `work1(:,:,2)`).
        resistance_ice: R, "s m⁻²";
        /// Ventilation of falling particles (WRF `work2`).
        ventilation: R, "s¹ᐟ² m⁻¹";
    }
}

/// Returns `true` if a cell holds nothing but vapour.
#[inline(always)]
pub fn is_clear<R: SchemeConstants>(cell: &Cell<R>) -> bool {
    cell.qc <= R::ZERO && cell.qr <= R::ZERO && cell.qi <= R::ZERO && cell.qs <= R::ZERO
}

/// All water of a cell, kg kg⁻¹.
#[inline(always)]
pub fn water<R: Real>(cell: &Cell<R>) -> R {
    cell.qv + cell.qc + cell.qr + cell.qi + cell.qs
}

/// Sets the invariants of a call, from the density and the cell at its start.
#[inline(always)]
pub fn set_call_invariants<R: SchemeConstants>(cell: &Cell<R>, air: &mut Air<R>) {
    air.density_factor = (R::ONE / air.rho * R::RHO_REFERENCE).sqrt();
    air.heat_capacity = heat_capacity(cell.qv);
    air.latent_heat = latent_heat(cell.t);
}

/// Temperature and saturation of a cell at the start of a minor step.
#[inline(always)]
pub fn step_start<R: SchemeConstants>(
    p: &Wsm5Params<R>,
    air: &Air<R>,
    cell: &Cell<R>,
) -> StepStart<R> {
    let saturation = saturation(cell.t, air.p, p.vapour_pressure_cap);
    StepStart { t: cell.t, qsw: saturation.water, qsi: saturation.ice }
}

/// The coefficients of a cell; zeros if no rate needs them.
#[inline(always)]
pub fn coefficients<R: SchemeConstants>(
    p: &Scheme<R>,
    air: &Air<R>,
    step_start: &StepStart<R>,
    cell: &Cell<R>,
) -> Coefficients<R> {
    let (rain, snow) = (cell.qr > R::ZERO, cell.qs > R::ZERO);
    let deposits = cell.t < R::FREEZING && (snow || cell.qi > R::ZERO);
    let t_snow = match p.fallout {
        Sedimentation::SemiLagrangian => cell.t,
        Sedimentation::Substepped => step_start.t,
    };
    let n0s_factor = if snow { snow_intercept_factor(p, t_snow) } else { R::ONE };
    let mut coefficients = Coefficients {
        rain: slope_rain(p, air.rho, cell.qr),
        snow: slope_snow(p, air.rho, cell.qs, n0s_factor),
        n0s_factor,
        ..Coefficients::default()
    };
    if !(rain || deposits) {
        return coefficients;
    }
    let viscosity = viscosity(cell.t, air.rho);
    let conductivity = conductivity(viscosity, air.rho);
    let diffusivity = diffusivity(cell.t, air.p);
    let resistance = |latent_heat, saturation| {
        growth_resistance(latent_heat, cell.t, air.rho, conductivity, diffusivity, saturation)
    };
    if rain {
        coefficients.resistance_water = resistance(air.latent_heat, step_start.qsw);
    }
    if deposits {
        coefficients.resistance_ice = resistance(R::L_SUBLIMATION, step_start.qsi);
    }
    if rain || snow {
        coefficients.ventilation = ventilation(viscosity, diffusivity, air.rho);
    }
    coefficients
}

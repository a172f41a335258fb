//! Constants and parameters of the scheme, each with its unit. Those of rain, snow and ice are WSM5's.

use super::shared::params::{Tuning, Wsm5Params, gamma};
use super::shared::reflectivity::RadarConstants;
pub use super::tuning::{RimedIce, RimedIceTuning};
use crate::constants::Constants;
use crate::cuda_abi::{shared_constants, shared_struct};

shared_constants! {
    /// Fixed numbers of the scheme beyond those of WSM5.
    ///
    /// Source: HL06 unless stated otherwise.
    pub trait Wsm6Constants: RadarConstants;

    /// Sum of snow and graupel up to which they have no common terminal velocity (DHL08).
    exact Q_COMMON_MIN = 1.0e-15, "kg kg⁻¹";
    /// Rain, and snow, below which what they collect of each other is snow, and graupel otherwise.
    exact Q_GRAUPEL_FORMATION = 1.0e-4, "kg kg⁻¹";
    /// Divisor of the mass of rain that freezes on ice crystals (HL06 eq. A19).
    exact PIACR_DIVISOR = 24.0, "1";
    /// Rate of aggregation of snow to graupel at freezing (HL06 eq. A4).
    exact GRAUPEL_AGGREGATION = 1.0e-3, "s⁻¹";
    /// Decrease of that rate with cold (HL06 eq. A4).
    exact GRAUPEL_AGGREGATION_DECAY = 0.09, "K⁻¹";
    /// Snow above which it aggregates to graupel (WRF `qs0`).
    exact GRAUPEL_AGGREGATION_THRESHOLD = 6.0e-4, "kg kg⁻¹";
    /// Largest diameter of graupel in the bright band.
    exact GRAUPEL_BIN_MAX = 0.05, "m";
}

shared_struct! {
    /// Parameters of graupel, derived once before the first step, in single precision as WRF does.
    #[derive(PartialEq)]
    pub struct GraupelParams<R> {
        /// Intercept of the size distribution (WRF `n0g`).
        n0g: R, "m⁻⁴";
        /// Density of a particle (WRF `deng`).
        density: R, "kg m⁻³";
        /// Exponent of the fall speed (WRF `bvtg`).
        bvtg: R, "1";
        /// Factor of the mean fall speed (WRF `pvtg`).
        pvtg: R, "m¹⁻ᵇ s⁻¹";
        /// Factor of the collection of cloud water (WRF `pacrg`).
        pacrg: R, "m⁻³⁻ᵇ s⁻¹";
        /// Factor of the growth without ventilation (WRF `precg1`).
        precg1: R, "m⁻⁴";
        /// Factor of the growth with ventilation (WRF `precg2`).
        precg2: R, "m⁻⁽⁷⁺ᵇ⁾ᐟ² s⁻¹ᐟ²";
        /// π `deng` `n0g` (WRF `pidn0g`).
        pidn0g: R, "kg m⁻⁷";
        /// Slope length where there is hardly any graupel (WRF `rslopegmax`).
        slope_min: R, "m";
        /// Its power `bvtg` (WRF `rslopegbmax`).
        slope_min_b: R, "mᵇ";
    }
}

shared_struct! {
    /// Parameters of the scheme.
    #[derive(PartialEq)]
    pub struct Wsm6Params<R> {
        /// Those of WSM5.
        common: Wsm5Params<R>, "1";
        /// Those of graupel.
        graupel: GraupelParams<R>, "1";
        /// Factor of the fall speed of a raindrop (WRF `avtr`).
        avtr: R, "m¹⁻ᵇ s⁻¹";
        /// Γ of 6 + `bvtr`, the moment of rain that freezes on ice crystals (WRF `g6pbr`).
        rain_moment: R, "1";
    }
}

/// A particle's mass grows with this power of its diameter, less one; its mean over an exponential size distribution has
/// the gamma function of one more.
const MASS_MOMENT: f32 = 4.0;
/// Γ of [`MASS_MOMENT`].
const MASS_GAMMA: f32 = 6.0;
/// One more than the power of the diameter in the area swept by a particle.
const AREA_MOMENT: f32 = 3.0;
/// Area of a circle over π and the square of its diameter.
const CIRCLE_OF_DIAMETER: f32 = 0.25;
/// The ventilation of spheres: the parts without and with the fall speed, 1 (HDC04 eq. 14).
const STILL: f32 = 0.78;
/// See [`STILL`].
const VENTILATED: f32 = 0.31;
/// Capacitance of spheres over their diameter, times 2π, 1.
const CAPACITANCE: f32 = 2.0;
/// One more than the power of the diameter in ventilation, without the fall speed.
const VENTILATION_MOMENT: f32 = 2.5;
/// Power of the diameter in the mass of rain that freezes on ice crystals, without the fall speed (HL06 eq. A19).
const RAIN_FREEZING_MOMENT: f32 = 6.0;

impl<R: Wsm6Constants> Wsm6Params<R> {
    /// Derives the parameters.
    ///
    /// Source: HL06 appendix, with the gamma function as WRF computes it.
    pub fn new(tuning: &Tuning, rimed: &RimedIceTuning) -> Self {
        let moment = RAIN_FREEZING_MOMENT + tuning.fall_rain_exponent as f32;
        Self {
            common: Wsm5Params::new(tuning),
            graupel: GraupelParams::new(rimed),
            avtr: R::of(as_written(tuning.fall_rain)),
            rain_moment: R::of(gamma(moment).into()),
        }
    }
}

/// The decimal number that a value of single precision was written as: WRF in double precision has it unrounded.
fn as_written(x: f32) -> f64 {
    x.to_string().parse().unwrap_or(x.into())
}

impl<R: Wsm6Constants> GraupelParams<R> {
    fn new(rimed: &RimedIceTuning) -> Self {
        let pi = f32::PI;
        let RimedIceTuning {
            n0g,
            graupel_density: density,
            fall_graupel: avtg,
            fall_graupel_exponent: fall_exponent,
            slope_graupel_max: slope_max,
        } = *rimed;
        let bvtg = fall_exponent as f32;
        let length = 1.0 / slope_max;
        let ventilation = gamma(VENTILATION_MOMENT + 0.5 * bvtg);
        // A value that WRF holds in single precision.
        let single = |x: f32| R::of(x.into());
        Self {
            n0g: single(n0g),
            density: single(density),
            bvtg: R::of(fall_exponent),
            pvtg: single(avtg * gamma(MASS_MOMENT + bvtg) / MASS_GAMMA),
            pacrg: single(pi * n0g * avtg * gamma(AREA_MOMENT + bvtg) * CIRCLE_OF_DIAMETER),
            precg1: single(CAPACITANCE * pi * n0g * STILL),
            precg2: single(CAPACITANCE * pi * n0g * VENTILATED * avtg.sqrt() * ventilation),
            pidn0g: single(pi * density * n0g),
            slope_min: single(length),
            slope_min_b: single(length.powf(bvtg)),
        }
    }
}

impl<R: Copy> Wsm6Params<R> {
    /// The same parameters in another precision.
    pub fn map<S>(&self, with: impl Fn(R) -> S) -> Wsm6Params<S> {
        let GraupelParams {
            n0g,
            density,
            bvtg,
            pvtg,
            pacrg,
            precg1,
            precg2,
            pidn0g,
            slope_min,
            slope_min_b,
        } = self.graupel;
        Wsm6Params {
            common: self.common.map(&with),
            graupel: GraupelParams {
                n0g: with(n0g),
                density: with(density),
                bvtg: with(bvtg),
                pvtg: with(pvtg),
                pacrg: with(pacrg),
                precg1: with(precg1),
                precg2: with(precg2),
                pidn0g: with(pidn0g),
                slope_min: with(slope_min),
                slope_min_b: with(slope_min_b),
            },
            avtr: with(self.avtr),
            rain_moment: with(self.rain_moment),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(
        clippy::excessive_precision,
        clippy::inconsistent_digit_grouping,
        reason = "nine digits, as they are published"
    )]
    fn derived_parameters_are_those_of_wrf() {
        let expected: [(RimedIce, [f32; 7]); 2] = [
            (
                RimedIce::Graupel,
                [
                    979.951_355,
                    4.863_062_02e9,
                    1.960_353_80e7,
                    2.585_233_28e8,
                    6.283_185_66e9,
                    1.666_666_69e-5,
                    1.504_800_60e-4,
                ],
            ),
            (
                RimedIce::Hail,
                [
                    846.321_594,
                    4.199_916_80e7,
                    1.960_353_75e5,
                    2.402_510_00e6,
                    8.796_460_00e7,
                    4.999_999_87e-5,
                    3.623_897_79e-4,
                ],
            ),
        ];
        for (kind, expected) in expected {
            let p = Wsm6Params::<f32>::new(&Tuning::default(), &kind.into());
            let g = p.graupel;
            let found = [g.pvtg, g.pacrg, g.precg1, g.precg2, g.pidn0g, g.slope_min, g.slope_min_b];
            assert_eq!(found.map(f32::to_bits), expected.map(f32::to_bits), "{kind:?}: {found:?}");
            assert_eq!(p.rain_moment.to_bits(), 495.459_778_f32.to_bits());
        }
        assert_eq!(
            Wsm6Params::<f64>::new(&Tuning::default(), &RimedIceTuning::default()).avtr.to_bits(),
            841.9_f64.to_bits()
        );
    }
}

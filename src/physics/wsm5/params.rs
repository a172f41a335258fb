//! Constants and parameters of the scheme, each with its unit.

use crate::constants::Constants;
use crate::cuda_abi::{shared_constants, shared_struct};
pub use crate::physics::wsm5::tuning::Tuning;
use crate::thermo::TransportConstants;

shared_constants! {
    /// Fixed numbers of the scheme: exponents, thresholds and published fits.
    ///
    /// Source: HDC04 and HL06 unless stated otherwise.
    pub trait SchemeConstants: TransportConstants;

    /// Longest time step of the microphysics (WRF `dtcldcr`).
    exact DT_CLOUD_MAX = 120.0, "s";
    /// Mixing ratio up to which rain and snow have their smallest slope (WRF `qcrmin`).
    exact Q_PRECIPITATION_MIN = 1.0e-9, "kg kg⁻¹";

    /// Factor of the number of ice crystals (HDC04 eq. 5c).
    exact ICE_NUMBER = 5.38e7, "m⁻³ (kg m⁻³)⁻⁰·⁷⁵";
    /// Fewest ice crystals.
    exact ICE_NUMBER_MIN = 1.0e3, "m⁻³";
    /// Most ice crystals.
    exact ICE_NUMBER_MAX = 1.0e6, "m⁻³";
    /// Mixing ratio of cloud ice up to which there are [`ICE_NUMBER_MIN`](Self::ICE_NUMBER_MIN) crystals in air of any
    /// density.
    exact SCARCE_ICE = 1.0e-9, "kg kg⁻¹";
    /// Smallest diameter of a falling ice crystal.
    exact ICE_DIAMETER_MIN = 1.0e-25, "m";
    /// Factor of the fall speed of ice crystals (HDC04 eq. 5a).
    exact ICE_FALL = 1.49e4, "m⁻⁰·³¹ s⁻¹";
    /// Exponent of the diameter in the fall speed of ice crystals.
    exact ICE_FALL_EXPONENT = 1.31, "1";

    /// Exponent of cloud water in autoconversion (HDC04 eq. 16).
    exact SEVEN_THIRDS = 7.0 / 3.0, "1";
    /// Decrease of the collection of ice by snow with cold (HDC04 eq. 10).
    exact COLLECTION_DECAY = 0.07, "K⁻¹";
    /// Number of ice nuclei at freezing (HDC04 eq. 8).
    exact NUCLEI = 1.0e3, "m⁻³";
    /// Growth of the number of ice nuclei with cold (HDC04 eq. 8).
    exact NUCLEI_GROWTH = 0.1, "K⁻¹";
    /// Factor of the content of initial ice (HDC04 eq. 7).
    exact INITIAL_ICE = 4.92e-11, "kg m⁻³ m³·⁹⁹";
    /// Exponent of the number of nuclei in the content of initial ice.
    exact INITIAL_ICE_EXPONENT = 1.33, "1";

    /// Cold below freezing at which all cloud water freezes.
    exact HOMOGENEOUS_FREEZING = 40.0, "K";
    /// Largest cold in the exponent of freezing.
    exact FREEZING_COLD_MAX = 50.0, "K";
    /// Factor of the freezing of rain (HL06 appendix A; RH83).
    exact RAIN_FREEZING = 20.0, "1";

    /// Longest decrease of a layer's depth in one fall step, as a part of it (JH10).
    exact FALL_COMPRESSION = 0.05, "1";
    /// Weight of the two near values in the third-order interface speed, 9/16.
    exact INTERFACE_NEAR = 9.0 / 16.0, "1";
    /// Weight of the two far values in the third-order interface speed, 1/16.
    exact INTERFACE_FAR = 1.0 / 16.0, "1";
    /// Added to the precipitation when its frozen part is divided by it.
    exact PRECIPITATION_MIN = 1.0e-12, "mm";
    /// Water depth of 1 kg m⁻² times the density of water.
    exact MILLIMETRES = 1000.0, "mm m⁻¹";
}

shared_struct! {
    /// Parameters of the scheme, derived once before the first step.
    ///
    /// Parameters that WRF derives at its start in single precision are derived in single precision here too, and have
    /// the same value in double precision: an error in the last digit would shift every result.
    #[derive(PartialEq)]
    pub struct Wsm5Params<R> {
        /// Intercept of the rain size distribution (WRF `n0r`).
        n0r: R, "m⁻⁴";
        /// Intercept of the snow size distribution at freezing (WRF `n0s`).
        n0s: R, "m⁻⁴";
        /// Largest factor of the snow intercept (WRF `n0smax / n0s`).
        n0s_factor_max: R, "1";
        /// Largest intercept of the snow size distribution (WRF `n0smax`).
        n0s_max: R, "m⁻⁴";
        /// Growth of the snow intercept with cold (WRF `alpha`).
        alpha: R, "K⁻¹";
        /// Exponent of the fall speed of rain (WRF `bvtr`).
        bvtr: R, "1";
        /// Exponent of the fall speed of snow (WRF `bvts`).
        bvts: R, "1";
        /// Diameter of an ice crystal over the root of its mass (WRF `dicon`).
        dicon: R, "m kg⁻¹ᐟ²";
        /// Largest diameter of an ice crystal (WRF `dimax`).
        dimax: R, "m";
        /// Number of cloud drops (WRF `xncr`).
        xncr: R, "m⁻³";
        /// Rate of freezing of drops (WRF `pfrz1`).
        pfrz1: R, "m⁻³ s⁻¹";
        /// Growth of freezing with cold (WRF `pfrz2`).
        pfrz2: R, "K⁻¹";
        /// Cloud water at which autoconversion sets in (WRF `qc0`).
        qc0: R, "kg kg⁻¹";
        /// Factor of autoconversion (WRF `qck1`).
        qck1: R, "s⁻¹";
        /// Mass of a cloud drop over the cube of its diameter, π `rhow` / 6 (WRF `pidnc`).
        pidnc: R, "kg m⁻³";
        /// Factor of the mean fall speed of rain (WRF `pvtr`).
        pvtr: R, "m¹⁻ᵇ s⁻¹";
        /// Factor of the mean fall speed of snow (WRF `pvts`).
        pvts: R, "m¹⁻ᵇ s⁻¹";
        /// Factor of the collection of cloud water by rain (WRF `pacrr`).
        pacrr: R, "m⁻³⁻ᵇ s⁻¹";
        /// Factor of the collection of cloud water by snow (WRF `pacrc`).
        pacrc: R, "m⁻³⁻ᵇ s⁻¹";
        /// Factor of the evaporation of rain without ventilation (WRF `precr1`).
        precr1: R, "m⁻⁴";
        /// Factor of the evaporation of rain with ventilation (WRF `precr2`).
        precr2: R, "m⁻⁽⁷⁺ᵇ⁾ᐟ² s⁻¹ᐟ²";
        /// Factor of the growth of snow without ventilation (WRF `precs1`).
        precs1: R, "m⁻⁴";
        /// Factor of the growth of snow with ventilation (WRF `precs2`).
        precs2: R, "m⁻⁽⁷⁺ᵇ⁾ᐟ² s⁻¹ᐟ²";
        /// Content of ice crystals of the largest size (WRF `roqimax`).
        roqimax: R, "kg m⁻³";
        /// π `rhow` `n0r` (WRF `pidn0r`).
        pidn0r: R, "kg m⁻⁷";
        /// π `rhos` `n0s` (WRF `pidn0s`).
        pidn0s: R, "kg m⁻⁷";
        /// Slope length where there is hardly any rain (WRF `rslopermax`).
        slope_rain_min: R, "m";
        /// Its power `bvtr` (WRF `rsloperbmax`).
        slope_rain_min_b: R, "mᵇ";
        /// Slope length where there is hardly any snow (WRF `rslopesmax`).
        slope_snow_min: R, "m";
        /// Its power `bvts` (WRF `rslopesbmax`).
        slope_snow_min_b: R, "mᵇ";
        /// Largest part of the pressure that saturated vapour may take; infinite without a cap.
        vapour_pressure_cap: R, "1";
        /// Largest cold in the exponent of freezing; infinite without a cap.
        freezing_cold_max: R, "K";
    }
}

/// Volume of a sphere over π and the cube of its radius, 1.
const SPHERE_OF_RADIUS: f32 = 4.0 / 3.0;
/// Volume of a sphere over π and the cube of its diameter is one over this, 1.
const SPHERE_OF_DIAMETER: f32 = 6.0;
/// Factor of autoconversion, 1, and the gravity in it, m s⁻² (HDC04 appendix; both are rounded there).
const AUTOCONVERSION: f32 = 0.104;
/// See [`AUTOCONVERSION`].
const AUTOCONVERSION_GRAVITY: f32 = 9.8;
/// Exponents of the number of drops and of the density of air in autoconversion, 1 (HDC04 appendix).
const DROPS_EXPONENT: f32 = 1.0 / 3.0;
/// See [`DROPS_EXPONENT`].
const DENSITY_EXPONENT: f32 = 4.0 / 3.0;
/// A particle's mass grows with this power of its diameter. Its mean over an exponential size distribution has the
/// gamma function of one more: Γ(4) = 6.
const MASS_MOMENT: f32 = 4.0;
/// Γ of [`MASS_MOMENT`].
const MASS_GAMMA: f32 = 6.0;
/// One more than the power of the diameter in the area swept by a particle.
const AREA_MOMENT: f32 = 3.0;
/// Area of a circle over π and the square of its diameter.
const CIRCLE_OF_DIAMETER: f32 = 0.25;
/// The ventilation of rain and of snow: the parts without and with the fall speed, 1 (HDC04 eq. 14).
const RAIN_STILL: f32 = 0.78;
/// See [`RAIN_STILL`].
const RAIN_VENTILATED: f32 = 0.31;
/// See [`RAIN_STILL`].
const SNOW_STILL: f32 = 0.65;
/// See [`RAIN_STILL`].
const SNOW_VENTILATED: f32 = 0.44;
/// Capacitance of rain, of spheres, and of snow, of discs, over their diameter, times 2π and 4, 1.
const RAIN_CAPACITANCE: f32 = 2.0;
/// See [`RAIN_CAPACITANCE`].
const SNOW_CAPACITANCE: f32 = 4.0;
/// One more than the power of the diameter in ventilation, without the fall speed.
const VENTILATION_MOMENT: f32 = 2.5;
/// Ice content at which all crystals have the largest diameter, over the eighth power of that diameter, kg m⁻³ m⁻⁸
/// (HDC04 eq. 5).
const LARGEST_CRYSTALS: f32 = 2.08e22;
/// See [`LARGEST_CRYSTALS`].
const LARGEST_CRYSTALS_POWER: i32 = 8;
/// Power of the radius in the volume of a drop.
const VOLUME_POWER: i32 = 3;

impl<R: SchemeConstants> Default for Wsm5Params<R> {
    fn default() -> Self {
        Self::new(&Tuning::default())
    }
}

impl<R: SchemeConstants> Wsm5Params<R> {
    /// Derives the parameters of the default variant from the tuning of the scheme.
    ///
    /// Source: HDC04 appendix, with the gamma function as WRF computes it.
    pub fn new(tuning: &Tuning) -> Self {
        let pi = f32::PI;
        let Tuning { n0r, n0s, drop_number, .. } = *tuning;
        let (avtr, avts) = (tuning.fall_rain, tuning.fall_snow);
        let (bvtr, bvts) = (tuning.fall_rain_exponent as f32, tuning.fall_snow_exponent as f32);
        let volume = tuning.drop_radius.powi(VOLUME_POWER);
        let qc0 =
            SPHERE_OF_RADIUS * pi * f32::RHO_WATER * volume * drop_number / f32::RHO_REFERENCE;
        let qck1 = AUTOCONVERSION * AUTOCONVERSION_GRAVITY * tuning.autoconversion_efficiency
            / (drop_number * f32::RHO_WATER).powf(DROPS_EXPONENT)
            / tuning.air_viscosity
            * f32::RHO_REFERENCE.powf(DENSITY_EXPONENT);
        let mass_speed = |a: f32, b: f32| a * gamma(MASS_MOMENT + b) / MASS_GAMMA;
        let swept =
            |n0: f32, a: f32, b: f32| pi * n0 * a * gamma(AREA_MOMENT + b) * CIRCLE_OF_DIAMETER;
        let ventilated = |b: f32| gamma(VENTILATION_MOMENT + 0.5 * b);
        let rain_length = 1.0 / tuning.slope_rain_max;
        let snow_length = 1.0 / tuning.slope_snow_max;
        // A value that WRF holds in single precision.
        let single = |x: f32| R::of(x.into());
        Self {
            n0r: single(n0r),
            n0s: single(n0s),
            n0s_factor_max: single(tuning.n0s_max / n0s),
            n0s_max: single(tuning.n0s_max),
            alpha: R::of(tuning.alpha),
            bvtr: R::of(tuning.fall_rain_exponent),
            bvts: R::of(tuning.fall_snow_exponent),
            dicon: R::of(tuning.ice_shape),
            dimax: R::of(tuning.ice_diameter_max),
            xncr: single(drop_number),
            pfrz1: R::of(tuning.freezing_rate),
            pfrz2: R::of(tuning.freezing_growth),
            qc0: single(qc0),
            qck1: single(qck1),
            pidnc: single(pi * f32::RHO_WATER / SPHERE_OF_DIAMETER),
            pvtr: single(mass_speed(avtr, bvtr)),
            pvts: single(mass_speed(avts, bvts)),
            pacrr: single(swept(n0r, avtr, bvtr) * tuning.collection_rain),
            pacrc: single(swept(n0s, avts, bvts) * tuning.collection_snow),
            precr1: single(RAIN_CAPACITANCE * pi * n0r * RAIN_STILL),
            precr2: single(
                RAIN_CAPACITANCE * pi * n0r * RAIN_VENTILATED * avtr.sqrt() * ventilated(bvtr),
            ),
            precs1: single(SNOW_CAPACITANCE * n0s * SNOW_STILL),
            precs2: single(
                SNOW_CAPACITANCE * n0s * SNOW_VENTILATED * avts.sqrt() * ventilated(bvts),
            ),
            roqimax: single(
                LARGEST_CRYSTALS * (tuning.ice_diameter_max as f32).powi(LARGEST_CRYSTALS_POWER),
            ),
            pidn0r: single(pi * f32::RHO_WATER * n0r),
            pidn0s: single(pi * f32::RHO_SNOW * n0s),
            slope_rain_min: single(rain_length),
            slope_rain_min_b: single(rain_length.powf(bvtr)),
            slope_snow_min: single(snow_length),
            slope_snow_min_b: single(snow_length.powf(bvts)),
            vapour_pressure_cap: R::VAPOUR_PRESSURE_CAP,
            freezing_cold_max: R::FREEZING_COLD_MAX,
        }
    }
}

/// The same struct with every member converted.
macro_rules! converted {
    ($from:expr, $with:expr, $struct:ident { $($member:ident),* }) => {
        $struct { $($member: $with($from.$member)),* }
    };
}

impl<R: Copy> Wsm5Params<R> {
    /// The same parameters in another precision.
    pub fn map<S>(&self, with: impl Fn(R) -> S) -> Wsm5Params<S> {
        converted!(
            self,
            with,
            Wsm5Params {
                n0r,
                n0s,
                n0s_factor_max,
                n0s_max,
                alpha,
                bvtr,
                bvts,
                dicon,
                dimax,
                xncr,
                pfrz1,
                pfrz2,
                qc0,
                qck1,
                pidnc,
                pvtr,
                pvts,
                pacrr,
                pacrc,
                precr1,
                precr2,
                precs1,
                precs2,
                roqimax,
                pidn0r,
                pidn0s,
                slope_rain_min,
                slope_rain_min_b,
                slope_snow_min,
                slope_snow_min_b,
                vapour_pressure_cap,
                freezing_cold_max
            }
        )
    }
}

/// Gamma function by the first 10,000 factors of its Weierstrass product (WRF `rgmma`).
///
/// 1/Γ(x) = x exp(γ x) Π (1 + x/n) exp(-x/n)
///
/// The missing factors lower it by about x² / 20,000 relative to itself; the scheme was tuned with that value.
pub(crate) fn gamma(x: f32) -> f32 {
    const EULER: f32 = 0.577_215_7;
    let mut reciprocal = x * (EULER * x).exp();
    for n in 1..=10_000_u16 {
        let n = f32::from(n);
        // One factor after the other, as WRF does: the rounding is part of the value.
        reciprocal = reciprocal * (1.0 + x / n) * (-x / n).exp();
    }
    1.0 / reciprocal
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::scheme::Parameter;

    #[test]
    #[allow(
        clippy::excessive_precision,
        clippy::inconsistent_digit_grouping,
        reason = "nine digits, as they are published"
    )]
    fn derived_parameters_are_those_of_wrf() {
        let p = Wsm5Params::<f32>::default();
        let expected: [(&str, f32, f32); 18] = [
            ("qc0", p.qc0, 5.026_548_17e-4),
            ("qck1", p.qck1, 6.773_894_31),
            ("pidnc", p.pidnc, 523.598_816),
            ("pvtr", p.pvtr, 2500.063_72),
            ("pacrr", p.pacrr, 2.481_340_42e10),
            ("precr1", p.precr1, 3.920_707_60e7),
            ("precr2", p.precr2, 8.258_535_68e8),
            ("roqimax", p.roqimax, 8.125_003_66e-5),
            ("pvts", p.pvts, 20.051_637_6),
            ("pacrc", p.pacrc, 5.544_211_20e7),
            ("precs1", p.precs1, 5.2e6),
            ("precs2", p.precs2, 1.868_194_40e7),
            ("pidn0r", p.pidn0r, 2.513_274_27e10),
            ("pidn0s", p.pidn0s, 6.283_185_28e8),
            ("slope_rain_min", p.slope_rain_min, 1.249_999_97e-5),
            ("slope_rain_min_b", p.slope_rain_min_b, 1.195_440_42e-4),
            ("slope_snow_min", p.slope_snow_min, 9.999_999_75e-6),
            ("slope_snow_min_b", p.slope_snow_min_b, 8.912_509_31e-3),
        ];
        let different: Vec<String> = expected
            .iter()
            .filter(|(_, found, wanted)| found.to_bits() != wanted.to_bits())
            .map(|(name, found, wanted)| format!("{name}: {found:e}, not {wanted:e}"))
            .collect();
        assert!(different.is_empty(), "{different:#?}");
    }

    #[test]
    fn what_the_bounds_admit_can_be_computed_with() {
        for Parameter { name, bounds, .. } in Tuning::PARAMETERS {
            let value = Tuning::default().get(name).expect("a parameter");
            assert!((bounds[0]..=bounds[1]).contains(&value), "{name}: {value}");
            assert_eq!(Tuning::default().with(name, value), Tuning::default(), "{name}");
            for bound in bounds {
                let tuning = Tuning::default().with(name, *bound);
                assert_ne!(tuning.get(name), Some(value).filter(|x| x != bound), "{name}");
                Wsm5Params::<f32>::new(&tuning).map(|x| {
                    assert!(x.is_finite() && x >= 0.0, "{name} = {bound}: {tuning:?}");
                });
            }
        }
    }
}

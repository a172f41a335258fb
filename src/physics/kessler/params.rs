//! Constants of the scheme, each with its unit, and the factors of its processes.

use crate::constants::Constants;
use crate::cuda_abi::shared_constants;
use crate::physics::factors::factors;

shared_constants! {
    /// Fixed numbers of the scheme, as the Kessler scheme of WRF has them.
    ///
    /// Source: K69 and KW78 unless stated otherwise.
    pub trait KesslerConstants: Constants;

    /// Rate of autoconversion (WRF `c1`).
    exact AUTOCONVERSION_RATE = 1.0e-3, "s⁻¹";
    /// Mixing ratio of cloud water above which autoconversion acts (WRF `c2`).
    exact AUTOCONVERSION_THRESHOLD = 1.0e-3, "kg kg⁻¹";
    /// Rate of accretion at a rain mixing ratio of 1 (WRF `c3`).
    exact ACCRETION_RATE = 2.2, "s⁻¹";
    /// Exponent of rain in accretion (WRF `c4`).
    exact ACCRETION_EXPONENT = 0.875, "1";

    /// Conversion from kilograms in a cubic metre to grams in a cubic centimetre.
    exact GRAMS_PER_CM3 = 1.0e-3, "g cm⁻³ m³ kg⁻¹";
    /// Terminal velocity of rain of 1 g cm⁻³.
    exact FALL_RAIN = 36.34, "m s⁻¹";
    /// Exponent of the rain content in the terminal velocity.
    exact FALL_RAIN_EXPONENT = 0.1364, "1";
    /// Largest Courant number of a sub-step (WRF `max_cr_sedimentation`).
    exact COURANT_MAX = 0.75, "1";
    /// Most sub-steps of a call, more than any weather needs.
    exact SUBSTEPS_MAX = 1.0e6, "1";
    /// Conversion from metres to millimetres of water.
    exact MILLIMETRES_PER_METRE = 1000.0, "mm m⁻¹";

    /// Specific heat of air in the saturation adjustment and in the exponent of the pressure. It differs from
    /// [`Constants::CP_DRY`], which [`SATURATION_GROWTH`](Self::SATURATION_GROWTH) is derived from.
    exact CP_ADJUSTMENT = 1004.0, "J kg⁻¹ K⁻¹";
    /// Exponent of the Exner function in the pressure.
    exact PRESSURE_EXPONENT = 1004.0 / 287.0, "1";
    /// Saturation vapour pressure at freezing (B80).
    exact BOLTON_PRESSURE = 611.2, "Pa";
    /// Factor in the exponent of the saturation vapour pressure (B80).
    exact BOLTON_FACTOR = 17.67, "1";
    /// Temperature at which the saturation vapour pressure vanishes (B80).
    exact BOLTON_OFFSET = 29.65, "K";
    /// L d(ln es)/dT (T - [`BOLTON_OFFSET`](Self::BOLTON_OFFSET))² / cp, independent of the temperature (WRF `f5`).
    exact SATURATION_GROWTH = 17.67 * (273.15 - 29.65) * 2.5e6 / 1004.5, "K²";

    /// Ventilation of raindrops at rest (SO73).
    exact EVAPORATION_STILL = 1.6, "1";
    /// Ventilation of falling raindrops, for 1 g cm⁻³ of rain (SO73).
    exact EVAPORATION_VENTILATED = 124.9, "1";
    /// Exponent of the rain content in the ventilation (SO73).
    exact EVAPORATION_VENTILATION_EXPONENT = 0.2046, "1";
    /// Exponent of the rain content in the evaporation (SO73).
    exact EVAPORATION_EXPONENT = 0.525, "1";
    /// Resistance by the diffusion of vapour, times pressure and saturation mixing ratio (SO73).
    exact EVAPORATION_DIFFUSION = 2.55e8, "Pa m³ s kg⁻¹";
    /// Resistance by the conduction of heat (SO73).
    exact EVAPORATION_CONDUCTION = 5.4e5, "m³ s kg⁻¹";

    /// Intercept of the sizes of raindrops (MP48).
    exact RAIN_INTERCEPT = 8.0e6, "m⁻⁴";
    /// Γ(7), the sixth moment of an exponential distribution.
    exact SIXTH_MOMENT = 720.0, "1";
    /// Least rain that a radar sees.
    exact RADAR_RAIN_MIN = 1.0e-9, "kg kg⁻¹";
    /// Least reflectivity.
    exact DBZ_LEAST = -35.0, "dBZ";
    /// From m³ to mm⁶ m⁻³.
    exact MM6_IN_M3 = 1.0e18, "mm⁶ m⁻⁶";
    /// Decibels in a factor of ten.
    exact TEN_DECIBELS = 10.0, "dB";
}

factors! {
    /// Factor of each process.
    pub struct KesslerFactors;

    /// Autoconversion of cloud water to rain.
    autoconversion;
    /// Accretion of cloud water by rain.
    accretion;
    /// Condensation of vapour and evaporation of cloud water.
    condensation;
    /// Evaporation of rain.
    evaporation;
    /// Terminal velocity of rain.
    fall;
}

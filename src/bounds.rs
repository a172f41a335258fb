//! Bounds of atmospheric values, wide enough for any weather, for whatever is read or made.

use std::ops::RangeInclusive;

/// Mixing ratios of water, kg kg⁻¹: transport leaves small negative ones.
pub const WATER: RangeInclusive<f64> = -1e-3..=0.1;
/// Pressure, Pa.
pub const PRESSURE: RangeInclusive<f64> = 1.0..=120_000.0;
/// Temperature, K.
pub const TEMPERATURE: RangeInclusive<f64> = 100.0..=400.0;
/// Horizontal wind, m s⁻¹.
pub const WIND: RangeInclusive<f64> = -300.0..=300.0;
/// Depth of a layer, m.
pub const DEPTH: RangeInclusive<f64> = 0.1..=50_000.0;
/// Photolysis frequencies, s⁻¹: the fastest in the troposphere, that of NO3, is 0.3.
pub const PHOTOLYSIS: RangeInclusive<f64> = 0.0..=10.0;
/// Number density of air, molecules cm⁻³: 40 times that at sea level.
pub const AIR_NUMBER_DENSITY: RangeInclusive<f64> = 0.0..=1e21;
/// Relative humidity, 1, with room for supersaturation over ice.
pub const HUMIDITY: RangeInclusive<f64> = 0.0..=3.0;
/// Rounding beyond a bound, relative to the largest value of a field: some units in the last place of single precision.
const ROUNDING: f64 = 1e-6;
/// Mixing ratio of a gas below which rounding is not told from an amount, 1.
const TRACE: f64 = 1e-12;

/// Bounds of a gas in air of which there is `air` in the units of the gas, in a field with the largest value `most`: at
/// most all of the air and, within rounding, not below 0.
pub fn gas(air: f64, most: f64) -> RangeInclusive<f64> {
    -ROUNDING * most.max(TRACE * air)..=air * (1.0 + ROUNDING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gas_may_round_below_zero_and_be_all_of_the_air() {
        let ppmv = gas(1e6, 0.04);
        for x in [0.0, -1e-9, 0.04, 1e6] {
            assert!(ppmv.contains(&x), "{x}");
        }
        for x in [-0.04, -1e-6, 4e6, f64::NAN] {
            assert!(!ppmv.contains(&x), "{x}");
        }
        assert!(gas(1e6, 0.0).contains(&-1e-13));
    }
}

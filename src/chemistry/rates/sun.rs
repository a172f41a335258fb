//! KPP's normalised sunlight, the quantity `SUN` of rates.

/// Sunrise, local solar time in h.
pub const SUNRISE: f64 = 4.5;
/// Sunset, local solar time in h.
pub const SUNSET: f64 = 19.5;

/// Circle constant with the digits of KPP: with other digits results differ next to sunrise.
#[expect(clippy::approx_constant, reason = "KPP's own constant")]
const PI: f64 = 3.141_592_653_589_79;

/// Seconds of an hour.
const HOUR: f64 = 3_600.0;
/// Hours of a day.
const DAY: f64 = 24.0;

/// The constants of the formula by name, for kernels.
pub fn constants() -> [(&'static str, f64); 5] {
    [("SUNRISE", SUNRISE), ("SUNSET", SUNSET), ("SUN_PI", PI), ("HOUR", HOUR), ("DAY", DAY)]
}

/// Normalised sunlight at a time (s, local solar clock): 0 at night, 1 at noon.
///
/// (1 + cos π s) / 2 with s = ±u², where u runs from -1 at sunrise to 1 at sunset. It has kinks at
/// sunrise, at noon and at sunset.
pub fn sunlight(time: f64) -> f64 {
    let hours = time / HOUR;
    let hour = hours - DAY * (hours.trunc() / DAY).trunc();
    if !(SUNRISE..=SUNSET).contains(&hour) {
        // NaN for a time that is not finite.
        return hour * 0.0;
    }
    let u = (2.0 * hour - SUNRISE - SUNSET) / (SUNSET - SUNRISE);
    f64::midpoint(1.0, (PI * u * u.abs()).cos())
}

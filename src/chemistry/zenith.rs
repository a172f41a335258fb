//! The zenith angle of the sun by place and date.
//!
//! Source: Spencer 1971, Search 2, 172: Fourier series of declination and equation of time.

use std::f64::consts::TAU;

use time::PrimitiveDateTime;

/// Declination of the sun, rad: constant, then cosine and sine of one, two and three times the day angle.
const DECLINATION: [f64; 7] =
    [0.006_918, -0.399_912, 0.070_257, -0.006_758, 0.000_907, -0.002_697, 0.001_48];
/// Equation of time as hour angle, rad: constant, then cosine and sine of one and two times the day angle.
const EQUATION_OF_TIME: [f64; 5] = [0.000_075, 0.001_868, -0.032_077, -0.014_615, -0.040_89];
/// Days of a year in the series.
const YEAR: f64 = 365.0;
/// Seconds of a day.
pub(crate) const DAY: f64 = 86_400.0;
/// Degrees of a circle.
const CIRCLE: f64 = 360.0;

/// The sun at a time, the same for all places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sun {
    /// Sine and cosine of the declination, 1.
    pub declination: [f64; 2],
    /// True solar time at longitude 0, s from midnight.
    pub clock: f64,
}

impl Sun {
    /// The sun at a number of seconds after a date (UTC).
    pub fn at(date: PrimitiveDateTime, seconds: f64) -> Self {
        let midnight = f64::from(date.ordinal() - 1);
        let (hour, minute, second) = date.time().as_hms();
        let hms = f64::from(hour) * 3600.0 + f64::from(minute) * 60.0 + f64::from(second);
        let of_day = hms + f64::from(date.microsecond()) * 1e-6 + seconds;
        let angle = TAU * (midnight + of_day / DAY) / YEAR;
        let declination = series(&DECLINATION, angle);
        let late = series(&EQUATION_OF_TIME, angle) / TAU * DAY;
        Self {
            declination: [declination.sin(), declination.cos()],
            clock: (of_day + late).rem_euclid(DAY),
        }
    }

    /// Lead of true solar time at a longitude (degrees east) over that at longitude 0, s.
    pub fn shift(longitude: f64) -> f64 {
        longitude / CIRCLE * DAY
    }

    /// True solar time at a longitude (degrees east), s from midnight.
    pub fn local(&self, longitude: f64) -> f64 {
        (self.clock + Self::shift(longitude)).rem_euclid(DAY)
    }

    /// Cosine of the zenith angle at a place, degrees north and east; negative at night.
    ///
    /// cos χ = sin φ sin δ + cos φ cos δ cos h
    pub fn cosine(&self, latitude: f64, longitude: f64) -> f64 {
        let [sine, cosine] = self.declination;
        let hour_angle = TAU * (self.local(longitude) / DAY - 0.5);
        let phi = latitude.to_radians();
        phi.sin() * sine + phi.cos() * cosine * hour_angle.cos()
    }
}

/// A Fourier series: constant, then cosine and sine of multiples of an angle.
fn series(coefficients: &[f64], angle: f64) -> f64 {
    let pairs = coefficients[1..].chunks_exact(2).enumerate();
    pairs.fold(coefficients[0], |sum, (n, pair)| {
        let (sine, cosine) = ((n + 1) as f64 * angle).sin_cos();
        sum + pair[0] * cosine + pair[1] * sine
    })
}

/// Latitude (degrees north) of a Coriolis parameter (s⁻¹): sin φ = f / 2Ω; `None` if no latitude of the Earth has it.
pub fn latitude_of_coriolis(f: f64) -> Option<f64> {
    /// Angular velocity of the Earth, s⁻¹.
    const ROTATION: f64 = 7.292e-5;
    let sine = f / (2.0 * ROTATION);
    (sine.abs() <= 1.0).then(|| sine.asin().to_degrees())
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    /// The series is accurate to 0.0006 rad.
    const DEGREES: f64 = 0.05;

    fn height(date: PrimitiveDateTime, latitude: f64, longitude: f64) -> f64 {
        90.0 - Sun::at(date, 0.0).cosine(latitude, longitude).acos().to_degrees()
    }

    #[test]
    fn declination_is_that_of_the_almanac() {
        // Declination 23.44 degrees north on 21 June 2005, 12 UTC, south on 21 December, and 0 on 20 March, 12:33 UTC.
        let declination = |date| Sun::at(date, 0.0).declination[0].asin().to_degrees();
        assert!((declination(datetime!(2005-06-21 12:00:00)) - 23.44).abs() < DEGREES);
        assert!((declination(datetime!(2005-12-21 12:00:00)) + 23.44).abs() < DEGREES);
        assert!(declination(datetime!(2005-03-20 12:33:00)).abs() < 0.4);
    }

    #[test]
    fn the_sun_is_highest_at_noon_and_below_the_horizon_at_night() {
        let at_noon = height(datetime!(2005-06-21 12:00:00), 43.3, 0.0);
        assert!((at_noon - (90.0 - 43.3 + 23.44)).abs() < 0.2, "{at_noon}");
        let at_midnight = height(datetime!(2005-06-21 00:00:00), 43.3, 0.0);
        assert!((at_midnight + 90.0 - 43.3 - 23.44).abs() < 0.2, "{at_midnight}");
        // At 90 degrees east it is evening: on the equator the sun sets at the equinox.
        let sets = height(datetime!(2005-03-20 12:00:00), 0.0, 90.0);
        assert!(sets.abs() < 2.5, "{sets}");
        assert!(height(datetime!(2005-03-20 12:00:00), 0.0, 120.0) < -25.0);
    }

    #[test]
    fn the_equation_of_time_has_its_two_extremes() {
        // About -14.2 min on 11 February, +16.4 min on 3 November.
        let ahead = |date| (Sun::at(date, 0.0).clock - 43_200.0) / 60.0;
        assert!((ahead(datetime!(2005-02-11 12:00:00)) + 14.2).abs() < 0.5);
        assert!((ahead(datetime!(2005-11-03 12:00:00)) - 16.4).abs() < 0.5);
    }

    #[test]
    fn seconds_go_on_across_midnight() {
        let late = Sun::at(datetime!(2005-06-21 23:00:00), 7200.0);
        let next = Sun::at(datetime!(2005-06-22 01:00:00), 0.0);
        assert!(
            (late.clock - next.clock).abs() < 1e-6
                && (late.declination[0] - next.declination[0]).abs() < 1e-12
        );
        assert!((late.local(-15.0) - (next.clock - 3600.0).rem_euclid(86_400.0)).abs() < 1e-6);
    }

    #[test]
    fn coriolis_tells_the_latitude() {
        assert!((latitude_of_coriolis(1e-4).expect("a latitude") - 43.29).abs() < 0.01);
        assert!(latitude_of_coriolis(-1e-4).expect("a latitude") < 0.0);
        assert!(latitude_of_coriolis(2e-4).is_none());
    }
}

//! Values that can be checked by hand.

use nwp_mini::constants::Constants;
use nwp_mini::physics::wsm5::minor_steps;
use nwp_mini::physics::wsm5::params::Tuning;
use nwp_mini::physics::wsm5::reflectivity::melting_backscatter;
use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::physics::wsm5::slope::{slope_rain, slope_snow, snow_intercept_factor};
use nwp_mini::thermo::{TransportConstants, saturation, saturation_water};

/// Largest part of the pressure that saturated vapour may take.
const CAP: f64 = f64::VAPOUR_PRESSURE_CAP;

/// Half a unit of the last of a number of digits.
fn digits(value: f64, digits: i32) -> f64 {
    0.5 * 10.0_f64.powi(value.abs().log10().floor() as i32 + 1 - digits) * 1.000_001
}

fn assert_near(what: &str, found: f64, expected: f64, count: i32) {
    let difference = (found - expected).abs();
    assert!(difference <= digits(expected, count), "{what}: {found:.10e}, not {expected:.10e}");
}

#[test]
fn saturation_mixing_ratios() {
    let p = 80_000.0;
    for (t, water, ice) in
        [(253.15, 9.770_530_2e-4, 7.949_201_2e-4), (273.15, 4.779_931_8e-3, 4.779_442_4e-3)]
    {
        let found = saturation(t, p, CAP);
        assert_near("over water", found.water, water, 8);
        assert_near("over ice", found.ice, ice, 8);
        assert!((saturation_water(t, p, CAP) - found.water).abs() <= 0.0, "one formula");
    }
    let warm = saturation(293.15, p, CAP);
    assert_near("over water", warm.water, 1.866_62e-2, 6);
    assert_near("over ice above freezing", warm.ice, 1.866_62e-2, 6);
}

/// The ice curve ends at the triple point, not at freezing.
#[test]
fn saturation_over_ice_ends_at_the_triple_point() {
    let below = saturation(273.1599, 80_000.0, CAP);
    let above = saturation(273.1601, 80_000.0, CAP);
    assert!(below.ice < below.water);
    assert!((above.ice - above.water).abs() <= 0.0);
}

/// Vapour cannot take more than 99 % of the pressure, and there is always a little.
#[test]
fn saturation_is_bounded() {
    let thin = saturation(300.0, 100.0, CAP);
    let most = <f64 as Constants>::EPSILON * 99.0;
    assert!((thin.water - most).abs() <= 1e-9 * most, "{thin:?}");
    let cold = saturation(30.0, 80_000.0, CAP);
    assert!((cold.ice - f64::Q_MIN).abs() <= 0.0, "{cold:?}");
}

#[test]
fn slopes_of_size_distributions() {
    let p = Scheme::<f64>::default();
    let rain = slope_rain(&p, 1.0, 1.0e-3);
    assert_near("rain", rain.length, 4.466_219e-4, 7);
    assert_near("rain, power", rain.power, 2.089_065_3e-3, 8);
    let snow = slope_snow(&p, 1.0, 1.0e-3, snow_intercept_factor(&p, 263.15));
    assert_near("snow", snow.length, 8.320_831e-4, 7);
    assert_near("snow, power", snow.power, 5.460_951_8e-2, 8);
}

#[test]
fn intercept_of_snow_is_bounded() {
    let p = Scheme::<f64>::default();
    for (t, factor) in [(300.0, 1.0), (273.15, 1.0), (263.15, 1.2_f64.exp()), (150.0, 5.0e4)] {
        let found = snow_intercept_factor(&p, t);
        assert!((found / factor - 1.0).abs() < 1e-12, "{t}: {found} not {factor}");
    }
}

/// The gamma function of the scheme, by the parameters that are proportional to it.
#[test]
fn gamma_function() {
    let tuning = Tuning::default();
    let p = Scheme::<f64>::new(&tuning);
    let pi = f64::from(std::f32::consts::PI);
    let (n0r, n0s) = (f64::from(tuning.n0r), f64::from(tuning.n0s));
    let (avtr, avts) = (f64::from(tuning.fall_rain), f64::from(tuning.fall_snow));
    let table = [
        ("G(4.8)", p.pvtr * 6.0 / avtr, 17.817_297_0, 17.837_862_0),
        ("G(3.8)", p.pacrr * 4.0 / (pi * n0r * avtr), 4.690_789_70, 4.694_174_21),
        ("G(2.9)", p.precr2 / (2.0 * pi * n0r * 0.31 * avtr.sqrt()), 1.826_590_54, 1.827_355_08),
        ("G(4.41)", p.pvts * 6.0 / avts, 10.265_343_7, 10.275_404_1),
        ("G(3.41)", p.pacrc * 4.0 / (pi * n0s * avts), 3.011_564_97, 3.013_314_98),
        ("G(2.705)", p.precs2 / (4.0 * n0s * 0.44 * avts.sqrt()), 1.550_299_53, 1.550_860_68),
    ];
    for (name, found, used, exact) in table {
        // Several roundings to single precision, far less than the error of the scheme's gamma function.
        assert!((found / used - 1.0).abs() < 5.0e-7, "{name}: {found}, not {used}");
        assert!((found / exact - 1.0).abs() > 1.0e-4, "{name}: {found} is exact");
    }
}

#[test]
fn backscatter_of_melting_snow() {
    let table = [
        (0.005, 3.786_490e-3),
        (0.1, 1.723_908e-2),
        (0.3, 5.742_984e-2),
        (0.5, 8.106_381e-2),
        (0.7, 5.935_422e-2),
        (0.9, 1.080_632e-2),
        (0.99, 9.349_911e-3),
    ];
    for (melted, expected) in table {
        let found = melting_backscatter::<f64>(melted);
        // The check values come from refractive indices of nine digits.
        assert!((found / expected - 1.0).abs() < 1.0e-6, "W({melted}) = {found:e}, {expected:e}");
    }
}

/// Minor steps of about 120 s, halves rounded up.
#[test]
fn number_of_minor_steps() {
    let table = [
        (1.0, 1.0),
        (20.0, 1.0),
        (60.0, 1.0),
        (120.0, 1.0),
        (179.0, 1.0),
        (180.0, 2.0),
        (299.0, 2.0),
        (300.0, 3.0),
        (3600.0, 30.0),
    ];
    for (dt, expected) in table {
        assert!((minor_steps::<f64>(dt) - expected).abs() < 0.5, "{dt}");
        assert!((f64::from(minor_steps::<f32>(dt as f32)) - expected).abs() < 0.5, "{dt}");
    }
}

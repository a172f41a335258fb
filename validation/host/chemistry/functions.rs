//! Rate functions and the grammar of rates against values computed by hand, and the vector functions against
//! the standard library.

use nwp_mini::chemistry::cells::{Cells, rate_constants};
use nwp_mini::chemistry::kinetics::Kinetics;
use nwp_mini::chemistry::mechanism::parse;
use nwp_mini::chemistry::rates::sun::sunlight;
use nwp_mini::simd::double;
use nwp_mini_support::random::Random;

use nwp_mini_support::chemistry::relative;

/// A rate constant at 250 K and M = 1e19.
fn rate(text: &str) -> f64 {
    let source = format!("#DEFVAR A = IGNORE; #EQUATIONS A = PROD : {text} ;");
    let (mechanism, _) = parse("rate", &source).mechanism().unwrap_or_else(|e| panic!("{e}"));
    let kinetics = Kinetics::new(&mechanism).unwrap();
    let cells = Cells {
        variable: vec![0.0],
        temperature: vec![250.0],
        air_factor: vec![1e13],
        air_density: vec![1e19],
        hydrolysis: vec![2e-3],
        photolysis: vec![7e-3; mechanism.photolysis.len()],
        start: vec![43_200.0],
        first_step: Vec::new(),
        ..Cells::default()
    };
    rate_constants(&kinetics, &cells)[0]
}

#[test]
fn rates_are_those_of_a_calculator() {
    // exp(-2) = 0.1353352832366127, 5/6 = 0.8333..., all other numbers to 16 digits from bc.
    let e2 = 0.135_335_283_236_612_7;
    let expected = [
        ("2", 2.0),
        ("1.5D-11", 1.5e-11),
        ("1.0_dp * 3", 3.0),
        ("-2 ** 2 + 5", 1.0),
        ("2 ** 3 ** 2", 512.0),
        // Powers and quotients of whole numbers are whole numbers.
        ("2 ** (-1)", 0.0),
        ("2. ** (-1)", 0.5),
        ("7 / 2 + 7. / 2", 6.5),
        ("-7 / 2", -3.0),
        ("2 ** 3 / 3 * 1.0", 2.0),
        ("(TEMP - 253.) ** 2 + (TEMP - 253.) ** 3", -18.0),
        ("ABS(TEMP - 253.) + SIGN(2., TEMP - 253.) + AINT(-2.5)", -1.0),
        ("MIN(3., TEMP) + MAX(1, 2, 0)", 5.0),
        ("8 / 4 / 2 - 1 - 1", -1.0),
        ("2 - - 3", 5.0),
        ("TEMP + C_M / 1e19 + CFACTOR / 1e13 + SUN + rc_n2o5 * 1000", 255.0),
        ("j(Pj_no2) * 1000 + j(PJ_NO2) * 1000", 14.0),
        ("EXP(-2.) { comment } + LOG10(100) // more\n + LOG(1.0) + SQRT(9.0)", e2 + 5.0),
        ("ARR_ab(3, 500.)", 3.0 * e2),
        ("ARR_ac(3, 2)", 3.0 * 25.0 / 36.0),
        ("ARR_abc(3, 500, 1)", 2.5 * e2),
        ("ARR(3, 500, 1, TEMP)", 2.5 * e2),
        ("ARR2(3, 500, TEMP)", 3.0 * e2),
        // Of two arguments it is KPP's of old, e^(+B/T), and k_arr refers to 298.15 K in KPP's digits.
        ("ARR2(3, -500)", 3.0 * e2),
        ("ARR_ab_dp(3, 500._dp) + k3rd_jpl_dp(C_M, 1e-19, 1, 1, 1, 0.5)", 3.0 * e2 + 0.3),
        ("k_arr(2, 1000, TEMP)", 2.0 * 0.646_0_f64.exp()),
        ("THERMAL_T2(3, 500, TEMP)", 187_500.0 * e2),
        // q0 = 1, q3 = 1e-19 * 1e19 = 1, q2 = 1: 1 + 1/(1 + 1).
        ("EP2(1, 0, 1, 0, 1e-19, 0)", 1.5),
        ("EP2(1, 0, 1, 0, 1e-19, 0, TEMP, C_M)", 1.5),
        ("EP3(3, 500, 2e-19, 0)", 3.0 * e2 + 2.0),
        ("EP3(3, 500, 2e-19, 0, TEMP, C_M)", 3.0 * e2 + 2.0),
        // Limits 1e-19 * 1e19 = 1 and 1: x = 1, half of it times F.
        ("FALL(1e-19, 0, 0, 1, 0, 0, 0.45)", 0.225),
        ("FALL(1e-19, 0, 0, 1, 0, 0, 0.45, TEMP, C_M)", 0.225),
        // x = 100: 100/101 F^(1/(1 + (2/0.5)^2)) = 100/101 * 0.5^(1/17).
        ("F2(1e-17, 0, 0, 1, 0, 0, 0.5, 0.5)", 100.0 / 101.0 * 0.960_046_686_854_793_2),
        ("F2(1e-17, 0, 0, 1, 0, 0, 0.5, 0.5, TEMP, C_M)", 100.0 / 101.0 * 0.960_046_686_854_793_2),
        // (300/250)^0: x = 1, half times 0.6.
        ("TROE(1e-19, 0, 1, 0, TEMP, C_M)", 0.3),
        // Both limits grow by 1.2, and x stays 1.
        ("TROE(1e-19, 1, 1, 1, TEMP, C_M)", 0.36),
        ("TROEE(2, 500, 1e-19, 0, 1, 0, TEMP, C_M)", 0.6 * e2),
        ("k3rd_jpl(C_M, 1e-19, 1, 1, 1, 0.5)", 0.3),
        ("k3rd_iupac(C_M, 1e-19, 1, 1, 1, 0.5)", 0.3),
    ];
    for (text, value) in expected {
        let found = rate(text);
        assert!(relative(found, value) < 1e-13, "{text}: {found}, expected {value}");
    }
    // x = 100 and F = 0.1: N = 0.75 + 1.27 = 2.02.
    let found = rate("k3rd_iupac(C_M, 1e-17, 0, 1, 0, 0.1)");
    let value = 100.0 / 101.0 * 0.1_f64.powf(1.0 / (1.0 + (2.0_f64 / 2.02).powi(2)));
    assert!(relative(found, value) < 1e-13, "{found}, expected {value}");
}

#[test]
fn the_sun_shines_from_half_past_four_to_half_past_seven() {
    let hour = 3_600.0;
    for (time, expected) in
        [(0.0, 0.0), (4.4, 0.0), (4.5, 0.0), (12.0, 1.0), (19.5, 0.0), (19.6, 0.0), (36.0, 1.0)]
    {
        // π has 15 digits in KPP.
        assert!((sunlight(time * hour) - expected).abs() < 1e-14, "{time} h");
    }
    // u = (16 - 24) / 15, and the sun is (1 + cos π u²) / 2.
    let u = 8.0 / 15.0;
    let expected = f64::midpoint(1.0, (std::f64::consts::PI * u * u).cos());
    assert!((sunlight(8.0 * hour) - expected).abs() < 1e-14);
    assert!(sunlight(f64::NAN).is_nan());
}

/// The measured errors against the standard library, whose own are below 1 ULP.
#[test]
fn functions_in_double_precision_keep_within_two_ulp() {
    let ulps = |found: f64, expected: f64| -> f64 {
        if found == expected || (found.is_nan() && expected.is_nan()) {
            return 0.0;
        }
        (found - expected).abs() / (expected.abs() * f64::EPSILON).max(f64::from_bits(1))
    };
    let mut random = Random::new(7);
    for _ in 0..200_000 {
        let x = 1500.0 * random.between(0.0, 1.0) - 750.0;
        assert!(ulps(double::exp(x), x.exp()) <= 2.0, "exp {x}");
        let y = (1400.0 * random.between(0.0, 1.0) - 700.0).exp();
        assert!(ulps(double::ln(y), y.ln()) <= 2.0, "ln {y}");
        assert!(ulps(double::log10(y), y.log10()) <= 2.0, "log10 {y}");
        let (near, power) =
            (0.5 + random.between(0.0, 1.0), 40.0 * random.between(0.0, 1.0) - 20.0);
        assert!(ulps(double::ln(near), near.ln()) <= 2.0, "ln {near}");
        assert!(ulps(double::powf(near, power), near.powf(power)) <= 2.0, "{near} ** {power}");
        let power = power / 20.0;
        assert!(ulps(double::powf(y, power), y.powf(power)) <= 2.0, "{y} ** {power}");
    }
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1e-310,
        1e308,
        800.0,
        -800.0,
    ];
    for x in special {
        assert!(ulps(double::exp(x), x.exp()) <= 2.0, "exp {x}");
        assert!(ulps(double::ln(x), x.ln()) <= 2.0, "ln {x}");
        assert!(ulps(double::log10(x), x.log10()) <= 2.0, "log10 {x}");
        for y in [0.0, 1.0, -1.0, 0.5, -2.5] {
            if x >= 0.0 && x.is_sign_positive() {
                assert!(ulps(double::powf(x, y), x.powf(y)) <= 2.0, "{x} ** {y}");
            }
        }
    }
}

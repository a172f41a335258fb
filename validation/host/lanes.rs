//! The vectorised functions compared with exact ones, and the instruction sets with one another.

#![allow(clippy::print_stdout, reason = "figures of a test, shown when it fails or is asked")]

use nwp_mini::simd::{Instructions, LANES, Row, Task, each, math};

/// The largest error that the documentation of the functions promises, in units of the last place.
const MOST: f64 = 1.0;

/// Error in units of the last place of the nearest single-precision number.
fn ulp_error(found: f32, exact: f64) -> f64 {
    let nearest = exact as f32;
    if found == nearest || found.is_nan() && nearest.is_nan() {
        return if nearest.is_finite() { unit_error(found, exact) } else { 0.0 };
    }
    if !found.is_finite() || !nearest.is_finite() {
        return f64::INFINITY;
    }
    unit_error(found, exact)
}

fn unit_error(found: f32, exact: f64) -> f64 {
    // The distance of neighbours at the exact value, no less than that of the smallest numbers.
    let exponent = exact.abs().max(f64::from(f32::MIN_POSITIVE)).log2().floor() as i32;
    (f64::from(found) - exact).abs() / 2.0_f64.powi(exponent - 23)
}

/// Every `stride`-th number from `low` to `high`, both positive.
fn numbers(low: f32, high: f32, stride: usize) -> impl Iterator<Item = f32> {
    (low.to_bits()..=high.to_bits()).step_by(stride).map(f32::from_bits)
}

/// The largest error over some arguments, with the argument.
fn worst(arguments: impl Iterator<Item = f32>, error: impl Fn(f32) -> f64) -> (f64, f32) {
    arguments.map(|x| (error(x), x)).fold((0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a })
}

fn expect(name: &str, (error, argument): (f64, f32)) {
    println!("{name}: {error:.3} ULP at {argument:e}");
    assert!(error <= MOST, "{name}({argument:e}) is off by {error} units in the last place");
}

#[test]
fn exponentials_are_within_a_unit() {
    let error = |x: f32| ulp_error(math::exp(x), f64::from(x).exp());
    expect("exp", worst(numbers(1.0e-10, 120.0, 97), error));
    expect("exp, negative", worst(numbers(1.0e-10, 120.0, 97).map(|x| -x), error));
}

#[test]
fn logarithms_are_within_a_unit() {
    let error = |x: f32| ulp_error(math::ln(x), f64::from(x).ln());
    expect("ln", worst(numbers(f32::from_bits(1), f32::MAX, 997), error));
    expect("ln near 1", worst(numbers(0.5, 2.0, 11), error));
}

#[test]
fn decimal_logarithms_are_within_a_unit() {
    let error = |x: f32| ulp_error(math::log10(x), f64::from(x).log10());
    expect("log10", worst(numbers(f32::from_bits(1), f32::MAX, 997), error));
    expect("log10 near 1", worst(numbers(0.5, 2.0, 11), error));
}

#[test]
fn cube_roots_are_within_a_unit() {
    let error = |x: f32| ulp_error(math::cbrt(x), f64::from(x).cbrt());
    expect("cbrt", worst(numbers(f32::from_bits(1), f32::MAX, 997), error));
    expect("cbrt, negative", worst(numbers(1.0e-12, 1.0e6, 997).map(|x| -x), error));
}

/// With every exponent of the scheme, and others.
#[test]
fn powers_are_within_a_unit() {
    for y in [1.31, 1.81, 7.0 / 3.0, 0.8, 0.41, 0.333_333_3, 1.33, -0.714, 0.25, 3.0_f32] {
        let error = |x: f32| ulp_error(math::powf(x, y), f64::from(x).powf(f64::from(y)));
        let name = format!("powf(_, {y})");
        expect(&name, worst(numbers(f32::from_bits(1), f32::MAX, 4999), error));
        expect(&name, worst(numbers(1.0e-9, 1.0e4, 499), error));
    }
}

#[test]
fn functions_have_the_limits_of_exact_ones() {
    let (infinity, nan) = (f32::INFINITY, f32::NAN);
    for x in [0.0, infinity, -infinity, nan, 1.0, 1000.0, -1000.0] {
        let (found, exact) = (math::exp(x), x.exp());
        assert!(found == exact || found.is_nan() && exact.is_nan(), "exp({x}): {found}");
    }
    for x in [0.0, infinity, -1.0, -infinity, nan, 1.0] {
        let (found, exact) = (math::ln(x), x.ln());
        assert!(found == exact || found.is_nan() && exact.is_nan(), "ln({x}): {found}");
        let (found, exact) = (math::log10(x), x.log10());
        assert!(found == exact || found.is_nan() && exact.is_nan(), "log10({x}): {found}");
        let (found, exact) = (math::cbrt(x), x.cbrt());
        assert!(found == exact || found.is_nan() && exact.is_nan(), "cbrt({x}): {found}");
    }
    for (x, y) in [
        (0.0, 0.5),
        (0.0, -0.5),
        (infinity, 0.5),
        (infinity, -0.5),
        (nan, 0.5),
        (2.0, nan),
        (2.0, 0.0),
        (1.0, 1.81),
        (-2.0, 0.5),
        (1.0e30, 3.0),
        (1.0e-30, 3.0),
    ] {
        let (found, exact) = (math::powf(x, y), x.powf(y));
        assert!(found == exact || found.is_nan() && exact.is_nan(), "powf({x}, {y}): {found}");
    }
}

/// All functions of a row.
struct Functions<'a>(&'a Row<f32>);

impl Task for Functions<'_> {
    type Output = [Row<f32>; 5];

    #[inline(always)]
    fn run(self) -> Self::Output {
        let x = self.0;
        [
            each(|l| math::exp(x[l])),
            each(|l| math::ln(x[l])),
            each(|l| math::log10(x[l])),
            each(|l| math::cbrt(x[l])),
            each(|l| math::powf(x[l], 1.81)),
        ]
    }
}

/// The bits are the same for all instruction sets, and without vector instructions.
#[test]
fn all_instructions_have_the_same_bits() {
    let all: Vec<f32> = numbers(1.0e-6, 60.0, 1009).collect();
    Instructions::check().expect("NWP_MINI_SIMD is for this processor");
    for &set in Instructions::available() {
        for row in all.chunks_exact(LANES) {
            let row: Row<f32> = row.try_into().expect("a row of numbers");
            let bits = |rows: [Row<f32>; 5]| rows.map(|row| row.map(f32::to_bits));
            assert_eq!(bits(set.run(Functions(&row))), bits(Functions(&row).run()), "{set}");
        }
    }
}

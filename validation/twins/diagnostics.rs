//! `radii`, `reflectivity`, and the complex numbers that it computes with.

use num_complex::Complex;
use nwp_mini::physics::wsm5::reflectivity::Bins;
use nwp_mini::physics::wsm5::{radii, reflectivity};

use super::pair::{Pair, pairs, truth};
use super::values::{Draw, Precision};

/// Rust has its own cube root, and that of the C library has errors of up to 4 ULP.
const CUBE_ROOT: f64 = 6.0;

/// Both compilers evaluate the logarithm of the permittivities of ice and water at compile time, each with its own
/// library, and one is subtracted from a number near one. Differences of up to 18 ULP have been observed.
pub(crate) const AHEAD: f64 = 40.0;

/// A complex number as its two parts.
type Parts<R> = [R; 2];

fn any<R: Precision>(d: &mut Draw<R>) -> Parts<R> {
    [d.signed(1e-3, 100.0), d.signed(1e-3, 100.0)]
}

fn permittivity<R: Precision>(d: &mut Draw<R>) -> Parts<R> {
    [d.log(1.0, 80.0, &[R::ONE]), -d.amount(1e-5, 40.0, &[])]
}

fn complex<R: Precision>([re, im]: Parts<R>) -> Complex<R> {
    Complex::new(re, im)
}

fn parts<R: Precision>(a: Complex<R>) -> Parts<R> {
    [a.re, a.im]
}

fn fraction<R: Precision>(d: &mut Draw<R>) -> R {
    d.linear(0.0, 1.0, &[R::ZERO, R::ONE, R::MELTED_MIN, R::MELTED_MAX])
}

fn content<R: Precision>(d: &mut Draw<R>) -> R {
    d.amount(1e-14, 0.05, &[])
}

fn held<R: Precision>(d: &mut Draw<R>, rho: R) -> R {
    if d.chance(2) { d.q(&[]) } else { d.near(R::CONTENT_MIN / rho).abs() }
}

pub(crate) fn radii<R: Precision>() -> Vec<Pair<R>> {
    pairs! { p, d:
        "radii::re_cloud"(rho = d.rho(), qc = held(d, rho)) => radii::re_cloud(p, rho, qc); within CUBE_ROOT;
        "radii::re_ice"(rho = d.rho(), qi = held(d, rho)) => radii::re_ice(p, rho, qi);
        "radii::re_snow"(t = d.t(), rho = d.rho(), qs = held(d, rho)) => radii::re_snow(p, t, rho, qs);
    }
}

pub(crate) fn reflectivity<R: Precision>() -> Vec<Pair<R>> {
    pairs! { p, d:
        "reflectivity::has_rain"(target = d.target()) => truth::<R>(reflectivity::has_rain(&target));
        "reflectivity::has_snow"(target = d.target()) => truth::<R>(reflectivity::has_snow(&target));
        "reflectivity::is_melting"(target = d.target(), above = d.target())
            => truth::<R>(reflectivity::is_melting(&target, &above));
        "reflectivity::decibels"(z = d.amount(1e-25, 1e-10, &[R::Z_NONE]))
            => reflectivity::decibels(z);
        "reflectivity::content"(target = d.target(), q = d.q(&[]))
            => reflectivity::content(&target, q);
        "reflectivity::sphere"(rho = d.log(50.0, 1000.0, &[])) => reflectivity::sphere(rho);
        "reflectivity::inverse_slope"(
            content = content(d),
            rho = d.log(50.0, 1000.0, &[]),
            intercept = d.log(1e6, 1e11, &[])
        ) => reflectivity::inverse_slope(content, rho, intercept);
        "reflectivity::seventh_power"(x = d.amount(1e-5, 0.01, &[])) => reflectivity::seventh_power(x);
        "reflectivity::z_rain"(target = d.target()) => reflectivity::z_rain(p, &target);
        "reflectivity::snow_intercept"(t = d.t()) => reflectivity::snow_intercept(p, t);
        "reflectivity::z_snow"(target = d.target()) => reflectivity::z_snow(p, &target);
        "reflectivity::z_melting_snow"(
            bins = Bins::default(),
            target = d.target(),
            snow_above = content(d)
        ) => reflectivity::z_melting_snow(p, &bins, &target, snow_above); within AHEAD;
        "reflectivity::sixth_moment"(bins = Bins::default(), length = d.log(1e-6, 0.01, &[]))
            => reflectivity::sixth_moment(&bins, length);
        "reflectivity::melted_fraction"(content = content(d), content_above = d.log(1e-14, 0.05, &[]))
            => reflectivity::melted_fraction(content, content_above);
        "reflectivity::backscatter_of_melting"(rho = d.log(50.0, 800.0, &[]), melted = fraction(d))
            => reflectivity::backscatter_of_melting(rho, melted); within AHEAD;
        "reflectivity::melting_backscatter"(melted = fraction(d))
            => reflectivity::melting_backscatter(melted); within AHEAD;
        "reflectivity::mix"(
            matrix = permittivity(d),
            inclusion = permittivity(d),
            part = fraction(d)
        ) => parts(reflectivity::mix(complex(matrix), complex(inclusion), part));
    }
}

pub(crate) fn complex_numbers<R: Precision>() -> Vec<Pair<R>> {
    pairs! { p, d:
        "operator+(Complex, Complex)"(a = any(d), b = any(d)) => parts(complex(a) + complex(b));
        "operator+(Complex, real)"(a = any(d), b = d.signed(1e-3, 100.0)) => parts(complex(a) + b);
        "operator-(Complex, Complex)"(a = any(d), b = any(d)) => parts(complex(a) - complex(b));
        "operator-(Complex, real)"(a = any(d), b = d.signed(1e-3, 100.0)) => parts(complex(a) - b);
        "operator*(Complex, Complex)"(a = any(d), b = any(d)) => parts(complex(a) * complex(b));
        "operator*(Complex, real)"(a = any(d), b = d.signed(1e-3, 100.0)) => parts(complex(a) * b);
        "operator/(Complex, Complex)"(a = any(d), b = any(d)) => parts(complex(a) / complex(b));
        "norm_sqr"(a = any(d)) => complex(a).norm_sqr();
        "ln"(a = any(d)) => parts(complex(a).ln());
    }
}

//! Results of WRF's own routines.

use ndarray::Array3;
use nwp_mini::advection::Limiter;
use nwp_mini::advection::flux::FluxConstants;
use nwp_mini::advection::perturbation::{Perturbation, Term};

use super::case::{Prepared, SCHEMES, difference, field, largest, read, table};
use super::support;

/// The truth is stored with 11 digits.
const F64_LIMIT: f64 = 1.0e-10;
/// WRF's own single precision is up to 3.8e-7 off; the order of the sums differs.
const F32_TENDENCY_LIMIT: f64 = 2.0e-6;
/// WRF's own single precision is up to 1.3e-6 off after 50 steps.
const F32_STEPS_LIMIT: f64 = 5.0e-6;
/// A cell may fall this far below zero by rounding in single precision, as a share of the
/// maximum: WRF's own does by up to 7e-8.
const NEGATIVE_LIMIT: f64 = 1.0e-7;
/// Single precision rounds every cell in every step, each way alike.
const DRIFT_LIMIT: f64 = 1.0e-6;

/// Calls `check` with every group whose name starts with `prefix`; there must be one.
fn each_group(prefix: &str, mut check: impl FnMut(&netcdf::Group<'_>)) {
    let file = support::reference("adv");
    let mut count = 0;
    for group in file.groups().expect("a NetCDF-4 file") {
        if group.name().starts_with(prefix) {
            check(&group);
            count += 1;
        }
    }
    assert!(count > 0, "the reference file has no group {prefix}*");
}

fn check_tendencies<R: FluxConstants>(limit: f64) {
    each_group("tend_", |group| {
        let case = read(group, "field");
        let start = field(group, "field_old");
        let mut prepared = Prepared::<R>::new(&case);
        for (limiter, name) in SCHEMES {
            let truth = field(group, &format!("tend_{name}_f64"));
            let found = prepared.tendency(&case, limiter, &case.q, &start);
            let error = difference(&found, &truth);
            println!("{} {} {name}: {error:.2e}", group.name(), R::NAME);
            assert!(error <= limit, "{} {name}: {error:e} above {limit:e}", group.name());
        }
    });
}

#[test]
fn tendencies_f64() {
    check_tendencies::<f64>(F64_LIMIT);
}

#[test]
fn tendencies_f32() {
    check_tendencies::<f32>(F32_TENDENCY_LIMIT);
}

/// The limits are narrow enough: with any term off by one per cent, they are exceeded.
#[test]
fn one_per_cent_of_a_term_shows() {
    let mut unnoticed = Vec::new();
    for term in Term::ALL {
        let (mut exceeded, mut most) = (0, 0.0_f64);
        each_group("tend_", |group| {
            let case = read(group, "field");
            let start = field(group, "field_old");
            let mut prepared = Prepared::<f32>::new(&case);
            prepared.work.perturbation = Some(Perturbation { term, factor: 1.01 });
            for (limiter, name) in SCHEMES {
                let truth = field(group, &format!("tend_{name}_f64"));
                let error = difference(&prepared.tendency(&case, limiter, &case.q, &start), &truth);
                exceeded += usize::from(error > F32_TENDENCY_LIMIT);
                most = most.max(error / F32_TENDENCY_LIMIT);
            }
        });
        println!("{} + 1 %: {exceeded} limits exceeded, by up to {most:.0}", term.name());
        if exceeded == 0 {
            unnoticed.push(term.name());
        }
    }
    assert!(unnoticed.is_empty(), "a change by 1 % is not noticed in {}", unnoticed.join(", "));
}

fn minimum(q: &Array3<f64>) -> f64 {
    q.iter().fold(f64::INFINITY, |least, x| x.min(least))
}

/// Runs a case with one scheme and checks every step's totals, the result and the promises.
fn check_steps<R: FluxConstants>(
    group: &netcdf::Group<'_>,
    limiter: Limiter,
    scheme: &str,
    limit: f64,
) {
    let name = group.name();
    let case = read(group, "q0");
    let history = table(group, &format!("hist_{scheme}_f64"));
    let mut prepared = Prepared::<R>::new(&case);
    let mut q = case.q.mapv(R::of);
    let mut totals_error = 0.0_f64;
    for step in 0..=case.steps {
        if step > 0 {
            prepared.step(limiter, &mut q);
        }
        let census = case.census(&q, step).expect("finite");
        let found = [census.mass, census.min, census.max];
        // Extremes are compared with the largest one, as the minimum may be zero.
        let range = history[[step, 1]].abs().max(history[[step, 2]].abs());
        let scale = [history[[0, 0]].abs(), range, range];
        for (s, (found, scale)) in found.into_iter().zip(scale).enumerate() {
            totals_error = totals_error.max((found - history[[step, s]]).abs() / scale);
        }
    }
    let truth = field(group, &format!("q_{scheme}_f64"));
    let error = difference(&q, &truth);
    println!("{name} {} {scheme}: {error:.2e}, totals {totals_error:.2e}", R::NAME);
    assert!(error <= limit, "{name} {scheme}: {error:e} above {limit:e}");
    assert!(totals_error <= limit, "{name} {scheme} totals: {totals_error:e} above {limit:e}");

    let sides = case.grid.sides;
    let q = q.mapv(R::f64);
    let open =
        [sides.west, sides.east, sides.south, sides.north].contains(&nwp_mini::grid::Side::Open);
    if limiter == Limiter::PositiveDefinite && !open && minimum(&case.q) >= 0.0 {
        assert!(minimum(&q) >= -NEGATIVE_LIMIT * largest(&case.q), "{name}: {}", minimum(&q));
    }
    if sides.periodic_x() && sides.periodic_y() {
        let mass = |q: &Array3<f64>| case.census(q, 0).expect("finite").mass;
        let drift = (mass(&q) - mass(&case.q)).abs() / mass(&case.q).abs();
        println!("{name} {} {scheme}: mass drift {drift:.2e}", R::NAME);
        assert!(drift <= DRIFT_LIMIT, "{name} {scheme}: mass drifts by {drift:e}");
    }
}

#[test]
fn steps_f64() {
    each_group("rk3_", |group| {
        for (limiter, scheme) in SCHEMES {
            check_steps::<f64>(group, limiter, scheme, F64_LIMIT);
        }
    });
}

#[test]
fn steps_f32() {
    each_group("rk3_", |group| {
        for (limiter, scheme) in SCHEMES {
            check_steps::<f32>(group, limiter, scheme, F32_STEPS_LIMIT);
        }
    });
}

/// A constant tracer drifts only because the stored wind closes to single precision: WRF's own
/// is 1.3e-6 off after 50 steps.
#[test]
fn constant_tracer_in_stored_wind() {
    let file = support::reference("adv");
    let Some(group) = file.group("rk3_constant").expect("a NetCDF-4 file") else { return };
    let case = read(&group, "q0");
    let value = case.q[[0, 0, 0]];
    for (limiter, scheme) in SCHEMES {
        let q = Prepared::<f32>::new(&case).steps(limiter, &case.q, case.steps);
        let drift =
            q.iter().fold(0.0_f64, |most, x| most.max((f64::from(*x) - value).abs() / value));
        println!("rk3_constant {scheme}: drift {drift:.2e}");
        assert!(drift <= 2.0e-6, "{scheme}: {drift:e}");
    }
}

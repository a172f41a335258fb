//! Columns in SIMD lanes, with every instruction set of this machine.

use nwp_mini::physics::registry::usual_set;
use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::simd::{Instructions, LANES};

use super::case::{CASES, Columns, Reference};
use super::judge::Parting;
use super::weather::{Engine, Region, Vectors, Weather};

/// All instruction sets that this machine has, or that NWP_MINI_SIMD admits; prints them.
fn engines() -> Vec<Vectors<f32>> {
    Instructions::check().expect("NWP_MINI_SIMD is for this processor");
    let available = Instructions::available();
    let names: Vec<&str> = available.iter().map(|set| set.name()).collect();
    println!("instructions of this machine: {}", names.join(", "));
    let engine = |set| Vectors { scheme: Scheme::default(), instructions: Some(set) };
    available.iter().copied().map(engine).collect()
}

fn weather(case: &str, ny: usize) -> Weather<f32> {
    Weather::of(&Columns::of(case), ny, 0.0)
}

/// All numbers that a call changes, by name.
fn results(weather: &Weather<f32>) -> Vec<(&'static str, Vec<f32>)> {
    let fields = super::weather::NAMES.into_iter().zip(weather.state.fields());
    let fields = fields.map(|(name, field)| (name, field.iter().copied().collect()));
    let planes =
        weather.planes().into_iter().map(|(name, plane)| (name, plane.iter().copied().collect()));
    fields.chain(planes).collect()
}

fn assert_same_bits(found: &Weather<f32>, expected: &Weather<f32>, about: &str) {
    for ((name, found), (_, expected)) in results(found).into_iter().zip(results(expected)) {
        let differs = |(a, b): (&f32, &f32)| a.to_bits() != b.to_bits();
        let count = found.iter().zip(&expected).filter(|&pair| differs(pair)).count();
        assert_eq!(count, 0, "{about}: {name} differs in {count} of {} values", found.len());
    }
}

/// The limits of the scalar version hold, with the functions of [`nwp_mini::simd::math`] too.
#[test]
fn every_set_of_instructions_is_judged_like_the_rest() {
    let reference = Reference::read(&CASES, |_, _| true);
    for engine in engines() {
        println!("{}", engine.name());
        reference.judge(&engine, &Parting::LIKE_WRF).finish();
    }
}

#[test]
fn all_sets_of_instructions_have_the_same_bits() {
    let engines = engines();
    for case in CASES {
        let before = weather(case, 1);
        let whole = Region::whole(before.shape());
        for dt in [60.0, 300.0] {
            let after: Vec<_> = engines.iter().map(|e| before.after(e, dt, &whole)).collect();
            for pair in after.windows(2) {
                assert_same_bits(&pair[1], &pair[0], &format!("{case}, dt {dt}"));
            }
        }
    }
}

/// NaN in any field is neither hidden by the limits of the processes nor by the shortcuts for levels without rain.
#[test]
fn nan_remains() {
    let alone = Vectors { scheme: Scheme::default(), instructions: None };
    for engine in engines().into_iter().chain([alone]) {
        for field in 0..usual_set().carried() {
            let mut before = weather("dry", 1);
            before.state.fields_mut()[field][[1, 0, 0]] = f32::NAN;
            let after = before.after(&engine, 60.0, &Region::whole(before.shape()));
            let is_left = after.state.fields().iter().flatten().any(|x| x.is_nan());
            assert!(is_left, "{}: NaN in field {field}", engine.name());
        }
    }
}

/// The result of a column depends neither on its neighbours nor on its lane.
#[test]
fn columns_know_nothing_of_their_neighbours() {
    for engine in engines() {
        for case in CASES {
            let before = weather(case, 1);
            let count = before.shape().nx;
            let whole = before.after(&engine, 60.0, &Region::whole(before.shape()));
            // The reference data that are shipped have few columns.
            for first in [1, 5, LANES - 1].into_iter().filter(|first| *first < count) {
                for last in [first + 1, first + LANES, first + 2 * LANES + 3] {
                    let region = Region { rows: 0..1, columns: first..last.min(count) };
                    let part = before.after(&engine, 60.0, &region);
                    let expected = before.patched(&whole, &region);
                    assert_same_bits(&part, &expected, &format!("{case}, {region:?}"));
                }
            }
        }
    }
}

/// Results in SIMD lanes and of single columns differ by rounding only: the differences, sorted by size, are compared
/// with those of a run whose input is perturbed by one ULP.
///
/// The largest thousandth is not significant: there a cell takes another branch in one of the runs.
#[test]
fn lanes_agree_with_single_columns() {
    /// Factor of the differences: the functions have errors of one ULP, as the perturbed input, and a step has dozens
    /// of them.
    const FACTOR: f64 = 8.0;
    let scheme = Scheme::<f32>::default();
    for engine in engines() {
        for case in CASES {
            let before = weather(case, 1);
            let whole = Region::whole(before.shape());
            let mut moved = before.clone();
            for field in moved.state.fields_mut() {
                field.mapv_inplace(f32::next_up);
            }
            let alone = results(&before.after(&scheme, 60.0, &whole));
            let moved = results(&moved.after(&scheme, 60.0, &whole));
            let side_by_side = results(&before.after(&engine, 60.0, &whole));
            for (((name, alone), (_, moved)), (_, side_by_side)) in
                alone.iter().zip(&moved).zip(&side_by_side)
            {
                let most = alone.iter().fold(0.0_f64, |most, &x| most.max(f64::from(x.abs())));
                let differences = |other: &[f32]| {
                    let mut all: Vec<f64> =
                        other.iter().zip(alone).map(|(a, b)| f64::from((a - b).abs())).collect();
                    all.sort_by(f64::total_cmp);
                    all
                };
                let (found, allowed) = (differences(side_by_side), differences(moved));
                for share in [0.5, 0.9, 0.99, 0.999] {
                    let at = ((found.len() - 1) as f64 * share) as usize;
                    let limit = FACTOR * allowed[at] + f64::from(f32::EPSILON) * most;
                    assert!(
                        found[at] <= limit,
                        "{case}, {name}, {}: {share} of the values differ by up to {:e}, not {limit:e}",
                        engine.name(),
                        found[at]
                    );
                }
            }
        }
    }
}

/// Numbers below the smallest normal one, which files hold, count as nothing.
#[test]
fn traces_are_nothing() {
    let case = CASES[0];
    let before = weather(case, 1);
    let mut with_traces = before.clone();
    for field in &mut with_traces.state.of_scheme_mut()[2..] {
        assert!(field.iter().any(|q| *q <= 0.0), "there is a place for a trace");
        field.mapv_inplace(|q| if q <= 0.0 { 0.5 * f32::MIN_POSITIVE } else { q });
    }
    let whole = Region::whole(before.shape());
    for engine in engines() {
        let found = with_traces.after(&engine, 60.0, &whole);
        assert_same_bits(&found, &before.after(&engine, 60.0, &whole), case);
    }
}

/// All that is diagnosed, by name.
fn diagnosed(engine: &impl Engine<f32>, weather: &Weather<f32>) -> Vec<(&'static str, Vec<f32>)> {
    let found = engine.diagnose(weather);
    found.iter().map(|(name, field)| (name, field.iter().copied().collect())).collect()
}

/// Reflectivity and radii in SIMD lanes, for columns that fill the lanes and for fewer, differ from those of single
/// columns by rounding, and not at all between instruction sets. Melting snow uses the same functions in both.
#[test]
fn diagnostics_agree_with_single_columns() {
    /// Largest difference of radii, in ULP: the functions have errors of two ULP together.
    const ROUNDINGS: f64 = 4.0;
    /// Largest difference of the reflectivity, dBZ: 2e-6 by as many ULP of its factor, and 4e-6 by one ULP of 60 dBZ.
    const DBZ: f64 = 1.0e-5;
    let scheme = Scheme::<f32>::default();
    let engines = engines();
    for case in CASES {
        for ny in [1, 2, 3] {
            let weather = weather(case, ny);
            let alone = diagnosed(&scheme, &weather);
            let side_by_side: Vec<_> = engines.iter().map(|e| diagnosed(e, &weather)).collect();
            for pair in side_by_side.windows(2) {
                assert_eq!(pair[0], pair[1], "{case}: sets of instructions differ");
            }
            for (engine, side_by_side) in engines.iter().zip(&side_by_side) {
                for ((name, found), (_, expected)) in side_by_side.iter().zip(&alone) {
                    let about = format!("{case}, {ny} rows, {}, {name}", engine.name());
                    for (found, expected) in found.iter().zip(expected) {
                        let own = f64::from(expected * f32::EPSILON);
                        let limit = if *name == "refl_10cm" { DBZ } else { ROUNDINGS * own };
                        let difference = f64::from(found - expected).abs();
                        assert!(difference <= limit, "{about}: {found:e}, not {expected:e}");
                    }
                }
            }
        }
    }
}

/// Of a variant, a precision or a processor that has no vector instructions the scalar version is run.
#[test]
fn without_vector_instructions_the_reference_is_run() {
    for engine in engines() {
        let double =
            Vectors { scheme: Scheme::<f64>::default(), instructions: engine.instructions };
        let columns = Columns::of(CASES[0]);
        let before = Weather::<f64>::of(&columns, 1, 0.0);
        let whole = Region::whole(before.shape());
        let found = before.after(&double, 60.0, &whole);
        let expected = before.after(&double.scheme, 60.0, &whole);
        assert_eq!(found.state.theta(), expected.state.theta());
    }
}

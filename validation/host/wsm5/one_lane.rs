//! Single columns, which are columns side by side with one lane, against an oracle of plain numbers in one column.

use nwp_mini::physics::wsm5::Sedimentation;
use nwp_mini::physics::wsm5::factors::Factors;
use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::real::Real;
use nwp_mini::state::CloudDiagnostics;

use super::case::{CASES, Columns};
use super::oracle::Oracle;
use super::weather::{Engine, NAMES, Precision, Region, Weather};

/// A value as its bits, for comparisons that tell apart what differs in them.
fn bits<R: Real>(x: R) -> u64 {
    x.f64().to_bits()
}

/// Everything that a call changes, by name.
fn results<R: Precision>(weather: &Weather<R>) -> Vec<(&'static str, Vec<u64>)> {
    let fields = NAMES.into_iter().zip(weather.state.fields());
    let fields = fields.map(|(name, field)| (name, field.iter().map(|&x| bits(x)).collect()));
    let planes = weather.planes().into_iter();
    let planes = planes.map(|(name, plane)| (name, plane.iter().map(|&x| bits(x)).collect()));
    fields.chain(planes).collect()
}

fn diagnosed<R: Precision>(out: &CloudDiagnostics<R>) -> Vec<(&'static str, Vec<u64>)> {
    out.iter().map(|(name, field)| (name, field.iter().map(|&x| bits(x)).collect())).collect()
}

fn expect_same(about: &str, found: Vec<(&str, Vec<u64>)>, expected: Vec<(&str, Vec<u64>)>) {
    for ((name, found), (_, expected)) in found.into_iter().zip(expected) {
        let count = found.iter().zip(&expected).filter(|(a, b)| a != b).count();
        assert_eq!(count, 0, "{about}: {name} differs in {count} of {} values", found.len());
    }
}

fn weather<R: Precision>(case: &str) -> Weather<R> {
    let columns = Columns::of(case).unforced();
    // Several rows, and an offset as in a run.
    Weather::of(&columns, 3, 300.0)
}

fn check<R: Precision>(scheme: &Scheme<R>, about: &str) {
    for case in CASES {
        let before = weather::<R>(case);
        let whole = Region::whole(before.shape());
        let oracle = Oracle(scheme.clone());
        for dt in [60.0, 300.0] {
            let found = before.after(scheme, dt, &whole);
            let expected = before.after(&oracle, dt, &whole);
            let about = format!("{case}, {about}, {}, {dt} s", R::NAME);
            expect_same(&about, results(&found), results(&expected));
            expect_same(
                &about,
                diagnosed(&scheme.diagnose(&found)),
                diagnosed(&oracle.diagnose(&found)),
            );
        }
    }
}

#[test]
fn one_lane_has_the_bits_of_the_oracle() {
    for fallout in Sedimentation::ALL {
        let about = format!("{fallout:?}");
        check(&Scheme::<f32>::default().with_fallout(fallout), &about);
        check(&Scheme::<f64>::default().with_fallout(fallout), &about);
    }
}

/// The same with each process a little stronger: amounts are then taken from where they are not.
#[test]
fn one_lane_has_the_bits_of_the_oracle_with_stronger_processes() {
    for name in Factors::<f64>::NAMES {
        let mut scheme = Scheme::<f64>::default();
        *scheme.factors.of(name).expect("a process") = 1.01;
        check(&scheme, name);
    }
}

/// A subnormal trace remains in a single column, where it costs others nothing.
#[test]
fn traces_remain() {
    let mut before = weather::<f32>(CASES[0]);
    for field in &mut before.state.of_scheme_mut()[2..] {
        field.mapv_inplace(|q| if q <= 0.0 { 0.5 * f32::MIN_POSITIVE } else { q });
    }
    let whole = Region::whole(before.shape());
    let scheme = Scheme::default();
    let found = before.after(&scheme, 60.0, &whole);
    assert!(found.state.fields().iter().any(|field| field.iter().any(|q| q.is_subnormal())));
    expect_same("traces", results(&found), results(&before.after(&Oracle(scheme), 60.0, &whole)));
}

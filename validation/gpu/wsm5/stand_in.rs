//! Tests of the checks themselves, with stand-ins for the GPU made of the CPU version: they accept differences due to
//! rounding, and nothing else.

use std::cell::RefCell;

use nwp_mini::physics::wsm5::Sedimentation;
use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::state::CloudDiagnostics;

use super::case::{CASES, Reference};
use super::judge::Parting;
use super::levels::{Task, tasks};
use super::parameters;
use super::places::check_places;
use super::report::Report;
use super::substepped::{self, Substepped};
use super::weather::{Engine, Precision, Region, Weather};
use crate::random::Random;
use crate::seed;

/// The CPU version on a state of which every number is off by up to a rounding.
struct Shaken<R> {
    scheme: Scheme<R>,
    random: RefCell<Random>,
}

impl<R: Precision> Shaken<R> {
    fn new(fallout: Sedimentation, seed: u64) -> Self {
        let scheme = Scheme::default().with_fallout(fallout);
        Self { scheme, random: RefCell::new(Random::new(seed)) }
    }

    fn shake(&self, weather: &mut Weather<R>) {
        let mut random = self.random.borrow_mut();
        for field in weather.state.fields_mut() {
            field.mapv_inplace(|x| x * R::of(1.0 + R::epsilon().f64() * random.between(-1.0, 1.0)));
        }
    }
}

impl<R: Precision> Engine<R> for Shaken<R> {
    fn call(&self, dt: R, weather: &mut Weather<R>, region: &Region) {
        self.shake(weather);
        self.scheme.call(dt, weather, region);
    }

    fn diagnose(&self, weather: &Weather<R>) -> CloudDiagnostics<R> {
        let mut weather = weather.clone();
        self.shake(&mut weather);
        self.scheme.diagnose(&weather)
    }
}

/// The CPU version with something wrong about its calls.
struct Spoilt<F>(F);

impl<R: Precision, F: Fn(&mut Weather<R>, &Region)> Engine<R> for Spoilt<F> {
    fn call(&self, dt: R, weather: &mut Weather<R>, region: &Region) {
        Scheme::default().call(dt, weather, region);
        (self.0)(weather, region);
    }

    fn diagnose(&self, weather: &Weather<R>) -> CloudDiagnostics<R> {
        Scheme::default().diagnose(weather)
    }
}

#[test]
fn roundings_pass() {
    let mut seed = seed();
    for fallout in Sedimentation::ALL {
        for nz in [4, 27, 40] {
            seed = seed.wrapping_add(1);
            let mut report = Report::default();
            for task in tasks(nz, fallout, seed) {
                task.check_f32(&Shaken::new(fallout, seed), &mut report);
                task.check_f64(&Shaken::new(fallout, seed), &mut report);
            }
            report.finish();
        }
    }
}

/// In single precision the reference knows its input to the last bit, so that only that of double
/// precision may be shaken.
#[test]
fn roundings_pass_by_the_reference() {
    let seed = seed();
    let limits = Parting::ON_ITS_OWN;
    let engine = Shaken::<f64>::new(Sedimentation::SemiLagrangian, seed);
    Reference::read(&CASES, |_, _| true).judge(&engine, &limits).finish();
    let engine = Shaken::<f64>::new(Sedimentation::Substepped, seed);
    substepped::reference().judge(&engine, &Substepped(limits)).finish();
}

#[test]
fn the_cpu_version_knows_places() {
    let mut report = Report::default();
    check_places(&Scheme::<f32>::default(), &mut report);
    report.finish();
}

/// One per cent of any parameter is detected by the comparison with the CPU version, except for the threshold of
/// autoconversion, which affects fewer cells than rounding does; it is detected by the reference, which marks the cells
/// that rounding affects.
#[test]
fn wrong_parameters_do_not_pass() {
    let tasks = tasks(27, Sedimentation::SemiLagrangian, 1);
    let passes = |p: &Scheme<f32>| {
        let mut report = Report::default();
        for task in &tasks {
            task.check_f32(p, &mut report);
        }
        report.failures.is_empty()
    };
    let mut wrong = parameters::off_by_one_per_cent();
    wrong.retain(|(name, _)| *name != "qc0");
    let unnoticed: Vec<_> =
        wrong.into_iter().filter(|(_, p)| passes(p)).map(|(name, _)| name).collect();
    assert!(unnoticed.is_empty(), "1 % is not noticed in {}", unnoticed.join(", "));
}

/// Panics unless calls with this error are detected.
fn expect_noticed(what: &str, spoil: impl Fn(&mut Weather<f32>, &Region), tasks: &[Task]) {
    let engine = Spoilt(spoil);
    let mut report = Report::default();
    for task in tasks {
        task.check_f32(&engine, &mut report);
    }
    check_places(&engine, &mut report);
    assert!(!report.failures.is_empty(), "not noticed: {what}");
}

#[test]
fn faults_in_single_elements_do_not_pass() {
    let tasks = tasks(27, Sedimentation::SemiLagrangian, 2);
    expect_noticed(
        "an element that is not written",
        |weather, region| {
            let first = [region.rows.start, region.columns.start];
            weather.surface.named_mut("sr")[first] = f32::NAN;
        },
        &tasks,
    );
    expect_noticed(
        "a cell outside of the region that is written",
        |weather, region| {
            if let Some(x) = weather.state.named_mut("qr").get_mut([0, 0, region.columns.end]) {
                *x += 1.0e-6;
            }
        },
        &tasks,
    );
    expect_noticed(
        "a column that sees how many there are",
        |weather, region| {
            let last = [0, region.rows.start, region.columns.end - 1];
            weather.state.theta_mut()[last] += 1.0e-3;
        },
        &tasks,
    );
    let turn = RefCell::new(0.0);
    expect_noticed(
        "a call that is another every time",
        |weather, region| {
            *turn.borrow_mut() += 1.0e-3;
            let first = [0, region.rows.start, region.columns.start];
            weather.state.theta_mut()[first] += *turn.borrow();
        },
        &tasks,
    );
}

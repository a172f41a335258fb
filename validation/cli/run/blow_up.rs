//! Numerical instability: the run ends with exit code 5 and reports the position, and earlier frames stay.

use nwp_mini::backend::check_finite;
use nwp_mini::error::Error;
use nwp_mini::grid::Shape;
use nwp_mini::physics::registry::usual_set;
use nwp_mini::state::State;

use super::place::Place;
use super::small::Small;

const BLOW_UP: i32 = 5;

/// A file that is accepted, but in which the heights of the layers' faces are far outside of the layers: the tracer in
/// the vertical fluxes grows from step to step.
fn unstable(weight: f32) -> Small {
    let mut small = Small::clear();
    small.values("FNM")[[1]] = weight;
    small.values("FNP")[[1]] = 1.0 - weight;
    small
}

/// The words behind `before` in a text, up to the next space.
fn after<'a>(text: &'a str, before: &str) -> &'a str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("{before:?} in {text:?}"));
    rest.split_whitespace().next().expect("something follows")
}

#[test]
fn a_run_that_blows_up_names_the_place_and_keeps_the_frames_before() {
    let place = Place::with(&unstable(60.0));
    let arguments = ["--steps", "5000", "--output-interval", "60", "--json", "out.json"];
    let ended = place.run_small(&arguments);
    ended.refused(BLOW_UP, &[" became ", " in cell i=", " at step ", "smaller --dt"]);
    let error = &ended.stderr[ended.stderr.find("error: ").expect("checked above")..];
    let variable = after(error, "error: ");
    assert!(usual_set().iter().any(|tracer| tracer.name == variable), "{error}");
    assert!(["NaN", "inf", "-inf"].contains(&after(error, "became ")), "{error}");
    for (axis, length) in [("i=", 12), ("j=", 10), ("k=", 8)] {
        assert!(after(error, axis).parse::<usize>().expect("an index") < length, "{error}");
    }
    let step: usize = after(error, "at step ").trim_end_matches(';').parse().expect("a number");
    assert!(step > 2, "{error}");
    // The figures would be those of a run that did not happen.
    assert_eq!(place.files(), ["small.nc", "small.out.nc"]);
    let output = place.open("small.out.nc");
    // One frame for each step before, and the initial one.
    assert_eq!(output.frames(), step);
    for name in ["T", "QVAPOR", "QCLOUD", "QRAIN", "QICE", "QSNOW", "U", "RAINNC"] {
        assert!(output.values(name).iter().all(|x| x.is_finite()), "{name}");
    }
    assert!(ended.stderr.contains(&format!("small.out.nc contains the {step} frames")), "{error}");
}

#[test]
fn every_field_is_watched_everywhere() {
    let shape = Shape { nx: 5, ny: 4, nz: 3 };
    let good = State::<f64>::zeros(&usual_set(), shape);
    check_finite(&good, 0).expect("all is zero");
    for (n, tracer) in usual_set().iter().enumerate() {
        let name = tracer.name;
        for (value, cell) in
            [(f64::NAN, [0, 0, 0]), (f64::INFINITY, [2, 3, 4]), (f64::NEG_INFINITY, [1, 2, 3])]
        {
            let mut state = good.clone();
            state.fields_mut()[n][cell] = value;
            match check_finite(&state, 17) {
                Err(Error::BlowUp { variable, value: found, step: 17, cell: at }) => {
                    assert_eq!((variable, at), (name, cell));
                    assert_eq!(found.to_bits(), value.to_bits());
                }
                other => panic!("{name} {value}: {other:?}"),
            }
        }
    }
    // Large is not infinite.
    let mut state = good;
    state.named_mut("qs").fill(f64::MAX);
    check_finite(&state, 1).expect("finite");
}

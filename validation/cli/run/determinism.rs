//! The same bits for any number of threads, in every run, and for any output interval.

use serde_json::Value;

use super::place::{Place, storm};
use super::small::Small;

type Bits = Vec<(String, Vec<u64>)>;

/// The figures that do not depend on the machine or on time.
fn physics(figures: &Value) -> Value {
    let names = [
        "grid",
        "steps",
        "dt",
        "max_dt",
        "seconds",
        "projection",
        "water",
        "precipitation_mean_mm",
        "precipitation_frozen_mean_mm",
        "precipitation_max_mm",
    ];
    let pick = |name: &str| {
        assert!(!figures[name].is_null(), "{name}");
        (name.to_owned(), figures[name].clone())
    };
    names.into_iter().map(pick).collect::<serde_json::Map<String, Value>>().into()
}

/// Runs `input` and returns the figures, the bits of the whole file and those of its last time.
fn run(place: &Place, input: &str, arguments: &[&str]) -> (Value, Bits, Bits) {
    let fixed = ["-q", "--force", "--input", input, "--output", "out.nc", "--json", "out.json"];
    place.run(&[&fixed, arguments].concat()).good();
    let output = place.open("out.nc");
    (physics(&place.json("out.json")), output.bits(), output.last_bits())
}

fn names_of_differing(a: &Bits, b: &Bits) -> Vec<String> {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).filter(|(a, b)| a != b).map(|(a, _)| a.0.clone()).collect()
}

#[test]
fn threads_and_frames_leave_no_trace() {
    let place = Place::with(&Small::of([21, 18, 9], true));
    let storm = storm();
    let storm = storm.to_str().expect("a path in UTF-8");
    let inputs = [
        (storm, "specified", "f32", "4"),
        (storm, "open,specified", "f64", "2"),
        ("small.nc", "periodic", "f32", "12"),
        ("small.nc", "open", "f64", "12"),
    ];
    for (input, boundary, precision, steps) in inputs {
        let about = format!("{input} {boundary} {precision}");
        let case = ["--boundary", boundary, "--precision", precision, "--steps", steps];
        let with = |more: &[&str]| run(&place, input, &[&case, more].concat());
        let (figures, bits, last) = with(&["--threads", "1"]);
        // The last of the runs repeats the first.
        for threads in ["2", "3", "1"] {
            let (again, others, _) = with(&["--threads", threads]);
            assert_eq!(again, figures, "{about} {threads} threads");
            assert_eq!(
                names_of_differing(&others, &bits),
                Vec::<String>::new(),
                "{about} {threads}"
            );
        }
        let (often, _, at_end) = with(&["--threads", "2", "--output-interval", "1"]);
        assert_eq!(often, figures, "{about} with more frames");
        assert_eq!(names_of_differing(&at_end, &last), Vec::<String>::new(), "{about}");
    }
}

/// The comparison above detects different runs: another limiter gives other bits.
#[test]
fn other_options_leave_a_trace() {
    let place = Place::with(&Small::new());
    let (figures, bits, _) = run(&place, "small.nc", &["--steps", "3"]);
    let (other, others, _) = run(&place, "small.nc", &["--steps", "3", "--limiter", "monotonic"]);
    assert_ne!(other, figures);
    assert!(names_of_differing(&others, &bits).iter().any(|name| name == "QRAIN"));
}

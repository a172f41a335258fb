//! The figures of every output frame, compared with the fields of the frame.

use ndarray::{ArrayD, Axis};

use super::place::Place;
use super::result::Output;
use super::small::Small;

/// Names in the figures and in the file.
const FIELDS: [(&str, &str); 6] = [
    ("theta", "T"),
    ("qv", "QVAPOR"),
    ("qc", "QCLOUD"),
    ("qr", "QRAIN"),
    ("qi", "QICE"),
    ("qs", "QSNOW"),
];

/// Rounding of a sum and of its mean to single precision.
const ROUNDING: f64 = 1e-6;

/// True if two numbers are equal up to one ULP, the accuracy of the JSON reader.
fn same(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 2.0 * f64::EPSILON * expected.abs()
}

fn near(found: f64, expected: f64, scale: f64) -> bool {
    (found - expected).abs() <= ROUNDING * scale
}

fn number(value: &serde_json::Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn place_of(value: &serde_json::Value) -> Vec<usize> {
    let list = value.as_array().expect("a place");
    list.iter().map(|n| n.as_u64().expect("an index") as usize).collect()
}

/// Mass of the cells over their area at a time, kg m-2.
fn mass_over_area(output: &Output, time: usize) -> ArrayD<f64> {
    let [mu, mub, c1, c2, rdnw] =
        ["MU", "MUB", "C1H", "C2H", "RDNW"].map(|name| output.frame(name, time));
    let mu = mu + mub;
    let levels: Vec<_> =
        (0..c1.len()).map(|k| (&mu * c1[k] + c2[k]) * (1.0 / rdnw[k]).abs() / 9.81).collect();
    let views: Vec<_> = levels.iter().map(|level| level.view()).collect();
    ndarray::stack(Axis(0), &views).expect("levels of one shape")
}

fn check_frame(figures: &serde_json::Value, output: &Output, time: usize) {
    let about = |name: &str| format!("{name} in frame {time}");
    for (n, (name, variable)) in FIELDS.into_iter().enumerate() {
        let reported = &figures["fields"][n];
        assert_eq!(reported["name"], name);
        let field = output.frame(variable, time);
        let scale = field.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let extremum = |is_better: &dyn Fn(f64, f64) -> bool| {
            let better = |a: (Vec<usize>, f64), b: (Vec<usize>, f64)| {
                if is_better(b.1, a.1) { b } else { a }
            };
            let cells = field.indexed_iter().map(|(at, &x)| (ndarray_place(&at), x));
            cells.reduce(better).expect("cells")
        };
        for (kind, (at, value)) in
            [("min", extremum(&|new, old| new < old)), ("max", extremum(&|new, old| new > old))]
        {
            assert!(same(number(&reported[kind]["value"]), value), "{kind} of {}", about(name));
            assert_eq!(place_of(&reported[kind]["at"]), at, "{kind} of {}", about(name));
        }
        let mean = field.sum() / field.len() as f64;
        let rms = (field.mapv(|x| x * x).sum() / field.len() as f64).sqrt();
        assert!(near(number(&reported["mean"]), mean, scale), "mean of {}", about(name));
        assert!(near(number(&reported["rms"]), rms, scale), "rms of {}", about(name));
        for (k, level) in field.axis_iter(Axis(0)).enumerate() {
            let count = level.len() as f64;
            let squares = level.mapv(|x| x * x).sum();
            for (kind, expected) in [
                ("mean", level.sum() / count),
                ("rms", (squares / count).sqrt()),
                ("min", level.fold(f64::INFINITY, |a, &b| a.min(b))),
                ("max", level.fold(f64::NEG_INFINITY, |a, &b| a.max(b))),
            ] {
                let reported = number(&reported["profile"][kind][k]);
                assert!(near(reported, expected, scale), "{kind} of {} at {k}", about(name));
                if ["mean", "rms"].contains(&kind) {
                    let written =
                        output.frame(&format!("{variable}_{}", kind.to_uppercase()), time);
                    assert!(near(written[k], expected, scale), "{variable} {kind} at {k}");
                }
            }
        }
    }
    let mass = mass_over_area(output, time);
    for (n, (name, variable)) in FIELDS[1..].iter().enumerate() {
        let expected = (&mass * output.frame(variable, time)).sum_axis(Axis(0));
        let written = output.frame(&format!("{variable}_PATH"), time);
        let most = expected.fold(0.0_f64, |most, x| most.max(x.abs()));
        // C1H and others are stored in single precision.
        let worst = (&written - &expected).fold(0.0_f64, |most, x| most.max(x.abs()));
        assert!(worst <= 4.0 * ROUNDING * most, "{name}: {worst:e} of {most:e}");
        let reported = &figures["contents"][n];
        assert_eq!(reported["name"], *name);
        let mean = written.sum() / written.len() as f64;
        assert!(near(number(&reported["mean"]), mean, most), "content of {}", about(name));
        let at = place_of(&reported["max_at"]);
        let most_written = written.fold(0.0_f64, |most, &x| most.max(x));
        assert!(same(number(&reported["max"]), most_written), "content of {}", about(name));
        assert!(written[[at[0], at[1]]] == most_written, "content of {}", about(name));
    }
    let courant = number(&figures["courant"]["value"]);
    assert!(near(output.frame("MAX_COURANT", time).sum(), courant, 1.0));
}

fn ndarray_place(at: &ndarray::IxDyn) -> Vec<usize> {
    use ndarray::Dimension;
    at.slice().to_vec()
}

#[test]
fn figures_are_those_of_the_fields() {
    for precision in ["f32", "f64"] {
        let place = Place::with(&Small::hybrid());
        let options = ["--steps", "4", "--dt", "30", "--output-interval", "60"];
        let (figures, output) =
            place.figures(&[&options[..], &["--precision", precision]].concat());
        let frames = figures["diagnostics"].as_array().expect("a list");
        assert_eq!(frames.len(), 3);
        assert_eq!(frames.len(), output.frames());
        for (time, frame) in frames.iter().enumerate() {
            assert!((number(&frame["seconds"]) - 60.0 * time as f64).abs() < 1e-9);
            check_frame(frame, &output, time);
            // One frame of input: the winds stay.
            let courant = number(&frame["courant"]["value"]);
            assert!(near(courant, 30.0 / number(&figures["max_dt"]), courant), "{courant}");
        }
        let [first, last] = [&frames[0]["water"], &frames[2]["water"]];
        assert_eq!(first["start"], first["end"]);
        assert_eq!(number(&first["fallen"]), 0.0);
        assert_eq!(*last, figures["water"], "the budget of the run is that of its last frame");
    }
}

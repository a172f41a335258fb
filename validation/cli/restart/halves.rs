//! A run in two parts has the bits of a whole one.

use super::place::{Place, storm};
use super::small::Small;
use super::{same_figures, same_frames};

/// A run of steps of 60 s, and the same run divided after `first` of them.
struct Divided<'a> {
    inputs: &'a [&'a str],
    options: &'a [&'a str],
    steps: usize,
    first: usize,
}

impl Divided<'_> {
    /// Executes both, with a frame after every step; returns the folder.
    fn compare(&self, place: &Place) {
        let Self { inputs, options, steps, first } = self;
        let about = format!("{inputs:?} {options:?} {first} of {steps}");
        let run = |from: &[&str], steps: usize, more: &[&str]| {
            let steps = steps.to_string();
            let always = ["-q", "--force", "--steps", &steps, "--output-interval", "60"];
            place.run(&[from, &always, more].concat()).good()
        };
        let input = [&["--input"], *inputs].concat();
        let made = [&["--dt", "60"], *options].concat();
        run(&input, *steps, &[&made[..], &["-o", "whole.nc", "--json", "whole.json"]].concat());
        run(&input, *first, &[&made[..], &["-o", "a.nc", "--restart-output", "r.nc"]].concat());
        // All options are those of the restart file.
        let left = steps - first;
        run(&["--restart", "r.nc"], left, &["-o", "b.nc", "--json", "b.json"]);
        let [whole, a, b] = ["whole.nc", "a.nc", "b.nc"].map(|name| place.open(name));
        assert_eq!([a.frames(), b.frames()], [first + 1, left + 1], "{about}");
        same_frames(&whole, &a, 0, &about);
        same_frames(&whole, &b, *first, &about);
        assert_eq!(whole.times()[*first..], b.times(), "{about}");
        for name in ["START_DATE", "SIMULATION_START_DATE", "NWP_MINI_BOUNDARY"] {
            assert_eq!(whole.text(name), b.text(name), "{about}");
        }
        assert_eq!(whole.number("DT"), b.number("DT"), "{about}");
        same_figures(place, "whole.json", "b.json", &about);
        let figures = place.json("b.json");
        assert_eq!(figures["restart"]["steps"], *first, "{about}");
        assert_eq!(figures["restart"]["seconds"], 60.0 * *first as f64, "{about}");
        assert!(place.json("whole.json")["restart"].is_null());
    }
}

#[test]
fn one_frame_of_input() {
    let place = Place::with(&Small::of([13, 9, 7], true));
    let storm = storm();
    let storm = storm.to_str().expect("a path in UTF-8");
    let of = |inputs, options, steps, first| {
        Divided { inputs: &[inputs], options, steps, first }.compare(&place);
    };
    of(storm, &[], 4, 2);
    of("small.nc", &["--precision", "f64", "--boundary", "periodic"], 9, 4);
    of("small.nc", &["--boundary", "open,periodic", "--limiter", "monotonic"], 6, 5);
    of("small.nc", &["--fallout", "substepped", "--limiter", "none", "--threads", "1"], 7, 1);
    of("small.nc", &["--refine", "3", "--boundary", "open"], 5, 2);
}

/// A second input of other winds and other air.
fn later(stamp: &'static str, faster: f32, warmer: f32) -> Small {
    let mut small = Small::new();
    small.stamp = stamp;
    for name in ["U", "V"] {
        small.values(name).mapv_inplace(|x| x * faster);
    }
    small.values("T").mapv_inplace(|x| x + warmer);
    small.values("MU").mapv_inplace(|x| x + 50.0 * warmer);
    small
}

/// Three times, five minutes apart, two of them in one file; the run continues after the last.
fn series() -> Place {
    let place = Place::empty();
    for (name, small) in [
        ("a.nc", later("2005-08-28_18:00:00", 1.0, 0.0)),
        ("b.nc", later("2005-08-28_18:05:00", 1.4, 0.3)),
        ("c.nc", later("2005-08-28_18:10:00", 0.7, -0.2)),
    ] {
        small.write(&place.path(&format!("in_{name}")));
    }
    place
}

/// The division is before, at and after the times of the input.
#[test]
fn several_frames_of_input() {
    let place = series();
    let inputs = &["in_a.nc", "in_b.nc", "in_c.nc"];
    for first in [1, 4, 5, 6, 10, 12] {
        Divided { inputs, options: &[], steps: 14, first }.compare(&place);
    }
    let options = &["--precision", "f64", "--boundary", "open"];
    Divided { inputs, options, steps: 9, first: 5 }.compare(&place);
    Divided { inputs, options: &["--refine", "2"], steps: 9, first: 7 }.compare(&place);
}

/// The input is not needed any more.
#[test]
fn a_restart_file_stands_alone_and_may_be_divided_again() {
    let place = series();
    let run = |arguments: &[&str]| place.run(&[&["-q", "--steps", "4"], arguments].concat()).good();
    let inputs = ["--input", "in_a.nc", "in_b.nc", "in_c.nc"];
    let whole = ["--dt", "60", "--steps", "12", "-o", "whole.nc", "--json", "whole.json"];
    place.run(&[&inputs[..], &["-q"], &whole].concat()).good();
    run(&[&inputs[..], &["--dt", "60", "-o", "1.nc", "--restart-output", "r1.nc"]].concat());
    for name in inputs.iter().skip(1) {
        std::fs::remove_file(place.path(name)).expect("a file");
    }
    run(&["--restart", "r1.nc", "-o", "2.nc", "--restart-output", "r2.nc"]);
    // A repeated step agrees.
    run(&["--restart", "r2.nc", "-o", "3.nc", "--json", "3.json", "--dt", "60"]);
    let (whole, last) = (place.open("whole.nc"), place.open("3.nc"));
    assert_eq!(whole.last_bits(), last.last_bits());
    same_figures(&place, "whole.json", "3.json", "three parts");
    assert_eq!(place.json("3.json")["restart"]["steps"], 8);
    // The length of a run in hours, for any time step.
    let parts = ["--restart", "r1.nc", "--hours", "0.1333333333333", "-q", "-o", "4.nc"];
    place.run(&parts).good();
    assert_eq!(whole.last_bits(), place.open("4.nc").last_bits());
}

/// Intervals count from the start of the first run, and `RAINNC` too.
#[test]
fn auxiliary_outputs_and_intervals_go_on() {
    let place = Place::with(&Small::new());
    let csv = "name,lat,lon\na,45.51,9.37\nb,46.05,10.15\n";
    std::fs::write(place.path("p.csv"), csv).expect("a file");
    let weights = ["weights", "--input", "small.nc", "--target", "xy", "--spacing", "30000"];
    let made = place.program(&[&weights[..], &["--output", "w.nc"]].concat()).status();
    assert!(made.expect("the program starts").success());
    let aux = ["--points", "p.csv", "--points-interval", "60", "--profiles", "--regrid", "w.nc"];
    let run = |arguments: &[&str]| {
        place.run(&[&["-q", "--output-interval", "180"], &aux[..], arguments].concat()).good();
    };
    run(&["--input", "small.nc", "--dt", "60", "--steps", "9", "-o", "whole.nc"]);
    let first = ["--input", "small.nc", "--dt", "60", "--steps", "5", "-o", "a.nc"];
    run(&[&first[..], &["--restart-output", "r.nc"]].concat());
    run(&["--restart", "r.nc", "--steps", "4", "-o", "b.nc"]);
    let [whole, b] = ["whole.nc", "b.nc"].map(|name| place.open(name));
    // At 300 s, where the run continues, and then at regular intervals.
    let minute = |time: &String| time[14..].to_owned();
    assert_eq!(b.times().iter().map(minute).collect::<Vec<_>>(), ["05:00", "06:00", "09:00"]);
    assert_eq!(
        whole.times().iter().map(minute).collect::<Vec<_>>(),
        ["00:00", "03:00", "06:00", "09:00"]
    );
    assert_eq!(whole.last_bits(), b.last_bits());
    assert!(b.frame("RAINNC", 0).iter().any(|rain| *rain > 0.0));
    let files = [("points.nc", 5), ("points.profiles.nc", 5)];
    for (name, first) in files {
        let [whole, b] = ["whole", "b"].map(|run| place.open(&format!("{run}.{name}")));
        same_frames(&whole, &b, first, name);
    }
    for name in ["profiles.nc", "regrid.nc"] {
        let [whole, b] = ["whole", "b"].map(|run| place.open(&format!("{run}.{name}")));
        let last = |output| {
            let count = super::times(output);
            super::bits(output, count - 2..count)
        };
        assert_eq!(last(&whole), last(&b), "{name}");
    }
}

/// A shortened last step stays short, and the run continues from there.
#[test]
fn a_shortened_step() {
    let place = Place::with(&Small::new());
    let first = ["-q", "--dt", "60", "--hours", "0.025", "-o", "a.nc", "--restart-output", "r.nc"];
    place.run_small(&first).good();
    place
        .run(&["-q", "--restart", "r.nc", "--steps", "2", "-o", "b.nc", "--json", "b.json"])
        .good();
    let [a, b] = ["a.nc", "b.nc"].map(|name| place.open(name));
    assert_eq!(super::bits(&a, 1..2), super::bits(&b, 0..1));
    let figures = place.json("b.json");
    let figure = |name: &str| figures[name].as_f64().expect("a number");
    assert!((figure("seconds") - 210.0).abs() < 1e-9 && figure("steps") == 4.0, "{figures}");
    assert!(figures["water"]["closure_rel"].as_f64().expect("a number").abs() < 1e-6);
}

/// With and without frames between, with other restart intervals, on any number of threads.
#[test]
fn restart_files_leave_no_trace() {
    let place = Place::with(&Small::new());
    let end = |more: &[&str]| {
        let run = ["-q", "--force", "--dt", "60", "--steps", "7", "-o", "out.nc"];
        place.run_small(&[&run[..], more].concat()).good();
        place.open("out.nc").last_bits()
    };
    let bits = end(&[]);
    for more in [
        &["--restart-output", "r.nc"][..],
        &["--restart-interval", "60", "--threads", "1"],
        &["--restart-interval", "100", "--output-interval", "60"],
        &["--restart-interval", "1e-3", "--threads", "2"],
    ] {
        assert_eq!(end(more), bits, "{more:?}");
    }
}

//! Several times of input: interpolation between them, times outside of them, and inconsistent files.

use ndarray::{Array2, Array3, ArrayD, Axis};
use nwp_mini::dry_mass::{AirMass, MassFlux};
use nwp_mini::io::wrf::{
    self,
    series::{Overlap, Series},
};
use nwp_mini::model::RunInput;
use nwp_mini::physics::registry::usual_set;

use super::cut::Cut;
use super::place::{Outcome, Place, field_of, largest_difference};
use super::{CLOSED, FIELDS};

const BEGIN: &str = "0001-01-01_10:00:00";
const TWO_MINUTES: &str = "0001-01-01_10:02:00";
const FOUR_MINUTES: &str = "0001-01-01_10:04:00";

/// Largest drift of a constant tracer in 50 steps of single precision.
const DRIFT: f64 = 1e-6;

/// The piece with stronger winds, thicker air, and more of everything, at another time.
fn later(stamp: &str) -> Cut {
    let mut cut = Cut::new().at(stamp);
    for (name, factor) in [("U", 1.2), ("V", 1.1), ("QVAPOR", 1.05), ("PH", 1.02), ("P", 0.99)] {
        cut.values(name).mapv_inplace(|x| factor * x);
    }
    cut.values("T").mapv_inplace(|x| x + 1.0);
    cut.values("MU").mapv_inplace(|x| x + 50.0);
    cut
}

/// A place with `a.nc`, `b.nc` and `c.nc`, two minutes apart, of which the middle one differs.
fn three_files() -> Place {
    let place = Place::new();
    Cut::new().write(&place.path("a.nc"));
    later(TWO_MINUTES).write(&place.path("b.nc"));
    Cut::new().at(FOUR_MINUTES).write(&place.path("c.nc"));
    place
}

/// A run from one file, for comparison.
fn alone(cut: &Cut, options: &[&str]) -> Outcome {
    let place = Place::new();
    cut.write(&place.path("a.nc"));
    place.run(&["a.nc"], options).good();
    place.outcome()
}

#[test]
fn winds_and_air_are_linear_between_frames() {
    let place = three_files();
    let options = ["--steps", "8", "--dt", "30", "--output-interval", "60"];
    place.run(&["a.nc", "b.nc", "c.nc"], &options).good();
    let found = place.outcome();
    assert!(found.unexplained() < CLOSED, "{}", found.unexplained());

    // The winds of the second frame over the mass of the first.
    let mut second = later(TWO_MINUTES);
    second.values("MU").mapv_inplace(|x| x - 50.0);
    let [first, second] =
        [Cut::new(), second].map(|cut| alone(&cut, &["--steps", "1", "--dt", "30"]));
    for name in ["U", "V", "W", "P", "PB", "PH", "PHB"] {
        let [a, b] = [&first, &second].map(|frame| frame.at(name, 0));
        let size = a.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        for (time, weight) in [(0, 0.0), (1, 0.5), (2, 1.0), (3, 0.5), (4, 0.0)] {
            let wanted = &a + weight * (&b - &a);
            let difference = largest_difference(&found.at(name, time), &wanted);
            assert!(difference <= 1e-6 * size, "{name} at {time}: {difference:e} of {size:e}");
        }
    }
    for name in ["MU", "MUB"] {
        assert!(found.last(name) == first.at(name, 0), "{name}: the mass is that of the run");
    }
}

/// The columns of the western row, without its ends.
fn western(field: &ArrayD<f64>) -> Array2<f64> {
    let rows = field.len_of(Axis(1));
    let west = field.index_axis(Axis(2), 0).into_owned();
    let inner = west.slice_axis(Axis(1), ndarray::Slice::from(1..rows - 1)).into_owned();
    inner.into_dimensionality().expect("a plane")
}

#[test]
fn what_flows_in_has_the_value_of_its_time() {
    let place = three_files();
    place.run(&["a.nc", "b.nc", "c.nc"], &["--steps", "4", "--dt", "30"]).good();
    let found = place.outcome();
    let wanted = western(&field_of(&place.path("b.nc"), "T", 0));
    let (t, u) = (western(&found.last("T")), western(&found.last("U")));
    let inflow: Vec<_> = u.indexed_iter().filter(|(_, u)| **u > 1.0).map(|(at, _)| at).collect();
    assert!(inflow.len() > 20, "{} faces", inflow.len());
    for at in inflow {
        assert_eq!(t[at], wanted[at], "{at:?}");
    }
}

#[test]
fn frames_that_do_not_differ_leave_no_trace() {
    let place = Place::new();
    Cut::new().write(&place.path("a.nc"));
    Cut::new().at(TWO_MINUTES).write(&place.path("b.nc"));
    let options = ["--steps", "8", "--dt", "45"];
    let ended = place.run(&["a.nc", "b.nc"], &options).good();
    let (one, two) = (alone(&Cut::new(), &options), place.outcome());
    for name in FIELDS.iter().chain(&["U", "V", "P", "PH", "MU", "REFL_10CM"]) {
        assert!(one.last(name) == two.last(name), "{name}");
    }
    // Six minutes of which two are covered.
    let count = ended.stderr.matches("the input ends at 0001-01-01_10:02:00").count();
    assert_eq!(count, 1, "{}", ended.stderr);
}

#[test]
fn beyond_the_last_frame_it_holds() {
    let place = three_files();
    place.run(&["a.nc", "b.nc"], &["--steps", "10", "--dt", "30"]).good();
    let found = place.outcome();
    let last = alone(&later(TWO_MINUTES), &["--steps", "1", "--dt", "30"]);
    for name in ["P", "PH"] {
        assert!(found.last(name) == last.at(name, 0), "{name}");
    }
    assert!(found.unexplained() < CLOSED);
}

#[test]
fn the_longest_time_step_is_the_least_of_the_frames_in_use() {
    let place = three_files();
    let all = |inputs: &[&str], steps: &str| {
        let ended = place.run(inputs, &["--steps", steps, "--dt", "30"]).good();
        (place.outcome(), ended.stderr)
    };
    let (one, _) = all(&["a.nc"], "1");
    let (two, message) = all(&["a.nc", "b.nc", "c.nc"], "5");
    assert!(two.number("/max_dt") < 0.95 * one.number("/max_dt"), "the winds are 1.2 times those");
    assert_eq!(two.figures["input_frames"].as_array().map(Vec::len), Some(3), "{}", two.figures);
    let change = two.number("/input_frames/1/mass_change_mean");
    assert!((change - 50.0).abs() < 0.1, "{change} Pa");
    assert!(message.contains("50.0 Pa more in the mean"), "{message}");
    let (short, _) = all(&["a.nc", "b.nc", "c.nc"], "4");
    assert_eq!(short.figures["input_frames"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_constant_tracer_stays_constant_between_frames() {
    let place = Place::new();
    let files = ["a.nc", "b.nc"].map(|name| place.path(name));
    Cut::new().write(&files[0]);
    later("0001-01-01_11:00:00").write(&files[1]);
    let (domain, frame) = wrf::read(&files[0], None).expect("the first frame");
    let series = Series::open(&files, &domain, (Overlap::Refuse, &usual_set())).expect("two times");
    let case = RunInput::<f32>::new(domain, frame).and_then(|case| case.follow(series, 3600.0));
    let mut case = case.expect("winds");
    let grid = case.domain.grid;
    let air = AirMass::<f32>::new(&grid, &case.domain.coordinate);
    // In double precision: a tracer in single precision would round the drift of each step away.
    let mut gained = Array3::<f64>::zeros(grid.shape.centre());
    let (steps, dt) = (50, 60.0);
    for step in 0..steps {
        let start = f64::from(step) * dt;
        case.drive(start, start + dt).expect("the next frame");
        let MassFlux { x, y, z } = &case.forcing.flux;
        for ((k, j, i), gained) in gained.indexed_iter_mut() {
            let net = [(x, [k, j, i + 1]), (y, [k, j + 1, i]), (z, [k + 1, j, i])]
                .map(|(flux, end)| f64::from(flux[[k, j, i]]) - f64::from(flux[end]));
            *gained += net.iter().sum::<f64>() * dt / f64::from(air.cell.at(k, j, i));
        }
    }
    let drift = gained.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    println!("a constant drifts by {drift:e} in {steps} steps of {dt} s");
    assert!(drift < DRIFT, "{drift:e}");
}

#[test]
fn the_budget_closes_in_double_precision() {
    let place = three_files();
    let options = ["--steps", "8", "--dt", "30", "--precision", "f64"];
    place.run(&["a.nc", "b.nc", "c.nc"], &options).good();
    assert!(place.outcome().unexplained() < 1e-10);
}

#[test]
fn an_output_of_several_times_is_input_of_several_times() {
    let place = three_files();
    let options = ["--steps", "8", "--dt", "30", "--output-interval", "60"];
    place.run(&["a.nc", "b.nc", "c.nc"], &options).good();
    std::fs::rename(place.path("out.nc"), place.path("several.nc")).expect("another name");
    place.run(&["several.nc"], &["--steps", "8", "--dt", "30"]).good();
    let found = place.outcome();
    assert_eq!(found.figures["input_frames"].as_array().map(Vec::len), Some(5));
    assert!(found.unexplained() < CLOSED);
    assert!(found.number("/input_frames/4/mass_change_max").abs() < 1e-9, "one mass throughout");
}

#[test]
fn times_that_do_not_follow_are_refused() {
    let place = three_files();
    place.run(&["b.nc", "a.nc"], &[]).refused(&["a.nc", BEGIN, TWO_MINUTES, "order"]);
    place.run(&["a.nc", "a.nc"], &[]).refused(&["a.nc", BEGIN, "which is also in", "once"]);
    assert!(!place.path("out.nc").exists());
}

#[test]
fn files_of_other_grids_are_refused() {
    let place = three_files();
    let offer = |name: &str, change: &dyn Fn(&mut Cut)| {
        let mut cut = later(FOUR_MINUTES);
        change(&mut cut);
        cut.write(&place.path(name));
        // One step does not need that file, but it is rejected all the same.
        place.run(&["a.nc", "b.nc", name], &["--steps", "1"])
    };
    let same = "another grid";
    offer("dx.nc", &|cut| cut.numbers.extend([("DX", 10_000.0)])).refused(&[
        "dx.nc",
        same,
        "DX is 10000 m",
        "30000 m",
    ]);
    offer("levels.nc", &|cut| {
        cut.remove(&["DNW", "RDNW"]);
        cut.values("ZNW")[1] -= 0.003;
    })
    .refused(&["levels.nc", same, "RDNW"]);
    offer("map.nc", &|cut| cut.values("MAPFAC_MX").fill(1.1)).refused(&[
        "map.nc",
        same,
        "map factor",
    ]);
    offer("wet.nc", &|cut| cut.remove(&["QVAPOR"])).refused(&["wet.nc", "QVAPOR"]);
    offer("cells.nc", &|cut| {
        for field in cut.fields.values_mut() {
            if let Some(axis) = field.axes.iter().position(|axis| axis.starts_with("west_east")) {
                let n = field.values.shape()[axis];
                field.values.slice_axis_inplace(Axis(axis), ndarray::Slice::from(1..n));
            }
        }
    })
    .refused(&["cells.nc", same, "13x12x27", "14x12x27"]);
}

#[test]
fn a_bad_later_frame_is_found_before_the_first_step() {
    let place = three_files();
    let mut bad = later(FOUR_MINUTES);
    bad.values("U")[[3, 4, 5]] = 1e4;
    bad.write(&place.path("bad.nc"));
    place.run(&["a.nc", "b.nc", "bad.nc"], &["--steps", "8", "--dt", "30"]).refused(&[
        "bad.nc",
        "U (m/s)",
        "i=5 j=4 k=3",
    ]);
    assert!(!place.path("out.nc").exists());
}

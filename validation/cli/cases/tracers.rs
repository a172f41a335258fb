//! Rotation and deformation against their exact answers, which the files hold.

use ndarray::{Array2, ArrayD, Axis, Ix2, Ix4};

use super::result::Output;
use super::story::{Story, command};

/// Vapour of the lowest layer at a frame, g/kg, which is 1 at most.
fn vapour(file: &Output, frame: usize) -> Array2<f64> {
    let field: ArrayD<f64> = 1e3 * file.frame("QVAPOR", frame);
    let plane = field.index_axis(Axis(0), 0).to_owned();
    plane.into_dimensionality::<Ix2>().expect("a plane")
}

/// Root of the sum of squares of the error over that of the answer.
fn error([found, exact]: &[Array2<f64>; 2]) -> f64 {
    let squares = |plane: &Array2<f64>| plane.mapv(|x| x * x).sum();
    (squares(&(found - exact)) / squares(exact)).sqrt()
}

/// A case on `cells` x `cells` of a square of 100 km.
fn square(case: &str, cells: usize) -> Story {
    let (count, dx) = (cells.to_string(), (1e5 / cells as f64).to_string());
    Story::of(case, &["--nx", &count, "--ny", &count, "--dx", &dx])
}

/// The last frame of a run, and the exact solution.
fn after(story: &Story, options: &[&str]) -> [Array2<f64>; 2] {
    let (figures, output) = story.run(&[&["--precision", "f64"], options].concat());
    let closure = figures["water"]["closure_rel"].as_f64().expect("a number");
    assert!(closure.abs() < 1e-10, "{closure:e}");
    let case = story.case();
    [vapour(&output, output.frames() - 1), vapour(&case, case.frames() - 1)]
}

/// Keeps only the bell of the bodies, at the start and at the end.
fn keep_the_bell(story: &Story) {
    let mut file = netcdf::append(story.place.path("case.nc")).expect("the case");
    let mut vapour = file.variable_mut("QVAPOR").expect("vapour");
    let all: ArrayD<f32> = vapour.get(..).expect("values");
    let mut all = all.into_dimensionality::<Ix4>().expect("four axes");
    let (frames, _, ny, nx) = all.dim();
    let part = |at: usize, n: usize| (at as f64 + 0.5) / n as f64 - 0.5;
    for ((time, _, j, i), q) in all.indexed_iter_mut() {
        let is_bell = (part(i, nx) + 0.25).hypot(part(j, ny)) < 0.15;
        if !is_bell || (time != 0 && time != frames - 1) {
            *q = 0.0;
        }
    }
    vapour.put_values(all.as_slice().expect("standard layout"), ..).expect("written");
    file.close().expect("closed");
    // A program that another test starts meanwhile inherits the lock of this file, not of a copy.
    let [case, copy] = ["case.nc", "copy.nc"].map(|name| story.place.path(name));
    std::fs::copy(&case, &copy).expect("copied");
    std::fs::rename(&copy, &case).expect("renamed");
}

/// A full rotation, and a deformation and its reversal, end at the initial state, in the file.
#[test]
fn exact_answers_come_back() {
    for case in ["rotation", "deformation"] {
        let file = Story::of(case, &[]).case();
        let last = file.frames() - 1;
        assert_eq!(file.frame("QVAPOR", 0), file.frame("QVAPOR", last), "{case}");
        assert!((file.values("XTIME")[last] - 60.0).abs() < 1e-9, "{case}");
        let [first, half] = [0, last / 2].map(|frame| vapour(&file, frame));
        // Half way all is elsewhere, and there is as much of it: a cell that an edge cuts counts
        // whole or not at all.
        assert!((half.sum() / first.sum() - 1.0).abs() < 0.02, "{case}");
        let error = error(&[half, first]);
        assert!(error > 0.7, "{case}: {error}");
    }
    // Half a turn brings every cell to the opposite one.
    let file = Story::of("rotation", &["--nx", "40", "--ny", "40"]).case();
    let [first, half] = [0, 2].map(|frame| vapour(&file, frame));
    for ((j, i), q) in half.indexed_iter() {
        assert!((q - first[[39 - j, 39 - i]]).abs() < 1e-6, "{j} {i}");
    }
}

/// The error of the smooth body in rotation is small, and decreases faster than with the third power of the spacing, as
/// expected of a scheme of fifth order in space and third in time. In the deformation flow, which draws the body out to
/// filaments of a few cells, the power is not reached yet.
#[test]
fn the_bell_converges() {
    for (case, most, least_order) in [("rotation", 0.005, 3.5), ("deformation", 0.03, 2.5)] {
        let errors = [50, 100].map(|cells| {
            let story = square(case, cells);
            keep_the_bell(&story);
            error(&after(&story, &["--limiter", "none"]))
        });
        let order = (errors[0] / errors[1]).log2();
        println!("{case}: errors {errors:?}, order {order:.2}");
        assert!(errors[1] < most, "{case}: {errors:?}");
        assert!(order > least_order, "{case}: {errors:?}");
    }
}

/// The properties of the limiters, on bodies with edges: no negative values, or no new extrema; and no limiter creates
/// or destroys vapour.
#[test]
fn limiters_keep_their_promises() {
    for case in ["rotation", "deformation"] {
        let story = square(case, 60);
        let runs =
            ["none", "pd", "monotonic"].map(|limiter| after(&story, &["--limiter", limiter]));
        let least = |plane: &Array2<f64>| plane.iter().copied().fold(f64::MAX, f64::min);
        let most = |plane: &Array2<f64>| plane.iter().copied().fold(f64::MIN, f64::max);
        let [none, pd, monotonic] = runs.each_ref().map(|[found, _]| found);
        // Rounding errors of sums of 1 are 1e-16, in a thousand steps.
        let rounding = 1e-12;
        assert!(least(none) < -0.01 && most(none) > 1.01, "{case}: the test has no teeth");
        assert!(least(pd) >= -rounding, "{case}: {:e}", least(pd));
        assert!(least(monotonic) >= -rounding, "{case}: {:e}", least(monotonic));
        assert!(most(monotonic) <= 1.0 + 1e-6, "{case}: {}", most(monotonic));
        for [found, exact] in &runs {
            // A thousandth of the mass, in the tails of the edges, leaves the square of the rotation.
            assert!((found.sum() / exact.sum() - 1.0).abs() < 1.5e-3, "{case}");
        }
        let errors = runs.each_ref().map(error);
        println!("{case}: errors {errors:?}");
        assert!(errors.iter().all(|error| *error < 0.4), "{case}: {errors:?}");
    }
}

/// As in src/cases/README.md: `diff` of case and output gives the error of every frame; all other variables have equal
/// bits.
#[test]
fn diff_measures_the_error() {
    let story = Story::of("rotation", &["--nx", "40", "--ny", "40", "--dx", "2500"]);
    story.run(&["--output-interval", "900"]);
    let message = command(&story.place, &["diff", "case.nc", "out.nc", "--json", "diff.json"]);
    assert_eq!(message.code, Some(1), "{message:?}");
    let row = |name: &str| {
        let found = message.stdout.lines().find(|line| line.split_whitespace().any(|x| x == name));
        found.unwrap_or_else(|| panic!("no {name} in {}", message.stdout)).to_owned()
    };
    assert!(row("QVAPOR").contains("DIFFERENT"));
    for name in ["Times", "T", "U", "V", "PH", "MU", "QCLOUD"] {
        assert!(row(name).contains("identical"), "{}", row(name));
    }
}

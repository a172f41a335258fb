//! Rotation and deformation against their exact answers, which the files hold.

use ndarray::{Array2, ArrayD, Axis, Ix2};

use crate::result::Output;
use crate::story::{Story, command};

/// Vapour of the lowest layer at a frame, g/kg, which is 1 at most.
fn vapour(file: &Output, frame: usize) -> Array2<f64> {
    let field: ArrayD<f64> = 1e3 * file.frame("QVAPOR", frame);
    let plane = field.index_axis(Axis(0), 0).to_owned();
    plane.into_dimensionality::<Ix2>().expect("a plane")
}

/// Root of the sum of squares of the error over that of the answer, over the cells within 0.22 sides
/// of the middle of the smooth bell.
fn error_of_the_bell(found: &Array2<f64>, exact: &Array2<f64>) -> f64 {
    let (ny, nx) = exact.dim();
    let part = |at: usize, n: usize| (at as f64 + 0.5) / n as f64 - 0.5;
    let near = |j: usize, i: usize| (part(i, nx) + 0.25).hypot(part(j, ny)) < 0.22;
    let cells = exact.indexed_iter().filter(|((j, i), _)| near(*j, *i));
    let (mut error, mut norm) = (0.0, 0.0);
    for ((j, i), exact) in cells {
        error += (found[[j, i]] - exact).powi(2);
        norm += exact * exact;
    }
    (error / norm).sqrt()
}

/// The last frame of a run of a case on `cells` x `cells`, beside the exact answer.
fn after(case: &str, cells: usize, options: &[&str]) -> [Array2<f64>; 2] {
    let (count, dx) = (cells.to_string(), (100_000 / cells).to_string());
    let story = Story::of(case, &["--nx", &count, "--ny", &count, "--dx", &dx]);
    let (_, output) = story.run(&[&["--precision", "f64"], options].concat());
    let case = story.case();
    [vapour(&output, output.frames() - 1), vapour(&case, case.frames() - 1)]
}

/// A turn and a deformation with its way back end where they began, in the file.
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
        let error = (&first - &half).mapv(|x| x * x).sum() / first.mapv(|x| x * x).sum();
        assert!(error > 0.5, "{case}: {error}");
        assert!((half.sum() / first.sum() - 1.0).abs() < 0.02, "{case}");
    }
    // Half a turn brings every cell to the opposite one.
    let file = Story::of("rotation", &["--nx", "40", "--ny", "40"]).case();
    let [first, half] = [0, 2].map(|frame| vapour(&file, frame));
    for ((j, i), q) in half.indexed_iter() {
        assert!((q - first[[39 - j, 39 - i]]).abs() < 1e-6, "{j} {i}");
    }
}

/// The error of the smooth body falls faster than with the third power of the spacing, as a scheme
/// of fifth order in space and third in time makes it, and is small.
#[test]
fn the_bell_converges() {
    for (case, most) in [("rotation", 0.01), ("deformation", 0.03)] {
        let errors = [50, 100].map(|cells| {
            let [found, exact] = after(case, cells, &["--limiter", "none"]);
            error_of_the_bell(&found, &exact)
        });
        let order = (errors[0] / errors[1]).log2();
        println!("{case}: errors {errors:?}, order {order:.2}");
        assert!(errors[1] < most, "{case}: {errors:?}");
        assert!(order > 3.0, "{case}: {errors:?}");
    }
}

/// Each limiter keeps what it promises, on bodies with edges: nothing below zero, or nothing beyond
/// what there was; and none makes or loses vapour.
#[test]
fn limiters_keep_their_promises() {
    for case in ["rotation", "deformation"] {
        let runs =
            ["none", "pd", "monotonic"].map(|limiter| after(case, 60, &["--limiter", limiter]));
        let least = |plane: &Array2<f64>| plane.iter().copied().fold(f64::MAX, f64::min);
        let most = |plane: &Array2<f64>| plane.iter().copied().fold(f64::MIN, f64::max);
        let [none, pd, monotonic] = runs.each_ref().map(|[found, _]| found);
        // Rounding of sums of 1 leaves 1e-16 of them, a thousand times.
        let rounding = 1e-12;
        assert!(least(none) < -0.01 && most(none) > 1.01, "{case}: the test has no teeth");
        assert!(least(pd) >= -rounding, "{case}: {:e}", least(pd));
        assert!(least(monotonic) >= -rounding, "{case}: {:e}", least(monotonic));
        assert!(most(monotonic) <= 1.0 + 1e-6, "{case}: {}", most(monotonic));
        for [found, exact] in &runs {
            // Single precision of the file; what leaves the square of the rotation is far less.
            assert!((found.sum() / exact.sum() - 1.0).abs() < 1e-4, "{case}");
            let error = (found - exact).mapv(|x| x * x).sum() / exact.mapv(|x| x * x).sum();
            assert!(error.sqrt() < 0.4, "{case}: {error}");
        }
    }
}

/// As the README has it: `diff` of case and output tells the error of every frame, in which all
/// else is the same to the last bit.
#[test]
fn diff_measures_the_error() {
    let story = Story::of("rotation", &["--nx", "40", "--ny", "40", "--dx", "2500"]);
    story.run(&["--output-interval", "900"]);
    let told = command(&story.place, &["diff", "case.nc", "out.nc", "--json", "diff.json"]);
    assert_eq!(told.code, Some(1), "{told:?}");
    let row = |name: &str| {
        let found = told.stdout.lines().find(|line| line.split_whitespace().any(|x| x == name));
        found.unwrap_or_else(|| panic!("no {name} in {}", told.stdout)).to_owned()
    };
    assert!(row("QVAPOR").contains("DIFFERENT"));
    for name in ["Times", "T", "U", "V", "PH", "MU", "QCLOUD"] {
        assert!(row(name).contains("identical"), "{}", row(name));
    }
}

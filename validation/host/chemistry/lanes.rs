//! Cells in SIMD lanes: no bit of a cell depends on other cells, on its lane, on instructions or threads.

use nwp_mini::chemistry::cells::{Cells, Outcome, integrate, integrate_with};
use nwp_mini::chemistry::lanes::CELLS;
use nwp_mini::chemistry::rosenbrock::Status;
use nwp_mini::simd::Instructions;

use super::oracle::Oracle;
use nwp_mini_support::chemistry::{Case, Run, picked};

fn solved(case: &Case, run: &Run, order: &[usize]) -> (Cells, Vec<Outcome>) {
    let mut cells = picked(&case.cells(), order);
    let out = integrate(&case.kinetics, &run.settings, &mut cells);
    (cells, out)
}

#[test]
fn the_bits_of_a_cell_do_not_depend_on_its_neighbours() {
    for (name, mode) in [("radm2", "au"), ("saprc99", "na")] {
        let case = Case::named(name);
        let run = case.run(mode, "ros3_600").unwrap();
        let (count, n) = (case.cells().len(), case.kinetics.variables());
        // Backwards, and repeated often enough for lanes to be refilled.
        let order: Vec<usize> =
            (0..3 * CELLS + 5).map(|i| (count * i * 7 + count - 1 - i % count) % count).collect();
        let (together, out) = solved(&case, &run, &order);
        for (place, &cell) in order.iter().enumerate().take(2 * count) {
            let (alone, alone_out) = solved(&case, &run, &[cell]);
            assert_eq!(out[place], alone_out[0], "{} cell {cell}", run.name);
            assert_eq!(together.variable[place * n..][..n], alone.variable, "{}", run.name);
        }
    }
}

#[test]
fn the_bits_do_not_depend_on_instructions() {
    for (name, mode) in [("radm2", "au"), ("small_strato", "na")] {
        let case = Case::named(name);
        let run = case.run(mode, "rodas3_600").unwrap();
        let with = |instructions| {
            let mut cells = case.cells();
            let out = integrate_with(&case.kinetics, &run.settings, &mut cells, instructions);
            (cells.variable, out)
        };
        let plain = with(None);
        for &set in Instructions::available() {
            assert_eq!(with(Some(set)), plain, "{set}");
        }
    }
}

#[test]
fn lanes_do_what_a_plain_solver_does() {
    for case in Case::all() {
        for (mode, name) in [("au", "ros4_600"), ("au", "wrf_60"), ("na", "rodas4_600")] {
            let Some(run) = case.run(mode, name) else { continue };
            let start = case.cells();
            let mut cells = start.clone();
            let out = integrate(&case.kinetics, &run.settings, &mut cells);
            let n = case.kinetics.variables();
            for cell in [0, 3, 9] {
                let oracle = Oracle::new(&case.mechanism, &case.kinetics, &start, cell);
                let (y, attempts) = oracle.integrate(&run.settings);
                assert_eq!(out[cell].counters.steps as usize, attempts.len(), "{}", run.name);
                for (found, expected) in cells.variable[cell * n..][..n].iter().zip(&y) {
                    // Rounding is carried along by the control of the step.
                    let limit = if mode == "au" { 1e-8 } else { 1e-5 };
                    let off = (found - expected).abs();
                    assert!(off <= limit * expected.abs() + 1.0, "{} {found} {expected}", run.name);
                }
            }
        }
    }
}

#[test]
fn a_cell_that_fails_keeps_its_input_and_spoils_no_other() {
    let case = Case::named("radm2");
    let run = case.run("au", "wrf_60").unwrap();
    let n = case.kinetics.variables();
    let (good, good_out) = solved(&case, &run, &(0..20).collect::<Vec<_>>());
    let mut cells = picked(&case.cells(), &(0..20).collect::<Vec<_>>());
    cells.variable[3 * n + 7] = f64::NAN;
    cells.temperature[5] = -1.0;
    cells.photolysis[8 * case.mechanism.photolysis.len()] = f64::INFINITY;
    // Twice this is beyond the range of numbers.
    cells.variable[11 * n..12 * n].fill(1e308);
    let before = cells.variable.clone();
    let out = integrate(&case.kinetics, &run.settings, &mut cells);
    let expected = [
        (3, Status::NOT_FINITE),
        (5, Status::BAD_CONDITIONS),
        (8, Status::BAD_CONDITIONS),
        (11, Status::NOT_FINITE),
    ];
    for cell in 0..20 {
        let found = &cells.variable[cell * n..][..n];
        if let Some((_, status)) = expected.iter().find(|(bad, _)| *bad == cell) {
            assert_eq!(out[cell].status, *status, "cell {cell}");
            let kept =
                found.iter().zip(&before[cell * n..]).all(|(a, b)| a.to_bits() == b.to_bits());
            assert!(kept, "cell {cell}");
        } else {
            assert_eq!(out[cell], good_out[cell], "cell {cell}");
            assert_eq!(found, &good.variable[cell * n..][..n], "cell {cell}");
        }
    }
}

//! The chemistry's kernels, run on the host thread by thread, compared with the CPU version: the same bits and counters
//! for any mapping, order of the cells and order of the threads.

mod coupling;
mod faults;
mod host;

use nwp_mini::chemistry::cells::{Cells, Outcome, Settings, integrate};
use nwp_mini::chemistry::gpu::ThreadMapping;
use nwp_mini::chemistry::kinetics::Kinetics;
use nwp_mini::chemistry::mechanism;
use nwp_mini_support::chemistry::{Case, picked};

use host::{Circumstances, Emulated};

/// Shared memory of a block of an H100, bytes.
const SHARED: usize = 232_448;

/// A thread for a cell, and several with as much shared memory as on a device, with too little for all arrays, and
/// with other numbers of cells and workers.
fn forms(kinetics: &Kinetics) -> Vec<(&'static str, ThreadMapping)> {
    let team = ThreadMapping::team(kinetics, SHARED).expect("a small mechanism fits");
    let most = ThreadMapping { cells: 16, workers: 4, ..team };
    let straight = |workers| ThreadMapping::straight(kinetics, SHARED, workers);
    let thread = ThreadMapping::thread();
    // With most numbers in the scratch.
    let small = straight(3).map(|form| ThreadMapping { shared_bytes: 1 << 13, ..form });
    vec![
        ("straight-one", straight(1).unwrap_or(thread)),
        ("straight", straight(4).unwrap_or(thread)),
        ("straight-small", small.unwrap_or(thread)),
        ("thread", thread),
        ("team", team),
        (
            "few",
            ThreadMapping {
                cells: 8,
                workers: 4,
                shared_bytes: 0,
                resident: 1,
                is_straight: false,
            },
        ),
        ("other", most),
    ]
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

/// Differences from the CPU version, a line for each cell.
fn findings(
    kinetics: &Kinetics,
    settings: &Settings,
    cells: &Cells,
    (variable, out): &(Vec<f64>, Vec<Outcome>),
) -> Vec<String> {
    let mut expected = cells.clone();
    let expected_out = integrate(kinetics, settings, &mut expected);
    let n = kinetics.variables();
    let mut lines = Vec::new();
    for cell in 0..cells.len() {
        if out[cell] != expected_out[cell] {
            lines.push(format!("cell {cell}: {:?}, expected {:?}", out[cell], expected_out[cell]));
        }
        let [found, wanted] =
            [variable, &expected.variable].map(|values| bits(&values[cell * n..][..n]));
        if found != wanted {
            let first = found.iter().zip(&wanted).position(|(a, b)| a != b).unwrap_or(0);
            let at = cell * n + first;
            let (a, b) = (variable[at], expected.variable[at]);
            lines.push(format!("cell {cell}, species {first}: {a:e}, expected {b:e}"));
        }
    }
    lines
}

/// A number of cells of a case, warm and cold ones.
fn some(case: &Case, count: usize) -> Cells {
    let cells = case.cells();
    let order: Vec<usize> = (0..count).map(|i| i * 7 % cells.len()).collect();
    picked(&cells, &order)
}

fn has_the_bits_of_the_cpu(mechanism: &str, runs: &[(&str, &str)], counts: &[usize]) {
    let case = Case::named(mechanism);
    for (number, &(mode, name)) in runs.iter().enumerate() {
        let run = case.run(mode, name).expect("the run is there");
        let all = forms(&case.kinetics);
        // Every run with one of the forms, the first with all of them.
        let some_forms = if number == 0 { &all[..] } else { &all[number % all.len()..][..1] };
        for (form_name, form) in some_forms {
            let label = format!("{mechanism}-{mode}-{name}-{form_name}");
            let program = Emulated::new(&label, &case.kinetics, &run.settings, *form);
            for &count in counts {
                let cells = some(&case, count);
                let circumstances = Circumstances { seed: 3, blocks: 2, order: None };
                let result = program
                    .attempt(&run.settings, &cells, &circumstances)
                    .unwrap_or_else(|why| panic!("{label}: {why}"));
                let lines = findings(&case.kinetics, &run.settings, &cells, &result);
                assert!(lines.is_empty(), "{label}, {count} cells:\n{}", lines.join("\n"));
            }
        }
    }
}

#[test]
fn frozen_rates_have_the_bits_of_the_cpu() {
    let names = ["wrf_600", "ros2_600", "ros4_600", "rodas3_600", "rodas4_600"];
    let runs = names.map(|name| ("au", name));
    has_the_bits_of_the_cpu("small_strato", &runs, &[1, 31, 33]);
}

#[test]
fn rates_that_follow_the_sun_have_the_bits_of_the_cpu() {
    let names = ["ros3_600", "rodas3_600", "rodas4_600"];
    has_the_bits_of_the_cpu("small_strato", &names.map(|name| ("na", name)), &[33]);
}

/// Rates with every operation that functions are made of.
const OPERATIONS: &str = "#DEFVAR A = IGNORE; B = IGNORE; C = IGNORE;\n#EQUATIONS\n\
    A = B : 1.D-4*steps(TEMP, C_M) ;\nB = C : 1.D-6*ABS(TEMP - 250.) + 1.D-9*MOD(TEMP, 7.) ;\n\
    A + B = C : 1.D-18*MIN(TEMP, 260.)*MAX(rh, 0.3) + 1.D-25*PEROXY ;\n\
    C = A : 1.D-5*SIGN(1., TEMP - 200.)*beyond(TEMP) ;\n\
    #INLINE F90_RATES\nREAL(dp) FUNCTION steps(t, m)\nREAL(dp) :: t, m\n\
    IF (t < 240. .or. m > 2.E19) THEN\nsteps = 1.\nELSE IF (t <= 260. .and. .not. t == 250.) THEN\nsteps = 2.\n\
    ELSE\nsteps = 3. + LOG10(m)*SQRT(t)\nEND IF\nEND FUNCTION\n\
    REAL(dp) FUNCTION beyond(t)\nREAL(dp) :: t\nINTEGER :: i\nDO i = 1, 5\nIF (t < 220. + 15.*i) EXIT\nEND DO\n\
    beyond = i + NINT(t)/2\nEND FUNCTION\n#ENDINLINE\n";

#[test]
fn operations_of_functions_have_the_bits_of_the_cpu() {
    let (mechanism, _) = mechanism::parse("m", OPERATIONS).mechanism().expect("a mechanism");
    let kinetics = Kinetics::new(&mechanism).expect("tables");
    let run = Case::named("small_strato").run("au", "wrf_600");
    let settings = run.expect("the run is there").settings;
    let count = 40;
    let each = |value: &dyn Fn(usize) -> f64| (0..count).map(value).collect::<Vec<f64>>();
    let cells = Cells {
        variable: (0..3 * count).map(|n| 1e8 * (1 + n % 7) as f64).collect(),
        temperature: each(&|cell| 210.0 + 2.5 * cell as f64),
        air_factor: vec![1e13; count],
        air_density: each(&|cell| 1e19 + 5e17 * cell as f64),
        hydrolysis: vec![0.0; count],
        quantities: (0..count).flat_map(|cell| [cell as f64 / 40.0, 1e7 * cell as f64]).collect(),
        start: vec![0.0; count],
        ..Cells::default()
    };
    for (name, form) in forms(&kinetics).into_iter().take(1) {
        let program = Emulated::new(&format!("operations-{name}"), &kinetics, &settings, form);
        let circumstances = Circumstances { seed: 5, blocks: 1, order: None };
        let result = program.attempt(&settings, &cells, &circumstances).unwrap();
        let lines = findings(&kinetics, &settings, &cells, &result);
        assert!(lines.is_empty(), "{name}: {}", lines.join("\n"));
    }
}

#[test]
fn larger_mechanisms_have_the_bits_of_the_cpu() {
    has_the_bits_of_the_cpu("radm2", &[("au", "wrf_60")], &[33]);
}

#[test]
fn the_order_of_cells_and_threads_changes_no_bit() {
    let case = Case::named("small_strato");
    let run = case.run("au", "wrf_600").expect("the run is there");
    for (name, form) in forms(&case.kinetics) {
        let program = Emulated::new(&format!("order-{name}"), &case.kinetics, &run.settings, form);
        let count = 70;
        let cells = some(&case, count);
        for (seed, blocks) in [(1, 1), (2, 3)] {
            let order = (0..count as i32).map(|i| (i * 37 + seed) % count as i32).collect();
            let circumstances = Circumstances { seed: seed as u64, blocks, order: Some(order) };
            let result = program.attempt(&run.settings, &cells, &circumstances).unwrap();
            let lines = findings(&case.kinetics, &run.settings, &cells, &result);
            assert!(lines.is_empty(), "{name}: {}", lines.join("\n"));
        }
    }
}

#[test]
fn a_cell_that_fails_keeps_its_input_and_spoils_no_other() {
    let case = Case::named("small_strato");
    let run = case.run("au", "wrf_600").expect("the run is there");
    let n = case.kinetics.variables();
    let form = forms(&case.kinetics)[2].1;
    let program = Emulated::new("failures", &case.kinetics, &run.settings, form);
    let mut cells = some(&case, 20);
    cells.variable[3 * n + 2] = f64::NAN;
    cells.temperature[5] = -1.0;
    cells.variable[11 * n..12 * n].fill(1e308);
    let circumstances = Circumstances { seed: 4, blocks: 1, order: None };
    let result = program.attempt(&run.settings, &cells, &circumstances).unwrap();
    let failed = result.1.iter().filter(|outcome| !outcome.status.is_success()).count();
    // Numbers near the largest one may be integrated or not, as on the CPU.
    assert!(failed >= 2, "{failed} have failed");
    let lines = findings(&case.kinetics, &run.settings, &cells, &result);
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}

//! The chemistry on the device: the bits and counters of the CPU version with frozen rates, KPP's limits with rates
//! that follow the sun.

mod faults;

use nwp_mini::chemistry::cells::{Cells, Outcome, Settings, integrate};
use nwp_mini::chemistry::gpu::{Integrator, Mapping, Plan, ThreadMapping};
use nwp_mini::chemistry::kinetics::Kinetics;
use nwp_mini::chemistry::mechanism;
use nwp_mini::device::Gpu;
use nwp_mini_support::chemistry::{Case, MECHANISMS, picked};

use crate::device::is_emulated;
use crate::{emulated_gpu, gpu, real_gpu, sized};

const MAPPINGS: [Mapping; 3] = [Mapping::Auto, Mapping::Thread, Mapping::Warp];

/// Forms of kernels by the mappings.
fn mapped(gpu: &Gpu, kinetics: &Kinetics) -> [ThreadMapping; 3] {
    let shared = gpu.device().shared_bytes as usize;
    MAPPINGS.map(|mapping| mapping.form(kinetics, shared).unwrap())
}

/// Forms of kernels for a small mechanism: straight-line code of one thread for each cell and of several, also with
/// most numbers in the scratch; tables for one thread, and for several with as much shared memory as fits, with none,
/// and with other numbers of cells and threads.
fn forms(gpu: &Gpu, kinetics: &Kinetics) -> [ThreadMapping; 7] {
    let shared = gpu.device().shared_bytes as usize;
    let straight = |workers| ThreadMapping::straight(kinetics, shared, workers).expect("it fits");
    let team = ThreadMapping::team(kinetics, shared).expect("it fits");
    [
        straight(1),
        straight(4),
        ThreadMapping { shared_bytes: 1 << 13, ..straight(3) },
        ThreadMapping::thread(),
        team,
        ThreadMapping { cells: 8, workers: 4, shared_bytes: 0, resident: 1, is_straight: false },
        ThreadMapping { cells: 16, workers: 4, ..team },
    ]
}

fn integrator(
    gpu: &Gpu,
    kinetics: &Kinetics,
    settings: &Settings,
    form: ThreadMapping,
) -> Integrator {
    let Settings { method, rates, .. } = *settings;
    Integrator::new(gpu, kinetics, Plan { method, rates, form }).unwrap()
}

/// A number of cells of a case, alternately warm and cold.
fn some(case: &Case, count: usize) -> Cells {
    let cells = case.cells();
    let order: Vec<usize> = (0..count).map(|i| i * 7 % cells.len()).collect();
    picked(&cells, &order)
}

/// Concentrations by cell, and outcomes.
type Results = (Vec<f64>, Vec<Outcome>);

fn on_device(kernels: &Integrator, settings: &Settings, cells: &Cells) -> Results {
    let on_device = kernels.upload(cells).unwrap();
    kernels.integrate(&on_device, settings).unwrap();
    (on_device.concentrations().unwrap(), on_device.outcomes().unwrap())
}

fn on_cpu(kinetics: &Kinetics, settings: &Settings, cells: &Cells) -> Results {
    let mut cells = cells.clone();
    let outcomes = integrate(kinetics, settings, &mut cells);
    (cells.variable, outcomes)
}

/// Cells with other bits or counters than expected, and the first of them in words.
fn different(found: &Results, wanted: &Results) -> (usize, String) {
    let n = wanted.0.len() / wanted.1.len();
    let (mut count, mut first) = (0, String::new());
    for cell in 0..wanted.1.len() {
        let [a, b] = [found, wanted].map(|(values, _)| &values[cell * n..][..n]);
        let is_same = a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
            && found.1[cell] == wanted.1[cell];
        if !is_same && first.is_empty() {
            first = format!(
                "cell {cell}: {a:?} {:?}, expected {b:?} {:?}",
                found.1[cell], wanted.1[cell]
            );
        }
        count += usize::from(!is_same);
    }
    (count, first)
}

/// Integrates cells by kernels of a form; returns outcomes. All bits are those of the CPU.
fn check(
    gpu: &Gpu,
    (kinetics, settings): (&Kinetics, &Settings),
    form: ThreadMapping,
    cells: &Cells,
) -> Vec<Outcome> {
    let kernels = integrator(gpu, kinetics, settings, form);
    let found = on_device(&kernels, settings, cells);
    let (wrong, first) = different(&found, &on_cpu(kinetics, settings, cells));
    let about = format!("{form:?}, {settings:?}, {} cells", cells.len());
    assert_eq!(wrong, 0, "{about}: {first}");
    found.1
}

#[test]
fn frozen_rates_have_the_bits_of_the_cpu() {
    let Some(gpu) = gpu(true) else { return };
    let case = Case::named("small_strato");
    let forms = forms(&gpu, &case.kinetics);
    let runs = ["wrf_600", "ros2_600", "ros4_600", "rodas3_600", "rodas4_600"];
    for (number, name) in runs.into_iter().enumerate() {
        let settings = case.run("au", name).expect("the run is there").settings;
        // All forms with WRF's method, one with each of the others.
        let some_forms = if number == 0 { &forms[..] } else { &forms[number..][..1] };
        for &form in some_forms {
            for count in [1, 31, 33, sized(1_000, 70)] {
                check(&gpu, (&case.kinetics, &settings), form, &some(&case, count));
            }
        }
    }
}

/// Mechanisms with a rate whose last digit differs on a device in some cells, which affects some ten steps.
const ROUNDED: [&str; 1] = ["saprc99"];
const SOME_ROUNDINGS: f64 = 1e-12;

#[test]
fn larger_mechanisms_have_the_bits_of_the_cpu() {
    let Some(gpu) = gpu(true) else { return };
    for (name, _) in sized(&MECHANISMS[1..], &MECHANISMS[2..3]) {
        let case = Case::named(name);
        let settings = case.run("au", "wrf_60").expect("the run is there").settings;
        let [auto, thread, team] = mapped(&gpu, &case.kinetics);
        // The C++ compiler takes minutes for straight-line code of large mechanisms.
        let forms = sized(vec![auto, thread, team], vec![ThreadMapping::thread(), team]);
        for form in forms {
            let kernels = integrator(&gpu, &case.kinetics, &settings, form);
            for &count in sized(&[1, 31, 33, 1_000][..], &[33]) {
                let cells = some(&case, count);
                let found = on_device(&kernels, &settings, &cells);
                let expected = on_cpu(&case.kinetics, &settings, &cells);
                let (wrong, first) = different(&found, &expected);
                for (cell, (expected, found)) in expected.1.iter().zip(&found.1).enumerate() {
                    assert_eq!(found.counters, expected.counters, "{name} cell {cell}");
                }
                let off = found.0.iter().zip(&expected.0);
                let off = off.map(|(a, b)| (a - b).abs() / b.abs().max(f64::MIN_POSITIVE));
                let most = off.fold(0.0, f64::max);
                let limit = if ROUNDED.contains(name) { SOME_ROUNDINGS } else { 0.0 };
                let about = format!("{name} {form:?} {count}, off by {most:e}");
                assert!(wrong == 0 || most <= limit, "{about}: {first}");
            }
        }
    }
}

#[test]
fn many_cells_in_any_order_have_the_same_bits() {
    let (many, name) = sized((100_003, "radm2"), (101, "small_strato"));
    let Some(gpu) = gpu(true) else { return };
    let case = Case::named(name);
    let settings = case.run("au", "wrf_60").expect("the run is there").settings;
    let cells = some(&case, many);
    let expected = on_cpu(&case.kinetics, &settings, &cells);
    let forms = if is_emulated() {
        forms(&gpu, &case.kinetics).to_vec()
    } else {
        mapped(&gpu, &case.kinetics).to_vec()
    };
    for form in forms {
        let kernels = integrator(&gpu, &case.kinetics, &settings, form);
        let mut on_device = kernels.upload(&cells).unwrap();
        for turn in 0..3_i64 {
            if turn > 0 {
                let count = many as i64;
                let order: Vec<i32> =
                    (0..count).map(|i| ((i * 7_919 * turn + turn) % count) as i32).collect();
                on_device.set_order(&gpu, &order).unwrap();
            }
            on_device.restart().unwrap();
            kernels.integrate(&on_device, &settings).unwrap();
            let found = (on_device.concentrations().unwrap(), on_device.outcomes().unwrap());
            let (wrong, first) = different(&found, &expected);
            assert_eq!(wrong, 0, "{form:?}, order {turn}: {first}");
        }
    }
}

#[test]
fn rates_that_follow_the_sun_agree_with_the_cpu() {
    let Some(gpu) = real_gpu(true, "there they have the bits of the CPU version") else { return };
    for name in ["small_strato", "saprc99"] {
        let case = Case::named(name);
        let settings = case.run("na", "rodas3_600").expect("the run is there").settings;
        let n = case.kinetics.variables();
        let cells = some(&case, 333);
        let (wanted, expected) = on_cpu(&case.kinetics, &settings, &cells);
        for form in mapped(&gpu, &case.kinetics) {
            let kernels = integrator(&gpu, &case.kinetics, &settings, form);
            let (found, out) = on_device(&kernels, &settings, &cells);
            let mut parted = 0;
            for cell in 0..cells.len() {
                assert!(out[cell].status.is_success(), "{name} {form:?}: {:?}", out[cell]);
                if out[cell].counters != expected[cell].counters {
                    parted += 1;
                    continue;
                }
                let pairs = found[cell * n..][..n].iter().zip(&wanted[cell * n..]);
                // KPP's own limits: the cosine of the sun has other bits, and digits cancel.
                for (a, b) in pairs {
                    assert!((a - b).abs() <= 1e-6 * b.abs() + 1.0, "{name} {form:?}: {a} {b}");
                }
            }
            assert!(parted * 100 <= cells.len(), "{name} {form:?}: {parted} other counters");
        }
    }
}

/// The emulated device has the cosine of the host.
#[test]
fn rates_that_follow_the_sun_have_the_bits_of_the_cpu() {
    let Some(gpu) = emulated_gpu() else { return };
    let case = Case::named("small_strato");
    let runs = ["ros3_600", "rodas3_600", "rodas4_600"];
    for (number, form) in forms(&gpu, &case.kinetics).into_iter().enumerate() {
        let run = case.run("na", runs[number % runs.len()]).expect("the run is there");
        check(&gpu, (&case.kinetics, &run.settings), form, &some(&case, 33));
    }
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
    let Some(gpu) = emulated_gpu() else { return };
    let (mechanism, _) = mechanism::parse("m", OPERATIONS).mechanism().expect("a mechanism");
    let kinetics = Kinetics::new(&mechanism).expect("tables");
    let run = Case::named("small_strato").run("au", "wrf_600").expect("the run is there");
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
    let [straight, ..] = forms(&gpu, &kinetics);
    check(&gpu, (&kinetics, &run.settings), straight, &cells);
}

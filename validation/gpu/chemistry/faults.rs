//! Cells that fail, and coefficients of the method that are off by one per cent.

use nwp_mini::chemistry::rosenbrock::Method;
use nwp_mini_support::chemistry::Case;

use super::{check, different, forms, integrator, on_cpu, on_device, some};
use crate::gpu;

#[test]
fn a_cell_that_fails_keeps_its_input_and_spoils_no_other() {
    let Some(gpu) = gpu(true) else { return };
    let case = Case::named("small_strato");
    let settings = case.run("au", "wrf_600").expect("the run is there").settings;
    let n = case.kinetics.variables();
    let mut cells = some(&case, 20);
    cells.variable[3 * n + 2] = f64::NAN;
    cells.temperature[5] = -1.0;
    cells.variable[11 * n..12 * n].fill(1e308);
    let [.., small, _, _, _, _] = forms(&gpu, &case.kinetics);
    let out = check(&gpu, (&case.kinetics, &settings), small, &cells);
    let failed = out.iter().filter(|outcome| !outcome.status.is_success()).count();
    // Numbers near the largest one may be integrated or not, as on the CPU.
    assert!(failed >= 2, "{failed} have failed");
}

/// Access to a coefficient.
type Reach = fn(&mut Method) -> &mut f64;

#[test]
fn wrong_coefficients_are_noticed() {
    let Some(gpu) = gpu(true) else { return };
    let case = Case::named("small_strato");
    let settings = case.run("au", "ros3_600").expect("the run is there").settings;
    let cells = some(&case, 5);
    let expected = on_cpu(&case.kinetics, &settings, &cells);
    let [.., few, _] = forms(&gpu, &case.kinetics);
    let wrong: [(&str, Reach); 5] = [
        ("a", |method| &mut method.a[0]),
        ("c", |method| &mut method.c[1]),
        ("m", |method| &mut method.m[2]),
        ("e", |method| &mut method.e[1]),
        ("gamma", |method| &mut method.gamma[0]),
    ];
    for (name, reach) in wrong {
        let mut settings = settings;
        *reach(&mut settings.method) *= 1.01;
        let kernels = integrator(&gpu, &case.kinetics, &settings, few);
        let (count, _) = different(&on_device(&kernels, &settings, &cells), &expected);
        assert!(count > 0, "{name} may be wrong unnoticed");
    }
}

//! Reflectivity and radii against the CPU version.

use nwp_mini::state::CloudDiagnostics;
use nwp_mini::wsm5::reflectivity::Bins;
use nwp_mini::wsm5::{DiagnosticFields, diagnose};

use super::against_cpu::scheme;
use super::columns::columns;
use super::difference::Spread;
use super::engine::{Diagnosis, Exchanged};
use super::weather::Weather;

/// Largest difference of the radii, in ULP: the cube roots of two mathematical libraries.
const RADIUS_ROUNDINGS: f64 = 4.0;
/// Largest difference of the reflectivity, in ULP of its largest value: the complex numbers of melting snow are divided
/// in another way.
const ROUNDINGS: f64 = 64.0;

fn check<R: Exchanged>(nz: usize, count: usize, rows: usize) {
    let p = scheme::<R>(nwp_mini::wsm5::Sedimentation::SemiLagrangian);
    let diagnosis = Diagnosis::compile(&p, nz);
    let weather = Weather::<R>::of(&columns(nz, count), rows, 300.0);
    let mut cpu = CloudDiagnostics::zeros(weather.shape());
    let fields = DiagnosticFields::new(weather.theta_base, &weather.state, &weather.air, &mut cpu);
    diagnose(&p, &Bins::default(), None, fields);
    let device = diagnosis.run(&p, &weather, count as u64);
    let about = format!("{nz} levels, {count} columns, {}", R::NAME);
    let radii = |d: &CloudDiagnostics<R>| {
        [
            ("re_cloud", d.re_cloud.clone()),
            ("re_ice", d.re_ice.clone()),
            ("re_snow", d.re_snow.clone()),
        ]
    };
    for ((name, found), (_, expected)) in radii(&device).into_iter().zip(radii(&cpu)) {
        for (at, found) in found.indexed_iter() {
            let (found, expected) = (found.f64(), expected[at].f64());
            let limit = RADIUS_ROUNDINGS * R::epsilon().f64() * expected;
            assert!(
                (found - expected).abs() <= limit,
                "{about}: {name} at {at:?}: {found:e}, not {expected:e}"
            );
        }
    }
    let spread = Spread::of(&device.refl_10cm, &cpu.refl_10cm);
    assert!(spread.is_finite, "{about}");
    let limit = ROUNDINGS * R::epsilon().f64() * spread.range;
    println!("{about}: {spread:?}, limit {limit:.1e}");
    assert!(spread.largest <= limit, "{about}: {spread:?} above {limit:e}");
}

#[test]
fn reflectivity_and_radii() {
    for (nz, count, rows) in [(27, 240, 4), (4, 31, 1), (33, 33, 1), (128, 40, 2)] {
        check::<f32>(nz, count, rows);
        check::<f64>(nz, count, rows);
    }
}

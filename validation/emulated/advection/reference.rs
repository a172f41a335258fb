//! Results of WRF's own routines, in the roundings of the host and of the device.

use ndarray::Array3;
use nwp_mini::advection::Limiter;
use nwp_mini::advection::gpu::{LaunchConfig, TransportSettings};
use nwp_mini::grid::Side;
use nwp_mini::io::cases::transport::TransportCase;

use super::case::{SCHEMES, difference, field, largest, read, table};
use super::host::{Exchanged, Rounding, Transport};
use super::{launch_config, support};

/// The limits of the CPU version, see `validation/host/advection/reference.rs`.
const F64_LIMIT: f64 = 1.0e-10;
const F32_LIMIT: f64 = 5.0e-6;
const NEGATIVE_LIMIT: f64 = 1.0e-7;
const DRIFT_LIMIT: f64 = 1.0e-6;
/// WRF's own single precision is 1.3e-6 off in its stored wind.
const CONSTANT_LIMIT: f64 = 2.0e-6;

/// Calls `check` with the name and the truth of every case of several steps.
fn each_group(mut check: impl FnMut(&netcdf::Group<'_>)) {
    let file = support::reference("adv");
    let mut count = 0;
    for group in file.groups().expect("a NetCDF-4 file") {
        if group.name().starts_with("rk3_") {
            check(&group);
            count += 1;
        }
    }
    assert!(count > 0, "the reference file has no group rk3_*");
}

/// All steps of a case by the kernels.
fn run<R: Exchanged>(
    case: &TransportCase,
    limiter: Limiter,
    launch_config: LaunchConfig,
    rounding: Rounding,
) -> Array3<f64> {
    let (air, flux) = (case.air::<R>(), case.flux::<R>());
    let transport = Transport {
        grid: &case.grid,
        air: &air,
        flux: &flux,
        inflow: &[],
        dt: case.dt,
        settings: TransportSettings {
            tracers: 1,
            unlimited: 0,
            limiter,
            zero_gradient: false,
            launch_config,
        },
        rounding,
    };
    let (found, _) = transport.run(&[case.q.mapv(R::of)], case.steps, 1);
    found[0].mapv(R::f64)
}

fn minimum(q: &Array3<f64>) -> f64 {
    q.iter().fold(f64::INFINITY, |least, x| x.min(least))
}

fn check_steps<R: Exchanged>(rounding: Rounding, limit: f64) {
    let mut number = 0;
    each_group(|group| {
        let case = read(group, "q0");
        for (limiter, scheme) in SCHEMES {
            let name = format!("{} {} {scheme} {rounding:?}", group.name(), R::NAME);
            number += 1;
            let launch_config = launch_config(2, [1, 4, case.grid.shape.nz][number % 3]);
            let q = run::<R>(&case, limiter, launch_config, rounding);
            let error = difference(&q, &field(group, &format!("q_{scheme}_f64")));
            let history = table(group, &format!("hist_{scheme}_f64"));
            let census = case.census(&q, case.steps).expect("finite");
            let mass = (census.mass - history[[case.steps, 0]]).abs() / history[[0, 0]].abs();
            println!("{name}: {error:.2e}, mass {mass:.2e}, min {:.2e}", minimum(&q));
            assert!(error <= limit, "{name}: {error:e} above {limit:e}");
            assert!(mass <= limit, "{name}: mass {mass:e} above {limit:e}");

            let sides = case.grid.sides;
            let is_open = [sides.west, sides.east, sides.south, sides.north].contains(&Side::Open);
            if limiter == Limiter::PositiveDefinite && !is_open && minimum(&case.q) >= 0.0 {
                let least = minimum(&q);
                assert!(least >= -NEGATIVE_LIMIT * largest(&case.q), "{name}: {least}");
            }
            if sides.periodic_x() && sides.periodic_y() {
                let start = case.census(&case.q, 0).expect("finite").mass;
                let drift = (census.mass - start).abs() / start.abs();
                assert!(drift <= DRIFT_LIMIT, "{name}: mass drifts by {drift:e}");
            }
        }
    });
}

#[test]
fn steps_f64() {
    check_steps::<f64>(Rounding::Each, F64_LIMIT);
}

#[test]
fn steps_f32() {
    check_steps::<f32>(Rounding::Each, F32_LIMIT);
}

/// On the device products and sums are rounded together.
#[test]
fn steps_f32_fused() {
    if is_fused_at_hand() {
        check_steps::<f32>(Rounding::Fused, F32_LIMIT);
    }
}

/// Whether this processor rounds products and sums together, as the device does.
pub(crate) fn is_fused_at_hand() -> bool {
    #[cfg(target_arch = "x86_64")]
    let found = std::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    let found = false;
    if !found {
        support::skip::skipped("this processor has no fused multiply-add");
    }
    found
}

#[test]
fn constant_tracer_in_stored_wind() {
    let file = support::reference("adv");
    let Some(group) = file.group("rk3_constant").expect("a NetCDF-4 file") else { return };
    let case = read(&group, "q0");
    let value = case.q[[0, 0, 0]];
    for rounding in [Rounding::Each, Rounding::Fused] {
        if rounding == Rounding::Fused && !is_fused_at_hand() {
            continue;
        }
        for (limiter, scheme) in SCHEMES {
            let q = run::<f32>(&case, limiter, launch_config(2, 5), rounding);
            let drift = q.iter().fold(0.0_f64, |most, x| most.max((x - value).abs() / value));
            println!("rk3_constant {scheme} {rounding:?}: drift {drift:.2e}");
            assert!(drift <= CONSTANT_LIMIT, "{scheme} {rounding:?}: {drift:e}");
        }
    }
}

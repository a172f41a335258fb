//! The kernel on the emulated device, whose operations are those of the host: it has the bits of the CPU version with
//! one column at a time.

use ndarray::{Array2, Axis, s};

use nwp_mini::device::{Element, Gpu};
use nwp_mini::physics::kessler::params::KesslerFactors;
use nwp_mini::physics::kessler::{Kessler, Vectorised};

use super::GpuBackend;
use crate::emulated_gpu;
use crate::support::kessler::case::{Columns, Engine, INPUTS, OnCpu, State, group};
use crate::support::reference;
use crate::support::wsm5::difference::expect_same_bits;

/// Columns of several cases, of which only the lowest levels are taken.
pub(super) fn columns(nz: usize) -> Columns {
    let file = reference("kessler");
    let names: &[&str] = match nz {
        0..=27 => &["edge", "warm", "mixed", "cold", "storm"],
        _ => &["mixed_nk51"],
    };
    let cases = names.iter().map(|name| Columns::read(&group(&file, name)).unforced());
    let cases: Vec<Columns> = cases
        .map(|case| {
            let chosen: Vec<usize> = (0..case.dim().1).step_by(3).collect();
            case.select(&chosen)
        })
        .collect();
    let fields = (0..INPUTS.len()).map(|at| {
        let parts: Vec<_> = cases.iter().map(|case| case.fields[at].slice(s![..nz, ..])).collect();
        ndarray::concatenate(Axis(1), &parts).expect("as many levels")
    });
    Columns { fields: fields.collect::<Vec<Array2<f32>>>(), tendencies: None }
}

fn check<R: Vectorised + Element>(gpu: &Gpu, nz: usize) {
    let kernel = GpuBackend::<R>::new(gpu, Kessler::default());
    let columns = columns(nz);
    for (dt, theta_base) in [(60.0, 300.0), (300.0, 0.0)] {
        let before = State::of(&columns, 2, theta_base);
        let (mut found, mut expected) = (before.clone(), before);
        kernel.call(R::of(dt), &mut found);
        OnCpu::alone().call(R::of(dt), &mut expected);
        let about = format!("{nz} levels, {dt} s, {}", R::NAME);
        expect_same_bits(&about, found.named(), expected.named());
    }
}

#[test]
fn a_thread_for_a_column_gives_the_bits_of_the_cpu() {
    let Some(gpu) = emulated_gpu() else { return };
    for nz in [2, 27, 51] {
        check::<f32>(&gpu, nz);
        check::<f64>(&gpu, nz);
    }
}

/// The factors of the processes reach the kernel, each its own process.
#[test]
fn factors_are_those_of_the_cpu() {
    let Some(gpu) = emulated_gpu() else { return };
    let before = State::<f64>::of(&columns(27), 1, 0.0);
    for &name in KesslerFactors::<f64>::NAMES {
        let mut scheme = Kessler::<f64>::default();
        *scheme.factors.of(name).expect("a process") = 1.01;
        let (mut found, mut expected, mut unchanged) =
            (before.clone(), before.clone(), before.clone());
        GpuBackend::new(&gpu, scheme).call(60.0, &mut found);
        OnCpu { scheme, instructions: None }.call(60.0, &mut expected);
        OnCpu::alone().call(60.0, &mut unchanged);
        expect_same_bits(name, found.named(), expected.named());
        assert!(unchanged.named() != expected.named(), "{name} acts nowhere");
    }
}

/// Rain that needs more sub-steps than possible in any weather is NaN after the call, on the CPU and in the kernel, and
/// so are values that were NaN before; other columns are not affected.
#[test]
fn rain_beyond_all_measure_is_reported() {
    let Some(gpu) = emulated_gpu() else { return };
    let good = State::<f32>::of(&columns(27), 1, 0.0);
    let mut bad = good.clone();
    bad.tracers[3][[5, 0, 1]] = f32::INFINITY;
    bad.tracers[1][[7, 0, 2]] = f32::NAN;
    bad.tracers[2][[7, 0, 3]] = f32::NAN;
    bad.tracers[0][[7, 0, 4]] = f32::NAN;
    let (mut found, mut expected, mut side_by_side, mut whole) =
        (bad.clone(), bad.clone(), bad, good);
    GpuBackend::new(&gpu, Kessler::default()).call(60.0, &mut found);
    OnCpu::alone().call(60.0, &mut expected);
    OnCpu::best().call(60.0, &mut side_by_side);
    OnCpu::best().call(60.0, &mut whole);
    expect_same_bits("bad columns", found.named(), expected.named());
    for state in [&found, &side_by_side] {
        assert!(state.tracers[3][[5, 0, 1]].is_nan(), "infinite rain");
        assert!(state.tracers[1][[7, 0, 2]].is_nan(), "vapour");
        assert!(state.tracers[2][[7, 0, 3]].is_nan(), "cloud water");
        assert!(state.tracers[0][[7, 0, 4]].is_nan(), "potential temperature");
    }
    for (field, good) in side_by_side.tracers.iter().zip(&whole.tracers) {
        assert_eq!(field.slice(s![.., .., 5..]), good.slice(s![.., .., 5..]));
    }
}

//! The device against the CPU version: any number of levels and of columns, both variants.

use ndarray::Array2;
use rayon::prelude::*;

use nwp_mini::gpu::Gpu;
use nwp_mini::gpu::wsm5::Mapping;
use nwp_mini::real::Real;
use nwp_mini::wsm5::Fallout;
use nwp_mini::wsm5::scheme::Scheme;

use crate::case::{Columns, INPUTS, OUTPUTS, Outcome, group};
use crate::device::{gpu, seed};
use crate::random::Random;
use crate::run::{OnDevice, on_device};
use crate::support;
use crate::yardstick::percentile;

/// Around the numbers of lanes of a warp, and what models have.
const LEVELS: [usize; 10] = [4, 5, 27, 31, 32, 33, 40, 64, 100, 128];
/// One minor step in a call, and three of them, s.
const STEPS: [f64; 2] = [60.0, 300.0];
/// Double precision: what two mathematical libraries and two orders of operations may differ by,
/// of the largest value of a field, in all cells but a few.
const F64_LIMIT: f64 = 1.0e-9;
/// Single precision: what errors may have over those of the CPU version, as much as the builds of
/// WRF's code differ by.
const F32_FACTOR: f64 = 10.0;
/// Two roundings of single precision, of the largest value of a field.
const F32_FLOOR: f64 = 1.0e-7;
/// Part of the cells that are judged: in the others a rounding may decide between two outcomes, of
/// which there are more from the second minor step on.
const PERCENT: [f64; 2] = [99.0, 90.0];
/// Clipping makes what rounding has left below zero, a few units in the last place of the water in
/// a layer, of which the deepest here hold some 10 kg m-2.
const CLIPPED: f64 = 10.0;

/// Columns of all cases on `nz` levels, each amount of water multiplied by a number of its own.
fn columns(nz: usize, count: usize, random: &mut Random) -> Columns {
    let file = support::reference("wsm5");
    let cases = ["warm", "mixed", "cold", "storm"].map(|case| Columns::read(&group(&file, case)));
    let picks: Vec<(usize, usize, f32)> = (0..count)
        .map(|_| {
            let case = (random.bits() % cases.len() as u64) as usize;
            let column = (random.bits() % cases[case].dim().1 as u64) as usize;
            (case, column, random.between(0.5, 1.5) as f32)
        })
        .collect();
    let field = |number: usize| {
        let is_condensate = ["qc", "qr", "qi", "qs"].contains(&INPUTS[number]);
        Array2::from_shape_fn((cases[0].dim().0, count), |(k, column)| {
            let (case, from, factor) = picks[column];
            cases[case].fields[number][[k, from]] * if is_condensate { factor } else { 1.0 }
        })
    };
    let columns = Columns { fields: (0..INPUTS.len()).map(field).collect(), tendencies: None };
    if nz == columns.dim().0 { columns } else { columns.resampled(nz) }
}

/// Values of all outputs, by name.
fn outputs<R: OnDevice>(outcome: &Outcome<R>) -> Vec<(&'static str, Vec<f64>)> {
    let fields = OUTPUTS.into_iter().zip(&outcome.fields);
    let mut all: Vec<_> =
        fields.map(|(name, field)| (name, field.iter().map(|x| x.f64()).collect())).collect();
    let values = |plane: &[R]| plane.iter().map(|x| x.f64()).collect();
    all.push(("fall_residual", values(&outcome.residual)));
    all.push(("clipped", values(&outcome.clipped)));
    all
}

/// Distances of one output, and its largest value.
fn errors(found: &[f64], truth: &[f64], about: &str) -> (Vec<f64>, f64) {
    assert!(found.iter().all(|x| x.is_finite()), "{about} is not finite");
    let range = truth.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    (found.iter().zip(truth).map(|(a, b)| (a - b).abs()).collect(), range)
}

fn check<R: OnDevice>(gpu: &Gpu, fallout: Fallout, mapping: Option<Mapping>, columns: &Columns) {
    let p = Scheme::<R>::default().with_fallout(fallout);
    let exact = Scheme::<f64>::default().with_fallout(fallout);
    let (nz, count) = columns.dim();
    for (dt, percent) in STEPS.into_iter().zip(PERCENT) {
        let truth = outputs(&columns.run_with(&exact, dt, 1));
        let cpu = outputs(&columns.run_with(&p, dt, 1));
        let device = outputs(&on_device(gpu, &p, mapping, columns, dt, 1));
        for (((name, truth), (_, cpu)), (_, device)) in truth.iter().zip(cpu).zip(device) {
            let about = format!(
                "{mapping:?}, {fallout:?}, {nz} levels, {count} columns, {dt} s, {name}, {}",
                R::NAME
            );
            let (mut device, range) = errors(&device, truth, &about);
            let (mut cpu, _) = errors(&cpu, truth, &about);
            let floor = match *name {
                "clipped" => CLIPPED * R::epsilon().f64(),
                _ if R::NAME == f64::NAME => F64_LIMIT * range,
                _ => F32_FLOOR * range,
            };
            let limit = (F32_FACTOR * percentile(&mut cpu, percent)).max(floor);
            let found = percentile(&mut device, percent);
            assert!(found <= limit, "{about}: {found:e} above {limit:e}");
        }
    }
}

#[test]
fn any_number_of_levels() {
    let Some(gpu) = gpu(true) else { return };
    let seed = seed();
    // Compiling takes most of the time, and one core for each kernel.
    LEVELS.into_par_iter().for_each(|nz| {
        let columns = columns(nz, 203, &mut Random::new(seed ^ nz as u64));
        for fallout in Fallout::ALL {
            for mapping in [Some(Mapping::Column), None] {
                check::<f32>(&gpu, fallout, mapping, &columns);
                check::<f64>(&gpu, fallout, mapping, &columns);
            }
        }
    });
}

/// A column gets the same bits whatever stands beside it.
#[test]
fn any_number_of_columns() {
    let Some(gpu) = gpu(true) else { return };
    let mut random = Random::new(seed());
    let all = columns(27, 70, &mut random);
    for fallout in Fallout::ALL {
        let p = Scheme::<f32>::default().with_fallout(fallout);
        for mapping in [Some(Mapping::Column), None] {
            let whole = outputs(&on_device(&gpu, &p, mapping, &all, 60.0, 1));
            for count in (1..=34).chain([63, 64, 65, 70]) {
                let first: Vec<usize> = (0..count).collect();
                let some = outputs(&on_device(&gpu, &p, mapping, &all.select(&first), 60.0, 1));
                for ((name, whole), (_, some)) in whole.iter().zip(some) {
                    for (number, x) in some.iter().enumerate() {
                        let (k, column) = (number / count, number % count);
                        let y = whole[k * 70 + column];
                        let about = format!("{mapping:?}, {fallout:?}, {count} columns");
                        assert!(*x == y, "{about}: {name} in column {column}: {x:e}, not {y:e}");
                    }
                }
            }
        }
    }
}

//! Any number of levels from 4 to 256.

use ndarray::Array2;

use super::case::{Columns, INPUTS, OUTPUTS, Precision, Reference};
use super::support::column_reference::Case;
use super::yardstick::percentile;

/// Around the powers of two and the 27 levels of the reference.
const LEVELS: [usize; 11] = [4, 5, 8, 26, 27, 28, 32, 33, 64, 100, 256];
/// Time step, s.
const DT: f64 = 60.0;
/// 99th percentile of the error relative to that of WRF's worst build at 27 levels, as in comparisons with the
/// reference by percentiles.
const FACTOR: f64 = 10.0;
/// Two units in the last place of single precision, of the root mean square.
const FLOOR: f64 = 1.0e-7;

fn run<R: Precision>(columns: &Columns) -> Vec<Array2<f64>> {
    columns.run::<R>(DT, 1).fields.iter().map(|field| field.mapv(R::f64)).collect()
}

#[test]
fn precisions_agree_on_any_number_of_levels() {
    let cases = ["mixed", "cold"];
    let reference = Reference::read(&cases, |_, _| false);
    let mut worst = (0.0, String::new());
    for Case { name: case, columns, .. } in &reference.cases {
        let levels = columns.dim().0;
        for nz in LEVELS {
            let columns = columns.resampled(nz);
            let (single, double) = (run::<f32>(&columns), run::<f64>(&columns));
            for ((name, single), double) in OUTPUTS.into_iter().zip(&single).zip(&double) {
                let about = format!("{case} nz={nz} {name}");
                assert!(double.iter().all(|x| x.is_finite()), "{about} is not finite");
                let mut errors: Vec<f64> =
                    single.iter().zip(double).map(|(a, b)| (a - b).abs()).collect();
                assert!(errors.iter().all(|x| x.is_finite()), "{about} is not finite");
                let y = reference.yardsticks.of(case, DT, 1, name);
                let error = percentile(&mut errors, 99.0);
                // A part of the columns may be the difficult ones.
                let whole = [levels * columns.dim().1, columns.dim().1].contains(&y.cells);
                let usual = if whole { y.most.p99 } else { y.p999 };
                let limit = (FACTOR * usual).max(FLOOR * y.rms);
                if limit > 0.0 && error / limit > worst.0 {
                    worst = (error / limit, about.clone());
                }
                assert!(error <= limit, "{about}: {error:.3e} above {limit:.3e}");
            }
        }
    }
    println!("{:.3} of the limit: {}", worst.0, worst.1);
}

/// At the number of levels of the reference, resampling changes nothing.
#[test]
fn resampling_keeps_what_it_need_not_change() {
    let columns = Columns::of("mixed");
    let same = columns.resampled(columns.dim().0);
    for name in INPUTS {
        assert_eq!(columns.field(name), same.field(name), "{name}");
    }
}

/// Precipitation hardly depends on the number of levels.
#[test]
fn precipitation_does_not_depend_on_the_number_of_levels() {
    let columns = Columns::of("mixed").unforced();
    let total = |nz: usize| columns.resampled(nz).run::<f64>(DT, 10).field("rain").sum();
    let expected = total(27);
    assert!(expected > 0.0);
    for (nz, part) in [(64, 0.1), (100, 0.1), (256, 0.1)] {
        let found = total(nz);
        println!("{nz} levels: {:.3} of the rain of 27", found / expected);
        assert!((found / expected - 1.0).abs() < part, "{nz}: {found} not {expected}");
    }
}

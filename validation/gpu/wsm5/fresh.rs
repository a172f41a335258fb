//! Random columns that differ in every run.

use ndarray::Array2;

use super::case::Columns;
use crate::random::Random;

const CASES: [&str; 5] = ["warm", "mixed", "cold", "edge", "storm"];

/// Random columns of all cases on `nz` levels, each warmed or cooled, moistened or dried, and with
/// more or less of every species, or none of it; every cell a little on its own.
pub fn columns(nz: usize, count: usize, random: &mut Random) -> Columns {
    let cases = CASES.map(|case| Columns::of(case).unforced());
    let mut fields = vec![Array2::zeros((nz, count)); cases[0].fields.len()];
    for column in 0..count {
        let case = &cases[(random.bits() % CASES.len() as u64) as usize];
        let chosen = (random.bits() % case.dim().1 as u64) as usize;
        let mut one = case.select(&[chosen]).resampled(nz);
        change(&mut one, random);
        for (field, given) in fields.iter_mut().zip(&one.fields) {
            field.column_mut(column).assign(&given.column(0));
        }
    }
    Columns { fields, tendencies: None }
}

fn change(column: &mut Columns, random: &mut Random) {
    let warmer = random.between(-3.0, 3.0);
    column.field_mut("th").mapv_inplace(|th| th + (warmer + random.between(-0.1, 0.1)) as f32);
    let moister = random.between(0.7, 1.2);
    column.field_mut("q").mapv_inplace(|q| q * (moister * random.between(0.98, 1.02)) as f32);
    for species in ["qc", "qr", "qi", "qs"] {
        let is_there = !random.bits().is_multiple_of(4);
        let more = if is_there { random.between(-2.0, 1.0).exp() } else { 0.0 };
        let field = column.field_mut(species);
        field.mapv_inplace(|q| without_subnormal(q * (more * random.between(0.8, 1.2)) as f32));
    }
}

/// Zero instead of values below 1e-38: fast-math flushes them to zero, and layers around an empty layer sediment
/// differently. The precipitation then differs by per cents of 1e-13 mm, and so does its frozen part.
fn without_subnormal(q: f32) -> f32 {
    if q.is_subnormal() { 0.0 } else { q }
}

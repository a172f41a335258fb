//! Columns of fields, brought side by side for vector instructions and put back.

use std::ops::Range;

use ndarray::{ArrayView3, ArrayViewMut3, s};

use super::abreast::Abreast;
use super::cell::water;
use super::fields::Fields;
use super::params::SchemeConstants;
use super::radii::RadiusConstants;
use super::reflectivity::RadarConstants;
use super::scheme::Scheme;
use crate::lanes::{Instructions, LANES, Row, Task};
use crate::real::Real;

/// A precision that the scheme and its diagnostics can be run in, column by column and side by side.
pub trait Vectorised:
    RadarConstants + RadiusConstants + Real<Lane: RadarConstants + RadiusConstants>
{
}

impl<R> Vectorised for R where
    R: RadarConstants + RadiusConstants + Real<Lane: RadarConstants + RadiusConstants>
{
}

/// One call of the scheme on columns side by side.
struct Call<'a, R> {
    p: &'a Scheme<R>,
    dt: R,
    columns: &'a mut Abreast<R>,
}

impl<R: SchemeConstants> Task for Call<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // A copy of its own: no store to a column can change it, so it is read once.
        let p = self.p.clone();
        self.columns.call(&p, self.dt);
    }
}

/// Some of the columns that stand side by side: those of one row of the grid.
pub(super) struct Stretch {
    j: usize,
    columns: Range<usize>,
    /// The first of their places.
    lane: usize,
}

/// One call of the scheme on the columns of a block, [`LANES`] at a time.
pub(super) fn call_block<R: Vectorised>(
    instructions: Instructions,
    p: &Scheme<R::Lane>,
    dt: R,
    columns: &mut Abreast<R::Lane>,
    f: &mut Fields<'_, R>,
) {
    let (_, ny, nx) = f.theta.dim();
    for_abreast([ny, nx], |stretches, count| {
        load(f, stretches, count, columns);
        instructions.run(Call { p, dt: dt.lane(), columns });
        store(f, stretches, columns);
    });
}

/// Takes (ny, nx) columns in the order of the rows and across their ends, [`LANES`] at a time, so that few places
/// stay empty; `work` is told their number, too.
pub(super) fn for_abreast([ny, nx]: [usize; 2], mut work: impl FnMut(&[Stretch], usize)) {
    let mut stretches = Vec::with_capacity(LANES);
    for first in (0..ny * nx).step_by(LANES) {
        stretches.clear();
        let end = (first + LANES).min(ny * nx);
        let mut c = first;
        while c < end {
            let (j, i) = (c / nx, c % nx);
            let count = (nx - i).min(end - c);
            stretches.push(Stretch { j, columns: i..i + count, lane: c - first });
            c += count;
        }
        work(&stretches, end - first);
    }
}

fn load<R: Vectorised>(
    f: &Fields<'_, R>,
    stretches: &[Stretch],
    count: usize,
    columns: &mut Abreast<R::Lane>,
) {
    let levels = &mut columns.levels;
    take(&f.theta.view(), stretches, levels, |level| &mut level.theta);
    take(&f.qv.view(), stretches, levels, |level| &mut level.cells.qv);
    take(&f.qc.view(), stretches, levels, |level| &mut level.cells.qc);
    take(&f.qr.view(), stretches, levels, |level| &mut level.cells.qr);
    take(&f.qi.view(), stretches, levels, |level| &mut level.cells.qi);
    take(&f.qs.view(), stretches, levels, |level| &mut level.cells.qs);
    take(&f.rho, stretches, levels, |level| &mut level.rho);
    take(&f.p, stretches, levels, |level| &mut level.p);
    take(&f.dz, stretches, levels, |level| &mut level.dz);
    take(&f.exner, stretches, levels, |level| &mut level.exner);
    columns.theta_base = f.theta_base.lane();
    if count < LANES {
        columns.fill_up(count);
    }
}

/// Copies a field into its rows of the levels.
pub(super) fn take<R: Real, L>(
    field: &ArrayView3<'_, R>,
    stretches: &[Stretch],
    levels: &mut [L],
    row: impl Fn(&mut L) -> &mut Row<R::Lane>,
) {
    for Stretch { j, columns, lane } in stretches {
        let part = field.slice(s![.., *j, columns.clone()]);
        for (values, level) in part.outer_iter().zip(levels.iter_mut()) {
            let values = values.to_slice().expect("rows are contiguous");
            for (value, lane) in values.iter().zip(&mut row(level)[*lane..]) {
                *lane = value.lane();
            }
        }
    }
}

fn store<R: Vectorised>(f: &mut Fields<'_, R>, stretches: &[Stretch], columns: &Abreast<R::Lane>) {
    let levels = &columns.levels;
    for Stretch { j, columns: range, lane } in stretches {
        f.weigh(*j, range.clone(), |k, n| R::of_lane(water(&levels[k].cells.at(lane + n))));
    }
    give(&mut f.theta, stretches, levels, |level| &level.theta);
    give(&mut f.qv, stretches, levels, |level| &level.cells.qv);
    give(&mut f.qc, stretches, levels, |level| &level.cells.qc);
    give(&mut f.qr, stretches, levels, |level| &level.cells.qr);
    give(&mut f.qi, stretches, levels, |level| &level.cells.qi);
    give(&mut f.qs, stretches, levels, |level| &level.cells.qs);
    for Stretch { j, columns: range, lane } in stretches {
        for (i, sum) in range.clone().zip(&columns.sums[*lane..]) {
            f.put([*j, i], &sum.map(R::of_lane));
        }
    }
}

/// Copies rows of the levels into a field.
pub(super) fn give<R: Real, L>(
    field: &mut ArrayViewMut3<'_, R>,
    stretches: &[Stretch],
    levels: &[L],
    row: impl Fn(&L) -> &Row<R::Lane>,
) {
    for Stretch { j, columns, lane } in stretches {
        let mut part = field.slice_mut(s![.., *j, columns.clone()]);
        for (values, level) in part.outer_iter_mut().zip(levels) {
            let values = values.into_slice().expect("rows are contiguous");
            for (value, &lane) in values.iter_mut().zip(&row(level)[*lane..]) {
                *value = R::of_lane(lane);
            }
        }
    }
}

//! Load and store of columns of fields, side by side for vector (SIMD) instructions.

use super::abreast::Abreast;
use super::cell::water;
use super::fields::Fields;
use super::params::SchemeConstants;
use super::radii::RadiusConstants;
use super::reflectivity::RadarConstants;
use super::scheme::Scheme;
use crate::lanes::stretches::{Stretch, for_stretches, give, take};
use crate::lanes::{Instructions, LANES, Task};
use crate::real::Real;

/// A precision in which the scheme and its diagnostics can run, one by one or side by side.
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
        // A local copy: no store to a column can alias it, so it is read once.
        let p = self.p.clone();
        self.columns.call(&p, self.dt);
    }
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
    for_stretches([ny, nx], LANES, |stretches, count| {
        load(f, stretches, count, columns);
        instructions.run(Call { p, dt: dt.lane(), columns });
        store(f, stretches, columns);
    });
}

fn load<R: Vectorised>(
    f: &Fields<'_, R>,
    stretches: &[Stretch],
    count: usize,
    columns: &mut Abreast<R::Lane>,
) {
    let levels = &mut columns.levels;
    take(&f.theta.view(), stretches, levels, R::lane, |level| &mut level.theta);
    take(&f.qv.view(), stretches, levels, R::lane, |level| &mut level.cells.qv);
    take(&f.qc.view(), stretches, levels, R::lane, |level| &mut level.cells.qc);
    take(&f.qr.view(), stretches, levels, R::lane, |level| &mut level.cells.qr);
    take(&f.qi.view(), stretches, levels, R::lane, |level| &mut level.cells.qi);
    take(&f.qs.view(), stretches, levels, R::lane, |level| &mut level.cells.qs);
    take(&f.rho, stretches, levels, R::lane, |level| &mut level.rho);
    take(&f.p, stretches, levels, R::lane, |level| &mut level.p);
    take(&f.dz, stretches, levels, R::lane, |level| &mut level.dz);
    take(&f.exner, stretches, levels, R::lane, |level| &mut level.exner);
    columns.theta_base = f.theta_base.lane();
    if count < LANES {
        columns.fill_up(count);
    }
}

fn store<R: Vectorised>(f: &mut Fields<'_, R>, stretches: &[Stretch], columns: &Abreast<R::Lane>) {
    let levels = &columns.levels;
    for Stretch { j, columns: range, lane } in stretches {
        f.weigh(*j, range.clone(), |k, n| R::of_lane(water(&levels[k].cells.at(lane + n))));
    }
    give(&mut f.theta, stretches, levels, R::of_lane, |level| &level.theta);
    give(&mut f.qv, stretches, levels, R::of_lane, |level| &level.cells.qv);
    give(&mut f.qc, stretches, levels, R::of_lane, |level| &level.cells.qc);
    give(&mut f.qr, stretches, levels, R::of_lane, |level| &level.cells.qr);
    give(&mut f.qi, stretches, levels, R::of_lane, |level| &level.cells.qi);
    give(&mut f.qs, stretches, levels, R::of_lane, |level| &level.cells.qs);
    for Stretch { j, columns: range, lane } in stretches {
        for (i, sum) in range.clone().zip(&columns.sums[*lane..]) {
            f.put([*j, i], &sum.map(R::of_lane));
        }
    }
}

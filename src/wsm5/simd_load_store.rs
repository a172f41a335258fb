//! Load and store of columns of fields, side by side for vector (SIMD) instructions.

use super::cell::water;
use super::fields::{put, total};
use super::params::SchemeConstants;
use super::radii::RadiusConstants;
use super::reflectivity::RadarConstants;
use super::scheme::Scheme;
use super::simd_columns::ColumnBlock;
use crate::physics::Block;
use crate::real::Real;
use crate::simd::gather_scatter::{Stretch, for_stretches, give, take};
use crate::simd::{Instructions, LANES, Task};

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
    columns: &'a mut ColumnBlock<R>,
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
    columns: &mut ColumnBlock<R::Lane>,
    block: &mut Block<'_, R>,
) {
    let (_, ny, nx) = block.dim();
    for_stretches([ny, nx], LANES, |stretches, count| {
        load(block, stretches, count, columns);
        instructions.run(Call { p, dt: dt.lane(), columns });
        store(block, stretches, columns);
    });
}

fn load<R: Vectorised>(
    block: &Block<'_, R>,
    stretches: &[Stretch],
    count: usize,
    columns: &mut ColumnBlock<R::Lane>,
) {
    let [theta, qv, qc, qr, qi, qs] = &block.tracers[..] else {
        unreachable!("checked by the caller")
    };
    let [rho, exner, p, dz] = &block.air[..] else { unreachable!("checked by the caller") };
    let levels = &mut columns.levels;
    take(&theta.view(), stretches, levels, R::lane, |level| &mut level.theta);
    take(&qv.view(), stretches, levels, R::lane, |level| &mut level.cells.qv);
    take(&qc.view(), stretches, levels, R::lane, |level| &mut level.cells.qc);
    take(&qr.view(), stretches, levels, R::lane, |level| &mut level.cells.qr);
    take(&qi.view(), stretches, levels, R::lane, |level| &mut level.cells.qi);
    take(&qs.view(), stretches, levels, R::lane, |level| &mut level.cells.qs);
    take(rho, stretches, levels, R::lane, |level| &mut level.rho);
    take(p, stretches, levels, R::lane, |level| &mut level.p);
    take(dz, stretches, levels, R::lane, |level| &mut level.dz);
    take(exner, stretches, levels, R::lane, |level| &mut level.exner);
    columns.theta_base = block.theta_base.lane();
    if count < LANES {
        columns.fill_unused_lanes(count);
    }
}

fn store<R: Vectorised>(
    block: &mut Block<'_, R>,
    stretches: &[Stretch],
    columns: &ColumnBlock<R::Lane>,
) {
    let Block { tracers, air, surface, budget, .. } = block;
    let [theta, qv, qc, qr, qi, qs] = &mut tracers[..] else {
        unreachable!("checked by the caller")
    };
    let [rho, _, _, dz] = &air[..] else { unreachable!("checked by the caller") };
    let levels = &columns.levels;
    if let Some(weighing) = budget.as_mut().and_then(|budget| budget.weighing.as_mut()) {
        let species = [&*qv, &*qc, &*qr, &*qi, &*qs];
        for Stretch { j, columns: range, lane } in stretches {
            weighing.add_mismatch((*j, range.clone()), species, [rho, dz], total, |k, n| {
                R::of_lane(water(&levels[k].cells.at(lane + n)))
            });
        }
    }
    give(theta, stretches, levels, R::of_lane, |level| &level.theta);
    give(qv, stretches, levels, R::of_lane, |level| &level.cells.qv);
    give(qc, stretches, levels, R::of_lane, |level| &level.cells.qc);
    give(qr, stretches, levels, R::of_lane, |level| &level.cells.qr);
    give(qi, stretches, levels, R::of_lane, |level| &level.cells.qi);
    give(qs, stretches, levels, R::of_lane, |level| &level.cells.qs);
    for Stretch { j, columns: range, lane } in stretches {
        for (i, sum) in range.clone().zip(&columns.sums[*lane..]) {
            put(surface, budget, [*j, i], &sum.map(R::of_lane));
        }
    }
}

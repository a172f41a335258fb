//! Load and store of columns of fields, side by side for vector (SIMD) instructions.

use super::columns::{ColumnBlock, SemiLagrangian};
use crate::physics::Block;
use crate::physics::wsm5::cell::water;
use crate::physics::wsm5::fields::{put, total};
use crate::physics::wsm5::params::SchemeConstants;
use crate::physics::wsm5::radii::RadiusConstants;
use crate::physics::wsm5::reflectivity::RadarConstants;
use crate::physics::wsm5::scheme::Scheme;
use crate::real::Real;
use crate::simd::gather_scatter::{Stretch, for_stretches, give, take};
use crate::simd::{LANES, Task};

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
pub(in crate::physics::wsm5) struct Call<'a, R> {
    pub(in crate::physics::wsm5) p: &'a Scheme<R>,
    pub(in crate::physics::wsm5) dt: R,
    pub(in crate::physics::wsm5) columns: &'a mut ColumnBlock<R, LANES>,
}

impl<R: SchemeConstants> Task for Call<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // A local copy: no store to a column can alias it, so it is read once.
        let p = self.p.clone();
        self.columns.call(&p, self.dt, &mut SemiLagrangian);
    }
}

/// Loads the columns of a block, `N` at a time, calls the scheme and stores them.
pub(in crate::physics::wsm5) fn for_each<R: Real, S: SchemeConstants, const N: usize>(
    block: &mut Block<'_, R>,
    columns: &mut ColumnBlock<S, N>,
    to: impl Fn(R) -> S + Copy,
    from: impl Fn(S) -> R + Copy,
    mut call: impl FnMut(&mut ColumnBlock<S, N>),
) {
    let (_, ny, nx) = block.dim();
    columns.theta_base = to(block.theta_base);
    for_stretches([ny, nx], N, |stretches, count| {
        load(block, stretches, columns, to);
        if count < N {
            columns.fill_unused_lanes(count);
        }
        call(columns);
        store(block, stretches, columns, from);
    });
}

fn load<R: Real, S: SchemeConstants, const N: usize>(
    block: &Block<'_, R>,
    stretches: &[Stretch],
    columns: &mut ColumnBlock<S, N>,
    to: impl Fn(R) -> S + Copy,
) {
    let [theta, qv, qc, qr, qi, qs] = &block.tracers[..] else {
        unreachable!("checked by the caller")
    };
    let [rho, exner, p, dz] = &block.air[..] else { unreachable!("checked by the caller") };
    let levels = &mut columns.levels;
    take(&theta.view(), stretches, levels, to, |level| &mut level.theta);
    take(&qv.view(), stretches, levels, to, |level| &mut level.cells.qv);
    take(&qc.view(), stretches, levels, to, |level| &mut level.cells.qc);
    take(&qr.view(), stretches, levels, to, |level| &mut level.cells.qr);
    take(&qi.view(), stretches, levels, to, |level| &mut level.cells.qi);
    take(&qs.view(), stretches, levels, to, |level| &mut level.cells.qs);
    take(rho, stretches, levels, to, |level| &mut level.rho);
    take(p, stretches, levels, to, |level| &mut level.p);
    take(dz, stretches, levels, to, |level| &mut level.dz);
    take(exner, stretches, levels, to, |level| &mut level.exner);
}

fn store<R: Real, S: SchemeConstants, const N: usize>(
    block: &mut Block<'_, R>,
    stretches: &[Stretch],
    columns: &ColumnBlock<S, N>,
    from: impl Fn(S) -> R + Copy,
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
                from(water(&levels[k].cells.at(lane + n)))
            });
        }
    }
    give(theta, stretches, levels, from, |level| &level.theta);
    give(qv, stretches, levels, from, |level| &level.cells.qv);
    give(qc, stretches, levels, from, |level| &level.cells.qc);
    give(qr, stretches, levels, from, |level| &level.cells.qr);
    give(qi, stretches, levels, from, |level| &level.cells.qi);
    give(qs, stretches, levels, from, |level| &level.cells.qs);
    for Stretch { j, columns: range, lane } in stretches {
        for (i, sum) in range.clone().zip(&columns.sums[*lane..]) {
            put(surface, budget, [*j, i], &sum.map(from));
        }
    }
}

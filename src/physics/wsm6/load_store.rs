//! Load and store of columns of fields, side by side for vector (SIMD) instructions.

use super::cell::{Wsm6Cell, water};
use super::columns::ColumnBlock;
use super::params::Wsm6Constants;
use super::scheme::Scheme;
use crate::physics::Block;
use crate::real::Real;
use crate::simd::gather_scatter::{Stretch, for_stretches, give, take};
use crate::simd::{LANES, Task};

/// One call of the scheme on columns side by side.
pub(super) struct Call<'a, R> {
    pub(super) p: &'a Scheme<R>,
    pub(super) dt: R,
    pub(super) columns: &'a mut ColumnBlock<R, LANES>,
}

impl<R: Wsm6Constants> Task for Call<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // A local copy: no store to a column can alias it, so it is read once.
        let p = *self.p;
        self.columns.call(&p, self.dt);
    }
}

/// Loads the columns of a block, `N` at a time, calls the scheme and stores them.
pub(super) fn for_each<R: Real, S: Wsm6Constants, const N: usize>(
    block: &mut Block<'_, R>,
    columns: &mut ColumnBlock<S, N>,
    to: impl Fn(R) -> S + Copy,
    from: impl Fn(S) -> R + Copy,
    mut call: impl FnMut(&mut ColumnBlock<S, N>),
) {
    let (nz, ny, nx) = block.dim();
    assert_eq!(nz, columns.levels.len(), "layers of the fields and of the work space");
    columns.theta_base = to(block.theta_base);
    for_stretches([ny, nx], N, |stretches, count| {
        load(block, stretches, columns, to);
        columns.fill_unused_lanes(count);
        call(columns);
        store(block, stretches, columns, from);
    });
}

fn load<R: Real, S: Wsm6Constants, const N: usize>(
    block: &Block<'_, R>,
    stretches: &[Stretch],
    columns: &mut ColumnBlock<S, N>,
    to: impl Fn(R) -> S + Copy,
) {
    let [theta, qv, qc, qr, qi, qs, qg] = &block.tracers[..] else {
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
    take(&qg.view(), stretches, levels, to, |level| &mut level.cells.qg);
    take(rho, stretches, levels, to, |level| &mut level.rho);
    take(exner, stretches, levels, to, |level| &mut level.exner);
    take(p, stretches, levels, to, |level| &mut level.p);
    take(dz, stretches, levels, to, |level| &mut level.dz);
}

fn store<R: Real, S: Wsm6Constants, const N: usize>(
    block: &mut Block<'_, R>,
    stretches: &[Stretch],
    columns: &ColumnBlock<S, N>,
    from: impl Fn(S) -> R + Copy,
) {
    let Block { tracers, air, surface, budget, .. } = block;
    let [theta, qv, qc, qr, qi, qs, qg] = &mut tracers[..] else {
        unreachable!("checked by the caller")
    };
    let [rho, _, _, dz] = &air[..] else { unreachable!("checked by the caller") };
    let [rain, rainncv, snow, snowncv, graupel, graupelncv, sr] = &mut surface[..] else {
        unreachable!("checked by the caller")
    };
    let levels = &columns.levels;
    if let Some(weighing) = budget.as_mut().and_then(|budget| budget.weighing.as_mut()) {
        // The fields still hold what they did before the call.
        let species = [&*qv, &*qc, &*qr, &*qi, &*qs, &*qg];
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
    give(qg, stretches, levels, from, |level| &level.cells.qg);
    for Stretch { j, columns: range, lane } in stretches {
        for (i, sum) in range.clone().zip(&columns.sums[*lane..]) {
            let (at, sum) = ([*j, i], sum.map(from));
            rain[at] += sum.rain;
            rainncv[at] = sum.rain;
            snow[at] += sum.snow;
            snowncv[at] = sum.snow;
            graupel[at] += sum.graupel;
            graupelncv[at] = sum.graupel;
            sr[at] = sum.sr;
            if let Some(budget) = budget {
                // A millimetre of water is a kilogram per square metre.
                budget.fallen[at] = sum.rain;
                budget.fall_residual[at] = sum.fall_residual;
                budget.clipped[at] = sum.clipped;
            }
        }
    }
}

/// Water of the six species of a cell, kg kg⁻¹.
fn total<R: Real>([qv, qc, qr, qi, qs, qg]: [R; 6]) -> R {
    water(&Wsm6Cell { t: R::ZERO, qv, qc, qr, qi, qs, qg })
}

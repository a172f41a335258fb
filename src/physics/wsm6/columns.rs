//! The scheme on columns side by side, whose number is a parameter: that of the SIMD lanes of a CPU, or one.
//!
//! [`ColumnBlock::call`] is the table of contents of the scheme: it calls the processes in order.

use std::hint::black_box;

use super::fall::Fall;
use super::level::{Cells, Level};
use super::params::Wsm6Constants;
use super::scheme::Scheme;
use super::shared::{minor_steps, theta_after};
use super::step::{Wsm6Precipitation, deposit};
use crate::simd::{Row, any, each};

/// Work space of `N` columns side by side, from the ground up.
#[derive(Clone, Debug)]
pub(super) struct ColumnBlock<R, const N: usize> {
    /// The levels.
    pub(super) levels: Vec<Level<R, N>>,
    /// Offset of the potential temperature, K.
    pub(super) theta_base: R,
    /// Precipitation and sums of the last call.
    pub(super) sums: [Wsm6Precipitation<R>; N],
    clipped: Row<R, N>,
    fall: Fall<R, N>,
}

impl<R: Wsm6Constants, const N: usize> ColumnBlock<R, N> {
    /// Work space of columns of `nz` layers, at least 4.
    pub(super) fn new(nz: usize) -> Self {
        Self {
            levels: vec![Level::new(); nz],
            theta_base: R::ZERO,
            sums: [Wsm6Precipitation::default(); N],
            clipped: [R::ZERO; N],
            fall: Fall::new(nz),
        }
    }

    /// Fills the unused lanes, from `count` on, with copies of the first column.
    pub(super) fn fill_unused_lanes(&mut self, count: usize) {
        for level in &mut self.levels {
            let Level { cells, theta, rho, p, dz, exner, .. } = level;
            let Cells { qv, qc, qr, qi, qs, qg, .. } = cells;
            for row in [theta, qv, qc, qr, qi, qs, qg, rho, p, dz, exner] {
                let first = row[0];
                row[count..].fill(first);
            }
        }
    }

    /// One call of the scheme: `dt` seconds, in minor steps of about two minutes at most.
    // With `black_box` one level at a time: otherwise the compiler would vectorise over levels, one lane of several, and
    // compute both sides of branches.
    #[inline(always)]
    pub(super) fn call(&mut self, p: &Scheme<R>, dt: R) {
        self.begin_call();
        let steps = minor_steps(dt);
        let dt_cloud = dt / steps;
        for _ in 0..steps.to_usize().unwrap_or(1) {
            self.minor_step(p, dt_cloud);
        }
        for level in self.levels.iter_mut().map(black_box) {
            let Level { cells: Cells { t, .. }, theta, exner, .. } = level;
            *theta = each(|l| theta_after(theta[l], self.theta_base, exner[l], t[l]));
        }
        for (l, sum) in self.sums.iter_mut().enumerate() {
            sum.clipped = self.clipped[l];
            sum.fall_residual = self.fall.residual[l];
        }
    }

    #[inline(always)]
    fn begin_call(&mut self) {
        self.sums = [Wsm6Precipitation::default(); N];
        self.clipped = [R::ZERO; N];
        for level in self.levels.iter_mut().map(black_box) {
            level.begin_call(self.theta_base, &mut self.clipped);
        }
        self.fall.begin_call(&self.levels);
    }

    /// One minor step: the processes of the scheme in their order.
    #[inline(always)]
    fn minor_step(&mut self, p: &Scheme<R>, dt_cloud: R) {
        let Self { levels, fall, clipped, sums, .. } = self;
        for level in levels.iter_mut().map(black_box) {
            level.start_step(p);
        }
        let rain = fall.rain(p, dt_cloud, levels, clipped);
        let [snow, graupel] = fall.snow_and_graupel(p, dt_cloud, levels, clipped);
        for level in levels.iter_mut() {
            level.melt(p, dt_cloud);
        }
        let ice = fall.ice(p, dt_cloud, levels, clipped);
        for (l, sum) in sums.iter_mut().enumerate() {
            let depth = levels[0].dz[l];
            deposit(dt_cloud, depth, rain[l], snow[l], graupel[l], ice[l], sum);
        }
        for level in levels.iter_mut() {
            // A single column branches in its cell.
            let made = if N == 1 || any::<N>(|l| level.is_active(l)) {
                level.process(p, dt_cloud)
            } else {
                level.condense(p, dt_cloud)
            };
            let sum = *clipped;
            *clipped = each(|l| sum[l] + level.rho[l] * level.dz[l] * made[l]);
        }
    }
}

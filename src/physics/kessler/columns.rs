//! The scheme on adjacent columns, whose number is a parameter: 1 for the reference, the number of SIMD lanes for
//! vector instructions. Formulas and order of operations are the same.
//!
//! Loops over the columns have no branch that depends on one of them.

use super::cell::{KesslerCell, processed};
use super::params::{KesslerConstants, KesslerFactors};
use super::sedimentation::{
    courant, density_factor, distance, fall_speed, flux, gained, number_of_substeps, passed,
    precipitation,
};
use crate::simd::{Row, any, each};

/// A level of the columns.
#[derive(Clone, Debug)]
pub struct Level<R, const N: usize> {
    /// Potential temperature less a base, K.
    pub theta: Row<R, N>,
    /// Vapour, kg kg⁻¹.
    pub qv: Row<R, N>,
    /// Cloud water, kg kg⁻¹.
    pub qc: Row<R, N>,
    /// Rain, kg kg⁻¹.
    pub qr: Row<R, N>,
    /// Density of dry air, kg m⁻³.
    pub rho: Row<R, N>,
    /// Exner function, 1.
    pub exner: Row<R, N>,
    /// Depth of the layer, m.
    pub dz: Row<R, N>,
    /// Rain during sedimentation, kg kg⁻¹.
    qr_falling: Row<R, N>,
    speed: Row<R, N>,
    density_factor: Row<R, N>,
    per_depth: Row<R, N>,
    per_mass: Row<R, N>,
}

impl<R: KesslerConstants, const N: usize> Level<R, N> {
    fn new() -> Self {
        let row = [R::ZERO; N];
        Self {
            theta: row,
            qv: row,
            qc: row,
            qr: row,
            rho: row,
            exner: row,
            dz: row,
            qr_falling: row,
            speed: row,
            density_factor: row,
            per_depth: row,
            per_mass: row,
        }
    }

    #[inline(always)]
    fn flux(&self) -> Row<R, N> {
        each(|l| flux(self.rho[l], self.qr_falling[l], self.speed[l]))
    }

    /// Sets the terminal velocity from the current rain.
    #[inline(always)]
    fn set_speed(&mut self, p: &KesslerFactors<R>) {
        let speed =
            each(|l| fall_speed(p, self.rho[l], self.density_factor[l], self.qr_falling[l]));
        self.speed = speed;
    }

    /// Conversion, saturation adjustment and evaporation in the cells, after sedimentation. Returns the water that
    /// clipping adds, kg m⁻².
    #[inline(always)]
    fn process(&mut self, p: &KesslerFactors<R>, dt: R, theta_base: R) -> Row<R, N> {
        let row = [R::ZERO; N];
        let (mut theta, mut qv, mut qc, mut qr, mut made) = (row, row, row, row, row);
        for l in 0..N {
            let cell = KesslerCell {
                theta: self.theta[l],
                qv: self.qv[l],
                qc: self.qc[l],
                qr: self.qr[l],
                made: R::ZERO,
            };
            let (rho, exner, qr_fallen) = (self.rho[l], self.exner[l], self.qr_falling[l]);
            let cell = processed(p, dt, theta_base, rho, exner, qr_fallen, &cell);
            theta[l] = cell.theta;
            qv[l] = cell.qv;
            qc[l] = cell.qc;
            qr[l] = cell.qr;
            made[l] = rho * self.dz[l] * cell.made;
        }
        (self.theta, self.qv, self.qc, self.qr) = (theta, qv, qc, qr);
        made
    }
}

/// `N` columns side by side, from the ground up.
#[derive(Clone, Debug)]
pub struct ColumnBlock<R, const N: usize> {
    /// The levels.
    pub levels: Vec<Level<R, N>>,
    /// Potential temperature minus `theta`, K.
    pub theta_base: R,
    /// Precipitation, mm; accumulated.
    pub rain: Row<R, N>,
    /// Precipitation of the last sub-step of a call, mm; set.
    pub rainncv: Row<R, N>,
    /// Water that has reached the ground in the last call, kg m⁻².
    pub fallen: Row<R, N>,
    /// Water that sedimentation has created in the last call, kg m⁻².
    pub fall_residual: Row<R, N>,
    /// Water that clipping at zero has added in the last call, kg m⁻².
    pub clipped: Row<R, N>,
    /// Number of sub-steps of the last call, 1.
    pub substeps: Row<R, N>,
}

/// Remaining sub-steps of the sedimentation. Columns that are done have none.
#[derive(Clone, Copy, Debug)]
struct SubStepsLeft<R, const N: usize> {
    /// Remaining sub-steps, including the current one; 0 at the end.
    left: Row<R, N>,
    /// Length of a sub-step, s.
    substep: Row<R, N>,
    /// Remaining time, s.
    time: Row<R, N>,
}

impl<R: KesslerConstants, const N: usize> ColumnBlock<R, N> {
    /// Work space of columns of `nz` layers, at least 2.
    pub fn new(nz: usize) -> Self {
        let row = [R::ZERO; N];
        Self {
            levels: vec![Level::new(); nz],
            theta_base: R::ZERO,
            rain: row,
            rainncv: row,
            fallen: row,
            fall_residual: row,
            clipped: row,
            substeps: row,
        }
    }

    /// Fills the unused lanes, from `count` on, with copies of the first column.
    pub(super) fn fill_unused_lanes(&mut self, count: usize) {
        for level in &mut self.levels {
            let Level { theta, qv, qc, qr, rho, exner, dz, .. } = level;
            for row in [theta, qv, qc, qr, rho, exner, dz] {
                let first = row[0];
                row[count..].fill(first);
            }
        }
    }

    /// One call of the scheme: `dt` seconds.
    #[inline(always)]
    pub fn call(&mut self, p: &KesslerFactors<R>, dt: R) {
        self.fall(p, dt);
        self.clipped = [R::ZERO; N];
        for level in &mut self.levels {
            let (sum, made) = (self.clipped, level.process(p, dt, self.theta_base));
            self.clipped = each(|l| sum[l] + made[l]);
        }
    }

    /// Sedimentation of rain.
    #[inline(always)]
    fn fall(&mut self, p: &KesslerFactors<R>, dt: R) {
        for level in &mut self.levels {
            level.qr_falling = level.qr;
        }
        (self.rainncv, self.fallen, self.fall_residual) =
            ([R::ZERO; N], [R::ZERO; N], [R::ZERO; N]);
        self.substeps = [R::ONE; N];
        // Layers above the highest one with rain in any of the columns do not change.
        let highest = self.levels.iter().rposition(|level| any::<N>(|l| level.qr[l] > R::ZERO));
        let Some(highest) = highest else { return };
        let reach = highest + 1;
        self.prepare(p, reach);
        let left = self.substeps_for(&[dt; N], reach);
        let mut remaining = SubStepsLeft { left, substep: each(|l| dt / left[l]), time: [dt; N] };
        self.substeps = [R::ZERO; N];
        while any::<N>(|l| remaining.left[l] != R::ZERO) {
            self.substep(p, &mut remaining, reach);
        }
        // A millimetre of water is a kilogram per square metre.
        self.fall_residual = self.fallen;
        for level in &self.levels[..reach] {
            let sum = self.fall_residual;
            self.fall_residual = each(|l| {
                sum[l] + gained(level.rho[l], level.dz[l], level.qr[l], level.qr_falling[l])
            });
        }
    }

    /// Sets the invariants of the sedimentation, and the first terminal velocities.
    #[inline(always)]
    fn prepare(&mut self, p: &KesslerFactors<R>, reach: usize) {
        let (rho_lowest, top) = (self.levels[0].rho, self.levels.len() - 1);
        for k in 0..reach {
            // For the uppermost layer, the distance to the layer above is taken to be that to the layer below.
            let lower = k.min(top - 1);
            let (dz, dz_above) = (self.levels[lower].dz, self.levels[lower + 1].dz);
            let level = &mut self.levels[k];
            let row = [R::ZERO; N];
            let (mut factor, mut per_depth, mut per_mass) = (row, row, row);
            for l in 0..N {
                factor[l] = density_factor(rho_lowest[l], level.rho[l]);
                per_depth[l] = R::ONE / level.dz[l];
                per_mass[l] = R::ONE / (distance(dz[l], dz_above[l]) * level.rho[l]);
            }
            (level.density_factor, level.per_depth, level.per_mass) = (factor, per_depth, per_mass);
            level.set_speed(p);
        }
    }

    /// Number of sub-steps for a time span, with the current terminal velocities.
    #[inline(always)]
    fn substeps_for(&self, span: &Row<R, N>, reach: usize) -> Row<R, N> {
        let mut largest = [R::ZERO; N];
        for level in &self.levels[..reach] {
            let most = largest;
            largest =
                each(|l| courant(level.speed[l], span[l], level.per_depth[l]).larger(most[l]));
        }
        each(|l| number_of_substeps(largest[l]))
    }

    /// One sub-step of the columns that are not done.
    #[inline(always)]
    fn substep(&mut self, p: &KesslerFactors<R>, remaining: &mut SubStepsLeft<R, N>, reach: usize) {
        let SubStepsLeft { left, substep, time } = *remaining;
        let is_falling = |l: usize| left[l] != R::ZERO;
        let time: Row<R, N> = each(|l| time[l] - substep[l]);
        let mut flux = self.levels[0].flux();
        let fallen: Row<R, N> = each(|l| precipitation(flux[l], substep[l]));
        let (rain, rainncv, substeps) = (self.rain, self.rainncv, self.substeps);
        let sum = self.fallen;
        self.fallen = each(|l| if is_falling(l) { sum[l] + fallen[l] } else { sum[l] });
        self.rainncv = each(|l| if is_falling(l) { fallen[l] } else { rainncv[l] });
        self.rain = each(|l| if is_falling(l) { rain[l] + fallen[l] } else { rain[l] });
        self.substeps = each(|l| if is_falling(l) { substeps[l] + R::ONE } else { substeps[l] });
        // NaN as the number of sub-steps leaves none.
        let left: Row<R, N> = each(|l| if left[l] > R::ONE { left[l] - R::ONE } else { R::ZERO });
        let goes_on = any::<N>(|l| left[l] != R::ZERO);
        for k in 0..reach {
            let above = if k + 1 < reach { self.levels[k + 1].flux() } else { [R::ZERO; N] };
            let level = &mut self.levels[k];
            let qr = level.qr_falling;
            level.qr_falling = each(|l| {
                let passed = passed(qr[l], substep[l], level.per_mass[l], flux[l], above[l]);
                if is_falling(l) { passed } else { qr[l] }
            });
            flux = above;
            if goes_on {
                level.set_speed(p);
            }
        }
        let needed = if goes_on { self.substeps_for(&time, reach) } else { left };
        // While their number is the expected one, sub-steps keep their length.
        let is_other = |l: usize| left[l] != R::ZERO && needed[l] != left[l];
        *remaining = SubStepsLeft {
            left: each(|l| if is_other(l) { needed[l] } else { left[l] }),
            substep: each(|l| if is_other(l) { time[l] / needed[l] } else { substep[l] }),
            time,
        };
    }
}

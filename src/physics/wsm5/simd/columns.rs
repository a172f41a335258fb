//! The scheme on columns side by side, whose number is a parameter: that of the SIMD lanes of a CPU, or one.
//!
//! [`ColumnBlock::call`] is the table of contents of the scheme: it calls the processes in order. This file has only the
//! loops over adjacent columns. They hold no branch that depends on one column alone: all columns of a row are
//! computed, and rows in which no column is active are skipped.
#![expect(clippy::needless_range_loop, reason = "one index for all rows of a level")]

use std::hint::black_box;

use crate::physics::wsm5::cell::water;
use crate::physics::wsm5::fields::theta_after;
use crate::physics::wsm5::params::SchemeConstants;
use crate::physics::wsm5::scheme::Scheme;
use crate::physics::wsm5::sedimentation_work::SedimentationWork;
use crate::physics::wsm5::slope::{
    fall_speed_ice, fall_speed_rain, fall_speed_snow, ice_number, snow_intercept_factor,
};
use crate::physics::wsm5::{
    Air, Cell, Precipitation, StepStart, cell, melt, minor_steps, sedimentation, step,
};
use crate::simd::{Row, any, each};

/// Sedimentation in a variant of the scheme, with its work space.
pub(in crate::physics::wsm5) trait SedimentationScheme<R, const N: usize> {
    /// Sedimentation and melting of snow in a minor step of `dt_cloud` seconds.
    ///
    /// Returns the precipitation as rain, snow and ice at the ground, kg m⁻².
    fn sediment(
        &mut self,
        p: &Scheme<R>,
        dt_cloud: R,
        columns: &mut ColumnBlock<R, N>,
    ) -> [Row<R, N>; 3];
}

/// Semi-Lagrangian sedimentation ([`SedimentationWork`]).
pub(in crate::physics::wsm5) struct SemiLagrangian;

impl<R: SchemeConstants, const N: usize> SedimentationScheme<R, N> for SemiLagrangian {
    #[inline(always)]
    fn sediment(
        &mut self,
        p: &Scheme<R>,
        dt_cloud: R,
        columns: &mut ColumnBlock<R, N>,
    ) -> [Row<R, N>; 3] {
        let rain = columns.fall_rain(p, dt_cloud);
        let snow = columns.fall_snow(p, dt_cloud);
        for level in &mut columns.levels {
            level.qr_for_slope = level.cells.qr;
            if any::<N>(|l| level.cells.t[l] > R::FREEZING && level.cells.qs[l] > R::ZERO) {
                level.melt_snow(p, dt_cloud);
            }
        }
        let ice = columns.fall_ice(p, dt_cloud);
        [rain, snow, ice]
    }
}

/// Contents of the cells of a level.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(in crate::physics::wsm5) struct Cells<R, const N: usize> {
    /// Temperature, K.
    pub(in crate::physics::wsm5) t: Row<R, N>,
    /// Vapour, kg kg⁻¹.
    pub(in crate::physics::wsm5) qv: Row<R, N>,
    /// Cloud water, kg kg⁻¹.
    pub(in crate::physics::wsm5) qc: Row<R, N>,
    /// Rain, kg kg⁻¹.
    pub(in crate::physics::wsm5) qr: Row<R, N>,
    /// Cloud ice, kg kg⁻¹.
    pub(in crate::physics::wsm5) qi: Row<R, N>,
    /// Snow, kg kg⁻¹.
    pub(in crate::physics::wsm5) qs: Row<R, N>,
}

impl<R: SchemeConstants, const N: usize> Cells<R, N> {
    #[inline(always)]
    fn new() -> Self {
        let row = [R::ZERO; N];
        Self { t: row, qv: row, qc: row, qr: row, qi: row, qs: row }
    }

    #[inline(always)]
    pub(in crate::physics::wsm5) fn at(&self, l: usize) -> Cell<R> {
        Cell {
            t: self.t[l],
            qv: self.qv[l],
            qc: self.qc[l],
            qr: self.qr[l],
            qi: self.qi[l],
            qs: self.qs[l],
        }
    }

    #[inline(always)]
    pub(in crate::physics::wsm5) fn put(&mut self, l: usize, cell: &Cell<R>) {
        self.t[l] = cell.t;
        self.qv[l] = cell.qv;
        self.qc[l] = cell.qc;
        self.qr[l] = cell.qr;
        self.qi[l] = cell.qi;
        self.qs[l] = cell.qs;
    }
}

/// A level of the columns.
#[derive(Clone, Debug)]
pub(in crate::physics::wsm5) struct Level<R, const N: usize> {
    /// Contents of its cells.
    pub(in crate::physics::wsm5) cells: Cells<R, N>,
    /// Potential temperature less a base, before and after a call, K.
    pub(in crate::physics::wsm5) theta: Row<R, N>,
    /// Density of dry air, kg m⁻³.
    pub(in crate::physics::wsm5) rho: Row<R, N>,
    /// Pressure, Pa.
    pub(in crate::physics::wsm5) p: Row<R, N>,
    /// Depth of the layer, m.
    pub(in crate::physics::wsm5) dz: Row<R, N>,
    /// Exner function, 1.
    pub(in crate::physics::wsm5) exner: Row<R, N>,
    density_factor: Row<R, N>,
    heat_capacity: Row<R, N>,
    latent_heat: Row<R, N>,
    t_onset: Row<R, N>,
    qsw: Row<R, N>,
    qsi: Row<R, N>,
    /// Rain content whose drop size sets the freezing rate, kg kg⁻¹.
    pub(in crate::physics::wsm5) qr_for_slope: Row<R, N>,
    n0s_factor: Row<R, N>,
}

impl<R: SchemeConstants, const N: usize> Level<R, N> {
    fn new() -> Self {
        let row = [R::ZERO; N];
        Self {
            cells: Cells::new(),
            theta: row,
            rho: row,
            p: row,
            dz: row,
            exner: row,
            density_factor: row,
            heat_capacity: row,
            latent_heat: row,
            t_onset: row,
            qsw: row,
            qsi: row,
            qr_for_slope: row,
            n0s_factor: row,
        }
    }

    #[inline(always)]
    pub(in crate::physics::wsm5) fn air(&self, l: usize) -> Air<R> {
        Air {
            rho: self.rho[l],
            p: self.p[l],
            dz: self.dz[l],
            density_factor: self.density_factor[l],
            heat_capacity: self.heat_capacity[l],
            latent_heat: self.latent_heat[l],
        }
    }

    #[inline(always)]
    fn step_start(&self, l: usize) -> StepStart<R> {
        StepStart { t: self.t_onset[l], qsw: self.qsw[l], qsi: self.qsi[l] }
    }

    /// Returns `true` if anything but condensation can act in a column.
    #[inline(always)]
    fn is_active(&self, l: usize) -> bool {
        let cell = self.cells.at(l);
        !cell::is_clear(&cell) || cell.t < R::FREEZING && cell.qv > self.qsi[l]
    }

    /// The processes in the cells after sedimentation.
    ///
    /// Most levels hold ice and snow, but no rain in any column. With `RAIN` false the compiler removes the code for
    /// rain, since the rain is the constant zero.
    ///
    /// Returns the water that clipping at zero adds, kg kg⁻¹.
    // One loop each around inlined code in `process`, `condense` and `melt_snow`: a closure might not be inlined.
    #[inline(always)]
    fn process<const RAIN: bool>(&mut self, p: &Scheme<R>, dt_cloud: R) -> Row<R, N> {
        let (mut cells, mut clipped) = (Cells::new(), [R::ZERO; N]);
        for l in 0..N {
            let (air, step_start, mut cell) = (self.air(l), self.step_start(l), self.cells.at(l));
            let mut qr_for_slope = self.qr_for_slope[l];
            if !RAIN {
                (cell.qr, qr_for_slope) = (R::ZERO, R::ZERO);
            }
            clipped[l] = step::processes(p, dt_cloud, &air, &step_start, qr_for_slope, &mut cell);
            cells.put(l, &cell);
        }
        self.cells = cells;
        clipped
    }

    /// The same in cells without condensate, in which only condensation can act. Returns the water that clipping at
    /// zero adds, kg kg⁻¹.
    #[inline(always)]
    fn condense(&mut self, p: &Scheme<R>, dt_cloud: R) -> Row<R, N> {
        let (mut cells, mut clipped) = (Cells::new(), [R::ZERO; N]);
        for l in 0..N {
            let (air, step_start, mut cell) = (self.air(l), self.step_start(l), self.cells.at(l));
            clipped[l] = melt::condense(p, dt_cloud, &air, &step_start, &mut cell);
            cells.put(l, &cell);
        }
        self.cells = cells;
        clipped
    }

    /// Melts snow.
    #[inline(always)]
    fn melt_snow(&mut self, p: &Scheme<R>, dt_cloud: R) {
        let mut cells = Cells::new();
        for l in 0..N {
            let mut cell = self.cells.at(l);
            melt::melt_snow(p, dt_cloud, &self.air(l), &mut cell);
            cells.put(l, &cell);
        }
        self.cells = cells;
    }

    /// Clips negative condensate and sets the invariants of the call.
    ///
    /// Adds the water that clipping creates to `clipped`, kg m⁻².
    #[inline(always)]
    fn begin_call(&mut self, theta_base: R, clipped: &mut Row<R, N>) {
        let (mut cells, mut sum) = (Cells::new(), *clipped);
        let row = [R::ZERO; N];
        let (mut density_factor, mut heat_capacity, mut latent_heat) = (row, row, row);
        for l in 0..N {
            let (mut air, mut cell) = (self.air(l), self.cells.at(l));
            cell.t = (self.theta[l] + theta_base) * self.exner[l];
            for q in [&mut cell.qc, &mut cell.qr, &mut cell.qi, &mut cell.qs] {
                sum[l] += step::clip(&air, q);
                // Files hold subnormal traces of species that have long vanished.
                *q = q.normal_in_lanes();
            }
            // The limits of the processes would hide NaN and infinity in a species; in the temperature NaN remains.
            cell.t += water(&cell) * R::ZERO;
            cell::set_call_invariants(&cell, &mut air);
            cells.put(l, &cell);
            density_factor[l] = air.density_factor;
            heat_capacity[l] = air.heat_capacity;
            latent_heat[l] = air.latent_heat;
        }
        (self.cells, *clipped) = (cells, sum);
        (self.density_factor, self.heat_capacity) = (density_factor, heat_capacity);
        self.latent_heat = latent_heat;
    }
}

/// Work space of `N` columns side by side, from the ground up.
#[derive(Clone, Debug)]
pub(in crate::physics::wsm5) struct ColumnBlock<R, const N: usize> {
    /// The levels.
    pub(in crate::physics::wsm5) levels: Vec<Level<R, N>>,
    /// Offset of a potential temperature, K.
    pub(in crate::physics::wsm5) theta_base: R,
    /// Precipitation and sums of the call.
    pub(in crate::physics::wsm5) sums: [Precipitation<R>; N],
    clipped: Row<R, N>,
    residual: Row<R, N>,
    fall: SedimentationWork<R, N>,
}

impl<R: SchemeConstants, const N: usize> ColumnBlock<R, N> {
    /// Work space of columns of `nz` layers.
    pub(in crate::physics::wsm5) fn new(nz: usize) -> Self {
        Self {
            levels: vec![Level::new(); nz],
            theta_base: R::ZERO,
            sums: [Precipitation::default(); N],
            clipped: [R::ZERO; N],
            residual: [R::ZERO; N],
            fall: SedimentationWork::new(nz),
        }
    }

    /// Fills the unused lanes, from `count` on, with copies of the first column.
    pub(in crate::physics::wsm5) fn fill_unused_lanes(&mut self, count: usize) {
        for level in &mut self.levels {
            let Level { cells: Cells { qv, qc, qr, qi, qs, .. }, theta, rho, p, dz, exner, .. } =
                level;
            for row in [theta, qv, qc, qr, qi, qs, rho, p, dz, exner] {
                let first = row[0];
                row[count..].fill(first);
            }
        }
    }

    /// One call of the scheme: `dt` seconds, in minor steps of about two minutes at most.
    // With `black_box` one level at a time: otherwise the compiler would vectorise over levels, one lane of several, and
    // compute both sides of branches.
    #[inline(always)]
    pub(in crate::physics::wsm5) fn call(
        &mut self,
        p: &Scheme<R>,
        dt: R,
        sedimentation: &mut impl SedimentationScheme<R, N>,
    ) {
        self.begin_call();
        let steps = minor_steps(dt);
        let dt_cloud = dt / steps;
        for _ in 0..steps.to_usize().unwrap_or(1) {
            self.minor_step(p, dt_cloud, sedimentation);
        }
        for level in self.levels.iter_mut().map(black_box) {
            let Level { cells: Cells { t, .. }, theta, exner, .. } = level;
            *theta = each(|l| theta_after(theta[l], self.theta_base, exner[l], t[l]));
        }
        for (l, sum) in self.sums.iter_mut().enumerate() {
            sum.clipped = self.clipped[l];
            sum.fall_residual = self.residual[l];
        }
    }

    /// Clips negative condensate and sets the invariants of the call.
    #[inline(always)]
    fn begin_call(&mut self) {
        self.sums = [Precipitation::default(); N];
        self.clipped = [R::ZERO; N];
        self.residual = [R::ZERO; N];
        for level in self.levels.iter_mut().map(black_box) {
            level.begin_call(self.theta_base, &mut self.clipped);
        }
        self.fall.set_depths(self.levels.iter().map(|level| &level.dz));
    }

    /// One minor step: the processes of the scheme in their order.
    #[inline(always)]
    fn minor_step(
        &mut self,
        p: &Scheme<R>,
        dt_cloud: R,
        sedimentation: &mut impl SedimentationScheme<R, N>,
    ) {
        for level in self.levels.iter_mut().map(black_box) {
            let (mut qsw, mut qsi) = ([R::ZERO; N], [R::ZERO; N]);
            for l in 0..N {
                let step_start = cell::step_start(p, &level.air(l), &level.cells.at(l));
                qsw[l] = step_start.qsw;
                qsi[l] = step_start.qsi;
            }
            (level.t_onset, level.qsw, level.qsi) = (level.cells.t, qsw, qsi);
        }
        let [rain, snow, ice] = sedimentation.sediment(p, dt_cloud, self);
        for (l, sum) in self.sums.iter_mut().enumerate() {
            step::deposit(dt_cloud, self.levels[0].dz[l], rain[l], snow[l], ice[l], sum);
        }
        for level in &mut self.levels {
            // A single column branches in each cell.
            let clipped = if N == 1 || any::<N>(|l| level.cells.qr[l] > R::ZERO) {
                level.process::<true>(p, dt_cloud)
            } else if any::<N>(|l| level.is_active(l)) {
                level.process::<false>(p, dt_cloud)
            } else {
                level.condense(p, dt_cloud)
            };
            let sum = self.clipped;
            self.clipped = each(|l| sum[l] + level.rho[l] * level.dz[l] * clipped[l]);
        }
    }

    #[inline(always)]
    fn fall_rain(&mut self, p: &Scheme<R>, dt_cloud: R) -> Row<R, N> {
        let Self { levels, fall, clipped, residual, .. } = self;
        let active_layers = active_layers(levels, |cells| &cells.qr);
        if active_layers == 0 {
            return [R::ZERO; N];
        }
        let levels = &mut levels[..active_layers];
        let speed = |level: &Level<R, N>, l: usize, qr: R| {
            p.factors.fall_rain * fall_speed_rain(p, level.rho[l], level.density_factor[l], qr)
        };
        for (k, level) in levels.iter().enumerate() {
            fall.depart(k, |l| {
                (level.rho[l] * level.cells.qr[l], speed(level, l, level.cells.qr[l]))
            });
        }
        fall.arrive_at_speed(dt_cloud, active_layers);
        for (k, level) in levels.iter().enumerate() {
            fall.slow_down(k, |l, content| speed(level, l, content / level.rho[l]));
        }
        let ground = fall.arrive_and_land(dt_cloud, active_layers, residual);
        for (k, level) in levels.iter_mut().enumerate() {
            store_content(level, &fall.content[k], |cells| &mut cells.qr, clipped);
        }
        ground
    }

    #[inline(always)]
    fn fall_snow(&mut self, p: &Scheme<R>, dt_cloud: R) -> Row<R, N> {
        let Self { levels, fall, clipped, residual, .. } = self;
        let active_layers = active_layers(levels, |cells| &cells.qs);
        if active_layers == 0 {
            return [R::ZERO; N];
        }
        let levels = &mut levels[..active_layers];
        let speed = |level: &Level<R, N>, l: usize, qs: R| {
            let (rho, density_factor) = (level.rho[l], level.density_factor[l]);
            p.factors.fall_snow * fall_speed_snow(p, rho, density_factor, qs, level.n0s_factor[l])
        };
        for (k, level) in levels.iter_mut().map(black_box).enumerate() {
            level.n0s_factor = each(|l| snow_intercept_factor(p, level.cells.t[l]));
            fall.depart(k, |l| {
                (level.rho[l] * level.cells.qs[l], speed(level, l, level.cells.qs[l]))
            });
        }
        fall.arrive_at_speed(dt_cloud, active_layers);
        for (k, level) in levels.iter().enumerate() {
            fall.slow_down(k, |l, content| speed(level, l, content / level.rho[l]));
        }
        let ground = fall.arrive_and_land(dt_cloud, active_layers, residual);
        for (k, level) in levels.iter_mut().enumerate() {
            store_content(level, &fall.content[k], |cells| &mut cells.qs, clipped);
        }
        ground
    }

    #[inline(always)]
    fn fall_ice(&mut self, p: &Scheme<R>, dt_cloud: R) -> Row<R, N> {
        let Self { levels, fall, clipped, residual, .. } = self;
        let active_layers = active_layers(levels, |cells| &cells.qi);
        if active_layers == 0 {
            return [R::ZERO; N];
        }
        let levels = &mut levels[..active_layers];
        for (k, level) in levels.iter().enumerate() {
            fall.depart(k, |l| {
                let (rho, qi) = (level.rho[l], level.cells.qi[l]);
                let speed = p.factors.fall_ice * fall_speed_ice(p, rho, qi, ice_number(rho, qi));
                (rho * qi, speed)
            });
        }
        let ground = fall.arrive_and_land(dt_cloud, active_layers, residual);
        for (k, level) in levels.iter_mut().enumerate() {
            store_content(level, &fall.content[k], |cells| &mut cells.qi, clipped);
        }
        ground
    }
}

/// Number of layers that take part in the sedimentation of a species in any column; 0 if it is absent from all.
#[inline(always)]
fn active_layers<R: SchemeConstants, const N: usize>(
    levels: &[Level<R, N>],
    species: impl Fn(&Cells<R, N>) -> &Row<R, N>,
) -> usize {
    let highest = levels.iter().rposition(|level| any::<N>(|l| species(&level.cells)[l] > R::ZERO));
    highest.map_or(0, |k| sedimentation::active_layers(k, levels.len()))
}

/// Stores the content after sedimentation in the cells; adds the water that clipping creates to `clipped`, kg m⁻².
#[inline(always)]
fn store_content<R: SchemeConstants, const N: usize>(
    level: &mut Level<R, N>,
    content: &Row<R, N>,
    species: impl Fn(&mut Cells<R, N>) -> &mut Row<R, N>,
    clipped: &mut Row<R, N>,
) {
    let (mut q, mut made) = ([R::ZERO; N], [R::ZERO; N]);
    for l in 0..N {
        made[l] = clipped[l] + sedimentation::store_content(&level.air(l), content[l], &mut q[l]);
    }
    *species(&mut level.cells) = q;
    *clipped = made;
}

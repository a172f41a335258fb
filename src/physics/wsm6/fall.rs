//! Semi-Lagrangian sedimentation (JH10) of columns side by side: rain, snow with graupel, ice.
//!
//! The operator is WSM5's. Snow and graupel depart with their common terminal velocity, so that their layers arrive at
//! the same heights; each is remapped by itself.

use std::hint::black_box;

use super::level::{Cells, Level};
use super::params::Wsm6Constants;
use super::scheme::Scheme;
use super::shared::sedimentation::{active_layers, store_content};
use super::shared::sedimentation_work::SedimentationWork;
use super::shared::slope::{fall_speed_ice, fall_speed_rain, ice_number, snow_intercept_factor};
use super::slope::fall_speed_snow_graupel;
use crate::simd::{Row, any, each};

/// Work space of the sedimentation in `N` columns.
#[derive(Clone, Debug)]
pub(super) struct Fall<R, const N: usize> {
    /// Of rain, of snow, of ice.
    first: SedimentationWork<R, N>,
    /// Of graupel.
    graupel: SedimentationWork<R, N>,
    /// Water that sedimentation has created in the call, kg m⁻².
    pub(super) residual: Row<R, N>,
}

impl<R: Wsm6Constants, const N: usize> Fall<R, N> {
    pub(super) fn new(nz: usize) -> Self {
        Self {
            first: SedimentationWork::new(nz),
            graupel: SedimentationWork::new(nz),
            residual: [R::ZERO; N],
        }
    }

    #[inline(always)]
    pub(super) fn begin_call(&mut self, levels: &[Level<R, N>]) {
        self.residual = [R::ZERO; N];
        for work in [&mut self.first, &mut self.graupel] {
            work.set_depths(levels.iter().map(|level| &level.dz));
        }
    }

    /// Sedimentation of rain. Adds the water that clipping creates to `clipped`; returns the precipitation at the ground,
    /// both in kg m⁻².
    #[inline(always)]
    pub(super) fn rain(
        &mut self,
        p: &Scheme<R>,
        dt_cloud: R,
        levels: &mut [Level<R, N>],
        clipped: &mut Row<R, N>,
    ) -> Row<R, N> {
        let Self { first: fall, residual, .. } = self;
        let active_layers = layers_below(levels, |cells, l| cells.qr[l] > R::ZERO);
        if active_layers == 0 {
            return [R::ZERO; N];
        }
        let levels = &mut levels[..active_layers];
        let speed = |level: &Level<R, N>, l: usize, qr: R| {
            let (rho, density_factor) = (level.rho[l], level.density_factor[l]);
            p.factors.fall_rain * fall_speed_rain(&p.common, rho, density_factor, qr)
        };
        for (k, level) in levels.iter().enumerate() {
            let qr = &level.cells.qr;
            fall.depart(k, |l| (level.rho[l] * qr[l], speed(level, l, qr[l])));
        }
        fall.arrive_at_speed(dt_cloud, active_layers);
        for (k, level) in levels.iter().enumerate() {
            fall.slow_down(k, |l, content| speed(level, l, content / level.rho[l]));
        }
        let ground = fall.arrive_and_land(dt_cloud, active_layers, residual);
        for (k, level) in levels.iter_mut().enumerate() {
            store(level, &fall.content[k], |cells| &mut cells.qr, clipped);
        }
        ground
    }

    /// Sedimentation of snow and graupel, as of [`Self::rain`] of each.
    #[inline(always)]
    pub(super) fn snow_and_graupel(
        &mut self,
        p: &Scheme<R>,
        dt_cloud: R,
        levels: &mut [Level<R, N>],
        clipped: &mut Row<R, N>,
    ) -> [Row<R, N>; 2] {
        let Self { first: snow, graupel, residual } = self;
        let holds = |cells: &Cells<R, N>, l: usize| cells.qs[l] > R::ZERO || cells.qg[l] > R::ZERO;
        let active_layers = layers_below(levels, holds);
        if active_layers == 0 {
            return [[R::ZERO; N]; 2];
        }
        let levels = &mut levels[..active_layers];
        for (k, level) in levels.iter_mut().map(black_box).enumerate() {
            level.n0s_factor = each(|l| snow_intercept_factor(&p.common, level.cells.t[l]));
            let (rho, Cells { qs, qg, .. }) = (&level.rho, &level.cells);
            let common = common_speeds(p, level, qs, qg);
            snow.depart(k, |l| (rho[l] * qs[l], common[l]));
            graupel.depart(k, |l| (rho[l] * qg[l], common[l]));
        }
        snow.arrive_at_speed(dt_cloud, active_layers);
        graupel.arrive_at_speed(dt_cloud, active_layers);
        for (k, level) in levels.iter().enumerate() {
            let rho = &level.rho;
            let qs = each(|l| snow.density[k][l] / rho[l]);
            let qg = each(|l| graupel.density[k][l] / rho[l]);
            let common = common_speeds(p, level, &qs, &qg);
            snow.slow_down(k, |l, _| common[l]);
            graupel.slow_down(k, |l, _| common[l]);
        }
        let ground = [
            snow.arrive_and_land(dt_cloud, active_layers, residual),
            graupel.arrive_and_land(dt_cloud, active_layers, residual),
        ];
        for (k, level) in levels.iter_mut().enumerate() {
            store(level, &snow.content[k], |cells| &mut cells.qs, clipped);
            store(level, &graupel.content[k], |cells| &mut cells.qg, clipped);
        }
        ground
    }

    /// Sedimentation of ice, as [`Self::rain`], at the terminal velocity of departure.
    #[inline(always)]
    pub(super) fn ice(
        &mut self,
        p: &Scheme<R>,
        dt_cloud: R,
        levels: &mut [Level<R, N>],
        clipped: &mut Row<R, N>,
    ) -> Row<R, N> {
        let Self { first: fall, residual, .. } = self;
        let active_layers = layers_below(levels, |cells, l| cells.qi[l] > R::ZERO);
        if active_layers == 0 {
            return [R::ZERO; N];
        }
        let levels = &mut levels[..active_layers];
        for (k, level) in levels.iter().enumerate() {
            fall.depart(k, |l| {
                let (rho, qi) = (level.rho[l], level.cells.qi[l]);
                let speed = fall_speed_ice(&p.common, rho, qi, ice_number(rho, qi));
                (rho * qi, p.factors.fall_ice * speed)
            });
        }
        let ground = fall.arrive_and_land(dt_cloud, active_layers, residual);
        for (k, level) in levels.iter_mut().enumerate() {
            store(level, &fall.content[k], |cells| &mut cells.qi, clipped);
        }
        ground
    }
}

/// Common terminal velocities of snow and graupel at these mixing ratios, in the air of a level.
// A loop around inlined code: a closure might not be inlined.
#[inline(always)]
fn common_speeds<R: Wsm6Constants, const N: usize>(
    p: &Scheme<R>,
    level: &Level<R, N>,
    qs: &Row<R, N>,
    qg: &Row<R, N>,
) -> Row<R, N> {
    let Level { rho, density_factor, n0s_factor, .. } = level;
    let mut speeds = [R::ZERO; N];
    for l in 0..N {
        let (qs, qg) = (qs[l], qg[l]);
        let speed = fall_speed_snow_graupel(p, rho[l], density_factor[l], n0s_factor[l], qs, qg);
        speeds[l] = p.factors.fall_rimed * speed;
    }
    speeds
}

/// Number of layers that take part in the sedimentation of a species in any column; 0 if no cell `holds` any.
#[inline(always)]
fn layers_below<R: Wsm6Constants, const N: usize>(
    levels: &[Level<R, N>],
    holds: impl Fn(&Cells<R, N>, usize) -> bool,
) -> usize {
    let highest = levels.iter().rposition(|level| any::<N>(|l| holds(&level.cells, l)));
    highest.map_or(0, |k| active_layers(k, levels.len()))
}

/// Stores the content after sedimentation in the cells; adds the water that clipping creates to `clipped`, kg m⁻².
#[inline(always)]
fn store<R: Wsm6Constants, const N: usize>(
    level: &mut Level<R, N>,
    content: &Row<R, N>,
    species: impl Fn(&mut Cells<R, N>) -> &mut Row<R, N>,
    clipped: &mut Row<R, N>,
) {
    let (mut q, mut made) = ([R::ZERO; N], [R::ZERO; N]);
    for l in 0..N {
        made[l] = clipped[l] + store_content(&level.air(l), content[l], &mut q[l]);
    }
    *species(&mut level.cells) = q;
    *clipped = made;
}

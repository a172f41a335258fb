//! A level of columns side by side, and the processes in its cells.
//!
//! The loops over adjacent columns hold no branch that depends on one column alone: all columns of a row are computed,
//! and rows in which no column is active are skipped.
#![expect(clippy::needless_range_loop, reason = "one index for all rows of a level")]

use super::cell::{Wsm6Cell, is_clear, water, without_graupel};
use super::params::Wsm6Constants;
use super::scheme::Scheme;
use super::shared::{Air, StepStart};
use super::{melt, shared, step};
use crate::simd::{Row, any, each};

/// Contents of the cells of a level.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Cells<R, const N: usize> {
    /// Temperature, K.
    pub(super) t: Row<R, N>,
    /// Vapour, kg kg⁻¹.
    pub(super) qv: Row<R, N>,
    /// Cloud water, kg kg⁻¹.
    pub(super) qc: Row<R, N>,
    /// Rain, kg kg⁻¹.
    pub(super) qr: Row<R, N>,
    /// Cloud ice, kg kg⁻¹.
    pub(super) qi: Row<R, N>,
    /// Snow, kg kg⁻¹.
    pub(super) qs: Row<R, N>,
    /// Graupel, kg kg⁻¹.
    pub(super) qg: Row<R, N>,
}

impl<R: Wsm6Constants, const N: usize> Cells<R, N> {
    #[inline(always)]
    fn new() -> Self {
        let row = [R::ZERO; N];
        Self { t: row, qv: row, qc: row, qr: row, qi: row, qs: row, qg: row }
    }

    /// The cell of a column.
    #[inline(always)]
    pub(super) fn at(&self, l: usize) -> Wsm6Cell<R> {
        Wsm6Cell {
            t: self.t[l],
            qv: self.qv[l],
            qc: self.qc[l],
            qr: self.qr[l],
            qi: self.qi[l],
            qs: self.qs[l],
            qg: self.qg[l],
        }
    }

    /// Sets the cell of a column.
    #[inline(always)]
    pub(super) fn put(&mut self, l: usize, cell: &Wsm6Cell<R>) {
        self.t[l] = cell.t;
        self.qv[l] = cell.qv;
        self.qc[l] = cell.qc;
        self.qr[l] = cell.qr;
        self.qi[l] = cell.qi;
        self.qs[l] = cell.qs;
        self.qg[l] = cell.qg;
    }
}

/// A level of the columns.
#[derive(Clone, Debug)]
pub(super) struct Level<R, const N: usize> {
    /// Contents of its cells.
    pub(super) cells: Cells<R, N>,
    /// Potential temperature less a base, before and after a call, K.
    pub(super) theta: Row<R, N>,
    /// Density of dry air, kg m⁻³.
    pub(super) rho: Row<R, N>,
    /// Pressure, Pa.
    pub(super) p: Row<R, N>,
    /// Depth of the layer, m.
    pub(super) dz: Row<R, N>,
    /// Exner function, 1.
    pub(super) exner: Row<R, N>,
    /// √(rho0 / rho), 1.
    pub(super) density_factor: Row<R, N>,
    heat_capacity: Row<R, N>,
    latent_heat: Row<R, N>,
    t_start: Row<R, N>,
    qsw: Row<R, N>,
    qsi: Row<R, N>,
    qr_for_slope: Row<R, N>,
    /// Factor of the snow intercept during sedimentation, 1.
    pub(super) n0s_factor: Row<R, N>,
}

impl<R: Wsm6Constants, const N: usize> Level<R, N> {
    pub(super) fn new() -> Self {
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
            t_start: row,
            qsw: row,
            qsi: row,
            qr_for_slope: row,
            n0s_factor: row,
        }
    }

    /// The air of a column.
    #[inline(always)]
    pub(super) fn air(&self, l: usize) -> Air<R> {
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
        StepStart { t: self.t_start[l], qsw: self.qsw[l], qsi: self.qsi[l] }
    }

    /// Sets temperature and saturation at the start of a minor step.
    #[inline(always)]
    pub(super) fn start_step(&mut self, p: &Scheme<R>) {
        let (mut qsw, mut qsi) = ([R::ZERO; N], [R::ZERO; N]);
        for l in 0..N {
            let cell = without_graupel(&self.cells.at(l));
            let start = shared::cell::step_start(&p.common, &self.air(l), &cell);
            qsw[l] = start.qsw;
            qsi[l] = start.qsi;
        }
        (self.t_start, self.qsw, self.qsi) = (self.cells.t, qsw, qsi);
    }

    /// Returns `true` if anything but condensation can act in a column.
    #[inline(always)]
    pub(super) fn is_active(&self, l: usize) -> bool {
        let cell = self.cells.at(l);
        !is_clear(&cell) || cell.t < R::FREEZING && cell.qv > self.qsi[l]
    }

    /// The processes in the cells after sedimentation and melting. Returns the water that clipping at zero adds,
    /// kg kg⁻¹.
    // One loop each around inlined code here and below: a closure might not be inlined.
    #[inline(always)]
    pub(super) fn process(&mut self, p: &Scheme<R>, dt_cloud: R) -> Row<R, N> {
        let mut cells = Cells::new();
        for l in 0..N {
            let mut cell = self.cells.at(l);
            melt::adjust_phase(p, dt_cloud, &self.air(l), self.qr_for_slope[l], &mut cell);
            cells.put(l, &cell);
        }
        self.cells = cells;
        let (mut cells, mut clipped) = (Cells::new(), [R::ZERO; N]);
        for l in 0..N {
            let (air, start, mut cell) = (self.air(l), self.step_start(l), self.cells.at(l));
            clipped[l] = step::apply_rates(p, dt_cloud, &air, &start, &mut cell);
            cells.put(l, &cell);
        }
        self.cells = cells;
        let condensed = self.condense(p, dt_cloud);
        each(|l| clipped[l] + condensed[l])
    }

    /// Condensation, the only process in cells without condensate, and the removal of traces. Returns as
    /// [`Self::process`].
    #[inline(always)]
    pub(super) fn condense(&mut self, p: &Scheme<R>, dt_cloud: R) -> Row<R, N> {
        let (mut cells, mut clipped) = (Cells::new(), [R::ZERO; N]);
        for l in 0..N {
            let (air, start, mut cell) = (self.air(l), self.step_start(l), self.cells.at(l));
            clipped[l] = step::condense(p, dt_cloud, &air, &start, &mut cell);
            cells.put(l, &cell);
        }
        self.cells = cells;
        clipped
    }

    /// Melts snow and graupel, after noting the rain before that.
    #[inline(always)]
    pub(super) fn melt(&mut self, p: &Scheme<R>, dt_cloud: R) {
        self.qr_for_slope = self.cells.qr;
        let Cells { t, qs, qg, .. } = &self.cells;
        if !any::<N>(|l| t[l] > R::FREEZING && (qs[l] > R::ZERO || qg[l] > R::ZERO)) {
            return;
        }
        let mut cells = Cells::new();
        for l in 0..N {
            let mut cell = self.cells.at(l);
            melt::melt(p, dt_cloud, &self.air(l), &mut cell);
            cells.put(l, &cell);
        }
        self.cells = cells;
    }

    /// Clips negative condensate and sets the invariants of the call.
    ///
    /// Adds the water that clipping creates to `clipped`, kg m⁻².
    #[inline(always)]
    pub(super) fn begin_call(&mut self, theta_base: R, clipped: &mut Row<R, N>) {
        let (mut cells, mut sum) = (Cells::new(), *clipped);
        let row = [R::ZERO; N];
        let (mut density_factor, mut heat_capacity, mut latent_heat) = (row, row, row);
        for l in 0..N {
            let (mut air, mut cell) = (self.air(l), self.cells.at(l));
            cell.t = (self.theta[l] + theta_base) * self.exner[l];
            let Wsm6Cell { qc, qr, qi, qs, qg, .. } = &mut cell;
            for q in [qc, qr, qi, qs, qg] {
                sum[l] += shared::step::clip(&air, q);
                // Files hold subnormal traces of species that have long vanished.
                *q = q.normal_in_lanes();
            }
            // The limits of the processes would hide NaN and infinity in a species; in the temperature NaN remains.
            cell.t += water(&cell) * R::ZERO;
            shared::cell::set_call_invariants(&without_graupel(&cell), &mut air);
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

//! A second driver of the scheme, of plain numbers in one column after the other, as an oracle of the one in the library.
//!
//! It uses the formulas of the library. Cells, layers and searches are written as one would for a single column.

mod fall;
mod substeps;

use nwp_mini::physics::wsm5::params::{SchemeConstants, Wsm5Params};
use nwp_mini::physics::wsm5::radii;
use nwp_mini::physics::wsm5::reflectivity::{
    Bins, RadarConstants, Target, content, decibels, has_snow, is_melting, z_melting_snow, z_rain,
    z_snow,
};
use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::physics::wsm5::{
    Air, Cell, Precipitation, Sedimentation, StepStart, cell, minor_steps, step,
};
use nwp_mini::state::CloudDiagnostics;

use super::weather::{Engine, Precision, Region, Weather};
use fall::Fall;
use substeps::SubSteps;

/// The scheme by the oracle.
pub struct Oracle<R>(pub Scheme<R>);

impl<R: Precision> Engine<R> for Oracle<R> {
    fn call(&self, dt: R, weather: &mut Weather<R>, region: &Region) {
        let mut column = Column::new(weather.shape().nz);
        for j in region.rows.clone() {
            for i in region.columns.clone() {
                self.call_column(dt, weather, [j, i], &mut column);
            }
        }
    }

    fn diagnose(&self, weather: &Weather<R>) -> CloudDiagnostics<R> {
        let Self(p) = self;
        let shape = weather.shape();
        let mut out = CloudDiagnostics::zeros(weather.state.set(), shape);
        let bins = Bins::default();
        let [_, _, qc, _, qi, qs] = weather.state.of_scheme() else { panic!("the fields of WSM5") };
        let mut dbz = vec![R::ZERO; shape.nz];
        for (j, i) in (0..shape.ny).flat_map(|j| (0..shape.nx).map(move |i| (j, i))) {
            let targets: Vec<_> = (0..shape.nz).map(|k| weather.target([k, j, i])).collect();
            reflectivity(p, &bins, &targets, &mut dbz);
            for (k, target) in targets.iter().enumerate() {
                let at = [k, j, i];
                let rho = weather.air.rho[at];
                let [refl_10cm, re_cloud, re_ice, re_snow] = out.fields_mut() else {
                    panic!("the volumes of WSM5")
                };
                refl_10cm[at] = dbz[k];
                re_cloud[at] = radii::re_cloud(p, rho, qc[at]);
                re_ice[at] = radii::re_ice(p, rho, qi[at]);
                re_snow[at] = radii::re_snow(p, target.t, rho, qs[at]);
            }
        }
        out
    }
}

impl<R: Precision> Oracle<R> {
    fn call_column(
        &self,
        dt: R,
        weather: &mut Weather<R>,
        [j, i]: [usize; 2],
        column: &mut Column<R>,
    ) {
        let Weather { theta_base, state, air, surface, .. } = weather;
        let [theta, qv, qc, qr, qi, qs] = state.of_scheme_mut() else {
            panic!("the fields of WSM5")
        };
        for (k, (cell, its)) in column.cells.iter_mut().zip(&mut column.air).enumerate() {
            let at = [k, j, i];
            let t = (theta[at] + *theta_base) * air.exner[at];
            let [qv, qc, qr, qi, qs] = [&*qv, &*qc, &*qr, &*qi, &*qs].map(|field| field[at]);
            *cell = Cell { t, qv, qc, qr, qi, qs };
            *its = Air { rho: air.rho[at], p: air.p[at], dz: air.dz[at], ..Air::default() };
        }
        let sum = column.call(&self.0, dt);
        for (k, cell) in column.cells.iter().enumerate() {
            let at = [k, j, i];
            // A temperature that has not changed leaves the potential temperature as it is.
            if cell.t != (theta[at] + *theta_base) * air.exner[at] {
                theta[at] = cell.t / air.exner[at] - *theta_base;
            }
            let after = [cell.qv, cell.qc, cell.qr, cell.qi, cell.qs];
            for (field, q) in [&mut *qv, qc, qr, qi, qs].into_iter().zip(after) {
                field[at] = q;
            }
        }
        let at = [j, i];
        surface.named_mut("rain")[at] += sum.rain;
        surface.named_mut("snow")[at] += sum.snow;
        surface.named_mut("fallen")[at] = sum.rain;
        surface.named_mut("rainncv")[at] = sum.rainncv;
        surface.named_mut("snowncv")[at] = sum.snowncv;
        surface.named_mut("sr")[at] = sum.sr;
        surface.named_mut("fall_residual")[at] = sum.fall_residual;
        surface.named_mut("clipped")[at] = sum.clipped;
    }
}

impl<R: Precision> Weather<R> {
    fn target(&self, at: [usize; 3]) -> Target<R> {
        let [theta, qv, _, qr, _, qs] = self.state.of_scheme() else {
            panic!("the fields of WSM5")
        };
        let t = (theta[at] + self.theta_base) * self.air.exner[at];
        Target { t, p: self.air.p[at], qv: qv[at], qr: qr[at], qs: qs[at] }
    }
}

/// Work space of one column, from the ground up.
#[derive(Clone, Debug)]
struct Column<R> {
    /// Contents of the cells.
    cells: Vec<Cell<R>>,
    /// Their air.
    air: Vec<Air<R>>,
    step_start: Vec<StepStart<R>>,
    /// Rain content whose drop size sets the freezing rate, kg kg⁻¹.
    qr_for_slope: Vec<R>,
    n0s_factor: Vec<R>,
    fall: Fall<R>,
    substeps: SubSteps<R>,
}

impl<R: SchemeConstants> Column<R> {
    /// Work space of a column of `nz` layers.
    fn new(nz: usize) -> Self {
        Self {
            cells: vec![Cell::default(); nz],
            air: vec![Air::default(); nz],
            step_start: vec![StepStart::default(); nz],
            qr_for_slope: vec![R::ZERO; nz],
            n0s_factor: vec![R::ONE; nz],
            fall: Fall::new(nz),
            substeps: SubSteps::new(nz),
        }
    }

    /// One call of the scheme: `dt` seconds, in minor steps of about two minutes at most.
    ///
    /// [`Column::cells`] and rho, p, dz of [`Column::air`] are the input.
    fn call(&mut self, p: &Scheme<R>, dt: R) -> Precipitation<R> {
        let mut sum = Precipitation::default();
        self.begin_call(&mut sum);
        let steps = minor_steps(dt);
        let dt_cloud = dt / steps;
        for _ in 0..steps.to_usize().unwrap_or(1) {
            self.minor_step(p, dt_cloud, &mut sum);
        }
        sum
    }

    /// Clips negative condensate and sets the invariants of the call.
    fn begin_call(&mut self, sum: &mut Precipitation<R>) {
        for (cell, air) in self.cells.iter_mut().zip(&mut self.air) {
            for q in [&mut cell.qc, &mut cell.qr, &mut cell.qi, &mut cell.qs] {
                sum.clipped += step::clip(air, q);
            }
            cell::set_call_invariants(cell, air);
        }
        self.fall.set_depths(self.air.iter().map(|air| air.dz));
    }

    /// One minor step: the processes of the scheme in their order.
    fn minor_step(&mut self, p: &Scheme<R>, dt_cloud: R, sum: &mut Precipitation<R>) {
        for ((step_start, cell), air) in self.step_start.iter_mut().zip(&self.cells).zip(&self.air)
        {
            *step_start = cell::step_start(p, air, cell);
        }
        let [rain, snow, ice] = match p.fallout {
            Sedimentation::SemiLagrangian => self.sediment_semi_lagrangian(p, dt_cloud, sum),
            Sedimentation::Substepped => self.sink(p, dt_cloud),
        };
        if p.fallout == Sedimentation::Substepped {
            (sum.rainncv, sum.snowncv, sum.sr) = (R::ZERO, R::ZERO, R::ZERO);
        }
        step::deposit(dt_cloud, self.air[0].dz, rain, snow, ice, sum);
        for (k, (cell, air)) in self.cells.iter_mut().zip(&self.air).enumerate() {
            let step_start = &self.step_start[k];
            let clipped = step::processes(p, dt_cloud, air, step_start, self.qr_for_slope[k], cell);
            sum.clipped += air.rho * air.dz * clipped;
        }
    }
}

/// Reflectivity of a column, from the ground up (WRF `refl_10cm`).
///
/// Z = Zr + Zs by Rayleigh scattering; below the melting level Zs is that of melting snow.
///
/// Shape: both slices (nz). Units: writes dBZ, ≥ -35.
fn reflectivity<R: RadarConstants>(
    p: &Wsm5Params<R>,
    bins: &Bins<R>,
    column: &[Target<R>],
    dbz: &mut [R],
) {
    let melting_level = melting_level(column);
    let snow_above = melting_level.map_or(R::ZERO, |k| content(&column[k], column[k].qs));
    for (k, (target, dbz)) in column.iter().zip(dbz).enumerate() {
        let melting =
            has_snow(target) && melting_level.is_some_and(|top| k < top && has_snow(&column[top]));
        let snow =
            if melting { z_melting_snow(p, bins, target, snow_above) } else { z_snow(p, target) };
        let z = z_rain(p, target) + snow;
        *dbz = decibels(z);
    }
}

/// One more than the highest level that is warmer than freezing and holds rain under snow.
fn melting_level<R: RadarConstants>(column: &[Target<R>]) -> Option<usize> {
    (0..column.len() - 1).rev().find(|&k| is_melting(&column[k], &column[k + 1])).map(|k| k + 1)
}

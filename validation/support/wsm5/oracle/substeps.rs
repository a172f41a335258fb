//! Sub-stepped sedimentation in one column.

use nwp_mini::physics::wsm5::params::SchemeConstants;
use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::physics::wsm5::slope::{Slope, fall_speed, fall_speed_ice, ice_number, slope_rain};
use nwp_mini::physics::wsm5::substepped_sedimentation::{
    arriving, courant, number_of_substeps, passed, snow_slope,
};
use nwp_mini::physics::wsm5::{Air, Cell, melt};

use super::Column;

/// Work space of sedimentation in one column of K layers.
#[derive(Clone, Debug)]
pub(super) struct SubSteps<R> {
    rain: SubsteppedFall<R>,
    snow: SubsteppedFall<R>,
    ice: SubsteppedFall<R>,
    /// Size of the snow at the start of the minor step. Shape: (K).
    snow_slope: Vec<Slope<R>>,
}

impl<R: SchemeConstants> SubSteps<R> {
    pub(super) fn new(nz: usize) -> Self {
        Self {
            rain: SubsteppedFall::new(nz),
            snow: SubsteppedFall::new(nz),
            ice: SubsteppedFall::new(nz),
            snow_slope: vec![Slope::default(); nz],
        }
    }
}

/// Sub-stepped sedimentation of one species. Shape of each field: (K). Units: 1.
#[derive(Clone, Debug)]
struct SubsteppedFall<R> {
    /// Layers fallen through in a minor step (the Courant number).
    courant: Vec<R>,
    /// Fraction of a layer's content that leaves it in a sub-step.
    leaving: Vec<R>,
    /// Fraction of the mixing ratio above that arrives in a sub-step, as mixing ratio in this layer.
    arriving: Vec<R>,
}

impl<R: SchemeConstants> SubsteppedFall<R> {
    fn new(nz: usize) -> Self {
        let zeros = || vec![R::ZERO; nz];
        Self { courant: zeros(), leaving: zeros(), arriving: zeros() }
    }

    /// Computes the fractions for equal sub-steps in the given layers.
    fn divide(&mut self, air: &[Air<R>], substeps: R) {
        for (leaving, &courant) in self.leaving.iter_mut().zip(&self.courant[..air.len()]) {
            *leaving = courant / substeps;
        }
        for (k, pair) in air.windows(2).enumerate() {
            self.arriving[k] = arriving(self.leaving[k + 1], &pair[0], &pair[1]);
        }
    }

    /// One sub-step in the lowest `active_layers` layers, above which there is no precipitation.
    ///
    /// Returns the outflow of the lowest layer, kg kg⁻¹ of its air.
    fn fall(
        &self,
        active_layers: usize,
        cells: &mut [Cell<R>],
        species: impl Fn(&mut Cell<R>) -> &mut R,
    ) -> R {
        let ground = self.leaving[0] * *species(&mut cells[0]);
        let highest = active_layers - 1;
        // Upward, so that the layer above still has its old content.
        for k in 0..highest {
            let above = *species(&mut cells[k + 1]);
            let q = species(&mut cells[k]);
            *q = passed(*q, self.leaving[k], self.arriving[k], above);
        }
        let q = species(&mut cells[highest]);
        *q = *q - self.leaving[highest] * *q;
        ground
    }
}

impl<R: SchemeConstants> Column<R> {
    /// Sedimentation of rain and snow, while snow melts, and then of ice.
    ///
    /// Returns the precipitation as rain, snow and ice at the ground, kg m⁻². Conserves mass.
    pub(super) fn sink(&mut self, p: &Scheme<R>, dt_cloud: R) -> [R; 3] {
        for (qr, cell) in self.qr_for_slope.iter_mut().zip(&self.cells) {
            *qr = cell.qr;
        }
        let [rain, snow] = self.sink_rain_and_snow(p, dt_cloud);
        let ice = self.sink_ice(p, dt_cloud);
        let ground = self.air[0].rho * self.air[0].dz;
        [rain, snow, ice].map(|fallen| ground * fallen)
    }

    /// Returns the outflow of rain and snow from the lowest layer, kg kg⁻¹ of its air.
    fn sink_rain_and_snow(&mut self, p: &Scheme<R>, dt_cloud: R) -> [R; 2] {
        let Self { cells, air, substeps: work, .. } = self;
        let Some(highest) = cells.iter().rposition(|c| c.qr > R::ZERO || c.qs > R::ZERO) else {
            return [R::ZERO; 2];
        };
        let active_layers = highest + 1;
        // Empty layers count too: their speed is that of the smallest particles.
        for (k, (cell, air)) in cells.iter().zip(&*air).enumerate() {
            let rain = slope_rain(p, air.rho, cell.qr);
            let snow = snow_slope(p, air, cell);
            let rain_speed = fall_speed(p.pvtr, rain, air.density_factor);
            let snow_speed = fall_speed(p.pvts, snow, air.density_factor);
            work.rain.courant[k] = p.factors.fall_rain * courant(rain_speed, air.dz, dt_cloud);
            work.snow.courant[k] = p.factors.fall_snow * courant(snow_speed, air.dz, dt_cloud);
            work.snow_slope[k] = snow;
        }
        let substeps =
            number_of_substeps(largest(work.rain.courant.iter().chain(&work.snow.courant)));
        work.rain.divide(&air[..active_layers], substeps);
        work.snow.divide(&air[..active_layers], substeps);

        // Melting only cools, so no layer above these becomes warmer than freezing in a sub-step.
        let melting = cells[..active_layers].iter().rposition(|cell| cell.t > R::FREEZING);
        let warm = melting.map_or(0, |k| k + 1);
        let mut fallen = [R::ZERO; 2];
        for _ in 0..substeps.to_usize().unwrap_or(1) {
            fallen[0] += work.rain.fall(active_layers, cells, |cell| &mut cell.qr);
            fallen[1] += work.snow.fall(active_layers, cells, |cell| &mut cell.qs);
            for (k, (cell, air)) in cells[..warm].iter_mut().zip(&*air).enumerate() {
                melt::melt_snow_in_substep(p, dt_cloud, substeps, air, work.snow_slope[k], cell);
            }
        }
        fallen
    }

    /// Returns the outflow of ice from the lowest layer, kg kg⁻¹ of its air.
    fn sink_ice(&mut self, p: &Scheme<R>, dt_cloud: R) -> R {
        let Self { cells, air, substeps: work, .. } = self;
        let Some(highest) = cells.iter().rposition(|cell| cell.qi > R::ZERO) else {
            return R::ZERO;
        };
        let active_layers = highest + 1;
        for (k, (cell, air)) in cells[..active_layers].iter().zip(&*air).enumerate() {
            let speed = fall_speed_ice(p, air.rho, cell.qi, ice_number(air.rho, cell.qi));
            work.ice.courant[k] = p.factors.fall_ice * courant(speed, air.dz, dt_cloud);
        }
        let substeps = number_of_substeps(largest(&work.ice.courant[..active_layers]));
        work.ice.divide(&air[..active_layers], substeps);
        let mut fallen = R::ZERO;
        for _ in 0..substeps.to_usize().unwrap_or(1) {
            fallen += work.ice.fall(active_layers, cells, |cell| &mut cell.qi);
        }
        fallen
    }
}

fn largest<'a, R: SchemeConstants>(courant: impl IntoIterator<Item = &'a R>) -> R {
    courant.into_iter().fold(R::ZERO, |most, &c| c.larger(most))
}

//! Sub-stepped sedimentation of precipitation, by upstream (donor-cell) differences.
//!
//! The sub-steps are equal and short enough that nothing falls through a whole layer in one of them. Terminal
//! velocities and size distributions are those at the start of the minor step.

use crate::physics::wsm5::params::{SchemeConstants, Wsm5Params};
use crate::physics::wsm5::scheme::Scheme;
use crate::physics::wsm5::simd::columns::{
    Cells, ColumnBlock, Level, SedimentationScheme, SemiLagrangian,
};
use crate::physics::wsm5::slope::{
    Slope, fall_speed, fall_speed_ice, ice_number, slope_rain, slope_snow, snow_intercept_factor,
};
use crate::physics::wsm5::{Air, Cell, Sedimentation, melt};
use crate::simd::Row;

/// Work space of sedimentation in one column of K layers.
#[derive(Clone, Debug)]
pub(super) struct SubStepWork<R> {
    rain: SubsteppedFall<R>,
    snow: SubsteppedFall<R>,
    ice: SubsteppedFall<R>,
    /// Size of the snow at the start of the minor step. Shape: (K).
    snow_slope: Vec<Slope<R>>,
    /// Number of sub-steps of the last minor step.
    count: [R; 2],
}

impl<R: SchemeConstants> SubStepWork<R> {
    pub(super) fn new(nz: usize) -> Self {
        Self {
            rain: SubsteppedFall::new(nz),
            snow: SubsteppedFall::new(nz),
            ice: SubsteppedFall::new(nz),
            snow_slope: vec![Slope::default(); nz],
            count: [R::ONE; 2],
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
    fn divide(&mut self, levels: &[Level<R, 1>], substeps: R) {
        for (leaving, &courant) in self.leaving.iter_mut().zip(&self.courant[..levels.len()]) {
            *leaving = courant / substeps;
        }
        for (k, pair) in levels.windows(2).enumerate() {
            self.arriving[k] = arriving(self.leaving[k + 1], &pair[0].air(0), &pair[1].air(0));
        }
    }

    /// One sub-step in layers above which there is no precipitation.
    ///
    /// Returns the outflow of the lowest layer, kg kg⁻¹ of its air.
    fn fall(
        &self,
        levels: &mut [Level<R, 1>],
        species: impl Fn(&mut Cells<R, 1>) -> &mut Row<R, 1>,
    ) -> R {
        let ground = self.leaving[0] * species(&mut levels[0].cells)[0];
        let highest = levels.len() - 1;
        // Upward, so that the layer above still has its old content.
        for k in 0..highest {
            let [above] = *species(&mut levels[k + 1].cells);
            let [q] = species(&mut levels[k].cells);
            *q = passed(*q, self.leaving[k], self.arriving[k], above);
        }
        let [q] = species(&mut levels[highest].cells);
        *q = *q - self.leaving[highest] * *q;
        ground
    }
}

impl<R: SchemeConstants> ColumnBlock<R, 1> {
    /// One call of any variant of the scheme.
    pub(super) fn call_alone(&mut self, p: &Scheme<R>, dt: R, substeps: &mut SubStepWork<R>) {
        match p.fallout {
            Sedimentation::SemiLagrangian => self.call(p, dt, &mut SemiLagrangian),
            Sedimentation::Substepped => self.call(p, dt, substeps),
        }
    }
}

impl<R: SchemeConstants> SedimentationScheme<R, 1> for SubStepWork<R> {
    /// Sedimentation of rain and snow, while snow melts, and then of ice. Conserves mass.
    fn sediment(
        &mut self,
        p: &Scheme<R>,
        dt_cloud: R,
        columns: &mut ColumnBlock<R, 1>,
    ) -> [[R; 1]; 3] {
        let ColumnBlock { levels, sums: [sum], .. } = columns;
        (sum.rainncv, sum.snowncv, sum.sr) = (R::ZERO, R::ZERO, R::ZERO);
        for level in &mut *levels {
            level.qr_for_slope = level.cells.qr;
        }
        let [rain, snow] = self.sediment_rain_and_snow(p, dt_cloud, levels);
        let ice = self.sediment_ice(p, dt_cloud, levels);
        let ground = levels[0].rho[0] * levels[0].dz[0];
        [rain, snow, ice].map(|fallen| [ground * fallen])
    }
}

impl<R: SchemeConstants> SubStepWork<R> {
    /// Numbers of sub-steps in the last minor step: of rain and snow, and of ice; 1 for an absent species.
    pub(super) fn count(&self) -> [usize; 2] {
        self.count.map(|count| count.to_usize().unwrap_or(1))
    }

    /// Returns the outflow of rain and snow from the lowest layer, kg kg⁻¹ of its air.
    fn sediment_rain_and_snow(
        &mut self,
        p: &Scheme<R>,
        dt_cloud: R,
        levels: &mut [Level<R, 1>],
    ) -> [R; 2] {
        self.count[0] = R::ONE;
        let falls = |cells: &Cells<R, 1>| cells.qr[0] > R::ZERO || cells.qs[0] > R::ZERO;
        let Some(highest) = levels.iter().rposition(|level| falls(&level.cells)) else {
            return [R::ZERO; 2];
        };
        // Empty layers count too: their speed is that of the smallest particles.
        for (k, level) in levels.iter().enumerate() {
            let (air, cell) = (level.air(0), level.cells.at(0));
            let rain = slope_rain(p, air.rho, cell.qr);
            let snow = snow_slope(p, &air, &cell);
            let rain_speed = fall_speed(p.pvtr, rain, air.density_factor);
            let snow_speed = fall_speed(p.pvts, snow, air.density_factor);
            self.rain.courant[k] = p.factors.fall_rain * courant(rain_speed, air.dz, dt_cloud);
            self.snow.courant[k] = p.factors.fall_snow * courant(snow_speed, air.dz, dt_cloud);
            self.snow_slope[k] = snow;
        }
        let substeps =
            number_of_substeps(largest(self.rain.courant.iter().chain(&self.snow.courant)));
        self.count[0] = substeps;
        let levels = &mut levels[..=highest];
        self.rain.divide(levels, substeps);
        self.snow.divide(levels, substeps);

        // Melting only cools, so no layer above these becomes warmer than freezing in a sub-step.
        let melting = levels.iter().rposition(|level| level.cells.t[0] > R::FREEZING);
        let warm = melting.map_or(0, |k| k + 1);
        let mut fallen = [R::ZERO; 2];
        for _ in 0..substeps.to_usize().unwrap_or(1) {
            fallen[0] += self.rain.fall(levels, |cells| &mut cells.qr);
            fallen[1] += self.snow.fall(levels, |cells| &mut cells.qs);
            for (level, &snow) in levels[..warm].iter_mut().zip(&self.snow_slope) {
                let (air, mut cell) = (level.air(0), level.cells.at(0));
                melt::melt_snow_in_substep(p, dt_cloud, substeps, &air, snow, &mut cell);
                level.cells.put(0, &cell);
            }
        }
        fallen
    }

    /// Returns the outflow of ice from the lowest layer, kg kg⁻¹ of its air.
    fn sediment_ice(&mut self, p: &Scheme<R>, dt_cloud: R, levels: &mut [Level<R, 1>]) -> R {
        self.count[1] = R::ONE;
        let Some(highest) = levels.iter().rposition(|level| level.cells.qi[0] > R::ZERO) else {
            return R::ZERO;
        };
        let levels = &mut levels[..=highest];
        for (k, level) in levels.iter().enumerate() {
            let (rho, qi) = (level.rho[0], level.cells.qi[0]);
            let speed = fall_speed_ice(p, rho, qi, ice_number(rho, qi));
            self.ice.courant[k] = p.factors.fall_ice * courant(speed, level.dz[0], dt_cloud);
        }
        let substeps = number_of_substeps(largest(&self.ice.courant[..=highest]));
        self.count[1] = substeps;
        self.ice.divide(levels, substeps);
        let mut fallen = R::ZERO;
        for _ in 0..substeps.to_usize().unwrap_or(1) {
            fallen += self.ice.fall(levels, |cells| &mut cells.qi);
        }
        fallen
    }
}

fn largest<'a, R: SchemeConstants>(courant: impl IntoIterator<Item = &'a R>) -> R {
    courant.into_iter().fold(R::ZERO, |most, &c| c.larger(most))
}

/// Slope of the snow at the start of the minor step.
///
/// The factor of the intercept applies only if there is enough snow for a slope of its own.
#[inline]
pub fn snow_slope<R: SchemeConstants>(p: &Wsm5Params<R>, air: &Air<R>, cell: &Cell<R>) -> Slope<R> {
    let is_snowy = cell.qs > R::Q_PRECIPITATION_MIN;
    let n0s_factor = if is_snowy { snow_intercept_factor(p, cell.t) } else { R::ONE };
    slope_snow(p, air.rho, cell.qs, n0s_factor)
}

/// Layers fallen through in a minor step (the Courant number).
///
/// Units: `speed` m s⁻¹, `dz` m, `dt_cloud` s; returns 1.
#[inline]
pub fn courant<R: SchemeConstants>(speed: R, dz: R, dt_cloud: R) -> R {
    speed / dz * dt_cloud
}

/// Number of sub-steps such that nothing falls through a whole layer in one.
///
/// n = max(nint(C + 1/2), 1) with the largest Courant number C, halves rounded up.
#[inline]
pub fn number_of_substeps<R: SchemeConstants>(largest: R) -> R {
    (largest + R::HALF).round().larger(R::ONE)
}

/// Fraction of the mixing ratio above that arrives in a sub-step, as mixing ratio in this layer.
///
/// cₖ₊₁ (rho dz)ₖ₊₁ / (rho dz)ₖ with the fraction c that leaves the layer above
///
/// Units: 1.
#[inline]
pub fn arriving<R: SchemeConstants>(leaving_above: R, here: &Air<R>, above: &Air<R>) -> R {
    leaving_above * (above.rho * above.dz) / (here.rho * here.dz)
}

/// Content of a layer after a sub-step.
///
/// qₖ - cₖ qₖ + aₖ qₖ₊₁ with the fractions c that leaves and a that arrives ([`arriving`])
///
/// Since c ≤ 1, no layer is overdrawn, also with rounding. Units: kg kg⁻¹ and 1.
#[inline]
pub fn passed<R: SchemeConstants>(q: R, leaving: R, arriving: R, q_above: R) -> R {
    q - leaving * q + arriving * q_above
}

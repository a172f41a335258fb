//! A minor step of one cell, apart from sedimentation: the processes in their order.

use super::cell::{Wsm6Cell, coefficients, is_clear};
use super::params::Wsm6Constants;
use super::scheme::Scheme;
use super::shared::step::remove_traces;
use super::shared::{Air, StepStart, warm};
use super::{balance, ice, melt};
use crate::cuda_abi::shared_struct;

shared_struct! {
    /// Precipitation of one call, and the water that its numerics create or lose.
    #[derive(Default)]
    pub struct Wsm6Precipitation<R> {
        /// All precipitation of the call.
        rain: R, "mm";
        /// Snow and ice among it.
        snow: R, "mm";
        /// Graupel among it.
        graupel: R, "mm";
        /// Frozen fraction.
        sr: R, "1";
        /// Water that sedimentation has created.
        fall_residual: R, "kg m⁻²";
        /// Water that clipping at zero has added.
        clipped: R, "kg m⁻²";
    }
}

impl<R> Wsm6Precipitation<R> {
    /// The same in another precision.
    pub fn map<S>(self, with: impl Fn(R) -> S) -> Wsm6Precipitation<S> {
        Wsm6Precipitation {
            rain: with(self.rain),
            snow: with(self.snow),
            graupel: with(self.graupel),
            sr: with(self.sr),
            fall_residual: with(self.fall_residual),
            clipped: with(self.clipped),
        }
    }
}

/// Computes the rates of a cell and applies them.
///
/// Returns the water that clipping at zero adds, kg kg⁻¹.
#[inline(always)]
pub fn apply_rates<R: Wsm6Constants>(
    p: &Scheme<R>,
    dt_cloud: R,
    air: &Air<R>,
    step_start: &StepStart<R>,
    cell: &mut Wsm6Cell<R>,
) -> R {
    // In such a cell all rates are zero.
    let is_calm = is_clear(cell) && (cell.t >= R::FREEZING || cell.qv <= step_start.qsi);
    if is_calm {
        return R::ZERO;
    }
    let coefficients = coefficients(p, air, step_start, cell);
    let warm = warm_rates(p, dt_cloud, air, step_start, cell, &coefficients.common);
    let ice = ice::rates(p, dt_cloud, air, step_start, cell, &coefficients, warm.prevp);
    balance::apply(dt_cloud, air, warm, ice, cell)
}

/// Brings a cell to saturation over water, and removes traces of cloud water and ice.
///
/// Returns the water that clipping at zero adds, kg kg⁻¹.
#[inline(always)]
pub fn condense<R: Wsm6Constants>(
    p: &Scheme<R>,
    dt_cloud: R,
    air: &Air<R>,
    step_start: &StepStart<R>,
    cell: &mut Wsm6Cell<R>,
) -> R {
    let clipped = melt::condense(p, dt_cloud, air, step_start, cell);
    clipped - (remove_traces(&mut cell.qc) + remove_traces(&mut cell.qi))
}

/// All warm rates of a cell, which are WSM5's.
#[inline(always)]
pub fn warm_rates<R: Wsm6Constants>(
    p: &Scheme<R>,
    dt_cloud: R,
    air: &Air<R>,
    step_start: &StepStart<R>,
    cell: &Wsm6Cell<R>,
    coefficients: &super::shared::Coefficients<R>,
) -> warm::WarmRates<R> {
    let rhw = (cell.qv / step_start.qsw).larger(R::Q_MIN);
    let excess = (cell.qv.larger(R::Q_MIN) - step_start.qsw) / dt_cloud;
    let (f, rain) = (&p.factors, coefficients.rain);
    let (qc, qr) = (cell.qc, cell.qr);
    warm::WarmRates {
        praut: f.praut * warm::praut(&p.common, dt_cloud, qc),
        pracw: f.pracw * warm::pracw(&p.common, dt_cloud, qc, qr, rain, air.density_factor),
        prevp: f.prevp * warm::prevp(&p.common, dt_cloud, qr, rhw, excess, coefficients),
    }
}

/// Adds the precipitation of a minor step to the sums of the call.
///
/// Units: `depth` of the lowest layer m; `rain`, `snow`, `graupel`, `ice` kg m⁻².
#[inline(always)]
pub fn deposit<R: Wsm6Constants>(
    dt_cloud: R,
    depth: R,
    rain: R,
    snow: R,
    graupel: R,
    ice: R,
    sum: &mut Wsm6Precipitation<R>,
) {
    let rate = |mass: R| mass / depth / dt_cloud;
    let millimetres = |rate: R| rate * depth / R::RHO_WATER * dt_cloud * R::MILLIMETRES;
    let all = rate(rain) + rate(snow) + rate(graupel) + rate(ice);
    let crystals = rate(snow) + rate(ice);
    // Nothing is added for what has not fallen.
    sum.rain += millimetres(all.larger(R::ZERO));
    sum.snow += millimetres(crystals.larger(R::ZERO));
    sum.graupel += millimetres(rate(graupel).larger(R::ZERO));
    if all > R::ZERO {
        sum.sr = (sum.snow + sum.graupel) / (sum.rain + R::PRECIPITATION_MIN);
    }
}

//! A minor step of one cell, apart from sedimentation: the processes in their order.

use crate::cuda_abi::shared_struct;
use crate::physics::wsm5::cell::{Air, Cell, StepStart, coefficients, is_clear};
use crate::physics::wsm5::params::SchemeConstants;
use crate::physics::wsm5::scheme::Scheme;
use crate::physics::wsm5::{balance, ice, melt, warm};

shared_struct! {
    /// Precipitation of one call, and the water that its numerics create or lose.
    #[derive(Default)]
    pub struct Precipitation<R> {
        /// All precipitation of the call.
        rain: R, "mm";
        /// Frozen part of all precipitation.
        snow: R, "mm";
        /// Precipitation that the scheme reports for the call: of all minor steps, or of the last one only, depending
        /// on the variant of the scheme. Likewise the two below.
        rainncv: R, "mm";
        /// Frozen part of the reported precipitation.
        snowncv: R, "mm";
        /// Frozen fraction of the reported precipitation.
        sr: R, "1";
        /// Water that sedimentation has created.
        fall_residual: R, "kg m⁻²";
        /// Water that clipping at zero has added.
        clipped: R, "kg m⁻²";
    }
}

impl<R> Precipitation<R> {
    /// The same in another precision.
    pub fn map<S>(self, with: impl Fn(R) -> S) -> Precipitation<S> {
        Precipitation {
            rain: with(self.rain),
            snow: with(self.snow),
            rainncv: with(self.rainncv),
            snowncv: with(self.snowncv),
            sr: with(self.sr),
            fall_residual: with(self.fall_residual),
            clipped: with(self.clipped),
        }
    }
}

/// Clips a negative mixing ratio at zero.
///
/// Returns the water that clipping adds, kg m⁻².
#[inline(always)]
pub fn clip<R: SchemeConstants>(air: &Air<R>, q: &mut R) -> R {
    let below = q.smaller(R::ZERO);
    // NaN stays NaN.
    *q -= below;
    -(air.rho * air.dz * below)
}

/// All processes of a minor step in a cell after sedimentation.
///
/// `qr_for_slope` as in [`melt::adjust_phase`]. Returns the water that clipping at zero adds, kg kg⁻¹.
#[inline(always)]
pub fn processes<R: SchemeConstants>(
    p: &Scheme<R>,
    dt_cloud: R,
    air: &Air<R>,
    step_start: &StepStart<R>,
    qr_for_slope: R,
    cell: &mut Cell<R>,
) -> R {
    melt::adjust_phase(p, dt_cloud, air, qr_for_slope, cell);
    // In such a cell all rates except condensation are zero.
    let is_calm = is_clear(cell) && (cell.t >= R::FREEZING || cell.qv <= step_start.qsi);
    let mut clipped = R::ZERO;
    if !is_calm {
        let coefficients = coefficients(p, air, step_start, cell);
        let warm = warm::rates(p, dt_cloud, air, step_start, cell, &coefficients);
        let ice = ice::rates(p, dt_cloud, air, step_start, cell, &coefficients, warm.prevp);
        clipped = balance::apply(dt_cloud, air, warm, ice, cell);
    }
    clipped += melt::condense(p, dt_cloud, air, step_start, cell);
    if !is_calm {
        clipped -= remove_traces(&mut cell.qc) + remove_traces(&mut cell.qi);
    }
    clipped
}

/// Removes negligible cloud water or ice.
///
/// Returns the removed amount, kg kg⁻¹.
#[inline(always)]
pub fn remove_traces<R: SchemeConstants>(q: &mut R) -> R {
    let mut removed = R::ZERO;
    if *q <= R::Q_MIN {
        removed = *q;
        *q = R::ZERO;
    }
    removed
}

/// Adds the precipitation of a minor step to the sums of the call.
///
/// Units: `depth` of the lowest layer m; `rain`, `snow`, `ice` kg m⁻².
#[inline(always)]
pub fn deposit<R: SchemeConstants>(
    dt_cloud: R,
    depth: R,
    rain: R,
    snow: R,
    ice: R,
    sum: &mut Precipitation<R>,
) {
    let rate = |mass: R| mass / depth / dt_cloud;
    let millimetres = |rate: R| rate * depth / R::RHO_WATER * dt_cloud * R::MILLIMETRES;
    let all = rate(rain) + rate(snow) + rate(ice);
    let frozen = rate(snow) + rate(ice);
    if all > R::ZERO {
        sum.rain += millimetres(all);
        sum.rainncv += millimetres(all);
    }
    if frozen > R::ZERO {
        sum.snow += millimetres(frozen);
        sum.snowncv += millimetres(frozen);
    }
    if all > R::ZERO {
        sum.sr = sum.snowncv / (sum.rainncv + R::PRECIPITATION_MIN);
    }
}

//! Mass mismatch of changes of the water, where the dry mass of a cell is not rho dz.

use crate::real::Real;

/// Mass of a change of the water in a cell minus the mass that rho dz gives it.
///
/// (m / A - rho dz) (after - before)
///
/// The scheme moves water between layers by their rho dz, and the budget of a run counts it by their dry mass.
///
/// Units: `mass` m kg, `per_area` 1 / A m⁻², `rho` kg m⁻³, `dz` m, water kg kg⁻¹; returns kg m⁻².
#[inline(always)]
pub fn mass_mismatch<R: Real>(mass: R, per_area: R, rho: R, dz: R, before: R, after: R) -> R {
    (mass * per_area - rho * dz) * (after - before)
}

//! Semi-Lagrangian sedimentation of precipitation, piecewise linear (JH10).
//!
//! Layers fall at the terminal velocity of their content, conserve their mass, and are remapped to the layers of the
//! grid on arrival. The time step is not limited by the Courant number: a layer that falls through many layers in one
//! step arrives in the right one.

use crate::cuda_abi::shared_struct;
use crate::physics::wsm5::Air;
use crate::physics::wsm5::params::SchemeConstants;

/// Layers above the highest one with content within reach of the stencils of its interface speeds.
pub const REACH_ABOVE: usize = 2;

/// Fewest layers in which interface speeds can be of third order.
pub const REACH_MIN: usize = 4;

shared_struct! {
    /// Density of a species within an arrived layer, which is linear in height.
    #[derive(Default)]
    pub struct LayerProfile<R> {
        /// At the bottom.
        bottom: R, "kg m⁻³";
        /// Half of its gradient with height.
        half_rise: R, "kg m⁻⁴";
    }
}

/// Number of layers, of `nz`, that take part in the sedimentation of a species: those up to the `highest` one with
/// content, and those within the stencils of its interfaces. Layers above do not move.
#[inline(always)]
pub fn active_layers(highest: usize, nz: usize) -> usize {
    (highest + 1 + REACH_ABOVE).max(REACH_MIN).min(nz)
}

/// Speed of an interface next to the lowest or the highest layer.
///
/// Units: `below`, `above` speeds of the layers around it, m s⁻¹; returns m s⁻¹, downward.
#[inline(always)]
pub fn interface_speed_outer<R: SchemeConstants>(below: R, above: R) -> R {
    R::HALF * (above + below)
}

/// Speed of an interior interface, of third order.
///
/// w = 9/16 (uₖ + uₖ₋₁) - 1/16 (uₖ₊₁ + uₖ₋₂)
///
/// Units: speeds of the two layers below and the two above it, from the ground up, m s⁻¹; returns
/// m s⁻¹, downward.
#[inline(always)]
pub fn interface_speed_inner<R: SchemeConstants>(below_2: R, below: R, above: R, above_2: R) -> R {
    R::INTERFACE_NEAR * (above + below) - R::INTERFACE_FAR * (above_2 + below_2)
}

/// Speed of an interface, limited so that the layer above it loses no more than a twentieth of its
/// depth.
///
/// Units: `w`, and `w_above` of the interface above, m s⁻¹; `depth` between them m, `dt_cloud` s;
/// returns m s⁻¹, downward.
#[inline(always)]
pub fn limited_speed<R: SchemeConstants>(w: R, w_above: R, depth: R, dt_cloud: R) -> R {
    let compression = (w_above - w) * dt_cloud / depth;
    if compression > R::FALL_COMPRESSION {
        return w_above - R::FALL_COMPRESSION * depth / dt_cloud;
    }
    w
}

/// Height at which an interface arrives.
///
/// Units: `height` m, `w` m s⁻¹, `dt_cloud` s; returns m.
#[inline(always)]
pub fn arrival<R: SchemeConstants>(height: R, w: R, dt_cloud: R) -> R {
    height - w * dt_cloud
}

/// Density of a species in a layer that has arrived.
///
/// Units: `content` kg m⁻³, `depth`, `thickness` of the layer at departure and arrival m; returns
/// kg m⁻³.
#[inline(always)]
pub fn arrived_density<R: SchemeConstants>(content: R, depth: R, thickness: R) -> R {
    content * depth / thickness
}

/// Mean of the speeds at departure and arrival.
///
/// Units: m s⁻¹.
#[inline(always)]
pub fn mean_speed<R: SchemeConstants>(departure: R, arrival: R) -> R {
    R::HALF * (departure + arrival)
}

/// Half the gradient of density from one arrived layer to the next: their centres are half the sum of their thicknesses
/// apart.
///
/// Units: `q_below`, `q` densities of the two kg m⁻³, `d_below`, `d` their thicknesses m; returns
/// kg m⁻⁴.
#[inline(always)]
pub fn rise<R: SchemeConstants>(q_below: R, q: R, d_below: R, d: R) -> R {
    (q - q_below) / (d_below + d)
}

/// Density within an arrived layer: linear if the profile is monotone there, else uniform.
///
/// Units: `q` density of the layer kg m⁻³, `d` its thickness m, `rise_below`, `rise_above` the
/// [`rise`] to it and from it kg m⁻⁴.
#[inline(always)]
pub fn profile<R: SchemeConstants>(q: R, d: R, rise_below: R, rise_above: R) -> LayerProfile<R> {
    if rise_above * rise_below > R::ZERO {
        let half_rise = R::HALF * (rise_above + rise_below);
        let upper = q + half_rise * d;
        let lower = q - half_rise * d;
        if upper >= R::ZERO && lower >= R::ZERO {
            return LayerProfile { bottom: lower, half_rise };
        }
    }
    LayerProfile { bottom: q, half_rise: R::ZERO }
}

/// Mass of an arrived layer from its bottom to the height `z` above it, over its area: the integral
/// of its density.
///
/// Units: `z` m; returns kg m⁻².
#[inline(always)]
pub fn mass_up_to<R: SchemeConstants>(profile: LayerProfile<R>, z: R) -> R {
    z * (profile.half_rise * z + profile.bottom)
}

/// Mean density between two heights above the bottom of an arrived layer.
///
/// The difference of two [masses](mass_up_to) divided by the difference of their heights, in closed form.
///
/// Units: `z_low`, `z_high` m; returns kg m⁻³.
#[inline(always)]
pub fn mean_within<R: SchemeConstants>(profile: LayerProfile<R>, z_low: R, z_high: R) -> R {
    profile.half_rise * (z_high + z_low) + profile.bottom
}

/// Mass of the part of an arrived layer that lies below the ground, over its area.
///
/// Units: `bottom` and `top` height and `thickness` m, `density` kg m⁻³; returns kg m⁻².
#[inline(always)]
pub fn mass_in_ground<R: SchemeConstants>(bottom: R, top: R, thickness: R, density: R) -> R {
    if bottom >= R::ZERO {
        return R::ZERO;
    }
    if top >= R::ZERO {
        return density * (R::ZERO - bottom);
    }
    density * thickness
}

/// Stores the content after sedimentation in a cell, clipped at zero.
///
/// Returns the water that clipping adds, kg m⁻². Units: `content` kg m⁻³, `q` kg kg⁻¹.
#[inline(always)]
pub fn store_content<R: SchemeConstants>(air: &Air<R>, content: R, q: &mut R) -> R {
    *q = (content / air.rho).larger(R::ZERO);
    if content < R::ZERO {
        return -(content * air.dz);
    }
    R::ZERO
}

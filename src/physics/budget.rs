//! The water budget of a call: precipitation, water that the scheme creates, and the mass mismatch of its changes in a
//! run.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};

use crate::mass::Layered;
use crate::real::Real;

/// The terms of the water budget of a call, and the masses for its mass mismatch. Shapes: (ny, nx).
#[derive(Debug)]
pub struct Budget<'a, R> {
    /// Water that has reached the ground in the call, kg m⁻²; set, as are the three below.
    pub fallen: ArrayViewMut2<'a, R>,
    /// Water that sedimentation has created, kg m⁻².
    pub fall_residual: ArrayViewMut2<'a, R>,
    /// Water that clipping at zero has added, kg m⁻².
    pub clipped: ArrayViewMut2<'a, R>,
    /// Mass mismatch: mass of the changes of a column minus that computed with rho dz, kg m⁻².
    pub mass_mismatch: ArrayViewMut2<'a, R>,
    /// Dry mass of the cells, kg: the plane with the column mass and the plane without it.
    pub mass: [ArrayView2<'a, R>; 2],
    /// The profiles that multiply these planes, 1.
    pub profiles: [&'a [R]; 2],
    /// Reciprocal area of the cells, m⁻².
    pub per_area: ArrayView2<'a, R>,
}

impl<'a, R: Real> Budget<'a, R> {
    /// Terms in the planes of a surface, and `mass_mismatch` for cells with these masses and areas.
    pub fn new(
        [fallen, fall_residual, clipped]: [&'a mut Array2<R>; 3],
        mass_mismatch: &'a mut Array2<R>,
        mass: &'a Layered<R>,
        per_area: &'a Array2<R>,
    ) -> Self {
        Self {
            fallen: fallen.view_mut(),
            fall_residual: fall_residual.view_mut(),
            clipped: clipped.view_mut(),
            mass_mismatch: mass_mismatch.view_mut(),
            mass: [mass.with_mu.view(), mass.without_mu.view()],
            profiles: [&mass.c1, &mass.c2],
            per_area: per_area.view(),
        }
    }

    /// The fields below and from index `at` on along an axis of (ny, nx).
    pub(super) fn divide(self, axis: Axis, at: usize) -> (Self, Self) {
        let Self { fallen, fall_residual, clipped, mass_mismatch, mass, profiles, per_area } = self;
        let [fallen, fall_residual, clipped, mass_mismatch] =
            [fallen, fall_residual, clipped, mass_mismatch].map(|plane| plane.split_at(axis, at));
        let [with_mu, without_mu] = mass.map(|plane| plane.split_at(axis, at));
        let per_area = per_area.split_at(axis, at);
        let below = Self {
            fallen: fallen.0,
            fall_residual: fall_residual.0,
            clipped: clipped.0,
            mass_mismatch: mass_mismatch.0,
            mass: [with_mu.0, without_mu.0],
            profiles,
            per_area: per_area.0,
        };
        let from = Self {
            fallen: fallen.1,
            fall_residual: fall_residual.1,
            clipped: clipped.1,
            mass_mismatch: mass_mismatch.1,
            mass: [with_mu.1, without_mu.1],
            profiles,
            per_area: per_area.1,
        };
        (below, from)
    }

    /// Dry mass of a cell, kg.
    #[inline(always)]
    pub fn mass_at(&self, k: usize, at: [usize; 2]) -> R {
        let [with_mu, without_mu] = &self.mass;
        let [c1, c2] = self.profiles;
        with_mu[at] * c1[k] + without_mu[at] * c2[k]
    }
}

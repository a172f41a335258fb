//! The water budget of a call: precipitation, water that the scheme creates, and the mass mismatch of its changes in a
//! run.

use std::ops::Range;

use ndarray::{Array2, ArrayBase, ArrayView2, ArrayView3, ArrayViewMut2, ArrayViewMut3, Axis, s};

use crate::dry_mass::Layered;
use crate::dry_mass::mismatch::mass_mismatch;
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
    /// Masses that weigh the changes of a call, if the dry mass of a cell is not rho dz.
    pub weighing: Option<MismatchMasses<'a, R>>,
}

/// Masses that weigh the changes of a call. Shapes: (ny, nx).
#[derive(Debug)]
pub struct MismatchMasses<'a, R> {
    /// Dry mass of the cells: the plane that the column mass enters and the one that it does not, kg, and the
    /// profiles that multiply them, 1.
    mass: [ArrayView2<'a, R>; 2],
    profiles: [&'a [R]; 2],
    /// Reciprocal area of the cells, m⁻².
    per_area: ArrayView2<'a, R>,
    /// Mass mismatch of the changes of a column, kg m⁻²; set.
    mass_mismatch: ArrayViewMut2<'a, R>,
}

impl<R: Real> Budget<'_, R> {
    /// The columns below and from an index along an axis of (ny, nx).
    pub(super) fn divide(self, axis: Axis, at: usize) -> (Self, Self) {
        let Self { fallen, fall_residual, clipped, weighing } = self;
        let [fallen, fall_residual, clipped] =
            [fallen, fall_residual, clipped].map(|plane| plane.split_at(axis, at));
        let (below, from) = match weighing.map(|weighing| weighing.divide(axis, at)) {
            Some((below, from)) => (Some(below), Some(from)),
            None => (None, None),
        };
        let part = |fallen, fall_residual, clipped, weighing| Self {
            fallen,
            fall_residual,
            clipped,
            weighing,
        };
        (
            part(fallen.0, fall_residual.0, clipped.0, below),
            part(fallen.1, fall_residual.1, clipped.1, from),
        )
    }

    /// Asserts that all planes have the shape of the columns, and all profiles their levels.
    pub(super) fn check(&self, (nz, ny, nx): (usize, usize, usize)) {
        let planes = [&self.fallen, &self.fall_residual, &self.clipped];
        assert_eq!(planes.map(ArrayBase::dim), [(ny, nx); 3], "shapes at the ground");
        if let Some(MismatchMasses { mass: [a, b], profiles, per_area, mass_mismatch }) =
            &self.weighing
        {
            let planes = [a.dim(), b.dim(), per_area.dim(), mass_mismatch.dim()];
            assert_eq!(planes, [(ny, nx); 4], "shapes of what changes are weighed by");
            assert_eq!(profiles.map(<[R]>::len), [nz; 2], "layers that changes are weighed in");
        }
    }
}

impl<'a, R: Real> MismatchMasses<'a, R> {
    /// By the masses of cells of these areas; the results go to `mass_mismatch`.
    pub fn new(
        mass: &'a Layered<R>,
        per_area: &'a Array2<R>,
        mass_mismatch: &'a mut Array2<R>,
    ) -> Self {
        Self {
            mass: [mass.with_mu.view(), mass.without_mu.view()],
            profiles: [&mass.c1, &mass.c2],
            per_area: per_area.view(),
            mass_mismatch: mass_mismatch.view_mut(),
        }
    }

    fn divide(self, axis: Axis, at: usize) -> (Self, Self) {
        let Self { mass, profiles, per_area, mass_mismatch } = self;
        let [with_mu, without_mu] = mass.map(|plane| plane.split_at(axis, at));
        let (per_area, mass_mismatch) =
            (per_area.split_at(axis, at), mass_mismatch.split_at(axis, at));
        let part = |mass, per_area, mass_mismatch| Self { mass, profiles, per_area, mass_mismatch };
        (
            part([with_mu.0, without_mu.0], per_area.0, mass_mismatch.0),
            part([with_mu.1, without_mu.1], per_area.1, mass_mismatch.1),
        )
    }

    /// Weighs the changes of columns of a row, whose fields of water `species` still hold the values before the call;
    /// `total` sums them in a cell, kg kg⁻¹, and `after` gives that sum after the call, by level and by number of the
    /// column among them. `rho` (kg m⁻³) and `dz` (m) are of the air.
    #[inline(always)]
    pub fn add_mismatch<const N: usize>(
        &mut self,
        (j, columns): (usize, Range<usize>),
        species: [&ArrayViewMut3<'_, R>; N],
        [rho, dz]: [&ArrayView3<'_, R>; 2],
        total: impl Fn([R; N]) -> R,
        after: impl Fn(usize, usize) -> R,
    ) {
        let Self { mass, profiles: [c1, c2], per_area, mass_mismatch: planes } = self;
        let row = s![j, columns.clone()];
        let [with_mu, without_mu] = [mass[0].slice(row), mass[1].slice(row)];
        let per_area = per_area.slice(row);
        let mut sums = planes.slice_mut(row);
        sums.fill(R::ZERO);
        for (k, (c1, c2)) in c1.iter().zip(*c2).enumerate() {
            let part = s![k, j, columns.clone()];
            let before = species.map(|field| field.slice(part));
            let [rho, dz] = [rho.slice(part), dz.slice(part)];
            for (n, sum) in sums.iter_mut().enumerate() {
                let mass = with_mu[n] * *c1 + without_mu[n] * *c2;
                let before = total(before.each_ref().map(|q| q[n]));
                *sum += mass_mismatch(mass, per_area[n], rho[n], dz[n], before, after(k, n));
            }
        }
    }
}

//! Vertical mass fluxes from continuity.

use ndarray::parallel::prelude::*;
use ndarray::{Array2, Array3, Axis};

use crate::dry_mass::{MassCoordinate, MassFlux};
use crate::real::Real;

/// Continuity of the air over fixed columns, with its work space.
#[derive(Clone, Debug)]
pub struct Continuity {
    /// Hybrid coefficients of the air below each face. Length of each: nz + 1.
    below: [Vec<f64>; 2],
    /// Column mass, Pa. Shape: (ny, nx).
    mu: Array2<f64>,
    /// Convergence in each column. Shape: (ny, nx). Units: kg s⁻¹.
    gains: Array2<f64>,
    /// Upward flux through the current face. Shape: (ny, nx). Units: kg s⁻¹.
    rising: Array2<f64>,
}

impl Continuity {
    /// The columns of a grid.
    pub fn new(coordinate: &MassCoordinate) -> Self {
        let nz = coordinate.rdnw.len();
        let below = |profile: &[f64]| -> Vec<f64> {
            let mut below = vec![0.0];
            for k in 0..nz {
                below.push(below[k] + profile[k] * coordinate.thickness(k));
            }
            below
        };
        let plane = Array2::zeros(coordinate.mu.dim());
        Self {
            below: [below(&coordinate.c1), below(&coordinate.c2)],
            mu: coordinate.mu.clone(),
            gains: plane.clone(),
            rising: plane,
        }
    }

    /// Hybrid coefficients of the air below each face: the factor of the column mass, and the constant part. Length of
    /// each: nz + 1. Units: 1 and Pa.
    pub fn below(&self) -> [&[f64]; 2] {
        self.below.each_ref().map(Vec::as_slice)
    }

    /// Column mass. Shape: (ny, nx). Units: Pa.
    pub fn mu(&self) -> &Array2<f64> {
        &self.mu
    }

    /// Sets the fluxes through the z-faces by continuity from the ground up; returns the gain of each column, kg s⁻¹.
    ///
    /// The gain stays in the column instead of leaving through the lid, and is distributed over the layers by their
    /// masses. It comes from rounding: in single precision some 1e-2 Pa/h on a grid of 30 km. In the uppermost layer
    /// alone it would change the mass, and a constant tracer, by a part in 10⁵ in an hour.
    pub fn close<R: Real>(&mut self, flux: &mut MassFlux<R>) -> &Array2<f64> {
        let Self { below: [c1, c2], mu, gains, rising } = self;
        let MassFlux { x, y, z } = flux;
        let (x, y, mu): (&Array3<R>, &Array3<R>, &Array2<f64>) = (x, y, mu);
        let nz = x.len_of(Axis(0));
        let mass_below = |k: usize, mu: f64| c1[k] * mu + c2[k];
        z.axis_iter_mut(Axis(1))
            .into_par_iter()
            .zip(gains.axis_iter_mut(Axis(0)).into_par_iter())
            .zip(rising.axis_iter_mut(Axis(0)).into_par_iter())
            .enumerate()
            .for_each(|(j, ((mut z, mut gains), mut rising))| {
                // Exact in single precision, since a double holds its differences.
                let gain = |k: usize, i: usize| {
                    (x[[k, j, i]].f64() - x[[k, j, i + 1]].f64())
                        + (y[[k, j, i]].f64() - y[[k, j + 1, i]].f64())
                };
                gains.fill(0.0);
                rising.fill(0.0);
                for k in 0..nz {
                    gains.iter_mut().enumerate().for_each(|(i, total)| *total += gain(k, i));
                }
                for k in 1..nz {
                    for (i, rising) in rising.iter_mut().enumerate() {
                        *rising += gain(k - 1, i);
                        let share = mass_below(k, mu[[j, i]]) / mass_below(nz, mu[[j, i]]);
                        z[[k, i]] = R::of(*rising - gains[i] * share);
                    }
                }
            });
        &self.gains
    }
}

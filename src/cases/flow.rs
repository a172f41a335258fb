//! Winds that conserve the mass of every column without a projection.
//!
//! They are built from mass fluxes through the faces: differences of a streamfunction at the corners, which conserve
//! the mass of every cell, and overturning, whose fluxes through a lateral face add up to zero from the ground to the
//! lid. So the projection of a run only has rounding to remove.

use ndarray::{Array2, Array3, Axis};

use crate::dry_mass::{AirMass, MassCoordinate, MassFlux, longest_time_step};
use crate::forcing::Continuity;
use crate::grid::{Grid, Shape};

/// Mass fluxes through the lateral faces of a plane without map factors.
#[derive(Clone, Debug)]
pub(super) struct Flow<'a> {
    grid: &'a Grid,
    coordinate: &'a MassCoordinate,
    flux: MassFlux<f64>,
}

/// Nodes and weights of the quadrature along a face of length 1 centred at 0 (Gauss, three points).
const QUADRATURE: [(f64, f64); 3] = [
    (-0.387_298_334_620_741_7, 5.0 / 18.0),
    (0.0, 8.0 / 18.0),
    (0.387_298_334_620_741_7, 5.0 / 18.0),
];

impl<'a> Flow<'a> {
    /// Air at rest.
    pub(super) fn at_rest(grid: &'a Grid, coordinate: &'a MassCoordinate) -> Self {
        let shape = grid.shape;
        let flux = MassFlux {
            x: Array3::zeros(shape.x_face()),
            y: Array3::zeros(shape.y_face()),
            z: Array3::zeros(shape.z_face()),
        };
        Self { grid, coordinate, flux }
    }

    /// Adds one wind for each level, by its components along x and y, m s⁻¹. The column mass must be uniform.
    pub(super) fn add_uniform(mut self, wind: impl Fn(usize) -> [f64; 2]) -> Self {
        for k in 0..self.grid.shape.nz {
            let [u, v] = wind(k);
            let mass = self.coordinate.mu[[0, 0]] * self.layer(k);
            let Grid { dx, dy, .. } = *self.grid;
            self.flux.x.index_axis_mut(Axis(0), k).mapv_inplace(|f| f + u * mass * dy);
            self.flux.y.index_axis_mut(Axis(0), k).mapv_inplace(|f| f + v * mass * dx);
        }
        self
    }

    /// Adds rotation: `Fx = -∂ψ/∂y`, `Fy = ∂ψ/∂x`, ψ a mass flux (kg s⁻¹) at level k and at x and y (m) from the centre
    /// of the grid.
    pub(super) fn add_rotation(mut self, psi: impl Fn(usize, f64, f64) -> f64) -> Self {
        let Shape { nx, ny, nz } = self.grid.shape;
        for k in 0..nz {
            let at = |j: usize, i: usize| psi(k, self.face_x(i), self.face_y(j));
            let corners = Array2::from_shape_fn((ny + 1, nx + 1), |(j, i)| at(j, i));
            for ((j, i), flux) in self.flux.x.index_axis_mut(Axis(0), k).indexed_iter_mut() {
                *flux -= corners[[j + 1, i]] - corners[[j, i]];
            }
            for ((j, i), flux) in self.flux.y.index_axis_mut(Axis(0), k).indexed_iter_mut() {
                *flux += corners[[j, i + 1]] - corners[[j, i]];
            }
        }
        self
    }

    /// Adds ascent, `g` times `rising`, with its inflow and outflow.
    ///
    /// `rising` is the mass flux density at the z-faces (kg m⁻² s⁻¹, 0 at the ground and at the lid), and `g = -div a`,
    /// for a plane vector field `a` (m) at x and y (m) from the centre.
    pub(super) fn add_overturning(
        mut self,
        rising: &[f64],
        a: impl Fn(f64, f64) -> [f64; 2],
    ) -> Self {
        let Grid { shape: Shape { nx, ny, nz }, dx, dy, .. } = *self.grid;
        let along = |place: &dyn Fn(f64) -> f64| -> f64 {
            QUADRATURE.iter().map(|(at, weight)| weight * place(*at)).sum()
        };
        let through_x = Array2::from_shape_fn((ny, nx + 1), |(j, i)| {
            let y = self.face_y(j) + 0.5 * dy;
            dy * along(&|at| a(self.face_x(i), y + at * dy)[0])
        });
        let through_y = Array2::from_shape_fn((ny + 1, nx), |(j, i)| {
            let x = self.face_x(i) + 0.5 * dx;
            dx * along(&|at| a(x + at * dx, self.face_y(j))[1])
        });
        for k in 0..nz {
            let gain = rising[k + 1] - rising[k];
            self.flux.x.index_axis_mut(Axis(0), k).scaled_add(gain, &through_x);
            self.flux.y.index_axis_mut(Axis(0), k).scaled_add(gain, &through_y);
        }
        self
    }

    /// The winds through the x- and y-faces, m s⁻¹, and the longest admissible time step, s.
    pub(super) fn winds(mut self) -> ([Array3<f32>; 2], f64) {
        Continuity::new(self.coordinate).close(&mut self.flux);
        let air = AirMass::new(self.grid, self.coordinate);
        let longest = longest_time_step(self.grid.shape, &air, &self.flux);
        let Grid { shape: Shape { nx, ny, .. }, dx, dy, sides, .. } = *self.grid;
        let across = |face: usize, n: usize, periodic: bool| {
            let is_outer = face == 0 || face == n;
            if is_outer && periodic {
                [n - 1, 0]
            } else {
                [face.saturating_sub(1), face.min(n - 1)]
            }
        };
        let mean =
            |a: [usize; 2], b: [usize; 2]| 0.5 * (self.coordinate.mu[a] + self.coordinate.mu[b]);
        let u = Array3::from_shape_fn(self.flux.x.dim(), |(k, j, i)| {
            let [a, b] = across(i, nx, sides.periodic_x());
            let mass = mean([j, a], [j, b]) * self.layer(k);
            (self.flux.x[[k, j, i]] / (mass * dy)) as f32
        });
        let v = Array3::from_shape_fn(self.flux.y.dim(), |(k, j, i)| {
            let [a, b] = across(j, ny, sides.periodic_y());
            let mass = mean([a, i], [b, i]) * self.layer(k);
            (self.flux.y[[k, j, i]] / (mass * dx)) as f32
        });
        ([u, v], longest)
    }

    /// Mass of a layer (kg m⁻²) for a column mass of 1 Pa.
    fn layer(&self, k: usize) -> f64 {
        self.coordinate.thickness(k) * self.coordinate.unit / (self.grid.dx * self.grid.dy)
    }

    /// Distance of an x-face from the centre of the grid, m.
    fn face_x(&self, i: usize) -> f64 {
        (i as f64 - 0.5 * self.grid.shape.nx as f64) * self.grid.dx
    }

    /// Distance of a y-face from the centre of the grid, m.
    fn face_y(&self, j: usize) -> f64 {
        (j as f64 - 0.5 * self.grid.shape.ny as f64) * self.grid.dy
    }
}

/// Profile of ascent with the maximum `most` (m s⁻¹) at half of `top` (m) and 0 above `top`, as a mass flux density at
/// the faces: `ρ w sin(π z / top)`. Units: kg m⁻² s⁻¹.
pub(super) fn half_sine(z_face: &[f64], rho: &[f64], most: f64, top: f64) -> Vec<f64> {
    let lid = z_face.len() - 1;
    let rising = |(face, (&z, &rho)): (usize, (&f64, &f64))| {
        let inside = face > 0 && face < lid && z < top;
        if inside { rho * most * (std::f64::consts::PI * z / top).sin() } else { 0.0 }
    };
    z_face.iter().zip(rho).enumerate().map(rising).collect()
}

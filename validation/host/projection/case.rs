//! Test cases of the projection, and WRF's own formulas for the expected results.

use ndarray::{Array2, Array3, Axis, s};
use nwp_mini::dry_mass::{FaceMaps, Winds};
use nwp_mini::dry_mass::{MassCoordinate, MassFlux};
use nwp_mini::grid::{Grid, Shape, Sides};
use nwp_mini::projection::{Method, Projection, project};
use nwp_mini::real::Real;

use super::random::Random;

pub(crate) const GRAVITY: f64 = 9.81;

/// All that a projection takes.
pub(crate) struct Case {
    pub(crate) grid: Grid,
    pub(crate) coordinate: MassCoordinate,
    pub(crate) maps: FaceMaps,
    pub(crate) winds: Winds,
}

impl Case {
    /// Random masses, map factors, hybrid coefficients and winds, without any smoothness.
    pub(crate) fn random(seed: u64, [nx, ny, nz]: [usize; 3], sides: Sides) -> Self {
        let random = &mut Random::new(seed);
        let shape = Shape { nx, ny, nz };
        let grid = Grid::whole(shape, [30_000.0, 20_000.0], sides);
        let eta: Vec<f64> = (0..nz).map(|_| random.between(0.5, 1.5)).collect();
        let depth: f64 = eta.iter().sum();
        let c1: Vec<f64> = (0..nz).map(|_| random.between(0.2, 1.0)).collect();
        let mut plane =
            |shape, low, high| Array2::from_shape_simple_fn(shape, || random.between(low, high));
        let (cells, x_faces, y_faces) = ((ny, nx), (ny, nx + 1), (ny + 1, nx));
        let coordinate = MassCoordinate {
            mu: plane(cells, 7e4, 1e5),
            map_x: plane(cells, 0.8, 1.2),
            map_y: plane(cells, 0.8, 1.2),
            c2: c1.iter().map(|c1| (1.0 - c1) * 9e4).collect(),
            c1,
            rdnw: eta.iter().map(|eta| -depth / eta).collect(),
            fnm: vec![0.5; nz],
            fnp: vec![0.5; nz],
            unit: grid.dx * grid.dy / GRAVITY,
        };
        let mut maps = FaceMaps {
            u_x: plane(x_faces, 0.8, 1.2),
            u_y: plane(x_faces, 0.8, 1.2),
            v_x: plane(y_faces, 0.8, 1.2),
            v_y: plane(y_faces, 0.8, 1.2),
        };
        for (map, axis, periodic) in [
            (&mut maps.u_x, Axis(1), sides.periodic_x()),
            (&mut maps.u_y, Axis(1), sides.periodic_x()),
            (&mut maps.v_x, Axis(0), sides.periodic_y()),
            (&mut maps.v_y, Axis(0), sides.periodic_y()),
        ] {
            if periodic {
                let first = map.index_axis(axis, 0).to_owned();
                let last = map.len_of(axis) - 1;
                map.index_axis_mut(axis, last).assign(&first);
            }
        }
        // With periodic sides the last face of these winds contradicts the first.
        let mut wind = |shape| Array3::from_shape_simple_fn(shape, || random.between(-40.0, 40.0));
        let winds = Winds { u: wind(shape.x_face()), v: wind(shape.y_face()) };
        Self { grid, coordinate, maps, winds }
    }

    /// The case on a plane with the classic coordinate and one column mass.
    pub(crate) fn plain(mut self) -> Self {
        self.coordinate.mu.fill(9e4);
        self.coordinate.map_x.fill(1.0);
        self.coordinate.map_y.fill(1.0);
        self.coordinate.c1.fill(1.0);
        self.coordinate.c2.fill(0.0);
        self.maps = FaceMaps::plane(self.grid.shape);
        self
    }

    pub(crate) fn project<R: Real>(&self) -> Projection<R> {
        self.project_by(&Method::default())
    }

    pub(crate) fn project_by<R: Real>(&self, method: &Method) -> Projection<R> {
        project(&self.grid, &self.coordinate, &self.maps, &self.winds, method)
            .expect("a projection")
    }

    /// Pa h⁻¹ of a column for a mass flux of 1 kg s⁻¹ into it.
    pub(crate) fn per_flux(&self, j: usize, i: usize) -> f64 {
        let MassCoordinate { map_x, map_y, .. } = &self.coordinate;
        3600.0 * GRAVITY * map_x[[j, i]] * map_y[[j, i]] / (self.grid.dx * self.grid.dy)
    }

    /// Mass per Pa and m/s of an x-face or y-face, and the mass of its columns, by WRF's formulas.
    pub(crate) fn face(&self, across_x: bool, j: usize, i: usize) -> (f64, f64) {
        let Shape { nx, ny, .. } = self.grid.shape;
        let (at, n, periodic) = if across_x {
            (i, nx, self.grid.sides.periodic_x())
        } else {
            (j, ny, self.grid.sides.periodic_y())
        };
        let (a, b) = match (at, periodic) {
            (0, true) => (n - 1, 0),
            (0, false) => (0, 0),
            (at, true) if at == n => (n - 1, 0),
            (at, false) if at == n => (n - 1, n - 1),
            (at, _) => (at - 1, at),
        };
        let mu = &self.coordinate.mu;
        if across_x {
            let width = self.grid.dy / (GRAVITY * self.maps.u_y[[j, i]]);
            (width, f64::midpoint(mu[[j, a]], mu[[j, b]]))
        } else {
            let width = self.grid.dx / (GRAVITY * self.maps.v_x[[j, i]]);
            (width, f64::midpoint(mu[[a, i]], mu[[b, i]]))
        }
    }

    /// Thickness of a layer in Pa for a column mass `mu`.
    pub(crate) fn layer(&self, k: usize, mu: f64) -> f64 {
        (self.coordinate.c1[k] * mu + self.coordinate.c2[k]) / -self.coordinate.rdnw[k]
    }

    /// Largest column divergence of the horizontal fluxes, Pa h⁻¹.
    pub(crate) fn residual<R: Real>(&self, flux: &MassFlux<R>) -> f64 {
        let Shape { nx, ny, nz } = self.grid.shape;
        let mut largest = 0.0_f64;
        for j in 0..ny {
            for i in 0..nx {
                let net: f64 = (0..nz).map(|k| horizontal(flux, [k, j, i])).sum();
                largest = largest.max((net * self.per_flux(j, i)).abs());
            }
        }
        largest
    }

    /// Largest part of its mass that a cell gains or loses in a second.
    pub(crate) fn drift<R: Real>(&self, flux: &MassFlux<R>) -> f64 {
        let mut largest = 0.0_f64;
        for ((k, j, i), f) in flux.z.slice(s![1.., .., ..]).indexed_iter() {
            let net = horizontal(flux, [k, j, i]) + f.f64() - flux.z[[k, j, i]].f64();
            let mass = 3600.0 * self.layer(k, self.coordinate.mu[[j, i]]) / self.per_flux(j, i);
            largest = largest.max((net / mass).abs());
        }
        largest
    }
}

/// Outflow of a cell through its four lateral faces, kg s⁻¹.
pub(crate) fn horizontal<R: Real>(flux: &MassFlux<R>, [k, j, i]: [usize; 3]) -> f64 {
    let (x, y) = (&flux.x, &flux.y);
    x[[k, j, i + 1]].f64() - x[[k, j, i]].f64() + y[[k, j + 1, i]].f64() - y[[k, j, i]].f64()
}

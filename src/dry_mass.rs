//! The dry air: masses of cells, capacities of faces, and mass fluxes through them.
//!
//! Map factors, hybrid coefficients and column mass enter here once; the loops of a step are independent of them. A
//! cell of WRF's grid holds the dry mass `M = (c1 mu + c2) |Δη| dx dy / (mx my g)`, a sum of two products of a plane
//! and a profile, and is stored in that form.

#[cfg(feature = "gpu")]
pub mod gpu;
pub mod mismatch;

use ndarray::{Array2, Array3};
use rayon::prelude::*;

use crate::grid::{Grid, Shape, Window};
use crate::real::Real;

/// A field that is a sum of two products of a plane and a profile.
///
/// `value(k, j, i) = with_mu(j, i) c1(k) + without_mu(j, i) c2(k)`
///
/// Units: kg, of each of the two products.
#[derive(Clone, Debug)]
pub struct Layered<R> {
    /// The plane with the column mass. Shape: (ny, nx), with one more on faces of that direction.
    pub with_mu: Array2<R>,
    /// The plane without it. Shape: likewise.
    pub without_mu: Array2<R>,
    /// The profile that multiplies [`Layered::with_mu`]. Length: nz, or nz + 1 on z-faces.
    pub c1: Vec<R>,
    /// The profile that multiplies [`Layered::without_mu`]. Length: likewise.
    pub c2: Vec<R>,
}

impl<R: Real> Layered<R> {
    /// The value at level k, row j, column i.
    #[inline]
    pub fn at(&self, k: usize, j: usize, i: usize) -> R {
        self.with_mu[[j, i]] * self.c1[k] + self.without_mu[[j, i]] * self.c2[k]
    }

    /// Writes the values of row j at level k to `row`.
    ///
    /// # Panics
    ///
    /// When the row or level does not exist, when `row` is shorter, or a plane is not in standard layout.
    #[inline]
    pub fn fill_row(&self, k: usize, j: usize, row: &mut [R]) {
        let (nx, c1, c2) = (self.with_mu.ncols(), self.c1[k], self.c2[k]);
        let with_mu = &self.with_mu.as_slice().expect("standard layout")[j * nx..][..nx];
        let without_mu = &self.without_mu.as_slice().expect("standard layout")[j * nx..][..nx];
        for ((value, a), b) in row[..nx].iter_mut().zip(with_mu).zip(without_mu) {
            *value = *a * c1 + *b * c2;
        }
    }

    fn new(with_mu: &Array2<f64>, without_mu: &Array2<f64>, c1: &[f64], c2: &[f64]) -> Self {
        let round = |profile: &[f64]| profile.iter().map(|&x| R::of(x)).collect();
        Self {
            with_mu: with_mu.mapv(R::of),
            without_mu: without_mu.mapv(R::of),
            c1: round(c1),
            c2: round(c2),
        }
    }
}

/// Definition of the mass of the air on WRF's grid, as its files hold it.
#[derive(Clone, Debug)]
pub struct MassCoordinate {
    /// Dry column mass per unit eta (WRF `MU + MUB`). Shape: (ny, nx). Units: Pa.
    pub mu: Array2<f64>,
    /// Map factor in x at cell centres (WRF `MAPFAC_MX`). Shape: (ny, nx). Units: 1.
    pub map_x: Array2<f64>,
    /// Map factor in y at cell centres (WRF `MAPFAC_MY`). Shape: (ny, nx). Units: 1.
    pub map_y: Array2<f64>,
    /// Hybrid coefficient of the column mass (WRF `C1H`; 1 on the classic coordinate). Length of this and
    /// all below: nz. Units: 1.
    pub c1: Vec<f64>,
    /// Constant part of the hybrid coefficient (WRF `C2H`; 0 on the classic coordinate). Units: Pa.
    pub c2: Vec<f64>,
    /// Reciprocal eta thickness of every layer, negative (WRF `RDNW`). Units: 1.
    pub rdnw: Vec<f64>,
    /// Weight of layer k at z-face k (WRF `FNM`; entry 0 unused). Units: 1.
    pub fnm: Vec<f64>,
    /// Weight of layer k-1 at z-face k (WRF `FNP`; entry 0 unused). Units: 1.
    pub fnp: Vec<f64>,
    /// Mass of a cell per Pa of layer at map factor 1, `dx dy / g`. Units: kg Pa⁻¹.
    pub unit: f64,
}

impl MassCoordinate {
    /// The columns that a part of the grid has.
    ///
    /// # Panics
    ///
    /// When this is not of the global grid of the part.
    #[must_use]
    pub fn part(&self, part: &Grid) -> Self {
        let [mu, map_x, map_y] = [&self.mu, &self.map_x, &self.map_y].map(|x| part.columns(x));
        Self { mu, map_x, map_y, ..self.clone() }
    }

    /// Eta thickness of layer k, positive, `1 / |rdnw|`. Units: 1.
    pub fn thickness(&self, k: usize) -> f64 {
        1.0 / self.rdnw[k].abs()
    }
}

/// Mass of the cells and capacity of the faces.
///
/// The capacity of a face limits the low-order flux of the positive-definite limiter in one step: half of the mass
/// around the face.
///
/// Source: S06 (limit of the upwind flux at a Courant number of one half), with WRF's averages.
#[derive(Clone, Debug)]
pub struct AirMass<R> {
    /// Dry mass of the cells. Shape: (nz, ny, nx). Units: kg.
    pub cell: Layered<R>,
    /// Dry mass of the cells at the end of the step, for the bounds of the monotonic limiter. Shape: (nz, ny, nx).
    /// Units: kg.
    pub cell_end: Layered<R>,
    /// Capacity of the x-faces. Shape: (nz, ny, nx + 1). Units: kg.
    pub capacity_x: Layered<R>,
    /// Capacity of the y-faces. Shape: (nz, ny + 1, nx). Units: kg.
    pub capacity_y: Layered<R>,
    /// Capacity of the z-faces; 0 at the ground and at the lid. Shape: (nz + 1, ny, nx). Units: kg.
    pub capacity_z: Layered<R>,
    /// Weight of layer k at z-face k (WRF `FNM`). Length: nz. Units: 1.
    pub weight_above: Vec<R>,
    /// Weight of layer k-1 at z-face k (WRF `FNP`). Length: nz. Units: 1.
    pub weight_below: Vec<R>,
    /// Map factor in x, which WRF omits in the radiative boundary condition. Shape: (ny, nx).
    pub map_x: Array2<R>,
}

impl<R: Real> AirMass<R> {
    /// Masses and capacities of the grid.
    ///
    /// # Panics
    ///
    /// When the grid has no cells, or the coordinate is not of its shape.
    pub fn new(grid: &Grid, coordinate: &MassCoordinate) -> Self {
        Self::with_end(grid, coordinate, &coordinate.mu)
    }

    /// Masses and capacities for two values of the column mass, at the start and at the end of a step: the limiters'
    /// capacities and bounds use the latter, as in WRF.
    ///
    /// As the mass is constant in time the two differ by rounding at most. Shape of `mu_end`: (ny, nx).
    /// Units: Pa.
    ///
    /// # Panics
    ///
    /// As [`AirMass::new`].
    pub fn with_end(grid: &Grid, coordinate: &MassCoordinate, mu_end: &Array2<f64>) -> Self {
        let Shape { nx, ny, nz } = grid.shape;
        let MassCoordinate { mu, map_x, map_y, c1, c2, rdnw, fnm, fnp, unit } = coordinate;
        assert!(grid.shape.cells() > 0, "a grid of {} cells", grid.shape);
        let planes = [mu, mu_end, map_x, map_y].map(Array2::dim);
        assert_eq!(planes, [(ny, nx); 4], "shapes of column masses and map factors");
        let profiles = [c1, c2, rdnw, fnm, fnp].map(Vec::len);
        assert_eq!(profiles, [nz; 5], "layers of c1, c2, rdnw, fnm, fnp");
        let c1_deep: Vec<f64> = (0..nz).map(|k| c1[k] * coordinate.thickness(k)).collect();
        let c2_deep: Vec<f64> = (0..nz).map(|k| c2[k] * coordinate.thickness(k)).collect();
        let area = Array2::from_shape_fn((ny, nx), |c| unit / (map_x[c] * map_y[c]));

        let wrap = |at: usize, n: usize, periodic: bool| match (at, periodic) {
            (0, true) => (n - 1, 0),
            (0, false) => (0, 0),
            (at, true) if at == n => (n - 1, 0),
            (at, false) if at == n => (n - 1, n - 1),
            (at, _) => (at - 1, at),
        };
        // Half the mass of the two cells, each without its map factor across the face.
        let face_x = |mu: &dyn Fn([usize; 2]) -> f64| {
            Array2::from_shape_fn((ny, nx + 1), |(j, i)| {
                let (a, b) = wrap(i, nx, grid.sides.periodic_x());
                let map = map_y[[j, a]] + map_y[[j, b]];
                0.5 * unit * (mu([j, a]) + mu([j, b])) / map
            })
        };
        let face_y = |mu: &dyn Fn([usize; 2]) -> f64| {
            Array2::from_shape_fn((ny + 1, nx), |(j, i)| {
                let (a, b) = wrap(j, ny, grid.sides.periodic_y());
                let map = map_x[[a, i]] + map_x[[b, i]];
                0.5 * unit * (mu([a, i]) + mu([b, i])) / map
            })
        };
        // Half the mass of layer k, with the harmonic mean of the two thicknesses.
        let area_z = Array2::from_shape_fn((ny, nx), |c| 0.5 * unit / map_x[c]);
        let depth_z = |c: &[f64]| -> Vec<f64> {
            (0..=nz)
                .map(|k| match k {
                    0 => 0.0,
                    k if k == nz => 0.0,
                    k => c[k] * 2.0 / (rdnw[k] + rdnw[k - 1]).abs(),
                })
                .collect()
        };
        let with_mu = |c| mu_end[c];
        let without_mu = |_| 1.0;
        let round = |profile: &[f64]| profile.iter().map(|&x| R::of(x)).collect();
        Self {
            cell: Layered::new(&(mu * &area), &area, &c1_deep, &c2_deep),
            cell_end: Layered::new(&(mu_end * &area), &area, &c1_deep, &c2_deep),
            capacity_x: Layered::new(&face_x(&with_mu), &face_x(&without_mu), &c1_deep, &c2_deep),
            capacity_y: Layered::new(&face_y(&with_mu), &face_y(&without_mu), &c1_deep, &c2_deep),
            capacity_z: Layered::new(&(mu_end * &area_z), &area_z, &depth_z(c1), &depth_z(c2)),
            weight_above: round(fnm),
            weight_below: round(fnp),
            map_x: map_x.mapv(R::of),
        }
    }

    /// True if all arrays have the shapes of a grid.
    pub fn is_of(&self, shape: Shape) -> bool {
        let Shape { nx, ny, nz } = shape;
        let fields = [
            (&self.cell, (ny, nx), nz),
            (&self.cell_end, (ny, nx), nz),
            (&self.capacity_x, (ny, nx + 1), nz),
            (&self.capacity_y, (ny + 1, nx), nz),
            (&self.capacity_z, (ny, nx), nz + 1),
        ];
        let fits = |(field, plane, levels): &(&Layered<R>, (usize, usize), usize)| {
            [field.with_mu.dim(), field.without_mu.dim()] == [*plane; 2]
                && [field.c1.len(), field.c2.len()] == [*levels; 2]
        };
        let weights = [self.weight_above.len(), self.weight_below.len()];
        fields.iter().all(fits) && weights == [nz; 2] && self.map_x.dim() == (ny, nx)
    }
}

/// Horizontal winds on the faces of the cells.
#[derive(Clone, Debug)]
pub struct Winds {
    /// Eastward, on x-faces (WRF `U`). Shape: (nz, ny, nx + 1). Units: m s⁻¹.
    pub u: Array3<f64>,
    /// Northward, on y-faces (WRF `V`). Shape: (nz, ny + 1, nx). Units: m s⁻¹.
    pub v: Array3<f64>,
}

/// Map factors on the faces: distance on the map over distance on the earth.
#[derive(Clone, Debug)]
pub struct FaceMaps {
    /// In x on x-faces (WRF `MAPFAC_UX`). Shape: (ny, nx + 1). Units: 1.
    pub u_x: Array2<f64>,
    /// In y on x-faces (WRF `MAPFAC_UY`). Shape: (ny, nx + 1). Units: 1.
    pub u_y: Array2<f64>,
    /// In x on y-faces (WRF `MAPFAC_VX`). Shape: (ny + 1, nx). Units: 1.
    pub v_x: Array2<f64>,
    /// In y on y-faces (WRF `MAPFAC_VY`). Shape: (ny + 1, nx). Units: 1.
    pub v_y: Array2<f64>,
}

impl FaceMaps {
    /// The map factors of the faces that a part of the grid has.
    ///
    /// # Panics
    ///
    /// When these are not of the global grid of the part.
    #[must_use]
    pub fn part(&self, part: &Grid) -> Self {
        let [x, y] = [[0, 1], [1, 0]];
        let of = |plane: &Array2<f64>, more| part.faces_of_plane(plane, more);
        Self {
            u_x: of(&self.u_x, x),
            u_y: of(&self.u_y, x),
            v_x: of(&self.v_x, y),
            v_y: of(&self.v_y, y),
        }
    }

    /// The map factors of a plane, 1 everywhere.
    pub fn plane(shape: Shape) -> Self {
        let u = Array2::ones((shape.ny, shape.nx + 1));
        let v = Array2::ones((shape.ny + 1, shape.nx));
        Self { u_x: u.clone(), u_y: u, v_x: v.clone(), v_y: v }
    }
}

/// Mass fluxes of dry air through the faces, positive eastward, northward, upward.
#[derive(Clone, Debug)]
pub struct MassFlux<R> {
    /// Through the x-faces. Shape: (nz, ny, nx + 1). Units: kg s⁻¹.
    pub x: Array3<R>,
    /// Through the y-faces. Shape: (nz, ny + 1, nx). Units: kg s⁻¹.
    pub y: Array3<R>,
    /// Through the z-faces, 0 at the ground and at the lid. Shape: (nz + 1, ny, nx).
    /// Units: kg s⁻¹.
    pub z: Array3<R>,
}

impl<R: Copy> MassFlux<R> {
    /// The fluxes through the faces that a part of the grid has. Winds are projected as a whole before.
    ///
    /// # Panics
    ///
    /// When these are not of the global grid of the part.
    #[must_use]
    pub fn part(&self, part: &Grid) -> Self {
        Self { x: part.x_faces(&self.x), y: part.y_faces(&self.y), z: part.cells(&self.z) }
    }
}

/// The longest time step for which no cell loses more than its own mass, s.
///
/// `min over cells of M / Σ max(F out, 0)`
///
/// Source: S06; the sum of the outgoing Courant numbers stays at or below 1.
///
/// # Panics
///
/// When masses or fluxes are not of this shape.
pub fn longest_time_step<R: Real>(shape: Shape, air: &AirMass<R>, flux: &MassFlux<R>) -> f64 {
    let of_level = |k: usize| {
        let cells = (0..shape.ny).flat_map(|j| (0..shape.nx).map(move |i| [k, j, i]));
        cells.map(|cell| outflow_rate(air, flux, cell)).fold(0.0, f64::max)
    };
    let largest = (0..shape.nz).into_par_iter().map(of_level).reduce(|| 0.0, f64::max);
    1.0 / largest
}

/// Outflow of a cell through all its faces over its mass, s⁻¹.
fn outflow_rate<R: Real>(air: &AirMass<R>, flux: &MassFlux<R>, [k, j, i]: [usize; 3]) -> f64 {
    let outgoing = |f: R| f.f64().max(0.0);
    let out = outgoing(flux.x[[k, j, i + 1]])
        + outgoing(-flux.x[[k, j, i]])
        + outgoing(flux.y[[k, j + 1, i]])
        + outgoing(-flux.y[[k, j, i]])
        + outgoing(flux.z[[k + 1, j, i]])
        + outgoing(-flux.z[[k, j, i]]);
    out / air.cell.at(k, j, i).f64()
}

/// The cell with the largest Courant number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outflow {
    /// Outflow rate relative to the mass of the cell; times the time step it is the Courant number. Units: s⁻¹.
    pub rate: f32,
    /// The first such cell, (k, j, i).
    pub cell: [usize; 3],
}

/// The cell with the largest Courant number, from rates in single precision.
///
/// # Panics
///
/// When masses or fluxes are not of this grid.
pub fn fastest_outflow<R: Real>(grid: &Grid, air: &AirMass<R>, flux: &MassFlux<R>) -> Outflow {
    let Window { rows, columns } = grid.owned();
    let of_level = |k: usize| {
        let (mut fastest, mut at) = (0.0, [rows.start, columns.start]);
        for j in rows.clone() {
            for i in columns.clone() {
                let rate = outflow_rate(air, flux, [k, j, i]) as f32;
                if rate > fastest {
                    (fastest, at) = (rate, [j, i]);
                }
            }
        }
        let [j, i] = grid.global_column(at);
        Outflow { rate: fastest, cell: [k, j, i] }
    };
    let levels: Vec<Outflow> = (0..grid.shape.nz).into_par_iter().map(of_level).collect();
    let faster = |a: Outflow, b: Outflow| if b.rate > a.rate { b } else { a };
    levels.into_iter().reduce(faster).unwrap_or_default()
}

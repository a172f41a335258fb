//! The lateral faces of one direction: the cells beside them and their masses.

use std::path::Path;

use ndarray::parallel::prelude::*;
use ndarray::{Array2, Array3, Axis, Zip, s};

use crate::dry_mass::{Layered, MassCoordinate};
use crate::error::{Error, Result};
use crate::grid::{Grid, Shape};
use crate::primitives::reduce;
use crate::real::Real;

/// Axes of a plane: y, from south to north, and x, from west to east.
pub(super) const Y: usize = 0;
pub(super) const X: usize = 1;

/// The faces normal to one axis.
pub(super) struct Faces {
    /// [`X`] or [`Y`].
    axis: usize,
    shape: Shape,
    /// Cells along the axis.
    cells: usize,
    periodic: bool,
    /// Mass flux for a wind of 1 m s⁻¹. Units: kg m⁻¹.
    mass: Layered<f64>,
    /// Sum of [`Faces::mass`] over the layers.
    column_mass: Array2<f64>,
    /// Reciprocal of the true distance between the cells on both sides of the face. Units: m⁻¹.
    per_distance: Array2<f64>,
}

impl Faces {
    /// The faces normal to an axis, with the map factors along that axis and along the face.
    pub(super) fn new(
        axis: usize,
        grid: &Grid,
        coordinate: &MassCoordinate,
        [map_across, map_along]: [&Array2<f64>; 2],
    ) -> Result<Self> {
        let shape = grid.shape;
        let distance = [grid.dy, grid.dx][axis];
        let periodic = [grid.sides.periodic_y(), grid.sides.periodic_x()][axis];
        let mut planes = [shape.ny, shape.nx];
        let cells = planes[axis];
        planes[axis] += 1;
        assert_eq!(
            [map_across.shape(), map_along.shape()],
            [planes; 2],
            "shape of the map factors"
        );
        let deep = |profile: &[f64]| -> Vec<f64> {
            (0..shape.nz).map(|k| profile[k] * coordinate.thickness(k)).collect()
        };
        let mut faces = Self {
            axis,
            shape,
            cells,
            periodic,
            mass: Layered {
                with_mu: Array2::zeros((0, 0)),
                without_mu: Array2::zeros((0, 0)),
                c1: deep(&coordinate.c1),
                c2: deep(&coordinate.c2),
            },
            column_mass: Array2::zeros((0, 0)),
            per_distance: Array2::zeros((0, 0)),
        };
        let [c1, c2] = [&faces.mass.c1, &faces.mass.c2].map(|profile| reduce::sum(profile));
        let mu = plane(planes, |face| faces.mean_of_cells(face, &coordinate.mu));
        // unit / distance is the width of the face on the map over gravity.
        let width =
            plane(planes, |face| coordinate.unit / (distance * map_along[faces.only(face)]));
        faces.per_distance = plane(planes, |face| map_across[faces.only(face)] / distance);
        faces.mass.with_mu = &mu * &width;
        faces.mass.without_mu = width;
        faces.column_mass = &faces.mass.with_mu * c1 + &faces.mass.without_mu * c2;
        let factors = Zip::from(&mu)
            .and(&faces.per_distance)
            .and(&faces.mass.without_mu)
            .and(&faces.column_mass)
            .map_collect(|&mu, &a, &b, &mass| [mu, a, b, mass * a]);
        let is_bad = |factors: &[f64; 4]| !factors.iter().all(|&x| x > 0.0 && x.is_finite());
        if let Some(((j, i), _)) = factors.indexed_iter().find(|(_, factors)| is_bad(factors)) {
            let only = faces.only([j, i]);
            let (across, along, mu) = (map_across[only], map_along[only], mu[[j, i]]);
            let name = ["Y", "X"][axis];
            return Err(refuse(format!(
                "the {name} face i={i} j={j} has the map factors {across} across and {along} \
                 along it and the column mass {mu} Pa; all must be positive (idealised cases may \
                 have map factors of 0 that mean 1)"
            )));
        }
        Ok(faces)
    }

    /// The faces that a part of the grid has, with the masses that they have in the whole.
    pub(super) fn of_part(&self, part: &Grid) -> Self {
        let cut = |plane: &Array2<f64>| self.plane_of_part(plane, part);
        let shape = part.shape;
        let cells = [shape.ny, shape.nx][self.axis];
        let margins = part.margins();
        let is_cut = [margins.south + margins.north, margins.west + margins.east][self.axis] > 0;
        Self {
            axis: self.axis,
            shape,
            cells,
            // The ends of a part of a periodic axis are not one face.
            periodic: self.periodic && !is_cut,
            mass: Layered {
                with_mu: cut(&self.mass.with_mu),
                without_mu: cut(&self.mass.without_mu),
                c1: self.mass.c1.clone(),
                c2: self.mass.c2.clone(),
            },
            column_mass: cut(&self.column_mass),
            per_distance: cut(&self.per_distance),
        }
    }

    /// A plane of these faces of the whole grid, in a part.
    pub(super) fn plane_of_part(&self, plane: &Array2<f64>, part: &Grid) -> Array2<f64> {
        let mut more = [0; 2];
        more[self.axis] = 1;
        part.faces_of_plane(plane, more)
    }

    /// The cells on both sides of a face; `None` outside of the grid.
    pub(super) fn adjacent_cells(&self, mut face: [usize; 2]) -> [Option<[usize; 2]>; 2] {
        let (at, n) = (face[self.axis], self.cells);
        let before = at.checked_sub(1).or(self.periodic.then_some(n - 1));
        let behind = if at < n { Some(at) } else { self.periodic.then_some(0) };
        [before, behind].map(|cell| {
            face[self.axis] = cell?;
            Some(face)
        })
    }

    /// Mean of the cells beside a face.
    fn mean_of_cells(&self, face: [usize; 2], plane: &Array2<f64>) -> f64 {
        let cells = self.adjacent_cells(face).into_iter().flatten();
        let (sum, count) = cells.fold((0.0, 0.0), |(sum, n), cell| (sum + plane[cell], n + 1.0));
        sum / count
    }

    /// Column mass fluxes for a potential difference of 1, kg m⁻². Shape: as the faces.
    pub(super) fn conductances(&self) -> Array2<f64> {
        &self.column_mass * &self.per_distance
    }

    /// Winds, checked to be finite; with periodic sides the last face is set to the first.
    pub(super) fn single_valued(
        &self,
        name: &'static str,
        wind: &Array3<f64>,
    ) -> Result<Array3<f64>> {
        let (rows, columns) = self.column_mass.dim();
        assert_eq!(wind.dim(), (self.shape.nz, rows, columns), "shape of {name}");
        let wind = wind.as_standard_layout();
        let mut wind: Array3<f64> = Zip::from(&wind).par_map_collect(|x| *x);
        let values = wind.as_slice().expect("standard layout");
        if let Some(at) = reduce::non_finite(values).first {
            let cell = [at / (rows * columns), at / columns % rows, at % columns];
            return Err(Error::BlowUp { variable: name, value: values[at], step: 0, cell });
        }
        if self.periodic {
            let axis = Axis(1 + self.axis);
            let first = wind.index_axis(axis, 0).to_owned();
            wind.index_axis_mut(axis, self.cells).assign(&first);
        }
        Ok(wind)
    }

    /// Mass fluxes of a wind, rounded. Shape: as the wind. Units: kg s⁻¹.
    pub(super) fn flux<R: Real>(&self, wind: &Array3<f64>) -> Array3<R> {
        let mut flux = Array3::zeros(wind.dim());
        flux.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(k, mut level)| {
            let mut mass = vec![0.0; level.ncols()];
            for (j, row) in level.rows_mut().into_iter().enumerate() {
                self.mass.fill_row(k, j, &mut mass);
                for ((flux, mass), wind) in row.into_iter().zip(&mass).zip(wind.slice(s![k, j, ..]))
                {
                    *flux = R::of(mass * wind);
                }
            }
        });
        flux
    }

    /// Mass fluxes of a wind, summed over the layers. Units: kg s⁻¹.
    pub(super) fn column_flux(&self, wind: &Array3<f64>) -> Array2<f64> {
        let mut total = Array2::zeros(self.column_mass.dim());
        Zip::indexed(total.rows_mut()).par_for_each(|j, mut total| {
            let mut mass = vec![0.0; total.len()];
            for k in 0..self.shape.nz {
                self.mass.fill_row(k, j, &mut mass);
                for ((total, mass), wind) in
                    total.iter_mut().zip(&mass).zip(wind.slice(s![k, j, ..]))
                {
                    *total += mass * wind;
                }
            }
        });
        total
    }

    /// Gradient across the faces of a potential that is 0 beyond the grid.
    pub(super) fn gradient(&self, chi: &Array2<f64>) -> Array2<f64> {
        Zip::indexed(&self.per_distance).par_map_collect(|(j, i), per_distance| {
            let [before, behind] =
                self.adjacent_cells([j, i]).map(|cell| cell.map_or(0.0, |cell| chi[cell]));
            (behind - before) * per_distance
        })
    }

    /// The face that represents this one: with periodic sides the last face is the first.
    fn only(&self, mut face: [usize; 2]) -> [usize; 2] {
        if self.periodic {
            face[self.axis] %= self.cells;
        }
        face
    }
}

/// A plane of values of its places.
fn plane([rows, columns]: [usize; 2], value: impl Fn([usize; 2]) -> f64 + Sync) -> Array2<f64> {
    let mut plane = Array2::zeros((rows, columns));
    Zip::indexed(&mut plane).par_for_each(|(j, i), x| *x = value([j, i]));
    plane
}

/// The error about an input that cannot be projected.
pub(super) fn refuse(message: String) -> Error {
    Error::input(Path::new("wind projection"), message)
}

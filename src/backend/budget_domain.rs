//! The part of the grid that the water budget is made of.

use std::ops::Range;

use ndarray::{Array2, Array3, Axis, s};
use rayon::prelude::*;

use super::Precipitation;
use crate::dry_mass::{AirMass, MassCoordinate};
use crate::grid::{Grid, Window};
use crate::primitives::reduce;
use crate::real::Real;
use crate::state::{State, Surface, memory};

/// The owned columns inside the specified and open rows, and sums over them. Those of all parts of a grid add up to
/// the sums of the whole.
#[derive(Clone, Debug)]
pub struct BudgetDomain {
    pub(super) grid: Grid,
    /// Rows j of the region.
    pub rows: Range<usize>,
    /// Columns i of the region.
    pub columns: Range<usize>,
    /// Area of the cells of the grid, those of the margin included. Shape: (ny, nx). Units: m².
    pub area: Array2<f64>,
}

impl BudgetDomain {
    /// The region of a grid.
    pub fn new(grid: &Grid, coordinate: &MassCoordinate) -> Self {
        let Grid { shape, dx, dy, .. } = *grid;
        let Window { rows, columns } = grid.inner();
        let area = Array2::from_shape_fn((shape.ny, shape.nx), |c| {
            dx * dy / (coordinate.map_x[c] * coordinate.map_y[c])
        });
        Self { grid: *grid, rows, columns, area }
    }

    /// Water of a state, kg, row by row and then level by level, whatever the number of threads.
    pub fn water<R: Real>(&self, air: &AirMass<R>, state: &State<R>) -> f64 {
        let water: Vec<&[R]> = state.water().iter().map(memory).collect();
        let (ny, nx) = self.area.dim();
        let levels: Vec<f64> = (0..self.grid.shape.nz)
            .into_par_iter()
            .map(|k| {
                let (mut mass, mut terms) = (vec![R::ZERO; nx], vec![0.0; nx]);
                let mut sum = 0.0;
                for j in self.rows.clone() {
                    air.cell.fill_row(k, j, &mut mass);
                    let first = (k * ny + j) * nx;
                    for (i, (term, mass)) in terms.iter_mut().zip(&mass).enumerate() {
                        let all = water.iter().fold(0.0, |sum, field| sum + field[first + i].f64());
                        *term = mass.f64() * all;
                    }
                    for term in &terms[self.columns.clone()] {
                        sum += term;
                    }
                }
                sum
            })
            .collect();
        reduce::sum(&levels)
    }

    /// A tracer inside the region, kg of dry air times its units: `Σ M q`, row by row and then level by level,
    /// whatever the number of threads. Shape: (nz, ny, nx).
    pub fn amount<R: Real>(&self, air: &AirMass<R>, q: &Array3<R>) -> f64 {
        let levels: Vec<f64> = (0..self.grid.shape.nz)
            .into_par_iter()
            .map(|k| {
                let places =
                    self.rows.clone().flat_map(|j| self.columns.clone().map(move |i| (j, i)));
                places.map(|(j, i)| air.cell.at(k, j, i).f64() * q[[k, j, i]].f64()).sum()
            })
            .collect();
        reduce::sum(&levels)
    }

    /// Sum of a surface density in the region, kg. Shape: (ny, nx). Units: kg m⁻².
    pub fn total<R: Real>(&self, plane: &Array2<R>) -> f64 {
        let inside = s![self.rows.clone(), self.columns.clone()];
        let plane = plane.slice(inside);
        let area = self.area.slice(inside);
        plane
            .axis_iter(Axis(0))
            .zip(area.axis_iter(Axis(0)))
            .map(|(row, area)| row.iter().zip(area).map(|(x, a)| x.f64() * a).sum::<f64>())
            .sum()
    }

    /// Area of the region, m².
    pub fn extent(&self) -> f64 {
        self.area.slice(s![self.rows.clone(), self.columns.clone()]).sum()
    }

    /// Precipitation by what has fallen, all and frozen; that of a part is of its own columns alone.
    pub fn precipitation<R: Real>(&self, surface: &Surface<R>) -> Precipitation {
        let area = self.extent();
        let Some(all) = surface.precipitation() else { return Precipitation::default() };
        let most = self.grid.owned().of_plane(all).iter().map(|x| x.f64()).fold(0.0, f64::max);
        Precipitation {
            mean: self.total(all) / area,
            frozen_mean: surface.frozen().map(|part| self.total(part) / area).sum(),
            most,
        }
    }
}

//! The part of the grid that the water budget is made of.

use std::ops::Range;

use ndarray::{Array2, Array3, s};
use rayon::prelude::*;

use super::Precipitation;
use crate::dry_mass::{AirMass, MassCoordinate};
use crate::grid::{Grid, Window};
use crate::primitives::exact_sum::ExactSum;
use crate::real::Real;
use crate::state::{State, Surface, memory};

/// The owned columns inside the specified and open rows, and exact sums over them: those of all parts of a grid add up to
/// the sums of the whole, to the bit.
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

    /// Water of a state, kg.
    pub fn water<R: Real>(&self, air: &AirMass<R>, state: &State<R>) -> ExactSum {
        let water: Vec<&[R]> = state.water().iter().map(memory).collect();
        self.weighed(air, |cell| water.iter().fold(0.0, |sum, field| sum + field[cell].f64()))
    }

    /// A tracer inside the region, kg of dry air times its units: `Σ M q`. Shape: (nz, ny, nx).
    pub fn amount<R: Real>(&self, air: &AirMass<R>, q: &Array3<R>) -> ExactSum {
        self.amount_of_part(air, q, 1.0)
    }

    /// The same of a part of each value.
    pub(super) fn amount_of_part<R: Real>(
        &self,
        air: &AirMass<R>,
        q: &Array3<R>,
        part: f64,
    ) -> ExactSum {
        let q = memory(q);
        self.weighed(air, |cell| part * q[cell].f64())
    }

    /// Sum over the cells of the region of their mass times a value, which is a function of their number in a field.
    fn weighed<R: Real>(&self, air: &AirMass<R>, value: impl Fn(usize) -> f64 + Sync) -> ExactSum {
        let (ny, nx) = self.area.dim();
        let of_level = |k: usize| {
            let (mut mass, mut sum) = (vec![R::ZERO; nx], ExactSum::default());
            for j in self.rows.clone() {
                air.cell.fill_row(k, j, &mut mass);
                let first = (k * ny + j) * nx;
                sum.extend(self.columns.clone().map(|i| mass[i].f64() * value(first + i)));
            }
            sum
        };
        (0..self.grid.shape.nz).into_par_iter().map(of_level).sum()
    }

    /// Sum of a surface density in the region, kg. Shape: (ny, nx). Units: kg m⁻².
    pub fn total<R: Real>(&self, plane: &Array2<R>) -> ExactSum {
        let inside = s![self.rows.clone(), self.columns.clone()];
        let densities = plane.slice(inside);
        densities.iter().zip(self.area.slice(inside)).map(|(x, area)| x.f64() * area).collect()
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
            mean: self.total(all).value() / area,
            frozen_mean: surface.frozen().map(|part| self.total(part).value() / area).sum(),
            most,
        }
    }
}

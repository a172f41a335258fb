//! The part of the grid that the water budget is made of.

use std::ops::Range;

use ndarray::{Array2, Axis, s};
use rayon::prelude::*;

use super::Precipitation;
use crate::grid::Grid;
use crate::mass::{AirMass, MassCoordinate};
use crate::primitives::reduce;
use crate::real::Real;
use crate::state::{Environment, State};

/// The columns inside the specified and open rows, and sums over them.
#[derive(Clone, Debug)]
pub struct Region {
    /// Layers of the grid.
    nz: usize,
    /// Rows j of the region.
    pub rows: Range<usize>,
    /// Columns i of the region.
    pub columns: Range<usize>,
    /// Area of the cells of the whole grid. Shape: (ny, nx). Units: m².
    pub area: Array2<f64>,
}

impl Region {
    /// The region of a grid.
    pub fn new(grid: &Grid, coordinate: &MassCoordinate) -> Self {
        let Grid { shape, sides, dx, dy } = *grid;
        let area = Array2::from_shape_fn((shape.ny, shape.nx), |c| {
            dx * dy / (coordinate.map_x[c] * coordinate.map_y[c])
        });
        Self { nz: shape.nz, rows: sides.inner_y(shape.ny), columns: sides.inner_x(shape.nx), area }
    }

    /// Water of a state, kg.
    pub fn water<R: Real>(&self, air: &AirMass<R>, state: &State<R>) -> f64 {
        self.weighted_water(state, |k, j, i| air.cell.at(k, j, i).f64())
    }

    /// Water there by how much the dry mass of its cell exceeds rho dz, kg.
    pub fn surplus_water<R: Real>(
        &self,
        air: &AirMass<R>,
        environment: &Environment<R>,
        state: &State<R>,
    ) -> f64 {
        let Environment { rho, dz, .. } = environment;
        self.weighted_water(state, |k, j, i| {
            let at = [k, j, i];
            air.cell.at(k, j, i).f64() - rho[at].f64() * dz[at].f64() * self.area[[j, i]]
        })
    }

    /// Sum of all water, each cell with its weight.
    ///
    /// Row by row and then level by level, whatever the number of threads.
    fn weighted_water<R: Real>(
        &self,
        state: &State<R>,
        weight: impl Fn(usize, usize, usize) -> f64 + Sync,
    ) -> f64 {
        let [_, qv, qc, qr, qi, qs] = state.fields();
        let levels: Vec<f64> = (0..self.nz)
            .into_par_iter()
            .map(|k| {
                let mut sum = 0.0;
                for j in self.rows.clone() {
                    for i in self.columns.clone() {
                        let at = [k, j, i];
                        let water = qv[at].f64()
                            + qc[at].f64()
                            + qr[at].f64()
                            + qi[at].f64()
                            + qs[at].f64();
                        sum += weight(k, j, i) * water;
                    }
                }
                sum
            })
            .collect();
        reduce::sum(&levels)
    }

    /// Sum of a surface density, kg.
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

    /// Precipitation by what has fallen, all and frozen, mm.
    pub fn precipitation<R: Real>(&self, rain: &Array2<R>, snow: &Array2<R>) -> Precipitation {
        let area = self.extent();
        Precipitation {
            mean: self.total(rain) / area,
            frozen_mean: self.total(snow) / area,
            most: rain.iter().map(|x| x.f64()).fold(0.0, f64::max),
        }
    }
}

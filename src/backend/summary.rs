//! Sums and extrema of a frame of output.

use ndarray::{Array3, ArrayView3, Axis, s};
use rayon::prelude::*;

use super::{BudgetDomain, WaterChange};
use crate::dry_mass::{AirMass, MassFlux, Outflow, fastest_outflow};
use crate::grid::{Grid, Window};
use crate::primitives::reduce::{Segments, Statistics, statistics_of_segments};
use crate::real::Real;
use crate::state::State;

/// Sums and extrema of the fields of a frame, and the water budget so far.
#[derive(Clone, Debug)]
pub struct Summary<R> {
    /// Extrema with their places in the global grid, sum and sum of squares of the owned cells of every
    /// level of every field of the state, (field, k). A part on a GPU has none: its ranks bring levels together.
    pub levels: Vec<Statistics<R>>,
    /// Water above each square metre, in the order of the fields of the state.
    /// Shape: (species of water, ny, nx) of the owned columns. Units: kg m⁻².
    pub contents: Array3<R>,
    /// The owned cell that air leaves fastest, by the winds of this time.
    pub outflow: Outflow,
    /// Water inside the specified and open rows, kg.
    pub water: f64,
    /// Its changes since the state was set.
    pub changes: WaterChange,
}

impl<R: Real> Summary<R> {
    /// Sums up a state in winds.
    ///
    /// # Panics
    ///
    /// When the arrays are not of one grid, or not in standard layout.
    pub fn of(
        region: &BudgetDomain,
        air: &AirMass<R>,
        state: &State<R>,
        flux: &MassFlux<R>,
        changes: WaterChange,
    ) -> Self {
        let grid = &region.grid;
        let of_field = |field: &Array3<R>| statistics_of_levels(grid, field);
        Self {
            levels: state.fields().iter().flat_map(of_field).collect(),
            contents: contents(region, air, state),
            outflow: fastest_outflow(grid, air, flux),
            water: region.water(air, state).value(),
            changes,
        }
    }
}

/// Extrema, with their places in a level of the global grid, and sums of the owned cells of every level.
fn statistics_of_levels<R: Real>(grid: &Grid, field: &Array3<R>) -> Vec<Statistics<R>> {
    let of_levels = |field: ArrayView3<'_, R>| {
        let (nz, ny, nx) = field.dim();
        let values = field.to_slice().expect("fields are in standard layout");
        statistics_of_segments(values, Segments::adjacent(nz, ny * nx))
    };
    if grid.is_whole() {
        return of_levels(field.view());
    }
    let owned = grid.owned();
    let mut levels = of_levels(owned.of(field).as_standard_layout().view());
    let place = |at: usize| {
        let (row, column) = (at / owned.columns.len(), at % owned.columns.len());
        let [j, i] = grid.global_column([owned.rows.start + row, owned.columns.start + column]);
        j * grid.global().nx + i
    };
    for extrema in levels.iter_mut().filter_map(|level| level.extrema.as_mut()) {
        (extrema.min_at, extrema.max_at) = (place(extrema.min_at), place(extrema.max_at));
    }
    levels
}

/// Water above each square metre of the owned columns, `Σ over layers M q / A`, in double precision.
fn contents<R: Real>(region: &BudgetDomain, air: &AirMass<R>, state: &State<R>) -> Array3<R> {
    let (nz, ny, nx) = state.theta().dim();
    let mut contents = Array3::zeros((state.water().len(), ny, nx));
    for (mut plane, q) in contents.axis_iter_mut(Axis(0)).zip(state.water()) {
        plane.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(j, mut row)| {
            let (mut mass, mut sums) = (vec![R::ZERO; nx], vec![0.0; nx]);
            for k in 0..nz {
                air.cell.fill_row(k, j, &mut mass);
                for ((sum, mass), q) in sums.iter_mut().zip(&mass).zip(q.slice(s![k, j, ..])) {
                    *sum += mass.f64() * q.f64();
                }
            }
            for ((content, sum), area) in row.iter_mut().zip(sums).zip(region.area.row(j)) {
                *content = R::of(sum / area);
            }
        });
    }
    let Window { rows, columns } = region.grid.owned();
    contents.slice_move(s![.., rows, columns]).as_standard_layout().into_owned()
}

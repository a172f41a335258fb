//! Sums and extrema of a frame of output.

use ndarray::{Array3, Axis, s};
use rayon::prelude::*;

use super::{Region, WaterChange};
use crate::grid::Shape;
use crate::mass::{AirMass, MassFlux, Outflow, fastest_outflow};
use crate::primitives::reduce::{Segments, Statistics, statistics_of_segments};
use crate::real::Real;
use crate::state::{SPECIES, State};

/// Sums and extrema of the fields of a frame, and the water budget so far.
#[derive(Clone, Debug)]
pub struct Summary<R> {
    /// Extrema with their places, sum and sum of squares of every level of every field of the
    /// state, (field, k).
    pub levels: Vec<Statistics<R>>,
    /// Water above each square metre, in the order of the fields of the state.
    /// Shape: ([`SPECIES`], ny, nx). Units: kg m⁻².
    pub contents: Array3<R>,
    /// The cell that air leaves fastest, by the winds of this time.
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
        region: &Region,
        air: &AirMass<R>,
        state: &State<R>,
        flux: &MassFlux<R>,
        changes: WaterChange,
    ) -> Self {
        let (nz, ny, nx) = state.theta().dim();
        let of_field = |field: &Array3<R>| {
            let values = field.as_slice().expect("fields are in standard layout");
            statistics_of_segments(values, Segments::adjacent(nz, ny * nx))
        };
        Self {
            levels: state.fields().iter().flat_map(of_field).collect(),
            contents: contents(region, air, state),
            outflow: fastest_outflow(Shape { nx, ny, nz }, air, flux),
            water: region.water(air, state),
            changes,
        }
    }
}

/// Water above each square metre, `Σ over layers M q / A`, in double precision.
fn contents<R: Real>(region: &Region, air: &AirMass<R>, state: &State<R>) -> Array3<R> {
    let (nz, ny, nx) = state.theta().dim();
    let mut contents = Array3::zeros((SPECIES, ny, nx));
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
    contents
}

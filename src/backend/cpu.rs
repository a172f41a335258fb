//! The CPU backend: all cores through rayon, the same bits on any number of them.

use std::time::{Duration, Instant};

use ndarray::parallel::prelude::*;
use ndarray::{Array2, Axis, s};

use crate::advection::flux::FluxConstants;
use crate::advection::{self, Limiter, Wind, Workspace};
use crate::grid::{Grid, Side};
use crate::mass::{AirMass, MassCoordinate, MassFlux};
use crate::primitives::reduce;
use crate::state::{BoundaryValues, CloudDiagnostics, Environment, State, Surface};
use crate::wsm5::radii::RadiusConstants;
use crate::wsm5::reflectivity::{Bins, RadarConstants};
use crate::wsm5::scheme::Scheme;
use crate::wsm5::{self, DiagnosticFields, Fallout, Fields, Scratch};

/// What the input prescribes for one step.
#[derive(Clone, Debug)]
pub struct Forcing<R> {
    /// Mass fluxes in the middle of the step.
    pub flux: MassFlux<R>,
    /// The air that the microphysics reads.
    pub environment: Environment<R>,
    /// Values of the fields of [`State`], in its order, for air that flows in.
    pub inflow: [BoundaryValues<R>; 6],
}

/// Changes of the water inside the specified and open rows in one step, kg.
#[derive(Clone, Copy, Debug, Default)]
pub struct WaterChange {
    /// Precipitation that has reached the ground.
    pub fallen: f64,
    /// Net inflow through the sides.
    pub sides: f64,
    /// What the fall scheme has made beyond what it was given.
    pub fallout_residual: f64,
    /// What clipping at zero has made.
    pub clipped: f64,
    /// What the microphysics moved between layers whose rho dz is not their dry mass.
    pub mass_mismatch: f64,
}

/// Time spent in the phases of the steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct PhaseTimes {
    /// Transport.
    pub advection: Duration,
    /// Microphysics.
    pub microphysics: Duration,
}

/// The state of a run and what a step needs beside it.
#[derive(Debug)]
pub struct Cpu<R> {
    grid: Grid,
    air: AirMass<R>,
    /// Area of the cells. Shape: (ny, nx). Units: m².
    area: Array2<f64>,
    limiter: Limiter,
    params: Scheme<R>,
    bins: Bins<R>,
    state: State<R>,
    surface: Surface<R>,
    workspace: Workspace<R>,
    scratch: Scratch<R>,
    times: PhaseTimes,
}

impl<R: FluxConstants + RadarConstants + RadiusConstants> Cpu<R> {
    /// Takes over a state.
    pub fn new(
        grid: &Grid,
        coordinate: &MassCoordinate,
        limiter: Limiter,
        fallout: Fallout,
        state: State<R>,
    ) -> Self {
        let shape = grid.shape;
        let area = Array2::from_shape_fn((shape.ny, shape.nx), |c| {
            grid.dx * grid.dy / (coordinate.map_x[c] * coordinate.map_y[c])
        });
        Self {
            grid: *grid,
            air: AirMass::new(grid, coordinate),
            area,
            limiter,
            params: Scheme::default().with_fallout(fallout),
            bins: Bins::default(),
            state,
            surface: Surface::zeros(shape),
            workspace: Workspace::new(shape),
            scratch: Scratch::new(shape.nz),
            times: PhaseTimes::default(),
        }
    }

    /// Goes back to a state, with nothing fallen.
    pub fn restore(&mut self, state: &State<R>) {
        for (mine, given) in self.state.fields_mut().into_iter().zip(state.fields()) {
            mine.assign(given);
        }
        for plane in [&mut self.surface.rain, &mut self.surface.snow] {
            plane.fill(R::ZERO);
        }
    }

    /// One time step of `dt` seconds: transport, then microphysics.
    pub fn step(&mut self, forcing: &Forcing<R>, dt: f64) -> WaterChange {
        let start = Instant::now();
        let sides = self.transport(forcing, dt);
        let between = Instant::now();
        self.times.advection += between - start;

        let environment = &forcing.environment;
        let before = self.surplus_water(environment);
        self.microphysics(environment, dt);
        let change = WaterChange {
            sides,
            fallen: self.total(&self.surface.fallen),
            fallout_residual: self.total(&self.surface.fall_residual),
            clipped: self.total(&self.surface.clipped),
            mass_mismatch: self.surplus_water(environment) - before,
        };
        self.times.microphysics += between.elapsed();
        change
    }

    /// Moves all fields with the air; returns the water that came in through the sides, kg.
    pub fn transport(&mut self, forcing: &Forcing<R>, dt: f64) -> f64 {
        let wind = Wind { grid: &self.grid, air: &self.air, flux: &forcing.flux, dt };
        let [theta, qv, qc, qr, qi, qs] = self.state.fields_mut();
        let [theta_inflow, water_inflow @ ..] = &forcing.inflow;
        let work = &mut self.workspace;
        // Potential temperature may have any value: nothing to keep above zero.
        advection::step(&wind, Limiter::None, Some(theta_inflow), theta, work);
        [qv, qc, qr, qi, qs]
            .into_iter()
            .zip(water_inflow)
            .map(|(q, inflow)| advection::step(&wind, self.limiter, Some(inflow), q, work))
            .sum()
    }

    /// One call of the microphysics, outside the specified rows.
    pub fn microphysics(&mut self, environment: &Environment<R>, dt: f64) {
        let fields = Fields::new(R::THETA_BASE, &mut self.state, environment, &mut self.surface);
        let inside = |low: Side, high: Side, n: usize| {
            usize::from(low == Side::Specified)..n - usize::from(high == Side::Specified)
        };
        let sides = self.grid.sides;
        let rows = inside(sides.south, sides.north, self.grid.shape.ny);
        let columns = inside(sides.west, sides.east, self.grid.shape.nx);
        wsm5::call(&self.params, R::of(dt), &self.scratch, fields.within(rows, columns));
    }

    /// Reflectivity and effective radii of the state.
    pub fn diagnose(&self, environment: &Environment<R>, out: &mut CloudDiagnostics<R>) {
        let fields = DiagnosticFields::new(R::THETA_BASE, &self.state, environment, out);
        wsm5::diagnose(&self.params, &self.bins, fields);
    }

    /// The fields.
    pub fn state(&self) -> &State<R> {
        &self.state
    }

    /// What has fallen.
    pub fn surface(&self) -> &Surface<R> {
        &self.surface
    }

    /// Time spent since the start.
    pub fn times(&self) -> PhaseTimes {
        self.times
    }

    /// Mass of the cells and capacity of the faces.
    pub fn air(&self) -> &AirMass<R> {
        &self.air
    }

    /// Water inside the specified and open rows, kg.
    pub fn water(&self) -> f64 {
        self.weighted_water(|k, j, i| self.air.cell.at(k, j, i).f64())
    }

    /// Water there by how much the dry mass of its cell exceeds rho dz, kg.
    fn surplus_water(&self, environment: &Environment<R>) -> f64 {
        let Environment { rho, dz, .. } = environment;
        self.weighted_water(|k, j, i| {
            let at = [k, j, i];
            self.air.cell.at(k, j, i).f64() - rho[at].f64() * dz[at].f64() * self.area[[j, i]]
        })
    }

    /// Sum of all water inside the specified and open rows, each cell with its weight.
    ///
    /// Row by row and then level by level, whatever the number of threads.
    fn weighted_water(&self, weight: impl Fn(usize, usize, usize) -> f64 + Sync) -> f64 {
        let (rows, columns) = self.region();
        let [_, qv, qc, qr, qi, qs] = self.state.fields();
        let levels: Vec<f64> = (0..self.grid.shape.nz)
            .into_par_iter()
            .map(|k| {
                let mut sum = 0.0;
                for j in rows.clone() {
                    for i in columns.clone() {
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

    /// Sum of a surface density inside the specified and open rows, kg.
    fn total(&self, plane: &Array2<R>) -> f64 {
        let (rows, columns) = self.region();
        let inside = s![rows, columns];
        let plane = plane.slice(inside);
        let area = self.area.slice(inside);
        plane
            .axis_iter(Axis(0))
            .zip(area.axis_iter(Axis(0)))
            .map(|(row, area)| row.iter().zip(area).map(|(x, a)| x.f64() * a).sum::<f64>())
            .sum()
    }

    /// Rows and columns inside the specified and open ones.
    fn region(&self) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
        let Grid { shape, sides, .. } = self.grid;
        (sides.inner_y(shape.ny), sides.inner_x(shape.nx))
    }

    /// Mean precipitation inside the specified and open rows, all and frozen, mm.
    pub fn mean_precipitation(&self) -> [f64; 2] {
        let (rows, columns) = self.region();
        let area = self.area.slice(s![rows, columns]).sum();
        [&self.surface.rain, &self.surface.snow].map(|plane| self.total(plane) / area)
    }
}

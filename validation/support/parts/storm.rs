//! A storm of random numbers: clouds of water and ice, rain, snow and a passive tracer in winds without order, on a
//! grid with any sides.

use std::sync::Arc;

use ndarray::{Array2, Array3};
use nwp_mini::constants::Constants;
use nwp_mini::constituents::{Constituent, Inflow};
use nwp_mini::dry_mass::{MassCoordinate, MassFlux};
use nwp_mini::forcing::{Continuity, Forcing, TimeInterpolant};
use nwp_mini::grid::{Grid, Shape, Sides};
use nwp_mini::physics::registry::usual_set;
use nwp_mini::real::Real;
use nwp_mini::state::{BoundaryValues, Environment, State};

use crate::random::Random;

/// Length of a step, s.
pub const DT: f64 = 60.0;

/// Mass that passes a face in a step by the rotation of the air, as a part of the mass of a cell: two such potentials
/// at the ends of a face make a Courant number of up to 0.3.
const ROTATION: f64 = 0.15;
/// The same by divergence.
const DIVERGENCE: f64 = 0.02;

const GRAVITY: f64 = 9.81;
/// Gas constant of dry air, J kg⁻¹ K⁻¹, and its share of the heat capacity.
const GAS: f64 = 287.0;
const KAPPA: f64 = 2.0 / 7.0;
const FREEZING: f64 = 273.15;

/// The input of a run whose winds, air and inflow change between two frames.
#[derive(Clone, Debug)]
pub struct Storm<R> {
    pub grid: Grid,
    pub coordinate: MassCoordinate,
    frames: [Arc<Forcing<R>>; 2],
    pub state: State<R>,
}

/// The air of the column at its mean: pressure, Exner function, potential temperature, depth of a layer.
fn profile(k: usize, nz: usize) -> [f64; 4] {
    let height = (k as f64 + 0.5) / nz as f64;
    let p = 1.0e5 - 7.0e4 * height;
    let exner = (p / 1.0e5).powf(KAPPA);
    let theta = 292.0 + 40.0 * height;
    let dz = 7.0e4 / nz as f64 / (p / (GAS * theta * exner) * GRAVITY);
    [p, exner, theta, dz]
}

/// Saturation over water, kg kg⁻¹, by Tetens' formula.
fn saturation(t: f64, p: f64) -> f64 {
    0.622 * 611.0 * (17.27 * (t - FREEZING) / (t - 35.86)).exp() / p
}

impl<R: Real> Storm<R> {
    /// The storm of a seed.
    pub fn new(shape: Shape, sides: Sides, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let grid = Grid::whole(shape, [3000.0, 2000.0], sides);
        let coordinate = coordinate(&grid, &mut random);
        let state = state(shape, &mut random);
        let frame = |random: &mut Random| {
            let flux = flux(&grid, &coordinate, random);
            let inflow = |(n, field): (usize, &Array3<R>)| {
                // Inflow brings more than the storm has at its sides, or as much as the neighbouring cell.
                let more = R::of(random.between(1.0, 1.5));
                (n % 3 != 2).then(|| BoundaryValues::of(&field.mapv(|q| q * more)))
            };
            let inflow = state.fields().iter().enumerate().map(inflow).collect();
            let environment = environment(shape, random);
            Arc::new(Forcing { flux, environment, inflow, photolysis: Vec::new() })
        };
        let frames = [frame(&mut random), frame(&mut random)];
        Self { grid, coordinate, frames, state }
    }

    /// The same for a part of the grid.
    pub fn part(&self, part: &Grid) -> Self {
        Self {
            grid: *part,
            coordinate: self.coordinate.part(part),
            frames: self.frames.each_ref().map(|frame| Arc::new(frame.part(part))),
            state: self.state.part(part),
        }
    }

    /// Input of the first step.
    pub fn forcing(&self) -> &Arc<Forcing<R>> {
        &self.frames[0]
    }

    /// Input of a step: the first one lies at the first frame, the others between the two.
    pub fn moment(&self, step: usize) -> TimeInterpolant<R> {
        let [before, after] = self.frames.each_ref().map(Arc::clone);
        let weight = |offset: f64| (step as f64 - offset) / 8.0;
        TimeInterpolant {
            number: 0,
            before,
            after: (step > 0).then_some(after),
            flux_weight: weight(0.5),
            air_weight: weight(0.0),
            seconds: step as f64 * DT,
            times: [0.0, 8.0 * DT],
        }
    }
}

fn coordinate(grid: &Grid, random: &mut Random) -> MassCoordinate {
    let Shape { nx, ny, nz } = grid.shape;
    let mut plane =
        |low, high| Array2::from_shape_simple_fn((ny, nx), || random.between(low, high));
    let [mu, map_x, map_y] = [plane(6.8e4, 7.2e4), plane(0.9, 1.1), plane(0.9, 1.1)];
    let rdnw: Vec<f64> = (0..nz).map(|_| -random.between(0.8, 1.2) * nz as f64).collect();
    let weight = |k: usize, at: usize, other: usize| {
        if k == 0 { 0.0 } else { rdnw[at].abs() / (rdnw[at].abs() + rdnw[other].abs()) }
    };
    MassCoordinate {
        mu,
        map_x,
        map_y,
        c1: (0..nz).map(|_| random.between(0.7, 1.0)).collect(),
        c2: (0..nz).map(|_| random.between(0.0, 3.0e3)).collect(),
        fnm: (0..nz).map(|k| weight(k, k, k.saturating_sub(1))).collect(),
        fnp: (0..nz).map(|k| weight(k, k.saturating_sub(1), k)).collect(),
        rdnw,
        unit: grid.dx * grid.dy / GRAVITY,
    }
}

/// Fluxes that rotate at random and diverge a little; the vertical ones close the balance of each column.
fn flux<R: Real>(grid: &Grid, coordinate: &MassCoordinate, random: &mut Random) -> MassFlux<R> {
    let Shape { nx, ny, nz } = grid.shape;
    let mass = 5.0e4 * coordinate.unit / nz as f64;
    // Corners of cells; on a periodic axis the last ones are the first ones.
    let at = |n: usize, cells: usize, is_periodic: bool| if is_periodic { n % cells } else { n };
    let [px, py] = [grid.sides.periodic_x(), grid.sides.periodic_y()];
    let mut corners = || {
        Array3::from_shape_simple_fn((nz, ny + 1, nx + 1), || random.between(-1.0, 1.0) * mass / DT)
    };
    let [potential, x, y] = [corners(), corners(), corners()];
    let of = |field: &Array3<f64>, k: usize, j: usize, i: usize| {
        field[[k, at(j, ny, py), at(i, nx, px)]]
    };
    let mut flux = MassFlux {
        x: Array3::from_shape_fn(grid.shape.x_face(), |(k, j, i)| {
            let difference = of(&potential, k, j + 1, i) - of(&potential, k, j, i);
            R::of(ROTATION * difference + DIVERGENCE * of(&x, k, j, i))
        }),
        y: Array3::from_shape_fn(grid.shape.y_face(), |(k, j, i)| {
            let difference = of(&potential, k, j, i) - of(&potential, k, j, i + 1);
            R::of(ROTATION * difference + DIVERGENCE * of(&y, k, j, i))
        }),
        z: Array3::zeros(grid.shape.z_face()),
    };
    Continuity::new(coordinate).close(&mut flux);
    flux
}

fn environment<R: Real>(shape: Shape, random: &mut Random) -> Environment<R> {
    let mut field = |value: fn([f64; 4]) -> f64| {
        Array3::from_shape_fn(shape.centre(), |(k, _, _)| {
            R::of(value(profile(k, shape.nz)) * random.between(0.995, 1.005))
        })
    };
    Environment {
        rho: field(|[p, exner, theta, _]| p / (GAS * theta * exner)),
        exner: field(|[_, exner, ..]| exner),
        p: field(|[p, ..]| p),
        dz: field(|[.., dz]| dz),
        w: None,
    }
}

fn state<R: Real>(shape: Shape, random: &mut Random) -> State<R> {
    let nz = shape.nz;
    let temperature = |k: usize| profile(k, nz)[1] * profile(k, nz)[2];
    let theta = Array3::from_shape_fn(shape.centre(), |(k, _, _)| {
        R::of(profile(k, nz)[2] - f64::THETA_BASE + random.between(-2.0, 2.0))
    });
    let qv = Array3::from_shape_fn(shape.centre(), |(k, _, _)| {
        R::of(random.between(0.3, 1.1) * saturation(temperature(k), profile(k, nz)[0]))
    });
    // A third of the cells holds nothing, so that the limiters have work.
    let mut condensate = |most: f64, is_liquid: bool| {
        Array3::from_shape_fn(shape.centre(), |(k, _, _)| {
            let is_possible = (temperature(k) > FREEZING - 20.0) || !is_liquid;
            let q = random.between(-0.5, 1.0).max(0.0);
            R::of(if is_possible { most * q } else { 0.0 })
        })
    };
    let [qc, qr] = [condensate(1.0e-3, true), condensate(2.0e-3, true)];
    let [qi, qs, smoke] = [3.0e-4, 1.0e-3, 1.0].map(|most| condensate(most, false));
    // Air may bring in as much of a tracer as the neighbouring cell has.
    let inflow = Inflow::ZeroGradient;
    let smoke_of = Constituent {
        variable: "SMOKE",
        decay: Some(900.0),
        inflow,
        ..Constituent::passive("smoke")
    };
    let base = usual_set();
    let set = Arc::new(base.with_passive([smoke_of]));
    State::new(base, vec![theta, qv, qc, qr, qi, qs]).followed_by(set, vec![smoke])
}

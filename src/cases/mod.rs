//! Idealised cases: air and winds by formulas, on any grid, as the input of a run.
//!
//! The winds of a case are prescribed, as in every input, and conserve the mass of every column (`flow`); the air is in
//! hydrostatic balance (`column`).
//!
//! # Decisions
//!
//! **Cases are built from mass fluxes** (`flow`): differences of a streamfunction, and overturning whose fluxes through
//! a lateral face add up to zero over its height. So every column conserves its mass before any projection, on any grid
//! and for any formula. Columns are built with the functions with which the reader derives density from pressure, so
//! that density times depth is the mass.
//!
//! **The kinematic driver's columns have inflow from below and from both sides** (`kinematic`). With the same w in all
//! columns, flux form and lateral convergence combine to the advective form of the driver. A roll in a periodic grid
//! would need no inflow, but would not be a single column: its ascent varies along x.
//!
//! **Transport tests store the exact solution as later frames of the input.** A run takes only winds and inflow from
//! these frames; `diff` of input and output then gives the error at each of their times.

mod column;
mod convection;
mod flow;
mod kinematic;
mod sounding;
mod storm;
mod tracers;

use ndarray::{Array2, Array3};
use rayon::prelude::*;
use time::PrimitiveDateTime;
use time::macros::datetime;

use crate::constants::Constants;
use crate::domain::{Domain, Vertical};
use crate::error::{Advice, Error, Result};
use crate::frame::Frame;
use crate::grid::{Grid, Shape, Sides};
use crate::physics::registry::usual_set;
use crate::state::State;
use column::Column;

/// Start time of every case.
const START: PrimitiveDateTime = datetime!(2000-01-01 00:00:00);

/// Duration of the steady cases, s, the default of a run; DT divides it.
const HOUR: f64 = 3600.0;

/// Strongest wind that a run accepts, m s⁻¹.
const STRONGEST: f64 = 300.0;

/// The cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseName {
    /// A warm, moist bubble in a steady ring of overturning air.
    WarmBubble,
    /// A steady updraft in the environment of severe convection with shear.
    Supercell,
    /// The first warm-rain case of the kinematic driver.
    KidWarm1,
    /// The same for a cold cloud with ice.
    KidMixed,
    /// A steady line of ascent in sheared flow.
    SquallLine,
    /// Solid-body rotation of three bodies of vapour.
    Rotation,
    /// A deforming flow that is then reversed.
    Deformation,
    /// A balanced cyclone with moist ascent ahead of it.
    Storm,
}

/// Hodograph of the supercell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shear {
    /// A quarter circle, then straight.
    #[default]
    QuarterCircle,
    /// Straight, along x.
    Linear,
}

/// Parameters of a case that differ from its defaults.
#[derive(Clone, Copy, Debug, Default)]
pub struct CaseOptions {
    /// Cells along x.
    pub nx: Option<usize>,
    /// Cells along y.
    pub ny: Option<usize>,
    /// Number of layers.
    pub nz: Option<usize>,
    /// Distance between columns, m.
    pub dx: Option<f64>,
    /// Distance between rows, m.
    pub dy: Option<f64>,
    /// Time step for the file, s.
    pub dt: Option<f64>,
    /// Maximum ascent, m s⁻¹.
    pub updraft: Option<f64>,
    /// Hodograph.
    pub shear: Option<Shear>,
    /// Period of a rotation, or of a deformation and its reversal, s.
    pub period: Option<f64>,
}

/// Defaults of a case.
#[derive(Clone, Copy, Debug)]
struct CaseDefaults {
    cells: [usize; 3],
    dx: f64,
    sides: Sides,
}

impl CaseOptions {
    fn grid(&self, usual: CaseDefaults) -> Grid {
        let [nx, ny, nz] = usual.cells;
        let dx = self.dx.unwrap_or(usual.dx);
        let shape = Shape {
            nx: self.nx.unwrap_or(nx),
            ny: self.ny.unwrap_or(ny),
            nz: self.nz.unwrap_or(nz),
        };
        Grid::whole(shape, [dx, self.dy.unwrap_or(dx)], usual.sides)
    }
}

impl CaseName {
    /// Returns `true` if the case has a maximum ascent as a parameter.
    pub fn has_updraft(self) -> bool {
        !matches!(self, Self::Rotation | Self::Deformation)
    }

    /// Returns `true` if the case is periodic in time.
    pub fn has_period(self) -> bool {
        !self.has_updraft()
    }

    /// The defaults of the case, and the function that builds it.
    fn definition(self) -> (CaseDefaults, fn(&CaseOptions) -> IdealisedCase) {
        match self {
            Self::WarmBubble => (convection::BUBBLE, convection::warm_bubble),
            Self::Supercell => (convection::SUPERCELL, convection::supercell),
            Self::SquallLine => (convection::LINE, convection::squall_line),
            Self::KidWarm1 => (kinematic::WARM1.usual, |x| kinematic::make(x, kinematic::WARM1)),
            Self::KidMixed => (kinematic::MIXED.usual, |x| kinematic::make(x, kinematic::MIXED)),
            Self::Rotation => (tracers::USUAL, tracers::rotation),
            Self::Deformation => (tracers::USUAL, tracers::deformation),
            Self::Storm => (storm::USUAL, storm::make),
        }
    }

    /// Cells of the case along x, y and z, as requested or by default.
    pub fn cells(self, options: &CaseOptions) -> [usize; 3] {
        let Shape { nx, ny, nz } = options.grid(self.definition().0).shape;
        [nx, ny, nz]
    }

    /// Builds the case.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] when its winds would be stronger than a run accepts, or its frames not at whole seconds.
    pub fn make(self, options: &CaseOptions) -> Result<IdealisedCase> {
        if let Some(period) = options.period.filter(|period| period % tracers::UNIT != 0.0) {
            return Err(Error::Usage(format!(
                "a period of {period} s is not a multiple of {} s, so that frames would not fall \
                 on whole seconds",
                tracers::UNIT
            ))
            .advise(Advice::ChangePeriod));
        }
        let (_, build) = self.definition();
        let made = build(options);
        let most = made.strongest();
        if most > STRONGEST || !most.is_finite() {
            return Err(Error::Usage(format!(
                "the winds of this case would reach {most:.0} m/s; a run accepts at most \
                 {STRONGEST:.0} m/s"
            ))
            .advise(Advice::ChangeWinds));
        }
        Ok(made)
    }
}

/// A time of the case.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CaseTime {
    /// Time since the start, s.
    seconds: f64,
    /// Strength of the wind, relative to its maximum.
    wind: f64,
}

/// Vapour at a time (s) in every column, the same in all layers.
type ExactVapour = Box<dyn Fn(f64) -> Array2<f32>>;

/// A case: its grid, and the frames of its input.
pub struct IdealisedCase {
    /// The grid and its air mass.
    pub domain: Domain,
    /// Time step for the file, s.
    pub dt: f64,
    /// The longest admissible time step, s.
    pub longest: f64,
    air: Frame,
    moments: Vec<CaseTime>,
    exact: Option<ExactVapour>,
}

/// A single time; the wind is steady from then on.
fn steady() -> Vec<CaseTime> {
    vec![CaseTime { seconds: 0.0, wind: 1.0 }]
}

impl IdealisedCase {
    /// A case of this grid and air, with the winds at maximum strength and the longest time step that they admit (s),
    /// and with the strengths of the wind in time.
    fn new(
        options: &CaseOptions,
        ([u, v], longest): ([Array3<f32>; 2], f64),
        mut domain: Domain,
        mut air: Frame,
        moments: Vec<CaseTime>,
    ) -> Self {
        (air.u, air.v) = (u, v);
        let spacing = moments.get(1).map_or(HOUR, |second| second.seconds);
        let dt = options.dt.unwrap_or_else(|| time_step(longest, domain.grid.dx, spacing));
        domain.dt = Some(dt);
        Self { domain, dt, longest, air, moments, exact: None }
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.moments.len()
    }

    /// The time of a frame since the start, s.
    pub fn seconds(&self, number: usize) -> f64 {
        self.moments[number].seconds
    }

    /// The fields of a frame.
    pub fn frame(&self, number: usize) -> Frame {
        let CaseTime { seconds, wind } = self.moments[number];
        let mut frame = self.air.clone();
        // At rest 0, not -0.
        frame.u.mapv_inplace(|u| u * wind as f32 + 0.0);
        frame.v.mapv_inplace(|v| v * wind as f32 + 0.0);
        if let Some(exact) = &self.exact {
            let plane = exact(seconds);
            frame.state.qv_mut().outer_iter_mut().for_each(|mut level| level.assign(&plane));
        }
        frame
    }

    /// The maximum wind, m s⁻¹.
    fn strongest(&self) -> f64 {
        let winds = self.air.u.iter().chain(&self.air.v);
        winds.fold(
            0.0,
            |most: f64, &wind| if wind.is_nan() { f64::NAN } else { most.max(wind.abs().into()) },
        )
    }
}

/// Longest step of a case by its grid spacing, 6 s for each km as usual for such models, within these bounds, s.
const STEPS: [f64; 2] = [10.0, 120.0];

/// A step in hundredths of a second that divides `spacing`, well below the limit by the winds.
fn time_step(longest: f64, dx: f64, spacing: f64) -> f64 {
    let [least, most] = STEPS;
    let wanted = (0.8 * longest).min((6e-3 * dx).clamp(least, most)).min(spacing);
    let fewest = (spacing / wanted).ceil().max(1.0);
    let is_round = |steps: &f64| (100.0 * spacing / steps).fract() == 0.0;
    let counts = (0..fewest.min(1e6) as usize).map(|more| fewest + more as f64);
    spacing / counts.into_iter().find(is_round).unwrap_or(fewest)
}

/// A plane without map factors, with the column mass (Pa) of every column.
fn domain(grid: Grid, column: &Column, mu: Array2<f64>) -> Domain {
    Domain::plane(grid, Vertical::classic(column.eta(), column.p_top), mu, START)
}

/// A plane with the mass of one column everywhere.
fn even_domain(grid: Grid, column: &Column) -> Domain {
    let mu = f64::GRAVITY * column.dry_mass();
    domain(grid, column, Array2::from_elem((grid.shape.ny, grid.shape.nx), mu))
}

/// Air without condensate and winds on the grid of `domain`, around the base state `base`.
///
/// `column` returns the column at x and y (m) from the centre of the grid, if it is not `base`.
fn air(
    domain: &Domain,
    base: &Column,
    column: impl Fn(f64, f64) -> Option<Column> + Sync,
) -> Frame {
    let shape = domain.grid.shape;
    let Shape { nx, ny, nz } = shape;
    let stored = |x: f64| f64::from(x as f32);
    let base_p: Vec<f64> = base.p.iter().map(|&p| stored(p)).collect();
    let base_phi: Vec<f64> = base.z_face.iter().map(|z| stored(f64::GRAVITY * z)).collect();
    let base_mu = stored(f64::GRAVITY * base.dry_mass());
    let mut state = State::zeros(&usual_set(), shape);
    let (mut p, mut phi) = (Array3::zeros(shape.centre()), Array3::zeros(shape.z_face()));
    for j in 0..ny {
        let row = (0..nx).into_par_iter().map(|i| {
            let [x, y] = centre(&domain.grid, [j, i]);
            column(x, y)
        });
        let row: Vec<_> = row.collect();
        for (i, other) in row.iter().enumerate() {
            let here = other.as_ref().unwrap_or(base);
            for k in 0..nz {
                state.theta_mut()[[k, j, i]] = (here.theta[k] - f64::THETA_BASE) as f32;
                state.qv_mut()[[k, j, i]] = here.qv[k] as f32;
                p[[k, j, i]] = (here.p[k] - base_p[k]) as f32;
            }
            for (k, z) in here.z_face.iter().enumerate() {
                phi[[k, j, i]] = (f64::GRAVITY * z - base_phi[k]) as f32;
            }
        }
    }
    let repeated = |profile: &[f64], shape| {
        Array3::from_shape_fn(shape, |(k, _, _): (usize, usize, usize)| profile[k] as f32)
    };
    Frame {
        time: START,
        state,
        u: Array3::zeros(shape.x_face()),
        v: Array3::zeros(shape.y_face()),
        pressure: [p, repeated(&base_p, shape.centre())],
        geopotential: [phi, repeated(&base_phi, shape.z_face())],
        column_mass: [
            domain.coordinate.mu.mapv(|mu| (mu - base_mu) as f32),
            Array2::from_elem((ny, nx), base_mu as f32),
        ],
        sources: Vec::new(),
        photolysis: Vec::new(),
    }
}

/// A length of the case, `usual` m, adapted to the grid: at least four cells, so that it is resolved, and less than
/// half of the grid.
fn fitting(usual: f64, grid: &Grid, lengths: &[f64]) -> f64 {
    let widest = lengths.iter().copied().fold(f64::INFINITY, f64::min);
    usual.max(4.0 * grid.dx.max(grid.dy)).min(0.45 * widest)
}

/// Position of the centre of a cell from that of the grid along x and y, m.
fn centre(grid: &Grid, [j, i]: [usize; 2]) -> [f64; 2] {
    let Shape { nx, ny, .. } = grid.shape;
    let x = (i as f64 + 0.5 - 0.5 * nx as f64) * grid.dx;
    let y = (j as f64 + 0.5 - 0.5 * ny as f64) * grid.dy;
    [x, y]
}

/// Extent of the grid along x and y, m.
fn extent(grid: &Grid) -> [f64; 2] {
    [grid.shape.nx as f64 * grid.dx, grid.shape.ny as f64 * grid.dy]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The step divides the time between frames, with a margin below the longest one.
    #[test]
    fn steps_divide_the_time_between_frames() {
        for (longest, dx, spacing, wanted) in [
            (5.7, 1000.0, 900.0, 4.5),
            (1e9, 30_000.0, 3600.0, 120.0),
            (1e9, 100.0, 3600.0, 10.0),
            (3.0, 100.0, 20.0, 2.0),
            (500.0, 30_000.0, 20.0, 20.0),
        ] {
            let dt = time_step(longest, dx, spacing);
            assert!((dt - wanted).abs() < 1e-12, "{longest} {dx} {spacing}: {dt}");
        }
        // Without a round one, any step that divides it.
        let dt = time_step(1e-4, 1000.0, 1.0);
        assert!(dt <= 0.8e-4 && ((1.0 / dt).round() * dt - 1.0).abs() < 1e-9, "{dt}");
    }
}

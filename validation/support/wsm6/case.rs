//! The scheme run on columns, and its reference file.

use ndarray::{Array2, Array3, Axis};

use nwp_mini::physics::wsm6::params::RimedIce;
use nwp_mini::physics::wsm6::scheme::Scheme;
use nwp_mini::physics::wsm6::{Vectorised, Work};
use nwp_mini::physics::{Block, Budget, ColumnPhysics, Scratch, call};
use nwp_mini::real::Real;
use nwp_mini::simd::Instructions;

use crate::column_reference::{self, ColumnScheme, Run};

/// The cases of the reference file with graupel.
pub const CASES: [&str; 9] =
    ["warm", "mixed", "cold", "deep", "melt", "dry", "mixed_nk51", "edge", "storm"];
/// The cases with hail.
pub const HAIL_CASES: [&str; 1] = ["hail"];

/// Fields of a case: the tracers, then the air.
pub const INPUTS: [&str; 11] = ["th", "q", "qc", "qr", "qi", "qs", "qg", "den", "pii", "p", "delz"];
/// Number of tracers among [`INPUTS`].
pub const TRACERS: usize = 7;

/// Fields that are compared: the tracers, the diagnosed ones, and those at the ground.
pub const OUTPUTS: [&str; 18] = [
    "th",
    "q",
    "qc",
    "qr",
    "qi",
    "qs",
    "qg",
    "refl_10cm",
    "re_cloud",
    "re_ice",
    "re_snow",
    "rain",
    "rainncv",
    "snow",
    "snowncv",
    "graupel",
    "graupelncv",
    "sr",
];
/// Number of [`OUTPUTS`] on levels.
pub const ON_LEVELS: usize = 11;
/// Number of [`OUTPUTS`] at the ground.
pub const AT_THE_GROUND: usize = OUTPUTS.len() - ON_LEVELS;

/// The reference file of the scheme.
#[derive(Clone, Debug)]
pub struct Wsm6Columns;

impl ColumnScheme for Wsm6Columns {
    type Number = f32;
    const NAME: &'static str = "wsm6";
    const INPUTS: &'static [&'static str] = &INPUTS;
    const OUTPUTS: &'static [&'static str] = &OUTPUTS;
    const ON_LEVELS: usize = ON_LEVELS;
}

/// Input of the scheme.
pub type Columns = column_reference::Columns<Wsm6Columns>;

/// Cases of the scheme.
pub type Reference = column_reference::Reference<Wsm6Columns>;

/// Fields that a call works on. Shapes: (level, row, column), (row, column).
#[derive(Clone, Debug)]
pub struct State<R> {
    /// The tracers.
    pub tracers: Vec<Array3<R>>,
    /// The air: density, Exner function, pressure, depth.
    pub air: Vec<Array3<R>>,
    /// The planes at the ground.
    pub surface: Vec<Array2<R>>,
    /// Water that has reached the ground, that sedimentation has created, and that clipping has added in the last call,
    /// kg m⁻².
    pub budget: [Array2<R>; 3],
}

impl<R: Real> State<R> {
    /// The columns in one row.
    pub fn of(columns: &Columns) -> Self {
        let mut fields = INPUTS.map(|name| columns.grid(name, 1)).to_vec();
        let air = fields.split_off(TRACERS);
        let plane = Array2::zeros((1, columns.dim().1));
        let surface = vec![plane.clone(); AT_THE_GROUND];
        Self { tracers: fields, air, surface, budget: [plane.clone(), plane.clone(), plane] }
    }

    /// All columns.
    pub fn block(&mut self) -> Block<'_, R> {
        let [fallen, fall_residual, clipped] = self.budget.each_mut().map(|plane| plane.view_mut());
        Block {
            theta_base: R::ZERO,
            tracers: self.tracers.iter_mut().map(|field| field.view_mut()).collect(),
            air: self.air.iter().map(|field| field.view()).collect(),
            surface: self.surface.iter_mut().map(|plane| plane.view_mut()).collect(),
            budget: Some(Budget { fallen, fall_residual, clipped, weighing: None }),
        }
    }
}

/// The CPU version.
pub struct OnCpu<R> {
    /// The scheme.
    pub scheme: Scheme<R>,
    /// The vector instructions, if any.
    pub instructions: Option<Instructions>,
}

impl<R: Vectorised> OnCpu<R> {
    /// The scheme itself with the best instructions.
    pub fn best(kind: RimedIce) -> Self {
        Self { scheme: Scheme::from(kind), instructions: Instructions::best() }
    }

    /// One call of `dt` seconds.
    pub fn call(&self, dt: R, state: &mut State<R>) {
        let nz = state.tracers[0].dim().0;
        let scratch = Scratch::<Work<R>>::with(&self.scheme, nz, self.instructions);
        call(&self.scheme, dt, &scratch, state.block());
    }

    /// The columns after `calls` calls of `dt` seconds.
    pub fn run(&self, columns: &Columns, dt: f64, calls: usize) -> State<R> {
        let mut state = State::of(columns);
        let call = |dt, state: &mut _| self.call(dt, state);
        columns.force(dt, calls, &mut state, |state| &mut state.tracers, call);
        state
    }
}

impl<R: Vectorised> Run<Wsm6Columns, R> for OnCpu<R> {
    fn outputs(&self, columns: &Columns, dt: f64, calls: usize) -> Vec<Array2<R>> {
        let State { tracers, air, surface, .. } = self.run(columns, dt, calls);
        let diagnosed = self.scheme.diagnose(&tracers, &air);
        let levels = tracers.into_iter().chain(diagnosed);
        levels.map(|field| field.remove_axis(Axis(1))).chain(surface).collect()
    }
}

//! The scheme run on columns, and its reference file.

use ndarray::{Array2, Array3, ArrayD, Axis};

use nwp_mini::physics::kessler::{Kessler, Vectorised, Work};
use nwp_mini::physics::{Block, Scratch, call};
use nwp_mini::real::Real;
use nwp_mini::simd::Instructions;

use crate::column_reference::{self, ColumnScheme, Run};

pub use crate::column_reference::group;

/// The cases of the reference file.
pub const CASES: [&str; 8] =
    ["warm", "mixed", "cold", "dry", "edge", "warm_nk40", "mixed_nk51", "storm"];

/// Fields of a case: the tracers, then the air.
pub const INPUTS: [&str; 7] = ["th", "q", "qc", "qr", "den", "pii", "delz"];
/// Number of tracers among [`INPUTS`].
pub const TRACERS: usize = 4;

/// Fields that are compared: the tracers, then those at the ground.
pub const OUTPUTS: [&str; 6] = ["th", "q", "qc", "qr", "rain", "rainncv"];

/// The reference file of the scheme.
#[derive(Clone, Debug)]
pub struct KesslerColumns;

impl ColumnScheme for KesslerColumns {
    type Number = f32;
    const NAME: &'static str = "kessler";
    const INPUTS: &'static [&'static str] = &INPUTS;
    const OUTPUTS: &'static [&'static str] = &OUTPUTS;
    const ON_LEVELS: usize = TRACERS;

    /// Without a build whose approximate reciprocal creates rain from nothing, which grows from call to call.
    fn counts(build: &str, calls: usize) -> bool {
        (build, calls) != ("f32_O3native_fastmath", 30)
    }
}

/// Input of the scheme.
pub type Columns = column_reference::Columns<KesslerColumns>;

/// Cases of the scheme.
pub type Reference = column_reference::Reference<KesslerColumns>;

/// Fields that a call works on. Shapes: (level, row, column), (row, column).
#[derive(Clone, Debug)]
pub struct State<R> {
    /// Value added to the first tracer, K.
    pub theta_base: R,
    /// The tracers.
    pub tracers: Vec<Array3<R>>,
    /// The air: density, Exner function, depth.
    pub air: Vec<Array3<R>>,
    /// Rain and rainncv.
    pub surface: Vec<Array2<R>>,
}

/// Something that runs the scheme.
pub trait Engine<R> {
    /// One call of `dt` seconds.
    fn call(&self, dt: R, state: &mut State<R>);
}

/// The CPU version.
pub struct OnCpu<R> {
    /// The scheme.
    pub scheme: Kessler<R>,
    /// The vector instructions, if any.
    pub instructions: Option<Instructions>,
}

impl<R: Vectorised> OnCpu<R> {
    /// The scheme itself with the best instructions.
    pub fn best() -> Self {
        Self { scheme: Kessler::default(), instructions: Instructions::best() }
    }

    /// The scheme itself, column by column.
    pub fn alone() -> Self {
        Self { scheme: Kessler::default(), instructions: None }
    }
}

impl<R: Vectorised> Engine<R> for OnCpu<R> {
    fn call(&self, dt: R, state: &mut State<R>) {
        let nz = state.tracers[0].dim().0;
        let scratch = Scratch::<Work<R>>::with(&self.scheme, nz, self.instructions);
        call(&self.scheme, dt, &scratch, state.block());
    }
}

impl<R: Real> State<R> {
    /// The columns in `ny` rows, as far as they fill them.
    pub fn of(columns: &Columns, ny: usize, theta_base: f64) -> Self {
        let mut fields = INPUTS.map(|name| columns.grid(name, ny)).to_vec();
        let air = fields.split_off(TRACERS);
        let theta_base = R::of(theta_base);
        fields[0].mapv_inplace(|theta| theta - theta_base);
        let plane = Array2::zeros((ny, columns.dim().1 / ny));
        Self { theta_base, tracers: fields, air, surface: vec![plane.clone(), plane] }
    }

    /// All columns.
    pub fn block(&mut self) -> Block<'_, R> {
        Block {
            theta_base: self.theta_base,
            tracers: self.tracers.iter_mut().map(|field| field.view_mut()).collect(),
            air: self.air.iter().map(|field| field.view()).collect(),
            surface: self.surface.iter_mut().map(|plane| plane.view_mut()).collect(),
            budget: None,
        }
    }

    /// The results by name, as the files of columns have them.
    pub fn named(&self) -> Vec<(&'static str, ArrayD<R>)> {
        let tracers = self.tracers.iter().map(|field| field.clone().into_dyn());
        let all = tracers.chain(self.surface.iter().map(|plane| plane.clone().into_dyn()));
        OUTPUTS.into_iter().zip(all).collect()
    }
}

impl Columns {
    /// Runs `calls` calls of `dt` seconds.
    pub fn run<R: Real>(&self, engine: &impl Engine<R>, dt: f64, calls: usize) -> State<R> {
        let mut state = State::of(self, 1, 0.0);
        let call = |dt, state: &mut _| engine.call(dt, state);
        self.force(dt, calls, &mut state, |state| &mut state.tracers, call);
        state
    }
}

impl<R: Real, E: Engine<R>> Run<KesslerColumns, R> for E {
    fn outputs(&self, columns: &Columns, dt: f64, calls: usize) -> Vec<Array2<R>> {
        let State { tracers, surface, .. } = columns.run(self, dt, calls);
        tracers.into_iter().map(|field| field.remove_axis(Axis(1))).chain(surface).collect()
    }
}

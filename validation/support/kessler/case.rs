//! Columns, from a group of the reference file or synthetic, and the scheme run on them.

use ndarray::{Array2, Array3, ArrayD, Axis};
use netcdf::Group;

use nwp_mini::physics::kessler::{Kessler, Vectorised, Work};
use nwp_mini::physics::{Block, Scratch, call};
use nwp_mini::real::Real;
use nwp_mini::simd::Instructions;

pub use crate::truth::{Truth, group, on_levels, values};

/// The cases of the reference file.
pub const CASES: [&str; 8] =
    ["warm", "mixed", "cold", "dry", "edge", "warm_nk40", "mixed_nk51", "storm"];

/// Fields of a case: the tracers, then the air.
pub const INPUTS: [&str; 7] = ["th", "q", "qc", "qr", "den", "pii", "delz"];
/// Number of tracers among [`INPUTS`].
pub const TRACERS: usize = 4;

/// Fields that are compared: the tracers, then those at the ground.
pub const OUTPUTS: [&str; 6] = ["th", "q", "qc", "qr", "rain", "rainncv"];

/// Input of the scheme. Shape of each field: (level, column).
#[derive(Clone, Debug)]
pub struct Columns {
    /// The fields of [`INPUTS`].
    pub fields: Vec<Array2<f32>>,
    /// Tendencies of `th` and `q`.
    pub tendencies: Option<[Array2<f32>; 2]>,
}

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
        let (nz, count) = columns.dim();
        let nx = count / ny;
        let field = |field: &Array2<f32>| {
            Array3::from_shape_fn((nz, ny, nx), |(k, j, i)| R::of(field[[k, j * nx + i]].into()))
        };
        let mut fields: Vec<_> = columns.fields.iter().map(field).collect();
        let air = fields.split_off(TRACERS);
        let theta_base = R::of(theta_base);
        fields[0].mapv_inplace(|theta| theta - theta_base);
        let plane = Array2::zeros((ny, nx));
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
    /// The input of a case.
    pub fn read(group: &Group<'_>) -> Self {
        let field = |name: &str| on_levels(values(group, name, ..));
        Self {
            fields: INPUTS.map(field).to_vec(),
            tendencies: Some(["th_tend", "q_tend"].map(field)),
        }
    }

    /// A field of the input by its name.
    pub fn field(&self, name: &str) -> &Array2<f32> {
        &self.fields[INPUTS.iter().position(|input| *input == name).expect("a field of the input")]
    }

    /// A field of the input by its name, to be changed.
    pub fn field_mut(&mut self, name: &str) -> &mut Array2<f32> {
        let at = INPUTS.iter().position(|input| *input == name).expect("a field of the input");
        &mut self.fields[at]
    }

    /// Number of levels and of columns.
    pub fn dim(&self) -> (usize, usize) {
        self.fields[0].dim()
    }

    /// The columns of the given indices, in their order.
    pub fn select(&self, columns: &[usize]) -> Self {
        let select = |field: &Array2<f32>| field.select(Axis(1), columns);
        Self {
            fields: self.fields.iter().map(select).collect(),
            tendencies: self.tendencies.as_ref().map(|fields| fields.each_ref().map(select)),
        }
    }

    /// The same columns without tendencies.
    pub fn unforced(self) -> Self {
        Self { tendencies: None, ..self }
    }

    /// Runs `calls` calls of `dt` seconds; tendencies act only when there are several calls, as in the reference.
    pub fn run<R: Real>(&self, engine: &impl Engine<R>, dt: f64, calls: usize) -> State<R> {
        let mut state = State::of(self, 1, 0.0);
        let promote = |field: &Array2<f32>| field.mapv(|x| R::of(x.into())).insert_axis(Axis(1));
        let tendencies = self.tendencies.as_ref().filter(|_| calls > 1);
        let tendencies = tendencies.map(|fields| fields.each_ref().map(promote));
        let dt = R::of(dt);
        for _ in 0..calls {
            if let Some([theta, qv]) = &tendencies {
                state.tracers[0].zip_mut_with(theta, |x, &tendency| *x += dt * tendency);
                state.tracers[1].zip_mut_with(qv, |x: &mut R, &tendency: &R| {
                    *x = (*x + dt * tendency).larger(R::ZERO);
                });
            }
            engine.call(dt, &mut state);
        }
        state
    }
}

/// The results that the reference file has for a case, at one time step and number of calls.
pub struct Stage {
    /// Time step, s.
    pub dt: f64,
    /// Number of calls.
    pub calls: usize,
    /// Columns whose course a rounding changes.
    pub fragile: Vec<bool>,
    /// Sub-steps of each column in all calls.
    pub substeps: Vec<f64>,
    /// The results, by name.
    pub truths: Vec<(&'static str, Truth)>,
}

impl Stage {
    /// The time steps and numbers of calls of a case.
    pub fn read(group: &Group<'_>) -> Vec<Self> {
        let [dts, calls] = ["dt", "call"].map(|name| values::<f64>(group, name, ..));
        let mut stages = Vec::new();
        for (a, &dt) in dts.iter().enumerate() {
            for (b, &calls) in calls.iter().enumerate() {
                let mark = if calls > 1.0 { "fragile30" } else { "fragile" };
                let fragile =
                    values::<f64>(group, mark, (a, ..)).iter().map(|x| *x != 0.0).collect();
                let substeps = values(group, "substeps", (a, b, ..)).into_iter().collect();
                let truths = OUTPUTS.map(|name| {
                    let has_levels = OUTPUTS[..TRACERS].contains(&name);
                    (name, Truth::read(group, name, [a, b], has_levels))
                });
                let calls = calls as usize;
                stages.push(Self { dt, calls, fragile, substeps, truths: truths.into() });
            }
        }
        stages
    }
}

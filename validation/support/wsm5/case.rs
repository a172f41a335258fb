//! The scheme run on columns, and its results in the reference file.

use ndarray::{Array2, Array3, Axis};
use netcdf::Group;
use nwp_mini::state::Surface;
use nwp_mini::wsm5::scheme::Scheme;

use super::weather::{Engine, Region, Vectors, Weather};

pub use super::input_columns::{Columns, INPUTS};
pub use super::weather::Precision;
pub use crate::truth::{Truth, group, on_levels, values};

/// The cases of the reference file.
pub const CASES: [&str; 6] = ["warm", "mixed", "cold", "dry", "edge", "storm"];

/// Compared output, in the order of [`Outcome::fields`]: fields on levels, then fields at the ground.
pub const OUTPUTS: [&str; 15] = [
    "th",
    "q",
    "qc",
    "qr",
    "qi",
    "qs",
    "refl_10cm",
    "re_cloud",
    "re_ice",
    "re_snow",
    "rain",
    "rainncv",
    "snow",
    "snowncv",
    "sr",
];

/// Number of [`OUTPUTS`] on levels.
pub const ON_LEVELS: usize = 10;

/// Results of the scheme for [`Columns`].
#[derive(Clone, Debug)]
pub struct Outcome<R> {
    /// The fields of [`OUTPUTS`]. Shape: (level or 1, column).
    pub fields: Vec<Array2<R>>,
    /// Water that reached the ground in the last call, kg m⁻².
    pub fallen: Vec<R>,
    /// Water that sedimentation created in the last call, kg m⁻².
    pub residual: Vec<R>,
    /// Water that clipping added in the last call, kg m⁻².
    pub clipped: Vec<R>,
}

impl<R: Precision> Outcome<R> {
    /// A field by its name.
    pub fn field(&self, name: &str) -> &Array2<R> {
        let index = OUTPUTS.iter().position(|output| *output == name);
        &self.fields[index.unwrap_or_else(|| panic!("no output {name}"))]
    }

    /// The columns of the given indices, in their order.
    pub fn select(&self, columns: &[usize]) -> Self {
        let plain = |values: &[R]| columns.iter().map(|&column| values[column]).collect();
        Self {
            fields: self.fields.iter().map(|f| f.select(Axis(1), columns)).collect(),
            fallen: plain(&self.fallen),
            residual: plain(&self.residual),
            clipped: plain(&self.clipped),
        }
    }
}

impl Columns {
    /// Runs `calls` calls of `dt` seconds; tendencies act only when there are several calls, as
    /// in the reference.
    pub fn run<R: Precision>(&self, dt: f64, calls: usize) -> Outcome<R> {
        self.run_with(&Vectors::best(Scheme::default()), dt, calls)
    }

    /// Runs the columns with an engine, which need not be the CPU version with its default parameters.
    pub fn run_with<R: Precision>(
        &self,
        engine: &impl Engine<R>,
        dt: f64,
        calls: usize,
    ) -> Outcome<R> {
        let mut weather = Weather::<R>::of(self, 1, 0.0);
        let whole = Region::whole(weather.shape());
        let promote = |field: &Array2<f32>| -> Array3<R> {
            field.mapv(|x| R::of(x.into())).insert_axis(Axis(1))
        };
        let tendencies = self.tendencies.as_ref().filter(|_| calls > 1);
        let tendencies = tendencies.map(|fields| fields.each_ref().map(promote));
        let dt = R::of(dt);
        for _ in 0..calls {
            if let Some([theta, qv]) = &tendencies {
                let state = &mut weather.state;
                state.theta_mut().zip_mut_with(theta, |x, &tendency| *x += dt * tendency);
                state.qv_mut().zip_mut_with(qv, |x, &tendency| {
                    *x = (*x + dt * tendency).larger(R::ZERO);
                });
            }
            engine.call(dt, &mut weather, &whole);
        }
        let diagnostics = engine.diagnose(&weather);

        let levels = weather.state.fields().iter().chain(diagnostics.fields()).cloned();
        let Surface { rain, fallen, rainncv, snow, snowncv, sr, fall_residual, clipped } =
            weather.surface;
        let ground = [rain, rainncv, snow, snowncv, sr];
        Outcome {
            fields: levels.map(|f| f.remove_axis(Axis(1))).chain(ground).collect(),
            fallen: fallen.into_iter().collect(),
            residual: fall_residual.into_iter().collect(),
            clipped: clipped.into_iter().collect(),
        }
    }
}

/// The results that the reference file has for a case, at one time step and number of calls.
pub struct Stage {
    /// Time step, s.
    pub dt: f64,
    /// Number of calls.
    pub calls: usize,
    /// Columns whose single call changes its course by a rounding.
    pub fragile: Vec<bool>,
    /// The results, by name.
    pub truths: Vec<(&'static str, Truth)>,
}

/// True if `calls` calls are one call of one minor step, in which the scheme is not sensitive to rounding.
pub fn is_smooth(dt: f64, calls: usize) -> bool {
    calls == 1 && dt <= 120.0
}

impl Stage {
    /// The time steps and numbers of calls of a case that are wanted, with the given results.
    pub fn read(
        group: &Group<'_>,
        outputs: &[&'static str],
        is_wanted: impl Fn(f64, usize) -> bool,
    ) -> Vec<Self> {
        let [dts, calls] = ["dt", "call"].map(|name| values::<f64>(group, name, ..));
        let mut stages = Vec::new();
        for (a, &dt) in dts.iter().enumerate() {
            for (b, &calls) in calls.iter().enumerate() {
                let calls = calls as usize;
                if is_wanted(dt, calls) {
                    let truth = |&name: &&'static str| {
                        let has_levels = OUTPUTS[..ON_LEVELS].contains(&name);
                        (name, Truth::read(group, name, [a, b], has_levels))
                    };
                    let fragile = values::<f32>(group, "fragile", (a, ..));
                    let fragile = fragile.iter().map(|x| *x != 0.0).collect();
                    let truths = outputs.iter().map(truth).collect();
                    stages.push(Self { dt, calls, fragile, truths });
                }
            }
        }
        stages
    }

    /// True for one call of one minor step.
    pub fn is_smooth(&self) -> bool {
        is_smooth(self.dt, self.calls)
    }

    /// The case with the columns of the given indices, in that order.
    pub fn select(&self, columns: &[usize]) -> Self {
        let pick = |field: &Array2<f64>| field.select(Axis(1), columns);
        let truths = self.truths.iter().map(|(name, truth)| {
            (*name, Truth { exact: pick(&truth.exact), off: pick(&truth.off) })
        });
        let fragile = columns.iter().map(|&column| self.fragile[column]).collect();
        Self { truths: truths.collect(), fragile, ..*self }
    }
}

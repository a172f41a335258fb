//! The scheme run on columns of its reference file.

use ndarray::{Array2, Axis};
use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::state::surface;

use super::weather::{Engine, Region, Vectors, Weather};
use crate::column_reference::Run;

pub use super::reference::{CASES, Columns, INPUTS, ON_LEVELS, OUTPUTS, Reference, Wsm5Columns};
pub use super::weather::Precision;
pub use crate::column_reference::{group, values};

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
}

impl Columns {
    /// Runs `calls` calls of `dt` seconds with the CPU version and its default parameters.
    pub fn run<R: Precision>(&self, dt: f64, calls: usize) -> Outcome<R> {
        self.run_with(&Vectors::best(Scheme::default()), dt, calls)
    }

    /// Runs the columns with an engine.
    pub fn run_with<R: Precision>(
        &self,
        engine: &impl Engine<R>,
        dt: f64,
        calls: usize,
    ) -> Outcome<R> {
        let mut weather = Weather::<R>::of(self, 1, 0.0);
        let whole = Region::whole(weather.shape());
        let call = |dt, weather: &mut _| engine.call(dt, weather, &whole);
        self.force(dt, calls, &mut weather, |weather| weather.state.fields_mut(), call);
        let diagnostics = engine.diagnose(&weather);

        let levels = weather.state.fields().iter().chain(diagnostics.fields()).cloned();
        let mut ground = weather.surface.planes().to_vec();
        let terms = ground.split_off(ground.len() - surface::TERMS.len());
        let [fallen, fall_residual, clipped] =
            terms.try_into().unwrap_or_else(|_| panic!("three terms"));
        Outcome {
            fields: levels.map(|f| f.remove_axis(Axis(1))).chain(ground).collect(),
            fallen: fallen.into_iter().collect(),
            residual: fall_residual.into_iter().collect(),
            clipped: clipped.into_iter().collect(),
        }
    }
}

impl<R: Precision, E: Engine<R>> Run<Wsm5Columns, R> for E {
    fn outputs(&self, columns: &Columns, dt: f64, calls: usize) -> Vec<Array2<R>> {
        columns.run_with(self, dt, calls).fields
    }
}

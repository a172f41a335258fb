//! Passive tracers: further tracers that a user adds to a run.
//!
//! A [`PassiveTracers`] defines the initial values and the boundary values of each. Boundary values follow the frames
//! of the input like those of water: the same recipe is applied to each frame.

mod file;
mod initial;
mod species;

use std::path::PathBuf;
use std::sync::Arc;

use ndarray::Array3;

use crate::constituents::{Constituent, Constituents};
use crate::state::State;
use crate::units;
pub use file::MOST_PASSIVE;
pub use initial::{CellPositions, Initial};
pub use species::{Background, HeightProfile, MechanismTracers, UNITS as SPECIES_UNITS};

/// The passive tracers of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct PassiveTracers {
    /// The file of the recipe; `None` for tracers of a benchmark or from a restart file.
    pub path: Option<PathBuf>,
    /// Its text.
    pub text: String,
    /// The set of the scheme of the run.
    base: Arc<Constituents>,
    tracers: Vec<Passive>,
}

/// A variable of the input, and the units in which a recipe needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceVariable {
    /// Name of the variable.
    pub name: &'static str,
    /// Units of the first tracer that begins with it.
    pub units: &'static str,
}

/// A tracer with its initial values.
#[derive(Clone, Debug, PartialEq)]
struct Passive {
    tracer: Constituent,
    initial: Initial,
}

impl PassiveTracers {
    /// The same without a file.
    #[must_use]
    pub fn without_path(self) -> Self {
        Self { path: None, ..self }
    }

    /// No tracers, in a run with a scheme that carries `base`.
    pub(crate) fn none(base: &Arc<Constituents>) -> Self {
        Self { path: None, text: String::new(), base: Arc::clone(base), tracers: Vec::new() }
    }

    /// The set of what the scheme carries, and these.
    pub fn set(&self) -> Arc<Constituents> {
        self.base.with_passive(self.tracers.iter().map(|passive| passive.tracer)).shared()
    }

    /// Variables of the input that initial values need, each once; all at cell centres.
    pub fn variables(&self) -> Vec<SourceVariable> {
        let mut variables: Vec<SourceVariable> = Vec::new();
        for Passive { tracer, initial } in &self.tracers {
            if let Initial::Variable(name) = initial
                && variables.iter().all(|known| known.name != *name)
                && self.base.position(name).is_none()
            {
                variables.push(SourceVariable { name, units: tracer.units });
            }
        }
        variables
    }

    /// A state of the air with initial values of these tracers for a frame of the input: `place` has the positions of
    /// the cells, `read` the values of [`PassiveTracers::variables`] there. Shape of each: that of the state.
    ///
    /// # Panics
    ///
    /// When shapes differ, or a variable is missing.
    pub fn complete(
        &self,
        state: State<f32>,
        place: &CellPositions<'_>,
        read: &[Array3<f32>],
    ) -> State<f32> {
        let variables = self.variables();
        let set = self.set();
        let mut fields: Vec<Array3<f32>> = Vec::with_capacity(self.tracers.len());
        for Passive { tracer, initial } in &self.tracers {
            let field = match initial {
                Initial::Variable(name) => {
                    let of_air = state.set().position(name);
                    let of_air = of_air.map(|at| (&state.fields()[at], state.set()[at].units));
                    let of_input = variables.iter().position(|known| known.name == *name);
                    let of_input = of_input.map(|at| (&read[at], variables[at].units));
                    let (found, units) = of_air.or(of_input).expect("a variable of the recipe");
                    let conversion = units::between(units, tracer.units);
                    match conversion.filter(|conversion| !conversion.is_identity()) {
                        Some(conversion) => found.mapv(|x| conversion.of(x.into()) as f32),
                        None => found.clone(),
                    }
                }
                Initial::Tracer(number) => match number.checked_sub(self.base.carried()) {
                    None => state.fields()[*number].clone(),
                    Some(passive) => fields[passive].clone(),
                },
                Initial::Shape(shape) => shape.field(place),
                Initial::HeightProfile(profile) => place.heights.mapv(|z| profile.at(z) as f32),
            };
            fields.push(field);
        }
        state.followed_by(set, fields)
    }
}

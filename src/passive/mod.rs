//! Passive tracers: what a run carries beside the air's own fields because its user says so.
//!
//! A [`Recipe`] says of each what it is, where it is at the start and what comes in through the sides. Values at the
//! sides come from the frames of the input like those of water: the same recipe is applied to each of them.

mod fault;
mod file;
mod initial;
mod species;
mod units;

use std::path::PathBuf;
use std::sync::Arc;

use ndarray::Array3;

use crate::state::{STATE_FIELDS, State};
use crate::tracers::{Tracer, TracerSet};
pub use file::MOST_PASSIVE;
pub use initial::{Initial, Place};
pub use species::{Background, Carried, Profile, UNITS as SPECIES_UNITS};
pub use units::is_known;

/// The passive tracers of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The file that it was read from; `None` where the tracers were made for measuring, or come from a restart file.
    pub path: Option<PathBuf>,
    /// Its text.
    pub text: String,
    tracers: Vec<Passive>,
}

/// A tracer and where it is at first.
#[derive(Clone, Debug, PartialEq)]
struct Passive {
    tracer: Tracer,
    initial: Initial,
}

impl Recipe {
    /// The same as something that no file stands behind.
    #[must_use]
    pub fn without_path(self) -> Self {
        Self { path: None, ..self }
    }

    /// Potential temperature, water, and these.
    pub fn set(&self) -> Arc<TracerSet> {
        Arc::new(TracerSet::with_passive(self.tracers.iter().map(|passive| passive.tracer)))
    }

    /// Variables of the input that are read for it alone, each once. Place of each: the cells.
    pub fn variables(&self) -> Vec<&'static str> {
        let mut variables = Vec::new();
        for Passive { initial, .. } in &self.tracers {
            if let Initial::Variable(name) = initial
                && !variables.contains(name)
                && TracerSet::moist_air().position(name).is_none()
            {
                variables.push(*name);
            }
        }
        variables
    }

    /// A state of the air with these tracers as they are at first in a frame of the input: `place` tells where its
    /// cells are, `read` are the values of [`Recipe::variables`] there. Shape of each: that of the state.
    ///
    /// # Panics
    ///
    /// When shapes differ, or a variable is missing.
    pub fn complete(
        &self,
        state: State<f32>,
        place: &Place<'_>,
        read: &[Array3<f32>],
    ) -> State<f32> {
        let variables = self.variables();
        let set = self.set();
        let mut fields: Vec<Array3<f32>> = Vec::with_capacity(self.tracers.len());
        for Passive { initial, .. } in &self.tracers {
            let field = match initial {
                Initial::Variable(name) => {
                    let of_air = state.set().position(name).map(|number| &state.fields()[number]);
                    let of_input = variables.iter().position(|known| known == name);
                    let found = of_air.or_else(|| of_input.map(|at| &read[at]));
                    found.expect("a variable of the recipe").clone()
                }
                Initial::Tracer(number) => match number.checked_sub(STATE_FIELDS) {
                    None => state.fields()[*number].clone(),
                    Some(passive) => fields[passive].clone(),
                },
                Initial::Shape(shape) => shape.field(place),
                Initial::Profile(profile) => place.heights.mapv(|z| profile.at(z) as f32),
            };
            fields.push(field);
        }
        state.followed_by(set, fields)
    }
}

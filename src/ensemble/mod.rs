//! Ensembles: the perturbations of the members of one run.
//!
//! Members share the grid, the winds, the air and the boundary values; each has its own
//! parameters of the microphysics and its own initial state. A member depends only on the seed and its
//! index, never on the size of the ensemble.

pub mod file;
mod noise;

use std::ops::Range;
use std::path::PathBuf;

use ndarray::Array3;
use rayon::prelude::*;

use crate::bounds;
use crate::constants::Constants;
use crate::constituents::Kind;
use crate::counter_rng::Random;
use crate::error::{Error, Result};
use crate::grid::Grid;
use crate::os_text::Shown;
use crate::physics::scheme::{Parameter, Scheme};
use crate::real::Real;
use crate::state::State;
use noise::Noise;

/// An ensemble as its file describes it, validated.
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble {
    /// Number of members, from 2 on.
    pub members: usize,
    /// Seed of all random numbers.
    pub seed: u64,
    /// `true` if member 0 is a control without perturbations.
    pub control: bool,
    /// `true` if every member is written; `false` for mean and spread only.
    pub writes_members: bool,
    /// The perturbed parameters.
    pub changes: Vec<Change>,
    /// Perturbations of the initial state.
    pub disturbances: Vec<Disturbance>,
    /// The file.
    pub path: PathBuf,
    /// Text of the file.
    pub text: String,
}

/// Perturbation of a parameter of the microphysics between members.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The parameter.
    pub parameter: Parameter,
    /// Its values.
    pub law: ParameterSource,
}

/// Source of the values of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterSource {
    /// The scheme's value times a factor with a log-uniform distribution between two bounds.
    Factor([f64; 2]),
    /// Uniformly distributed between two values, in the parameter's unit.
    Range([f64; 2]),
    /// A value for each member, including the control.
    Values(Vec<f64>),
}

/// Perturbation of a field of the initial state between members.
#[derive(Clone, Debug, PartialEq)]
pub struct Disturbance {
    /// Index among the fields of the state.
    pub field: usize,
    /// Name of its variable.
    pub variable: &'static str,
    /// Standard deviation: of potential temperature, K; of water, relative to the content.
    pub amplitude: f64,
    /// Distance at which the correlation is exp(-1/2), m; 0 for uncorrelated noise.
    pub length: f64,
    /// Range of levels k; `None` for all.
    pub levels: Option<Range<usize>>,
}

impl Ensemble {
    /// Returns `true` if a member has no perturbations.
    pub(crate) fn is_control(&self, member: usize) -> bool {
        self.control && member == 0
    }

    /// Position of a member's random numbers for a quantity of this name in the tree of random numbers.
    fn random(&self, kind: &str, name: &str, member: usize) -> Random {
        Random::new(self.seed).named(kind).named(name).at(member as u64)
    }

    /// A member's scheme: that of the run with the parameters of the member.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] when the scheme does not have a parameter.
    pub fn scheme(&self, member: usize, of_run: &dyn Scheme) -> Result<Box<dyn Scheme>> {
        let mut scheme = of_run.boxed();
        for Change { parameter, law } in &self.changes {
            let Parameter { name, default, .. } = *parameter;
            let place = self.random("parameters", name, member).uniform();
            let between = |[low, high]: [f64; 2]| low + (high - low) * place;
            let value = match law {
                ParameterSource::Values(values) => values[member],
                _ if self.is_control(member) => continue,
                ParameterSource::Factor(ends) => default * between(ends.map(f64::ln)).exp(),
                ParameterSource::Range(ends) => between(*ends),
            };
            scheme.set(name, value)?;
        }
        Ok(scheme)
    }

    /// The values of a parameter for each member, by the scheme of the run.
    ///
    /// # Errors
    ///
    /// As [`Ensemble::scheme`].
    pub fn values(&self, change: &Change, of_run: &dyn Scheme) -> Result<Vec<f64>> {
        let value = |member| {
            let scheme = self.scheme(member, of_run)?;
            Ok(scheme.get(change.parameter.name).unwrap_or_default())
        };
        (0..self.members).map(value).collect()
    }

    /// Fails if a perturbed field of a member cannot be that of air: `exner` is the Exner function of its cells. Shape:
    /// (nz, ny, nx).
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] with the file, the field, the member, the cell, the value and its bounds.
    pub fn check_member<R: Real>(
        &self,
        member: usize,
        exner: &Array3<R>,
        state: &State<R>,
    ) -> Result<()> {
        for Disturbance { field, amplitude, .. } in &self.disturbances {
            let values = &state.fields()[*field];
            let (range, what) = match state.set()[*field].kind {
                Kind::Temperature => (bounds::TEMPERATURE, "a temperature of"),
                Kind::Water(_) => (bounds::WATER, "a mixing ratio of"),
                _ => (0.0..=f64::MAX, "a value of"),
            };
            let value = |(x, exner): (&R, &R)| match field {
                0 => (x.f64() + f64::THETA_BASE) * exner.f64(),
                _ => x.f64(),
            };
            let cells = values.indexed_iter().zip(exner);
            let mut all = cells.map(|((at, x), exner)| (at, value((x, exner))));
            if let Some(((k, j, i), x)) = all.find(|(_, x)| !range.contains(x)) {
                return Err(Error::Usage(format!(
                    "{}: [initial.{}]: amplitude = {amplitude} gives member {member} {what} {x:.6e} {} in cell \
                     i={i} j={j} k={k}; {:e} to {:e} is expected; give a smaller amplitude",
                    self.path.shown(),
                    state.set()[*field].variable,
                    state.set()[*field].units,
                    range.start(),
                    range.end()
                )));
            }
        }
        Ok(())
    }

    /// Makes the initial state of a member from that of the input.
    ///
    /// θ' = θ + a n, q' = max(q + a n q, 0), with noise n of mean 0 and variance 1, independent on each level.
    ///
    /// # Panics
    ///
    /// When the state has another grid.
    pub fn disturb<R: Real>(&self, member: usize, grid: &Grid, state: &mut State<R>) {
        if self.is_control(member) {
            return;
        }
        for Disturbance { field, amplitude, length, levels, .. } in &self.disturbances {
            let place = self.random("initial", state.set()[*field].variable, member);
            let noise = Noise::new(grid, *length);
            let is_theta = *field == 0;
            let levels = levels.clone().unwrap_or(0..grid.shape.nz);
            let values = state.fields_mut()[*field].as_slice_mut();
            let planes = values.expect("standard layout").par_chunks_mut(grid.shape.columns());
            planes.enumerate().filter(|(k, _)| levels.contains(k)).for_each(|(k, plane)| {
                for (value, noise) in plane.iter_mut().zip(noise.plane(place.at(k as u64))) {
                    let change = R::of(amplitude * noise);
                    *value = if is_theta {
                        *value + change
                    } else {
                        (*value + *value * change).larger(R::ZERO)
                    };
                }
            });
        }
    }
}

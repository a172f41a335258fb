//! A variant of the scheme with its parameters.

use std::ops::{Deref, DerefMut};

use crate::physics::wsm5::Sedimentation;
use crate::physics::wsm5::factors::Factors;
use crate::physics::wsm5::params::{SchemeConstants, Tuning, Wsm5Params};

/// Scheme as the processes use it: parameters, variant, and the factor of each process.
///
/// It dereferences to its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme<R> {
    /// The parameters, shared with kernels.
    pub params: Wsm5Params<R>,
    /// The variant of the scheme.
    pub fallout: Sedimentation,
    /// Factors of the processes, all 1 in the scheme itself.
    pub factors: Factors<R>,
}

impl<R> Deref for Scheme<R> {
    type Target = Wsm5Params<R>;

    fn deref(&self) -> &Wsm5Params<R> {
        &self.params
    }
}

impl<R> DerefMut for Scheme<R> {
    fn deref_mut(&mut self) -> &mut Wsm5Params<R> {
        &mut self.params
    }
}

impl<R: Copy> Scheme<R> {
    /// The same scheme in another precision.
    pub fn map<S>(&self, with: impl Fn(R) -> S) -> Scheme<S> {
        Scheme {
            params: self.params.map(&with),
            fallout: self.fallout,
            factors: self.factors.map(&with),
        }
    }
}

impl<R: SchemeConstants> Default for Scheme<R> {
    fn default() -> Self {
        Self::new(&Tuning::default())
    }
}

impl<R: SchemeConstants> Scheme<R> {
    /// The default variant, with parameters derived from the tuning of the scheme.
    pub fn new(tuning: &Tuning) -> Self {
        let params = Wsm5Params::new(tuning);
        Self { params, fallout: Sedimentation::default(), factors: Factors::default() }
    }

    /// The same scheme in another variant.
    pub fn with_fallout(self, fallout: Sedimentation) -> Self {
        let (vapour_pressure_cap, freezing_cold_max) = match fallout {
            Sedimentation::SemiLagrangian => (R::VAPOUR_PRESSURE_CAP, R::FREEZING_COLD_MAX),
            Sedimentation::Substepped => (R::infinity(), R::infinity()),
        };
        let params = Wsm5Params { vapour_pressure_cap, freezing_cold_max, ..self.params };
        Self { params, fallout, ..self }
    }
}

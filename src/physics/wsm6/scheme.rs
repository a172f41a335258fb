//! The scheme with its parameters.

use std::ops::{Deref, DerefMut};

use super::factors::Wsm6Factors;
use super::params::{RimedIce, Wsm6Constants, Wsm6Params};
use super::shared::params::Tuning;
use super::tuning::RimedIceTuning;

/// The scheme with its parameters and the factors of its processes. It dereferences to its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scheme<R> {
    /// The parameters.
    pub params: Wsm6Params<R>,
    /// Factors of the processes, all 1 in the scheme itself.
    pub factors: Wsm6Factors<R>,
}

impl<R> Deref for Scheme<R> {
    type Target = Wsm6Params<R>;

    fn deref(&self) -> &Wsm6Params<R> {
        &self.params
    }
}

impl<R> DerefMut for Scheme<R> {
    fn deref_mut(&mut self) -> &mut Wsm6Params<R> {
        &mut self.params
    }
}

impl<R: Wsm6Constants> Default for Scheme<R> {
    fn default() -> Self {
        Self::from(RimedIce::default())
    }
}

impl<R: Wsm6Constants> Scheme<R> {
    /// The scheme with these parameters.
    pub fn new(tuning: &Tuning, rimed: &RimedIceTuning) -> Self {
        Self { params: Wsm6Params::new(tuning, rimed), factors: Wsm6Factors::default() }
    }
}

impl<R: Wsm6Constants> From<RimedIce> for Scheme<R> {
    fn from(kind: RimedIce) -> Self {
        Self::new(&Tuning::default(), &kind.into())
    }
}

impl<R: Copy> Scheme<R> {
    /// The same scheme in another precision.
    pub fn map<S>(&self, with: impl Fn(R) -> S) -> Scheme<S> {
        Scheme { params: self.params.map(&with), factors: self.factors.map(&with) }
    }
}

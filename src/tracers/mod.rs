//! The tracers of a run, as data.
//!
//! Transport, sides, output, restart files, budgets and comparisons iterate over a [`TracerSet`] and query each
//! [`Tracer`]. A further tracer of a run is one more entry.

mod name;

use std::sync::{Arc, LazyLock};

pub use name::interned;

/// Limiter of the fluxes in the last stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limiter {
    /// No limiter.
    None,
    /// Positive definite: no cell loses more than it holds, so that positive values stay positive up to rounding.
    PositiveDefinite,
    /// Monotonic: no cell leaves the range of its own value and those of its upwind neighbours.
    Monotonic,
}

/// Role of a tracer in the physics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Potential temperature, which is not limited.
    Temperature,
    /// A species of water, which the microphysics changes and the water budget counts.
    Water,
    /// Transported, and changed by decay only.
    Passive,
    /// A species of chemistry, which reactions change.
    Species,
}

/// Boundary values of inflow through specified sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Inflow {
    /// The outermost rows of the field in the frames of the input, linear in time between them.
    Input,
    /// A constant, in the units of the tracer.
    Constant(f64),
    /// The value of the neighbour inside: no gradient across the side.
    ZeroGradient,
}

/// A transported quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tracer {
    /// Name in messages, and in variables of restart files.
    pub name: &'static str,
    /// Name of the variable in WRF's files and in the output.
    pub variable: &'static str,
    /// Units, as in the output.
    pub units: &'static str,
    /// Description in a few words.
    pub description: &'static str,
    /// Role in the physics.
    pub role: Role,
    /// Its own limiter; `None` for that of the run.
    pub limiter: Option<Limiter>,
    /// Boundary values of inflow.
    pub inflow: Inflow,
    /// Decay time (to 1/e), s.
    pub decay: Option<f64>,
}

impl Tracer {
    /// The limiter of the tracer in a run with the limiter `of_run`.
    pub fn limiter(&self, of_run: Limiter) -> Limiter {
        self.limiter.unwrap_or(of_run)
    }

    /// Fraction that is left by decay after `dt` seconds.
    ///
    /// exp(−Δt/τ)
    pub fn left_after(&self, dt: f64) -> Option<f64> {
        self.decay.map(|time| (-dt / time).exp())
    }
}

/// The tracers of a run, in the order of its fields: potential temperature, water, then passive tracers.
#[derive(Clone, Debug, PartialEq)]
pub struct TracerSet {
    tracers: Vec<Tracer>,
}

/// Number of the tracers of WSM5, which are the first of every set.
pub const MOIST_AIR: usize = 6;

/// Tracers of WSM5, in the order used everywhere.
const OF_MOIST_AIR: [Tracer; MOIST_AIR] = {
    const fn water(
        name: &'static str,
        variable: &'static str,
        description: &'static str,
    ) -> Tracer {
        Tracer {
            name,
            variable,
            units: "kg kg-1",
            description,
            role: Role::Water,
            limiter: None,
            inflow: Inflow::Input,
            decay: None,
        }
    }
    let theta = water("theta", "T", "perturbation potential temperature theta-t0");
    [
        Tracer {
            units: "K",
            role: Role::Temperature,
            // Any value is valid: zero is not a bound.
            limiter: Some(Limiter::None),
            ..theta
        },
        water("qv", "QVAPOR", "Water vapor mixing ratio"),
        water("qc", "QCLOUD", "Cloud water mixing ratio"),
        water("qr", "QRAIN", "Rain water mixing ratio"),
        water("qi", "QICE", "Ice mixing ratio"),
        water("qs", "QSNOW", "Snow mixing ratio"),
    ]
};

impl TracerSet {
    /// Potential temperature and the five species of water of WSM5.
    pub fn moist_air() -> Arc<Self> {
        static SET: LazyLock<Arc<TracerSet>> =
            LazyLock::new(|| Arc::new(TracerSet { tracers: OF_MOIST_AIR.to_vec() }));
        Arc::clone(&SET)
    }

    /// The same followed by others.
    pub fn with_passive(passive: impl IntoIterator<Item = Tracer>) -> Self {
        Self { tracers: OF_MOIST_AIR.into_iter().chain(passive).collect() }
    }

    /// The tracers, in the order of their fields.
    pub fn iter(&self) -> std::slice::Iter<'_, Tracer> {
        self.tracers.iter()
    }

    /// The passive tracers.
    pub fn passive(&self) -> &[Tracer] {
        &self.tracers[MOIST_AIR..]
    }

    /// Number of tracers.
    pub fn len(&self) -> usize {
        self.tracers.len()
    }

    /// True of an empty set.
    pub fn is_empty(&self) -> bool {
        self.tracers.is_empty()
    }

    /// The index of the tracer with this name or variable name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.iter().position(|tracer| tracer.name == name || tracer.variable == name)
    }
}

impl<'a> IntoIterator for &'a TracerSet {
    type Item = &'a Tracer;
    type IntoIter = std::slice::Iter<'a, Tracer>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl std::ops::Index<usize> for TracerSet {
    type Output = Tracer;

    fn index(&self, number: usize) -> &Tracer {
        &self.tracers[number]
    }
}

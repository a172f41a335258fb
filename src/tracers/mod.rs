//! The tracers of a run: what the air carries, as data.
//!
//! Transport, sides, output, restart files, budgets and comparisons go over a [`TracerSet`] and ask each
//! [`Tracer`] for what they need. What a run carries beside the fields of the microphysics is one more entry.

mod name;

use std::sync::{Arc, LazyLock};

pub use name::interned;

/// Bounds of the fluxes of the last stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limiter {
    /// Nothing.
    None,
    /// No cell gives more than it holds: what was positive stays so, but for rounding.
    PositiveDefinite,
    /// No cell leaves the range of itself and its upwind neighbours.
    Monotonic,
}

/// Role of a tracer in the physics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Potential temperature, which may have any value.
    Temperature,
    /// A species of water, which the microphysics changes and the water budget counts.
    Water,
    /// Carried by the air and changed by nothing but its own decay.
    Passive,
    /// A species of chemistry, which reactions change.
    Species,
}

/// Values that air brings in through specified sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Inflow {
    /// The outermost rows of the field as the frames of the input have it, linear in time between them.
    Input,
    /// The same everywhere and always, in the units of the tracer.
    Constant(f64),
    /// That of the neighbour inside: no gradient across the side.
    ZeroGradient,
}

/// Something that the air carries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tracer {
    /// Name in messages, and of the variable of restart files.
    pub name: &'static str,
    /// Name of the variable in WRF's files and in our output.
    pub variable: &'static str,
    /// Units, as in the output.
    pub units: &'static str,
    /// Description in a few words.
    pub description: &'static str,
    /// Role in the physics.
    pub role: Role,
    /// Its own limiter; without one it has that of the run.
    pub limiter: Option<Limiter>,
    /// Values that come in through the sides.
    pub inflow: Inflow,
    /// Time in which it falls to 1/e by decay, s.
    pub decay: Option<f64>,
}

impl Tracer {
    /// The limiter of the tracer in a run with this one.
    pub fn limiter(&self, of_run: Limiter) -> Limiter {
        self.limiter.unwrap_or(of_run)
    }

    /// Factor that decay leaves of it after `dt` seconds.
    ///
    /// exp(−Δt/τ)
    pub fn left_after(&self, dt: f64) -> Option<f64> {
        self.decay.map(|time| (-dt / time).exp())
    }
}

/// The tracers of a run, in the order of its fields: potential temperature, water, then what is passive.
#[derive(Clone, Debug, PartialEq)]
pub struct TracerSet {
    tracers: Vec<Tracer>,
}

/// Number of the tracers of WSM5, which are the first of every set.
pub const MOIST_AIR: usize = 6;

/// Tracers of WSM5, in the order of everything that has one place for each.
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
            // Any value is good: there is nothing to keep above zero.
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

    /// The same and others behind them.
    pub fn with_passive(passive: impl IntoIterator<Item = Tracer>) -> Self {
        Self { tracers: OF_MOIST_AIR.into_iter().chain(passive).collect() }
    }

    /// The tracers, in the order of their fields.
    pub fn iter(&self) -> std::slice::Iter<'_, Tracer> {
        self.tracers.iter()
    }

    /// Those that are passive.
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

    /// The number of the one with this name, or with this name of its variable.
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

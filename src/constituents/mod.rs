//! The constituents of a run, as data.
//!
//! A run carries what its scheme declares, then passive tracers, then chemistry. Transport, sides, output, restart
//! files, budgets and comparisons iterate over [`Constituents`] and query each [`Constituent`]. The set also describes
//! the planes at the ground, the diagnosed volumes and the air of the scheme. [`known`] describes what several schemes
//! have.

mod diagnostic;
pub mod known;
mod name;
mod set;

pub use diagnostic::{Diagnostic, Precipitating};
pub use name::interned;
pub use set::Constituents;

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

/// Phase of a species of water.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Vapour.
    Vapour,
    /// Drops.
    Liquid,
    /// Crystals, flakes, graupel, hail.
    Frozen,
}

/// Kind of a constituent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Potential temperature, which is not limited.
    Temperature,
    /// A species of water, which the microphysics changes and the water budget counts.
    Water(Phase),
    /// A property of a species of water that the microphysics changes, such as its number, rime mass or rime volume. It
    /// never counts as mass.
    Property {
        /// Name of the species.
        of: &'static str,
    },
    /// Transported, and changed by decay only.
    Passive,
    /// A species of chemistry, which reactions change.
    Chemical,
}

impl Kind {
    /// `true` for what a scheme of microphysics carries.
    pub fn is_of_scheme(self) -> bool {
        !matches!(self, Self::Passive | Self::Chemical)
    }
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

/// Values of a constituent that a file lacks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Absent {
    /// Zero.
    Zero,
    /// None: the file is refused.
    Refused,
    /// In proportion to a species of water, such as a number for each kilogram.
    PerMass {
        /// Name of the species.
        of: &'static str,
        /// Its factor, in the units of the constituent over kg kg⁻¹.
        factor: f64,
    },
}

/// A transported quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constituent {
    /// Name in messages, and in variables of restart files.
    pub name: &'static str,
    /// Name in files of columns, and of the field of a scheme.
    pub column: &'static str,
    /// Name of the variable in WRF's files and in the output.
    pub variable: &'static str,
    /// Units, as in the output.
    pub units: &'static str,
    /// Description in a few words.
    pub description: &'static str,
    /// Name in words, as in titles of pictures.
    pub words: &'static str,
    /// CF standard names of the quantity and of its content in a column, if there are any.
    pub standard_names: [Option<&'static str>; 2],
    /// Its kind.
    pub kind: Kind,
    /// Its own limiter; `None` for that of the run.
    pub limiter: Option<Limiter>,
    /// Boundary values of inflow.
    pub inflow: Inflow,
    /// Decay time (to 1/e), s.
    pub decay: Option<f64>,
    /// Its values where a file lacks it.
    pub absent: Absent,
}

impl Constituent {
    /// A passive tracer of this name with the limiter of the run, boundary values from the input, and no decay.
    pub const fn passive(name: &'static str) -> Self {
        Self {
            name,
            column: name,
            variable: name,
            units: "1",
            description: name,
            words: name,
            standard_names: [None; 2],
            kind: Kind::Passive,
            limiter: None,
            inflow: Inflow::Input,
            decay: None,
            absent: Absent::Refused,
        }
    }

    /// A species of water, zero where a file lacks it.
    pub const fn water(name: &'static str, variable: &'static str, phase: Phase) -> Self {
        Self {
            variable,
            units: "kg kg-1",
            kind: Kind::Water(phase),
            absent: Absent::Zero,
            ..Self::passive(name)
        }
    }

    /// A property of a species of water, zero where a file lacks it.
    pub const fn property(name: &'static str, variable: &'static str, of: &'static str) -> Self {
        Self { variable, kind: Kind::Property { of }, absent: Absent::Zero, ..Self::passive(name) }
    }

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

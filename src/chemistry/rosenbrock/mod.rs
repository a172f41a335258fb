//! Rosenbrock methods with an individual step for every cell.

mod control;
pub mod methods;
mod step;

pub use control::{Control, Counters, FIRST_STEP, MOST_STEPS, constants, limits};
pub use methods::{METHODS, Method};
pub use step::{Factors, PARTIAL_SUMS, SHORTEST_TIME, Tolerances, Work};

/// Status of an integration, in KPP's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub i32);

impl Status {
    /// The end of the interval was reached.
    pub const SUCCESS: Self = Self(1);
    /// More than [`MOST_STEPS`] steps.
    pub const TOO_MANY_STEPS: Self = Self(-6);
    /// The step no longer changes the time.
    pub const STEP_TOO_SMALL: Self = Self(-7);
    /// The matrix was singular six times in a row.
    pub const SINGULAR: Self = Self(-8);
    /// A value became infinite or NaN; KPP has no such test.
    pub const NOT_FINITE: Self = Self(-9);
    /// The temperature or another condition of the cell is outside the valid range of the rates.
    pub const BAD_CONDITIONS: Self = Self(-10);

    /// True if the end of the interval was reached.
    pub fn is_success(self) -> bool {
        self == Self::SUCCESS
    }

    /// The reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::SUCCESS => "solved",
            Self::TOO_MANY_STEPS => "too many steps",
            Self::STEP_TOO_SMALL => "step too small",
            Self::SINGULAR => "singular matrix",
            Self::NOT_FINITE => "not a finite number",
            Self::BAD_CONDITIONS => "temperature, air or photolysis out of range",
            _ => "unknown",
        }
    }
}

//! Step size control of one cell.
//!
//! Every step has an embedded, less accurate solution at no extra cost; the difference of the two, in units of the
//! tolerances, is the error estimate. A step with an error above 1 is rejected and repeated, and the next step size
//! follows from the error and the order: h·0.9/error^(1/order), within a factor of 0.2 to 6.

use super::Status;
use crate::simd::double;

/// Smallest factor between step sizes.
const SMALLEST_FACTOR: f64 = 0.2;
/// Largest factor between step sizes.
const LARGEST_FACTOR: f64 = 6.0;
/// Factor of the step size after two rejections in a row.
const REJECTION_FACTOR: f64 = 0.1;
/// Safety factor of the step size whose error would be 1.
const SAFETY: f64 = 0.9;
/// Lower bound of the error, which keeps the factor finite.
const SMALLEST_ERROR: f64 = 1e-10;
/// Default first step, s.
pub const FIRST_STEP: f64 = 1e-5;
/// Maximum number of steps of a cell.
pub const MOST_STEPS: u32 = 200_000;
/// Number of singular matrices in a row after which the integration of a cell ends.
const MOST_SINGULAR: u32 = 6;
/// A step is too small if this fraction of it does not change the time.
const VISIBLE_PART: f64 = 0.1;
/// Relative spacing of numbers, 2⁻⁵².
const EPSILON: f64 = f64::EPSILON;
/// Exponent of the cube root, computed as a power, which gives the same bits on all processors.
const ONE_THIRD: f64 = 1.0 / 3.0;

/// The real constants of the control by name, for kernels.
pub fn constants() -> [(&'static str, f64); 9] {
    [
        ("SMALLEST_FACTOR", SMALLEST_FACTOR),
        ("LARGEST_FACTOR", LARGEST_FACTOR),
        ("REJECTION_FACTOR", REJECTION_FACTOR),
        ("SAFETY", SAFETY),
        ("SMALLEST_ERROR", SMALLEST_ERROR),
        ("FIRST_STEP", FIRST_STEP),
        ("VISIBLE_PART", VISIBLE_PART),
        ("EPSILON", EPSILON),
        ("ONE_THIRD", ONE_THIRD),
    ]
}

/// The integer constants of the control by name, for kernels.
pub fn limits() -> [(&'static str, u32); 2] {
    [("MOST_STEPS", MOST_STEPS), ("MOST_SINGULAR", MOST_SINGULAR)]
}

/// Counters of an integration, in KPP's order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Evaluations of f.
    pub functions: u32,
    /// Evaluations of the Jacobian.
    pub jacobians: u32,
    /// Steps tried.
    pub steps: u32,
    /// Steps accepted.
    pub accepted: u32,
    /// Steps rejected after the first accepted one.
    pub rejected: u32,
    /// Factorisations.
    pub factorisations: u32,
    /// Solutions of linear systems.
    pub solutions: u32,
    /// Singular matrices.
    pub singular: u32,
}

impl Counters {
    /// Names of the counters.
    pub const NAMES: [&'static str; 8] =
        ["Nfun", "Njac", "Nstp", "Nacc", "Nrej", "Ndec", "Nsol", "Nsng"];

    /// Counters from their values in the order of their names.
    pub fn of(values: [u32; 8]) -> Self {
        let [functions, jacobians, steps, accepted, rejected, factorisations, solutions, singular] =
            values;
        Self {
            functions,
            jacobians,
            steps,
            accepted,
            rejected,
            factorisations,
            solutions,
            singular,
        }
    }

    /// The counters in the order of their names.
    pub fn values(&self) -> [u32; 8] {
        let Self { functions, jacobians, steps, accepted, rejected, .. } = *self;
        let Self { factorisations, solutions, singular, .. } = *self;
        [functions, jacobians, steps, accepted, rejected, factorisations, solutions, singular]
    }
}

/// Time and step of a cell.
#[derive(Clone, Copy, Debug, Default)]
pub struct Control {
    /// Current time, s.
    pub time: f64,
    end: f64,
    /// Current step size, s.
    pub step: f64,
    longest: f64,
    /// Counters so far.
    pub counters: Counters,
    was_rejected: bool,
    was_rejected_twice: bool,
    /// True if the current step repeats a rejected one.
    pub is_retry: bool,
    singular_in_a_row: u32,
    /// Last accepted step, s.
    pub last_step: f64,
}

impl Control {
    /// The start of an integration. First step 0 stands for the default.
    pub fn new(start: f64, end: f64, first_step: f64) -> Self {
        let longest = (end - start).abs();
        let first = if first_step > 0.0 { first_step } else { FIRST_STEP };
        let step = first.min(longest);
        let step = if step <= 10.0 * EPSILON { FIRST_STEP } else { step };
        Self { time: start, end, step, longest, ..Self::default() }
    }

    /// Begins a step from a new time; returns the status if there is none to take.
    pub fn begin(&mut self) -> Option<Status> {
        if self.time - self.end + EPSILON > 0.0 {
            return Some(Status::SUCCESS);
        }
        if self.counters.steps > MOST_STEPS {
            return Some(Status::TOO_MANY_STEPS);
        }
        let is_lost = self.time + VISIBLE_PART * self.step == self.time;
        if is_lost || self.step <= EPSILON || self.step.is_nan() {
            return Some(Status::STEP_TOO_SMALL);
        }
        self.step = self.step.min((self.end - self.time).abs());
        None
    }

    /// Accepts or rejects the step by its error; true if it is accepted.
    ///
    /// # Errors
    ///
    /// [`Status::NOT_FINITE`] if the error is infinite or NaN.
    pub fn judge(&mut self, error: f64, order: i32) -> Result<bool, Status> {
        self.singular_in_a_row = 0;
        self.counters.steps += 1;
        if !error.is_finite() {
            return Err(Status::NOT_FINITE);
        }
        let error = error.max(SMALLEST_ERROR);
        let root = match order {
            2 => error.sqrt(),
            3 => double::powf(error, ONE_THIRD),
            _ => error.sqrt().sqrt(),
        };
        let mut next = self.step * (SAFETY / root).clamp(SMALLEST_FACTOR, LARGEST_FACTOR);
        let is_accepted = error <= 1.0 || self.step <= 0.0;
        if is_accepted {
            self.counters.accepted += 1;
            self.time += self.step;
            next = next.min(self.longest);
            if self.was_rejected {
                next = next.min(self.step);
            }
            self.last_step = self.step;
            (self.was_rejected, self.was_rejected_twice) = (false, false);
        } else {
            if self.was_rejected_twice {
                next = self.step * REJECTION_FACTOR;
            }
            self.was_rejected_twice = self.was_rejected;
            self.was_rejected = true;
            self.counters.rejected += u32::from(self.counters.accepted >= 1);
        }
        self.step = next;
        self.is_retry = !is_accepted;
        Ok(is_accepted)
    }

    /// Halves the step after a singular matrix.
    pub(crate) fn halve(&mut self) -> Result<(), Status> {
        self.counters.singular += 1;
        self.singular_in_a_row += 1;
        self.is_retry = true;
        self.step *= 0.5;
        if self.singular_in_a_row >= MOST_SINGULAR { Err(Status::SINGULAR) } else { Ok(()) }
    }
}

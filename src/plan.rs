//! The time steps of a run: how many, how long.

use crate::error::{Error, Result};

/// How long to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// A number of time steps.
    Steps(usize),
    /// A time, s.
    Seconds(f64),
}

/// The time steps of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Length of every step but the last, s.
    pub dt: f64,
    /// Number of steps.
    pub steps: usize,
    /// Length of the last step, s.
    pub last_dt: f64,
    /// The longest step that the winds admit, s.
    pub max_dt: f64,
}

/// The shortest time step, s: far below any use, and far above what single precision takes for 0.
const SHORTEST: f64 = 1e-6;

/// Most steps of a run: as many as can be asked for by their number.
const MOST_STEPS: f64 = u32::MAX as f64;

/// Time step where neither the user nor the file says one, s.
const DEFAULT_DT: f64 = 60.0;

impl Length {
    /// An upper bound of the time that a run takes whose steps are `dt`, or `file_dt`, or shorter,
    /// s.
    pub fn seconds(self, dt: Option<f64>, file_dt: Option<f64>) -> f64 {
        match self {
            Self::Steps(steps) => steps as f64 * dt.or(file_dt).unwrap_or(DEFAULT_DT),
            Self::Seconds(seconds) => seconds,
        }
    }
}

/// A remainder of this part of a step is no step of its own.
const SLACK: f64 = 1e-9;

impl Plan {
    /// Divides the run into steps no longer than `max_dt`.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] when the user's own step is longer than that, when a step or the run is
    /// too short to be computed, or when the run is too long.
    pub fn new(length: Length, dt: Option<f64>, file_dt: Option<f64>, max_dt: f64) -> Result<Self> {
        let asked = if dt.is_some() { "--dt" } else { "the input's DT, or its winds" };
        let dt = match dt {
            Some(dt) if dt > max_dt => {
                return Err(Error::Usage(format!(
                    "--dt {dt}: air would cross more than a cell in a step; the longest time step \
                     for these winds is {} s",
                    longest(max_dt)
                )));
            }
            Some(dt) => dt,
            None => {
                let wanted = file_dt.unwrap_or(DEFAULT_DT);
                if wanted > max_dt {
                    let dt = longest(max_dt);
                    tracing::warn!("time step reduced from {wanted} s to {dt} s for these winds");
                    dt
                } else {
                    wanted
                }
            }
        };
        if dt < SHORTEST {
            return Err(Error::Usage(format!(
                "the time step, by {asked}, is {dt:e} s; at least {SHORTEST:e} s is needed; give \
                 another --dt"
            )));
        }
        let (steps, last_dt) = match length {
            Length::Steps(steps) => (steps, dt),
            Length::Seconds(seconds) if seconds < SHORTEST => {
                return Err(Error::Usage(format!(
                    "--hours {:e}: at least {SHORTEST:e} s is needed; give more",
                    seconds / 3600.0
                )));
            }
            Length::Seconds(seconds) if seconds / dt > MOST_STEPS => {
                return Err(Error::Usage(format!(
                    "--hours {:e}: that takes more than {MOST_STEPS} steps of {dt} s, the most \
                     that a run makes; give fewer hours, or a longer --dt",
                    seconds / 3600.0
                )));
            }
            Length::Seconds(seconds) => {
                // Of very many steps, more is lost in rounding.
                let slack = SLACK.max(4.0 * f64::EPSILON * seconds / dt);
                let steps = (seconds / dt - slack).ceil().max(1.0);
                (steps as usize, seconds - (steps - 1.0) * dt)
            }
        };
        Ok(Self { dt, steps, last_dt, max_dt })
    }

    /// Length of a step, counted from 1, s.
    pub fn dt_of(&self, step: usize) -> f64 {
        if step == self.steps { self.last_dt } else { self.dt }
    }

    /// Time at the end of a step, s.
    pub fn time_after(&self, step: usize) -> f64 {
        if step == 0 { 0.0 } else { (step - 1) as f64 * self.dt + self.dt_of(step) }
    }
}

/// The longest admissible step in round figures: whole seconds, or five digits below ten seconds.
fn longest(max_dt: f64) -> f64 {
    let unit = if max_dt >= 10.0 { 1.0 } else { 10_f64.powf(max_dt.log10().floor() - 4.0) };
    (max_dt / unit).floor() * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_step_ends_on_the_hour() {
        let plan = Plan::new(Length::Seconds(3600.0), Some(70.0), None, 200.0);
        let plan = plan.expect("an admissible step");
        assert_eq!(plan.steps, 52);
        assert!((plan.last_dt - 30.0).abs() < 1e-9);
        assert!((plan.time_after(plan.steps) - 3600.0).abs() < 1e-9);
    }

    #[test]
    fn whole_number_of_steps_has_no_short_one() {
        let plan = Plan::new(Length::Seconds(360.0), Some(0.1), None, 200.0);
        let plan = plan.expect("an admissible step");
        assert_eq!(plan.steps, 3600);
        assert!((plan.last_dt - 0.1).abs() < 1e-9);
    }

    #[test]
    fn too_long_a_step_is_refused_or_reduced() {
        let length = Length::Steps(3);
        let error = Plan::new(length, Some(60.0), None, 41.7).expect_err("too long");
        assert!(error.to_string().contains("is 41 s"), "{error}");
        let plan = Plan::new(length, None, Some(150.0), 0.123_456_7).expect("reduced");
        assert!((plan.dt - 0.12345).abs() < 1e-12, "{}", plan.dt);
    }
}

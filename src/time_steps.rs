//! The time steps of a run: their number and their length.

use crate::error::{Advice, Error, Result};

/// Seconds of an hour.
pub const HOUR: f64 = 3600.0;

/// Length of the run.
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
    /// Length of every step except the last, s.
    pub dt: f64,
    /// Number of steps.
    pub steps: usize,
    /// Length of the last step, s.
    pub last_dt: f64,
    /// The longest step that the winds admit, s.
    pub max_dt: f64,
    /// Steps of the preceding runs that this one continues.
    pub past: Past,
}

/// Steps that precede those of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Past {
    /// Number of steps.
    pub steps: usize,
    /// Time by which they are shorter than whole steps, s: not 0 if the last step of a run was shortened.
    pub lack: f64,
}

/// The shortest time step, s: far below any use, and far above numbers that single precision rounds to 0.
const SHORTEST: f64 = 1e-6;

/// Most steps of a run: the largest number that the command line accepts.
const MOST_STEPS: f64 = u32::MAX as f64;

/// Time step if neither the user nor the file specifies one, s.
const DEFAULT_DT: f64 = 60.0;

impl Length {
    /// Upper bound of the duration of a run with steps of `dt`, or `file_dt`, or shorter, s.
    pub fn seconds(self, dt: Option<f64>, file_dt: Option<f64>) -> f64 {
        match self {
            Self::Steps(steps) => steps as f64 * dt.or(file_dt).unwrap_or(DEFAULT_DT),
            Self::Seconds(seconds) => seconds,
        }
    }
}

/// A remainder below this fraction of a step is not a step.
const SLACK: f64 = 1e-9;

impl Plan {
    /// Divides the run into steps no longer than `max_dt`.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] when the user's own step is longer than that, when a step or the run is too short, or when the
    /// run is too long.
    pub fn new(length: Length, dt: Option<f64>, file_dt: Option<f64>, max_dt: f64) -> Result<Self> {
        if max_dt.is_nan() {
            return Err(Error::Usage(
                "the longest time step for these winds is not a number: masses or fluxes are not finite"
                    .to_owned(),
            ));
        }
        let asked = if dt.is_some() { "as asked for" } else { "by the input's DT, or its winds" };
        let dt = match dt {
            Some(dt) if dt > max_dt => {
                return Err(Error::Usage(format!(
                    "in a time step of {dt} s air would cross more than a cell; the longest time step \
                     for these winds is {} s",
                    longest(max_dt)
                ))
                .advise(Advice::ChangeTimeStep));
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
        if dt.is_nan() || dt.is_infinite() || dt < SHORTEST {
            return Err(Error::Usage(format!(
                "the time step, {asked}, is {dt:e} s; at least {SHORTEST:e} s is needed"
            ))
            .advise(Advice::ChangeTimeStep));
        }
        let (steps, last_dt) = match length {
            Length::Steps(steps) => (steps, dt),
            Length::Seconds(seconds) if seconds.is_nan() || seconds < SHORTEST => {
                return Err(Error::Usage(format!(
                    "a run of {:e} hours: at least {SHORTEST:e} s is needed",
                    seconds / HOUR
                ))
                .advise(Advice::LengthenRun));
            }
            Length::Seconds(seconds) if seconds / dt > MOST_STEPS => {
                return Err(Error::Usage(format!(
                    "a run of {:e} hours takes more than {MOST_STEPS} steps of {dt} s, the most \
                     that a run can have",
                    seconds / HOUR
                ))
                .advise(Advice::ShortenRun));
            }
            Length::Seconds(seconds) => {
                // For very many steps the rounding error is larger.
                let slack = SLACK.max(4.0 * f64::EPSILON * seconds / dt);
                let steps = (seconds / dt - slack).ceil().max(1.0);
                let last = seconds - (steps - 1.0) * dt;
                // A whole number of steps has equal steps, so that it can be divided.
                let last = if (last - dt).abs() <= 2.0 * slack * dt { dt } else { last };
                (steps as usize, last)
            }
        };
        Ok(Self { dt, steps, last_dt, max_dt, past: Past::default() })
    }

    /// The same steps after preceding ones.
    pub fn after(self, past: Past) -> Self {
        Self { past, ..self }
    }

    /// Steps done at the end of a step.
    pub fn past_after(&self, step: usize) -> Past {
        let cut = if step == self.steps { self.dt - self.last_dt } else { 0.0 };
        Past { steps: self.past.steps + step, lack: self.past.lack + cut }
    }

    /// Length of a step, counted from 1, s.
    pub fn dt_of(&self, step: usize) -> f64 {
        if step == self.steps { self.last_dt } else { self.dt }
    }

    /// Time at the end of a step, from the start of the first run on, s.
    ///
    /// The bits do not depend on the division of the steps among runs.
    pub fn time_after(&self, step: usize) -> f64 {
        match self.past.steps + step {
            0 => 0.0,
            all => (all - 1) as f64 * self.dt + self.dt_of(step) - self.past.lack,
        }
    }
}

/// The longest admissible step, rounded down: to whole seconds, or to five digits below ten seconds.
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
    fn times_do_not_depend_on_where_a_run_is_divided() {
        for dt in [0.1, 0.7, 150.0, 1.0 / 3.0] {
            let of = |steps| Plan::new(Length::Steps(steps), Some(dt), None, 200.0).expect("steps");
            let whole = of(30);
            for first in 1..30 {
                let second = of(30 - first).after(of(first).past_after(first));
                for step in 0..=30 - first {
                    let [a, b] = [whole.time_after(first + step), second.time_after(step)];
                    assert_eq!(a.to_bits(), b.to_bits(), "{dt} {first} {step}");
                }
            }
            // In hours the same as in steps.
            let hours = Plan::new(Length::Seconds(30.0 * dt), Some(dt), None, 200.0);
            assert_eq!(hours.expect("steps"), whole);
        }
    }

    #[test]
    fn a_shortened_step_is_not_made_up_for() {
        let first = Plan::new(Length::Seconds(100.0), Some(70.0), None, 200.0).expect("steps");
        let second = Plan::new(Length::Steps(2), Some(70.0), None, 200.0).expect("steps");
        let second = second.after(first.past_after(2));
        let times: Vec<f64> = (0..=2).map(|step| second.time_after(step)).collect();
        assert_eq!(times, [100.0, 170.0, 240.0]);
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

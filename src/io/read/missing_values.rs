//! Missing values of a file: position, reason, and number.

use std::cell::RefCell;
use std::fmt;

use ndarray::{ArrayD, Dimension, IxDyn};
use rayon::prelude::*;

use crate::io::read::dataset::Variable;
use crate::io::read::packing::{FLOAT_FILL, MissingReason, Packing};

/// The first missing value of a variable, and the numbers of missing values with the same and with other reasons.
#[derive(Clone, Debug)]
pub(in crate::io) struct MissingValue {
    variable: String,
    /// Position in words.
    at: String,
    /// Stored value there.
    stored: f64,
    why: MissingReason,
    count: usize,
    total: usize,
}

impl fmt::Display for MissingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { variable, at, stored, why, count, total } = self;
        match why {
            MissingReason::NeverWritten => write!(
                f,
                "variable {variable} was never written at {at}: it holds NetCDF's fill value {stored:e}"
            )?,
            MissingReason::Marked(name) => write!(
                f,
                "variable {variable} has no value at {at}: its attribute {name} marks {stored} as \
                 missing"
            )?,
            MissingReason::Outside(name) => write!(
                f,
                "variable {variable} has no value at {at}: its attribute {name} excludes \
                 {stored}, the value as stored"
            )?,
            MissingReason::NotFinite => {
                write!(f, "variable {variable} is {stored} at {at}; every value must be finite")?;
            }
        }
        match *count {
            1 => Ok(()),
            all if all == *total => write!(f, " (and so are all {total} values)"),
            many => write!(f, " (and in {} more of {total} places)", many - 1),
        }
    }
}

/// Variables with missing values, in the order of reading.
#[derive(Debug, Default)]
pub(in crate::io) struct MissingValues(RefCell<Vec<MissingValue>>);

impl MissingValues {
    /// Adds a variable.
    pub(in crate::io) fn add(&self, hole: MissingValue) {
        self.0.borrow_mut().push(hole);
    }

    /// Moves all variables to `to`.
    pub(in crate::io) fn move_to(self, to: &Self) {
        to.0.borrow_mut().append(&mut self.0.into_inner());
    }

    /// Returns `true` if nothing is missing.
    pub(in crate::io) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// List of the missing values, in words, each variable once.
    pub(in crate::io) fn words(self) -> String {
        let mut words: Vec<String> = Vec::new();
        for hole in self.0.into_inner() {
            let hole = hole.to_string();
            if !words.contains(&hole) {
                words.push(hole);
            }
        }
        words.join("; ")
    }
}

/// Values of a variable, NaN where missing.
pub(in crate::io) struct Masked {
    /// In units of the variable.
    pub(in crate::io) values: ArrayD<f32>,
    /// First missing value, if any.
    pub(in crate::io) hole: Option<MissingValue>,
}

impl Masked {
    /// Checks unpacked values of type float.
    pub(in crate::io) fn of_single(
        variable: &Variable,
        packing: &Packing,
        values: ArrayD<f32>,
    ) -> Self {
        let is_whole = match values.as_slice() {
            // All values are read anyway, and this takes no longer than a search for one that is not finite.
            Some(values) if packing.is_plain() => {
                let is_there = |x: &f32| x.is_finite() && *x != FLOAT_FILL;
                values.par_chunks(1 << 14).all(|part| part.iter().all(is_there))
            }
            _ => values.iter().all(|x| packing.why((*x).into()).is_none()),
        };
        if is_whole {
            return Self { values, hole: None };
        }
        Self::unpacked(variable, packing, &values.mapv(f64::from))
    }

    /// Unpacks stored values of any type, in double precision.
    pub(in crate::io) fn unpacked(
        variable: &Variable,
        packing: &Packing,
        stored: &ArrayD<f64>,
    ) -> Self {
        let mut hole: Option<MissingValue> = None;
        let mut values = stored.mapv(|x| packing.value(x) as f32);
        for ((at, &stored), value) in stored.indexed_iter().zip(&mut values) {
            let why = packing.why(stored);
            let is_infinite = why.is_none() && !value.is_finite();
            let Some(why) = why.or(is_infinite.then_some(MissingReason::NotFinite)) else {
                continue;
            };
            let first = || MissingValue {
                variable: variable.name.clone(),
                at: position(variable, &at),
                stored: if is_infinite { packing.value(stored) } else { stored },
                why,
                count: 0,
                total: 0,
            };
            hole.get_or_insert_with(first).count += 1;
            if !is_infinite {
                *value = f32::NAN;
            }
        }
        let total = values.len();
        Self { values, hole: hole.map(|hole| MissingValue { total, ..hole }) }
    }
}

/// An index in words: the name of each dimension and the index along it.
pub(in crate::io) fn position(variable: &Variable, at: &IxDyn) -> String {
    // Values of a single time lack the dimension Time, the first one.
    let dimensions = &variable.extents;
    let names = dimensions[dimensions.len() - at.ndim()..].iter().map(|extent| &extent.name);
    let words: Vec<String> =
        names.zip(at.slice()).map(|(name, index)| format!("{name}={index}")).collect();
    if words.is_empty() { "its only place".to_owned() } else { words.join(" ") }
}

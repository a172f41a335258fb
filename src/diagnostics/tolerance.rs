//! Tolerances of the comparison of two files, from a TOML file.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::diagnostics::difference::{Band, Difference};
use crate::diagnostics::totals;
use crate::error::{Error, Result};
use crate::io::read::reader::nearest;
use crate::io::read::text;
use crate::os_text::Shown;

/// Built-in limits, for two builds in single precision.
pub(crate) const SHIPPED: &str = include_str!("../../validation/tolerances.toml");

/// Tolerances of a variable.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub(crate) struct Limits {
    /// Absolute difference, in the unit of the variable.
    pub atol: f64,
    /// Difference relative to the value in the first file, added to `atol`.
    pub rtol: f64,
    /// Share of the values that may exceed `atol + rtol |a|`.
    pub outliers: f64,
    /// Largest root mean square of the errors, in per cent of that of the first file; `atol` is added.
    pub rms_percent: Option<f64>,
    #[serde(flatten, skip_serializing)]
    unknown: BTreeMap<String, toml::Value>,
}

impl Limits {
    const KEYS: [&str; 4] = ["atol", "rtol", "outliers", "rms_percent"];

    /// These limits with a wider limit for single values.
    pub(crate) fn widened(&self, by: Band) -> Self {
        Self { atol: self.atol + by.atol, rtol: self.rtol + by.rtol, ..self.clone() }
    }

    /// Tolerance of a single pair of values.
    pub(crate) fn band(&self) -> Band {
        Band { atol: self.atol, rtol: self.rtol }
    }

    /// Returns `true` if a difference is within these limits.
    pub(crate) fn admit(&self, difference: &Difference) -> bool {
        let rms_limit = self.rms_percent.map_or(f64::INFINITY, |percent| {
            self.atol + percent / 100.0 * difference.rms_of_first()
        });
        difference.unmatched == 0
            && difference.beyond as f64 <= self.outliers * difference.values as f64
            && difference.rms() <= rms_limit
    }
}

/// Limits for the comparison of two files.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub(crate) struct Tolerances {
    default: Limits,
    variables: BTreeMap<String, Limits>,
    totals: BTreeMap<String, f64>,
    #[serde(flatten)]
    unknown: BTreeMap<String, toml::Value>,
}

impl Tolerances {
    const KEYS: [&str; 3] = ["default", "variables", "totals"];

    /// Reads a file of limits.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = text::read(path)?;
        Self::parse(&text).map_err(|message| Error::Usage(format!("{}: {message}", path.shown())))
    }

    /// Parses the text of such a file.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let found: Self = toml::from_str(text).map_err(|e| e.to_string())?;
        refuse(found.unknown.keys(), "", &Self::KEYS)?;
        let totals: Vec<&str> = totals::names().collect();
        let unknown = found.totals.keys().filter(|name| !totals.contains(&name.as_str()));
        refuse(unknown, " of [totals]", &totals)?;
        check("default", &found.default)?;
        for (name, limits) in &found.variables {
            check(&format!("variables.{name}"), limits)?;
        }
        for (name, &limit) in &found.totals {
            check_number(&format!("totals.{name}"), limit)?;
        }
        Ok(found)
    }

    /// The limits of a variable.
    pub(crate) fn of(&self, variable: &str) -> &Limits {
        self.variables.get(variable).unwrap_or(&self.default)
    }

    /// The largest relative difference of a total; `None` if it is not limited.
    pub(crate) fn of_total(&self, name: &str) -> Option<f64> {
        self.totals.get(name).copied()
    }
}

/// Fails on the first unknown key.
fn refuse<'a>(
    mut unknown: impl Iterator<Item = &'a String>,
    place: &str,
    known: &[&str],
) -> Result<(), String> {
    let Some(key) = unknown.next() else { return Ok(()) };
    let hint = nearest(key, known.iter().copied())
        .map_or_else(String::new, |near| format!("did you mean {near}? "));
    Err(format!("unknown key {key}{place}; {hint}the keys are {}", known.join(", ")))
}

fn check(place: &str, limits: &Limits) -> Result<(), String> {
    refuse(limits.unknown.keys(), &format!(" of {place}"), &Limits::KEYS)?;
    check_number(&format!("{place}.atol"), limits.atol)?;
    check_number(&format!("{place}.rtol"), limits.rtol)?;
    check_number(&format!("{place}.rms_percent"), limits.rms_percent.unwrap_or(0.0))?;
    check_number(&format!("{place}.outliers"), limits.outliers)?;
    if limits.outliers >= 1.0 {
        return Err(format!("{place}.outliers is {}; a share below 1 is needed", limits.outliers));
    }
    Ok(())
}

fn check_number(place: &str, limit: f64) -> Result<(), String> {
    if limit >= 0.0 && limit.is_finite() {
        return Ok(());
    }
    Err(format!("{place} is {limit}; a finite number from 0 is needed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_limits_are_valid() {
        let shipped = Tolerances::parse(SHIPPED).expect("valid");
        assert!(shipped.of("QVAPOR").atol > 0.0);
        assert_eq!(*shipped.of("XLAT"), shipped.default);
    }

    #[test]
    fn unknown_keys_name_the_nearest() {
        for (text, words) in [
            ("[defaults]\natol = 1", ["defaults", "did you mean default?"]),
            ("[default]\natoll = 1", ["atoll of default", "did you mean atol?"]),
            ("[variables]\nT = { rtoll = 1 }", ["rtoll of variables.T", "did you mean rtol?"]),
            ("[totals]\nwatter = 1", ["watter of [totals]", "did you mean water?"]),
            ("[default]\natol = -1", ["default.atol is -1", "from 0"]),
            ("[default]\natol = inf", ["default.atol is inf", "finite"]),
            ("[default]\noutliers = 1.0", ["default.outliers is 1", "below 1"]),
            ("[default\n", ["line 1", "default"]),
        ] {
            let message = Tolerances::parse(text).expect_err(text);
            for word in words {
                assert!(message.contains(word), "{word:?} is not in {message}");
            }
        }
    }

    #[test]
    fn every_limit_counts() {
        let mut difference = Difference::default();
        let limits = |text: &str| Tolerances::parse(text).expect(text).default;
        let admits = |difference: &Difference, text: &str| limits(text).admit(difference);
        let band = limits("default = { atol = 1 }").band();
        difference.add(band, &[10.0, 10.0, 10.0, 10.0], &[10.0, 10.5, 12.0, 10.0]);
        assert!(!admits(&difference, "default = { atol = 1 }"));
        assert!(!admits(&difference, "default = { atol = 1, outliers = 0.2 }"));
        assert!(admits(&difference, "default = { atol = 1, outliers = 0.25 }"));
        assert!(admits(&difference, "default = { atol = 1, outliers = 0.25, rms_percent = 1 }"));
        assert!(!admits(&difference, "default = { outliers = 0.25, rms_percent = 10.3 }"));
        difference.add(band, &[f64::NAN], &[1.0]);
        assert!(!admits(&difference, "default = { atol = 9, outliers = 0.9 }"));
    }
}

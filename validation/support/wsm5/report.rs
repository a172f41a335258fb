//! Results of checks.

/// Failures that are shown; the rest is counted.
const MOST_SHOWN: usize = 40;

/// Failures, and the largest ratio to its limit of each kind of check.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Exceeded limits.
    pub failures: Vec<String>,
    nearest: Vec<(&'static str, f64, String)>,
}

impl Report {
    /// Notes that `ratio` of a limit was reached.
    pub fn note(&mut self, kind: &'static str, ratio: f64, text: impl FnOnce() -> String) {
        let index = self.nearest.iter().position(|(known, ..)| *known == kind);
        let index = index.unwrap_or_else(|| {
            self.nearest.push((kind, -1.0, String::new()));
            self.nearest.len() - 1
        });
        // NaN counts as a failure.
        let is_good = ratio <= 1.0;
        if ratio <= self.nearest[index].1 && is_good {
            return;
        }
        let text = text();
        if !is_good {
            self.failures.push(format!("{kind}: {text}"));
        }
        if ratio > self.nearest[index].1 {
            self.nearest[index] = (kind, ratio, text);
        }
    }

    /// The largest part of a limit that was reached.
    pub fn most(&self) -> f64 {
        self.nearest.iter().map(|(_, ratio, _)| *ratio).fold(0.0, f64::max)
    }

    /// Prints the largest ratio to its limit of each kind of check, and panics if a limit is exceeded.
    pub fn finish(self) {
        Self::finish_all(vec![(String::new(), self)]);
    }

    /// Finishes several reports, each with its subject.
    pub fn finish_all(reports: Vec<(String, Self)>) {
        let mut failures = Vec::new();
        for (about, report) in reports {
            assert!(!report.nearest.is_empty(), "nothing was compared: {about}");
            for (kind, ratio, text) in &report.nearest {
                println!("{about}: {kind}: {ratio:.3} of the limit; {text}");
            }
            failures.extend(report.failures.iter().map(|text| format!("{about}: {text}")));
        }
        let first = failures.iter().take(MOST_SHOWN).cloned().collect::<Vec<_>>().join("\n");
        assert!(failures.is_empty(), "{} limits are exceeded:\n{first}", failures.len());
    }
}

//! Results of checks.

/// Failures that are shown; the rest is counted.
const MOST_SHOWN: usize = 40;

/// Failures, and the largest ratio to its limit of each kind of check.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Exceeded limits.
    pub failures: Vec<String>,
    nearest: Vec<Nearest>,
    tallied: usize,
    exceeded: Vec<String>,
}

/// The check of a kind that came nearest to its limit.
#[derive(Clone, Debug)]
struct Nearest {
    kind: String,
    ratio: f64,
    text: String,
}

impl Report {
    /// Notes that `ratio` of a limit was reached.
    pub fn note(&mut self, kind: &str, ratio: f64, text: impl FnOnce() -> String) {
        let known = self.nearest.iter().position(|known| known.kind == kind);
        let index = known.unwrap_or_else(|| {
            self.nearest.push(Nearest { kind: kind.into(), ratio: -1.0, text: String::new() });
            self.nearest.len() - 1
        });
        let nearest = &mut self.nearest[index];
        // NaN counts as a failure.
        let is_good = ratio <= 1.0;
        if ratio <= nearest.ratio && is_good {
            return;
        }
        let text = text();
        if !is_good {
            self.failures.push(format!("{kind}: {text}"));
        }
        if ratio > nearest.ratio {
            (nearest.ratio, nearest.text) = (ratio, text);
        }
    }

    /// Counts one of the limits of which a few may be exceeded; see [`Self::close`].
    pub fn tally(&mut self, found: f64, limit: f64, text: impl FnOnce() -> String) {
        self.tallied += 1;
        let is_good = found <= limit;
        if !is_good {
            self.exceeded.push(text());
        }
    }

    /// Notes the part of the counted limits that are exceeded, of which `share` may be.
    pub fn close(&mut self, share: f64) {
        let (tallied, exceeded) = (self.tallied, std::mem::take(&mut self.exceeded));
        if std::mem::take(&mut self.tallied) == 0 {
            return;
        }
        let found = exceeded.len() as f64 / tallied as f64;
        let ratio = if found == 0.0 { 0.0 } else { found / share };
        self.note("statistical limits exceeded", ratio, || {
            format!("{} of {tallied}: {}", exceeded.len(), exceeded.join("; "))
        });
    }

    /// The largest part of a limit that was reached.
    pub fn most(&self) -> f64 {
        self.nearest.iter().map(|nearest| nearest.ratio).fold(0.0, f64::max)
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
            for Nearest { kind, ratio, text } in &report.nearest {
                println!("{about}: {kind}: {ratio:.3} of the limit; {text}");
            }
            failures.extend(report.failures.iter().map(|text| format!("{about}: {text}")));
        }
        let first = failures.iter().take(MOST_SHOWN).cloned().collect::<Vec<_>>().join("\n");
        assert!(failures.is_empty(), "{} limits are exceeded:\n{first}", failures.len());
    }
}

//! A process compared with values stored by WRF, and the sensitivity of the comparison to a change of one per cent.

use super::stored::Row;

/// Half a ULP of single precision, relative: the error of one operation.
pub const ROUNDING: f64 = 1.0 / (1_u64 << 24) as f64;

/// Distance of the smallest numbers of single precision, four times: below 1e-38 rounding is no
/// longer relative.
const SUBNORMAL: f64 = 4.0 * 1.401_298_464_324_817e-45;

/// The values of one process in all cells.
pub struct Comparison {
    name: &'static str,
    failures: Vec<String>,
    worst: (f64, String),
    active: usize,
    caught: usize,
}

impl Comparison {
    /// A comparison without cells.
    pub fn new(name: &'static str) -> Self {
        Self { name, failures: vec![], worst: (-1.0, String::new()), active: 0, caught: 0 }
    }

    /// Compares a cell. Also counts whether an expected value that is one per cent larger would
    /// have been refused.
    pub fn cell(&mut self, row: &Row, found: f64, expected: f64, tolerance: f64) {
        self.value(&row.place().to_string(), found, expected, tolerance);
    }

    /// Compares a value at a place that is described in words.
    pub fn value(&mut self, place: &str, found: f64, expected: f64, tolerance: f64) {
        let tolerance = tolerance + SUBNORMAL;
        let accepts = |expected: f64| (found - expected).abs() <= tolerance;
        let text = || {
            let name = self.name;
            format!("{name}: {found:e}, not {expected:e} within {tolerance:.2e}, at {place}")
        };
        if !accepts(expected) {
            self.failures.push(text());
        }
        let ratio = (found - expected).abs() / tolerance;
        if ratio > self.worst.0 {
            self.worst = (ratio, text());
        }
        if expected != 0.0 {
            self.active += 1;
            self.caught += usize::from(!accepts(1.01 * expected));
        }
    }

    /// Asserts that all cells agree, that the process acts in some, and that a change of one per
    /// cent would show in at least `share` of these.
    pub fn finish(self, share: f64) {
        let Self { name, failures, worst, active, caught } = self;
        println!(
            "{name}: {:.3} of the tolerance, 1 % shows in {caught} of {active}; {}",
            worst.0, worst.1
        );
        let first = failures.iter().take(10).cloned().collect::<Vec<_>>().join("\n");
        assert!(failures.is_empty(), "{} cells differ:\n{first}", failures.len());
        assert!(active > 0, "{name} acts nowhere");
        let needed = (share * active as f64).ceil() as usize;
        assert!(caught >= needed.max(1), "{name}: 1 % shows in only {caught} of {active} cells");
    }
}

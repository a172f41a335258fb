//! Output of the measurements: a table for people, rows for programs, faults.

use std::io::Write;

use serde::Serialize;
use serde_json::Value;

/// Output of a command.
pub(super) struct Record<'a> {
    /// Lines for people.
    pub(super) out: &'a mut dyn Write,
    /// Rows for programs.
    pub(super) rows: Vec<Value>,
    /// Wrong results.
    pub(super) faults: Vec<String>,
}

impl Record<'_> {
    /// Adds a row for programs.
    pub(super) fn add(&mut self, row: &impl Serialize) {
        self.rows.push(serde_json::to_value(row).expect("rows have plain keys"));
    }
}

/// Name of the CPU with a number of threads.
pub(super) fn cpu_with(threads: usize) -> String {
    format!("CPU, {threads} thread{}", if threads == 1 { "" } else { "s" })
}

/// A number with so many digits, or a dash.
pub(super) fn digits(number: Option<f64>, digits: usize) -> String {
    number.map_or_else(|| "-".to_owned(), |x| format!("{x:.digits$}"))
}

//! Output of the measurements: a table for people, rows for programs, faults.

use std::io::Write;

use serde::Serialize;
use serde_json::Value;

use crate::error::Result;

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
    /// Prints the line of a row, and adds the row.
    pub(super) fn show(&mut self, line: &str, row: &impl Serialize) -> Result<()> {
        writeln!(self.out, "{line}")?;
        self.add(row);
        Ok(())
    }

    /// Adds a row for programs.
    pub(super) fn add(&mut self, row: &impl Serialize) {
        self.rows.push(serde_json::to_value(row).expect("rows have plain keys"));
    }
}

//! Report of the chemistry of a run.

use std::io::Write;

use serde::Serialize;

use crate::backend::PhaseTime;
use crate::chemistry::rosenbrock::Status;
use crate::cli::FilePrecision;
use crate::diagnostics::atoms::{AtomBudget, budgets};
use crate::diagnostics::budget::TracerBudget;
use crate::error::{Error, Result};
use crate::model::{Outcome, RunInput};
use crate::state::ChemistryTally;

/// Species whose extrema are printed, by their usual names in mechanisms.
const SHOWN: [&str; 4] = ["o3", "no2", "oh", "ho"];

/// The chemistry of a run.
#[derive(Clone, Debug, Serialize)]
pub(in crate::cli) struct ChemistryReport {
    mechanism: String,
    /// Calls for all cells.
    calls: u64,
    /// Wall time of all calls of this run, s.
    seconds: f64,
    /// Steps of all cells of this run per second of that time.
    cell_steps_per_s: f64,
    /// Steps of a cell in a call.
    steps_mean: f64,
    steps_most: u64,
    /// Failed cells, which kept their values, and the error code and position `[i, j, k]` of the first.
    failed: u64,
    first_failed: Option<(i32, [usize; 3])>,
    atoms: Vec<AtomBudget>,
    #[serde(skip)]
    names: Vec<&'static str>,
}

impl ChemistryReport {
    /// Report of a run; `None` without chemistry. `seconds` is the time of the calls.
    pub(in crate::cli) fn new<R: FilePrecision>(
        case: &RunInput<R>,
        outcome: &Outcome,
        time: PhaseTime,
    ) -> Option<Self> {
        let (coupled, tally) = (case.chemistry.as_ref()?, outcome.chemistry?);
        let names: Vec<Option<&'static str>> = coupled
            .fields
            .iter()
            .map(|field| field.map(|field| case.tracers[field].name))
            .collect();
        let ChemistryTally { calls, cells, steps, most, failed, first_failed, .. } = tally;
        let before = case.history.as_ref().map_or(0, |history| history.gathered.chemistry.steps);
        let tracers: &[TracerBudget] = &outcome.tracers;
        Some(Self {
            mechanism: coupled.mechanism.name.clone(),
            calls,
            seconds: time.total_s,
            cell_steps_per_s: (steps - before) as f64 / time.total_s.max(f64::MIN_POSITIVE),
            steps_mean: steps as f64 / (cells as f64).max(1.0),
            steps_most: most,
            failed,
            first_failed: (failed > 0).then_some(first_failed),
            atoms: budgets(coupled, &names, tracers),
            names: names.into_iter().flatten().collect(),
        })
    }

    /// True for a field whose statistics are in the JSON only, since there are many.
    pub(in crate::cli) fn is_silent(&self, name: &str) -> bool {
        let bare = name.strip_prefix("chem_").unwrap_or(name);
        self.names.contains(&name) && !SHOWN.contains(&bare)
    }

    /// True of a species.
    pub(in crate::cli) fn has(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// Prints it.
    pub(in crate::cli) fn print(&self, out: &mut impl Write) -> Result<()> {
        let Self { mechanism, calls, seconds, cell_steps_per_s, steps_mean, steps_most, .. } = self;
        writeln!(
            out,
            "chemistry      {mechanism}, {calls} calls; {seconds:.2} s, {:.3} M cell-steps/s",
            cell_steps_per_s / 1e6
        )?;
        writeln!(
            out,
            "               steps of a cell {steps_mean:.2} in the mean, {steps_most} at most; {} failed",
            match self.failed {
                0 => "no cell".to_owned(),
                failed => format!("{failed} times a cell"),
            }
        )?;
        writeln!(out, "               emissions, deposition and aerosol are not there")?;
        if self.atoms.is_empty() {
            return Ok(());
        }
        writeln!(out, "atoms          inside the outermost rows, mol")?;
        let names =
            ["at the start", "through sides", "reactions", "integration", "clipping", "at the end"];
        let [start, sides, reacted, integration, clipped, end] = names;
        writeln!(
            out,
            "  {:<3}{start:>12} {sides:>13} {reacted:>12} {integration:>12} {clipped:>12} {end:>12}  unexplained",
            ""
        )?;
        for budget in &self.atoms {
            let AtomBudget { atom, start, sides, reacted, integration, clipped, end, .. } = budget;
            let closure_rel = budget.closure_rel;
            let unbalanced = match budget.unbalanced_reactions {
                0 => "every reaction balances it".to_owned(),
                1 => "1 reaction does not balance it".to_owned(),
                count => format!("{count} reactions do not balance it"),
            };
            writeln!(
                out,
                "  {atom:<3}{start:>12.5e} {sides:>13.5e} {reacted:>12.5e} {integration:>12.5e} {clipped:>12.5e} \
                 {end:>12.5e}  {closure_rel:.1e}; {unbalanced}"
            )?;
        }
        Ok(())
    }

    /// Fails if cells failed.
    pub(in crate::cli) fn judge(&self, about: &str) -> Result<()> {
        let Some((code, [i, j, k])) = self.first_failed else { return Ok(()) };
        Err(Error::Unsolved(format!(
            "chemistry failed {} times in a cell, which kept its species; the first: {} (ierr \
             {code}) in cell i={i} j={j} k={k}; {about} is complete; use a shorter --chem-dt, or \
             check the species in that cell",
            self.failed,
            Status(code).reason()
        )))
    }
}

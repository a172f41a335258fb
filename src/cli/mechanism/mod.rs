//! `nwp-mini mechanism`: description of a mechanism: species, reactions, lifetimes, atoms, sparsity, cost.

mod drawing;
mod graph;
mod listing;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use tracing::warn;

use super::chemistry::read_mechanism;
use super::distinct_files::refuse_one_file_twice;
use super::rate_code::RateOptions;
use crate::chemistry::kinetics::Kinetics;
use crate::chemistry::lifetime::{Reference, lifetimes};
use crate::chemistry::mechanism::Mechanism as Declared;
use crate::chemistry::mechanism::atoms::imbalance;
use crate::error::Result;
use crate::io::store::atomic_file::AtomicFile;

/// Explain a mechanism: its species and their lifetimes, its reactions, the balance of atoms, the sparsity
/// of its Jacobian and the cost of an integration step; or report all its errors with file, line and column.
///
/// Lifetimes and rate constants are those of clean air at 298.15 K with the sun at 45 degrees.
///
/// Example: nwp-mini mechanism data/chemistry/radm2.kpp --plot radm2.svg
#[derive(Debug, Args)]
pub(super) struct Mechanism {
    /// Mechanism in the language of KPP: .kpp, .def, .eqn or .spc
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    rates: RateOptions,
    /// Write all tables to a JSON file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the graph of the reactions in the language of Graphviz
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// Draw the pattern of the Jacobian and of its factors as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Overwrite the files
    #[arg(long)]
    force: bool,
}

/// A mechanism and its derived data.
struct Subject {
    mechanism: Declared,
    kinetics: Kinetics,
    reference: Reference,
}

impl Mechanism {
    pub(super) fn run(&self) -> Result<()> {
        refuse_one_file_twice(
            &[
                ("--json", self.json.as_ref()),
                ("--dot", self.dot.as_ref()),
                ("--plot", self.plot.as_ref()),
            ],
            &[("the input file", &self.file)],
        )?;
        let (mechanism, kinetics) = read_mechanism(&self.file, &self.rates.read()?)?;
        let unbalanced = |number: &usize| {
            let reaction = &mechanism.reactions[*number];
            imbalance(&mechanism, reaction).is_some_and(|off| !off.is_empty())
        };
        let unbalanced = (0..mechanism.reactions.len()).filter(unbalanced).count();
        if unbalanced > 0 {
            warn!("{unbalanced} reactions do not balance in their atoms; the list is below");
        }
        let reference = lifetimes(&mechanism, &kinetics);
        let subject = Subject { mechanism, kinetics, reference };
        let json = AtomicFile::if_asked(self.json.as_deref(), self.force)?;
        let dot = AtomicFile::if_asked(self.dot.as_deref(), self.force)?;
        let plot = AtomicFile::if_asked(self.plot.as_deref(), self.force)?;
        if let Some(json) = json {
            json.write_json(&subject.value())?;
        }
        if let Some(dot) = dot {
            dot.write_text(&subject.graph())?;
        }
        if let Some(plot) = plot {
            plot.write_text(&subject.drawing().svg("sparsity"))?;
        }
        Ok(io::stdout().write_all(subject.listing().as_bytes())?)
    }
}

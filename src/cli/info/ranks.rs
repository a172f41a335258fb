//! MPI in the report on the machine: its library, and the ranks of this start on their hosts.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

use crate::error::Result;
use crate::ranks::{gather, mpi};

/// MPI, and the ranks that its launcher has started.
#[derive(Debug, Serialize)]
pub(super) struct MpiFacts {
    /// The library that a run on several ranks takes, with its version; `None` without one.
    library: Option<String>,
    ranks: usize,
    /// Number of ranks on each host; empty without a launcher.
    hosts: BTreeMap<String, usize>,
    /// Reason why there can be no several ranks.
    problem: Option<String>,
}

impl MpiFacts {
    /// Looks for MPI, and starts it where a launcher has started several processes. All ranks call it; the first one
    /// learns of the others.
    pub(super) fn new() -> Self {
        let (library, problem) = match mpi::survey() {
            Ok(found) => (Some(format!("{}, {}", found.version, found.name)), None),
            Err(tried) => (None, Some(tried)),
        };
        let mut facts = Self { library, ranks: 1, hosts: BTreeMap::new(), problem };
        match mpi::ranks() {
            Ok(ranks) if ranks.size() > 1 => {
                facts.ranks = ranks.size();
                for host in gather(&*ranks, ranks.host().as_bytes()) {
                    *facts.hosts.entry(String::from_utf8_lossy(&host).into_owned()).or_default() +=
                        1;
                }
                facts.library = Some(ranks.about());
                ranks.finish();
            }
            Ok(_) => {}
            Err(error) => facts.problem = Some(error.to_string()),
        }
        facts
    }

    pub(super) fn print(&self, out: &mut impl Write) -> Result<()> {
        let library = self.library.as_deref().unwrap_or("none");
        writeln!(out, "MPI            {library}")?;
        if let Some(problem) = &self.problem {
            writeln!(out, "               {problem}")?;
        }
        if self.hosts.is_empty() {
            writeln!(out, "ranks          1; several are started by mpirun or srun")?;
            return Ok(());
        }
        let hosts: Vec<_> =
            self.hosts.iter().map(|(host, ranks)| format!("{ranks} on {host}")).collect();
        writeln!(out, "ranks          {}: {}", self.ranks, hosts.join(", "))?;
        Ok(())
    }
}

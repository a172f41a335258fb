//! MPI in the report on the machine: its library, and the ranks of this start on their hosts.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use serde::Serialize;

use crate::cli::run::ranks::{exchange, number_of_gpu};
use crate::device::{self, Gpu};
use crate::error::Result;
use crate::ranks::{Team, gather, mpi};

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
    /// The way from GPU to GPU; `None` where there is not one for each rank.
    gpus: Option<GpuWay>,
}

/// The way of messages between the GPUs of the ranks.
#[derive(Debug, Serialize)]
struct GpuWay {
    way: String,
    /// Bandwidth from a GPU to that of the next rank, both ways at once, GB/s.
    gb_per_s: f64,
}

impl GpuWay {
    /// The way of these ranks, which all ask at once.
    fn of(team: &Team) -> Result<Self> {
        let device = number_of_gpu(team, false)?;
        let gpu = team.agree(Gpu::open(&device::Options { device, ..Default::default() }))?;
        let (exchange, gb_per_s) = team.agree(exchange(&gpu, false, team))?;
        Ok(Self { way: exchange.about(), gb_per_s })
    }
}

impl MpiFacts {
    /// Looks for MPI, and starts it where a launcher has started several processes. All ranks call it; the first one
    /// learns of the others.
    pub(super) fn new() -> Self {
        let (library, problem) = match mpi::survey() {
            Ok(found) => (Some(format!("{}, {}", found.version, found.name)), None),
            Err(tried) => (None, Some(tried)),
        };
        let mut facts = Self { library, ranks: 1, hosts: BTreeMap::new(), problem, gpus: None };
        match mpi::ranks() {
            Ok(ranks) if ranks.size() > 1 => {
                facts.ranks = ranks.size();
                for host in gather(&*ranks, ranks.host().as_bytes()) {
                    *facts.hosts.entry(String::from_utf8_lossy(&host).into_owned()).or_default() +=
                        1;
                }
                facts.library = Some(ranks.about());
                facts.gpus = GpuWay::of(&Team::new(Arc::clone(&ranks))).ok();
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
        if let Some(GpuWay { way, gb_per_s }) = &self.gpus {
            writeln!(out, "GPU to GPU     {way}, {gb_per_s:.1} GB/s each way")?;
        }
        Ok(())
    }
}

//! Number and place of the processes, as their launcher tells.

use std::env::{var, var_os};

/// The processes that a launcher has started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Their number.
    pub size: usize,
    /// The number of this one.
    pub rank: usize,
    /// The environment variable that says so.
    pub variable: &'static str,
}

impl Default for Launch {
    fn default() -> Self {
        Self { size: 1, rank: 0, variable: "" }
    }
}

/// That of Open MPI.
pub(super) const OPEN_MPI: &str = "OMPI_COMM_WORLD_SIZE";

/// A launcher's variables: the number of processes, that of this one, and one that is set in processes only.
const VARIABLES: [[&str; 3]; 5] = [
    [OPEN_MPI, "OMPI_COMM_WORLD_RANK", OPEN_MPI],
    ["PMI_SIZE", "PMI_RANK", "PMI_RANK"],
    ["PALS_NRANKS", "PALS_RANKID", "PALS_RANKID"],
    ["FLUX_JOB_SIZE", "FLUX_TASK_RANK", "FLUX_TASK_RANK"],
    // A script inside an allocation has the first two as well; only a task of srun has the step's own size.
    ["SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"],
];

impl Launch {
    /// That of this process, where a launcher says so.
    pub fn of_environment() -> Option<Self> {
        let number = |name: &str| var(name).ok()?.trim().parse::<usize>().ok();
        VARIABLES.into_iter().find_map(|[size, rank, mark]| {
            var_os(mark)?;
            Some(Self { size: number(size)?, rank: number(rank)?, variable: size })
        })
    }

    /// Returns `true` in a process that leaves all words to the first of several.
    pub fn is_silent() -> bool {
        Self::of_environment().is_some_and(|launch| launch.rank > 0)
    }
}

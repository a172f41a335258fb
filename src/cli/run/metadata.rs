//! Metadata of every run: program, input, steps and times.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

use crate::backend::cpu;
use crate::cli::FilePrecision;
use crate::cli::run::options::RunConfig;
use crate::cli::run::ranks::Messages;
use crate::error::Result;
use crate::model::{FrameReport, Outcome, RunInput};
use crate::os_text::Shown;
use crate::physics::scheme::Scheme;
use crate::simd::Instructions;
use crate::time_steps::Plan;

/// The machine of a run.
#[derive(Clone, Debug, Serialize)]
pub(in crate::cli) struct Machine {
    pub(in crate::cli) os: &'static str,
    pub(in crate::cli) arch: &'static str,
    pub(in crate::cli) cpu: String,
    pub(in crate::cli) cores: usize,
    pub(in crate::cli) threads: usize,
    /// Vector instructions in use.
    pub(in crate::cli) instructions: &'static str,
}

/// This machine.
pub(in crate::cli) fn machine() -> Machine {
    Machine {
        os: std::env::consts::OS,
        arch: std::env::consts::ARCH,
        cpu: cpu::name().to_owned(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        threads: rayon::current_num_threads(),
        instructions: Instructions::best_name(),
    }
}

/// Program, input and length of a run; steps and time include the preceding runs.
#[derive(Clone, Debug, Serialize)]
pub(in crate::cli) struct RunMetadata {
    version: &'static str,
    commit: &'static str,
    machine: Machine,
    backend: &'static str,
    /// Processes, and what they sent to each other; `None` of one process.
    ranks: usize,
    messages: Option<Messages>,
    /// Device of the computation, in words.
    device: String,
    precision: &'static str,
    input: String,
    pub(in crate::cli) output: String,
    pub(in crate::cli) frames: usize,
    refine: usize,
    grid: [usize; 3],
    boundary: String,
    projection_residual: f64,
    limiter: String,
    /// The microphysics, and its variant if it has any.
    physics: &'static str,
    #[serde(flatten)]
    variant: BTreeMap<&'static str, &'static str>,
    pub(in crate::cli) steps: usize,
    dt: f64,
    max_dt: f64,
    pub(in crate::cli) seconds: f64,
    input_frames: Vec<FrameReport>,
}

/// The variant of a scheme, if it has any: the option that chooses it, and its name in reports.
pub(in crate::cli) fn variant(scheme: &dyn Scheme) -> Option<(&'static str, &'static str)> {
    Some((scheme.about().variant_option, scheme.variant()?.name))
}

impl RunMetadata {
    /// Metadata of a run with `frames` output frames, on a backend of this kind and with this description.
    pub(in crate::cli) fn new<R: FilePrecision>(
        config: &RunConfig,
        case: &RunInput<R>,
        plan: &Plan,
        outcome: &Outcome,
        (backend, device): (&'static str, String),
        frames: usize,
    ) -> Self {
        let shape = case.domain.grid.shape;
        let inputs: Vec<String> =
            config.inputs.iter().map(|path| path.shown().into_owned()).collect();
        Self {
            version: env!("CARGO_PKG_VERSION"),
            commit: env!("NWP_MINI_COMMIT"),
            machine: machine(),
            backend,
            ranks: config.team.ranks.size(),
            messages: Messages::of(&config.team),
            device,
            precision: R::NAME,
            input: inputs.join(", "),
            output: config.output.shown().into_owned(),
            frames,
            refine: config.scheme.refine,
            grid: [shape.nx, shape.ny, shape.nz],
            boundary: case.domain.grid.sides.to_string(),
            projection_residual: config.scheme.projection_residual,
            limiter: format!("{:?}", config.scheme.limiter),
            physics: config.scheme.physics.about().title,
            variant: variant(&*config.scheme.physics).into_iter().collect(),
            steps: plan.past.steps + outcome.steps,
            dt: plan.dt,
            max_dt: plan.max_dt,
            seconds: outcome.seconds,
            input_frames: case.input_frames.clone(),
        }
    }

    /// Prints the head of a summary.
    pub(in crate::cli) fn print(&self, out: &mut impl Write) -> Result<()> {
        let [nx, ny, nz] = self.grid;
        writeln!(out, "\nnwp-mini {} on the {}, {}", self.version, self.device, self.precision)?;
        writeln!(out, "grid           {nx}x{ny}x{nz} cells, boundaries {}", self.boundary)?;
        let variant = self.variant.iter().map(|(option, name)| format!(", {option} {name}"));
        writeln!(out, "microphysics   {}{}", self.physics, variant.collect::<String>())?;
        writeln!(
            out,
            "simulated      {:.0} s in {} steps of {:.6} s (longest possible {:.1} s)",
            self.seconds, self.steps, self.dt, self.max_dt
        )?;
        Ok(())
    }
}

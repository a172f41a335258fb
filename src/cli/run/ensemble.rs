//! `nwp-mini run --ensemble`: all members of an ensemble in one run.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use tracing::info;

use crate::backend::cpu::Cpu;
use crate::backend::gpu::{GpuBackend, GpuPrecision};
use crate::backend::ranks::{Ranked, StopFlags, members_of};
use crate::backend::{Backend, Info, PhaseTimes, Precipitation};
use crate::cli::FilePrecision;
use crate::cli::run::aux_outputs::AuxRequest;
use crate::cli::run::metadata::RunMetadata;
use crate::cli::run::options::{Run, RunConfig, SchemeSettings};
use crate::cli::run::progress::Progress;
use crate::cli::run::setup::{
    PreparedRun, gpu_config, header, interruptible, log_projection, print_dry, ready,
};
use crate::cli::run::{Pending, ranks, scheme};
use crate::constituents::Constituents;
use crate::device::Gpu;
use crate::diagnostics::budget::Water;
use crate::domain::Attribute;
use crate::ensemble::Ensemble;
use crate::error::{Error, Result};
use crate::io::out::ensemble::{EnsembleOutput, MemberTable, VariedParameter};
use crate::io::read::text;
use crate::io::store::atomic_file::AtomicFile;
use crate::io::store::blocks;
use crate::model::ensemble::{MemberOutcome, run as run_members};
use crate::model::{Frames, RunInput};
use crate::os_text::Shown;
use crate::physics::registry::descriptions;
use crate::physics::scheme::Scheme;
use crate::primitives::moments::Moments;
use crate::state::State;

/// Reads the file of an ensemble; fails if an option for single runs is given.
pub(in crate::cli) fn read(
    path: &Path,
    of_single_runs: &[(&str, bool)],
    set: &Constituents,
) -> Result<Ensemble> {
    match of_single_runs.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(Error::Usage(format!(
            "--ensemble cannot be combined with {option}, which applies to single runs; omit one \
             of them"
        ))),
        None => Ensemble::parse(path, &text::read(path)?, set),
    }
}

/// Runs the members of an ensemble.
pub(in crate::cli) fn run<R: FilePrecision + GpuPrecision>(
    config: &RunConfig,
    ensemble: &Ensemble,
    gpu: Option<&Gpu>,
) -> Result<()> {
    let start = Instant::now();
    let team = &config.team;
    let stop = interruptible(team, config.host.as_ref())?;
    let Run { output_interval, dry_run, .. } = &config.options;
    let Pending { output, json, .. } = Pending::of(config, AtomicFile::new)?;
    let request = AuxRequest::read(config)?;
    refuse_parameters(config, ensemble)?;
    scheme::tell(config)?;
    let mut prepared = ready::<R>(config, request, gpu, None)?;
    ensemble.check(&prepared.case.domain.grid)?;
    log_projection(&prepared.case);
    let state = prepared.case.take_state();
    let backend = backend(config, ensemble, &prepared.case, (gpu, &stop), &state);
    drop(state);
    let mut backend = team.agree(backend)?;
    team.agree(ranks::same_plan(team, &prepared.plan))?;
    if *dry_run {
        return if team.is_first() { print_dry(config, &prepared.plan) } else { Ok(()) };
    }
    let mut header = header(config, &prepared, &backend.info()?, gpu)?;
    header.provenance.extend(
        [("ensemble_seed", ensemble.seed.to_string()), ("ensemble_file", ensemble.text.clone())]
            .map(|(name, text)| (name.to_owned(), Attribute::Text(text))),
    );
    let PreparedRun { mut case, plan, .. } = prepared;
    let table = member_table(ensemble, &*config.scheme.physics)?;
    let output =
        output.map(|pending| EnsembleOutput::<R>::create(blocks(pending), header, table.clone()));
    let output = team.agree(output.transpose())?;
    let frames = Frames { interval: *output_interval, ..Frames::default() };
    let mut progress = Progress::new(plan.steps, config.host.as_ref());
    let result = run_members(
        &mut case,
        &plan,
        frames,
        &mut *backend,
        &stop.agreed,
        &mut |member, frame| {
            team.of_first(output.as_ref().is_none_or(|output| output.send(member, frame)))
        },
        &mut |step| progress.at(step),
    );
    progress.finish();
    let waiting = Instant::now();
    let written = output.map_or(Ok(0), EnsembleOutput::finish);
    let result = ranks::end_if_alone(team, result);
    let written = team.agree(written);
    let (mut outcome, outcomes) = result.inspect_err(|_| {
        if let Ok(written) = &written {
            info!("{} contains the {written} frames before that", config.output.shown());
        }
    })?;
    let written = written?;
    outcome.output += waiting.elapsed();
    let wall_s = start.elapsed().as_secs_f64();
    let Info { kind, description, times, .. } = backend.info()?;
    let step_s = outcome.stepping.as_secs_f64() / outcome.steps.max(1) as f64;
    let step_of_a_member_s = step_s / ensemble.members as f64;
    let facts = Facts {
        made: RunMetadata::new(config, &case, &plan, &outcome, (kind, description), written),
        timing: Timing { phases: times, step_s, step_of_a_member_s, wall_s },
        ensemble: EnsembleFacts::new(ensemble, table, &outcomes),
    };
    if let Some(json) = json {
        json.write_json(&facts)?;
    }
    facts.print()?;
    if outcome.interrupted {
        return Err(Error::Interrupted(format!(
            "stopped after step {} of {}; {} contains {written} frames",
            outcome.steps,
            plan.steps,
            config.output.shown()
        )));
    }
    Ok(())
}

/// Fails if members differ in parameters that the scheme does not have.
fn refuse_parameters(config: &RunConfig, ensemble: &Ensemble) -> Result<()> {
    let about = config.scheme.physics.about();
    let names = ensemble.changes.iter().map(|change| change.parameter.name);
    let Some(name) = names.into_iter().find(|name| about.parameter(name).is_none()) else {
        return Ok(());
    };
    let all = descriptions();
    let others = all.iter().filter(|other| other.parameter(name).is_some());
    let others = others.map(|other| other.title).collect::<Vec<_>>().join(", ");
    Err(Error::Usage(format!(
        "{}: [parameters] {name} is a parameter of {others}, which --physics {} does not have; \
         remove [parameters] and perturb the members by [initial.NAME]",
        ensemble.path.shown(),
        about.key
    )))
}

/// Backend that computes the members.
fn backend<R: FilePrecision + GpuPrecision>(
    config: &RunConfig,
    ensemble: &Ensemble,
    case: &RunInput<R>,
    (gpu, stop): (Option<&Gpu>, &StopFlags),
    state: &State<R>,
) -> Result<Box<dyn Backend<R>>> {
    let (grid, coordinate) = (&case.domain.grid, &case.domain.coordinate);
    let SchemeSettings { limiter, physics, .. } = &config.scheme;
    let ranks = &config.team.ranks;
    let (members, size) = (ensemble.members, ranks.size());
    if size > members {
        return Err(Error::Usage(format!(
            "{}: {members} members cannot be shared out among {size} ranks; start at most {members}",
            ensemble.path.shown()
        )));
    }
    let own = members_of(ranks.rank(), size, members);
    let schemes = own.clone().map(|member| ensemble.scheme(member, &**physics));
    let schemes: Vec<Box<dyn Scheme>> = schemes.collect::<Result<_>>()?;
    let start = |member| {
        let mut state = state.clone();
        ensemble.disturb(member, grid, &mut state);
        state
    };
    for member in own.clone().filter(|_| !ensemble.disturbances.is_empty()) {
        ensemble.check_member(member, &case.forcing.environment.exner, &start(member))?;
    }
    if let Some(gpu) = gpu {
        let (setting, first) = (gpu_config(config, case), own.start);
        let on_gpu = GpuBackend::of_members(gpu, &setting, &schemes, |own| start(first + own))?;
        if size == 1 {
            return Ok(Box::new(on_gpu));
        }
        let all = Ranked::of_members_on_gpu(ranks, (on_gpu, members), grid, coordinate);
        return Ok(Box::new(all.stopping_by(stop)));
    }
    let with_states = schemes.into_iter().zip(own).map(|(scheme, member)| (scheme, start(member)));
    let cpu = Cpu::of_members(grid, coordinate, *limiter, &case.forcing, with_states);
    if size == 1 {
        return Ok(Box::new(cpu));
    }
    let all = Ranked::of_members(ranks, (cpu, members), grid, coordinate);
    Ok(Box::new(all.stopping_by(stop)))
}

/// Description of the members in the output file.
fn member_table(ensemble: &Ensemble, scheme: &dyn Scheme) -> Result<MemberTable> {
    let differing = ensemble.changes.iter().map(|change| {
        Ok(VariedParameter {
            name: change.parameter.name,
            description: change.parameter.description,
            units: change.parameter.units,
            values: ensemble.values(change, scheme)?,
        })
    });
    Ok(MemberTable {
        members: ensemble.members,
        writes_members: ensemble.writes_members,
        parameters: differing.collect::<Result<_>>()?,
    })
}

#[derive(Clone, Debug, Serialize)]
struct Timing {
    #[serde(flatten)]
    phases: PhaseTimes,
    /// Wall time of a step of all members, and per member, s.
    step_s: f64,
    step_of_a_member_s: f64,
    wall_s: f64,
}

#[derive(Clone, Debug, Serialize)]
struct EnsembleFacts {
    file: String,
    members: usize,
    seed: u64,
    control: bool,
    parameters: Vec<VariedParameter>,
    /// Names of the perturbed fields of the initial state.
    initial: Vec<&'static str>,
    /// Precipitation of each member, and mean and spread of all.
    precipitation_mm: Vec<Precipitation>,
    precipitation_mean_mm: Precipitation,
    precipitation_spread_mm: Precipitation,
    water: Vec<Water>,
}

/// The figures of the run of an ensemble.
#[derive(Clone, Debug, Serialize)]
struct Facts {
    #[serde(flatten)]
    made: RunMetadata,
    timing: Timing,
    ensemble: EnsembleFacts,
}

impl Facts {
    /// Prints the summary.
    fn print(&self) -> Result<()> {
        let Self { timing, ensemble, .. } = self;
        let mut out = crate::cli::summary_output();
        self.made.print(&mut out)?;
        let control = if ensemble.control { ", the first as it is" } else { "" };
        writeln!(
            out,
            "members        {}{control}; seed {}, {}",
            ensemble.members, ensemble.seed, ensemble.file
        )?;
        writeln!(
            out,
            "speed          {:.3} ms a step, {:.3} ms a step and member",
            1e3 * timing.step_s,
            1e3 * timing.step_of_a_member_s
        )?;
        writeln!(out, "wall time      {:.2} s", timing.wall_s)?;
        ensemble.print(&mut out)?;
        writeln!(out, "output         {}, {} frames", self.made.output, self.made.frames)?;
        Ok(())
    }
}

impl EnsembleFacts {
    fn new(ensemble: &Ensemble, table: MemberTable, outcomes: &[MemberOutcome]) -> Self {
        let mut moments = Moments::new(3);
        for MemberOutcome { precipitation, .. } in outcomes {
            moments.add(&[precipitation.mean, precipitation.frozen_mean, precipitation.most]);
        }
        let precipitation = |values: Vec<f64>| {
            let [mean, frozen_mean, most] = values.try_into().unwrap_or_default();
            Precipitation { mean, frozen_mean, most }
        };
        let initial = ensemble.disturbances.iter();
        Self {
            file: ensemble.path.shown().into_owned(),
            members: ensemble.members,
            seed: ensemble.seed,
            control: ensemble.control,
            parameters: table.parameters,
            initial: initial.map(|x| x.variable).collect(),
            precipitation_mm: outcomes.iter().map(|outcome| outcome.precipitation).collect(),
            precipitation_mean_mm: precipitation(moments.mean()),
            precipitation_spread_mm: precipitation(moments.spread()),
            water: outcomes.iter().map(|outcome| outcome.water).collect(),
        }
    }

    /// The table of the members.
    fn print(&self, out: &mut impl Write) -> Result<()> {
        let widths: Vec<usize> =
            self.parameters.iter().map(|parameter| parameter.name.len().max(11) + 2).collect();
        writeln!(out, "precipitation  inside the outermost rows, mm; unexplained water")?;
        write!(out, "  member          mean      frozen        most   unexplained")?;
        for (VariedParameter { name, .. }, width) in self.parameters.iter().zip(&widths) {
            write!(out, "{name:>width$}")?;
        }
        writeln!(out)?;
        let row = |name: &str, fallen: &Precipitation| {
            let Precipitation { mean, frozen_mean, most } = fallen;
            format!("  {name:<8}{mean:>12.4}{frozen_mean:>12.4}{most:>12.2}")
        };
        for (member, (fallen, water)) in self.precipitation_mm.iter().zip(&self.water).enumerate() {
            write!(out, "{}{:>14.1e}", row(&member.to_string(), fallen), water.closure_rel)?;
            for (parameter, width) in self.parameters.iter().zip(&widths) {
                write!(out, "{:>width$.4e}", parameter.values[member])?;
            }
            writeln!(out)?;
        }
        writeln!(out, "{}", row("mean", &self.precipitation_mean_mm))?;
        writeln!(out, "{}", row("spread", &self.precipitation_spread_mm))?;
        Ok(())
    }
}

//! Report at the end of a run, for people and for programs.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::backend::{Backend, ExchangeTimes, Info, PhaseTime, Precipitation};
use crate::cli::run::aux_outputs;
use crate::cli::run::chemistry_report::ChemistryReport;
use crate::cli::run::metadata::RunMetadata;
use crate::cli::run::options::RunConfig;
use crate::cli::run::ranks;
use crate::cli::{FilePrecision, plot, report_page};
use crate::diagnostics::budget::{TracerBudget, Water};
use crate::diagnostics::frame::{FieldFigures, FrameFigures, Located};
use crate::diagnostics::pair::Verdict;
use crate::error::{Error, Result};
use crate::frame::output_statistics::OutputStatistics;
use crate::io::store::atomic_file::AtomicFile;
use crate::io::store::storage::rounding_error;
use crate::io::wrf::plottable::PlotInput;
use crate::model::backend_comparison::{self, Ratio, Timed};
use crate::model::divergent_columns::DivergentColumn;
use crate::model::{Outcome, RunInput};
use crate::os_text::Shown;
use crate::projection::ProjectionReport;
use crate::time_steps::Plan;

/// Time of a phase, and its speed.
#[derive(Clone, Copy, Debug, Serialize)]
struct PhaseRate {
    #[serde(flatten)]
    time: PhaseTime,
    cells_per_s: f64,
}

/// Time of the output. Its total is the wall time in which any thread gathered, compressed or wrote output, from the
/// first frame until the file has its final name.
#[derive(Clone, Copy, Debug, Serialize)]
struct OutputTiming {
    #[serde(flatten)]
    phase: PhaseRate,
    /// Time that the run waited for the output, s.
    wait_s: f64,
    /// Raw and stored bytes of the fields.
    raw_bytes: u64,
    compressed_bytes: u64,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Timing {
    advection: PhaseRate,
    microphysics: PhaseRate,
    #[serde(skip_serializing_if = "Option::is_none")]
    chemistry: Option<PhaseRate>,
    step: PhaseRate,
    input_frames: PhaseRate,
    output: OutputTiming,
    run: PhaseRate,
}

/// A variable that was rounded.
#[derive(Clone, Copy, Debug, Serialize)]
struct Rounded {
    variable: &'static str,
    /// Fewest bits of the significand in any frame.
    bits: u32,
    max_relative_error: f64,
}

/// Bytes.
const MB: f64 = 1e6;

/// Cells of a mean: the region of the water budget if some sides are specified or open, else all cells.
const INSIDE: &str = "the cells inside the outermost rows";
const EVERYWHERE: &str = "all cells";

/// Restart file that a run continued from.
#[derive(Clone, Debug, Serialize)]
struct Origin {
    file: String,
    /// Number of past steps.
    steps: usize,
    /// Past time, s.
    seconds: f64,
}

/// The report of a run; steps, time and water include the preceding runs.
#[derive(Clone, Debug, Serialize)]
pub(in crate::cli) struct Facts {
    #[serde(flatten)]
    made: RunMetadata,
    /// Auxiliary files.
    #[serde(rename = "beside")]
    aux: Vec<String>,
    /// Restart file that the run continued from.
    restart: Option<Origin>,
    projection: ProjectionReport,
    water: Water,
    /// Budgets of the passive tracers.
    tracers: Vec<TracerBudget>,
    /// The chemistry, if any.
    chemistry: Option<ChemistryReport>,
    /// Diagnostics of the output frames.
    diagnostics: Vec<FrameFigures>,
    precipitation_mean_mm: f64,
    /// Cells of the means; cells are weighted by area.
    precipitation_mean_over: &'static str,
    precipitation_frozen_mean_mm: f64,
    precipitation_max_mm: f64,
    /// Variables of the output that were rounded.
    rounded: Vec<Rounded>,
    /// Exchanges of margins between GPUs; of this rank.
    exchange: Option<ExchangeTimes>,
    timing: Timing,
    pairs: Vec<Ratio>,
    verdict: Vec<Verdict>,
    /// The runs of a pair.
    runs: Vec<Timed>,
    /// Divergent columns behind a failed verdict.
    suspects: Vec<DivergentColumn>,
}

impl Facts {
    /// Gathers the report.
    pub(in crate::cli) fn new<R: FilePrecision>(
        config: &RunConfig,
        case: &RunInput<R>,
        plan: &Plan,
        backend: &mut dyn Backend<R>,
        outcome: &Outcome,
        (frames, statistics): (usize, &OutputStatistics),
        wall: Duration,
    ) -> Result<Self> {
        let shape = case.domain.grid.shape;
        let updates = (shape.cells() * outcome.steps) as f64;
        let rate = |time: PhaseTime, total: Duration| {
            let total_s = total.as_secs_f64();
            let cells_per_s = updates / total_s.max(f64::MIN_POSITIVE);
            PhaseRate { time: PhaseTime { total_s, ..time }, cells_per_s }
        };
        let Info { kind, description, times, exchange, .. } = backend.info()?;
        let of_phase = |time: PhaseTime| rate(time, Duration::from_secs_f64(time.total_s));
        let Precipitation { mean, frozen_mean, most } = backend.account(0)?.precipitation;
        let sides = case.domain.grid.sides;
        let is_inside =
            sides.inner_x(shape.nx).len() < shape.nx || sides.inner_y(shape.ny).len() < shape.ny;
        let restart = config.options.restarts.restart.as_ref().map(|path| Origin {
            file: path.shown().into_owned(),
            steps: plan.past.steps,
            seconds: plan.time_after(0),
        });
        let rounded = statistics.kept().into_iter().map(|(variable, bits)| Rounded {
            variable,
            bits,
            max_relative_error: rounding_error(bits),
        });
        let aux = aux_outputs::names(config).into_iter().map(|(_, path)| path);
        let kept = config.restart_output.clone().filter(|_| outcome.steps > 0);
        Ok(Self {
            made: RunMetadata::new(config, case, plan, outcome, (kind, description), frames),
            aux: aux.chain(kept).map(|path| path.shown().into_owned()).collect(),
            restart,
            projection: largest_of_frames(case),
            water: outcome.water,
            tracers: outcome.tracers.clone(),
            chemistry: ChemistryReport::new(case, outcome, times.chemistry),
            diagnostics: outcome.figures.clone(),
            precipitation_mean_mm: mean,
            precipitation_mean_over: if is_inside { INSIDE } else { EVERYWHERE },
            precipitation_frozen_mean_mm: frozen_mean,
            precipitation_max_mm: most,
            rounded: rounded.collect(),
            exchange,
            timing: Timing {
                advection: of_phase(times.advection),
                microphysics: of_phase(times.microphysics),
                chemistry: case.chemistry.as_ref().map(|_| of_phase(times.chemistry)),
                step: rate(times.steps(), outcome.stepping),
                input_frames: rate(times.input, outcome.driving),
                output: OutputTiming {
                    phase: rate(times.output, statistics.total()),
                    wait_s: outcome.output.as_secs_f64(),
                    raw_bytes: statistics.raw_bytes(),
                    compressed_bytes: statistics.stored_bytes(),
                },
                run: rate(times.sum(), wall),
            },
            pairs: Vec::new(),
            verdict: Vec::new(),
            runs: Vec::new(),
            suspects: Vec::new(),
        })
    }

    /// Adds the result of a pair of runs.
    pub(in crate::cli) fn compare(&mut self, pair: &backend_comparison::ComparisonReport) {
        self.pairs.clone_from(&pair.ratios);
        self.verdict.clone_from(&pair.verdicts);
        self.runs.clone_from(&pair.runs);
        self.suspects.clone_from(&pair.suspects);
    }

    /// Fails if cells failed in the chemistry.
    pub(in crate::cli) fn judge(&self) -> Result<()> {
        let about = &self.made.output;
        self.chemistry.as_ref().map_or(Ok(()), |chemistry| chemistry.judge(about))
    }

    /// Prints the summary.
    pub(in crate::cli) fn print(&self) -> Result<()> {
        let Self { water, timing, .. } = self;
        let share = |part: f64| if water.start > 0.0 { 100.0 * part / water.start } else { 0.0 };
        let frozen = if self.precipitation_mean_mm > 0.0 {
            100.0 * self.precipitation_frozen_mean_mm / self.precipitation_mean_mm
        } else {
            0.0
        };
        let chemistry = timing.chemistry.map(|chemistry| ("chemistry", chemistry));
        let phases = [("transport", timing.advection), ("microphysics", timing.microphysics)];
        let others = [("input frames", timing.input_frames), ("output", timing.output.phase)];
        let phases = phases.into_iter().chain(chemistry).chain(others);
        let terms = [
            ("at the start", water.start),
            ("fallen", -water.fallen),
            ("through the sides", water.sides),
            ("made by the fall scheme", water.fallout_residual),
            ("made by clipping", water.clipped),
            ("made by rho dz against M", water.mass_mismatch),
            ("at the end", water.end),
        ];
        let mut out = crate::cli::summary_output();
        self.made.print(&mut out)?;
        let (mut made, mut seconds) = (self.made.steps, self.made.seconds);
        if let Some(Origin { file, steps, seconds: until }) = &self.restart {
            writeln!(out, "restart        from {file} after {until:.0} s, {steps} steps")?;
            (made, seconds) = (made - steps, seconds - until);
        }
        writeln!(
            out,
            "speed          {:.1} steps/s, {:.2} M cells/s, {:.0} times as fast as the weather",
            made as f64 / timing.step.time.total_s.max(f64::MIN_POSITIVE),
            timing.step.cells_per_s / 1e6,
            seconds / timing.run.time.total_s
        )?;
        writeln!(out, "wall time      {:.2} s", timing.run.time.total_s)?;
        for (name, phase) in phases {
            writeln!(out, "  {name:<14}{:.2} s", phase.time.total_s)?;
        }
        if let Some(exchange) = &self.exchange {
            writeln!(out, "exchange       {}", ranks::exchange_text(exchange))?;
        }
        let OutputTiming { wait_s, raw_bytes, compressed_bytes, .. } = timing.output;
        writeln!(
            out,
            "                beside the steps but for {wait_s:.2} s; fields of {:.1} MB in {:.1} MB",
            raw_bytes as f64 / MB,
            compressed_bytes as f64 / MB
        )?;
        writeln!(
            out,
            "precipitation  {:.4} mm in the mean over {} ({frozen:.0} % frozen), {:.2} mm at most",
            self.precipitation_mean_mm, self.precipitation_mean_over, self.precipitation_max_mm
        )?;
        writeln!(out, "water          inside the outermost rows, kg")?;
        for (name, mass) in terms {
            writeln!(out, "  {name:<26}{mass:>13.5e}  {:>10.5} %", share(mass))?;
        }
        writeln!(out, "  unexplained               {:.1e} of all water", water.closure_rel)?;
        let is_species = |name: &str| self.chemistry.as_ref().is_some_and(|x| x.has(name));
        let passive = self.tracers.iter().filter(|tracer| !is_species(tracer.name));
        print_tracers(&mut out, &passive.copied().collect::<Vec<_>>())?;
        if let Some(chemistry) = &self.chemistry {
            chemistry.print(&mut out)?;
        }
        if let Some(last) = self.diagnostics.last() {
            let is_silent = |name: &str| self.chemistry.as_ref().is_some_and(|x| x.is_silent(name));
            print_fields(&mut out, last, &is_silent)?;
        }
        writeln!(out, "output         {}, {} frames", self.made.output, self.made.frames)?;
        if !self.rounded.is_empty() {
            let kept = |Rounded { variable, bits, .. }: &Rounded| format!("{variable} {bits}");
            let kept: Vec<String> = self.rounded.iter().map(kept).collect();
            writeln!(out, "               rounded, bits of the significand: {}", kept.join(", "))?;
        }
        for name in &self.aux {
            writeln!(out, "               {name}")?;
        }
        Ok(())
    }

    /// Writes the requested reports of the run: JSON, and a page with pictures of the output.
    pub(in crate::cli) fn write(
        &self,
        json: Option<AtomicFile>,
        page: Option<AtomicFile>,
        output: &Path,
    ) -> Result<()> {
        if let Some(json) = json {
            json.write_json(self)?;
        }
        if let Some(page) = page {
            let facts =
                serde_json::to_value(self).map_err(|e| Error::io(page.target(), "write to", e))?;
            let pictures = plot::all_of(&PlotInput::open(output)?);
            page.write_text(&report_page::of_run(&facts, &pictures))?;
        }
        Ok(())
    }
}

/// Most passive tracers whose budgets are printed; the JSON has all.
const TRACERS_PRINTED: usize = 12;

/// Prints the budgets of passive tracers, one a line.
fn print_tracers(out: &mut impl Write, tracers: &[TracerBudget]) -> Result<()> {
    if tracers.is_empty() {
        return Ok(());
    }
    writeln!(out, "tracers        inside the outermost rows, kg of air times their units")?;
    let names = ["at the start", "through sides", "decayed", "at the end", "unexplained"];
    let [start, sides, decayed, end, left] = names;
    writeln!(out, "  {:<16}{start:>13} {sides:>13} {decayed:>13} {end:>13}  {left}", "")?;
    for TracerBudget { name, start, sides, decayed, end, closure_rel, .. } in
        tracers.iter().take(TRACERS_PRINTED)
    {
        writeln!(
            out,
            "  {name:<16}{start:>13.5e} {sides:>13.5e} {decayed:>13.5e} {end:>13.5e}  {closure_rel:.1e}"
        )?;
    }
    if let more @ 1.. = tracers.len().saturating_sub(TRACERS_PRINTED) {
        writeln!(out, "  and {more} more, see --json")?;
    }
    Ok(())
}

/// Statistics of the fields at the end, and the largest Courant number.
fn print_fields(
    out: &mut impl Write,
    frame: &FrameFigures,
    is_silent: &dyn Fn(&str) -> bool,
) -> Result<()> {
    let place = |at: [usize; 3]| {
        let [k, j, i] = at;
        format!("{i} {j} {k}")
    };
    writeln!(out, "fields         at the end; places as i j k")?;
    let head = ["min", "at", "max", "at", "mean", "rms"];
    let [min, min_at, max, max_at, mean, rms] = head;
    writeln!(out, "  {:<8}{min:>12} {min_at:>12}{max:>12} {max_at:>12}{mean:>12}{rms:>12}", "")?;
    let shown = frame.fields.iter().filter(|field| !is_silent(field.name));
    for FieldFigures { name, min, max, mean, rms, .. } in shown {
        writeln!(
            out,
            "  {name:<8}{:>12.3e} {:>12}{:>12.3e} {:>12}{mean:>12.3e}{rms:>12.3e}",
            min.value,
            place(min.at),
            max.value,
            place(max.at),
        )?;
    }
    let Located { value, at } = frame.courant;
    writeln!(out, "  largest Courant number {value:.3} at {}", place(at))?;
    Ok(())
}

/// The projection of the first frame, with the largest residual and number of iterations of all frames.
fn largest_of_frames<R>(case: &RunInput<R>) -> ProjectionReport {
    case.input_frames.iter().fold(case.projection, |largest, frame| ProjectionReport {
        residual_after: largest.residual_after.max(frame.projection.residual_after),
        iterations: largest.iterations.max(frame.projection.iterations),
        ..largest
    })
}

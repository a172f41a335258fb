//! The frame of the ladders: the rungs of one kernel on one size, each timed and checked against a reference. Output is
//! a table for people and rows for programs.
//!
//! On the GPU a rung is timed in four ways: calls are single, between two events, which take some microseconds
//! themselves, or in a graph, as in a run. Hot calls find their data where the preceding call has left it; rotating
//! calls use copies in turn that together exceed the cache several times, so that all data comes from memory.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::Site;
use super::gpu_times::graph_time;
use super::measurement::{Measured, Processor, Timing, median};
use super::record::Record;
use super::table::{cpu_with, digits};
use crate::device::{ForeignKernel, Gpu};
use crate::error::Result;

/// Calls of a graph: enough to make its own start negligible.
const CALLS: usize = 20;
/// Warm-up calls.
const WARM_UP: usize = 3;
/// Factor by which the copies of the data together exceed the cache.
const CACHES: usize = 4;
/// Most copies: a graph has a call for each.
const MOST_SLOTS: usize = 1024;
/// Share of the free memory for copies of the data, as numerator and denominator.
const MEMORY_SHARE: [usize; 2] = [3, 4];
/// Time after which slow calls are not repeated, if there are enough of them.
const PATIENCE: Duration = Duration::from_secs(1);
/// Sufficient number of copies.
const ENOUGH: u32 = 5;
/// Total time for the calls of a graph, s.
const GRAPH_TIME: f64 = 4e-3;

/// Subject of the rungs of one table.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    /// Name of the part, as "reduce".
    pub(super) bench: &'static str,
    /// Title of the table, as "sum of 1024 values of f32".
    pub(super) title: String,
    /// The size, as "1024" or "71x58".
    pub(super) size: String,
    /// Number of elements.
    pub(super) elements: usize,
    /// Bytes that must be moved: each array once.
    pub(super) bytes: usize,
    /// Type of the elements.
    pub(super) precision: &'static str,
}

/// A rung on the GPU, as functions of the number of a copy of the data.
pub(super) struct Rung<'a> {
    /// Name in the table.
    pub(super) name: &'a str,
    /// `true` for the next step of the ladder; rows outside it have no speed-ups.
    pub(super) is_step: bool,
    /// Queues the work.
    pub(super) launch: &'a dyn Fn(usize) -> Result<()>,
    /// Overwrites the result, so that a result of an earlier call is not accepted.
    pub(super) invalidate: &'a dyn Fn(usize) -> Result<()>,
    /// Waits for the result and returns its fault; `None` if it is correct.
    pub(super) fault: &'a dyn Fn(usize) -> Result<Option<String>>,
}

/// The GPU of a ladder.
#[derive(Clone, Copy, Debug)]
pub(super) struct LadderDevice<'a> {
    pub(super) gpu: &'a Gpu,
    /// Bandwidth of a copy, read and written, bytes a second.
    copy: f64,
    /// Timed calls.
    runs: u32,
    /// Number of copies of the data for rotating calls, see [`slots`].
    pub(super) slots: usize,
}

/// Number of copies of `bytes` bytes that exceeds the cache by far, at least two; fewer if memory is not sufficient,
/// and 0 if not even one fits.
fn slots(gpu: &Gpu, bytes: usize) -> Result<usize> {
    let [free, _] = gpu.memory()?;
    let [part, parts] = MEMORY_SHARE;
    let bytes = bytes.max(1);
    let wanted = (CACHES * gpu.device().cache).div_ceil(bytes).clamp(2, MOST_SLOTS);
    Ok(wanted.min(free / parts * part / bytes))
}

/// Location of the data of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum DataPlacement {
    Hot,
    Rotating,
}

/// One measured rung, as output for programs.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    #[serde(flatten)]
    pub(super) measured: Measured,
    /// Elements a second.
    cells_per_s: f64,
    pub(super) gb_per_s: f64,
    /// Relative to a copy; `None` if the row cannot be compared with one.
    pub(super) percent_of_copy: Option<f64>,
    place: DataPlacement,
    /// Speed relative to the preceding rung.
    step_speed_up: Option<f64>,
    /// Speed relative to the first rung.
    pub(super) cumulative_speed_up: Option<f64>,
    is_right: bool,
    bytes: usize,
    /// Copies of the data for rotating calls.
    slots: usize,
    /// Of another library: the time of the rung in use divided by the time of this one, median of pairs.
    ratio: Option<f64>,
}

impl Row {
    /// A row of data in the cache.
    pub(super) fn new(
        subject: &Subject,
        variant: String,
        (processor, timing): (&Processor, Timing),
        times: Vec<f64>,
        is_right: bool,
    ) -> Self {
        let Subject { bench, size, elements, bytes, precision, .. } = subject;
        let names = [*bench, *precision];
        let measured = Measured::new(names, variant, size.clone(), (processor, timing), times);
        let speed = *bytes as f64 / measured.median_s;
        Self {
            cells_per_s: *elements as f64 / measured.median_s,
            gb_per_s: speed / 1e9,
            percent_of_copy: Some(100.0 * speed / processor.copy),
            place: DataPlacement::Hot,
            step_speed_up: None,
            cumulative_speed_up: None,
            is_right,
            bytes: *bytes,
            slots: 1,
            ratio: None,
            measured,
        }
    }
}

/// A table being printed.
pub(super) struct Ladder<'a> {
    subject: Subject,
    site: &'a Site<'a>,
    /// The GPU; `None` without one, or if it has no memory for the data.
    pub(super) device: Option<LadderDevice<'a>>,
    /// Medians of the first rung and of the preceding one, for each method of timing.
    before: [Option<[f64; 2]>; 4],
}

/// Methods of timing on the GPU, in the order of the table.
const WAYS: [(DataPlacement, Timing); 4] = [
    (DataPlacement::Hot, Timing::Events),
    (DataPlacement::Hot, Timing::Graph),
    (DataPlacement::Rotating, Timing::Events),
    (DataPlacement::Rotating, Timing::Graph),
];

impl<'a> Ladder<'a> {
    /// Prints the head; without a GPU only lines of the CPU follow.
    pub(super) fn new(subject: Subject, site: &'a Site<'a>, record: &mut Record) -> Result<Self> {
        let mut device = None;
        if let Some((gpu, copy)) = site.device {
            let slots = slots(gpu, subject.bytes)?;
            device = (slots > 0).then_some(LadderDevice { gpu, copy, runs: site.runs, slots });
        }
        let out = &mut *record.out;
        let Subject { title, bytes, .. } = &subject;
        write!(out, "\n{title}, {}", megabytes(*bytes))?;
        if let Some(LadderDevice { slots, .. }) = device {
            write!(
                out,
                "; hot: the same data in every call, rotating: {slots} copies in turn, {}",
                megabytes(slots * bytes)
            )?;
        }
        writeln!(out)?;
        if site.peers.is_some() {
            let way = |place, timing| format!("{:>17}", format!("{place} {timing}, ratio"));
            let ways =
                [("hot", "call"), ("hot", "graph"), ("rotating", "call"), ("rotating", "graph")];
            let ways = ways.map(|(place, timing)| way(place, timing)).join("  ");
            writeln!(out, "{:<34} {ways}", "us; ours divided by theirs")?;
            return Ok(Self { subject, site, device, before: [None; 4] });
        }
        let half = format!(
            "{:>10} {:>10} {:>8} {:>6} {:>7} {:>6}",
            "single us", "graph us", "GB/s", "step", "total", "% copy"
        );
        if device.is_some() {
            writeln!(out, "{:<34} {:^53}  {:^53}", "", "hot", "rotating")?;
            writeln!(out, "{:<34} {half}  {half}", "rung")?;
        } else {
            writeln!(out, "{:<34} {half}", "rung")?;
        }
        Ok(Self { subject, site, device, before: [None; 4] })
    }

    /// Times `work` on the CPU with each of the pools, and checks its result by `fault`.
    pub(super) fn cpu<T: Send>(
        &self,
        record: &mut Record,
        work: impl Fn() -> T + Sync,
        fault: impl Fn(&T) -> Option<String>,
    ) -> Result<()> {
        for cpu in &self.site.pools {
            let (times, last) = cpu.pool.install(|| {
                let mut last = work();
                let times = repeated_times(self.site.runs, || {
                    let start = Instant::now();
                    last = work();
                    Ok(start.elapsed().as_secs_f64())
                });
                (times, last)
            });
            let variant = cpu_with(cpu.threads);
            let is_right = self.judge(&variant, fault(&last), record);
            let place = (&cpu.processor(), Timing::Wall);
            let row = Row::new(&self.subject, variant, place, times?, is_right);
            let line = format!(
                "{:<34} {:>10.2} {:>10} {:>8.1} {:>6} {:>7} {:>6.1}{}",
                row.measured.variant,
                row.measured.median_s * 1e6,
                "-",
                row.gb_per_s,
                "-",
                "-",
                row.percent_of_copy.unwrap_or(f64::NAN),
                verdict(is_right)
            );
            record.show(&line, &row)?;
        }
        Ok(())
    }

    /// Times a rung on the GPU, of which there must be one, and checks its results.
    pub(super) fn rung(&mut self, rung: &Rung<'_>, record: &mut Record) -> Result<()> {
        let device = self.device.expect("rungs are for the GPU");
        let processor = Processor::gpu(device.gpu, device.copy);
        let checked = |slot: usize| {
            (rung.invalidate)(slot)?;
            (rung.launch)(slot)?;
            (rung.fault)(slot)
        };
        let first = checked(0)?;
        let mut rows = Vec::new();
        for ((place, timing), before) in WAYS.into_iter().zip(&mut self.before) {
            let times = device.times(rung, place, timing)?;
            let name = rung.name.to_owned();
            let mut row = Row::new(&self.subject, name, (&processor, timing), times, true);
            row.place = place;
            row.slots = device.slots_of(place);
            if rung.is_step {
                let median = row.measured.median_s;
                let speed_up = |[first, last]: [f64; 2]| [first, last].map(|s| Some(s / median));
                [row.cumulative_speed_up, row.step_speed_up] = before.map_or([None; 2], speed_up);
                *before = Some([before.map_or(median, |[first, _]| first), median]);
            }
            rows.push(row);
        }
        let last = checked(device.slots - 1)?;
        let is_right = self.judge(rung.name, first.or(last), record);
        let text = |[single, graph]: [&Row; 2]| {
            format!(
                "{:>10.2} {:>10.2} {:>8.1} {:>6} {:>7} {:>6.1}",
                single.measured.median_s * 1e6,
                graph.measured.median_s * 1e6,
                graph.gb_per_s,
                digits(graph.step_speed_up, 2),
                digits(graph.cumulative_speed_up, 2),
                graph.percent_of_copy.unwrap_or(f64::NAN)
            )
        };
        let [hot, rotating] = [[&rows[0], &rows[1]], [&rows[2], &rows[3]]].map(text);
        writeln!(record.out, "{:<34} {hot}  {rotating}{}", rung.name, verdict(is_right))?;
        for row in rows {
            record.add(&Row { is_right, ..row });
        }
        Ok(())
    }

    /// Times the rung in use and what other libraries have for the same, by turns; `peers` are those for each copy of the
    /// data. A line for each, with the ratios of the times of the rung to its own.
    pub(super) fn pairs(
        &mut self,
        rung: &Rung<'_>,
        peers: &[Vec<ForeignKernel<'_>>],
        record: &mut Record,
    ) -> Result<()> {
        let device = self.device.expect("rungs are for the GPU");
        let processor = Processor::gpu(device.gpu, device.copy);
        let launches: Vec<Box<Launch<'_>>> =
            std::iter::once(Box::new(rung.launch) as Box<Launch<'_>>)
                .chain((0..peers[0].len()).map(|n| -> Box<Launch<'_>> {
                    Box::new(move |slot: usize| peers[slot][n].launch())
                }))
                .collect();
        let names = std::iter::once(rung.name).chain(peers[0].iter().map(ForeignKernel::name));
        let names: Vec<String> = names.map(str::to_owned).collect();
        let mut rights = Vec::new();
        for (name, launch) in names.iter().zip(&launches) {
            (rung.invalidate)(0)?;
            launch(0)?;
            rights.push(self.judge(name, (rung.fault)(0)?, record));
        }
        let mut rows: Vec<Vec<Row>> = vec![Vec::new(); names.len()];
        for (place, timing) in WAYS {
            let times = device.times_by_turns(&launches, place, timing)?;
            for (n, own) in times.iter().enumerate() {
                let ratios = times[0].iter().zip(own).map(|(ours, theirs)| ours / theirs).collect();
                let mut row = Row::new(
                    &self.subject,
                    names[n].clone(),
                    (&processor, timing),
                    own.clone(),
                    rights[n],
                );
                row.place = place;
                row.slots = device.slots_of(place);
                row.ratio = (n > 0).then(|| median(ratios));
                rows[n].push(row);
            }
        }
        for (name, rows) in names.iter().zip(rows) {
            let figure = |row: &Row| {
                let ratio = row.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}"));
                format!("{:>10.2} {ratio:>6}", row.measured.median_s * 1e6)
            };
            let figures: Vec<String> = rows.iter().map(figure).collect();
            let is_behind = rows.iter().any(|row| row.ratio.is_some_and(|ratio| ratio > 1.0));
            let mark = if is_behind { "  !" } else { "" };
            let verdict = verdict(rows[0].is_right);
            writeln!(record.out, "{name:<34} {}{mark}{verdict}", figures.join("  "))?;
            for row in rows {
                record.add(&row);
            }
        }
        Ok(())
    }

    fn judge(&self, variant: &str, fault: Option<String>, record: &mut Record) -> bool {
        let is_right = fault.is_none();
        let Subject { bench, title, .. } = &self.subject;
        record.faults.extend(fault.map(|fault| format!("{bench}: {title}, {variant}: {fault}")));
        is_right
    }
}

impl LadderDevice<'_> {
    /// Number of copies of the data that calls use in turn.
    fn slots_of(&self, place: DataPlacement) -> usize {
        if place == DataPlacement::Hot { 1 } else { self.slots }
    }

    /// Times of a call, s.
    fn times(&self, rung: &Rung<'_>, place: DataPlacement, timing: Timing) -> Result<Vec<f64>> {
        let slots = self.slots_of(place);
        if timing == Timing::Events {
            let mut next = (1..=slots).map(|number| number % slots).cycle();
            let mut launch = || next.next().map_or(Ok(()), rung.launch);
            (0..WARM_UP).try_for_each(|_| launch())?;
            return repeated_times(self.runs, || self.gpu.elapsed(&mut launch));
        }
        let calls = self.calls(&rung.launch, slots)?;
        patient_graph(self.gpu, self.runs, calls, |n| (rung.launch)(n % slots))
    }

    /// Number of calls of a graph: as many as time allows, and all copies equally often.
    fn calls(&self, launch: &Launch<'_>, slots: usize) -> Result<usize> {
        let one = self.gpu.elapsed(|| launch(0))?;
        Ok(CALLS.min((GRAPH_TIME / one) as usize).max(2).div_ceil(slots) * slots)
    }

    /// Times of a call of each, s, taken by turns.
    fn times_by_turns(
        &self,
        launches: &[Box<Launch<'_>>],
        place: DataPlacement,
        timing: Timing,
    ) -> Result<Vec<Vec<f64>>> {
        let slots = self.slots_of(place);
        let mut times = vec![Vec::new(); launches.len()];
        let mut graphs = Vec::new();
        let calls = self.calls(&launches[0], slots)?;
        for launch in launches {
            (0..WARM_UP).try_for_each(|n| launch(n % slots))?;
            if timing == Timing::Graph {
                let mut graph =
                    self.gpu.capture(|| (0..calls).try_for_each(|n| launch(n % slots)))?;
                graph.launch()?;
                graphs.push((graph, calls as f64));
            }
        }
        let start = Instant::now();
        for run in 0..self.runs {
            if run >= ENOUGH && start.elapsed() > PATIENCE {
                break;
            }
            let slot = run as usize % slots;
            for (n, launch) in launches.iter().enumerate() {
                times[n].push(match graphs.get_mut(n) {
                    Some((graph, calls)) => graph_time(self.gpu, graph)? / *calls,
                    None => self.gpu.elapsed(|| launch(slot))?,
                });
            }
        }
        Ok(times)
    }
}

/// Queues the work on a copy of the data.
type Launch<'a> = dyn Fn(usize) -> Result<()> + 'a;

/// Times of a call, s: in a graph of `calls` calls, each with its number, as often as patience allows.
pub(super) fn patient_graph(
    gpu: &Gpu,
    runs: u32,
    calls: usize,
    launch: impl Fn(usize) -> Result<()>,
) -> Result<Vec<f64>> {
    let mut graph = gpu.capture(|| (0..calls).try_for_each(&launch))?;
    graph.launch()?;
    repeated_times(runs, || Ok(graph_time(gpu, &mut graph)? / calls as f64))
}

/// This number of times, or a sufficient number if calls take long.
pub(super) fn repeated_times(runs: u32, mut time: impl FnMut() -> Result<f64>) -> Result<Vec<f64>> {
    let start = Instant::now();
    let mut times = Vec::new();
    for run in 0..runs {
        if run >= ENOUGH && start.elapsed() > PATIENCE {
            break;
        }
        times.push(time()?);
    }
    Ok(times)
}

pub(super) fn verdict(is_right: bool) -> &'static str {
    if is_right { "" } else { "  WRONG" }
}

pub(super) fn megabytes(bytes: usize) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

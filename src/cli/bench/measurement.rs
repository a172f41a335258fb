//! A measured part of a step: its times, with a copy and a count of operations for comparison.

use std::time::Instant;

use serde::Serialize;

use super::cpu_name;
use super::record::Record;
use super::table::{self, Column, digits, or_dash};
use crate::advection::Limiter;
use crate::device::{Gpu, Resources};
use crate::error::Result;
use crate::grid::Shape;
use crate::model::replicated_grid::ReplicatedGrid;
use crate::physics::scheme::Scheme;
use crate::real::Real;

/// A part of a step, with its bytes and operations for each cell.
///
/// Counted on the equations, with each array moved once: a lower bound, not the traffic of an implementation.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeasuredPart {
    bench: &'static str,
    /// Number of tracers; `None` for other parts.
    tracers: Option<usize>,
    /// Values read or written.
    values: f64,
    /// Additions, multiplications, divisions, roots, exponentials, and comparisons for selections.
    operations: Option<f64>,
}

/// Number of fields of reflectivity and effective radii.
const DIAGNOSED: f64 = 4.0;
/// Fields of a tracer in three stages: q, or q and its start, read; one written.
const TRACER_MOVED: f64 = 2.0 + 3.0 + 3.0;
/// The three fluxes that each stage reads, shared by all tracers.
const WINDS_MOVED: f64 = 3.0 * 3.0;
/// Operations of a stage without a limiter.
const PLAIN_STAGE: f64 = 63.0;
/// Operations of a step with the positive-definite limiter.
const POSITIVE_STEP: f64 = 262.0;
/// Additional operations of the monotonic limiter.
const MONOTONIC_EXTRA: f64 = 45.0;

impl MeasuredPart {
    /// The microphysics; variants other than the usual one have no count of operations.
    pub(super) fn physics(scheme: &dyn Scheme, with_diagnostics: bool) -> Self {
        let about = scheme.about();
        let diagnosed = if with_diagnostics { DIAGNOSED } else { 0.0 };
        let is_usual = scheme.variant() == about.variants.first();
        let operations = about.operations.filter(|_| is_usual && !with_diagnostics);
        // Tracers are read and written.
        let moved = (2 * about.tracers.len() + about.air.len()) as f64;
        Self { bench: about.key, tracers: None, values: moved + diagnosed, operations }
    }

    /// A number of tracers carried together.
    pub(super) fn tracers(count: usize, limiter: Limiter) -> Self {
        let operations = match limiter {
            Limiter::None => 3.0 * PLAIN_STAGE,
            Limiter::PositiveDefinite => POSITIVE_STEP,
            Limiter::Monotonic => POSITIVE_STEP + MONOTONIC_EXTRA,
        };
        Self {
            bench: "advection",
            tracers: Some(count),
            values: count as f64 * TRACER_MOVED + WINDS_MOVED,
            operations: Some(count as f64 * operations),
        }
    }

    /// Theta without limiter, what else the scheme carries with one, and the microphysics.
    pub(super) fn step(scheme: &dyn Scheme, limiter: Limiter) -> Self {
        let physics = Self::physics(scheme, false);
        let theta = Self::tracers(1, Limiter::None);
        let set = scheme.about().set();
        let water = Self::tracers(set.limited().len(), limiter);
        // All tracers share one reading of the winds.
        let moved = theta.values + water.values - WINDS_MOVED;
        let transport = theta.operations.zip(water.operations).map(|(a, b)| a + b);
        let operations = physics.operations.zip(transport).map(|(a, b)| a + b);
        let values = moved + physics.values;
        Self { bench: "step", tracers: Some(set.carried()), values, operations }
    }

    /// Values that are only transferred between host and device, for each cell.
    pub(super) fn transfers(values: f64) -> Self {
        Self { bench: "transfers", tracers: None, values, operations: None }
    }
}

/// Method of timing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(in crate::cli) enum Timing {
    /// The clock of the host around a call.
    #[serde(rename = "wall")]
    Wall,
    /// Device events around a call; a pair costs some microseconds.
    #[serde(rename = "events")]
    Events,
    /// A graph of calls, minus the time of a graph without them.
    #[serde(rename = "graph")]
    Graph,
    /// Device events around copies to the device, a call, and copies back.
    #[serde(rename = "with transfers")]
    Transfers,
}

impl Timing {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Wall => "wall",
            Self::Events => "events",
            Self::Graph => "graph",
            Self::Transfers => "transfers",
        }
    }
}

/// Processor of a measurement, with its peak performance.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Processor {
    pub(super) backend: &'static str,
    /// Name that its maker gives it.
    pub(super) device: String,
    /// Threads of the CPU.
    pub(super) threads: Option<usize>,
    /// Bandwidth of a copy, read and written, bytes a second.
    #[serde(skip)]
    pub(super) copy: f64,
    /// Additions and multiplications a second, if measured.
    #[serde(skip)]
    pub(super) arithmetic: Option<f64>,
}

impl Processor {
    /// The CPU with a number of threads, and the bandwidth of a copy with them.
    pub(super) fn cpu(threads: usize, copy: f64) -> Self {
        let device = cpu_name().to_owned();
        Self { backend: "cpu", device, threads: Some(threads), copy, arithmetic: None }
    }

    /// A GPU, and the bandwidth of a copy there.
    pub(super) fn gpu(gpu: &Gpu, copy: f64) -> Self {
        let device = gpu.device().name.clone();
        Self { backend: "gpu", device, threads: None, copy, arithmetic: None }
    }
}

/// Subject, processor and times: the part that rows of all kinds have.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Measured {
    pub(super) bench: &'static str,
    pub(super) variant: String,
    #[serde(flatten)]
    pub(super) processor: Processor,
    pub(super) grid_or_n: String,
    pub(super) median_s: f64,
    pub(super) min_s: f64,
    pub(super) max_s: f64,
    pub(super) runs: usize,
    pub(super) timing: Timing,
    pub(super) precision: &'static str,
    pub(super) copy_gb_per_s: f64,
    pub(super) version: &'static str,
    pub(super) commit: &'static str,
}

impl Measured {
    /// A subject with its type of numbers and its size, from times in s, of which there must be some.
    pub(super) fn new(
        [bench, precision]: [&'static str; 2],
        variant: String,
        grid_or_n: String,
        (processor, timing): (&Processor, Timing),
        times: Vec<f64>,
    ) -> Self {
        let runs = times.len();
        let [min_s, median_s, max_s] = statistics(times);
        Self {
            bench,
            variant,
            processor: processor.clone(),
            grid_or_n,
            median_s,
            min_s,
            max_s,
            runs,
            timing,
            precision,
            copy_gb_per_s: processor.copy / 1e9,
            version: env!("CARGO_PKG_VERSION"),
            commit: env!("NWP_MINI_COMMIT"),
        }
    }
}

/// Processor and columns of a measurement.
#[derive(Clone, Debug)]
pub(super) struct MeasuredOn {
    pub(super) processor: Processor,
    pub(super) shape: Shape,
    pub(super) dt: f64,
    /// Share of the columns with condensate.
    pub(super) cloudy: f64,
}

impl MeasuredOn {
    pub(super) fn new<R: Real>(
        processor: Processor,
        replicated: &ReplicatedGrid<R>,
        dt: f64,
        cloudy: f64,
    ) -> Self {
        Self { processor, shape: replicated.grid.shape, dt, cloudy }
    }
}

/// Times of the two halves of a step, s.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Phases {
    /// Transport.
    pub(super) advection_s: f64,
    /// Microphysics, including the sums and checks at the end of a step.
    pub(super) microphysics_s: f64,
}

/// One measured part.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Measurement {
    #[serde(flatten)]
    pub(super) measured: Measured,
    pub(super) cells_per_s: f64,
    gb_per_s: f64,
    /// Bandwidth relative to a copy on the same backend, per cent; not for transfers.
    pub(super) percent_of_copy: Option<f64>,
    tracers: Option<usize>,
    pub(super) dt: f64,
    cloudy_columns: f64,
    pub(super) ns_per_cell: f64,
    /// Bytes that the part must move.
    bytes: f64,
    /// Operations of the part, billions a second.
    gop_per_s: Option<f64>,
    pub(super) percent_of_arithmetic: Option<f64>,
    arithmetic_gop_per_s: Option<f64>,
    /// The two halves of a step, timed with events.
    pub(super) phases: Option<Phases>,
    /// Resources of the kernels.
    pub(super) kernels: Option<Vec<Resources>>,
}

/// The smallest, the median and the largest of some times, s.
pub(super) fn statistics(mut times: Vec<f64>) -> [f64; 3] {
    times.sort_by(f64::total_cmp);
    [times[0], times[times.len() / 2], times[times.len() - 1]]
}

/// The median of some times.
pub(in crate::cli) fn median(times: Vec<f64>) -> f64 {
    statistics(times)[1]
}

/// Columns of the table.
pub(super) const COLUMNS: [Column<Measurement>; 13] = [
    ("part", -10, |m| m.measured.bench.to_owned()),
    ("variant", -37, |m| m.measured.variant.clone()),
    ("grid", 13, |m| m.measured.grid_or_n.clone()),
    ("timed by", 9, |m| m.measured.timing.name().to_owned()),
    ("threads", 7, |m| or_dash(m.measured.processor.threads)),
    ("median ms", 11, |m| format!("{:.4}", m.measured.median_s * 1e3)),
    ("min .. max ms", 21, |m| {
        format!("{:.4} .. {:.4}", m.measured.min_s * 1e3, m.measured.max_s * 1e3)
    }),
    ("ns/cell", 8, |m| format!("{:.3}", m.ns_per_cell)),
    ("M cells/s", 9, |m| format!("{:.2}", m.cells_per_s / 1e6)),
    ("G op/s", 9, |m| digits(m.gop_per_s, 2)),
    ("GB/s", 8, |m| format!("{:.2}", m.gb_per_s)),
    ("% copy", 6, |m| digits(m.percent_of_copy, 1)),
    ("% op", 6, |m| digits(m.percent_of_arithmetic, 1)),
];

impl Measurement {
    /// A figure from times in s, of which there must be some.
    pub(super) fn new<R: Real>(
        part: MeasuredPart,
        variant: String,
        timing: Timing,
        place: &MeasuredOn,
        times: Vec<f64>,
    ) -> Self {
        let MeasuredPart { bench, tracers, values, operations } = part;
        let MeasuredOn { processor, shape, dt, cloudy } = place;
        let size = shape.to_string();
        let measured = Measured::new([bench, R::NAME], variant, size, (processor, timing), times);
        let median_s = measured.median_s;
        let cells = shape.cells() as f64;
        let bytes = values * cells * size_of::<R>() as f64;
        let operations = operations.map(|count| count * cells / median_s);
        let share = |part: f64, whole: f64| 100.0 * part / whole;
        let is_like_copy = timing != Timing::Transfers;
        let arithmetic = processor.arithmetic;
        Self {
            measured,
            cells_per_s: cells / median_s,
            gb_per_s: bytes / median_s / 1e9,
            percent_of_copy: is_like_copy.then(|| share(bytes / median_s, processor.copy)),
            tracers,
            dt: *dt,
            cloudy_columns: *cloudy,
            ns_per_cell: median_s * 1e9 / cells,
            bytes,
            gop_per_s: operations.map(|rate| rate / 1e9),
            percent_of_arithmetic: operations.zip(arithmetic).map(|(rate, most)| share(rate, most)),
            arithmetic_gop_per_s: arithmetic.map(|rate| rate / 1e9),
            phases: None,
            kernels: None,
        }
    }

    /// Prints and records it.
    pub(super) fn show(&self, record: &mut Record) -> Result<()> {
        writeln!(record.out, "{}", table::line(&COLUMNS, self))?;
        for note in self.notes() {
            writeln!(record.out, "{note}")?;
        }
        record.add(self);
        Ok(())
    }

    /// Notes below the line: the halves of a step, and the resources of the kernels.
    pub(super) fn notes(&self) -> Vec<String> {
        let phases = self.phases.map(|Phases { advection_s, microphysics_s }| {
            format!(
                "  between marks: transport {:.4} ms, microphysics {:.4} ms, together {:.4} ms",
                advection_s * 1e3,
                microphysics_s * 1e3,
                (advection_s + microphysics_s) * 1e3
            )
        });
        let kernels = self.kernels.iter().flatten().map(|kernel| {
            let Resources { kernel, threads, registers, local_bytes, shared_bytes, blocks, warps } =
                kernel;
            format!(
                "  {kernel}: {threads} threads, {registers} registers, {local_bytes} B local, \
                 {shared_bytes} B shared; {blocks} blocks = {warps} warps on a multiprocessor"
            )
        });
        phases.into_iter().chain(kernels).collect()
    }
}

/// Wall times of `work` on `subject`, which `restore` resets before every call, s; `runs` returns their number from the
/// time of the first call, which warms up and is not counted.
pub(super) fn wall_times<S: ?Sized>(
    runs: impl Fn(f64) -> u32,
    subject: &mut S,
    mut restore: impl FnMut(&mut S) -> Result<()>,
    mut work: impl FnMut(&mut S) -> Result<()>,
) -> Result<Vec<f64>> {
    let mut time = || {
        restore(subject)?;
        let start = Instant::now();
        work(subject)?;
        Ok(start.elapsed().as_secs_f64())
    };
    (0..runs(time()?)).map(|_| time()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::registry;

    fn figure(timing: Timing, part: MeasuredPart) -> Measurement {
        let processor = Processor {
            backend: "gpu",
            device: "a device".to_owned(),
            threads: None,
            copy: 64e6,
            arithmetic: Some(1e9),
        };
        let shape = Shape { nx: 100, ny: 10, nz: 10 };
        let place = MeasuredOn { processor, shape, dt: 60.0, cloudy: 0.3 };
        let times = vec![0.04, 0.02, 0.01, 0.05, 0.02];
        Measurement::new::<f32>(part, "some".to_owned(), timing, &place, times)
    }

    #[test]
    fn figures_are_those_of_the_median() {
        let figure = figure(Timing::Graph, MeasuredPart::physics(&*registry::usual(), false));
        let Measured { min_s, median_s, max_s, runs, .. } = figure.measured;
        assert_eq!([min_s, median_s, max_s], [0.01, 0.02, 0.05]);
        assert_eq!((runs, figure.cells_per_s), (5, 500_000.0));
        // 64 bytes and 240 operations a cell.
        assert!((figure.gb_per_s - 0.032).abs() < 1e-9, "{}", figure.gb_per_s);
        assert!((figure.percent_of_copy.unwrap() - 50.0).abs() < 1e-9);
        assert!((figure.percent_of_arithmetic.unwrap() - 12.0).abs() < 1e-9);
        let line = table::line(&COLUMNS, &figure);
        assert_eq!(line.chars().count(), table::head(&COLUMNS).chars().count(), "{line}");
        assert!(figure.notes().is_empty());
    }

    #[test]
    fn what_travels_is_no_share_of_a_copy() {
        let figure = figure(Timing::Transfers, MeasuredPart::transfers(6.0));
        assert_eq!((figure.percent_of_copy, figure.percent_of_arithmetic), (None, None));
        let json = serde_json::to_value(&figure).unwrap();
        assert_eq!(json["timing"], "with transfers");
        assert!(json["percent_of_copy"].is_null() && json["threads"].is_null());
    }

    #[test]
    fn tracers_share_the_winds() {
        // 32 + 36/n bytes a cell and tracer.
        for count in [1, 6, 30] {
            let part = MeasuredPart::tracers(count, Limiter::PositiveDefinite);
            let bytes = 4.0 * part.values / count as f64;
            assert!((bytes - (32.0 + 36.0 / count as f64)).abs() < 1e-9, "{count}: {bytes}");
        }
        let step = MeasuredPart::step(&*registry::usual(), Limiter::PositiveDefinite);
        assert_eq!(step.values, MeasuredPart::tracers(6, Limiter::None).values + 16.0);
        assert_eq!(step.operations, Some(189.0 + 5.0 * 262.0 + 240.0));
    }
}

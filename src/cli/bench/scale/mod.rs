//! `nwp-mini bench scale`: time for a cell and memory for a cell as functions of the grid size.

mod cpu;
mod digest;
mod findings;
mod gpu;
mod model;
mod on_gpus;
mod options;
mod over_gpus;
mod picture;
mod ranks;

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::measurement::{Measured, MeasuredOn, MeasuredPart, Measurement, Processor, Timing};
use super::record::Record;
use super::size::Elements;
use super::table::{self, Column, cpu_with, digits};
use super::{Bench, Pool};
use crate::advection::Limiter;
use crate::backend::gpu::GpuPrecision;
use crate::cli::run::refine::{kilobytes, lack_of_memory};
use crate::cli::{BackendChoice, FilePrecision};
use crate::device::Gpu;
use crate::error::{Error, Result};
use crate::io::store::atomic_file::AtomicFile;
use crate::model::replicated_grid::{ReplicatedGrid, Replication, has_condensate};
use crate::os_text::Shown;
use crate::physics::scheme::Scheme;

/// Options of `bench scale`.
#[derive(Debug, Args)]
pub(super) struct Range {
    /// Fewest columns of `scale`, as 4Ki; rounded up to a power of two
    #[arg(long, value_name = "N", default_value = "4Ki")]
    columns_from: Elements,
    /// Most columns of `scale`, as 1Mi; rounded down to a power of two, and cut to what fits
    #[arg(long, value_name = "N", default_value = "128Mi")]
    columns_to: Elements,
    /// Draw the figures of `scale` to an SVG file
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<PathBuf>,
    #[command(flatten)]
    on_gpus: options::GpuScaleOptions,
}

/// Fewest and most columns as powers of two: four along each axis, and the largest tiled grid.
const POWERS: [u32; 2] = [4, 32];

impl Range {
    /// The powers of two from the fewest to the most columns.
    fn powers(&self) -> Result<RangeInclusive<u32>> {
        powers_between(self.columns_from, self.columns_to)
    }
}

/// The powers of two from the fewest to the most columns of options.
fn powers_between(from: Elements, to: Elements) -> Result<RangeInclusive<u32>> {
    let first = from.0.next_power_of_two().trailing_zeros();
    let last = to.0.ilog2();
    let [least, most] = POWERS;
    if first < least || last > most {
        return Err(Error::Usage(format!(
            "--columns-from {from} --columns-to {to}: a grid has {} to {} columns",
            Elements(1 << least),
            Elements(1 << most)
        )));
    }
    if first > last {
        return Err(Error::Usage(format!(
            "--columns-from {from} --columns-to {to}: no power of two is between them"
        )));
    }
    Ok(first..=last)
}

/// Subject of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    Physics,
    Advection,
    Step,
}

/// Number of tracers, as in a step.
const TRACERS: usize = 6;

impl Subject {
    const ALL: [Self; 3] = [Self::Physics, Self::Advection, Self::Step];

    fn bench(self, scheme: &dyn Scheme) -> &'static str {
        match self {
            Self::Physics => scheme.about().key,
            Self::Advection => "advection",
            Self::Step => "step",
        }
    }

    fn title(self, scheme: &dyn Scheme) -> &'static str {
        match self {
            Self::Physics => scheme.about().title,
            Self::Advection => "advection, 6 tracers, RK3, positive definite",
            Self::Step => "whole step",
        }
    }

    fn part(self, scheme: &dyn Scheme) -> MeasuredPart {
        match self {
            Self::Physics => MeasuredPart::physics(scheme, false),
            Self::Advection => MeasuredPart::tracers(TRACERS, Limiter::PositiveDefinite),
            Self::Step => MeasuredPart::step(scheme, Limiter::PositiveDefinite),
        }
    }
}

/// One measured size of one series.
#[derive(Clone, Debug, Serialize)]
struct Point {
    #[serde(flatten)]
    figure: Measurement,
    columns: usize,
    /// Device and mapping, as "GPU, tile C8 NT256 B4".
    series: String,
    device_bytes_per_cell: Option<f64>,
    host_bytes_per_cell: Option<f64>,
    #[serde(skip)]
    subject: Subject,
}

/// Times of one size of one series, and its memory, if known.
struct Timed {
    timing: Timing,
    times: Vec<f64>,
    device_bytes_per_cell: Option<f64>,
    /// Memory of the process at that size, bytes.
    resident: usize,
}

/// Columns up to which a grid is validated before the measurement: larger grids repeat the same columns.
const LOOKED_OVER: usize = 1 << 18;
/// Values for each cell that the host holds at a time: the grid, and its upload or the memory of a step.
pub(super) const HOST_VALUES: usize = 24;

/// The measurement being made.
struct Scale<'a, 'o> {
    bench: &'a Bench,
    scheme: Box<dyn Scheme>,
    record: &'a mut Record<'o>,
    points: Vec<Point>,
    /// Series that have ended.
    closed: Vec<(Subject, String)>,
    /// Memory of the process before the first grid was made, bytes.
    resident: usize,
}

impl Bench {
    /// Measures all sizes, and draws them if requested; returns the picture.
    pub(super) fn scale<R: FilePrecision + GpuPrecision>(
        &self,
        gpu: Option<&Gpu>,
        drawing: Option<AtomicFile>,
        record: &mut Record,
    ) -> Result<Option<String>> {
        let powers = self.range.powers()?;
        let source = self.source::<R>()?;
        self.check_step(&source)?;
        // The range is valid for both mappings, whichever a run uses.
        let pools = match (gpu, self.backend) {
            (Some(_), BackendChoice::Gpu) => Vec::new(),
            _ => self.pools(record)?,
        };
        let best = gpu.map(|gpu| self.best::<R>(gpu, record)).transpose()?;
        let device = gpu.zip(best.as_ref());
        let scheme = self.physics.made(self.variants)?;
        let (points, closed, resident) = (Vec::new(), Vec::new(), resident());
        let mut scale = Scale { bench: self, scheme, record, points, closed, resident };
        scale.head::<R>()?;
        let mut cloudy = 0.0;
        for power in powers {
            let (nx, ny) = (1 << power.div_ceil(2), 1 << (power / 2));
            let cells = nx * ny * source.grid.shape.nz;
            if let Some(why) = too_large(cells * size_of::<R>() * HOST_VALUES) {
                writeln!(scale.record.out, "from 2^{power} columns on: {why}")?;
                break;
            }
            if !scale.has_open_series(&pools, device.is_some(), source.has_winds) {
                break;
            }
            let replicated = source.repeated(Replication { nx, ny });
            if nx * ny <= LOOKED_OVER {
                self.check_step(&replicated)?;
                cloudy = replicated.fraction(has_condensate);
            }
            for subject in Subject::ALL {
                if subject != Subject::Physics && !replicated.has_winds {
                    continue;
                }
                for pool in &pools {
                    scale.on_cpu(pool, &replicated, subject, cloudy)?;
                }
                if let Some(device) = device {
                    scale.on_gpu(device, &replicated, subject, cloudy)?;
                }
            }
        }
        scale.finish(drawing)
    }
}

impl Scale<'_, '_> {
    fn head<R: FilePrecision>(&mut self) -> Result<()> {
        let Bench { input, dt, runs, .. } = self.bench;
        writeln!(
            self.record.out,
            "columns of {} repeated, {}, dt {dt} s, at most {runs} runs; advection of {TRACERS} \
             tracers, RK3, positive definite; shares of a copy and of the arithmetic are those of \
             memory, so that small grids, which caches hold, may exceed 100 %",
            input.shown(),
            R::NAME
        )?;
        writeln!(self.record.out, "{}", table::head(&COLUMNS))?;
        Ok(())
    }

    fn is_closed(&self, subject: Subject, place: &str) -> bool {
        self.closed.iter().any(|(of, at)| *of == subject && at == place)
    }

    /// Returns `true` if any series has not ended.
    fn has_open_series(&self, pools: &[Pool], has_gpu: bool, has_winds: bool) -> bool {
        let places = pools.iter().map(|pool| cpu_with(pool.threads));
        let places: Vec<String> = places.chain(has_gpu.then(|| gpu::PLACE.to_owned())).collect();
        let subjects = &Subject::ALL[..if has_winds { 3 } else { 1 }];
        subjects.iter().any(|subject| places.iter().any(|place| !self.is_closed(*subject, place)))
    }

    /// Ends a series.
    fn close(&mut self, subject: Subject, place: String, why: &str) -> Result<()> {
        writeln!(self.record.out, "{}, {place}, ends here: {why}", subject.bench(&*self.scheme))?;
        self.closed.push((subject, place));
        Ok(())
    }

    fn on_cpu<R: FilePrecision>(
        &mut self,
        cpu: &Pool,
        replicated: &ReplicatedGrid<R>,
        subject: Subject,
        cloudy: f64,
    ) -> Result<()> {
        let place = cpu_with(cpu.threads);
        if self.is_closed(subject, &place) {
            return Ok(());
        }
        let timed =
            cpu.pool.install(|| cpu::measure(self.bench, &*self.scheme, replicated, subject))?;
        let at = MeasuredOn::new(cpu.processor(), replicated, self.bench.dt, cloudy);
        let seconds = self.add::<R>(subject, place.clone(), &at, timed)?;
        match cpu::patience_ends(seconds) {
            Some(why) => self.close(subject, place, &why),
            None => Ok(()),
        }
    }

    fn on_gpu<R: FilePrecision + GpuPrecision>(
        &mut self,
        (gpu, best): (&Gpu, &Processor),
        replicated: &ReplicatedGrid<R>,
        subject: Subject,
        cloudy: f64,
    ) -> Result<()> {
        if self.is_closed(subject, gpu::PLACE) {
            return Ok(());
        }
        let at = MeasuredOn::new(best.clone(), replicated, self.bench.dt, cloudy);
        let case = gpu::Case { bench: self.bench, scheme: &*self.scheme, gpu, replicated };
        match case.measure(subject)? {
            Ok(variants) => {
                for (variant, timed) in variants {
                    let series = format!("{}, {variant}", gpu::PLACE);
                    self.add::<R>(subject, series, &at, timed)?;
                }
                Ok(())
            }
            // A device that fails on the smallest grid has another fault.
            Err(why) if !self.points.iter().any(|p| p.subject == subject && p.is_of_gpu()) => {
                Err(Error::Gpu(why))
            }
            Err(why) => self.close(subject, gpu::PLACE.to_owned(), &why),
        }
    }

    /// Adds a point, shows it, and returns its median, s.
    fn add<R: FilePrecision>(
        &mut self,
        subject: Subject,
        series: String,
        at: &MeasuredOn,
        timed: Timed,
    ) -> Result<f64> {
        let Timed { timing, times, device_bytes_per_cell, resident } = timed;
        let variant = match subject {
            Subject::Physics => series.clone(),
            Subject::Advection => format!("RK3, positive definite, {TRACERS} tracers, {series}"),
            Subject::Step => format!("{}, {series}", super::step_variant(&*self.scheme)),
        };
        let part = subject.part(&*self.scheme);
        let figure = Measurement::new::<R>(part, variant, timing, at, times);
        let columns = at.shape.columns();
        // A step allocates as much as a run.
        let grown = resident.saturating_sub(self.resident) as f64;
        let host = (subject == Subject::Step).then(|| grown / at.shape.cells() as f64);
        let point = Point {
            columns,
            series,
            device_bytes_per_cell,
            host_bytes_per_cell: host,
            subject,
            figure,
        };
        writeln!(self.record.out, "{}", table::line(&COLUMNS, &point))?;
        let seconds = point.figure.measured.median_s;
        self.points.push(point);
        Ok(seconds)
    }

    fn finish(self, drawing: Option<AtomicFile>) -> Result<Option<String>> {
        let Self { bench, points, record, scheme, .. } = self;
        for point in &points {
            record.add(point);
        }
        let found = findings::of(&points, &*scheme);
        for finding in &found {
            writeln!(record.out, "{}", finding.text())?;
            record.add(&finding.row());
        }
        let picture =
            (!points.is_empty()).then(|| picture::draw(&points, &found, &*scheme, &bench.input));
        if let Some((pending, picture)) = drawing.zip(picture.as_ref()) {
            pending.write_text(picture)?;
        }
        Ok(picture)
    }
}

impl Point {
    fn is_of_gpu(&self) -> bool {
        self.series.starts_with(gpu::PLACE)
    }
}

/// Columns of the table.
const COLUMNS: [Column<Point>; 12] = [
    ("columns", -8, |p| Elements(p.columns).to_string()),
    ("grid", 13, |p| p.figure.measured.grid_or_n.clone()),
    ("part", -10, |p| p.figure.measured.bench.to_owned()),
    ("where", -34, |p| p.series.clone()),
    ("timed by", 9, |p| p.figure.measured.timing.name().to_owned()),
    ("ns/cell", 9, |p| format!("{:.4}", p.figure.ns_per_cell)),
    ("min .. max", 19, |p| {
        let Measured { min_s, median_s, max_s, .. } = p.figure.measured;
        let [least, most] = [min_s, max_s].map(|s| s / median_s * p.figure.ns_per_cell);
        format!("{least:.4} .. {most:.4}")
    }),
    ("M cells/s", 9, |p| format!("{:.2}", p.figure.cells_per_s / 1e6)),
    ("% copy", 6, |p| digits(p.figure.percent_of_copy, 1)),
    ("% op", 6, |p| digits(p.figure.percent_of_arithmetic, 1)),
    ("device B", 9, |p| digits(p.device_bytes_per_cell, 1)),
    ("host B", 9, |p| digits(p.host_bytes_per_cell, 1)),
];

/// Names of the series, in the order of their first points.
fn series<'a>(points: impl IntoIterator<Item = &'a Point>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for point in points {
        if !names.contains(&point.series.as_str()) {
            names.push(&point.series);
        }
    }
    names
}

/// Resident memory of this process, bytes; 0 if the system does not report it.
fn resident() -> usize {
    kilobytes("/proc/self/status", "VmRSS:").map_or(0, |kilobytes| kilobytes << 10)
}

/// Reason why `bytes` bytes do not fit into the memory of the host; `None` if they do.
fn too_large(bytes: usize) -> Option<String> {
    let [needed, free] = lack_of_memory(bytes)?;
    Some(format!("skipped, as the host would need {needed:.1} GB and has {free:.1} GB free"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_powers_of_two_that_a_grid_can_have() {
        let range = |from, to| powers_between(Elements(from), Elements(to));
        assert_eq!(range(4096, 1 << 27).unwrap(), 12..=27);
        assert_eq!(range(4097, 16_400).unwrap(), 13..=14);
        for (from, to, word) in
            [(8, 64, "16"), (64, 32, "no power"), (33, 63, "no power"), (64, 1 << 40, "4Gi")]
        {
            let said = range(from, to).unwrap_err().to_string();
            assert!(said.contains(word) && said.contains("--columns-from"), "{said}");
        }
    }

    #[test]
    fn the_system_tells_of_memory() {
        assert!(resident() > 1 << 20);
        assert!(too_large(usize::MAX).unwrap().contains("GB free"));
        assert!(too_large(1).is_none());
    }
}

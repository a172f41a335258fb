//! A step on the ranks that there are, beside the same cells on each of them alone, and beside a model of the cut.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use super::super::gpu_times::fewer;
use super::super::measurement::{Measured, Processor, Timing, median};
use super::super::record::Record;
use super::super::size::Elements;
use super::super::table::{self, Column, counted};
use super::super::{Bench, step_variant};
use super::cpu::{FEWEST, PATIENCE, patience_ends};
use super::{HOST_VALUES, too_large};
use crate::advection::{Limiter, MARGIN};
use crate::backend::cpu::Cpu;
use crate::backend::ranks::{DividedRun, Ranked};
use crate::backend::{Backend, ComputePrecision};
use crate::cli::FilePrecision;
use crate::cli::run::ranks::{PartsOf, parts};
use crate::error::Result;
use crate::grid::{DividedGrid, Shape};
use crate::io::store::atomic_file::AtomicFile;
use crate::model::replicated_grid::{ReplicatedGrid, Replication};
use crate::os_text::Shown;
use crate::physics::scheme::Scheme;
use crate::primitives::reduce::Number;
use crate::ranks::{Ranks, Team, all, any};

/// A size.
#[derive(Clone, Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    measured: Measured,
    /// Columns of a rank without its margins.
    columns: usize,
    ranks: usize,
    /// Parts along x and along y.
    parts: String,
    /// A step of as many cells on every rank by itself, all at the same time, median, s.
    alone_s: f64,
    /// The same with the transport of the margins, s: what a step takes if messages cost nothing.
    model_s: f64,
    /// Time alone divided by the time of a step on all ranks.
    efficiency: f64,
    /// The same of the model.
    model_efficiency: f64,
    /// Bytes that a rank sends in a step, in the mean.
    bytes_sent: f64,
}

/// Columns of the table.
const COLUMNS: [Column<Row>; 9] = [
    ("a rank has", -10, |row| Elements(row.columns).to_string()),
    ("grid", 13, |row| row.measured.grid_or_n.clone()),
    ("parts", 7, |row| row.parts.clone()),
    ("alone ms", 9, |row| format!("{:.3}", row.alone_s * 1e3)),
    ("model ms", 9, |row| format!("{:.3}", row.model_s * 1e3)),
    ("step ms", 9, |row| format!("{:.3}", row.measured.median_s * 1e3)),
    ("model %", 7, |row| format!("{:.1}", 100.0 * row.model_efficiency)),
    ("found %", 7, |row| format!("{:.1}", 100.0 * row.efficiency)),
    ("sent kB", 8, |row| format!("{:.0}", row.bytes_sent / 1e3)),
];

/// Steps on all ranks at once.
struct Clock<'a> {
    ranks: &'a dyn Ranks,
    runs: u32,
    dt: f64,
}

impl Clock<'_> {
    /// Times of steps, s, each of the slowest rank; the first step is not counted.
    fn steps<R>(&self, backend: &mut dyn Backend<R>) -> Result<Vec<f64>> {
        let mut step = || -> Result<f64> {
            // All begin together.
            self.ranks.sum(&mut [0]);
            let start = Instant::now();
            backend.step(self.dt)?;
            let nanoseconds = start.elapsed().as_nanos() as i64;
            let slowest = all(self.ranks, [nanoseconds]).into_iter().map(|[own]| own).max();
            Ok(slowest.unwrap_or_default() as f64 * 1e-9)
        };
        step()?;
        let first = step()?;
        let runs = fewer(self.runs, first, PATIENCE, FEWEST);
        std::iter::once(Ok(first)).chain((1..runs).map(|_| step())).collect()
    }
}

impl Bench {
    /// Measures on several ranks, of which the first one tells.
    pub(in crate::cli::bench) fn run_on_ranks<R: FilePrecision + Number>(
        &self,
        team: &Team,
    ) -> Result<()> {
        let path = self.json.as_deref().filter(|_| team.is_first());
        let json = team.agree(AtomicFile::if_asked(path, self.force))?;
        let mut out: Box<dyn Write> =
            if team.is_first() { Box::new(io::stdout().lock()) } else { Box::new(io::sink()) };
        let mut record = Record { out: &mut *out, rows: Vec::new(), faults: Vec::new() };
        self.scale_over_ranks::<R>(team, &mut record)?;
        let Record { mut rows, .. } = record;
        self.stamp(&mut rows, None);
        json.map_or(Ok(()), |json| json.write_json(&rows))
    }

    /// Weak scaling over the ranks: every one has as many columns, from one power of two to the next.
    fn scale_over_ranks<R: FilePrecision + Number>(
        &self,
        team: &Team,
        record: &mut Record,
    ) -> Result<()> {
        let source = self.source::<R>()?;
        self.check_step(&source)?;
        let scheme = self.physics.made(self.variants)?;
        let threads = rayon::current_num_threads();
        let ranks = &*team.ranks;
        writeln!(
            record.out,
            "{} of {} each; columns of {} repeated, {}, dt {} s, whole steps; alone: every rank steps \
             as many cells without neighbours, model: with the transport of its margins, found: all ranks",
            counted(ranks.size(), "rank"),
            counted(threads, "thread"),
            self.input.shown(),
            R::NAME,
            self.dt
        )?;
        writeln!(record.out, "{}", table::head(&COLUMNS))?;
        for power in self.range.powers()? {
            let (nx, ny) = (1 << power.div_ceil(2), 1 << (power / 2));
            let cells = (nx + 2 * MARGIN) * (ny + 2 * MARGIN) * source.grid.shape.nz;
            let bytes = ranks.on_host() * cells * size_of::<R>() * HOST_VALUES;
            let why = too_large(bytes);
            if any(ranks, why.is_some()) {
                let why = why.unwrap_or_else(|| "another host lacks the memory".to_owned());
                writeln!(record.out, "from 2^{power} columns on: {why}")?;
                break;
            }
            let row = team.agree(self.of_ranks(team, &*scheme, &source, [nx, ny]))?;
            record.show(&table::line(&COLUMNS, &row), &row)?;
            if let Some(why) = patience_ends(row.measured.median_s) {
                writeln!(record.out, "ends here: {why}")?;
                break;
            }
        }
        Ok(())
    }

    /// A grid on all ranks, of which each has nx times ny columns.
    fn of_ranks<R: FilePrecision + Number>(
        &self,
        team: &Team,
        scheme: &dyn Scheme,
        source: &ReplicatedGrid<R>,
        [nx, ny]: [usize; 2],
    ) -> Result<Row> {
        let ranks = &*team.ranks;
        let clock = Clock { ranks, runs: self.runs, dt: self.dt };
        let limiter = Limiter::PositiveDefinite;
        let own = source.repeated(Replication { nx, ny });
        let (alone, share) = alone(&clock, &own, limiter, scheme)?;
        // Of as many parts along each axis as there are ranks: any division is possible.
        let shape = Shape { nx: nx * ranks.size(), ny: ny * ranks.size(), ..own.grid.shape };
        let (_, chosen) =
            parts(&source.grid.with_shape(shape), ranks.size(), (PartsOf::Cpus, None))?;
        let [x, y] = chosen.0;
        let shape = Shape { nx: nx * x, ny: ny * y, ..shape };
        let grid = &source.grid.with_shape(shape);
        let (cut, _) = parts(grid, ranks.size(), (PartsOf::Cpus, Some(chosen)))?;
        let widest = cut.grids().iter().map(|part| part.shape.columns()).max().unwrap_or_default();
        let divided = Arc::new(DividedGrid::new(team, cut));
        let coordinate = &source.repeated_coordinate(grid);
        let part = source.repeated_part(divided.own());
        let part = part.carrying(&scheme.about().set());
        let (forcing, state) = (&part.forcing, part.state.clone());
        let run = DividedRun { grid, coordinate, limiter, scheme, forcing, state, chemistry: None };
        let mut backend = Ranked::of_cells(&divided, run);
        let before = ranks.bytes_sent();
        let times = clock.steps(&mut backend)?;
        let mut sent = [(ranks.bytes_sent() - before).cast_signed()];
        ranks.sum(&mut sent);
        let steps = (times.len() + 1) as f64;
        let margins = widest as f64 / (nx * ny) as f64 - 1.0;
        let model_s = alone * (1.0 + share * margins);
        let processor = Processor::cpu(rayon::current_num_threads(), 0.0);
        let variant = format!("{}, {} ranks", step_variant(scheme), ranks.size());
        let measured = Measured::new(
            ["ranks", R::NAME],
            variant,
            grid.shape.to_string(),
            (&processor, Timing::Wall),
            times,
        );
        Ok(Row {
            columns: nx * ny,
            ranks: ranks.size(),
            parts: chosen.to_string(),
            alone_s: alone,
            model_s,
            efficiency: alone / measured.median_s,
            model_efficiency: alone / model_s,
            bytes_sent: sent[0] as f64 / steps / ranks.size() as f64,
            measured,
        })
    }
}

/// Time of a step of these cells on every rank by itself, s, and the share of the transport in it.
fn alone<R: FilePrecision + ComputePrecision>(
    clock: &Clock<'_>,
    own: &ReplicatedGrid<R>,
    limiter: Limiter,
    scheme: &dyn Scheme,
) -> Result<(f64, f64)> {
    let own = own.carrying(&scheme.about().set());
    let ReplicatedGrid { grid, coordinate, forcing, state, .. } = &*own;
    let mut cpu = Cpu::new(grid, coordinate, limiter, scheme, forcing, state.clone());
    let times = clock.steps(&mut cpu)?;
    let phases = cpu.info()?.times;
    let [transport, rest] = [phases.advection, phases.microphysics].map(|phase| phase.total_s);
    Ok((median(times), transport / (transport + rest)))
}

//! Steps on a GPU for each rank: grids that grow with the number of GPUs, and grids that do not.

use std::io::{self, Write};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::super::gpu::phases;
use super::super::gpu_times::fewer;
use super::super::measurement::{Measured, Phases, Processor, Timing};
use super::super::record::Record;
use super::super::table::{self, Column, counted};
use super::super::{Bench, step_variant};
use super::cpu::{FEWEST, PATIENCE};
use super::{HOST_VALUES, digest, model, too_large};
use crate::backend::gpu::{GpuBackend, GpuConfig, GpuNeighbours, GpuPrecision};
use crate::backend::{Backend, ExchangeTimes, RunStart};
use crate::cli::FilePrecision;
use crate::cli::option_values::PartsChoice;
use crate::cli::run::ranks::{PartsOf, end_if_alone, exchange, number_of_gpu, parts};
use crate::device::{self, Gpu};
use crate::error::{Error, Result};
use crate::forcing::TimeInterpolant;
use crate::grid::{Grid, Margins, Parts, Shape};
use crate::io::store::atomic_file::AtomicFile;
use crate::model::replicated_grid::{ReplicatedGrid, Replication};
use crate::os_text::Shown;
use crate::physics::scheme::Scheme;
use crate::ranks::{Team, all, any};

/// Steps that are timed together, after as many that are not: graphs have 32 at most.
const STEPS: usize = 64;
/// Steps of which some are timed phase by phase.
const PHASE_STEPS: usize = 41;

/// Kind of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// Each GPU has so many columns.
    Weak,
    /// All GPUs together have so many.
    Strong,
    /// As many as a part of a grid has, on one GPU.
    Part,
}

impl Kind {
    /// The name of the kind.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Weak => "weak",
            Self::Strong => "strong",
            Self::Part => "part",
        }
    }
}

/// Steps of one grid on a number of GPUs, beside their times.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct GpuSteps {
    pub(super) kind: Kind,
    /// Columns of a GPU for weak scaling, otherwise of the grid.
    pub(super) size: String,
    pub(super) gpus: usize,
    /// Parts along x and along y.
    pub(super) parts: String,
    /// Columns and rows of the largest part.
    pub(super) part: [usize; 2],
    /// Its columns with those of its margins.
    pub(super) columns_with_margins: usize,
    /// Its columns that no margin has.
    pub(super) inner_columns: usize,
    /// Bytes that it sends in a step.
    pub(super) bytes_sent: u64,
    /// The exchanges of the first rank; `None` on one GPU.
    pub(super) exchange: Option<ExchangeTimes>,
    /// Time of the halves of a step, s, on the first rank: transport with the exchange, and microphysics.
    pub(super) advection_s: f64,
    pub(super) microphysics_s: f64,
    /// Digest of the state after so many steps.
    pub(super) digest: String,
    pub(super) digest_steps: usize,
}

/// A grid on all GPUs, for programs and for the parent of this process.
#[derive(Clone, Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    measured: Measured,
    #[serde(flatten)]
    steps: GpuSteps,
}

/// Columns of the table.
const COLUMNS: [Column<Row>; 9] = [
    ("kind", -6, |row| row.steps.kind.name().to_owned()),
    ("size", 11, |row| row.steps.size.clone()),
    ("GPUs", 4, |row| row.steps.gpus.to_string()),
    ("parts", 6, |row| row.steps.parts.clone()),
    ("grid", 14, |row| row.measured.grid_or_n.clone()),
    ("step ms", 9, |row| format!("{:.4}", row.measured.median_s * 1e3)),
    ("transport ms", 12, |row| format!("{:.4}", row.steps.advection_s * 1e3)),
    ("microphysics ms", 15, |row| format!("{:.4}", row.steps.microphysics_s * 1e3)),
    ("sent kB", 9, |row| format!("{:.0}", row.steps.bytes_sent as f64 / 1e3)),
];

/// A grid cut into the parts of all ranks.
struct Cut {
    grid: Grid,
    parts: Parts,
    chosen: PartsChoice,
}

impl Cut {
    /// The number of the part with the most columns of its own, and these columns from west to east and from south to north.
    fn largest(&self) -> (usize, Shape) {
        let owned = |part: &Grid| part.owned().shape(part.shape.nz);
        let all = self.parts.grids().iter().map(owned).enumerate();
        all.max_by_key(|(_, shape)| shape.columns()).expect("a part for each rank")
    }

    /// Bytes that a part with so many fields sends in a step.
    fn bytes_sent<R>(&self, part: usize, fields: usize) -> u64 {
        let others = (0..self.parts.grids().len()).filter(|other| *other != part);
        let given = others.flat_map(|other| self.parts.pieces(other));
        let columns = given.filter(|piece| piece.from == part).map(|piece| {
            let Shape { nx, ny, .. } = piece.source.shape(1);
            nx * ny
        });
        (columns.sum::<usize>() * self.grid.shape.nz * fields * size_of::<R>()) as u64
    }
}

/// Steps of a grid on the GPUs of all ranks.
struct OnGpus<'a, R> {
    bench: &'a Bench,
    team: &'a Team,
    gpu: &'a Gpu,
    scheme: &'a dyn Scheme,
    source: &'a ReplicatedGrid<R>,
}

impl Bench {
    /// The GPU of this rank.
    fn gpu_of_rank(&self, team: &Team) -> Result<Gpu> {
        let options = self.gpu.options();
        if !team.is_several() {
            return Gpu::open(&options);
        }
        let device = number_of_gpu(team, self.range.on_gpus.share_gpu)?;
        team.agree(Gpu::open(&device::Options { device, ..options }))
    }

    /// Measures steps on a GPU for each rank, of which the first one tells.
    pub(in crate::cli::bench) fn run_on_gpus<R: FilePrecision + GpuPrecision>(
        &self,
        team: &Team,
    ) -> Result<()> {
        let path = self.json.as_deref().filter(|_| team.is_first());
        let json = team.agree(AtomicFile::if_asked(path, self.force))?;
        let gpu = self.gpu_of_rank(team)?;
        let scheme = self.physics.made(self.variants)?;
        let source = team.agree(self.source::<R>())?;
        if !source.has_winds {
            return Err(Error::Usage(format!(
                "{} holds columns without winds, but steps need them; use a WRF file without --dense",
                self.input.shown()
            )));
        }
        self.check_step(&source)?;
        let source = &*source.carrying(&scheme.about().set());
        let mut out: Box<dyn Write> =
            if team.is_first() { Box::new(io::stdout().lock()) } else { Box::new(io::sink()) };
        writeln!(
            out,
            "{} on {}; columns of {} repeated, {}, dt {} s; {STEPS} steps together, after as many that \
             are not timed",
            counted(team.ranks.size(), "GPU"),
            gpu.device().name,
            self.input.shown(),
            R::NAME,
            self.dt
        )?;
        writeln!(out, "{}", table::head(&COLUMNS))?;
        let mut record = Record { out: &mut *out, rows: Vec::new(), faults: Vec::new() };
        let on_gpus = OnGpus { bench: self, team, gpu: &gpu, scheme: &*scheme, source };
        for (kind, size) in on_gpus.cases()? {
            if let Some(row) = on_gpus.measure(kind, size)? {
                record.show(&table::line(&COLUMNS, &row), &row)?;
            } else {
                writeln!(record.out, "{} {size}: the hosts lack the memory", kind.name())?;
            }
        }
        let Record { mut rows, .. } = record;
        self.stamp(&mut rows, Some(&gpu));
        json.map_or(Ok(()), |json| json.write_json(&rows))
    }
}

impl<R: FilePrecision + GpuPrecision> OnGpus<'_, R> {
    /// Grids to measure, in their order.
    fn cases(&self) -> Result<Vec<(Kind, Replication)>> {
        let options = &self.bench.range.on_gpus;
        let of_kind = |kind: Kind| move |size: &Replication| (kind, *size);
        let weak = options.weak().iter().map(of_kind(Kind::Weak));
        let mut cases: Vec<_> =
            weak.chain(options.strong().iter().map(of_kind(Kind::Strong))).collect();
        for size in options.strong() {
            for count in &options.parts_of {
                let (_, Shape { nx, ny, .. }) =
                    self.cut(Kind::Strong, *size, (*count).into())?.largest();
                let part = (Kind::Part, Replication { nx, ny });
                if !cases.contains(&part) {
                    cases.push(part);
                }
            }
        }
        Ok(cases)
    }

    /// The grid of a size on so many GPUs.
    fn cut(&self, kind: Kind, size: Replication, gpus: usize) -> Result<Cut> {
        let Replication { nx, ny } = size;
        let with = |[x, y]: [usize; 2]| {
            let shape = Shape { nx: nx * x, ny: ny * y, ..self.source.grid.shape };
            self.source.grid.with_shape(shape)
        };
        let (grid, choice) = match kind {
            Kind::Weak => {
                // Of as many parts along each axis as there are GPUs: any division is possible.
                let (_, chosen) = parts(&with([gpus; 2]), gpus, (PartsOf::Gpus, None))?;
                (with(chosen.0), Some(chosen))
            }
            Kind::Strong | Kind::Part => (with([1; 2]), None),
        };
        let (parts, chosen) = parts(&grid, gpus, (PartsOf::Gpus, choice))?;
        Ok(Cut { grid, parts, chosen })
    }

    /// Measures a grid; `None` where the host has not the memory for it.
    fn measure(&self, kind: Kind, size: Replication) -> Result<Option<Row>> {
        let Self { bench, team, gpu, scheme, source } = *self;
        let ranks = &*team.ranks;
        let cut = self.cut(kind, size, ranks.size())?;
        let own = &cut.parts.grids()[ranks.rank()];
        let bytes = ranks.on_host() * own.shape.cells() * size_of::<R>() * HOST_VALUES;
        if any(ranks, too_large(bytes).is_some()) {
            return Ok(None);
        }
        let replicated = source.repeated_part(own);
        let fields = replicated.state.fields().len();
        let mut backend = self.backend(&cut, &replicated)?;
        self.agreed(backend.drive(&TimeInterpolant::lasting(&replicated.forcing)))?;
        self.steps(&mut backend)?;
        let state = self.agreed(backend.state())?;
        let digest = digest::of_all(ranks, digest::of_part(own, &state));
        drop(state);
        let times = self.times(&mut backend, &replicated)?;
        let halves = phases(&mut backend, &replicated.state, bench.dt, PHASE_STEPS);
        let Phases { advection_s, microphysics_s } = self.agreed(halves)?;
        let exchange = self.agreed(backend.info())?.exchange;
        let (part, Shape { nx, ny, .. }) = cut.largest();
        let of_part = &cut.parts.grids()[part];
        // Margins of neighbours are as wide as those towards them.
        let Margins { west, east, south, north } = of_part.margins();
        let inner = [nx.saturating_sub(west + east), ny.saturating_sub(south + north)];
        let steps = GpuSteps {
            kind,
            size: size.to_string(),
            gpus: ranks.size(),
            parts: cut.chosen.to_string(),
            part: [nx, ny],
            columns_with_margins: of_part.shape.columns(),
            inner_columns: inner.iter().product(),
            bytes_sent: cut.bytes_sent::<R>(part, fields),
            exchange,
            advection_s,
            microphysics_s,
            digest: format!("{digest:016x}"),
            digest_steps: STEPS,
        };
        let measured = Measured::new(
            ["gpus", R::NAME],
            step_variant(scheme),
            cut.grid.shape.to_string(),
            (&Processor::gpu(gpu, 0.0), Timing::Wall),
            times,
        );
        Ok(Some(Row { measured, steps }))
    }

    /// The backend of this rank.
    fn backend(&self, cut: &Cut, replicated: &ReplicatedGrid<R>) -> Result<GpuBackend<R>> {
        let Self { bench, team, gpu, scheme, .. } = *self;
        let ReplicatedGrid { grid, coordinate, state, .. } = replicated;
        let mapping =
            bench.mapping.and_then(|choice| choice.of(gpu, &grid.global(), R::PRECISION, scheme));
        let setting = GpuConfig {
            grid,
            coordinate,
            limiter: bench.limiter_of_steps(),
            scheme,
            mapping: mapping.as_deref(),
            tracers: state.set(),
            has_sequence: false,
            chemistry: None,
        };
        if !team.is_several() {
            return GpuBackend::new(gpu, &setting, state);
        }
        let is_shared = bench.range.on_gpus.share_gpu;
        let (exchange, gb_per_s) = self.agreed(exchange(gpu, is_shared, team))?;
        let (part, gb_per_s) = (team.ranks.rank(), Some(gb_per_s));
        let near = GpuNeighbours { parts: &cut.parts, part, exchange, gb_per_s };
        team.agree(GpuBackend::of_part(gpu, &setting, state, near))
    }

    /// A result that all ranks have; a failure of a device ends them, as others may wait for its messages.
    fn agreed<T>(&self, result: Result<T>) -> Result<T> {
        self.team.agree(end_if_alone(self.team, result))
    }

    /// Makes the steps that belong together, and waits for them.
    fn steps(&self, backend: &mut GpuBackend<R>) -> Result<()> {
        let mut make = || {
            backend.step_untimed(self.bench.dt, STEPS)?;
            backend.check(STEPS, true)
        };
        self.agreed(make())
    }

    /// Times of a step, s, each of the slowest rank: the same steps from the initial state every time.
    fn times(
        &self,
        backend: &mut GpuBackend<R>,
        replicated: &ReplicatedGrid<R>,
    ) -> Result<Vec<f64>> {
        let ranks = &*self.team.ranks;
        let mut time = || -> Result<f64> {
            self.agreed(backend.start(RunStart::from(&replicated.state)))?;
            self.steps(backend)?;
            // All begin together.
            ranks.sum(&mut [0]);
            let start = Instant::now();
            let result = backend.step_untimed(self.bench.dt, STEPS);
            let result = result.and_then(|()| backend.check(2 * STEPS, true));
            let nanoseconds = start.elapsed().as_nanos() as i64;
            self.agreed(result)?;
            let slowest = all(ranks, [nanoseconds]).into_iter().map(|[own]| own).max();
            Ok(slowest.unwrap_or_default() as f64 * 1e-9 / STEPS as f64)
        };
        let first = time()?;
        // With the steps before those that are timed.
        let seconds = first * (2 * STEPS) as f64;
        let runs = fewer(self.bench.runs, seconds, PATIENCE, FEWEST);
        std::iter::once(Ok(first)).chain((1..runs).map(|_| time())).collect()
    }
}

impl GpuSteps {
    /// The largest part, for the model.
    pub(super) fn largest(&self) -> model::LargestPart {
        let [nx, ny] = self.part;
        model::LargestPart {
            columns: nx * ny,
            with_margins: self.columns_with_margins,
            inner: self.inner_columns,
            bytes_sent: self.bytes_sent,
        }
    }
}

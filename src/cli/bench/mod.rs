//! `nwp-mini bench`: speed of the parts of a step, and of the kernels that are independent of weather, on this machine.

pub(super) mod bench_input;
mod capacity;
pub(super) mod chemistry;
mod cpu;
mod csr;
pub(super) mod gpu;
pub(super) mod gpu_times;
mod ladder;
pub(super) mod measurement;
mod memory;
mod output;
mod projection;
mod record;
mod record_metadata;
mod reduce;
mod scale;
mod site;
mod size;
mod table;
mod transpose;
mod wilson;

use std::io;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rayon::ThreadPool;

use crate::advection::Limiter;
use crate::backend::cpu::name as cpu_name;
use crate::backend::gpu::GpuPrecision;
use crate::cli::device::{GpuChoice, MappingChoice};
use crate::cli::distinct_files::refuse_one_file_twice;
use crate::cli::option_values::check_positive;
use crate::cli::physics_choice::{PhysicsChoice, VariantOptions};
use crate::cli::run::metadata::machine;
use crate::cli::{BackendChoice, FilePrecision, Precision, report_page};
use crate::device::{CompilerFacts, ForeignLibrary, Gpu};
use crate::error::{Error, Result};
use crate::io::store::atomic_file::AtomicFile;
use crate::lattice::Extents;
use crate::lattice::gpu::LatticePrecision;
use crate::lattice::number::Vectorised;
use crate::model::replicated_grid::{ReplicatedGrid, Replication, has_condensate, has_rain};
use crate::os_text::Shown;
use crate::physics::scheme::Scheme;
use crate::primitives::matrices::Kind;
use crate::primitives::transpose::Matrices;
use crate::ranks::Team;
use measurement::{MeasuredOn, Processor};
use record::Record;
use site::Site;
use size::Elements;

/// Measure the parts of a step on the state of a WRF file, or the microphysics on columns, and the
/// ladders of the kernels that know no weather.
///
/// The state is restored before every timed call, but steps follow one another. Times are medians
/// with the smallest and the largest. The CPU is timed on one thread and on all of them, and
/// carries one tracer; the GPU carries several together. On the GPU a part is timed between events
/// around single calls, which take some microseconds themselves, and as calls in a graph, minus
/// the empty graph, as in a run; events around the copies of all fields to the device, a call and the
/// copies back give the cost of offloading a call.
/// Bytes and operations are those that no implementation can do without, each array moved once; the
/// last columns hold them against a copy and against chains of fused multiplications and additions,
/// measured in the same run.
///
/// A ladder shows one kernel in several forms, each faster than the preceding one: times of a call
/// between events and in a graph, on data that the cache holds and on copies in turn that exceed
/// it, with the gain of each step; every result is held against a reference, and a wrong one ends
/// in exit code 1. Lines of the CPU stand beside them.
///
/// Example: nwp-mini bench physics --backend both --tile 256x256 --tile 1024x1024
///
/// `scale` runs from 4Ki to 128Mi columns, or as far as memory and time allow: time for a cell, and
/// memory for a cell; where the time is flat, where the GPU overtakes the CPU, and which mapping is
/// the best on which grid.
///
/// Example: nwp-mini bench reduce --elements 4Mi --elements 1Gi
///
/// Example: nwp-mini bench scale --backend both --svg scale.svg --json scale.json
///
/// Started by mpirun, `scale` measures steps on all ranks, of which each has as many columns: beside the
/// same cells on every rank alone, and beside what the margins of the parts should add.
///
/// Example: mpirun -n 4 nwp-mini bench scale --columns-to 256Ki
///
/// With --gpus LIST, `scale` starts itself on each number of GPUs: weak scaling (grids grow with the number) and
/// strong scaling beside a model; a grid must have the same bits on any number, or the exit code is 1.
///
/// Example: nwp-mini bench scale --gpus 1,2 --strong 2048x1024 --json gpus.json
///
/// `chemistry` integrates cells after an hour of chemistry (warm), without radicals (cold), and of both kinds, sorted
/// and in random order.
///
/// Example: nwp-mini bench chemistry --mechanism data/chemistry/radm2.kpp
///
/// `output` writes frames of a run in every form, as in nwp-mini bench output --refine 14 --folder /dev/shm
#[derive(Debug, Args)]
pub(super) struct Bench {
    /// Parts to measure [default: physics, advection and step]
    #[arg(value_name = "PART")]
    parts: Vec<Part>,
    /// WRF file with the state, or columns as nwp-mini columns takes them
    #[arg(short, long, value_name = "FILE", default_value = "data/soc.nc")]
    input: PathBuf,
    /// Group of the input that holds the columns, with the dimensions k and col
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    /// Take only the columns that hold condensate, and repeat them on a grid of the same size
    #[arg(long)]
    dense: bool,
    /// Repeat the columns of the input on a grid of this size; may be given several times
    #[arg(long, value_name = "NXxNY")]
    tile: Vec<Replication>,
    /// Processor to compute on
    #[arg(long, value_name = "WHERE", default_value = "auto", env = "NWP_BACKEND")]
    backend: BackendChoice,
    #[command(flatten)]
    gpu: GpuChoice,
    /// Mapping of columns to the threads of the GPU [default: column and tile]
    #[arg(long, value_name = "MAPPING")]
    mapping: Option<MappingChoice>,
    /// The microphysics of `physics`, `step` and `scale`
    #[arg(long, value_name = "SCHEME", default_value_t)]
    physics: PhysicsChoice,
    #[command(flatten)]
    variants: VariantOptions,
    /// Limiter of the transport [default: all of them, and pd in whole steps]
    #[arg(long, value_name = "LIMITER")]
    limiter: Option<Limiter>,
    /// Tracers that the GPU carries together
    #[arg(long, value_name = "N", default_value = "6",
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    tracers: u16,
    /// Length of the arrays of `reduce`, as 4Mi; may be given several times [default: 64Ki to 1Gi]
    #[arg(long, value_name = "N")]
    elements: Vec<Elements>,
    /// Rows and columns of `transpose`, as 4000x3000, or number, rows and columns, as 6x27x4118; may
    /// be given several times [default: squares from 1000 to 30000, and fields]
    #[arg(long, value_name = "RxC")]
    extent: Vec<Matrices>,
    /// Kind of matrix of `csr`; may be given several times [default: all]
    #[arg(long, value_name = "KIND")]
    matrix: Vec<Kind>,
    /// Let `csr` also multiply the matrix of a file of weights, with other values
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Mechanism of `chemistry`
    #[arg(long, value_name = "FILE", default_value = "data/chemistry/radm2.kpp")]
    mechanism: PathBuf,
    /// Number of cells of `chemistry`
    #[arg(long, value_name = "N", default_value = "16Ki")]
    cells: Elements,
    #[command(flatten)]
    output: output::OutputBenchOptions,
    /// Let `reduce` work on whole numbers of 32 bits
    #[arg(long)]
    integers: bool,
    /// Lattice of `wilson`, as 32x32x32x32; may be given several times [default: that and four others]
    #[arg(long, value_name = "XxYxZxT")]
    lattice: Vec<Extents>,
    /// Also measure the best kernel of `wilson` by occupancy, and draw the result to an SVG file
    #[arg(long, value_name = "FILE.svg")]
    occupancy: Option<PathBuf>,
    /// Time the rungs in use of `reduce`, `transpose` and `csr` by turns with the functions of a library of kernels, as
    /// validation/peers/run.sh builds one of CUB, cuBLAS and cuSPARSE, instead of all rungs
    #[arg(long, value_name = "FILE.so")]
    peers: Option<PathBuf>,
    #[command(flatten)]
    range: scale::Range,
    /// Timed calls of each part
    #[arg(long, value_name = "N", default_value = "25",
          value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Time step in seconds
    #[arg(long, value_name = "S", default_value = "60")]
    dt: f64,
    /// Precision of the computation
    #[arg(long, value_name = "PRECISION", default_value = "f32")]
    precision: Precision,
    /// Write the figures to a JSON file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write an HTML page with the figures, rooflines and ladders
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Overwrite the files of --json, --svg and --report
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Cloud microphysics; wsm5 is another name of this part
    #[value(alias = "wsm5")]
    Physics,
    /// Transport of tracers
    Advection,
    /// Transport of all fields and microphysics
    Step,
    /// The ladder of the sum over an array
    Reduce,
    /// The ladder of the transpose
    Transpose,
    /// The ladder of the product of a sparse matrix and a vector
    Csr,
    /// The ladder of the Wilson operator of lattice QCD, and its solver
    Wilson,
    /// Gas-phase chemistry of independent cells
    Chemistry,
    /// Experiments with GPU memory and host-device transfers
    Memory,
    /// Time and memory of a cell by the size of the grid; takes some minutes
    Scale,
    /// Speed of compressing and writing frames of output
    Output,
    /// Solver of the wind projection, on grids given by --tile [default: 1024x1024 and 4096x4096]
    Projection,
    /// Everything but chemistry, scale, output and projection
    All,
}

/// Parts of a step, which need an input.
const OF_A_STEP: [Part; 3] = [Part::Physics, Part::Advection, Part::Step];
/// The ladders.
const LADDERS: [Part; 3] = [Part::Reduce, Part::Transpose, Part::Csr];

/// CPU of a measurement.
struct Pool {
    pool: ThreadPool,
    threads: usize,
    /// Bandwidth of a copy with these threads, bytes a second.
    copy: f64,
}

impl Pool {
    fn processor(&self) -> Processor {
        Processor::cpu(self.threads, self.copy)
    }
}

impl Bench {
    /// Runs the command.
    pub(super) fn run(&self, team: &Team) -> Result<()> {
        self.check(team)?;
        match self.precision {
            Precision::F32 => self.run_in::<f32>(team),
            Precision::F64 => self.run_in::<f64>(team),
        }
    }

    /// Fails if options contradict.
    fn check(&self, team: &Team) -> Result<()> {
        check_positive("--dt", Some(self.dt))?;
        self.check_gpu_scale()?;
        self.check_ranks(team)?;
        let read = [("the input file", &self.input), ("the file of --mechanism", &self.mechanism)];
        let written = [
            ("--json", self.json.as_ref()),
            ("--svg", self.range.svg.as_ref()),
            ("--occupancy", self.occupancy.as_ref()),
            ("--report", self.report.as_ref()),
        ];
        refuse_one_file_twice(&written, &read)?;
        if self.range.svg.is_some() && !self.wants(Part::Scale) {
            return Err(Error::Usage("--svg needs scale, whose figures it draws".to_owned()));
        }
        self.check_ladders()?;
        self.schemes()?;
        self.physics.check_mapping(self.mapping)
    }

    fn run_in<R: FilePrecision + GpuPrecision + LatticePrecision + Vectorised>(
        &self,
        team: &Team,
    ) -> Result<()> {
        if self.steps_on_gpus(team) {
            return self.run_on_gpus::<R>(team);
        }
        if team.is_several() {
            return self.run_on_ranks::<R>(team);
        }
        let json = AtomicFile::if_asked(self.json.as_deref(), self.force)?;
        let drawing = AtomicFile::if_asked(self.range.svg.as_deref(), self.force)?;
        let occupancy = AtomicFile::if_asked(self.occupancy.as_deref(), self.force)?;
        let page = AtomicFile::if_asked(self.report.as_deref(), self.force)?;
        // Chemistry or output alone needs no GPU.
        let gpu = match self.parts[..] {
            [Part::Chemistry | Part::Output] => None,
            _ => self.backend.open(&self.gpu)?,
        };
        let gpu = gpu.as_ref();
        let peers = self.peers.as_deref().map(ForeignLibrary::open).transpose()?;
        if peers.is_some() && gpu.is_none() {
            return Err(Error::Usage(
                "--peers needs a GPU, on which its kernels are timed beside ours".to_owned(),
            ));
        }
        let mut out = io::stdout().lock();
        let mut record = Record { out: &mut out, rows: Vec::new(), faults: Vec::new() };
        let mut growth = None;
        if OF_A_STEP.iter().any(|part| self.wants(*part)) {
            self.steps::<R>(gpu, &mut record)?;
        }
        if LADDERS.iter().any(|part| self.wants(*part)) {
            let site = Site { peers: peers.as_ref(), ..Site::new(self, gpu, &mut record)? };
            if self.wants(Part::Reduce) {
                self.reductions::<R>(&site, &mut record)?;
            }
            if self.wants(Part::Transpose) {
                self.transposes::<R>(&site, &mut record)?;
            }
            if self.wants(Part::Csr) {
                self.products::<R>(&site, &mut record)?;
            }
        }
        if self.wants(Part::Wilson) {
            let site = Site::new(self, gpu, &mut record)?;
            let picture = self.wilson::<R>(&site, &mut record)?;
            if let (Some(occupancy), Some(picture)) = (occupancy, picture) {
                occupancy.write_text(&picture)?;
            }
        }
        if self.parts.contains(&Part::Chemistry) {
            self.chemistry(&mut record)?;
        }
        if self.parts.contains(&Part::Output) {
            self.files::<R>(&mut record)?;
        }
        if self.parts.contains(&Part::Projection) {
            self.projection(gpu, &mut record)?;
        }
        if self.wants(Part::Memory) {
            self.memory(gpu, &mut record)?;
        }
        if self.wants(Part::Scale) {
            growth = self.scale::<R>(gpu, drawing, &mut record)?;
        }
        let Record { mut rows, faults, .. } = record;
        self.stamp(&mut rows, gpu);
        if let Some(json) = json {
            json.write_json(&rows)?;
        }
        if let Some(page) = page {
            page.write_text(&report_page::of_bench(&rows, growth.as_deref()))?;
        }
        if faults.is_empty() { Ok(()) } else { Err(Error::Verdict(faults.join("\n"))) }
    }

    fn wants(&self, part: Part) -> bool {
        let usual = self.parts.is_empty() && OF_A_STEP.contains(&part);
        let is_of_all = part != Part::Scale && self.parts.contains(&Part::All);
        usual || self.parts.contains(&part) || is_of_all
    }

    /// The microphysics in the requested variant, or in all of them.
    fn schemes(&self) -> Result<Vec<Box<dyn Scheme>>> {
        self.physics.all_made(self.variants)
    }

    /// The requested limiters.
    fn limiters(&self) -> Vec<Limiter> {
        let all = || vec![Limiter::PositiveDefinite, Limiter::Monotonic, Limiter::None];
        self.limiter.map_or_else(all, |limiter| vec![limiter])
    }

    /// The limiter of whole steps.
    fn limiter_of_steps(&self) -> Limiter {
        self.limiter.unwrap_or(Limiter::PositiveDefinite)
    }

    /// Measures the parts of a step.
    fn steps<R: FilePrecision + GpuPrecision>(
        &self,
        gpu: Option<&Gpu>,
        record: &mut Record,
    ) -> Result<()> {
        let source = self.source::<R>()?;
        self.check_tiles(source.grid.shape.nz)?;
        let pools = match (gpu, self.backend) {
            (Some(_), BackendChoice::Auto | BackendChoice::Gpu) => Vec::new(),
            _ => self.pools(record)?,
        };
        let best = gpu.map(|gpu| self.best::<R>(gpu, record)).transpose()?;
        let tiles: Vec<Option<Replication>> = if self.tile.is_empty() {
            vec![None]
        } else {
            self.tile.iter().map(|t| Some(*t)).collect()
        };
        for tile in tiles {
            let repeated = tile.map(|tile| source.repeated(tile));
            let replicated = repeated.as_ref().unwrap_or(&source);
            self.check_step(replicated)?;
            self.describe(replicated, record)?;
            writeln!(record.out, "{}", table::head(&measurement::COLUMNS))?;
            for Pool { pool, copy, .. } in &pools {
                for figure in pool.install(|| cpu::measure(self, replicated, *copy))? {
                    figure.show(record)?;
                }
            }
            if let Some((gpu, best)) = gpu.zip(best.as_ref()) {
                let cloudy = replicated.fraction(has_condensate);
                let place = MeasuredOn::new(best.clone(), replicated, self.dt, cloudy);
                gpu::Table { bench: self, gpu, replicated, place, record }.measure()?;
            }
        }
        Ok(())
    }

    /// One thread and all of them.
    fn pools(&self, record: &mut Record) -> Result<Vec<Pool>> {
        let out = &mut *record.out;
        let machine = machine();
        let mut thread_counts = vec![1, machine.threads];
        thread_counts.dedup();
        let mut pools = Vec::new();
        for threads in thread_counts {
            let pool = pool(threads)?;
            let copy = pool.install(|| cpu::copy_speed(self.runs))?;
            pools.push(Pool { pool, threads, copy });
        }
        write!(out, "{}, {} cores; a copy moves", machine.cpu, machine.cores)?;
        for Pool { threads, copy, .. } in &pools {
            write!(out, " {:.1} GB/s with {threads} threads,", copy / 1e9)?;
        }
        writeln!(out, " read and written")?;
        Ok(pools)
    }

    /// Peak performance of the GPU.
    fn best<R: GpuPrecision>(&self, gpu: &Gpu, record: &mut Record) -> Result<Processor> {
        let best = gpu::best::<R>(gpu, self.runs)?;
        let device = gpu.device();
        let CompilerFacts { name, version, fast_math, .. } = gpu.compiler();
        writeln!(
            record.out,
            "{}, {} multiprocessors, {name} {version}{}{}; a copy moves {:.1} GB/s, read and \
             written, chains of fused multiplications and additions make {:.0} G op/s",
            device.name,
            device.multiprocessors,
            if fast_math { ", fast-math" } else { "" },
            if gpu.tuning().is_some() { ", settings measured by tune" } else { "" },
            best.copy / 1e9,
            best.arithmetic.unwrap_or_default() / 1e9
        )?;
        Ok(best)
    }

    fn describe<R: FilePrecision>(
        &self,
        replicated: &ReplicatedGrid<R>,
        record: &mut Record,
    ) -> Result<()> {
        writeln!(
            record.out,
            "{} on {}, {}, dt {} s, {} runs; {:.0} % of the columns hold condensate, rain {:.0} %",
            self.input.shown(),
            replicated.grid.shape,
            R::NAME,
            self.dt,
            self.runs,
            100.0 * replicated.fraction(has_condensate),
            100.0 * replicated.fraction(has_rain)
        )?;
        Ok(())
    }
}

/// So many threads.
fn pool(threads: usize) -> Result<ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| Error::Usage(format!("{threads} threads: {e}")))
}

/// A limiter in words.
fn name_of(limiter: Limiter) -> &'static str {
    match limiter {
        Limiter::PositiveDefinite => "positive definite",
        Limiter::Monotonic => "monotonic",
        Limiter::None => "no limiter",
    }
}

/// A whole step in words.
fn step_variant(scheme: &dyn Scheme) -> String {
    let title = scheme.about().title;
    let tracers = scheme.about().set().carried();
    marked(&format!("{tracers} tracers and {title}"), scheme)
}

/// Words with those that tell the variant of a scheme from the usual one.
fn marked(words: &str, scheme: &dyn Scheme) -> String {
    match scheme.variant().map_or("", |variant| variant.mark) {
        "" => words.to_owned(),
        mark => format!("{words}, {mark}"),
    }
}

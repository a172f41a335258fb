//! `nwp-mini bench`: how fast the parts of a step are on this machine.

mod cpu;
mod figure;
mod gpu;
mod source;

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rayon::ThreadPool;

use crate::advection::Limiter;
use crate::backend::gpu::OnDevice;
use crate::cli::device::{GpuChoice, MappingChoice};
use crate::cli::report::machine;
use crate::cli::{BackendChoice, FalloutChoice, LimiterChoice, Precision};
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::io::pending::Pending;
use crate::model::Working;
use crate::model::tiled::{Tile, Tiled, has_condensate, has_rain};
use crate::wsm5::Fallout;
use figure::{Best, Figure};

/// Measure the parts of a step on the state of a WRF file, or the microphysics on columns.
///
/// The state is restored before every timed call. Times are medians with the smallest and the
/// largest. The CPU is timed on one thread and on all of them, and carries one tracer; the GPU
/// carries several together. On the GPU a part is timed between events around single calls, which
/// take some microseconds themselves, and as calls in a graph less what the graph takes without
/// them, which is what a run sees; events around the copies of all fields to the device, a call
/// and the copies back tell what it costs to compute there for somebody else. Bytes and operations
/// are those that no implementation can do without, each array moved once; the last columns hold
/// them against a copy and against chains of fused multiplications and additions, measured in the
/// same run.
///
/// Example: nwp-mini bench wsm5 --backend both --tile 256x256 --tile 1024x1024
#[derive(Debug, Args)]
pub(super) struct Bench {
    /// What to measure
    #[arg(value_name = "PART", default_value = "all")]
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
    tile: Vec<Tile>,
    /// Where to compute
    #[arg(long, value_name = "WHERE", default_value = "auto", env = "NWP_BACKEND")]
    backend: BackendChoice,
    #[command(flatten)]
    gpu: GpuChoice,
    /// How the GPU shares out columns among threads [default: column and tile]
    #[arg(long, value_name = "MAPPING")]
    mapping: Option<MappingChoice>,
    /// How precipitation falls [default: both ways]
    #[arg(long, value_name = "SCHEME")]
    fallout: Option<FalloutChoice>,
    /// Limiter of the transport [default: all of them, and pd in whole steps]
    #[arg(long, value_name = "LIMITER")]
    limiter: Option<LimiterChoice>,
    /// Tracers that the GPU carries together
    #[arg(long, value_name = "N", default_value = "6",
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    tracers: u16,
    /// Timed calls of each part
    #[arg(long, value_name = "N", default_value = "21",
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
    /// Overwrite the JSON file
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Cloud microphysics
    Wsm5,
    /// Transport of tracers
    Advection,
    /// Transport of all fields and microphysics
    Step,
    /// Everything
    All,
}

/// What computes on the CPU: a pool of threads, their number, what a copy moves with them.
type Pool = (ThreadPool, usize, f64);

impl Bench {
    /// Runs the command.
    ///
    /// # Errors
    ///
    /// Those of the options and of the input, and [`Error::Gpu`] where the GPU is asked for and
    /// cannot be used, or is too small.
    pub(super) fn run(&self) -> Result<()> {
        if self.dt <= 0.0 || !self.dt.is_finite() {
            return Err(Error::Usage(format!("--dt {}: give a positive number", self.dt)));
        }
        let gpu = self.backend.open(&self.gpu)?;
        match self.precision {
            Precision::F32 => self.run_in::<f32>(gpu.as_ref()),
            Precision::F64 => self.run_in::<f64>(gpu.as_ref()),
        }
    }

    fn wants(&self, part: Part) -> bool {
        self.parts.contains(&part) || self.parts.contains(&Part::All)
    }

    /// The ways of falling that are wanted.
    fn fallouts(&self) -> Vec<Fallout> {
        self.fallout.map_or_else(|| Fallout::ALL.to_vec(), |fallout| vec![fallout.into()])
    }

    /// The limiters that are wanted.
    fn limiters(&self) -> Vec<Limiter> {
        let all = || vec![Limiter::PositiveDefinite, Limiter::Monotonic, Limiter::None];
        self.limiter.map_or_else(all, |limiter| vec![limiter.into()])
    }

    /// The limiter of whole steps.
    fn limiter_of_steps(&self) -> Limiter {
        self.limiter.map_or(Limiter::PositiveDefinite, Limiter::from)
    }

    fn run_in<R: Working + OnDevice>(&self, gpu: Option<&Gpu>) -> Result<()> {
        let json = self.json.as_ref().map(|path| Pending::new(path, self.force)).transpose()?;
        let source = self.source::<R>()?;
        let mut out = io::stdout().lock();
        let pools = match (gpu, self.backend) {
            (Some(_), BackendChoice::Auto | BackendChoice::Gpu) => Vec::new(),
            _ => self.pools(&mut out)?,
        };
        let best = gpu.map(|gpu| self.best::<R>(gpu, &mut out)).transpose()?;
        let device = gpu.zip(best);
        let mut figures = Vec::new();
        let tiles: Vec<Option<Tile>> = if self.tile.is_empty() {
            vec![None]
        } else {
            self.tile.iter().map(|t| Some(*t)).collect()
        };
        for tile in tiles {
            let repeated = tile.map(|tile| source.repeated(tile));
            let bed = repeated.as_ref().unwrap_or(&source);
            self.check_step(bed)?;
            self.describe(&mut out, bed)?;
            writeln!(out, "{}", Figure::head())?;
            for (pool, _, copy) in &pools {
                let found = pool.install(|| cpu::measure(self, bed, *copy))?;
                show(&mut out, &found)?;
                figures.extend(found);
            }
            if let Some((gpu, best)) = device {
                let found = gpu::measure(self, gpu, bed, best, |figure| {
                    show(&mut out, std::slice::from_ref(figure))
                })?;
                figures.extend(found);
            }
        }
        if let Some(json) = json {
            let text = serde_json::to_string_pretty(&figures)
                .map_err(|e| Error::io(json.target(), "write to", e))?;
            fs::write(json.path(), text + "\n")
                .map_err(|e| Error::io(json.target(), "write to", e))?;
            json.commit()?;
        }
        Ok(())
    }

    /// One thread and all of them.
    fn pools(&self, out: &mut impl Write) -> Result<Vec<Pool>> {
        let machine = machine();
        let mut thread_counts = vec![1, machine.threads];
        thread_counts.dedup();
        let mut pools = Vec::new();
        for threads in thread_counts {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .map_err(|e| Error::Usage(format!("{threads} threads: {e}")))?;
            let copy = pool.install(|| cpu::copy_speed(self.runs))?;
            pools.push((pool, threads, copy));
        }
        write!(out, "{}, {} cores; a copy moves", machine.cpu, machine.cores)?;
        for (_, threads, copy) in &pools {
            write!(out, " {:.1} GB/s with {threads} threads,", copy / 1e9)?;
        }
        writeln!(out, " read and written")?;
        Ok(pools)
    }

    /// What the GPU can do at best.
    fn best<R: OnDevice>(&self, gpu: &Gpu, out: &mut impl Write) -> Result<Best> {
        let best = gpu::best::<R>(gpu, self.runs)?;
        let device = gpu.device();
        let (major, minor) = gpu.compiler().version();
        writeln!(
            out,
            "{}, {} multiprocessors, NVRTC {major}.{minor}{}; a copy moves {:.1} GB/s, read and \
             written, chains of fused multiplications and additions make {:.0} G op/s",
            device.name,
            device.multiprocessors,
            if gpu.compiler().fast_math() { ", fast-math" } else { "" },
            best.copy / 1e9,
            best.arithmetic.unwrap_or_default() / 1e9
        )?;
        Ok(best)
    }

    fn describe<R: Working>(&self, out: &mut impl Write, bed: &Tiled<R>) -> Result<()> {
        writeln!(
            out,
            "{} on {}, {}, dt {} s, {} runs; {:.0} % of the columns hold condensate, rain {:.0} %",
            self.input.display(),
            bed.grid.shape,
            R::NAME,
            self.dt,
            self.runs,
            100.0 * bed.share(has_condensate),
            100.0 * bed.share(has_rain)
        )?;
        Ok(())
    }
}

fn show(out: &mut impl Write, figures: &[Figure]) -> Result<()> {
    for figure in figures {
        writeln!(out, "{}", figure.line())?;
        for note in figure.notes() {
            writeln!(out, "{note}")?;
        }
    }
    Ok(())
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
fn step_variant(fallout: Fallout) -> &'static str {
    match fallout {
        Fallout::SemiLagrangian => "6 tracers and WSM5",
        Fallout::Substepped => "6 tracers and WSM5, sub-stepped",
    }
}

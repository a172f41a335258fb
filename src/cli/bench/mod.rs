//! `nwp-mini bench`: how fast the parts of a step are on this machine.

mod cpu;
mod figure;

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::Precision;
use crate::cli::report::machine;
use crate::error::{Error, Result};
use crate::io::columns::ColumnCase;
use crate::io::pending::Pending;
use crate::io::reader::Reader;
use crate::io::wrf;
use crate::mass::{AirMass, longest_time_step};
use crate::model::tiled::{Tile, Tiled};
use crate::model::{Case, Working};
use figure::Figure;

/// Measure the parts of a step on the state of a WRF file, or the microphysics on columns.
///
/// The state is restored before every timed call. Times are medians with the smallest and the
/// largest; every part is timed on one thread and on all of them. Bytes and operations are those
/// that no implementation can do without, each array moved once; the last column holds them
/// against a copy with as many threads.
///
/// Example: nwp-mini bench wsm5 --tile 256x256 --tile 1024x1024
#[derive(Debug, Args)]
pub(super) struct Bench {
    /// What to measure
    #[arg(value_name = "PART", default_value = "all")]
    parts: Vec<Part>,
    /// WRF file with the state, or columns as nwp-mini columns takes them
    #[arg(short, long, value_name = "FILE", default_value = "data/soc.nc")]
    input: PathBuf,
    /// Repeat the columns of the input on a grid of this size; may be given several times
    #[arg(long, value_name = "NXxNY")]
    tile: Vec<Tile>,
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
    /// Transport of one tracer
    Advection,
    /// Transport of all fields and microphysics
    Step,
    /// Everything
    All,
}

impl Bench {
    /// Runs the command.
    pub(super) fn run(&self) -> Result<()> {
        if self.dt <= 0.0 || !self.dt.is_finite() {
            return Err(Error::Usage(format!("--dt {}: give a positive number", self.dt)));
        }
        match self.precision {
            Precision::F32 => self.run_in::<f32>(),
            Precision::F64 => self.run_in::<f64>(),
        }
    }

    fn wants(&self, part: Part) -> bool {
        self.parts.contains(&part) || self.parts.contains(&Part::All)
    }

    fn run_in<R: Working>(&self) -> Result<()> {
        let json = self.json.as_ref().map(|path| Pending::new(path, self.force)).transpose()?;
        let source = self.source::<R>()?;
        let machine = machine();
        let mut out = io::stdout().lock();
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
                for figure in pool.install(|| cpu::measure(self, bed, *copy))? {
                    writeln!(out, "{}", figure.line())?;
                    figures.push(figure);
                }
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

    /// The columns of the input.
    fn source<R: Working>(&self) -> Result<Tiled<R>> {
        if Reader::open(&self.input)?.dimension("column").is_ok() {
            let moves = [Part::Advection, Part::Step];
            if let Some(part) = self.parts.iter().find(|part| moves.contains(part)) {
                let part = part.to_possible_value();
                return Err(Error::Usage(format!(
                    "{} holds columns without winds, which the part {} needs; measure wsm5, or \
                     give a WRF file",
                    self.input.display(),
                    part.as_ref().map_or("", |part| part.get_name())
                )));
            }
            return Ok(Tiled::columns(&ColumnCase::read(&self.input)?));
        }
        let (domain, frame) = wrf::read(&self.input, None)?;
        let mut case = Case::<R>::new(domain, frame)?;
        let state = case.take_state();
        Ok(Tiled::whole(&case, state))
    }

    /// Fails where air would cross more than a cell in a step.
    fn check_step<R: Working>(&self, bed: &Tiled<R>) -> Result<()> {
        if !bed.has_winds || !(self.wants(Part::Advection) || self.wants(Part::Step)) {
            return Ok(());
        }
        let air = AirMass::new(&bed.grid, &bed.coordinate);
        let longest = longest_time_step(bed.grid.shape, &air, &bed.forcing.flux);
        if self.dt > longest {
            return Err(Error::Usage(format!(
                "--dt {}: air would cross more than a cell in a step; the longest time step for \
                 these winds is {longest:.1} s",
                self.dt
            )));
        }
        Ok(())
    }

    fn describe<R: Working>(&self, out: &mut impl Write, bed: &Tiled<R>) -> Result<()> {
        let cloudy = bed.share(|state, at| {
            [&state.qc, &state.qr, &state.qi, &state.qs].iter().any(|q| q[at] > R::ZERO)
        });
        let rainy = bed.share(|state, at| state.qr[at] > R::ZERO);
        writeln!(
            out,
            "{} on {}, dt {} s, {} runs; {:.0} % of the columns hold condensate, rain {:.0} %",
            self.input.display(),
            bed.grid.shape,
            self.dt,
            self.runs,
            100.0 * cloudy,
            100.0 * rainy
        )?;
        Ok(())
    }
}

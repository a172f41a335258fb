//! `nwp-mini bench`: how fast the parts of a step are on this machine.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use ndarray::Array3;
use serde::Serialize;

use crate::advection::{self, Limiter, Wind, Workspace};
use crate::backend::Backend;
use crate::backend::cpu::Cpu;
use crate::cli::Precision;
use crate::cli::report::machine;
use crate::error::{Error, Result};
use crate::io::pending::Pending;
use crate::io::wrf;
use crate::mass::AirMass;
use crate::model::{Case, Working};
use crate::state::{CloudDiagnostics, State};
use crate::wsm5::Fallout;

/// Measure the parts of a step on the state of a WRF file.
///
/// The state is restored before every timed call. Times are medians with the smallest and the
/// largest; every part is timed on one thread and on all of them.
#[derive(Debug, Args)]
pub(super) struct Bench {
    /// What to measure
    #[arg(value_name = "PART", default_value = "all")]
    parts: Vec<Part>,
    /// WRF file with the state
    #[arg(short, long, value_name = "FILE", default_value = "data/soc.nc")]
    input: PathBuf,
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

/// One measured part.
#[derive(Clone, Debug, Serialize)]
struct Figure {
    bench: &'static str,
    variant: String,
    backend: &'static str,
    precision: &'static str,
    threads: usize,
    grid_or_n: String,
    median_s: f64,
    min_s: f64,
    max_s: f64,
    runs: usize,
    cells_per_s: f64,
    ns_per_cell: f64,
    gb_per_s: Option<f64>,
    percent_of_copy: Option<f64>,
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
        let (domain, frame) = wrf::read(&self.input, None)?;
        let mut case = Case::<R>::new(domain, frame)?;
        let state = case.take_state();
        let machine = machine();
        let mut out = io::stdout().lock();
        writeln!(
            out,
            "{}, {} cores; {} {}, dt {} s, {} runs; {:.0} % of the columns hold condensate, \
             rain {:.0} %",
            machine.cpu,
            machine.cores,
            self.input.display(),
            case.domain.grid.shape,
            self.dt,
            self.runs,
            100.0
                * share(&state, |state, at| {
                    [&state.qc, &state.qr, &state.qi, &state.qs].iter().any(|q| q[at] > R::ZERO)
                }),
            100.0 * share(&state, |state, at| state.qr[at] > R::ZERO)
        )?;
        writeln!(
            out,
            "{:<10} {:<34} {:>7} {:>11} {:>22} {:>9} {:>10}",
            "part", "variant", "threads", "median ms", "min .. max ms", "ns/cell", "M cells/s"
        )?;
        let mut thread_counts = vec![1, machine.threads];
        thread_counts.dedup();
        let mut figures = Vec::new();
        for threads in thread_counts {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .map_err(|e| Error::Usage(format!("{threads} threads: {e}")))?;
            for figure in pool.install(|| self.measure(&case, &state))? {
                writeln!(
                    out,
                    "{:<10} {:<34} {:>7} {:>11.3} {:>22} {:>9.2} {:>10.2}",
                    figure.bench,
                    figure.variant,
                    figure.threads,
                    figure.median_s * 1e3,
                    format!("{:.3} .. {:.3}", figure.min_s * 1e3, figure.max_s * 1e3),
                    figure.ns_per_cell,
                    figure.cells_per_s / 1e6
                )?;
                figures.push(figure);
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

    /// Measures all wanted parts in the present pool of threads.
    fn measure<R: Working>(&self, case: &Case<R>, state: &State<R>) -> Result<Vec<Figure>> {
        let mut figures = Vec::new();
        let grid = &case.domain.grid;
        let limiter = Limiter::PositiveDefinite;
        let (coordinate, forcing) = (&case.domain.coordinate, &case.forcing);
        let backend =
            |fallout| Cpu::new(grid, coordinate, limiter, fallout, forcing, state.clone());
        if self.wants(Part::Wsm5) {
            let mut radar = CloudDiagnostics::zeros(grid.shape);
            for (fallout, variants) in [
                (Fallout::SemiLagrangian, ["surface outputs", "with radii and reflectivity"]),
                (
                    Fallout::Substepped,
                    ["sub-stepped, surface outputs", "sub-stepped, radii, reflectivity"],
                ),
            ] {
                let mut backend = backend(fallout);
                figures.push(self.time::<R, _>(
                    case,
                    ("wsm5", variants[0]),
                    &mut backend,
                    |b| b.restore(state),
                    |b| {
                        b.microphysics(self.dt);
                        Ok(())
                    },
                )?);
                figures.push(self.time::<R, _>(
                    case,
                    ("wsm5", variants[1]),
                    &mut backend,
                    |b| b.restore(state),
                    |b| {
                        b.microphysics(self.dt);
                        b.diagnose(&mut radar);
                        Ok(())
                    },
                )?);
            }
        }
        if self.wants(Part::Advection) {
            let air = AirMass::new(grid, coordinate);
            let wind = Wind { grid, air: &air, flux: &forcing.flux, dt: self.dt };
            let mut tracer = (Array3::zeros(grid.shape.centre()), Workspace::new(grid.shape));
            for (variant, limiter) in [
                ("RK3, positive definite, a tracer", Limiter::PositiveDefinite),
                ("RK3, monotonic, a tracer", Limiter::Monotonic),
                ("RK3, no limiter, a tracer", Limiter::None),
            ] {
                figures.push(self.time::<R, _>(
                    case,
                    ("advection", variant),
                    &mut tracer,
                    |(q, _)| {
                        q.assign(&state.qv);
                        Ok(())
                    },
                    |(q, work)| {
                        advection::step(&wind, limiter, None, q, work);
                        Ok(())
                    },
                )?);
            }
        }
        if self.wants(Part::Step) {
            for (fallout, variant) in [
                (Fallout::SemiLagrangian, "6 tracers and WSM5"),
                (Fallout::Substepped, "6 tracers and WSM5, sub-stepped"),
            ] {
                figures.push(self.time::<R, _>(
                    case,
                    ("step", variant),
                    &mut backend(fallout),
                    |b| b.restore(state),
                    |b| b.step(self.dt),
                )?);
            }
        }
        Ok(figures)
    }

    /// Times `work` on `subject`, made new by `restore` before every call.
    fn time<R: Working, S>(
        &self,
        case: &Case<R>,
        (bench, variant): (&'static str, &str),
        subject: &mut S,
        mut restore: impl FnMut(&mut S) -> Result<()>,
        mut work: impl FnMut(&mut S) -> Result<()>,
    ) -> Result<Figure> {
        let shape = case.domain.grid.shape;
        // The first call warms up and is not counted.
        let mut times = Vec::new();
        for run in 0..=self.runs {
            restore(subject)?;
            let start = Instant::now();
            work(subject)?;
            if run > 0 {
                times.push(start.elapsed().as_secs_f64());
            }
        }
        times.sort_by(f64::total_cmp);
        let median_s = times[times.len() / 2];
        Ok(Figure {
            bench,
            variant: variant.to_owned(),
            backend: "cpu",
            precision: R::NAME,
            threads: rayon::current_num_threads(),
            grid_or_n: shape.to_string(),
            median_s,
            min_s: times[0],
            max_s: times[times.len() - 1],
            runs: times.len(),
            cells_per_s: shape.cells() as f64 / median_s,
            ns_per_cell: median_s * 1e9 / shape.cells() as f64,
            gb_per_s: None,
            percent_of_copy: None,
        })
    }
}

/// Share of the columns that fulfil a condition at some level.
fn share<R: Working>(state: &State<R>, condition: impl Fn(&State<R>, [usize; 3]) -> bool) -> f64 {
    let (nz, ny, nx) = state.qv.dim();
    let columns = (0..ny).flat_map(|j| (0..nx).map(move |i| (j, i)));
    let count = columns.filter(|&(j, i)| (0..nz).any(|k| condition(state, [k, j, i]))).count();
    count as f64 / (nx * ny) as f64
}

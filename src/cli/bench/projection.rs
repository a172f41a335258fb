//! Benchmark of the solver of the wind projection, on a grid with map factors, uneven masses and winds at random.

use std::time::Instant;

use serde::Serialize;

use super::measurement::median;
use super::record::Record;
use super::{Bench, pool};
use crate::cli::BackendChoice;
use crate::cli::run::metadata::machine;
use crate::counter_rng::Random;
use crate::device::Gpu;
use crate::error::Result;
use crate::model::replicated_grid::Replication;
use crate::primitives::conjugate_gradient::{OnCpu, Solution, Solver, System};
use crate::primitives::csr::Csr;
use crate::primitives::gpu::conjugate_gradient::GpuSolver;
use crate::primitives::multigrid::{Conductances, Multigrid};

/// Default sizes.
const SIZES: [Replication; 2] =
    [Replication { nx: 1024, ny: 1024 }, Replication { nx: 4096, ny: 4096 }];

/// Most timed calls.
const MOST_RUNS: u32 = 5;

/// Residual at which the solver stops, as a part of the largest divergence: 1e-3 of some 10⁴ Pa/h.
const REDUCTION: f64 = 1e-7;

/// Amplitudes of the conductances: of map factors, which vary across the grid, and of masses above terrain, which vary
/// from cell to cell.
const OF_MAPS: f64 = 0.3;
const OF_TERRAIN: f64 = 0.2;

/// Most iterations.
const MOST_ITERATIONS: usize = 1000;

/// A line of the table.
#[derive(Clone, Debug, Serialize)]
struct Row {
    bench: &'static str,
    grid: String,
    backend: &'static str,
    device: String,
    threads: usize,
    /// Time of the matrix and the hierarchy on the host, ms.
    setup_ms: f64,
    /// Time to copy them to the device, ms.
    upload_ms: f64,
    /// Time of the iterations, ms.
    solve_ms: f64,
    iterations: usize,
}

impl Row {
    fn line(&self) -> String {
        let Self { grid, device, threads, setup_ms, upload_ms, solve_ms, iterations, .. } = self;
        format!(
            "{grid:>10} {threads:>7} {setup_ms:>10.2} {upload_ms:>10.2} {solve_ms:>10.3} \
             {iterations:>10}  {device}"
        )
    }
}

impl Bench {
    /// Measures the solver on one thread and on all of them, and on the GPU.
    pub(super) fn projection(&self, gpu: Option<&Gpu>, record: &mut Record) -> Result<()> {
        writeln!(
            record.out,
            "projection: residual reduced to {REDUCTION:e} of the largest\n\
             {:>10} {:>7} {:>10} {:>10} {:>10} {:>10}  device",
            "grid", "threads", "set-up ms", "upload ms", "solve ms", "iterations"
        )?;
        let sizes = if self.tile.is_empty() { SIZES.to_vec() } else { self.tile.clone() };
        for size in sizes {
            let (network, b) = case(size);
            let limit = vec![REDUCTION * b.iter().fold(0.0, |a: f64, b| a.max(b.abs())); b.len()];
            let mut expected = None;
            if gpu.is_none() || self.backend == BackendChoice::Both {
                let mut threads = vec![1, machine().threads];
                threads.dedup();
                for threads in threads {
                    let pool = pool(threads)?;
                    let (row, found) =
                        pool.install(|| self.on_cpu(&network, (&b, &limit), threads))?;
                    record.show(&row.line(), &row)?;
                    compare(&found, &mut expected, size, record);
                }
            }
            if let Some(gpu) = gpu {
                let found = self.on_gpu(gpu, &network, (&b, &limit), record)?;
                compare(&found, &mut expected, size, record);
            }
        }
        Ok(())
    }

    fn on_cpu(
        &self,
        network: &Conductances,
        (b, limit): (&[f64], &[f64]),
        threads: usize,
    ) -> Result<(Row, Solution)> {
        let (mut setup, mut solve, mut found) = (Vec::new(), Vec::new(), None);
        for _ in 0..self.runs.min(MOST_RUNS) {
            let begin = Instant::now();
            let (matrix, multigrid) = set_up(network)?;
            setup.push(begin.elapsed().as_secs_f64());
            let begin = Instant::now();
            let system = System { matrix: &matrix, multigrid: &multigrid };
            found = Some(OnCpu.solve(system, b, limit, MOST_ITERATIONS)?);
            solve.push(begin.elapsed().as_secs_f64());
        }
        let found = found.expect("at least one run");
        let row = Row {
            bench: "projection",
            grid: grid(network),
            backend: "cpu",
            device: machine().cpu,
            threads,
            setup_ms: 1e3 * median(setup),
            upload_ms: 0.0,
            solve_ms: 1e3 * median(solve),
            iterations: found.iterations,
        };
        Ok((row, found))
    }

    fn on_gpu(
        &self,
        gpu: &Gpu,
        network: &Conductances,
        (b, limit): (&[f64], &[f64]),
        record: &mut Record,
    ) -> Result<Solution> {
        let solver = GpuSolver::new(gpu)?;
        let begin = Instant::now();
        let (matrix, multigrid) = set_up(network)?;
        let setup = begin.elapsed().as_secs_f64();
        let system = System { matrix: &matrix, multigrid: &multigrid };
        let (mut upload, mut solve) = (Vec::new(), Vec::new());
        for _ in 0..self.runs.min(MOST_RUNS) {
            let begin = Instant::now();
            if let Ok(iteration) = solver.begin(system, b, limit, MOST_ITERATIONS)? {
                gpu.synchronize()?;
                upload.push(begin.elapsed().as_secs_f64());
                solve.push(iteration.time()?);
            }
        }
        let found = solver.solve(system, b, limit, MOST_ITERATIONS)?;
        let row = Row {
            bench: "projection",
            grid: grid(network),
            backend: "gpu",
            device: gpu.device().name.clone(),
            threads: 0,
            setup_ms: 1e3 * setup,
            upload_ms: 1e3 * median(upload),
            solve_ms: 1e3 * median(solve),
            iterations: found.iterations,
        };
        record.show(&row.line(), &row)?;
        Ok(found)
    }
}

fn set_up(network: &Conductances) -> Result<(Csr<f64>, Multigrid)> {
    let (matrix, multigrid) = rayon::join(|| network.matrix(), || Multigrid::new(network));
    Ok((matrix?, multigrid))
}

fn grid(network: &Conductances) -> String {
    format!("{}x{}", network.extents[0], network.extents[1])
}

/// Adds a fault if a solution has not converged, or is not that of the other processors, bit for bit.
fn compare(
    found: &Solution,
    expected: &mut Option<Solution>,
    size: Replication,
    record: &mut Record,
) {
    let Replication { nx, ny } = size;
    if !found.converged {
        record.faults.push(format!("projection, {nx}x{ny}: not converged"));
    }
    let expected = expected.get_or_insert_with(|| found.clone());
    if found != expected {
        record.faults.push(format!("projection, {nx}x{ny}: solutions differ between processors"));
    }
}

/// Conductances and a divergence. Shape of the latter: (ny, nx).
fn case(Replication { nx, ny }: Replication) -> (Conductances, Vec<f64>) {
    let random = Random::new(0);
    let uneven = |kind: u64, at: usize| {
        let number = random.at(kind).at(at as u64).uniform();
        1.0 + OF_TERRAIN * (2.0 * number - 1.0)
    };
    let map = |j: usize| {
        let place = j as f64 / ny as f64 - 0.5;
        1.0 + OF_MAPS * place * place
    };
    let x = (0..ny * (nx + 1)).map(|at| map(at / (nx + 1)) * uneven(0, at)).collect();
    let y = (0..(ny + 1) * nx).map(|at| uneven(1, at) / map(at / nx)).collect();
    let b = (0..nx * ny).map(|at| 2.0 * random.at(2).at(at as u64).uniform() - 1.0).collect();
    (Conductances { extents: [nx, ny], periodic: [false; 2], x, y }, b)
}

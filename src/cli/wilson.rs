//! `nwp-mini wilson`: the Wilson operator and its solver, with input and output files.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::device::GpuChoice;
use super::{BackendChoice, Precision};
use crate::device::Gpu;
use crate::error::{Error, Result};
use crate::io::lattice::{self, LatticeCase, Results};
use crate::io::writer::{Stored, Writer};
use crate::lattice::dirac::{self, Dirac};
use crate::lattice::gpu::{GpuDirac, LatticePrecision};
use crate::lattice::number::Vectorised;
use crate::lattice::solver::MOST_ITERATIONS;
use crate::lattice::{CpuDirac, Solution, Stop, defect_correction, solve};

/// Apply the Wilson operator of lattice QCD and solve M x = b, for every case of a file.
///
/// The global attribute `cases` names the cases, separated by spaces; variables and dimensions of a case
/// begin with its name and an underscore. Without the attribute there is one case, without prefix. A
/// case has links (mu, t, z, y, x, row, col, complex), psi and rhs (t, z, y, x, spin, color, complex),
/// kappa, tolerance, tolerance_f32, and antiperiodic_t, 0 or 1. Extents are even.
///
/// Example: nwp-mini wilson --input wilson.nc --output wilson.out.nc --precision f32
#[derive(Debug, Args)]
pub(super) struct Wilson {
    /// NetCDF file with links, spinors and parameters
    #[arg(long, value_name = "FILE")]
    input: PathBuf,
    /// NetCDF file to write: hop, hop_dagger, m, mpc, mpc_dagger, solution, iterations, residual
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Floating-point precision
    #[arg(long, default_value = "f32")]
    precision: Precision,
    /// Processor to compute on
    #[arg(long, default_value = "auto")]
    backend: BackendChoice,
    #[command(flatten)]
    gpu: GpuChoice,
    /// Solver of the system
    #[arg(long, value_name = "SOLVER", default_value = "cg")]
    solver: SolverChoice,
    /// Overwrite the output file
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SolverChoice {
    /// Conjugate gradients on the normal equations
    Cg,
    /// The same in single precision, repeated for the double-precision residual; needs --precision f64
    DefectCorrection,
}

impl Wilson {
    pub(super) fn run(&self) -> Result<()> {
        if self.backend == BackendChoice::Both {
            return Err(Error::Usage(
                "--backend both: wilson runs on one backend only; use cpu or gpu".to_owned(),
            ));
        }
        let corrects = self.solver == SolverChoice::DefectCorrection;
        if corrects && matches!(self.precision, Precision::F32) {
            return Err(Error::Usage(
                "--solver defect-correction needs --precision f64".to_owned(),
            ));
        }
        let cases = lattice::read(&self.input)?;
        let gpu = self.backend.open(&self.gpu)?;
        let output = Writer::create(&self.output, self.force)?;
        match self.precision {
            Precision::F32 => {
                let solver = |solved: Solved<'_, '_, f32>| solved.by_gradients(1);
                self.compute(&cases, gpu.as_ref(), output, "f32", solver)
            }
            Precision::F64 => {
                let solver = |solved: Solved<'_, '_, f64>| {
                    if corrects { solved.by_correction() } else { solved.by_gradients(0) }
                };
                self.compute(&cases, gpu.as_ref(), output, "f64", solver)
            }
        }
    }

    fn compute<R: Stored + LatticePrecision + Vectorised>(
        &self,
        cases: &[LatticeCase],
        gpu: Option<&Gpu>,
        output: Writer,
        precision: &str,
        solver: impl Fn(Solved<'_, '_, R>) -> Result<Solution<R>>,
    ) -> Result<()> {
        let mut computed = Vec::new();
        for case in cases {
            let results = if let Some(gpu) = gpu {
                let dirac = GpuDirac::<R>::new(gpu, case.gauge(), case.distance)?;
                let solution = solver(Solved { case, gpu: Some((gpu, &dirac)), cpu: None })?;
                results(&dirac, case, solution)?
            } else {
                let dirac = CpuDirac::<R>::new(case.gauge())?;
                let solution = solver(Solved { case, gpu: None, cpu: Some(&dirac) })?;
                results(&dirac, case, solution)?
            };
            self.report(case, &results.solution)?;
            computed.push((case, results));
        }
        let backend = if gpu.is_some() { "gpu" } else { "cpu" };
        lattice::write(output, [precision, backend], &computed)?;
        tracing::info!("wrote {}", self.output.display());
        Ok(())
    }

    fn report<R>(&self, case: &LatticeCase, solution: &Solution<R>) -> Result<()> {
        let Solution { iterations, residual, converged, .. } = *solution;
        if !converged || !residual.is_finite() {
            return Err(lattice::failed(&self.input, case, iterations, residual));
        }
        let name = if case.name.is_empty() { "the case" } else { &case.name };
        writeln!(
            io::stdout(),
            "{name}: {} sites, kappa {}, {iterations} iterations, residual {residual:.3e}",
            case.extents,
            case.kappa
        )?;
        Ok(())
    }
}

/// Solver of a system on one of the two backends.
struct Solved<'a, 'd, R> {
    case: &'a LatticeCase,
    gpu: Option<(&'a Gpu, &'d GpuDirac<R>)>,
    cpu: Option<&'d CpuDirac<R>>,
}

impl<R: Stored + LatticePrecision + Vectorised> Solved<'_, '_, R> {
    /// With the tolerance at this index.
    fn by_gradients(self, tolerance: usize) -> Result<Solution<R>> {
        let Self { case, gpu, cpu } = self;
        let stop = Stop { tolerance: case.tolerance[tolerance], most: MOST_ITERATIONS };
        let rhs: Vec<R> = case.rhs.iter().map(|&x| R::of(x)).collect();
        match (gpu, cpu) {
            (Some((_, dirac)), _) => solve(dirac, case.kappa, &rhs, stop),
            (None, Some(dirac)) => solve(dirac, case.kappa, &rhs, stop),
            (None, None) => unreachable!("one backend is there"),
        }
    }
}

impl Solved<'_, '_, f64> {
    fn by_correction(self) -> Result<Solution<f64>> {
        let Self { case, gpu, cpu } = self;
        let stop = Stop { tolerance: case.tolerance[0], most: MOST_ITERATIONS };
        let corrected = match (gpu, cpu) {
            (Some((gpu, wide)), _) => {
                let narrow = GpuDirac::<f32>::new(gpu, case.gauge(), case.distance)?;
                defect_correction(wide, &narrow, case.kappa, &case.rhs, stop)?
            }
            (None, Some(wide)) => {
                let narrow = CpuDirac::<f32>::new(case.gauge())?;
                defect_correction(wide, &narrow, case.kappa, &case.rhs, stop)?
            }
            (None, None) => unreachable!("one backend is there"),
        };
        Ok(corrected.solution)
    }
}

fn results<R: Stored, D: Dirac<R>>(
    dirac: &D,
    case: &LatticeCase,
    solution: Solution<R>,
) -> Result<Results<R>> {
    let psi: Vec<R> = case.psi.iter().map(|&x| R::of(x)).collect();
    Ok(Results {
        hop: dirac::hop(dirac, false, &psi)?,
        hop_dagger: dirac::hop(dirac, true, &psi)?,
        m: dirac::wilson(dirac, case.kappa, &psi)?,
        mpc: dirac::preconditioned_even(dirac, case.kappa, false, &psi)?,
        mpc_dagger: dirac::preconditioned_even(dirac, case.kappa, true, &psi)?,
        solution,
    })
}

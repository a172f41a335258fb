//! `nwp-mini wilson`: the Wilson operator and its solver, with input and output files.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::device::GpuChoice;
use super::distinct_files::refuse_one_file_twice;
use super::{BackendChoice, Precision};
use crate::device::Gpu;
use crate::error::{Error, Result};
use crate::io::cases::lattice;
use crate::io::cases::lattice::{LatticeCase, Results};
use crate::io::store::writer::{Stored, Writer};
use crate::lattice::dirac::{self, Dirac};
use crate::lattice::gpu::{GpuDirac, LatticePrecision};
use crate::lattice::solver::MOST_ITERATIONS;
use crate::lattice::{CpuDirac, Solution, Stop, defect_correction, solve_to_the_residual};
use crate::os_text::Shown;

/// Apply the Wilson operator of lattice QCD and solve M x = b, for every case of a file.
///
/// The global attribute `cases` names the cases, separated by spaces; variables and dimensions of a case
/// begin with its name and an underscore. Without the attribute there is one case, without prefix. A
/// case has links (mu, t, z, y, x, row, col, complex), psi and rhs (t, z, y, x, spin, color, complex),
/// kappa, tolerance, tolerance_f32, and antiperiodic_t, 0 or 1. Extents are even. A case is solved if the residual of
/// its solution is within the tolerance; one below the rounding of the precision is not reached, with exit code 5.
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
        refuse_one_file_twice(
            &[("--output", Some(&self.output))],
            &[("the input file", &self.input)],
        )?;
        let cases = lattice::read(&self.input)?;
        let gpu = self.backend.open(&self.gpu)?;
        let output = Writer::create(&self.output, self.force)?;
        let gpu = gpu.as_ref();
        match self.precision {
            Precision::F32 => self.compute(&cases, gpu, output, |case| match gpu {
                Some(gpu) => by_gradients(&on_gpu::<f32>(gpu, case)?, case, 1),
                None => by_gradients(&CpuDirac::<f32>::new(case.gauge())?, case, 1),
            }),
            Precision::F64 => self.compute(&cases, gpu, output, |case| match (gpu, corrects) {
                (Some(gpu), false) => by_gradients(&on_gpu::<f64>(gpu, case)?, case, 0),
                (Some(gpu), true) => {
                    by_correction(&on_gpu(gpu, case)?, &on_gpu::<f32>(gpu, case)?, case)
                }
                (None, false) => by_gradients(&CpuDirac::<f64>::new(case.gauge())?, case, 0),
                (None, true) => {
                    let narrow = CpuDirac::<f32>::new(case.gauge())?;
                    by_correction(&CpuDirac::<f64>::new(case.gauge())?, &narrow, case)
                }
            }),
        }
    }

    fn compute<R: Stored>(
        &self,
        cases: &[LatticeCase],
        gpu: Option<&Gpu>,
        output: Writer,
        solve: impl Fn(&LatticeCase) -> Result<Results<R>>,
    ) -> Result<()> {
        let mut computed = Vec::new();
        for case in cases {
            let results = solve(case)?;
            self.report(case, &results.solution)?;
            computed.push((case, results));
        }
        let backend = if gpu.is_some() { "gpu" } else { "cpu" };
        lattice::write(output, [R::NAME, backend], &computed)?;
        tracing::info!("wrote {}", self.output.shown());
        Ok(())
    }

    /// Name and value of the tolerance of a case in the precision of the command.
    fn tolerance(&self, case: &LatticeCase) -> (&'static str, f64) {
        match self.precision {
            Precision::F32 => (lattice::OF_SINGLE, case.tolerance[1]),
            Precision::F64 => ("tolerance", case.tolerance[0]),
        }
    }

    fn report<R>(&self, case: &LatticeCase, solution: &Solution<R>) -> Result<()> {
        let Solution { iterations, residual, converged, .. } = *solution;
        if !converged || !residual.is_finite() {
            return Err(lattice::failed(&self.input, case, solution, self.tolerance(case)));
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

fn on_gpu<R: LatticePrecision>(gpu: &Gpu, case: &LatticeCase) -> Result<GpuDirac<R>> {
    GpuDirac::new(gpu, case.gauge(), case.distance)
}

/// Results by conjugate gradients, with the tolerance at this index.
fn by_gradients<R: Stored, D: Dirac<R>>(
    dirac: &D,
    case: &LatticeCase,
    tolerance: usize,
) -> Result<Results<R>> {
    let stop = Stop { tolerance: case.tolerance[tolerance], most: MOST_ITERATIONS };
    let rhs: Vec<R> = case.rhs.iter().map(|&x| R::of(x)).collect();
    results(dirac, case, solve_to_the_residual(dirac, case.kappa, &rhs, stop)?)
}

/// Results by defect correction, with an operator in single precision.
fn by_correction<W: Dirac<f64>, N: Dirac<f32>>(
    wide: &W,
    narrow: &N,
    case: &LatticeCase,
) -> Result<Results<f64>> {
    let stop = Stop { tolerance: case.tolerance[0], most: MOST_ITERATIONS };
    let corrected = defect_correction(wide, narrow, case.kappa, &case.rhs, stop)?;
    results(wide, case, corrected.solution)
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

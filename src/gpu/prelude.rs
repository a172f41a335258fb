//! Constants and structs of all kernels of the project together.

use super::arguments::{ContentsArgs, MarginArgs, OutflowArgs, StepEndArgs, TallyArgs, WaterArgs};
use crate::advection::flux::FluxConstants;
use crate::advection::gpu::TransportArgs;
use crate::device::{constants, structs};
use crate::forcing::gpu::arguments::{BlendArgs, CloseArgs, WeightArgs};
use crate::lattice::gpu::arguments::{SolverArgs, WilsonArgs};
use crate::physics::registry;
use crate::primitives::gpu::arguments::{
    ArithmeticArgs, CsrArgs, DescentArgs, LadderArgs, MemoryArgs, MultigridArgs, ReduceArgs,
    TransposeArgs,
};
use crate::real::Precision;
use crate::state::gpu::budget_region::BudgetRegion;

/// Compile-time settings.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Configuration {
    /// The working precision, `real` in CUDA.
    pub precision: Precision,
    /// Number of levels, `NZ` in CUDA.
    pub nz: usize,
    /// Number of the variant of the usual scheme.
    pub variant: usize,
    /// Further integers by their names in CUDA, such as the size of a tile.
    pub constants: Vec<(String, i32)>,
}

/// The text of all subjects together. No kernel needs it; tests check it for name clashes.
pub fn prelude(configuration: &Configuration) -> String {
    let Configuration { precision, nz, variant, ref constants } = *configuration;
    let others = structs!(
        precision;
        WaterArgs, TallyArgs, TransportArgs, BlendArgs, WeightArgs, CloseArgs, StepEndArgs, ArithmeticArgs,
        TransposeArgs, CsrArgs, ReduceArgs, LadderArgs, ContentsArgs, MarginArgs, OutflowArgs, MemoryArgs,
        WilsonArgs, SolverArgs,
    );
    registry::declarations(precision, nz, variant)
        .with(&constants!(precision; FluxConstants))
        .with(&BudgetRegion::cuda_text())
        .with(&DescentArgs::cuda_text())
        .with(&MultigridArgs::cuda_text())
        .with(&others)
        .with_settings(constants)
        .into_text()
}

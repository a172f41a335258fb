//! The constants and structs that kernels of the weather are given, subject by subject.
//!
//! A subject knows those below it: changing a constant of the microphysics leaves the code of all other
//! kernels as it is.

use super::advection::{LayeredPointers, TransportArgs};
use super::arguments::{
    ArithmeticArgs, BlendArgs, CloseArgs, ContentsArgs, CsrArgs, DescentArgs, LadderArgs,
    MemoryArgs, OutflowArgs, ReduceArgs, StepEndArgs, TallyArgs, TransposeArgs, WaterArgs,
    WeightArgs,
};
use super::lattice::arguments::{SolverArgs, WilsonArgs};
use super::region::Region;
use super::wsm5::{CloudArgs, CloudConstants, DiagnosisArgs};
use super::{mark, notes};
use crate::advection::flux::FluxConstants;
use crate::constants::Constants;
use crate::device::Prelude;
use crate::physics::kessler;
use crate::real::Precision;
use crate::state::SPECIES;
use crate::thermo::{Saturation, TransportConstants};
use crate::wsm5::cell::{Air, Cell, Coefficients, Onset};
use crate::wsm5::fall::{Profile, REACH_ABOVE, REACH_MIN};
use crate::wsm5::ice::{Growth, IceRates};
use crate::wsm5::params::{SchemeConstants, Wsm5Params};
use crate::wsm5::radii::RadiusConstants;
use crate::wsm5::reflectivity::{BINS, Bins, RadarConstants, Target};
use crate::wsm5::slope::Slope;
use crate::wsm5::step::Precipitation;
use crate::wsm5::warm::WarmRates;
use crate::wsm5::{FALLING_SPECIES, Fallout};

/// The text of shared structs, a struct behind those that it holds, in a working precision.
macro_rules! structs {
    ($precision:expr; $($name:ident),+ $(,)?) => {
        match $precision {
            $crate::real::Precision::F32 => [$($name::<f32>::cuda_text()),+].join("\n"),
            $crate::real::Precision::F64 => [$($name::<f64>::cuda_text()),+].join("\n"),
        }
    };
}
pub(super) use structs;

/// The same of traits of constants.
macro_rules! constants {
    ($precision:expr; $($name:ident),+ $(,)?) => {
        match $precision {
            Precision::F32 => [$(<f32 as $name>::cuda_text()),+].concat(),
            Precision::F64 => [$(<f64 as $name>::cuda_text()),+].concat(),
        }
    };
}

/// What all kernels of the weather have: the numbers of levels and of fields that are water, and how the
/// mass of a cell is made up.
pub(super) fn grid(precision: Precision, nz: usize) -> Prelude {
    Prelude::new(precision)
        .with(&format!("constexpr int NZ = {nz};\nconstexpr int WATER_SPECIES = {SPECIES};\n"))
        .with(&structs!(precision; LayeredPointers))
}

/// Names and notes of the kernels of a step.
fn notes() -> String {
    mark::constants() + &notes::constants()
}

/// What the kernels of the transport and of the end of a step have.
pub(super) fn transport(precision: Precision, nz: usize) -> Prelude {
    grid(precision, nz)
        .with(&notes())
        .with(&constants!(precision; FluxConstants))
        .with(&structs!(precision; TransportArgs, TallyArgs, StepEndArgs))
}

/// What the kernels of the microphysics have.
pub(super) fn microphysics(precision: Precision, nz: usize, fallout: Fallout) -> Prelude {
    grid(precision, nz).with(&notes()).with(&scheme(precision)).with(&format!(
        "{}\n{}",
        variants(fallout),
        cells(precision)
    ))
}

/// Constants of the scheme.
fn scheme(precision: Precision) -> String {
    let whole = [
        ("FALLING_SPECIES", FALLING_SPECIES),
        ("REACH_ABOVE", REACH_ABOVE),
        ("REACH_MIN", REACH_MIN),
        ("BINS", BINS),
    ];
    let whole = whole.map(|(name, value)| format!("constexpr int {name} = {value};\n")).concat();
    let constants = constants!(
        precision;
        Constants, TransportConstants, SchemeConstants, RadiusConstants, RadarConstants, CloudConstants,
    );
    constants + &whole
}

/// The variants of sedimentation, and the one that is compiled.
fn variants(fallout: Fallout) -> String {
    let variants = Fallout::ALL.map(|variant| format!("{variant:?}")).join(", ");
    format!(
        "enum class Fallout {{ {variants} }};\nconstexpr Fallout FALLOUT = Fallout::{fallout:?};\n"
    )
}

/// Structs of the scheme.
fn cells(precision: Precision) -> String {
    let values = structs!(
        precision;
        Wsm5Params, Saturation, Slope, Cell, Air, Onset, Coefficients, WarmRates, IceRates, Growth, Profile,
        Precipitation, Target, Bins,
    );
    let arguments = structs!(precision; CloudArgs, DiagnosisArgs);
    [values, Region::cuda_text(), arguments].join("\n")
}

/// What is fixed when kernels are compiled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Configuration {
    /// The working precision, `real` in CUDA.
    pub precision: Precision,
    /// Number of levels, `NZ` in CUDA.
    pub nz: usize,
    /// The variant of the microphysics, `FALLOUT` in CUDA.
    pub fallout: Fallout,
    /// Further numbers by their names in CUDA, such as the size of a tile.
    pub constants: Vec<(String, i32)>,
}

/// The text of all subjects together, which no kernel needs: for tests of what they share.
pub fn prelude(configuration: &Configuration) -> String {
    let Configuration { precision, nz, fallout, ref constants } = *configuration;
    let others = structs!(
        precision;
        WaterArgs, TallyArgs, TransportArgs, BlendArgs, WeightArgs, CloseArgs, StepEndArgs, ArithmeticArgs,
        TransposeArgs, CsrArgs, DescentArgs, ReduceArgs, LadderArgs, ContentsArgs, OutflowArgs, MemoryArgs,
        WilsonArgs, SolverArgs,
    );
    microphysics(precision, nz, fallout)
        .with(&constants!(precision; FluxConstants))
        .with(&kessler::gpu::declarations(precision))
        .with(&others)
        .with_settings(constants)
        .into_text()
}

//! The text that stands before every kernel: working precision, constants, structs, settings.

use std::fmt::Write;

use super::advection::{LayeredPointers, TransportArgs};
use super::arguments::{
    ArithmeticArgs, BlendArgs, CloseArgs, ContentsArgs, CsrArgs, DescentArgs, LadderArgs,
    MemoryArgs, OutflowArgs, ReduceArgs, StepEndArgs, TallyArgs, TransposeArgs, WaterArgs,
    WeightArgs,
};
use super::lattice::arguments::{SolverArgs, WilsonArgs};
use super::region::Region;
use super::wsm5::{CloudArgs, CloudConstants, DiagnosisArgs};
use super::{WARP, mark, notes};
use crate::advection::flux::FluxConstants;
use crate::constants::Constants;
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

/// No kernel uses all constants, and NVRTC would name each that one leaves alone.
const NO_WARNINGS: &str = "#ifdef __CUDACC_RTC__\n#pragma nv_diag_suppress 177\n#endif\n";

/// The text for a configuration.
pub fn prelude(configuration: &Configuration) -> String {
    let Configuration { precision, nz, fallout, constants } = configuration;
    let shared = match precision {
        Precision::F32 => shared::<f32>("float"),
        Precision::F64 => shared::<f64>("double"),
    };
    let variants = Fallout::ALL.map(|variant| format!("{variant:?}")).join(", ");
    let mut text = format!(
        "{NO_WARNINGS}{shared}\n// Settings\nenum class Fallout {{ {variants} }};\n\
         constexpr Fallout FALLOUT = Fallout::{fallout:?};\nconstexpr int NZ = {nz};\n"
    );
    for (name, value) in constants {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "constexpr int {name} = {value};");
    }
    text
}

/// Whole numbers that kernels share with Rust.
const WHOLE_NUMBERS: [(&str, usize); 6] = [
    ("WARP", WARP),
    ("WATER_SPECIES", SPECIES),
    ("FALLING_SPECIES", FALLING_SPECIES),
    ("REACH_ABOVE", REACH_ABOVE),
    ("REACH_MIN", REACH_MIN),
    ("BINS", BINS),
];

/// What does not depend on the settings.
fn shared<R: CloudConstants + FluxConstants + RadarConstants + RadiusConstants>(
    real: &str,
) -> String {
    let whole = WHOLE_NUMBERS.map(|(name, value)| format!("constexpr int {name} = {value};\n"));
    let constants = [
        <R as Constants>::cuda_text(),
        <R as TransportConstants>::cuda_text(),
        <R as SchemeConstants>::cuda_text(),
        <R as RadiusConstants>::cuda_text(),
        <R as RadarConstants>::cuda_text(),
        <R as FluxConstants>::cuda_text(),
        <R as CloudConstants>::cuda_text(),
    ];
    // A struct stands behind those that it holds.
    let structs = [
        Wsm5Params::<R>::cuda_text(),
        Saturation::<R>::cuda_text(),
        Slope::<R>::cuda_text(),
        Cell::<R>::cuda_text(),
        Air::<R>::cuda_text(),
        Onset::<R>::cuda_text(),
        Coefficients::<R>::cuda_text(),
        WarmRates::<R>::cuda_text(),
        IceRates::<R>::cuda_text(),
        Growth::<R>::cuda_text(),
        Profile::<R>::cuda_text(),
        Precipitation::<R>::cuda_text(),
        Target::<R>::cuda_text(),
        Bins::<R>::cuda_text(),
        LayeredPointers::<R>::cuda_text(),
        Region::cuda_text(),
        CloudArgs::<R>::cuda_text(),
        TransportArgs::<R>::cuda_text(),
        WaterArgs::<R>::cuda_text(),
        TallyArgs::<R>::cuda_text(),
        BlendArgs::<R>::cuda_text(),
        WeightArgs::<R>::cuda_text(),
        CloseArgs::<R>::cuda_text(),
        StepEndArgs::<R>::cuda_text(),
        DiagnosisArgs::<R>::cuda_text(),
        ArithmeticArgs::<R>::cuda_text(),
        TransposeArgs::<R>::cuda_text(),
        CsrArgs::<R>::cuda_text(),
        DescentArgs::<R>::cuda_text(),
        ReduceArgs::<R>::cuda_text(),
        LadderArgs::<R>::cuda_text(),
        ContentsArgs::<R>::cuda_text(),
        OutflowArgs::<R>::cuda_text(),
        MemoryArgs::<R>::cuda_text(),
        WilsonArgs::<R>::cuda_text(),
        SolverArgs::<R>::cuda_text(),
    ];
    format!(
        "typedef {real} real;\n\n// Constants\n{}{}\n// Structs\n{}",
        constants.concat(),
        whole.concat() + &mark::constants() + &notes::constants(),
        structs.join("\n"),
    )
}

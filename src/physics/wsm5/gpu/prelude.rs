//! Constants and structs of the kernels of the microphysics: a change recompiles these kernels only.

use super::column_map::Region;
use super::{DiagnosisArgs, KERNELS, KernelConstants, Wsm5Args};
use crate::constants::Constants;
use crate::device::{Prelude, constants, structs};
use crate::physics::wsm5::cell::{Air, Cell, Coefficients, StepStart};
use crate::physics::wsm5::ice::{Growth, IceRates};
use crate::physics::wsm5::params::{SchemeConstants, Wsm5Params};
use crate::physics::wsm5::radii::RadiusConstants;
use crate::physics::wsm5::reflectivity::{BINS, Bins, RadarConstants, Target};
use crate::physics::wsm5::sedimentation::{LayerProfile, REACH_ABOVE, REACH_MIN};
use crate::physics::wsm5::slope::Slope;
use crate::physics::wsm5::step::Precipitation;
use crate::physics::wsm5::warm::WarmRates;
use crate::physics::wsm5::{FALLING_SPECIES, Sedimentation};
use crate::real::Precision;
use crate::state::gpu::kernel_id;
use crate::state::gpu::prelude::{grid, notes};
use crate::thermo::{Saturation, TransportConstants};

/// Prelude of the kernels of the microphysics.
pub(crate) fn microphysics(precision: Precision, nz: usize, fallout: Sedimentation) -> Prelude {
    let arguments = structs!(precision; Wsm5Args, DiagnosisArgs);
    formulas(precision, nz, fallout, &KERNELS, FALLING_SPECIES, false).with(&arguments)
}

/// Prelude of these kernels without their arguments: constants and structs of the formulas, which other schemes have
/// too, with their number of species that sediment by themselves, and with a correctly rounded quotient in saturation
/// if asked for.
pub(crate) fn formulas(
    precision: Precision,
    nz: usize,
    fallout: Sedimentation,
    kernels: &[&str],
    falling: usize,
    exact_saturation: bool,
) -> Prelude {
    let ids = kernel_id::constants_of(kernels);
    let exact = format!("constexpr bool EXACT_SATURATION = {exact_saturation};\n");
    grid(precision, nz).with(&notes()).with(&ids).with(&scheme(precision, falling)).with(&format!(
        "{exact}{}\n{}",
        variants(fallout),
        cells(precision)
    ))
}

/// Constants of the scheme.
fn scheme(precision: Precision, falling: usize) -> String {
    let whole = [
        ("FALLING_SPECIES", falling),
        ("REACH_ABOVE", REACH_ABOVE),
        ("REACH_MIN", REACH_MIN),
        ("BINS", BINS),
    ];
    let whole = whole.map(|(name, value)| format!("constexpr int {name} = {value};\n")).concat();
    let constants = constants!(
        precision;
        Constants, TransportConstants, SchemeConstants, RadiusConstants, RadarConstants, KernelConstants,
    );
    constants + &whole
}

/// The variants of sedimentation, and the one that is compiled.
fn variants(fallout: Sedimentation) -> String {
    let variants = Sedimentation::ALL.map(|variant| format!("{variant:?}")).join(", ");
    format!(
        "enum class Sedimentation {{ {variants} }};\nconstexpr Sedimentation FALLOUT = Sedimentation::{fallout:?};\n"
    )
}

/// Structs of the scheme.
fn cells(precision: Precision) -> String {
    let values = structs!(
        precision;
        Wsm5Params, Saturation, Slope, Cell, Air, StepStart, Coefficients, WarmRates, IceRates, Growth, LayerProfile,
        Precipitation, Target, Bins,
    );
    [values, Region::cuda_text()].join("\n")
}

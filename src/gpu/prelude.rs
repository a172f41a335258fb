//! The text that stands before every kernel: working precision, constants, structs, settings.

use std::fmt::Write;

use crate::constants::Constants;
use crate::gpu::wsm5::{CloudArgs, CloudConstants};
use crate::real::Precision;
use crate::thermo::TransportConstants;
use crate::wsm5::Fallout;
use crate::wsm5::params::{SchemeConstants, Wsm5Params};
use crate::wsm5::radii::RadiusConstants;
use crate::wsm5::reflectivity::RadarConstants;

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

/// The text for a configuration.
pub fn prelude(configuration: &Configuration) -> String {
    let Configuration { precision, nz, fallout, constants } = configuration;
    let shared = match precision {
        Precision::F32 => shared::<f32>("float"),
        Precision::F64 => shared::<f64>("double"),
    };
    let variants = Fallout::ALL.map(|variant| format!("{variant:?}")).join(", ");
    let mut text = format!(
        "{shared}\n// Settings\nenum class Fallout {{ {variants} }};\n\
         constexpr Fallout FALLOUT = Fallout::{fallout:?};\nconstexpr int NZ = {nz};\n"
    );
    for (name, value) in constants {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "constexpr int {name} = {value};");
    }
    text
}

/// What does not depend on the settings.
fn shared<R: RadarConstants + RadiusConstants + CloudConstants>(real: &str) -> String {
    [
        format!("typedef {real} real;\n"),
        "\n// Constants\n".to_owned(),
        <R as Constants>::cuda_text(),
        <R as TransportConstants>::cuda_text(),
        <R as SchemeConstants>::cuda_text(),
        <R as RadiusConstants>::cuda_text(),
        <R as RadarConstants>::cuda_text(),
        <R as CloudConstants>::cuda_text(),
        "\n".to_owned(),
        Wsm5Params::<R>::cuda_text(),
        CloudArgs::<R>::cuda_text(),
    ]
    .concat()
}

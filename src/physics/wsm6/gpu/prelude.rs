//! Constants and structs of the kernels of the microphysics.

use super::{KERNELS, LANDING_SPECIES, Wsm6Args, Wsm6DiagnosisArgs};
use crate::device::{Prelude, constants, structs};
use crate::physics::wsm5::gpu::prelude::formulas;
use crate::physics::wsm5::{FALLING_SPECIES, Sedimentation};
use crate::physics::wsm6::balance::Targets;
use crate::physics::wsm6::cell::{Wsm6Cell, Wsm6Coefficients};
use crate::physics::wsm6::collection::Collision;
use crate::physics::wsm6::ice::Wsm6IceRates;
use crate::physics::wsm6::params::{GraupelParams, Wsm6Constants, Wsm6Params};
use crate::physics::wsm6::reflectivity::Wsm6Target;
use crate::physics::wsm6::step::Wsm6Precipitation;
use crate::real::Precision;

/// Prelude of the kernels of the microphysics.
pub(super) fn microphysics(precision: Precision, nz: usize) -> Prelude {
    let fallout = Sedimentation::SemiLagrangian;
    // Graupel and snow may nearly all evaporate in a call.
    let common = formulas(precision, nz, fallout, &KERNELS, FALLING_SPECIES, true);
    common.with(&declarations(precision))
}

/// Constants and structs that WSM5 does not have.
pub(crate) fn declarations(precision: Precision) -> String {
    let whole = format!("constexpr int LANDING_SPECIES = {LANDING_SPECIES};\n");
    let values = structs!(
        precision;
        GraupelParams, Wsm6Params, Wsm6Cell, Wsm6Coefficients, Collision, Wsm6IceRates, Targets, Wsm6Precipitation,
        Wsm6Target, Wsm6Args, Wsm6DiagnosisArgs,
    );
    [constants!(precision; Wsm6Constants), whole, values].join("\n")
}

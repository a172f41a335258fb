//! The microphysics on the device: launch configurations, compile-time variants and arguments of its kernels.
//!
//! The mapping of columns to threads is that of WSM5's tiles ([`crate::physics::wsm5::gpu`]), and so are the kernels but
//! for what the schemes have of their own: `kernels/physics/tile`.
//!
//! # Decisions
//!
//! **Graupel falls with snow, and lands after it.** Both have one terminal velocity, so that their layers arrive at the
//! same heights: the work of snow serves both, up to the profiles in the arrived layers. In columns without graupel, which
//! are most, nothing of it is computed.
//!
//! **Rates of collection begin with a branch.** Few cells have any two of ice, rain, snow and graupel, and neighbours in
//! the list of active cells are alike. The rates that WSM5 has too are computed in every cell and selected.

#![allow(unsafe_code, reason = "the launcher of a kernel is responsible for its arguments")]

pub mod kernels;
pub(crate) mod prelude;

use crate::cuda_abi::{DevicePointer, ReadPointer, shared_struct};
use crate::dry_mass::gpu::LayeredPointers;
use crate::physics::wsm5::FALLING_SPECIES;
use crate::physics::wsm5::gpu::column_map::Region;
use crate::physics::wsm5::gpu::tile::TileContents;
use crate::physics::wsm5::reflectivity::Bins;
use crate::physics::wsm6::params::Wsm6Params;

shared_struct! {
    /// Arguments of the kernels of the microphysics.
    ///
    /// Fields have shape (nz, ny, nx), planes at the ground (ny, nx). Members that a kernel reads first stand first,
    /// since the kernel waits for every cache line of its arguments.
    pub struct Wsm6Args<R> {
        /// Word for the mark of a kernel that has begun; null if marks are off.
        marks: DevicePointer<u64>, "1";
        /// Number of minor steps.
        minor_steps: i32, "1";
        /// The columns that threads process; a kernel may be compiled for one region.
        region: Region, "1";
        /// Potential temperature less `theta_base`; input and output, as are the six below.
        theta: DevicePointer<R>, "K";
        /// Vapour.
        qv: DevicePointer<R>, "kg kg⁻¹";
        /// Cloud water.
        qc: DevicePointer<R>, "kg kg⁻¹";
        /// Rain.
        qr: DevicePointer<R>, "kg kg⁻¹";
        /// Cloud ice.
        qi: DevicePointer<R>, "kg kg⁻¹";
        /// Snow.
        qs: DevicePointer<R>, "kg kg⁻¹";
        /// Graupel.
        qg: DevicePointer<R>, "kg kg⁻¹";
        /// Density of dry air.
        rho: ReadPointer<R>, "kg m⁻³";
        /// Exner function.
        exner: ReadPointer<R>, "1";
        /// Pressure.
        p: ReadPointer<R>, "Pa";
        /// Depth of the layers.
        dz: ReadPointer<R>, "m";
        /// Precipitation; added to.
        rain: DevicePointer<R>, "mm";
        /// Water that has reached the ground in the call; set.
        fallen: DevicePointer<R>, "kg m⁻²";
        /// Precipitation of the call; set.
        rainncv: DevicePointer<R>, "mm";
        /// Snow and ice; added to.
        snow: DevicePointer<R>, "mm";
        /// Snow and ice of the call; set.
        snowncv: DevicePointer<R>, "mm";
        /// Graupel; added to.
        graupel: DevicePointer<R>, "mm";
        /// Graupel of the call; set.
        graupelncv: DevicePointer<R>, "mm";
        /// Frozen fraction of the call; set.
        sr: DevicePointer<R>, "1";
        /// Water that sedimentation has created in the call; set.
        fall_residual: DevicePointer<R>, "kg m⁻²";
        /// Water that clipping at zero has added in the call; set.
        clipped: DevicePointer<R>, "kg m⁻²";
        /// Mass mismatch: water that the changes lose or create, since the dry mass of a cell is not rho dz; set if
        /// `mass` is given.
        mass_mismatch: DevicePointer<R>, "kg m⁻²";
        /// Dry mass of the cells; null without a mass mismatch.
        mass: LayeredPointers<R>, "kg";
        /// Reciprocal area of the cells.
        per_area: ReadPointer<R>, "m⁻²";
        /// Word for a note of a value that is not finite; null if notes are off.
        notes: DevicePointer<u64>, "1";
        /// Parameters of the scheme.
        params: Wsm6Params<R>, "1";
        /// Potential temperature less `theta`.
        theta_base: R, "K";
        /// Length of a minor step.
        dt_cloud: R, "s";
        /// Index of this step in its batch, for notes of values that are not finite.
        step: i32, "1";
        /// Index of `theta` among the fields of all states.
        theta_number: i32, "1";
        /// Index of `qv` among them; the other species follow.
        water_number: i32, "1";
        /// Padding.
        filler: i32, "1";
    }
}

shared_struct! {
    /// Arguments of the kernel that diagnoses reflectivity and radii.
    pub struct Wsm6DiagnosisArgs<R> {
        /// The cells; only read. Planes at the ground are not read.
        cloud: Wsm6Args<R>, "1";
        /// Reflectivity at 10 cm; set, as the three below.
        refl_10cm: DevicePointer<R>, "dBZ";
        /// Effective radius of cloud drops.
        re_cloud: DevicePointer<R>, "m";
        /// Effective radius of ice crystals.
        re_ice: DevicePointer<R>, "m";
        /// Effective radius of snow.
        re_snow: DevicePointer<R>, "m";
        /// Size bins of melting snow.
        snow_bins: Bins<R>, "1";
        /// Size bins of melting graupel.
        graupel_bins: Bins<R>, "1";
    }
}

/// Names of the kernels of a call.
pub(crate) const KERNELS: [&str; 1] = ["wsm6_tile"];
/// Its file, below `kernels/`.
const FILE: &str = "physics/wsm6/tile.cu";
/// File and name of the kernel of the diagnosis.
const DIAGNOSIS: [&str; 2] = ["physics/wsm6/diagnose.cu", "wsm6_diagnose"];

/// Species that reach the ground: those that sediment by themselves, and graupel.
const LANDING_SPECIES: usize = FALLING_SPECIES + 1;

/// Contents of a tile.
pub const CONTENTS: TileContents = TileContents {
    fields: 11,
    empty: 0,
    falling: FALLING_SPECIES,
    landing: LANDING_SPECIES,
    sums: 6,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::wsm5::gpu::{DEVICE_LEVELS, Tile};
    use crate::real::Precision;

    /// Every number of levels and precision gets a tile that the kernel can be compiled for.
    #[test]
    fn every_tile_that_is_chosen_is_possible() {
        for nz in DEVICE_LEVELS {
            for precision in [Precision::F32, Precision::F64] {
                for columns in [1, usize::MAX] {
                    let tile = Tile::choose(columns, precision, CONTENTS, nz);
                    assert!(tile.is_possible(precision, CONTENTS, nz), "{tile:?}, {nz} levels");
                }
            }
        }
    }
}

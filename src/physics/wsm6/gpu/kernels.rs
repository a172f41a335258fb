//! The kernels of WSM6: their sources and their arguments.

use super::{CONTENTS, DIAGNOSIS, FILE, KERNELS, Wsm6Args, Wsm6DiagnosisArgs, prelude};
use crate::cuda_abi::DevicePointer;
use crate::device::KernelSource;
use crate::physics::scheme::About;
use crate::physics::wsm5::gpu::column_map::Region;
use crate::physics::wsm5::gpu::launch::{MicrophysicsCall, MicrophysicsKernels};
use crate::physics::wsm5::gpu::tuning::TileMappings;
use crate::physics::wsm5::gpu::{KernelVariant, Mapping, Tile, diagnosis};
use crate::physics::wsm6::reflectivity::MeltingBins;
use crate::physics::wsm6::scheme::Scheme;
use crate::physics::wsm6::{ABOUT, Vectorised};
use crate::real::Precision;

/// The mappings of its kernels.
pub static MAPPINGS: TileMappings =
    TileMappings { knob: "wsm6", contents: CONTENTS, has_columns: false };

/// The tile of calls of one minor step, or of several: these keep more between the steps, and get more registers from
/// fewer blocks.
fn of_calls(tile: Tile, is_short: bool) -> Tile {
    let blocks = if is_short { tile.blocks } else { (3 * tile.blocks / 4).max(1) };
    Tile { blocks, ..tile }
}

impl<R: Vectorised> MicrophysicsKernels<R> for Scheme<R> {
    type Args = Wsm6Args<R>;
    type DiagnosisArgs = Wsm6DiagnosisArgs<R>;
    type Bins = MeltingBins<R>;

    const KERNELS: &'static [&'static str] = &KERNELS;
    const DIAGNOSIS: &'static str = DIAGNOSIS[1];

    fn about() -> &'static About {
        &ABOUT
    }

    fn mappings(&self) -> &'static TileMappings {
        &MAPPINGS
    }

    fn mapping_of_calls(mapping: Mapping, is_short: bool) -> Mapping {
        match mapping {
            Mapping::Tile(tile) => Mapping::Tile(of_calls(tile, is_short)),
            Mapping::Column => mapping,
        }
    }

    fn kernel(_mapping: Mapping) -> &'static str {
        KERNELS[0]
    }

    fn source(
        &self,
        precision: Precision,
        nz: usize,
        mapping: Mapping,
        variant: KernelVariant,
    ) -> KernelSource {
        let Mapping::Tile(tile) = mapping else { unreachable!("a mapping of the scheme") };
        let switches = [
            ("ONE_STEP", i32::from(variant.is_short)),
            ("TRACK_MISMATCH", i32::from(variant.tracks_mismatch)),
        ];
        let tile = of_calls(tile, variant.is_short).constants(precision, CONTENTS, nz);
        let tile = tile.map(|(name, value)| (name, value as i32));
        let settings = tile.into_iter().chain(switches).chain(Region::constants(variant.region));
        let settings: Vec<_> = settings.collect();
        KernelSource::new(FILE, prelude::microphysics(precision, nz).with_settings(&settings))
    }

    fn diagnosis_source(&self, precision: Precision, nz: usize) -> KernelSource {
        let prelude = prelude::microphysics(precision, nz);
        KernelSource::new(DIAGNOSIS[0], prelude.with_settings(&diagnosis::constants()))
    }

    fn args(&self, call: &MicrophysicsCall<'_, R>) -> Wsm6Args<R> {
        let fields = call.fields;
        let [theta, qv, qc, qr, qi, qs, qg] = fields.state[..] else {
            panic!("the fields of WSM6")
        };
        let [rho, exner, p, dz] = fields.air[..] else { panic!("the air of WSM6") };
        let [rain, rainncv, snow, snowncv, graupel, graupelncv, sr] = fields.planes[..] else {
            panic!("the planes of WSM6")
        };
        let [fallen, fall_residual, clipped, mass_mismatch] = fields.terms;
        Wsm6Args {
            marks: call.marks,
            minor_steps: call.minor_steps,
            region: call.region,
            theta,
            qv,
            qc,
            qr,
            qi,
            qs,
            qg,
            rho,
            exner,
            p,
            dz,
            rain,
            fallen,
            rainncv,
            snow,
            snowncv,
            graupel,
            graupelncv,
            sr,
            fall_residual,
            clipped,
            mass_mismatch,
            mass: call.mass,
            per_area: call.per_area,
            notes: call.notes,
            params: self.params,
            theta_base: call.theta_base,
            dt_cloud: call.dt_cloud,
            step: call.step,
            theta_number: call.theta_number,
            water_number: call.water_number,
            filler: 0,
        }
    }

    fn diagnosis_args(
        cloud: Wsm6Args<R>,
        bins: &MeltingBins<R>,
        [refl_10cm, re_cloud, re_ice, re_snow]: [DevicePointer<R>; 4],
    ) -> Wsm6DiagnosisArgs<R> {
        let MeltingBins { snow: snow_bins, graupel: graupel_bins } = *bins;
        Wsm6DiagnosisArgs { cloud, refl_10cm, re_cloud, re_ice, re_snow, snow_bins, graupel_bins }
    }
}

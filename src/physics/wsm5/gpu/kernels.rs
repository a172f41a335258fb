//! The kernels of WSM5: their sources and their arguments.

use super::launch::{MicrophysicsCall, MicrophysicsGpu, MicrophysicsKernels};
use super::tuning::TileMappings;
use super::{DiagnosisArgs, KERNELS, KernelVariant, Mapping, Wsm5Args, diagnosis, prelude};
use crate::cuda_abi::DevicePointer;
use crate::device::KernelSource;
use crate::physics::scheme::About;
use crate::physics::wsm5::reflectivity::Bins;
use crate::physics::wsm5::scheme::Scheme;
use crate::physics::wsm5::{ABOUT, Sedimentation, Vectorised};
use crate::real::Precision;

/// WSM5 of one grid.
pub type Wsm5Gpu<R> = MicrophysicsGpu<R, Scheme<R>>;

/// Source and settings of the kernel of a call.
pub fn source(
    precision: Precision,
    nz: usize,
    fallout: Sedimentation,
    mapping: Mapping,
    variant: KernelVariant,
) -> KernelSource {
    with_settings(
        mapping.file(),
        precision,
        nz,
        fallout,
        &mapping.constants(precision, nz, fallout, variant),
    )
}

/// Source and settings of the kernel of the diagnosis.
pub fn diagnosis_source(precision: Precision, nz: usize, fallout: Sedimentation) -> KernelSource {
    with_settings(diagnosis::FILE, precision, nz, fallout, &diagnosis::constants())
}

fn with_settings(
    file: &'static str,
    precision: Precision,
    nz: usize,
    fallout: Sedimentation,
    constants: &[(String, i32)],
) -> KernelSource {
    let prelude = prelude::microphysics(precision, nz, fallout).with_settings(constants);
    KernelSource::new(file, prelude)
}

impl<R: Vectorised> MicrophysicsKernels<R> for Scheme<R> {
    type Args = Wsm5Args<R>;
    type DiagnosisArgs = DiagnosisArgs<R>;
    type Bins = Bins<R>;

    const KERNELS: &'static [&'static str] = &KERNELS;
    const DIAGNOSIS: &'static str = diagnosis::KERNEL;

    fn about() -> &'static About {
        &ABOUT
    }

    fn mappings(&self) -> &'static TileMappings {
        self.fallout.into()
    }

    fn kernel(mapping: Mapping) -> &'static str {
        mapping.kernel()
    }

    fn source(
        &self,
        precision: Precision,
        nz: usize,
        mapping: Mapping,
        variant: KernelVariant,
    ) -> KernelSource {
        source(precision, nz, self.fallout, mapping, variant)
    }

    fn diagnosis_source(&self, precision: Precision, nz: usize) -> KernelSource {
        diagnosis_source(precision, nz, self.fallout)
    }

    fn args(&self, call: &MicrophysicsCall<'_, R>) -> Wsm5Args<R> {
        let fields = call.fields;
        let [theta, qv, qc, qr, qi, qs] = fields.state[..] else { panic!("the fields of WSM5") };
        let [rho, exner, p, dz] = fields.air[..] else { panic!("the air of WSM5") };
        let [rain, rainncv, snow, snowncv, sr] = fields.planes[..] else {
            panic!("the planes of WSM5")
        };
        let [fallen, fall_residual, clipped, mass_mismatch] = fields.terms;
        Wsm5Args {
            marks: call.marks,
            minor_steps: call.minor_steps,
            region: call.region,
            theta,
            qv,
            qc,
            qr,
            qi,
            qs,
            rho,
            exner,
            p,
            dz,
            rain,
            fallen,
            rainncv,
            snow,
            snowncv,
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
        cloud: Wsm5Args<R>,
        bins: &Bins<R>,
        [refl_10cm, re_cloud, re_ice, re_snow]: [DevicePointer<R>; 4],
    ) -> DiagnosisArgs<R> {
        DiagnosisArgs { cloud, refl_10cm, re_cloud, re_ice, re_snow, bins: *bins }
    }
}

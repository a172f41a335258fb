//! The microphysics on the device: its memory and its launches (`nwp_mini::physics::wsm5` on the GPU).

pub use crate::state::gpu::device_fields::{ActiveColumns, DeviceFields, FieldPointers, planes_of};
pub use crate::state::gpu::member_layout::MemberLayout;

use std::sync::{Arc, OnceLock};

use super::{prelude, tuning};
use crate::cuda_abi::DevicePointer;
use crate::device::{Branch, Buffer, Element, Gpu, Kernel, KernelSource, Launch, Resources};
use crate::dry_mass::gpu::LayeredPointers;
use crate::error::{Advice, Error, Result};
use crate::grid::gpu::Layout;
use crate::physics::check_length;
use crate::physics::wsm5::gpu::column_map::Region;
use crate::physics::wsm5::gpu::{
    DEVICE_LEVELS, DiagnosisArgs, KernelVariant, Mapping, Tile, Wsm5Args, diagnosis,
};
use crate::physics::wsm5::minor_steps;
use crate::physics::wsm5::params::SchemeConstants;
use crate::physics::wsm5::reflectivity::{Bins, RadarConstants};
use crate::physics::wsm5::scheme::Scheme;
use crate::physics::wsm5::{ABOUT, Sedimentation};
use crate::real::Precision;
use crate::state::gpu::kernel_id;
use crate::state::gpu::step_in_batch::StepInBatch;

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

/// Variant of the kernel for calls in a region of a grid.
pub fn variant_for(
    layout: Layout,
    inside: &ActiveColumns,
    mapping: Mapping,
    is_short: bool,
    tracks_mismatch: bool,
) -> KernelVariant {
    let region = region_of(layout, inside, mapping.together());
    let region = mapping.is_made_for(region.count as usize).then_some(region);
    KernelVariant { is_short, tracks_mismatch, region }
}

/// The columns that threads process, in groups of `together`.
fn region_of(
    layout: Layout,
    ActiveColumns { rows, columns }: &ActiveColumns,
    together: usize,
) -> Region {
    let in_memory = [layout.shape.ny, layout.pitch()];
    Region::within(in_memory, rows.clone(), layout.places(columns.clone()), together)
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

impl Mapping {
    /// The mapping for a number of columns on a device: the measured one, or the built-in one.
    pub fn for_device(
        gpu: &Gpu,
        columns: usize,
        precision: Precision,
        fallout: Sedimentation,
        nz: usize,
    ) -> Self {
        tuning::measured(gpu, precision, fallout, nz, columns)
            .unwrap_or_else(|| Self::choose(columns, precision, fallout, nz))
    }
}

/// Returns `true` if a call of `dt` seconds has one minor step.
fn is_short<R: SchemeConstants>(dt: R) -> bool {
    minor_steps(dt) == R::ONE
}

/// Kernels of a call, each compiled on first use.
#[derive(Debug, Default)]
struct CallKernels {
    /// For calls of one minor step.
    short: OnceLock<Kernel>,
    /// For calls of several minor steps.
    long: OnceLock<Kernel>,
}

/// The microphysics of one grid.
#[derive(Clone, Debug)]
pub struct Wsm5Gpu<R> {
    gpu: Gpu,
    calls: Arc<CallKernels>,
    diagnose: Kernel,
    layout: Layout,
    inside: ActiveColumns,
    mapping: Mapping,
    /// `true` if the fields of the state are parts of one array, and those of the air of another: kernels that are
    /// compiled for a region find one from the other.
    fields_adjoin: bool,
    theta_base: R,
    scheme: Scheme<R>,
    bins: Bins<R>,
    mass: LayeredPointers<R>,
    per_area: Option<Arc<Buffer<R>>>,
    marks: DevicePointer<u64>,
    notes: DevicePointer<u64>,
    indices: MemberLayout,
}

impl<R: SchemeConstants + RadarConstants + Element> Wsm5Gpu<R> {
    /// Compiles the kernel of the diagnosis for a grid; kernels of calls are compiled on first use, or by
    /// [`Wsm5Gpu::prepare`].
    ///
    /// `theta_base` is added to the field of potential temperature.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`], as all below, and [`Error::Usage`] if the length of calls is not positive; also for more cells
    /// than kernels can count, and for unsupported numbers of levels.
    pub fn new(
        gpu: &Gpu,
        layout: Layout,
        inside: ActiveColumns,
        scheme: Scheme<R>,
        mapping: Mapping,
        theta_base: R,
    ) -> Result<Self> {
        let shape = layout.shape;
        if !DEVICE_LEVELS.contains(&shape.nz) {
            let [least, most] = [DEVICE_LEVELS.start(), DEVICE_LEVELS.end()];
            return Err(Error::Gpu(format!(
                "the microphysics on the GPU takes {least} to {most} levels, the grid has {}",
                shape.nz
            ))
            .advise(Advice::UseCpu));
        }
        if layout.cells() > i32::MAX as usize {
            return Err(Error::Gpu(format!(
                "a grid of {shape} cells is too large: the WSM5 kernels number at most {}",
                i32::MAX
            ))
            .advise(Advice::UseSmallerGridOrCpu));
        }
        let diagnosis_source = diagnosis_source(R::PRECISION, shape.nz, scheme.fallout);
        let diagnose = gpu.module(&diagnosis_source)?.kernel(diagnosis::KERNEL)?;
        let bins = Bins::default();
        let (mass, per_area) = (LayeredPointers::default(), None);
        Ok(Self {
            gpu: gpu.clone(),
            calls: Arc::default(),
            diagnose,
            layout,
            inside,
            mapping,
            fields_adjoin: true,
            theta_base,
            scheme,
            bins,
            mass,
            per_area,
            marks: DevicePointer::default(),
            notes: DevicePointer::default(),
            indices: MemberLayout::alone(&ABOUT.set()),
        })
    }

    /// The same for fields in arrays of their own, of which nothing beside the columns of the region is touched.
    pub(super) fn for_separate_arrays(&self) -> Self {
        Self { fields_adjoin: false, calls: Arc::default(), ..self.clone() }
    }

    /// Columns that threads process in groups: those beside the region that fill up memory sectors are not those of
    /// somebody else's arrays.
    fn together(&self) -> usize {
        if self.fields_adjoin { self.mapping.together() } else { 1 }
    }

    /// Compiles the kernel for calls of `dt` seconds if necessary. It must be called before such a call is recorded in
    /// a graph.
    ///
    /// # Errors
    ///
    /// As [`Wsm5Gpu::new`].
    pub fn prepare(&self, dt: f64) -> Result<()> {
        self.kernel(is_short(R::of(dt))).map(drop)
    }

    fn kernel(&self, is_short: bool) -> Result<&Kernel> {
        let Self { gpu, calls, layout, inside, mapping, scheme, .. } = self;
        let place = if is_short { &calls.short } else { &calls.long };
        if let Some(kernel) = place.get() {
            return Ok(kernel);
        }
        let variant = variant_for(*layout, inside, *mapping, is_short, self.per_area.is_some());
        let region = variant.region.filter(|_| self.fields_adjoin);
        let variant = KernelVariant { region, ..variant };
        let source = source(R::PRECISION, layout.shape.nz, scheme.fallout, *mapping, variant);
        let kernel = kernel_id::kernel(&gpu.module(&source)?, mapping.kernel())?;
        let kernel = match mapping {
            Mapping::Column => kernel,
            Mapping::Tile(Tile { threads, blocks, .. }) => {
                kernel.with_blocks(*threads as u32, *blocks as u32)?
            }
        };
        Ok(place.get_or_init(|| kernel))
    }

    /// The same with other parameters, for one of several states in an array (ensemble members).
    ///
    /// # Panics
    ///
    /// When the other scheme is of another variant, which needs other kernels.
    pub fn of_state(&self, scheme: Scheme<R>, indices: MemberLayout) -> Self {
        assert_eq!(scheme.fallout, self.scheme.fallout, "the variant of the kernels");
        Self { scheme, indices, ..self.clone() }
    }

    /// Enables the mass mismatch of calls.
    ///
    /// `area` is the area of the cells, m², row by row; the memory that `mass` points to must outlive this value.
    ///
    /// # Errors
    ///
    /// As [`Wsm5Gpu::new`].
    ///
    /// # Panics
    ///
    /// When the number of areas is not that of all columns.
    pub fn track_mass_mismatch(
        &mut self,
        gpu: &Gpu,
        mass: LayeredPointers<R>,
        area: &[f64],
    ) -> Result<()> {
        assert_eq!(area.len(), self.layout.shape.columns(), "the area of all columns");
        let per_area: Vec<R> = area.iter().map(|area| R::of(1.0 / area)).collect();
        (self.mass, self.per_area) =
            (mass, Some(Arc::new(gpu.upload(&self.layout.padded(&per_area))?)));
        self.calls = Arc::default();
        Ok(())
    }

    /// Enables marks of kernels that have begun and notes of values that are not finite; the memory of `marks` and
    /// `notes` must outlive this value.
    pub(crate) fn note(&mut self, marks: DevicePointer<u64>, notes: DevicePointer<u64>) {
        (self.marks, self.notes) = (marks, notes);
    }

    /// Mapping of columns to threads.
    pub fn mapping(&self) -> Mapping {
        self.mapping
    }

    /// Resources of the kernels: that of a call of `dt` seconds and that of the diagnosis.
    ///
    /// # Errors
    ///
    /// As [`Wsm5Gpu::new`].
    pub fn resources(&self, dt: f64) -> Result<[Resources; 2]> {
        let [_, threads] = self.mapping.blocks(1);
        let call = self.kernel(is_short(R::of(dt)))?.resources(threads as u32, 0)?;
        Ok([call, self.diagnosis_resources()?])
    }

    /// Resources of the kernel of the diagnosis.
    pub(crate) fn diagnosis_resources(&self) -> Result<Resources> {
        let [_, threads] = diagnosis::blocks(1);
        self.diagnose.resources(threads as u32, 0)
    }

    /// One call of the scheme, `dt` seconds.
    ///
    /// # Errors
    ///
    /// As [`Wsm5Gpu::new`].
    ///
    /// # Panics
    ///
    /// When an array is too short.
    pub fn call(&self, place: &DeviceFields<'_, R>, dt: f64) -> Result<()> {
        self.call_in(Branch::TRUNK, StepInBatch::ALONE, place, dt)
    }

    /// The same in a branch, for one step of a batch; the notes of the other steps are kept.
    ///
    /// # Errors
    ///
    /// As [`Wsm5Gpu::new`].
    ///
    /// # Panics
    ///
    /// As [`Wsm5Gpu::call`].
    pub fn call_in(
        &self,
        branch: Branch<'_>,
        turn: StepInBatch,
        place: &DeviceFields<'_, R>,
        dt: f64,
    ) -> Result<()> {
        check_length(R::of(dt))?;
        self.launch(branch, &self.args_of_call(turn, place, R::of(dt)))
    }

    /// For tests: a call that fails on the device.
    #[doc(hidden)]
    pub fn call_with_fault(&self, place: &DeviceFields<'_, R>, dt: f64) -> Result<()> {
        // An invalid address.
        let theta = DevicePointer::new(16);
        self.launch(
            Branch::TRUNK,
            &Wsm5Args { theta, ..self.args_of_call(StepInBatch::ALONE, place, R::of(dt)) },
        )
    }

    pub(super) fn launch(&self, branch: Branch<'_>, args: &Wsm5Args<R>) -> Result<()> {
        let [blocks, threads] = self.mapping.blocks(args.region.count as usize);
        if blocks == 0 {
            return Ok(());
        }
        let (grid, block) = ([blocks as u32, 1, 1], [threads as u32, 1, 1]);
        let launch = Launch { grid, block, shared_bytes: 0 };
        let kernel = self.kernel(args.minor_steps == 1)?;
        // SAFETY: the kernel takes this struct; the lengths of all arrays have been checked, and
        // memory is freed only when the device is done with it.
        unsafe { kernel.launch_on(branch, launch, args) }
    }

    /// Reflectivity and effective radii of all columns: writes them as contiguous fields to `out`, from element `first`
    /// on.
    ///
    /// # Errors
    ///
    /// As [`Wsm5Gpu::new`].
    ///
    /// # Panics
    ///
    /// When an array is too short.
    pub fn diagnose(
        &self,
        place: &DeviceFields<'_, R>,
        out: &Buffer<R>,
        first: usize,
    ) -> Result<()> {
        let shape = self.layout.shape;
        let cells = shape.cells();
        assert!(out.len() >= first + ABOUT.diagnosed.len() * cells, "room for what is diagnosed");
        let region = region_of(self.layout, &ActiveColumns::all(shape), 1);
        let cloud = self.args(StepInBatch::ALONE, place, region, R::ZERO);
        let [blocks, threads] = diagnosis::blocks(region.count as usize);
        let field = |number: usize| out.pointer_to(first + number * cells);
        let args = DiagnosisArgs {
            cloud,
            refl_10cm: field(0),
            re_cloud: field(1),
            re_ice: field(2),
            re_snow: field(3),
            bins: self.bins,
        };
        let (grid, block) = ([blocks as u32, 1, 1], [threads as u32, 1, 1]);
        // SAFETY: as above.
        unsafe { self.diagnose.launch(Launch { grid, block, shared_bytes: 0 }, &args) }
    }

    pub(super) fn args_of_call(
        &self,
        turn: StepInBatch,
        place: &DeviceFields<'_, R>,
        dt: R,
    ) -> Wsm5Args<R> {
        let region = region_of(self.layout, &self.inside, self.together());
        self.args(turn, place, region, dt)
    }

    /// Arguments of a call on these fields.
    pub(super) fn args_in_place(&self, fields: &FieldPointers<R>, dt: R) -> Wsm5Args<R> {
        let region = region_of(self.layout, &self.inside, self.together());
        self.args_of(fields, StepInBatch::ALONE, region, dt)
    }

    fn args(
        &self,
        turn: StepInBatch,
        place: &DeviceFields<'_, R>,
        region: Region,
        dt: R,
    ) -> Wsm5Args<R> {
        self.args_of(&place.pointers(self.layout, self.indices, turn), turn, region, dt)
    }

    fn args_of(
        &self,
        fields: &FieldPointers<R>,
        turn: StepInBatch,
        region: Region,
        dt: R,
    ) -> Wsm5Args<R> {
        let [theta, qv, qc, qr, qi, qs] = fields.state[..] else { panic!("the fields of WSM5") };
        let [rho, exner, p, dz] = fields.air[..] else { panic!("the air of WSM5") };
        let [rain, rainncv, snow, snowncv, sr] = fields.planes[..] else {
            panic!("the planes of WSM5")
        };
        let [fallen, fall_residual, clipped, mass_mismatch] = fields.terms;
        let steps = minor_steps(dt);
        Wsm5Args {
            region,
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
            mass: self.mass,
            marks: self.marks,
            notes: self.notes,
            per_area: self
                .per_area
                .as_ref()
                .map(|plane| plane.pointer().read())
                .unwrap_or_default(),
            params: self.scheme.params,
            theta_base: self.theta_base,
            dt_cloud: dt / steps,
            minor_steps: steps.f64() as i32,
            step: turn.number as i32,
            theta_number: self.indices.theta() as i32,
            water_number: self.indices.limited().start as i32,
            filler: 0,
        }
    }
}

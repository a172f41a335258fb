//! The microphysics on the device: its memory and its launches (`nwp_mini::physics::wsm5` on the GPU), for every scheme
//! whose kernels have these mappings of columns to threads.

pub use crate::state::gpu::device_fields::{ActiveColumns, DeviceFields, FieldPointers, planes_of};
pub use crate::state::gpu::member_layout::MemberLayout;

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use super::tuning::TileMappings;
use crate::cuda_abi::{DevicePointer, ReadPointer};
use crate::device::{Branch, Buffer, Element, Gpu, Kernel, KernelSource, Launch, Resources};
use crate::dry_mass::gpu::LayeredPointers;
use crate::error::{Advice, Error, Result};
use crate::grid::gpu::Layout;
use crate::physics::scheme::About;
use crate::physics::wsm5::gpu::column_map::Region;
use crate::physics::wsm5::gpu::{DEVICE_LEVELS, KernelVariant, Mapping, Tile, diagnosis};
use crate::physics::wsm5::minor_steps;
use crate::physics::wsm5::reflectivity::RadarConstants;
use crate::physics::{ColumnPhysics, check_length};
use crate::real::Precision;
use crate::state::gpu::kernel_id;
use crate::state::gpu::step_in_batch::StepInBatch;

/// A scheme whose kernels have a thread for a column or a block for a tile of columns.
pub trait MicrophysicsKernels<R: RadarConstants>:
    ColumnPhysics<R> + Clone + Debug + Send + 'static
{
    /// Arguments of a call, a struct of the prelude.
    type Args: Copy;
    /// Arguments of the diagnosis, likewise.
    type DiagnosisArgs: Copy;
    /// Size bins of melting particles.
    type Bins: Clone + Debug + Default + Send + Sync;

    /// Names of the kernels of a call, in the order of their ids.
    const KERNELS: &'static [&'static str];

    /// Its description.
    fn about() -> &'static About;

    /// Its mappings of columns to threads.
    fn mappings(&self) -> &'static TileMappings;

    /// The mapping that the kernel of calls of one minor step, or of several, is compiled for.
    fn mapping_of_calls(mapping: Mapping, is_short: bool) -> Mapping {
        let _ = is_short;
        mapping
    }

    /// Name of the kernel of a call.
    fn kernel(mapping: Mapping) -> &'static str;

    /// Source and settings of the kernel of a call.
    fn source(
        &self,
        precision: Precision,
        nz: usize,
        mapping: Mapping,
        variant: KernelVariant,
    ) -> KernelSource;

    /// Name of the kernel of the diagnosis.
    const DIAGNOSIS: &'static str;

    /// Source and settings of the kernel of the diagnosis.
    fn diagnosis_source(&self, precision: Precision, nz: usize) -> KernelSource;

    /// Arguments of a call.
    fn args(&self, call: &MicrophysicsCall<'_, R>) -> Self::Args;

    /// Arguments of the diagnosis, of the cells of `cloud` into fields in the order of the description.
    fn diagnosis_args(
        cloud: Self::Args,
        bins: &Self::Bins,
        out: [DevicePointer<R>; 4],
    ) -> Self::DiagnosisArgs;
}

/// A call of a scheme, in the words of the arguments of its kernels.
#[derive(Clone, Copy, Debug)]
pub struct MicrophysicsCall<'a, R> {
    /// The fields and planes that it works on.
    pub fields: &'a FieldPointers<R>,
    /// The columns that threads process.
    pub region: Region,
    /// Word for the mark of a kernel that has begun; null if marks are off.
    pub marks: DevicePointer<u64>,
    /// Word for a note of a value that is not finite; null if notes are off.
    pub notes: DevicePointer<u64>,
    /// Dry mass of the cells, kg; null without a mass mismatch.
    pub mass: LayeredPointers<R>,
    /// Reciprocal area of the cells, m⁻².
    pub per_area: ReadPointer<R>,
    /// Potential temperature less its field, K.
    pub theta_base: R,
    /// Length of a minor step, s.
    pub dt_cloud: R,
    /// Number of minor steps.
    pub minor_steps: i32,
    /// Index of this step in its batch.
    pub step: i32,
    /// Index of potential temperature among the fields of all states.
    pub theta_number: i32,
    /// Index of vapour among them; the other species follow.
    pub water_number: i32,
}

/// Variant of the kernel for calls in a region of a grid, or in any.
pub fn variant_for(
    layout: Layout,
    inside: Option<&ActiveColumns>,
    mapping: Mapping,
    is_short: bool,
    tracks_mismatch: bool,
) -> KernelVariant {
    let region = inside.map(|inside| region_of(layout, inside, mapping.together()));
    let region = region.filter(|region| mapping.is_made_for(region.count as usize));
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

/// Returns `true` if a call of `dt` seconds has one minor step.
fn is_short<R: RadarConstants>(dt: R) -> bool {
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
pub struct MicrophysicsGpu<R: RadarConstants, S: MicrophysicsKernels<R>> {
    gpu: Gpu,
    calls: Arc<CallKernels>,
    diagnose: Kernel,
    layout: Layout,
    inside: ActiveColumns,
    /// `true` if the kernels are for any columns.
    is_divided: bool,
    mapping: Mapping,
    /// `true` if the fields of the state are parts of one array, and those of the air of another: kernels that are
    /// compiled for a region find one from the other.
    fields_adjoin: bool,
    theta_base: R,
    scheme: S,
    bins: S::Bins,
    mass: LayeredPointers<R>,
    per_area: Option<Arc<Buffer<R>>>,
    marks: DevicePointer<u64>,
    notes: DevicePointer<u64>,
    indices: MemberLayout,
}

impl<R: RadarConstants + Element, S: MicrophysicsKernels<R>> MicrophysicsGpu<R, S> {
    /// Compiles the kernel of the diagnosis for a grid; kernels of calls are compiled on first use, or by
    /// [`MicrophysicsGpu::prepare`].
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
        scheme: S,
        mapping: Mapping,
        theta_base: R,
    ) -> Result<Self> {
        let (shape, title) = (layout.shape, S::about().title);
        if !DEVICE_LEVELS.contains(&shape.nz) {
            let [least, most] = [DEVICE_LEVELS.start(), DEVICE_LEVELS.end()];
            return Err(Error::Gpu(format!(
                "{title} on the GPU takes {least} to {most} levels, the grid has {}",
                shape.nz
            ))
            .advise(Advice::UseCpu));
        }
        if layout.cells() > i32::MAX as usize {
            return Err(Error::Gpu(format!(
                "a grid of {shape} cells is too large: the {title} kernels number at most {}",
                i32::MAX
            ))
            .advise(Advice::UseSmallerGridOrCpu));
        }
        let diagnosis = scheme.diagnosis_source(R::PRECISION, shape.nz);
        let diagnose = gpu.module(&diagnosis)?.kernel(S::DIAGNOSIS)?;
        let (mass, per_area) = (LayeredPointers::default(), None);
        Ok(Self {
            gpu: gpu.clone(),
            calls: Arc::default(),
            diagnose,
            layout,
            inside,
            is_divided: false,
            mapping,
            fields_adjoin: true,
            theta_base,
            scheme,
            bins: S::Bins::default(),
            mass,
            per_area,
            marks: DevicePointer::default(),
            notes: DevicePointer::default(),
            indices: MemberLayout::alone(&S::about().set()),
        })
    }

    /// The same for fields in arrays of their own, of which nothing beside the columns of the region is touched.
    pub(super) fn for_separate_arrays(&self) -> Self {
        Self { fields_adjoin: false, calls: Arc::default(), ..self.clone() }
    }

    /// Lets calls act in some of the columns at a time, with kernels for any of them.
    pub(super) fn take_any_columns(&mut self) {
        (self.is_divided, self.calls) = (true, Arc::default());
    }

    /// The same in other columns of the grid, with the same kernels; `None` if these are made for certain columns.
    pub(super) fn of_columns(&self, inside: ActiveColumns) -> Option<Self> {
        self.is_divided.then(|| Self { inside, ..self.clone() })
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
    /// As [`MicrophysicsGpu::new`].
    pub fn prepare(&self, dt: f64) -> Result<()> {
        self.kernel(is_short(R::of(dt))).map(drop)
    }

    fn kernel(&self, is_short: bool) -> Result<&Kernel> {
        let Self { gpu, calls, layout, inside, mapping, scheme, .. } = self;
        let inside = (!self.is_divided).then_some(inside);
        let place = if is_short { &calls.short } else { &calls.long };
        if let Some(kernel) = place.get() {
            return Ok(kernel);
        }
        let variant = variant_for(*layout, inside, *mapping, is_short, self.per_area.is_some());
        let region = variant.region.filter(|_| self.fields_adjoin);
        let variant = KernelVariant { region, ..variant };
        let source = scheme.source(R::PRECISION, layout.shape.nz, *mapping, variant);
        let kernel = kernel_id::kernel(&gpu.module(&source)?, S::kernel(*mapping))?;
        let kernel = match S::mapping_of_calls(*mapping, is_short) {
            Mapping::Column => kernel,
            Mapping::Tile(Tile { threads, blocks, .. }) => {
                kernel.with_blocks(threads as u32, blocks as u32)?
            }
        };
        Ok(place.get_or_init(|| kernel))
    }

    /// The same with other parameters, for one of several states in an array (ensemble members).
    ///
    /// # Panics
    ///
    /// When the other scheme is of another variant, which needs other kernels.
    pub fn of_state(&self, scheme: S, indices: MemberLayout) -> Self {
        assert_eq!(scheme.mappings(), self.scheme.mappings(), "the variant of the kernels");
        Self { scheme, indices, ..self.clone() }
    }

    /// Enables the mass mismatch of calls.
    ///
    /// `area` is the area of the cells, m², row by row; the memory that `mass` points to must outlive this value.
    ///
    /// # Errors
    ///
    /// As [`MicrophysicsGpu::new`].
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
    /// As [`MicrophysicsGpu::new`].
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
    /// As [`MicrophysicsGpu::new`].
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
    /// As [`MicrophysicsGpu::new`].
    ///
    /// # Panics
    ///
    /// As [`MicrophysicsGpu::call`].
    pub fn call_in(
        &self,
        branch: Branch<'_>,
        turn: StepInBatch,
        place: &DeviceFields<'_, R>,
        dt: f64,
    ) -> Result<()> {
        let fields = place.pointers(self.layout, self.indices, turn);
        self.call_on(branch, turn, &fields, dt)
    }

    /// For tests: a call that fails on the device.
    #[doc(hidden)]
    pub fn call_with_fault(&self, place: &DeviceFields<'_, R>, dt: f64) -> Result<()> {
        let mut fields = place.pointers(self.layout, self.indices, StepInBatch::ALONE);
        // An invalid address.
        fields.state[0] = DevicePointer::new(16);
        self.call_on(Branch::TRUNK, StepInBatch::ALONE, &fields, dt)
    }

    /// A call on these fields.
    pub(super) fn call_on(
        &self,
        branch: Branch<'_>,
        turn: StepInBatch,
        fields: &FieldPointers<R>,
        dt: f64,
    ) -> Result<()> {
        check_length(R::of(dt))?;
        let region = region_of(self.layout, &self.inside, self.together());
        let [blocks, threads] = self.mapping.blocks(region.count as usize);
        if blocks == 0 {
            return Ok(());
        }
        let (grid, block) = ([blocks as u32, 1, 1], [threads as u32, 1, 1]);
        let launch = Launch { grid, block, shared_bytes: 0 };
        let args = self.args(fields, turn, region, R::of(dt));
        let kernel = self.kernel(is_short(R::of(dt)))?;
        // SAFETY: the kernel takes this struct; the lengths of all arrays have been checked, and
        // memory is freed only when the device is done with it.
        unsafe { kernel.launch_on(branch, launch, &args) }
    }

    /// Reflectivity and effective radii of all columns: writes them as contiguous fields to `out`, from element `first`
    /// on.
    ///
    /// # Errors
    ///
    /// As [`MicrophysicsGpu::new`].
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
        let diagnosed = S::about().diagnosed.len();
        assert!(out.len() >= first + diagnosed * cells, "room for what is diagnosed");
        let region = region_of(self.layout, &ActiveColumns::all(shape), 1);
        let fields = place.pointers(self.layout, self.indices, StepInBatch::ALONE);
        let cloud = self.args(&fields, StepInBatch::ALONE, region, R::ZERO);
        let [blocks, threads] = diagnosis::blocks(region.count as usize);
        let field = |number: usize| out.pointer_to(first + number * cells);
        let args = S::diagnosis_args(cloud, &self.bins, std::array::from_fn(field));
        let (grid, block) = ([blocks as u32, 1, 1], [threads as u32, 1, 1]);
        // SAFETY: as above.
        unsafe { self.diagnose.launch(Launch { grid, block, shared_bytes: 0 }, &args) }
    }

    fn args(&self, fields: &FieldPointers<R>, turn: StepInBatch, region: Region, dt: R) -> S::Args {
        let steps = minor_steps(dt);
        let per_area = self.per_area.as_ref().map(|plane| plane.pointer().read());
        self.scheme.args(&MicrophysicsCall {
            fields,
            region,
            marks: self.marks,
            notes: self.notes,
            mass: self.mass,
            per_area: per_area.unwrap_or_default(),
            theta_base: self.theta_base,
            dt_cloud: dt / steps,
            minor_steps: steps.f64() as i32,
            step: turn.number as i32,
            theta_number: self.indices.theta() as i32,
            water_number: self.indices.limited().start as i32,
        })
    }

    /// Pointers to these fields, with planes at the ground in an array of their own.
    pub(super) fn pointers(
        &self,
        place: &DeviceFields<'_, R>,
        surface: &Buffer<R>,
    ) -> FieldPointers<R> {
        let mut fields = place.pointers(self.layout, self.indices, StepInBatch::ALONE);
        let columns = self.layout.columns();
        assert!(surface.len() >= fields.planes.len() * columns, "all planes of the ground");
        for (number, plane) in fields.planes.iter_mut().enumerate() {
            *plane = surface.pointer_to(number * columns);
        }
        fields
    }
}

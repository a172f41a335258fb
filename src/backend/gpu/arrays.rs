//! Arrays of a run on the device: the fields of all states, the planes at the ground, winds and air of the steps.

use super::GpuPrecision;
use super::field_order::FieldOrder;
use super::frame_layout::FrameLayout;
use super::gpu_config::GpuConfig;
use crate::advection::gpu::transport::Wind;
use crate::backend::PhaseTime;
use crate::cuda_abi::{DevicePointer, ReadPointer};
use crate::device::{Buffer, Gpu};
use crate::error::{Error, Result};
use crate::forcing::gpu::{DeviceForcing, ForcingInterpolator, upload_air};
use crate::forcing::{Continuity, TimeInterpolant};
use crate::grid::Grid;
use crate::grid::gpu::Layout;
use crate::state::gpu::air_fields;
use crate::state::gpu::device_fields::{DeviceFields, planes_of};
use crate::state::gpu::status_word::NonFiniteValue;
use crate::state::{State, Surface};

/// The fields of all states, and the prescribed input of the present step.
#[derive(Debug)]
pub(super) struct Arrays<R> {
    pub(super) grid: Grid,
    /// Memory layout of rows on the device; frames of output have them without gaps.
    pub(super) layout: Layout,
    pub(super) frame_layout: FrameLayout,
    /// The places of the fields.
    pub(super) order: FieldOrder,
    /// The fields of all states, and room for the next ones.
    tracers: [Buffer<R>; 2],
    /// Index of the present ones.
    now: usize,
    /// Planes at the ground of each member.
    surfaces: Vec<Buffer<R>>,
    driving: DeviceForcing<R>,
    air: Air<R>,
    /// Number of the frame whose values are on the device, and `true` if another follows it.
    uploaded: Option<(usize, bool)>,
    /// Time of the uploads of frames, as the host had to wait for them, s.
    pub(super) upload_seconds: f64,
}

/// Memory of the air that the microphysics reads.
#[derive(Debug)]
enum Air<R> {
    /// In an array of its own, the same in all steps.
    Kept(Buffer<R>),
    /// Made from two frames of the input when it is needed, in the memory that the stages of the transport use otherwise,
    /// or in an array of its own where it has more fields than they.
    Between(Box<ForcingInterpolator<R>>, Option<Buffer<R>>),
}

impl<R: GpuPrecision> Arrays<R> {
    /// Allocates the arrays, of zeros, for graphs of up to so many steps.
    pub(super) fn new(
        gpu: &Gpu,
        setting: &GpuConfig<'_>,
        layout: Layout,
        order: FieldOrder,
        together: usize,
    ) -> Result<Self> {
        let fields = order.len() * layout.cells();
        let tracers = [gpu.zeros(fields)?, gpu.zeros(fields)?];
        let planes = planes_of(order.set.planes().len(), together) * layout.columns();
        let surfaces = (0..order.states).map(|_| gpu.zeros(planes)).collect::<Result<_>>()?;
        let air = Air::new(gpu, setting, layout, &order)?;
        let driving = DeviceForcing::new(gpu, layout, &order.numbers())?;
        Ok(Self {
            grid: *setting.grid,
            layout,
            frame_layout: FrameLayout::new(layout.shape, &order.set),
            order,
            tracers,
            now: 0,
            surfaces,
            driving,
            air,
            uploaded: None,
            upload_seconds: 0.0,
        })
    }

    /// Number of members.
    pub(super) fn members(&self) -> usize {
        self.order.states
    }

    /// Index of the present states, of two.
    pub(super) fn now(&self) -> usize {
        self.now
    }

    /// The fields of all present states.
    pub(super) fn present(&self) -> &Buffer<R> {
        &self.tracers[self.now]
    }

    /// The fields before and after a step that starts from the states `now`, of two.
    pub(super) fn of_step(&self, now: usize) -> [&Buffer<R>; 2] {
        [&self.tracers[now], &self.tracers[1 - now]]
    }

    /// Index of the states after so many steps from the states `now`.
    pub(super) fn after(&self, now: usize, steps: usize) -> usize {
        (now + steps) % self.tracers.len()
    }

    /// Goes on to the states after so many steps.
    pub(super) fn advance(&mut self, steps: usize) {
        self.now = self.after(self.now, steps);
    }

    /// A field of a member in an array of all states.
    pub(super) fn field(&self, array: &Buffer<R>, member: usize, field: usize) -> DevicePointer<R> {
        array.pointer_to(self.order.place(member, field) * self.layout.cells())
    }

    /// The present water of a member.
    pub(super) fn water(&self, member: usize) -> ReadPointer<R> {
        let first = self.order.indices(member).water().start * self.layout.cells();
        self.present().pointer_to(first).read()
    }

    /// The planes of a member with its terms of the water budget.
    pub(super) fn budget_planes(&self, member: usize) -> ReadPointer<R> {
        let first = self.order.set.planes().len() * self.layout.columns();
        self.surfaces[member].pointer_to(first).read()
    }

    /// Winds and boundary values of a step.
    pub(super) fn wind(&self) -> Wind<'_, R> {
        let [x, y, z] = &self.driving.flux;
        Wind { flux: [x, y, z], inflow: Some(&self.driving.inflow) }
    }

    /// Mass fluxes through the x-, y- and z-faces.
    pub(super) fn flux(&self) -> &[Buffer<R>; 3] {
        &self.driving.flux
    }

    /// The air that the microphysics reads; `spare` is memory that the transport does not need then.
    pub(super) fn air<'a>(&'a self, spare: &'a Buffer<R>) -> &'a Buffer<R> {
        match &self.air {
            Air::Kept(air) => air,
            Air::Between(_, own) => own.as_ref().unwrap_or(spare),
        }
    }

    /// The fields of a call of the microphysics of a member, in an array of all states.
    pub(super) fn of_call<'a>(
        &'a self,
        member: usize,
        state: &'a Buffer<R>,
        spare: &'a Buffer<R>,
    ) -> DeviceFields<'a, R> {
        DeviceFields { state, air: self.air(spare), surface: &self.surfaces[member] }
    }
}

/// The prescribed input.
impl<R: GpuPrecision> Arrays<R> {
    /// True for an input of several frames.
    pub(super) fn has_sequence(&self) -> bool {
        matches!(self.air, Air::Between(..))
    }

    /// True where the forcing is interpolated for every step.
    pub(super) fn is_between_frames(&self) -> bool {
        self.between().is_some()
    }

    /// Interpolation between two frames, where the device holds two.
    fn between(&self) -> Option<&ForcingInterpolator<R>> {
        match (&self.air, self.uploaded) {
            (Air::Between(between, _), Some(_)) => Some(between),
            _ => None,
        }
    }

    /// True if the frames of a moment are on the device.
    pub(super) fn has_frames_of(&self, moment: &TimeInterpolant<R>) -> bool {
        self.uploaded == Some(frames_of(moment))
    }

    /// Uploads the frames of a moment, which no kernel may read any more.
    pub(super) fn upload_frames(&mut self, moment: &TimeInterpolant<R>) -> Result<()> {
        match (&self.air, &moment.after) {
            (Air::Between(between, _), Some(after)) => between.upload(&moment.before, after)?,
            // The last frame holds: it lies between itself and itself.
            (Air::Between(between, _), None) => between.upload(&moment.before, &moment.before)?,
            (Air::Kept(air), _) => {
                self.driving.upload(&moment.before)?;
                upload_air(&moment.before.environment, air, self.layout)?;
            }
        }
        self.uploaded = Some(frames_of(moment));
        Ok(())
    }

    /// Time of the uploads of frames.
    pub(super) fn upload_time(&self) -> PhaseTime {
        PhaseTime::on_device(0.0, self.upload_seconds)
    }

    /// Sets the weights of the two frames, where the device holds two.
    pub(super) fn set_weights(&self, moment: &TimeInterpolant<R>) -> Result<()> {
        self.between()
            .map_or(Ok(()), |between| between.set_weights(moment.flux_weight, moment.air_weight))
    }

    /// Interpolates winds and boundary values, where the device holds two frames.
    pub(super) fn interpolate_wind(&self) -> Result<()> {
        self.between().map_or(Ok(()), |between| between.drive(&self.driving))
    }

    /// Interpolates the air, where the device holds two frames.
    pub(super) fn interpolate_air(&self, spare: &Buffer<R>) -> Result<()> {
        self.between().map_or(Ok(()), |between| between.air(self.air(spare)))
    }
}

/// To the device and back.
impl<R: GpuPrecision> Arrays<R> {
    /// Sets the state of a member.
    pub(super) fn put(&self, member: usize, state: &State<R>) -> Result<()> {
        assert_eq!(state.set(), &self.order.set, "the tracers of the run");
        for (number, field) in state.fields().iter().enumerate() {
            let values = field.as_slice().expect("fields are in standard layout");
            let first = self.order.place(member, number) * self.layout.cells();
            self.layout.upload(values, self.present(), first)?;
        }
        Ok(())
    }

    /// Sets the state of a member, with nothing fallen.
    pub(super) fn restore(&self, member: usize, state: &State<R>) -> Result<()> {
        self.put(member, state)?;
        self.surfaces[member].clear()
    }

    /// Sets the planes at the ground of a member.
    pub(super) fn put_surface(&self, member: usize, surface: &Surface<R>) -> Result<()> {
        for (number, plane) in surface.planes().iter().enumerate() {
            let values = plane.as_slice().expect("planes are in standard layout");
            let first = number * self.layout.columns();
            self.layout.upload(values, &self.surfaces[member], first)?;
        }
        Ok(())
    }

    /// The present state of the first member. Waits for the device.
    pub(super) fn state(&self) -> Result<State<R>> {
        let values = self.present().to_vec()?;
        Ok(self.frame_layout.state_of(&self.order, &self.layout.unpadded(&values)))
    }

    /// Planes at the ground of a member. Waits for the device.
    pub(super) fn surface(&self, member: usize) -> Result<Surface<R>> {
        let mut planes = vec![R::ZERO; self.planes_of_step() * self.layout.columns()];
        self.surfaces[member].download_from(0, &mut planes)?;
        Ok(self.frame_layout.surface_of(&self.order.set, &self.layout.unpadded(&planes)))
    }

    /// Planes at the ground, with the terms of the water budget of a step.
    pub(super) fn planes_of_step(&self) -> usize {
        planes_of(self.order.set.planes().len(), 1)
    }

    /// The planes at the ground of a member, as they are on the device.
    pub(super) fn planes(&self, member: usize) -> &Buffer<R> {
        &self.surfaces[member]
    }

    /// Queues copies of the fields of a member without gaps, in the order of the set, to the beginning of `staging`.
    pub(super) fn pack_fields(&self, member: usize, staging: &Buffer<R>) -> Result<()> {
        let (state, layout) = (self.present(), self.layout);
        let (cells, own) = (layout.cells(), layout.shape.cells());
        let pick = |field: usize, place: usize, count: usize| {
            staging.copy_rows(
                field * own,
                (state, layout.rows()),
                place * cells..(place + count) * cells,
            )
        };
        let indices = self.order.indices(member);
        let limited = indices.limited();
        pick(0, indices.theta(), 1)?;
        pick(self.order.set.limited().start, limited.start, limited.len())?;
        (self.order.set.carried()..self.order.set.len())
            .try_for_each(|field| pick(field, self.order.place(member, field), 1))
    }

    /// Queues a copy of the planes at the ground of a member without gaps, to `staging` from `first` on.
    pub(super) fn pack_planes(
        &self,
        member: usize,
        staging: &Buffer<R>,
        first: usize,
    ) -> Result<()> {
        let (planes, layout) = (&self.surfaces[member], self.layout);
        staging.copy_rows(
            first,
            (planes, layout.rows()),
            0..self.planes_of_step() * layout.columns(),
        )
    }
}

/// Errors.
impl<R: GpuPrecision> Arrays<R> {
    /// A value that is not finite, as the error that ends the run.
    pub(super) fn nonfinite_error(&self, flaw: NonFiniteValue) -> Error {
        let NonFiniteValue { step, field, place } = flaw;
        let at = field * self.layout.cells() + place;
        let mut value = [R::nan()];
        // Its value now is at least as bad, unless the device fails too.
        let _ = self.present().download_from(at, &mut value);
        let value = if value[0].is_finite() { f64::NAN } else { value[0].f64() };
        let [number, field] = self.order.at(field);
        let variable = self.order.set[field].name;
        let plane = self.layout.columns();
        let [j, i] = self.grid.global_column(self.layout.row_and_column(place % plane));
        let cell = [place / plane, j, i];
        self.with_member(number, Error::BlowUp { variable, value, step, cell })
    }

    /// An error with the number of its member, where there are several.
    pub(super) fn with_member(&self, member: usize, error: Error) -> Error {
        if self.members() > 1 { error.of_member(member) } else { error }
    }
}

impl<R: GpuPrecision> Air<R> {
    /// Memory of the air: of the present frame, or of what is between two frames.
    fn new(gpu: &Gpu, setting: &GpuConfig<'_>, layout: Layout, order: &FieldOrder) -> Result<Self> {
        if !setting.has_sequence {
            return Ok(Self::Kept(gpu.zeros(air_fields(&order.set) * layout.cells())?));
        }
        let (continuity, numbers) = (Continuity::new(setting.coordinate), order.numbers());
        let air = air_fields(&order.set);
        let between = ForcingInterpolator::new(gpu, layout, &continuity, (&numbers, air))?;
        // The transport of the water has room for what it carries.
        let carried = order.groups(setting.limiter)[0].tracers[0];
        let own = (air > carried).then(|| gpu.zeros(air * layout.cells())).transpose()?;
        Ok(Self::Between(Box::new(between), own))
    }
}

/// The frames of a moment: the number of the first, and `true` if another follows it.
fn frames_of<R>(moment: &TimeInterpolant<R>) -> (usize, bool) {
    (moment.number, moment.after.is_some())
}

//! Arrays of a call of the microphysics: state, air, and planes at the ground.

use std::ops::Range;

use super::AIR_FIELDS;
use super::member_layout::MemberLayout;
use super::step_in_batch::StepInBatch;
use crate::cuda_abi::{DevicePointer, ReadPointer};
use crate::device::{Buffer, Element};
use crate::grid::Shape;
use crate::grid::gpu::Layout;
use crate::state::{STATE_FIELDS, Surface};

/// Number of planes at the ground: [`PLANES`].
pub const SURFACE_PLANES: usize = PLANES.len();
/// Number of diagnosed fields: reflectivity, and the radii of cloud drops, ice crystals and snow.
pub const DIAGNOSED_FIELDS: usize = 4;
/// Number of planes for a step's terms of the water budget.
pub const TERMS: usize = 4;

/// The planes at the ground, contiguous: those of [`Surface`], then the mass mismatch. The terms of the water budget
/// are the last.
pub const PLANES: [&str; 9] = {
    let [rain, snow, rainncv, snowncv, sr, fallen, fall_residual, clipped] = Surface::<f64>::NAMES;
    [rain, snow, rainncv, snowncv, sr, fallen, fall_residual, clipped, "mass_mismatch"]
};

/// The columns of a grid in which the microphysics acts.
#[derive(Clone, Debug)]
pub struct ActiveColumns {
    /// Rows j.
    pub rows: Range<usize>,
    /// Columns i.
    pub columns: Range<usize>,
}

impl ActiveColumns {
    /// All columns of a grid.
    pub fn all(shape: Shape) -> Self {
        Self { rows: 0..shape.ny, columns: 0..shape.nx }
    }
}

/// The arrays of a call of the microphysics. Lengths: [`STATE_FIELDS`] of each state and [`AIR_FIELDS`] fields,
/// [`SURFACE_PLANES`] planes, all with rows as in the [`Layout`].
#[derive(Clone, Copy, Debug)]
pub struct DeviceFields<'a, R> {
    /// The state, in the order and the units of [`State`](crate::state::State).
    pub state: &'a Buffer<R>,
    /// rho (kg m⁻³), exner (1), p (Pa), dz (m); longer arrays are used from their start.
    pub air: &'a Buffer<R>,
    /// [`PLANES`], in the units of [`Surface`]. For a batch of steps the budget terms of the earlier steps follow, the
    /// last but one first.
    pub surface: &'a Buffer<R>,
}

/// Pointers to the fields and planes of one state, in their orders.
#[derive(Clone, Copy, Debug)]
pub struct FieldPointers<R> {
    /// The fields of the state.
    pub state: [DevicePointer<R>; STATE_FIELDS],
    /// Those of the air.
    pub air: [ReadPointer<R>; AIR_FIELDS],
    /// [`PLANES`], with the budget terms of one step of a batch.
    pub planes: [DevicePointer<R>; SURFACE_PLANES],
}

impl<R: Element> DeviceFields<'_, R> {
    /// The fields of one of several states, and the planes for one step of a batch.
    ///
    /// # Panics
    ///
    /// When an array is too short.
    pub fn pointers(
        &self,
        layout: Layout,
        member: MemberLayout,
        step: StepInBatch,
    ) -> FieldPointers<R> {
        let Self { state, air, surface } = self;
        let (cells, columns) = (layout.cells(), layout.columns());
        assert!(state.len() >= member.fields() * cells, "all fields of the state");
        assert!(air.len() >= AIR_FIELDS * cells, "all fields of the air");
        assert!(surface.len() >= planes_of(step.of) * columns, "all planes of the ground");
        FieldPointers {
            state: std::array::from_fn(|field| state.pointer_to(member.place(field) * cells)),
            air: std::array::from_fn(|field| air.pointer_to(field * cells).read()),
            planes: std::array::from_fn(|plane| {
                let is_term = plane >= SURFACE_PLANES - TERMS;
                let before = if is_term { step.place() * TERMS } else { 0 };
                surface.pointer_to((before + plane) * columns)
            }),
        }
    }
}

/// Planes at the ground for a batch of so many steps.
pub fn planes_of(steps: usize) -> usize {
    SURFACE_PLANES + (steps - 1) * TERMS
}

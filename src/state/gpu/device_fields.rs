//! Arrays of a call of the microphysics: state, air, and planes at the ground.

use std::ops::Range;

use super::member_layout::MemberLayout;
use super::step_in_batch::StepInBatch;
use crate::cuda_abi::{DevicePointer, ReadPointer};
use crate::device::{Buffer, Element};
use crate::grid::Shape;
use crate::grid::gpu::Layout;
use crate::state::surface;

/// Number of planes for a step's terms of the water budget: those of [`Surface`], then the mass mismatch.
///
/// [`Surface`]: crate::state::Surface
pub const TERMS: usize = surface::TERMS.len() + 1;

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

/// The arrays of a call of the microphysics, all with rows as in the [`Layout`].
#[derive(Clone, Copy, Debug)]
pub struct DeviceFields<'a, R> {
    /// The state, in the order and the units of [`State`](crate::state::State).
    pub state: &'a Buffer<R>,
    /// rho (kg m⁻³), exner (1), p (Pa), dz (m), and w (m s⁻¹) if the scheme reads it; longer arrays are used from their
    /// start.
    pub air: &'a Buffer<R>,
    /// The planes at the ground of the scheme in its order, then the [`TERMS`] of the water budget. For a batch of steps
    /// the budget terms of the earlier steps follow, the last but one first.
    pub surface: &'a Buffer<R>,
}

/// Pointers to the fields and planes of one state, in their orders.
#[derive(Clone, Debug)]
pub struct FieldPointers<R> {
    /// The fields of the scheme: potential temperature, species of water, their properties.
    pub state: Vec<DevicePointer<R>>,
    /// Those of the air.
    pub air: Vec<ReadPointer<R>>,
    /// The planes at the ground of the scheme.
    pub planes: Vec<DevicePointer<R>>,
    /// The terms of the water budget of one step of a batch: water that has reached the ground, that sedimentation has
    /// created, that clipping has added; the mass mismatch.
    pub terms: [DevicePointer<R>; TERMS],
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
        assert!(air.len() >= member.air * cells, "all fields of the air");
        assert!(
            surface.len() >= planes_of(member.planes, step.of) * columns,
            "all planes of the ground"
        );
        let plane = |plane: usize| surface.pointer_to(plane * columns);
        FieldPointers {
            state: (0..=member.limited)
                .map(|field| state.pointer_to(member.place(field) * cells))
                .collect(),
            air: (0..member.air).map(|field| air.pointer_to(field * cells).read()).collect(),
            planes: (0..member.planes).map(plane).collect(),
            terms: std::array::from_fn(|term| plane(member.planes + step.place() * TERMS + term)),
        }
    }
}

/// Planes at the ground for a batch of so many steps, of a scheme with `planes` of its own.
pub fn planes_of(planes: usize, steps: usize) -> usize {
    planes + steps * TERMS
}

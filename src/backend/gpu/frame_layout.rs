//! Layout of a frame of output in one array: state, diagnosed fields, planes at the ground.

use std::ops::Range;
use std::sync::Arc;

use ndarray::{Array2, Array3};

use super::field_order::FieldOrder;
use crate::backend::{CapturedFrame, Summary};
use crate::constituents::Constituents;
use crate::grid::Shape;
use crate::real::Real;
use crate::state::gpu::device_fields::planes_of;
use crate::state::{CloudDiagnostics, State, Surface};

/// Lengths of the parts, elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameLayout {
    shape: Shape,
    /// Fields of the state.
    fields: usize,
    /// Diagnosed volumes.
    volumes: usize,
    /// Planes of the ground, with the terms of the water budget of a step.
    planes: usize,
    /// Species of water.
    species: usize,
}

impl FrameLayout {
    pub(super) fn new(shape: Shape, set: &Constituents) -> Self {
        Self {
            shape,
            fields: set.len(),
            volumes: set.volumes().len(),
            planes: planes_of(set.planes().len(), 1),
            species: set.water().len(),
        }
    }

    /// The state.
    pub(super) fn state(self) -> usize {
        self.fields * self.shape.cells()
    }

    /// The state and what is diagnosed.
    pub(super) fn fields(self) -> usize {
        self.state() + self.volumes * self.shape.cells()
    }

    /// The planes of the ground.
    pub(super) fn surface(self) -> usize {
        self.planes * self.shape.columns()
    }

    /// Elements before the column sums of water.
    pub(super) fn before_contents(self) -> usize {
        self.fields() + self.surface()
    }

    /// All of it.
    pub(super) fn frame(self) -> usize {
        self.before_contents() + self.species * self.shape.columns()
    }

    /// The fields, the planes of the ground, and the column sums of water, as ranges of the frame.
    pub(super) fn parts(self) -> Vec<Range<usize>> {
        let cells = self.shape.cells();
        let fields = (0..self.fields + self.volumes).map(|n| n * cells..(n + 1) * cells);
        let planes = [self.fields()..self.before_contents(), self.before_contents()..self.frame()];
        fields.chain(planes).collect()
    }

    /// The frame, of its parts; `summary` are the numbers that travel apart, to which the water above each column is
    /// added.
    pub(super) fn captured<R: Real>(
        self,
        set: &Arc<Constituents>,
        mut parts: Vec<Vec<R>>,
        summary: Summary<R>,
    ) -> CapturedFrame<R> {
        let (contents, surface) = (parts.pop(), parts.pop());
        let (Some(contents), Some(surface)) = (contents, surface) else {
            unreachable!("as many parts as were asked for")
        };
        let mut fields: Vec<_> = parts.into_iter().map(|values| self.array(values)).collect();
        let diagnosed = fields.split_off(self.fields);
        CapturedFrame {
            state: State::new(Arc::clone(set), fields),
            diagnostics: CloudDiagnostics::of(set, diagnosed),
            surface: self.surface_of(set, &surface),
            summary: Summary { contents: self.contents_of(contents), ..summary },
        }
    }

    /// The diagnosed volumes, from their values behind one another.
    pub(super) fn diagnostics_of<R: Real>(
        self,
        set: &Arc<Constituents>,
        values: &[R],
    ) -> CloudDiagnostics<R> {
        let fields = (0..self.volumes).map(|number| self.field(values, number));
        CloudDiagnostics::of(set, fields.collect())
    }

    /// A state out of all fields of the device, of which it is alone.
    pub(super) fn state_of<R: Real>(self, order: &FieldOrder, values: &[R]) -> State<R> {
        let fields = (0..self.fields).map(|number| self.field(values, order.place(0, number)));
        State::new(Arc::clone(&order.set), fields.collect())
    }

    /// The ground from its planes, in their order on the device.
    pub(super) fn surface_of<R: Real>(self, set: &Arc<Constituents>, values: &[R]) -> Surface<R> {
        let count = Surface::<R>::names(set).count();
        Surface::of(set, (0..count).map(|number| self.plane(values, number)).collect())
    }

    fn contents_of<R: Real>(self, values: Vec<R>) -> Array3<R> {
        let Shape { nx, ny, .. } = self.shape;
        Array3::from_shape_vec((self.species, ny, nx), values).expect("a plane for each species")
    }

    fn field<R: Real>(self, values: &[R], number: usize) -> Array3<R> {
        let cells = self.shape.cells();
        self.array(values[number * cells..][..cells].to_vec())
    }

    fn array<R: Real>(self, values: Vec<R>) -> Array3<R> {
        Array3::from_shape_vec(self.shape.centre(), values).expect("the cells of a field")
    }

    fn plane<R: Real>(self, values: &[R], number: usize) -> Array2<R> {
        let columns = self.shape.columns();
        let values = values[number * columns..][..columns].to_vec();
        let shape = (self.shape.ny, self.shape.nx);
        Array2::from_shape_vec(shape, values).expect("the columns of a plane")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advection::Limiter;
    use crate::physics::registry::usual_set;

    const SHAPE: Shape = Shape { nx: 3, ny: 2, nz: 2 };

    #[test]
    fn parts_of_a_frame_are_those_of_its_array() {
        let set = usual_set();
        let layout = FrameLayout::new(SHAPE, &set);
        let values: Vec<f64> = (0..layout.frame()).map(|at| at as f64).collect();
        let (cells, columns) = (SHAPE.cells() as f64, SHAPE.columns() as f64);
        let fields = layout.fields() as f64;
        let state = layout.state_of(&FieldOrder::new(&set, Limiter::None, 1), &values);
        let firsts: Vec<f64> = state.fields().iter().map(|field| field[[0, 0, 0]]).collect();
        assert_eq!(firsts, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0].map(|number| number * cells));
        let surface = layout.surface_of(&set, &values[layout.fields()..]);
        assert_eq!(
            [surface.named("rain")[[0, 1]], surface.named("rainncv")[[1, 0]]],
            [fields + 1.0, fields + columns + 3.0]
        );
        let parts = layout.parts();
        assert_eq!(parts[layout.fields + 1].start, (layout.fields + 1) * SHAPE.cells());
        let contents = layout.contents_of(values[parts[parts.len() - 1].clone()].to_vec());
        assert_eq!(contents[[4, 1, 2]], (layout.frame() - 1) as f64);
    }
}

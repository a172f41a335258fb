//! Work space of a thread that marches through a block.

use crate::real::Real;

/// Low-order fluxes and corrections of rows of faces.
#[derive(Debug)]
pub(super) struct Split<R> {
    pub(super) low: Vec<R>,
    pub(super) correction: Vec<R>,
}

impl<R: Real> Split<R> {
    fn new(len: usize) -> Self {
        Self { low: vec![R::ZERO; len], correction: vec![R::ZERO; len] }
    }

    pub(super) fn fill_zero(&mut self) {
        self.low.fill(R::ZERO);
        self.correction.fill(R::ZERO);
    }
}

/// Scale factors of one level.
#[derive(Debug)]
pub(super) struct Scales<R> {
    pub(super) outgoing: Vec<R>,
    pub(super) incoming: Vec<R>,
}

impl<R: Real> Scales<R> {
    fn new(len: usize) -> Self {
        Self { outgoing: vec![R::ONE; len], incoming: vec![R::ONE; len] }
    }

    pub(super) fn fill_one(&mut self) {
        self.outgoing.fill(R::ONE);
        self.incoming.fill(R::ONE);
    }
}

/// Work space of one thread that marches through a block, on cache lines of its own.
///
/// Rows are contiguous, as in the fields. A face along x or y has the index of the cell to its east or north, so that a
/// row has as many faces as cells: the last face along x is the first one if x is periodic, and is not needed
/// otherwise.
#[derive(Debug)]
#[repr(align(128))]
pub(in super::super) struct Scratch<R> {
    /// Mass fluxes through the western faces of the ring, and the two planes of their capacity.
    pub(super) mass_x: Vec<R>,
    pub(super) capacity_x: [Vec<R>; 2],
    /// High-order fluxes of faces along one axis.
    pub(super) high: Vec<R>,
    /// Split fluxes through the faces of the ring.
    pub(super) x: Split<R>,
    pub(super) y: Split<R>,
    pub(super) bottom: Split<R>,
    pub(super) top: Split<R>,
    /// Scale factors of the level below and of this one.
    pub(super) below: Scales<R>,
    pub(super) here: Scales<R>,
    /// Final fluxes through the faces of the block.
    pub(super) flux_x: Vec<R>,
    pub(super) flux_y: Vec<R>,
    pub(super) flux_bottom: Vec<R>,
    pub(super) flux_top: Vec<R>,
    /// Net lateral outflow of the block.
    pub(super) lateral: Vec<R>,
}

impl<R: Real> Scratch<R> {
    /// For blocks of `block` rows of `nx` cells.
    pub(in super::super) fn new(nx: usize, block: usize) -> Self {
        let rows = |count| vec![R::ZERO; count * nx];
        // The rows whose scale factors a block needs: one more on either side.
        let ring = block + 2;
        Self {
            mass_x: rows(ring),
            capacity_x: [rows(ring), rows(ring)],
            high: rows(ring + 1),
            x: Split::new(ring * nx),
            y: Split::new((ring + 1) * nx),
            bottom: Split::new(ring * nx),
            top: Split::new(ring * nx),
            below: Scales::new(ring * nx),
            here: Scales::new(ring * nx),
            flux_x: rows(block),
            flux_y: rows(block + 1),
            flux_bottom: rows(block),
            flux_top: rows(block),
            lateral: rows(block),
        }
    }
}

//! An operator applied to the fields where they are: only its small products come to the host.

use crate::device::{Buffer, Element, Gpu, Parcel};
use crate::error::Result;
use crate::primitives::csr::Csr;
use crate::primitives::gpu::csr::{DeviceCsr, Rung};
use crate::real::Real;

/// Levels that stand one after the other in an array of the device.
#[derive(Clone, Copy, Debug)]
pub struct Levels<'a, R> {
    /// The array.
    pub array: &'a Buffer<R>,
    /// Number of the first level.
    pub first: usize,
    /// Number of them.
    pub count: usize,
}

/// An operator on the device, and its products on their way to the host.
#[derive(Debug)]
pub struct Sampling<R> {
    matrix: DeviceCsr<R>,
    rung: Rung,
    /// Levels that it is applied to at a time.
    levels: usize,
    parcel: Parcel<R>,
}

impl<R: Real + Element> Sampling<R> {
    /// An operator, to be applied to `levels` levels at a time.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below, and those of [`DeviceCsr::new`].
    pub fn new(gpu: &Gpu, operator: &Csr<R>, levels: usize) -> Result<Self> {
        let parcel = Parcel::new(gpu, levels * operator.rows())?;
        let matrix = DeviceCsr::new(gpu, operator)?;
        let rung = matrix.fastest(levels);
        Ok(Self { matrix, rung, levels, parcel })
    }

    /// Memory that it takes, bytes on the device.
    pub fn bytes(operator: &Csr<R>, levels: usize) -> usize {
        let [device, _] = Parcel::<R>::bytes(levels * operator.rows());
        device + DeviceCsr::bytes(operator)
    }

    /// Begins the products with these levels, one group after the other.
    ///
    /// # Errors
    ///
    /// When the device has failed.
    ///
    /// # Panics
    ///
    /// When they are not as many levels as promised, or an array ends before them, or two products
    /// are under way already.
    pub fn send(&mut self, groups: &[Levels<'_, R>]) -> Result<()> {
        let Self { matrix, rung, levels, parcel } = self;
        let (rows, columns) = (matrix.rows(), matrix.columns());
        let count: usize = groups.iter().map(|group| group.count).sum();
        assert_eq!(count, *levels, "levels that an operator is applied to");
        parcel.send(|room| {
            let mut done = 0;
            for Levels { array, first, count } in groups {
                assert!(array.len() >= (first + count) * columns, "levels of an array");
                let (from, to) = (array.pointer_to(first * columns), room.pointer_to(done * rows));
                // SAFETY: as many levels stand there, and there is room for their products; memory is
                // freed only when the device is done with it, and no graph holds the launch.
                unsafe { matrix.launch(*rung, from, to, *count)? };
                done += count;
            }
            Ok(())
        })
    }

    /// Returns `true` if the oldest products under way are here; `false` if there are none.
    ///
    /// # Errors
    ///
    /// When the device has failed.
    pub fn is_here(&self) -> Result<bool> {
        self.parcel.is_here()
    }

    /// Waits for the oldest products under way, those of a level together, one for each place; `None` where there are
    /// none.
    ///
    /// # Errors
    ///
    /// When the device has failed before they were made.
    pub fn receive(&mut self) -> Result<Option<Vec<R>>> {
        self.parcel.receive(<[R]>::to_vec)
    }

    /// Places that the operator leads to.
    pub fn places(&self) -> usize {
        self.matrix.rows()
    }

    /// Time of the copies to the host so far, s.
    pub fn seconds(&self) -> f64 {
        self.parcel.seconds()
    }
}

//! A sparse operator applied to fields on the device: only its small products are copied to the host.

use crate::device::{AsyncDownload, Buffer, Element, Gpu};
use crate::error::Result;
use crate::primitives::csr::Csr;
use crate::primitives::gpu::csr::{DeviceCsr, Rung};
use crate::real::Real;

/// Contiguous levels in an array on the device.
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
    /// Levels of one application.
    levels: usize,
    download: AsyncDownload<R>,
}

impl<R: Real + Element> Sampling<R> {
    /// An operator for `levels` levels at a time.
    pub(crate) fn new(gpu: &Gpu, operator: &Csr<R>, levels: usize) -> Result<Self> {
        let download = AsyncDownload::new(gpu, levels * operator.rows())?;
        let matrix = DeviceCsr::new(gpu, operator)?;
        let rung = matrix.fastest(levels);
        Ok(Self { matrix, rung, levels, download })
    }

    /// Device memory of the operator, bytes.
    pub(crate) fn bytes(operator: &Csr<R>, levels: usize) -> usize {
        let device = AsyncDownload::<R>::bytes(levels * operator.rows());
        device + DeviceCsr::bytes(operator)
    }

    /// Queues the products with these levels, as many as at construction, one group after the other; at most two
    /// products are under way.
    pub(crate) fn send(&mut self, groups: &[Levels<'_, R>]) -> Result<()> {
        let Self { matrix, rung, levels, download } = self;
        let (rows, columns) = (matrix.rows(), matrix.columns());
        let count: usize = groups.iter().map(|group| group.count).sum();
        assert_eq!(count, *levels, "levels that an operator is applied to");
        download.send(|staging| {
            let mut done = 0;
            for Levels { array, first, count } in groups {
                assert!(array.len() >= (first + count) * columns, "levels of an array");
                let (from, to) =
                    (array.pointer_to(first * columns), staging.pointer_to(done * rows));
                // SAFETY: the numbers of levels and products were checked; memory is freed only after the device is
                // done with it, and no graph contains the launch.
                unsafe { matrix.launch(*rung, from, to, *count)? };
                done += count;
            }
            Ok(())
        })
    }

    /// Returns `true` if the oldest products under way have arrived; `false` if there are none.
    pub(crate) fn is_complete(&self) -> Result<bool> {
        self.download.is_complete()
    }

    /// Waits for the oldest products under way, grouped by level with one value for each target point; `None` if there
    /// are none.
    pub(crate) fn receive(&mut self) -> Result<Option<Vec<R>>> {
        self.download.receive(<[R]>::to_vec)
    }

    /// Number of target points.
    pub(crate) fn places(&self) -> usize {
        self.matrix.rows()
    }

    /// Time of the copies to the host so far, s.
    pub(crate) fn seconds(&self) -> f64 {
        self.download.seconds()
    }
}

//! Column physics: schemes that treat each column independently.
//!
//! A scheme is a [`ColumnPhysics`]: it names the fields that it works on, and advances the columns of a [`Block`].
//! [`call`] distributes all columns among threads. With the feature `gpu`, `device::DevicePhysics` has its kernels. A
//! run holds it as an object, a [`Scheme`](scheme::Scheme) from the [`registry`] or from outside the crate.
//!
//! | scheme | contents |
//! |---|---|
//! | [`wsm5`] | five species of water, in two variants that differ in their sedimentation |
//! | [`kessler`] | warm rain in three species of water, without ice |
//! | [`wsm6`] | six species of water, with graupel or hail; on independent columns |
//!
//! A further scheme has its folder here and in `kernels/physics`, and a line in [`registry`].

pub mod block;
pub mod budget;
mod case;
#[cfg(feature = "gpu")]
pub mod device;
mod factors;
pub mod kessler;
pub mod registry;
pub mod scheme;
pub mod wsm5;
pub mod wsm6;

use std::fmt::Debug;
use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ndarray::Array3;

use crate::error::{Error, Result};
use crate::real::Real;
use crate::simd::Instructions;

pub use block::Block;
pub(crate) use block::SplitColumns;
pub use budget::{Budget, MismatchMasses};
pub use case::PhysicsCase;

/// A field that a scheme works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name in files of columns.
    pub name: &'static str,
    /// Its units there.
    pub units: &'static str,
    /// Its description.
    pub about: &'static str,
}

/// A scheme of column physics.
///
/// Columns are independent. Parameters are members of the scheme.
pub trait ColumnPhysics<R: Real>: Sync {
    /// Name of the scheme, in words.
    const NAME: &'static str;
    /// The fields that a call changes: potential temperature, vapour, further tracers.
    const TRACERS: &'static [Field];
    /// Names of tracers that are zero if a file of columns does not have them.
    const OPTIONAL: &'static [&'static str] = &[];
    /// The fields of the air that a call reads.
    const AIR: &'static [Field];
    /// The planes at the ground that a call adds to or sets.
    const SURFACE: &'static [Field];
    /// Supported numbers of levels.
    const LEVELS: RangeInclusive<usize>;
    /// The fields that are diagnosed from the columns after the last call.
    const DIAGNOSED: &'static [Field] = &[];

    /// Work space of a thread.
    type Work: Debug + Send;

    /// Work space for columns of `nz` levels, with given vector instructions or none.
    fn work(&self, nz: usize, instructions: Option<Instructions>) -> Self::Work;

    /// One call on the columns of a block: `dt` seconds.
    fn call_block(&self, dt: R, work: &mut Self::Work, block: &mut Block<'_, R>);

    /// [`ColumnPhysics::DIAGNOSED`] of columns with these [`ColumnPhysics::TRACERS`] and [`ColumnPhysics::AIR`], of
    /// which the first tracer is the whole potential temperature.
    fn diagnose(&self, tracers: &[Array3<R>], air: &[Array3<R>]) -> Vec<Array3<R>> {
        let _ = (tracers, air);
        Vec::new()
    }
}

/// The work space of all threads, each allocated once, when its thread first needs it.
#[derive(Debug)]
pub struct Scratch<W> {
    nz: usize,
    instructions: Option<Instructions>,
    /// Work spaces that no thread uses now, each with the number in the pool of the thread that used it last.
    free: Mutex<Vec<(Option<usize>, W)>>,
}

impl<W> Scratch<W> {
    /// Work space for columns of `nz` levels, with the best instructions of the processor.
    pub fn new<R: Real, P: ColumnPhysics<R, Work = W>>(physics: &P, nz: usize) -> Self {
        Self::with(physics, nz, Instructions::best())
    }

    /// The same with given vector instructions, or with none.
    pub fn with<R: Real, P: ColumnPhysics<R, Work = W>>(
        physics: &P,
        nz: usize,
        instructions: Option<Instructions>,
    ) -> Self {
        let first = (None, physics.work(nz, instructions));
        Self { nz, instructions, free: Mutex::new(vec![first]) }
    }

    /// Calls `work` with a work space: that which this thread had before, whose memory is near, if it is free.
    fn with_scratch<R: Real, P: ColumnPhysics<R, Work = W>, T>(
        &self,
        physics: &P,
        work: impl FnOnce(&mut W) -> T,
    ) -> T {
        let thread = rayon::current_thread_index();
        let found = {
            let mut free = self.free();
            let own = free.iter().position(|(user, _)| *user == thread);
            match own {
                Some(own) => Some(free.swap_remove(own)),
                None => free.pop(),
            }
        };
        let mut space = match found {
            Some((_, space)) => space,
            None => physics.work(self.nz, self.instructions),
        };
        let result = work(&mut space);
        self.free().push((thread, space));
        result
    }

    fn free(&self) -> MutexGuard<'_, Vec<(Option<usize>, W)>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The length of a part of a call, in schemes that divide calls, s, and most of them, as many as kernels can count.
const PART: f64 = 120.0;
const MOST_PARTS: f64 = i32::MAX as f64;

/// Rejects an impossible length of a call.
pub(crate) fn check_length<R: Real>(dt: R) -> Result<()> {
    if dt > R::ZERO && (dt / R::of(PART)).round().f64() <= MOST_PARTS {
        return Ok(());
    }
    let most = MOST_PARTS * PART;
    Err(Error::Usage(format!(
        "a call of the microphysics of {} s; give a number of seconds above 0 and up to {most:e}",
        dt.f64()
    )))
}

/// One call of a scheme on all columns of a block, in parallel: `dt` seconds. The result does not depend on the number
/// of threads.
///
/// # Panics
///
/// When the numbers of fields are not those of the scheme.
pub fn call<R: Real, P: ColumnPhysics<R>>(
    physics: &P,
    dt: R,
    scratch: &Scratch<P::Work>,
    block: Block<'_, R>,
) {
    block.check::<P>();
    block.shared_out(&|mut block| {
        scratch.with_scratch(physics, |work| physics.call_block(dt, work, &mut block));
    });
}

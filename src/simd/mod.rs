//! SIMD: lanes of numbers, so that loops over many cells become vector instructions of the processor at hand.
//!
//! A [`Task`] is compiled for every set of instructions, and the best one of the processor is picked at run time. The
//! compiler vectorises loops over [`LANES`] values in it if they contain no calls; their number type is a [`Lane`].

pub mod double;
mod float;
pub(crate) mod gather_scatter;
mod instruction_set;
pub mod math;
mod precision;

use std::fmt;

use pulp::Simd;
#[cfg(target_arch = "x86_64")]
use pulp::x86::{V3, V4};

pub use float::Lane;

/// Values that are computed side by side: two registers of AVX-512 or four of AVX2.
///
/// With a single register the compiler unrolls short loops into scalar code; with four, more lanes idle where only some
/// columns are active.
pub const LANES: usize = 32;

/// One number for each lane: each column or cell of a group. With one lane it is a single column or cell.
pub type Row<R, const N: usize = LANES> = [R; N];

/// Results of a function, one for each lane.
///
/// The return value does not alias what the function reads. The compiler can see that, and vectorises without run-time
/// checks.
#[inline(always)]
pub fn each<R: Copy + Default, const N: usize>(value: impl Fn(usize) -> R) -> Row<R, N> {
    let mut row = [R::default(); N];
    for (lane, place) in row.iter_mut().enumerate() {
        *place = value(lane);
    }
    row
}

/// Returns `true` if the condition holds in any lane.
#[inline(always)]
pub fn any<const N: usize>(holds: impl Fn(usize) -> bool) -> bool {
    each::<u32, N>(|l| u32::from(holds(l))).iter().fold(0, |any, holds| any | holds) != 0
}

/// Returns `true` if the condition holds in all lanes.
#[inline(always)]
pub fn all<const N: usize>(holds: impl Fn(usize) -> bool) -> bool {
    !any::<N>(|l| !holds(l))
}

/// A set of instructions that this processor has.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub enum Instructions {
    /// AVX2 and FMA, eight numbers at a time.
    Avx2(V3),
    /// AVX-512, sixteen numbers at a time.
    Avx512(V4),
}

/// No set of instructions is supported on other processors.
#[cfg(not(target_arch = "x86_64"))]
#[derive(Clone, Copy, Debug)]
pub enum Instructions {}

#[cfg(target_arch = "x86_64")]
impl Instructions {
    /// All sets of this processor, the best one first; empty without AVX2 and FMA.
    fn of_processor() -> Vec<Self> {
        let avx512 = V4::try_new().map(Self::Avx512);
        let avx2 = V3::try_new().map(Self::Avx2);
        avx512.into_iter().chain(avx2).collect()
    }

    /// Name of the set in `NWP_MINI_SIMD`.
    fn option(self) -> &'static str {
        match self {
            Self::Avx2(_) => "avx2",
            Self::Avx512(_) => "avx512",
        }
    }

    /// Runs a task with these instructions.
    #[inline]
    pub fn run<T: Task>(self, task: T) -> T::Output {
        match self {
            Self::Avx2(set) => Simd::vectorize(set, Compiled(task)),
            Self::Avx512(set) => Simd::vectorize(set, Compiled(task)),
        }
    }

    /// Name of the set.
    pub fn name(self) -> &'static str {
        match self {
            Self::Avx2(_) => "AVX2",
            Self::Avx512(_) => "AVX-512",
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Instructions {
    /// Empty.
    fn of_processor() -> Vec<Self> {
        Vec::new()
    }

    /// Name of the set in `NWP_MINI_SIMD`.
    fn option(self) -> &'static str {
        match self {}
    }

    /// Runs a task with these instructions; never called, since there are none.
    pub fn run<T: Task>(self, _task: T) -> T::Output {
        match self {}
    }

    /// Name of the set.
    pub fn name(self) -> &'static str {
        match self {}
    }
}

impl Instructions {
    /// All sets that the program may use, the best one first: those of the processor, up to the one that
    /// `NWP_MINI_SIMD` names if it is set. Empty if the variable is invalid, which [`Instructions::check`] reports.
    pub fn available() -> &'static [Self] {
        instruction_set::permitted().as_deref().unwrap_or_default()
    }

    /// The best set that the program may use.
    #[inline]
    pub fn best() -> Option<Self> {
        Self::available().first().copied()
    }

    /// Rejects a value of `NWP_MINI_SIMD` that is not a set, or a set that this processor lacks.
    ///
    /// # Errors
    ///
    /// The value of the variable and its admissible ones.
    pub fn check() -> Result<(), String> {
        instruction_set::permitted().as_ref().map(drop).map_err(Clone::clone)
    }

    /// Name of the best set; "none" if there is none.
    pub fn best_name() -> &'static str {
        Self::best().map_or("none", Self::name)
    }
}

/// Runs a task that is written for vector registers with the best instructions that the program may use; without any, a
/// register holds one number.
///
/// For tasks whose bits do not depend on the instructions: every fused operation is explicit.
#[inline]
pub fn run_best_in_registers<T: pulp::WithSimd>(task: T) -> T::Output {
    #[cfg(target_arch = "x86_64")]
    match Instructions::best() {
        Some(Instructions::Avx2(set)) => return Simd::vectorize(set, task),
        Some(Instructions::Avx512(set)) => return Simd::vectorize(set, task),
        None => {}
    }
    task.with_simd(pulp::Scalar::new())
}

/// Runs a task with the best instructions that the program may use.
///
/// For tasks whose bits do not depend on the instructions: they request no fused operation.
#[inline]
pub fn run_best<T: Task>(task: T) -> T::Output {
    match Instructions::best() {
        Some(instructions) => instructions.run(task),
        None => task.run(),
    }
}

impl fmt::Display for Instructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Work that is compiled for every set of instructions.
pub trait Task {
    /// Result of the task.
    type Output;

    /// Runs the work. Only inlined code is compiled with the instructions: mark it, and the functions that it calls,
    /// `#[inline(always)]`.
    fn run(self) -> Self::Output;
}

#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "no instructions"))]
struct Compiled<T>(T);

impl<T: Task> pulp::WithSimd for Compiled<T> {
    type Output = T::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _instructions: S) -> T::Output {
        self.0.run()
    }
}

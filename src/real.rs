//! The two floating-point precisions that every formula is written for.

use std::fmt::{Debug, Display, LowerExp};
use std::iter::Sum;

use num_traits::{Float, NumAssign};

/// The floating-point precision of computation and output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// Single
    F32,
    /// Double
    F64,
}

impl Precision {
    /// Name of the precision: `f32` or `f64`.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => f32::NAME,
            Self::F64 => f64::NAME,
        }
    }

    /// Bytes of a number.
    pub fn bytes(self) -> usize {
        match self {
            Self::F32 => size_of::<f32>(),
            Self::F64 => size_of::<f64>(),
        }
    }
}

/// `f32` or `f64`, or their substitutes in loops over many cells ([`crate::simd`]).
pub trait Real:
    Float + NumAssign + Sum + Default + Debug + Display + LowerExp + Send + Sync + 'static
{
    /// The substitute of the same precision that loops over many cells are vectorised with.
    type Lane: Real<Lane = Self::Lane>;

    /// 0.
    const ZERO: Self;
    /// 1/2.
    const HALF: Self;
    /// 1.
    const ONE: Self;
    /// 2.
    const TWO: Self;
    /// The precision of the type.
    const PRECISION: Precision;
    /// Name of the precision: `f32` or `f64`.
    const NAME: &'static str;

    /// The nearest value to `x`.
    fn of(x: f64) -> Self;

    /// The same value in double precision.
    fn f64(self) -> f64;

    /// The value as a lane of a vectorised loop.
    fn lane(self) -> Self::Lane;

    /// The value of a lane.
    fn of_lane(lane: Self::Lane) -> Self;

    /// The next larger representable number.
    fn next_up(self) -> Self;

    /// The next smaller representable number.
    fn next_down(self) -> Self;

    /// The number, or zero if it is subnormal.
    ///
    /// Processors handle subnormal numbers by microcode, which slows down all lanes; kernels with fast-math flush them
    /// to zero too.
    #[inline(always)]
    fn normal(self) -> Self {
        if self.abs() < Self::min_positive_value() { Self::ZERO } else { self }
    }

    /// The number as SIMD lanes keep it: those of single precision drop subnormal numbers ([`Real::normal`]).
    #[inline(always)]
    fn normal_in_lanes(self) -> Self {
        self
    }

    /// root^y, where root is x^(-1/4).
    #[inline(always)]
    fn power_of_root(root: Self, _x: Self, y: Self) -> Self {
        root.powf(y)
    }

    /// The larger of two numbers, as one instruction; `other` if either is NaN.
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        if self > other { self } else { other }
    }

    /// The smaller of two numbers, as one instruction; `other` if either is NaN.
    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        if self < other { self } else { other }
    }
}

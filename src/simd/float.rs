//! A single-precision number whose functions are vectorised.

use std::cmp::Ordering;
use std::fmt::{self, Debug, Display, LowerExp};
use std::iter::Sum;
use std::num::FpCategory;
use std::ops::{
    Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign,
};

use num_traits::{Float, Num, NumCast, One, ToPrimitive, Zero};

use super::math;
use crate::real::{Precision, Real};

/// An `f32` whose `exp`, `ln`, `log10`, `cbrt` and `powf` are those of [`math`]; the rest is as for `f32`.
///
/// Formulas are generic over their number type. With this one, a loop over many cells contains no call, and the
/// compiler vectorises it.
#[derive(Clone, Copy, Default, PartialEq)]
#[repr(transparent)]
pub struct Lane(pub f32);

impl PartialOrd for Lane {
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.0.partial_cmp(&other.0)
    }

    // One comparison each, unlike the default implementation by an ordering.
    #[inline(always)]
    fn lt(&self, other: &Self) -> bool {
        self.0 < other.0
    }

    #[inline(always)]
    fn le(&self, other: &Self) -> bool {
        self.0 <= other.0
    }

    #[inline(always)]
    fn gt(&self, other: &Self) -> bool {
        self.0 > other.0
    }

    #[inline(always)]
    fn ge(&self, other: &Self) -> bool {
        self.0 >= other.0
    }
}

macro_rules! shown {
    ($($trait:ident),*) => { $(
        impl $trait for Lane {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $trait::fmt(&self.0, f)
            }
        }
    )* };
}

shown!(Debug, Display, LowerExp);

macro_rules! operators {
    ($($trait:ident $name:ident $assign:ident $assign_name:ident;)*) => { $(
        impl $trait for Lane {
            type Output = Self;

            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                Self($trait::$name(self.0, other.0))
            }
        }

        impl $assign for Lane {
            #[inline(always)]
            fn $assign_name(&mut self, other: Self) {
                $assign::$assign_name(&mut self.0, other.0);
            }
        }
    )* };
}

operators! {
    Add add AddAssign add_assign;
    Sub sub SubAssign sub_assign;
    Mul mul MulAssign mul_assign;
    Div div DivAssign div_assign;
    Rem rem RemAssign rem_assign;
}

impl Neg for Lane {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Sum for Lane {
    fn sum<I: Iterator<Item = Self>>(numbers: I) -> Self {
        Self(numbers.map(|x| x.0).sum())
    }
}

impl Zero for Lane {
    fn zero() -> Self {
        Self(0.0)
    }

    fn is_zero(&self) -> bool {
        self.0 == 0.0
    }
}

impl One for Lane {
    fn one() -> Self {
        Self(1.0)
    }
}

impl Num for Lane {
    type FromStrRadixErr = <f32 as Num>::FromStrRadixErr;

    fn from_str_radix(text: &str, radix: u32) -> Result<Self, Self::FromStrRadixErr> {
        f32::from_str_radix(text, radix).map(Self)
    }
}

impl ToPrimitive for Lane {
    fn to_i64(&self) -> Option<i64> {
        self.0.to_i64()
    }

    fn to_u64(&self) -> Option<u64> {
        self.0.to_u64()
    }

    fn to_f64(&self) -> Option<f64> {
        self.0.to_f64()
    }
}

impl NumCast for Lane {
    fn from<T: ToPrimitive>(number: T) -> Option<Self> {
        number.to_f32().map(Self)
    }
}

macro_rules! float {
    (
        values: [$($value:ident),*],
        tests: [$($test:ident),*],
        functions: [$($function:ident),*],
        of_two: [$($of_two:ident),*],
    ) => {
        impl Float for Lane {
            $( #[inline(always)] fn $value() -> Self { Self(<f32 as Float>::$value()) } )*
            $( #[inline(always)] fn $test(self) -> bool { self.0.$test() } )*
            $( #[inline(always)] fn $function(self) -> Self { Self(Float::$function(self.0)) } )*
            $( #[inline(always)] fn $of_two(self, other: Self) -> Self {
                Self(Float::$of_two(self.0, other.0))
            } )*

            #[inline(always)]
            fn exp(self) -> Self {
                Self(math::exp(self.0))
            }

            #[inline(always)]
            fn ln(self) -> Self {
                Self(math::ln(self.0))
            }

            #[inline(always)]
            fn log10(self) -> Self {
                Self(math::log10(self.0))
            }

            #[inline(always)]
            fn cbrt(self) -> Self {
                Self(math::cbrt(self.0))
            }

            #[inline(always)]
            fn powf(self, exponent: Self) -> Self {
                Self(math::powf(self.0, exponent.0))
            }

            #[inline(always)]
            fn mul_add(self, factor: Self, summand: Self) -> Self {
                Self(self.0.mul_add(factor.0, summand.0))
            }

            fn powi(self, exponent: i32) -> Self {
                Self(self.0.powi(exponent))
            }

            fn sin_cos(self) -> (Self, Self) {
                let (sin, cos) = self.0.sin_cos();
                (Self(sin), Self(cos))
            }

            fn classify(self) -> FpCategory {
                self.0.classify()
            }

            fn integer_decode(self) -> (u64, i16, i8) {
                Float::integer_decode(self.0)
            }
        }
    };
}

float! {
    values: [
        nan, infinity, neg_infinity, neg_zero, min_value, min_positive_value, max_value, epsilon
    ],
    tests: [
        is_nan, is_infinite, is_finite, is_normal, is_sign_positive, is_sign_negative
    ],
    functions: [
        floor, ceil, round, trunc, fract, abs, signum, recip, sqrt, exp2, log2, exp_m1,
        ln_1p, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh
    ],
    of_two: [max, min, log, hypot, atan2, abs_sub],
}

impl Real for Lane {
    type Lane = Self;

    const ZERO: Self = Self(0.0);
    const HALF: Self = Self(0.5);
    const ONE: Self = Self(1.0);
    const TWO: Self = Self(2.0);
    const PRECISION: Precision = Precision::F32;
    const NAME: &'static str = f32::NAME;

    #[inline(always)]
    fn of(x: f64) -> Self {
        Self(f32::of(x))
    }

    #[inline(always)]
    fn f64(self) -> f64 {
        self.0.f64()
    }

    #[inline(always)]
    fn lane(self) -> Self {
        self
    }

    #[inline(always)]
    fn of_lane(lane: Self) -> Self {
        lane
    }

    /// Computed from x, so that a caller that needs only the power does not wait for the root.
    #[inline(always)]
    fn power_of_root(_root: Self, x: Self, y: Self) -> Self {
        x.powf(Self(-0.25 * y.0))
    }

    #[inline(always)]
    fn normal_in_lanes(self) -> Self {
        self.normal()
    }

    fn next_up(self) -> Self {
        Self(self.0.next_up())
    }

    fn next_down(self) -> Self {
        Self(self.0.next_down())
    }
}

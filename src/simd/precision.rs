//! `f32` and `f64` as number types of formulas, each with the type that loops over many cells use instead.

use super::Lane;
use crate::real::{Precision, Real};

macro_rules! real {
    ($type:ident, $precision:ident, $lane:ident, $to_lane:expr, $of_lane:expr) => {
        impl Real for $type {
            type Lane = $lane;

            const ZERO: Self = 0.0;
            const HALF: Self = 0.5;
            const ONE: Self = 1.0;
            const TWO: Self = 2.0;
            const PRECISION: Precision = Precision::$precision;
            const NAME: &'static str = stringify!($type);

            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
            fn of(x: f64) -> Self {
                x as Self
            }

            #[inline(always)]
            fn f64(self) -> f64 {
                self.into()
            }

            #[inline(always)]
            fn lane(self) -> $lane {
                $to_lane(self)
            }

            #[inline(always)]
            fn of_lane(lane: $lane) -> Self {
                $of_lane(lane)
            }

            fn next_up(self) -> Self {
                Self::next_up(self)
            }

            fn next_down(self) -> Self {
                Self::next_down(self)
            }
        }
    };
}

real!(f32, F32, Lane, Lane, |lane: Lane| lane.0);
// Double precision uses the functions of the standard library.
real!(f64, F64, f64, std::convert::identity, std::convert::identity);

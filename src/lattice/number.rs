//! Number types of the formulas of the lattice: reals of either precision, and SIMD vectors of them.

use std::ops::{Add, Mul, Neg, Sub};

use pulp::Simd;

use crate::real::Real;

/// A real number, or one for each lane of a vector register.
pub trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
    /// `self * factor + summand`, rounded once (fused multiply-add).
    fn fused(self, factor: Self, summand: Self) -> Self;
}

impl<R: Real> Number for R {
    #[inline(always)]
    fn fused(self, factor: Self, summand: Self) -> Self {
        self.mul_add(factor, summand)
    }
}

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex<N> {
    /// Real part.
    pub re: N,
    /// Imaginary part.
    pub im: N,
}

impl<N: Number> Add for Complex<N> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}

impl<N: Number> Complex<N> {
    /// The product with a real number.
    #[inline(always)]
    pub fn scaled(self, factor: N) -> Self {
        Self { re: self.re * factor, im: self.im * factor }
    }
}

/// A vector register of single-precision numbers.
#[derive(Clone, Copy, Debug)]
pub struct Singles<S: Simd>(S, S::f32s);

/// A vector register of double-precision numbers.
#[derive(Clone, Copy, Debug)]
pub struct Doubles<S: Simd>(S, S::f64s);

macro_rules! vector {
    ($vector:ident, $add:ident, $sub:ident, $mul:ident, $neg:ident, $fused:ident) => {
        impl<S: Simd> Add for $vector<S> {
            type Output = Self;

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                Self(self.0, self.0.$add(self.1, other.1))
            }
        }

        impl<S: Simd> Sub for $vector<S> {
            type Output = Self;

            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                Self(self.0, self.0.$sub(self.1, other.1))
            }
        }

        impl<S: Simd> Mul for $vector<S> {
            type Output = Self;

            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                Self(self.0, self.0.$mul(self.1, other.1))
            }
        }

        impl<S: Simd> Neg for $vector<S> {
            type Output = Self;

            #[inline(always)]
            fn neg(self) -> Self {
                Self(self.0, self.0.$neg(self.1))
            }
        }

        impl<S: Simd> Number for $vector<S> {
            #[inline(always)]
            fn fused(self, factor: Self, summand: Self) -> Self {
                Self(self.0, self.0.$fused(self.1, factor.1, summand.1))
            }
        }
    };
}

vector!(Singles, add_f32s, sub_f32s, mul_f32s, neg_f32s, mul_add_f32s);
vector!(Doubles, add_f64s, sub_f64s, mul_f64s, neg_f64s, mul_add_f64s);

/// A precision with vector registers.
pub trait Vectorised: Real {
    /// A register of the instruction set `S`, as stored in memory.
    type Register<S: Simd>: Copy;
    /// A register with arithmetic.
    type Vector<S: Simd>: Number;

    /// Numbers in a register.
    fn lanes<S: Simd>() -> usize;

    /// The whole registers of a slice, without the remainder.
    fn registers<S: Simd>(values: &[Self]) -> &[Self::Register<S>];

    /// The same for writing.
    fn registers_mut<S: Simd>(values: &mut [Self]) -> &mut [Self::Register<S>];

    /// The numbers of a register.
    fn vector<S: Simd>(simd: S, register: Self::Register<S>) -> Self::Vector<S>;

    /// The register of some numbers.
    fn register<S: Simd>(vector: Self::Vector<S>) -> Self::Register<S>;

    /// The same number in all lanes.
    fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S>;
}

macro_rules! vectorised {
    ($real:ident, $vector:ident, $register:ident, $lanes:ident, $slice:ident, $slice_mut:ident, $splat:ident) => {
        impl Vectorised for $real {
            type Register<S: Simd> = S::$register;
            type Vector<S: Simd> = $vector<S>;

            #[inline(always)]
            fn lanes<S: Simd>() -> usize {
                S::$lanes
            }

            #[inline(always)]
            fn registers<S: Simd>(values: &[Self]) -> &[S::$register] {
                S::$slice(values).0
            }

            #[inline(always)]
            fn registers_mut<S: Simd>(values: &mut [Self]) -> &mut [S::$register] {
                S::$slice_mut(values).0
            }

            #[inline(always)]
            fn vector<S: Simd>(simd: S, register: S::$register) -> $vector<S> {
                $vector(simd, register)
            }

            #[inline(always)]
            fn register<S: Simd>(vector: $vector<S>) -> S::$register {
                vector.1
            }

            #[inline(always)]
            fn splat<S: Simd>(simd: S, value: Self) -> $vector<S> {
                $vector(simd, simd.$splat(value))
            }
        }
    };
}

vectorised!(f32, Singles, f32s, F32_LANES, as_simd_f32s, as_mut_simd_f32s, splat_f32s);
vectorised!(f64, Doubles, f64s, F64_LANES, as_simd_f64s, as_mut_simd_f64s, splat_f64s);

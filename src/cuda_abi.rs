//! ABI of Rust and CUDA: macros that define constants and structs once, for Rust, in both precisions, and for CUDA.
//!
//! Rust has the only definition. Kernels get it as text in their `prelude`, in the `gpu` module of their subject, which
//! asks every trait of constants and every shared struct for its `cuda_text`.

use std::marker::PhantomData;

use crate::real::{Precision, Real};

/// Defines a trait of constants with its values for `f32` and `f64`, and their CUDA text.
///
/// A `single` constant is the value that WRF holds in single precision: the nearest `f32`,
/// and exactly that number in double precision too. An `exact` constant is rounded to each
/// precision on its own.
macro_rules! shared_constants {
    (
        $(#[$trait_doc:meta])*
        $vis:vis trait $trait:ident: $super:path;
        $( $(#[doc = $doc:literal])* $kind:ident $name:ident = $value:expr, $unit:literal; )*
    ) => {
        $(#[$trait_doc])*
        $vis trait $trait: $super {
            $(
                $(#[doc = $doc])*
                #[doc = concat!("\n\nUnits: ", $unit, ".")]
                const $name: Self;
            )*

            /// CUDA text of the constants of this trait.
            fn cuda_text() -> String {
                $crate::cuda_abi::constants_text(&[$( $crate::cuda_abi::Constant {
                    name: stringify!($name),
                    value: <Self as $trait>::$name,
                    unit: $unit,
                    doc: &[$($doc),*],
                } ),*])
            }
        }

        #[allow(clippy::cast_lossless, clippy::unnecessary_cast, clippy::excessive_precision,
                reason = "one text for both precisions")]
        impl $trait for f32 {
            $( const $name: Self = shared_constants!(@value $kind $value) as Self; )*
        }

        #[allow(clippy::cast_lossless, clippy::unnecessary_cast, clippy::excessive_precision,
                reason = "one text for both precisions")]
        impl $trait for f64 {
            $( const $name: Self = shared_constants!(@value $kind $value) as Self; )*
        }

        impl $trait for $crate::simd::Lane {
            $( const $name: Self = Self(<f32 as $trait>::$name); )*
        }
    };
    (@value single $value:expr) => { (($value) as f32) };
    (@value exact $value:expr) => { (($value) as f64) };
}

/// Defines a struct that kernels take by value, laid out alike in Rust and in CUDA, and its CUDA
/// text.
///
/// It is generic over the working precision `R` if it has values of it; fields have the visibility of the struct. Field
/// types are `R`, `i32`, `f64`, [`DevicePointer`], [`ReadPointer`], arrays of these, or another shared struct. Their
/// order must leave no padding, which the compiler checks.
macro_rules! shared_struct {
    (
        $(#[doc = $struct_doc:literal])*
        $(#[derive($($derive:ident),*)])?
        $vis:vis struct $name:ident $(<$R:ident>)? {
            $( $(#[doc = $doc:literal])* $field:ident: $type:ty, $unit:literal; )*
        }
    ) => {
        $(#[doc = $struct_doc])*
        #[derive(Clone, Copy, Debug $(, $($derive),*)?)]
        #[repr(C)]
        $vis struct $name $(<$R>)? {
            $(
                $(#[doc = $doc])*
                #[doc = concat!("\n\nUnits: ", $unit, ".")]
                $vis $field: $type,
            )*
        }

        impl $(<$R>)? $crate::cuda_abi::CudaType for $name $(<$R>)? {
            fn declaration(name: &str) -> String {
                format!("{} {name}", stringify!($name))
            }
        }

        impl $(<$R: $crate::cuda_abi::Bytes>)? $crate::cuda_abi::Bytes for $name $(<$R>)? {
            fn write(&self, bytes: &mut Vec<u8>) {
                $( $crate::cuda_abi::Bytes::write(&self.$field, bytes); )*
            }
        }

        impl $(<$R>)? $name $(<$R>)? {
            /// CUDA text of the struct.
            $vis fn cuda_text() -> String {
                $( type $R = $crate::cuda_abi::WorkingPrecision; )?
                $crate::cuda_abi::struct_text(
                    stringify!($name), size_of::<Self>(), &[$($struct_doc),*], &[
                    $( $crate::cuda_abi::Member {
                        declaration: <$type as $crate::cuda_abi::CudaType>::declaration,
                        name: stringify!($field),
                        unit: $unit,
                        doc: &[$($doc),*],
                    } ),*
                ])
            }
        }

        const _: () = {
            $( type $R = f32; )?
            assert!(size_of::<$name $(<$R>)?>() == 0 $( + size_of::<$type>() )*, "padding in f32");
        };
        const _: () = {
            $( type $R = f64; )?
            assert!(size_of::<$name $(<$R>)?>() == 0 $( + size_of::<$type>() )*, "padding in f64");
        };
    };
}

pub(crate) use {shared_constants, shared_struct};

/// A valid type of a member of a shared struct.
pub trait CudaType {
    /// CUDA declaration of a member `name` of this type, without the semicolon.
    fn declaration(name: &str) -> String;
}

/// A value whose bytes are those that a kernel reads.
pub trait Bytes {
    /// Appends the bytes.
    fn write(&self, bytes: &mut Vec<u8>);
}

/// Placeholder for the working precision, `real` in CUDA, in the text of a struct.
#[derive(Clone, Copy, Debug)]
pub struct WorkingPrecision;

/// An address in device memory that kernels read and write as `T`; `T*` in CUDA.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct DevicePointer<T> {
    address: u64,
    target: PhantomData<T>,
}

impl<T> DevicePointer<T> {
    /// A pointer to an address; 0 is null.
    pub const fn new(address: u64) -> Self {
        Self { address, target: PhantomData }
    }

    /// The address.
    pub const fn address(self) -> u64 {
        self.address
    }

    /// A pointer to the element at offset `count`.
    pub const fn offset(self, count: usize) -> Self {
        Self::new(self.address + (count * size_of::<T>()) as u64)
    }

    /// The same address, read only.
    pub const fn read(self) -> ReadPointer<T> {
        ReadPointer { address: self.address, target: PhantomData }
    }
}

/// An address in device memory that kernels only read, as `T`; `const T*` in CUDA.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct ReadPointer<T> {
    address: u64,
    target: PhantomData<T>,
}

impl<T> ReadPointer<T> {
    /// The address.
    pub const fn address(self) -> u64 {
        self.address
    }

    /// A pointer to the element at offset `count`.
    pub const fn offset(self, count: usize) -> Self {
        Self { address: self.address + (count * size_of::<T>()) as u64, target: PhantomData }
    }
}

impl CudaType for WorkingPrecision {
    fn declaration(name: &str) -> String {
        format!("real {name}")
    }
}

macro_rules! number {
    ($type:ident, $cuda:literal) => {
        impl CudaType for $type {
            fn declaration(name: &str) -> String {
                format!(concat!($cuda, " {}"), name)
            }
        }

        impl Bytes for $type {
            fn write(&self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_ne_bytes());
            }
        }
    };
}

number!(f32, "float");
number!(f64, "double");
number!(i32, "int");
number!(u32, "unsigned");
number!(i64, "long long");
number!(u64, "unsigned long long");

impl<T: CudaType, const N: usize> CudaType for [T; N] {
    fn declaration(name: &str) -> String {
        T::declaration(&format!("{name}[{N}]"))
    }
}

impl<T: Bytes, const N: usize> Bytes for [T; N] {
    fn write(&self, bytes: &mut Vec<u8>) {
        for element in self {
            element.write(bytes);
        }
    }
}

impl<T: CudaType> CudaType for DevicePointer<T> {
    fn declaration(name: &str) -> String {
        T::declaration(&format!("*{name}"))
    }
}

impl<T: CudaType> CudaType for ReadPointer<T> {
    fn declaration(name: &str) -> String {
        format!("const {}", T::declaration(&format!("*{name}")))
    }
}

impl<T> Bytes for DevicePointer<T> {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.address.to_ne_bytes());
    }
}

impl<T> Bytes for ReadPointer<T> {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.address.to_ne_bytes());
    }
}

/// A number as a CUDA literal: the shortest text that reproduces the bits.
pub fn literal<R: Real>(value: R) -> String {
    let suffix = match R::PRECISION {
        Precision::F32 => "f",
        Precision::F64 => "",
    };
    format!("{value:?}{suffix}")
}

/// A constant of the macro. As data in a table it needs one function, not one for each constant.
pub(crate) struct Constant<R> {
    pub(crate) name: &'static str,
    pub(crate) value: R,
    pub(crate) unit: &'static str,
    pub(crate) doc: &'static [&'static str],
}

/// A member of a struct in the macro.
pub(crate) struct Member {
    pub(crate) declaration: fn(&str) -> String,
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) doc: &'static [&'static str],
}

/// Lines that declare constants.
pub(crate) fn constants_text<R: Real>(constants: &[Constant<R>]) -> String {
    let line = |Constant { name, value, unit, doc }: &Constant<R>| {
        format!("constexpr real {name} = {}; {}\n", literal(*value), comment(unit, doc))
    };
    constants.iter().map(line).collect()
}

/// The declaration of a struct from its members.
pub(crate) fn struct_text(name: &str, size: usize, doc: &[&str], members: &[Member]) -> String {
    let summary = doc.first().map_or("", |line| line.trim());
    let line = |Member { declaration, name, unit, doc }: &Member| {
        format!("    {}; {}\n", declaration(name), comment(unit, doc))
    };
    let members: String = members.iter().map(line).collect();
    format!(
        "// {summary}\nstruct {name} {{\n{members}}};\n\
         static_assert(sizeof({name}) == {size}, \"the layout of {name} differs from Rust's\");\n",
    )
}

fn comment(unit: &str, doc: &[&str]) -> String {
    let lines: Vec<&str> = doc.iter().map(|line| line.trim()).collect();
    format!("// [{unit}] {}", lines.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    shared_constants! {
        /// Some constants.
        trait Some: Real;

        /// Acceleration due to gravity
        /// at the ground.
        exact GRAVITY = 9.81, "m s⁻²";
        /// A difference in single precision.
        single DIFFERENCE = 4190.0_f32 - 1846.4_f32, "1";
        /// Hardly anything.
        exact LITTLE = 1.0e-25, "1";
        /// Very much.
        exact MUCH = 5.38e27, "1";
    }

    shared_struct! {
        /// One value and its weight.
        #[derive(Default)]
        struct Part<R> {
            /// The value.
            value: R, "m";
            /// Its weight.
            weight: R, "1";
        }
    }

    shared_struct! {
        /// Arguments of a kernel.
        ///
        /// All of it.
        struct Arguments<R> {
            /// Written.
            result: DevicePointer<R>, "K";
            /// Read.
            field: ReadPointer<R>, "K";
            /// Added up in double precision.
            sum: DevicePointer<f64>, "kg";
            /// A part.
            part: Part<R>, "1";
            /// Some
            /// numbers.
            bins: [R; 2], "1";
            /// Columns.
            nx: i32, "1";
            /// Rows.
            ny: i32, "1";
        }
    }

    #[test]
    fn constants_are_literals_with_the_same_bits() {
        assert_eq!(
            <f32 as Some>::cuda_text(),
            "constexpr real GRAVITY = 9.81f; // [m s⁻²] Acceleration due to gravity at the ground.\n\
             constexpr real DIFFERENCE = 2343.6f; // [1] A difference in single precision.\n\
             constexpr real LITTLE = 1e-25f; // [1] Hardly anything.\n\
             constexpr real MUCH = 5.38e27f; // [1] Very much.\n"
        );
        assert_eq!(
            <f64 as Some>::cuda_text(),
            "constexpr real GRAVITY = 9.81; // [m s⁻²] Acceleration due to gravity at the ground.\n\
             constexpr real DIFFERENCE = 2343.60009765625; // [1] A difference in single precision.\n\
             constexpr real LITTLE = 1e-25; // [1] Hardly anything.\n\
             constexpr real MUCH = 5.38e27; // [1] Very much.\n"
        );
        let same = |x: f32| literal(x).trim_end_matches('f').parse() == Ok(x);
        assert!(
            [<f32 as Some>::GRAVITY, <f32 as Some>::LITTLE, 1.0, f32::MIN].into_iter().all(same)
        );
    }

    #[test]
    fn structs_have_members_units_and_a_size() {
        assert_eq!(
            Part::<f64>::cuda_text(),
            "// One value and its weight.\n\
             struct Part {\n    \
             real value; // [m] The value.\n    \
             real weight; // [1] Its weight.\n\
             };\n\
             static_assert(sizeof(Part) == 16, \"the layout of Part differs from Rust's\");\n"
        );
        assert_eq!(
            Arguments::<f32>::cuda_text(),
            "// Arguments of a kernel.\n\
             struct Arguments {\n    \
             real *result; // [K] Written.\n    \
             const real *field; // [K] Read.\n    \
             double *sum; // [kg] Added up in double precision.\n    \
             Part part; // [1] A part.\n    \
             real bins[2]; // [1] Some numbers.\n    \
             int nx; // [1] Columns.\n    \
             int ny; // [1] Rows.\n\
             };\n\
             static_assert(sizeof(Arguments) == 48, \"the layout of Arguments differs from Rust's\");\n"
        );
    }

    #[test]
    fn bytes_are_those_of_the_members_in_their_order() {
        let arguments = Arguments::<f32> {
            result: DevicePointer::new(0x0102_0304_0506_0708).offset(2),
            field: DevicePointer::new(16).read(),
            sum: DevicePointer::default(),
            part: Part { value: 1.5, ..Part::default() },
            bins: [2.0, 3.0],
            nx: 4,
            ny: -5,
        };
        let mut bytes = Vec::new();
        arguments.write(&mut bytes);
        let expected = [
            &0x0102_0304_0506_0710_u64.to_ne_bytes()[..],
            &16_u64.to_ne_bytes(),
            &0_u64.to_ne_bytes(),
            &[1.5_f32, 0.0, 2.0, 3.0].map(f32::to_ne_bytes).concat(),
            &[4_i32, -5].map(i32::to_ne_bytes).concat(),
        ];
        assert_eq!(bytes, expected.concat());
        assert_eq!(bytes.len(), size_of::<Arguments<f32>>());
        assert_eq!(arguments.field.address(), 16);
        assert_eq!(DevicePointer::<f64>::new(8).address(), 8);
    }
}

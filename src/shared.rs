//! The macro that defines physical constants once for every precision.

/// Defines a trait of constants with its values for `f32` and `f64`.
///
/// A `single` constant is the value that WRF holds in single precision: the nearest `f32`,
/// and exactly that number in double precision too. An `exact` constant is rounded to each
/// precision on its own.
macro_rules! shared_constants {
    (
        $(#[$trait_doc:meta])*
        $vis:vis trait $trait:ident: $super:path;
        $( $(#[$doc:meta])* $kind:ident $name:ident = $value:expr, $unit:literal; )*
    ) => {
        $(#[$trait_doc])*
        $vis trait $trait: $super {
            $(
                $(#[$doc])*
                #[doc = concat!("\n\nUnits: ", $unit, ".")]
                const $name: Self;
            )*
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
    };
    (@value single $value:expr) => { (($value) as f32) };
    (@value exact $value:expr) => { (($value) as f64) };
}

pub(crate) use shared_constants;

//! Factors of the processes: 1 in the scheme itself.
//!
//! Other values show the effect of a process. Ensembles with perturbed physics use them, and so do tests, which must
//! detect a process that is off by one per cent.

use crate::real::Real;

macro_rules! factors {
    ($( $(#[$doc:meta])* $name:ident, )*) => {
        /// Factor of the rate, amount or speed of each process, 1.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Factors<R> {
            $( $(#[$doc])* pub $name: R, )*
        }

        impl<R: Real> Default for Factors<R> {
            /// The scheme itself.
            fn default() -> Self {
                Self { $( $name: R::ONE, )* }
            }
        }

        impl<R: Copy> Factors<R> {
            /// The same factors in another precision.
            pub fn map<S>(&self, with: impl Fn(R) -> S) -> Factors<S> {
                Factors { $( $name: with(self.$name), )* }
            }
        }

        impl<R: Real> Factors<R> {
            /// Names of the processes.
            pub const NAMES: &'static [&'static str] = &[ $( stringify!($name), )* ];

            /// The factor of a process.
            pub fn of(&mut self, name: &str) -> Option<&mut R> {
                match name {
                    $( stringify!($name) => Some(&mut self.$name), )*
                    _ => None,
                }
            }
        }
    };
}

factors! {
    /// Autoconversion.
    praut,
    /// Collection of cloud water by rain.
    pracw,
    /// Condensation on rain and evaporation of it.
    prevp,
    /// Collection of ice by snow.
    psaci,
    /// Collection of cloud water by snow.
    psacw,
    /// Deposition on ice.
    pidep,
    /// Deposition on snow.
    psdep,
    /// Formation of ice.
    pigen,
    /// Aggregation of ice.
    psaut,
    /// Melting of snow.
    psmlt,
    /// Melting of ice.
    pimlt,
    /// Freezing of cloud water in great cold.
    pihmf,
    /// Freezing of cloud water on nuclei.
    pihtf,
    /// Freezing of rain.
    psfrz,
    /// Condensation.
    pcond,
    /// Fall of rain.
    fall_rain,
    /// Fall of snow.
    fall_snow,
    /// Fall of ice.
    fall_ice,
}

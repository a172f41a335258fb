//! Factors of the processes of a scheme: 1 in the scheme itself.
//!
//! Other values show the effect of a process. Ensembles with perturbed physics use them, and so do tests, which must
//! detect a process that is off by one per cent.

/// Defines the struct of the factors of a scheme, a number for each of its processes.
macro_rules! factors {
    (
        $(#[doc = $about:literal])*
        pub struct $name:ident;
        $( $(#[doc = $doc:literal])* $process:ident; )*
    ) => {
        $crate::cuda_abi::shared_struct! {
            $(#[doc = $about])*
            #[derive(PartialEq)]
            pub struct $name<R> {
                $( $(#[doc = $doc])* $process: R, "1"; )*
            }
        }

        impl<R: $crate::real::Real> Default for $name<R> {
            /// The scheme itself.
            fn default() -> Self {
                Self { $( $process: R::ONE, )* }
            }
        }

        impl<R: Copy> $name<R> {
            /// The same factors in another precision.
            pub fn map<S>(&self, with: impl Fn(R) -> S) -> $name<S> {
                $name { $( $process: with(self.$process), )* }
            }

            /// Names of the processes.
            pub const NAMES: &'static [&'static str] = &[ $( stringify!($process), )* ];

            /// The factor of a process.
            pub fn of(&mut self, name: &str) -> Option<&mut R> {
                match name {
                    $( stringify!($process) => Some(&mut self.$process), )*
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use factors;

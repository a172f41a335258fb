//! The mass of the cells in the form of kernels.

use crate::cuda_abi::{ReadPointer, shared_struct};

shared_struct! {
    /// A field that is a sum of two products of a plane and a profile (`Layered` in Rust).
    #[derive(Default)]
    pub struct LayeredPointers<R> {
        /// The plane with the column mass.
        with_mu: ReadPointer<R>, "kg Pa⁻¹";
        /// The plane without it.
        without_mu: ReadPointer<R>, "kg Pa⁻¹";
        /// The profile that multiplies `with_mu`.
        c1: ReadPointer<R>, "1";
        /// The profile that multiplies `without_mu`.
        c2: ReadPointer<R>, "1";
        /// A lower bound of the values of each level, slightly below the least.
        least: ReadPointer<R>, "kg";
    }
}

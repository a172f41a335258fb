//! The mass of the cells, as kernels find it.

use crate::shared::{ReadPointer, shared_struct};

shared_struct! {
    /// A field that is a sum of two products of a plane and a profile (`Layered` in Rust).
    #[derive(Default)]
    pub struct LayeredPointers<R> {
        /// The plane that the column mass enters.
        with_mu: ReadPointer<R>, "kg Pa⁻¹";
        /// The plane that it does not enter.
        without_mu: ReadPointer<R>, "kg Pa⁻¹";
        /// The profile that multiplies `with_mu`.
        c1: ReadPointer<R>, "1";
        /// The profile that multiplies `without_mu`.
        c2: ReadPointer<R>, "1";
        /// A little less than the least value of each level.
        least: ReadPointer<R>, "kg";
    }
}

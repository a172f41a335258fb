//! Arguments of the kernels of the Wilson operator.

use crate::cuda_abi::{DevicePointer, ReadPointer, shared_struct};

shared_struct! {
    /// Arguments of the hopping term.
    #[derive(Default)]
    pub struct WilsonArgs<R> {
        /// Spinors of the result, of one parity.
        out: DevicePointer<R>, "1";
        /// Spinors of the other parity.
        in_: ReadPointer<R>, "1";
        /// Links of the sites of the result.
        links_here: ReadPointer<R>, "1";
        /// Links of the sites of the other parity.
        links_there: ReadPointer<R>, "1";
        /// Spinors that the hopping term is added to.
        base: ReadPointer<R>, "1";
        /// Factor of the hopping term in that sum.
        coefficient: R, "1";
        /// Factor of hops across the end in t.
        end_sign: R, "1";
        /// Parity of the result, 0 for even.
        parity: i32, "1";
        /// Right-hand sides that a thread processes in turn.
        sides: i32, "1";
    }
}

shared_struct! {
    /// Arguments of an iteration of conjugate gradients.
    #[derive(Default)]
    pub struct SolverArgs<R> {
        /// The solution.
        x: DevicePointer<R>, "1";
        /// Residual of the right-hand side.
        r: DevicePointer<R>, "1";
        /// The residual of the normal equations.
        s: DevicePointer<R>, "1";
        /// The direction.
        p: DevicePointer<R>, "1";
        /// The operator applied to it.
        q: DevicePointer<R>, "1";
        /// A sum for each block.
        sums: DevicePointer<f64>, "1";
        /// Scalars that kernels pass on.
        numbers: DevicePointer<f64>, "1";
        /// Squares of the norm of the residual, before the first and after every iteration.
        history: DevicePointer<f64>, "1";
        /// Verdict, iterations done, and blocks that have finished.
        words: DevicePointer<u64>, "1";
        /// A half of a product with the preconditioned operator.
        hop: WilsonArgs<R>, "1";
    }
}

//! What the kernels are given that have no file of their own for it: one struct each, alike in Rust
//! and in CUDA.

use crate::shared::{DevicePointer, ReadPointer, shared_struct};

shared_struct! {
    /// What the kernel that only calculates is given.
    #[derive(Default)]
    pub struct ArithmeticArgs<R> {
        /// One value for each thread; set.
        out: DevicePointer<R>, "1";
        /// What a link of a chain multiplies by; below 1.
        factor: R, "1";
        /// What it adds.
        summand: R, "1";
        /// Number of rounds.
        rounds: i32, "1";
        /// Fills the struct up.
        filler: i32, "1";
    }
}

shared_struct! {
    /// What the kernels that reduce segments are given.
    #[derive(Default)]
    pub struct ReduceArgs<R> {
        /// The first element of the first segment.
        values: ReadPointer<R>, "any";
        /// The same of the second factor, where there is one.
        others: ReadPointer<R>, "any";
        /// The result of each segment, as many words as the operation needs.
        results: DevicePointer<u64>, "any";
        /// The results of the blocks, likewise.
        partials: DevicePointer<u64>, "any";
        /// How many blocks of each segment are done: 0 between launches.
        tickets: DevicePointer<u64>, "1";
        /// Elements of a segment.
        length: i64, "1";
        /// Elements from one segment to the next.
        stride: i64, "1";
        /// Blocks of a segment.
        blocks: i32, "1";
        /// Fills the struct up.
        filler: i32, "1";
    }
}

shared_struct! {
    /// What a rung of the ladder of the sum is given.
    #[derive(Default)]
    pub struct LadderArgs<R> {
        /// What is added up.
        values: ReadPointer<R>, "any";
        /// One sum for each block.
        sums: DevicePointer<R>, "any";
        /// Number of values.
        length: i64, "1";
    }
}

shared_struct! {
    /// What an experiment with the memory is given.
    #[derive(Default)]
    pub struct MemoryArgs<R> {
        /// What is read.
        from: ReadPointer<R>, "any";
        /// What is written.
        to: DevicePointer<R>, "any";
        /// Places of elements, for an experiment that takes such.
        indices: ReadPointer<i32>, "1";
        /// Number of elements.
        count: i64, "1";
        /// Elements or words from one to the next, or before the first.
        step: i64, "1";
        /// Repetitions.
        rounds: i32, "1";
        /// Fills the struct up.
        filler: i32, "1";
        /// What an element is multiplied by in every round.
        factor: R, "1";
        /// What is added to it.
        summand: R, "any";
    }
}

shared_struct! {
    /// What the kernels of the transpose are given.
    #[derive(Default)]
    pub struct TransposeArgs<R> {
        /// The matrices, one after the other, (matrix, row, column).
        from: ReadPointer<R>, "any";
        /// The transposed matrices, (matrix, column, row).
        to: DevicePointer<R>, "any";
        /// How many elements are not where they belong; counted by the kernel that checks.
        faults: DevicePointer<i32>, "1";
        /// Rows of a matrix.
        rows: i32, "1";
        /// Columns of a matrix.
        columns: i32, "1";
        /// Number of matrices.
        matrices: i32, "1";
        /// Fills the struct up.
        filler: i32, "1";
    }
}

shared_struct! {
    /// What the kernels of sparse matrices are given.
    #[derive(Default)]
    pub struct CsrArgs<R> {
        /// Where the entries of each row begin; one more than there are rows.
        starts: ReadPointer<i32>, "1";
        /// Column of every entry, filled up to a multiple of four.
        columns: ReadPointer<i32>, "1";
        /// Value of every entry, filled up likewise.
        values: ReadPointer<R>, "any";
        /// Tiles of rows: first row, number of rows or piece, first entry, entry beyond the last.
        tiles: ReadPointer<i32>, "1";
        /// Rows that are cut into pieces: row, first piece, piece beyond the last, 0.
        cuts: ReadPointer<i32>, "1";
        /// Rows that are longer than a thread should add up alone.
        long_rows: ReadPointer<i32>, "1";
        /// Sums of the pieces, (right-hand side, piece).
        partials: DevicePointer<R>, "any";
        /// The vectors that are multiplied.
        x: ReadPointer<R>, "any";
        /// The products.
        y: DevicePointer<R>, "any";
        /// From one vector to the next.
        x_stride: i64, "1";
        /// From one product to the next.
        y_stride: i64, "1";
        /// Rows of the matrix.
        rows: i32, "1";
        /// Right-hand sides.
        sides: i32, "1";
        /// Pieces of all rows that are cut.
        pieces: i32, "1";
        /// Number of rows that are cut.
        cut_rows: i32, "1";
        /// Number of long rows.
        long_count: i32, "1";
        /// Fills the struct up.
        filler: i32, "1";
    }
}

shared_struct! {
    /// A system of equations and how far it is solved.
    #[derive(Default)]
    pub struct DescentArgs<R> {
        /// Where each row starts, one more than there are rows.
        starts: ReadPointer<i32>, "1";
        /// Column of every entry.
        column_of: ReadPointer<i32>, "1";
        /// Value of every entry.
        values: ReadPointer<R>, "those of the matrix";
        /// What the residuals are scaled by.
        inverse: ReadPointer<R>, "1 over those of the matrix";
        /// What they have to come down to.
        limit: ReadPointer<R>, "those of the right-hand side";
        /// The approximate solution.
        x: DevicePointer<R>, "those of the solution";
        /// What is left of the right-hand side.
        residual: DevicePointer<R>, "those of the right-hand side";
        /// The residual after scaling.
        scaled: DevicePointer<R>, "those of the solution";
        /// Where the last iteration has moved x to.
        before: ReadPointer<R>, "those of the solution";
        /// Where this one does.
        direction: DevicePointer<R>, "those of the solution";
        /// The matrix times the direction.
        product: DevicePointer<R>, "those of the right-hand side";
        /// One sum for each block.
        sums: DevicePointer<f64>, "their product";
        /// Energy, length of the move, and how much of the direction is kept.
        numbers: DevicePointer<f64>, "their product, 1, 1";
        /// Verdict, products done, and what the blocks tell each other.
        words: DevicePointer<u64>, "1";
        /// The verdict, where the host sees it.
        shown: DevicePointer<u64>, "1";
        /// Rows of the matrix.
        rows: i32, "1";
        /// Products that are granted.
        most: i32, "1";
    }
}

impl<R> DescentArgs<R> {
    /// What an iteration is given, of which two take turns: `number` counts from 0.
    pub fn turn(self, number: usize) -> Self {
        if number.is_multiple_of(2) {
            return self;
        }
        let Self { before, direction, .. } = self;
        Self { before: direction.read(), direction: DevicePointer::new(before.address()), ..self }
    }
}

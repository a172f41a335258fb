//! Argument structs of the kernels of several files, the same in Rust and in CUDA.

use crate::cuda_abi::{DevicePointer, ReadPointer, shared_struct};

shared_struct! {
    /// Arguments of the arithmetic benchmark.
    #[derive(Default)]
    pub struct ArithmeticArgs<R> {
        /// One value for each thread; set.
        out: DevicePointer<R>, "1";
        /// Factor of a link of a chain; below 1.
        factor: R, "1";
        /// Summand of a link.
        summand: R, "1";
        /// Number of rounds.
        rounds: i32, "1";
        /// Padding.
        filler: i32, "1";
    }
}

shared_struct! {
    /// Arguments of the kernels that reduce segments.
    #[derive(Default)]
    pub struct ReduceArgs<R> {
        /// The first element of the first segment.
        values: ReadPointer<R>, "any";
        /// First element of the second factor; null for operations of one array.
        others: ReadPointer<R>, "any";
        /// Result of each segment, in the number of words of the operation.
        results: DevicePointer<u64>, "any";
        /// Partial results of the blocks, in the same format.
        partials: DevicePointer<u64>, "any";
        /// Number of blocks of each segment that are done; 0 between launches.
        tickets: DevicePointer<u64>, "1";
        /// Elements of a segment.
        length: i64, "1";
        /// Distance between the starts of two segments, elements.
        stride: i64, "1";
        /// Blocks of a segment.
        blocks: i32, "1";
        /// Padding.
        filler: i32, "1";
    }
}

shared_struct! {
    /// Arguments of a rung of the ladder of the sum.
    #[derive(Default)]
    pub struct LadderArgs<R> {
        /// Values to add up.
        values: ReadPointer<R>, "any";
        /// One sum for each block.
        sums: DevicePointer<R>, "any";
        /// Number of values.
        length: i64, "1";
    }
}

shared_struct! {
    /// Arguments of an experiment with the memory.
    #[derive(Default)]
    pub struct MemoryArgs<R> {
        /// Values to read.
        from: ReadPointer<R>, "any";
        /// Values to write.
        to: DevicePointer<R>, "any";
        /// Indices of elements, for a gather.
        indices: ReadPointer<i32>, "1";
        /// Number of elements.
        count: i64, "1";
        /// Stride or offset, elements or words.
        step: i64, "1";
        /// Repetitions.
        rounds: i32, "1";
        /// Padding.
        filler: i32, "1";
        /// Factor of an element in every round.
        factor: R, "1";
        /// Summand of an element.
        summand: R, "any";
    }
}

shared_struct! {
    /// Arguments of the kernels of the transpose.
    #[derive(Default)]
    pub struct TransposeArgs<R> {
        /// The matrices, one after the other, (matrix, row, column).
        from: ReadPointer<R>, "any";
        /// The transposed matrices, (matrix, column, row).
        to: DevicePointer<R>, "any";
        /// Number of misplaced elements, counted by the kernel that checks.
        faults: DevicePointer<i32>, "1";
        /// Rows of a matrix.
        rows: i32, "1";
        /// Columns of a matrix.
        columns: i32, "1";
        /// Number of matrices.
        matrices: i32, "1";
        /// Padding.
        filler: i32, "1";
    }
}

shared_struct! {
    /// Arguments of the kernels of sparse matrices.
    #[derive(Default)]
    pub struct CsrArgs<R> {
        /// Starts of the rows among the entries; one more than there are rows.
        starts: ReadPointer<i32>, "1";
        /// Column of every entry, padded to a multiple of four.
        columns: ReadPointer<i32>, "1";
        /// Value of every entry, padded to a multiple of four.
        values: ReadPointer<R>, "any";
        /// Tiles of rows: first row, number of rows or piece, first entry, end of the entries.
        tiles: ReadPointer<i32>, "1";
        /// Rows that are cut into pieces: row, first piece, end of the pieces, 0.
        cuts: ReadPointer<i32>, "1";
        /// Rows that are too long for one thread.
        long_rows: ReadPointer<i32>, "1";
        /// Sums of the pieces, (right-hand side, piece).
        partials: DevicePointer<R>, "any";
        /// The vectors that are multiplied.
        x: ReadPointer<R>, "any";
        /// The products.
        y: DevicePointer<R>, "any";
        /// Distance between the starts of two vectors, elements.
        x_stride: i64, "1";
        /// Distance between the starts of two products, elements.
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
        /// Padding.
        filler: i32, "1";
    }
}

shared_struct! {
    /// A system of equations and the state of its iteration.
    #[derive(Default)]
    pub struct DescentArgs<R> {
        /// Starts of the rows, one more than there are rows.
        starts: ReadPointer<i32>, "1";
        /// Column of every entry.
        column_of: ReadPointer<i32>, "1";
        /// Value of every entry.
        values: ReadPointer<R>, "those of the matrix";
        /// Factors of the residuals.
        inverse: ReadPointer<R>, "1 over those of the matrix";
        /// Limits of the residuals.
        limit: ReadPointer<R>, "those of the right-hand side";
        /// The approximate solution.
        x: DevicePointer<R>, "those of the solution";
        /// Residual of the right-hand side.
        residual: DevicePointer<R>, "those of the right-hand side";
        /// The residual after scaling.
        scaled: DevicePointer<R>, "those of the solution";
        /// Search direction of the last iteration.
        before: ReadPointer<R>, "those of the solution";
        /// Search direction of this one.
        direction: DevicePointer<R>, "those of the solution";
        /// The matrix times the direction.
        product: DevicePointer<R>, "those of the right-hand side";
        /// Partial sums of the blocks.
        sums: DevicePointer<f64>, "their product";
        /// Energy, step length, and factor of the old direction.
        numbers: DevicePointer<f64>, "their product, 1, 1";
        /// Verdict, number of products, and counters of the blocks.
        words: DevicePointer<u64>, "1";
        /// The verdict, in host-mapped memory.
        shown: DevicePointer<u64>, "1";
        /// Rows of the matrix.
        rows: i32, "1";
        /// Most products.
        most: i32, "1";
    }
}

impl<R> DescentArgs<R> {
    /// Arguments of an iteration; two sets alternate, `number` counts iterations from 0.
    pub fn turn(self, number: usize) -> Self {
        if number.is_multiple_of(2) {
            return self;
        }
        let Self { before, direction, .. } = self;
        Self { before: direction.read(), direction: DevicePointer::new(before.address()), ..self }
    }
}

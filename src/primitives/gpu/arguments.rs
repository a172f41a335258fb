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
    /// Arguments of the kernels of conjugate gradients.
    #[derive(Default)]
    pub struct DescentArgs {
        /// Starts of the rows, one more than there are rows.
        starts: ReadPointer<i32>, "1";
        /// Column of every entry.
        column_of: ReadPointer<i32>, "1";
        /// Value of every entry.
        values: ReadPointer<f64>, "those of the matrix";
        /// Limits of the residuals.
        limit: ReadPointer<f64>, "those of the right-hand side";
        /// The approximate solution.
        x: DevicePointer<f64>, "those of the solution";
        /// Residual of the right-hand side.
        residual: DevicePointer<f64>, "those of the right-hand side";
        /// The residual, scaled, for the preconditioner.
        scaled: DevicePointer<f32>, "1";
        /// The residual after preconditioning.
        improved: ReadPointer<f32>, "1";
        /// Search direction of the last iteration.
        before: ReadPointer<f64>, "1";
        /// Search direction of this one.
        direction: DevicePointer<f64>, "1";
        /// The matrix times the direction.
        product: DevicePointer<f64>, "those of the matrix";
        /// Energy, step length, and factor of the old direction.
        numbers: DevicePointer<f64>, "1";
        /// Verdict, number of products, counters of the blocks, and words of a sum.
        words: DevicePointer<u64>, "1";
        /// The verdict, in host-mapped memory.
        shown: DevicePointer<u64>, "1";
        /// Factor of the residual for the preconditioner.
        residual_scale: f64, "1 over those of the right-hand side";
        /// Factors of the terms of the two scalar products.
        energy_scale: f64, "1";
        /// The second.
        curvature_scale: f64, "1 over those of the matrix";
        /// Factor of the step length.
        length_scale: f64, "those of the solution";
        /// Rows of the matrix.
        rows: i32, "1";
        /// Most products.
        most: i32, "1";
    }
}

impl DescentArgs {
    /// Arguments of an iteration; two sets alternate, `number` counts iterations from 0.
    pub fn turn(self, number: usize) -> Self {
        if number.is_multiple_of(2) {
            return self;
        }
        let Self { before, direction, .. } = self;
        Self { before: direction.read(), direction: DevicePointer::new(before.address()), ..self }
    }
}

shared_struct! {
    /// Arguments of the kernels of a V-cycle, for one grid and the next coarser one.
    #[derive(Default)]
    pub struct MultigridArgs {
        /// Couplings to the west.
        west: ReadPointer<f32>, "1";
        /// Couplings to the south.
        south: ReadPointer<f32>, "1";
        /// Couplings to the south-west; null on a grid without them.
        south_west: ReadPointer<f32>, "1";
        /// Couplings to the south-east; null on a grid without them.
        south_east: ReadPointer<f32>, "1";
        /// Diagonal of the matrix.
        diagonal: ReadPointer<f32>, "1";
        /// Reciprocals of the diagonal.
        inverse: ReadPointer<f32>, "1";
        /// Planes of interpolation weights, of the next grid.
        weights: ReadPointer<f32>, "1";
        /// Right-hand side.
        b: ReadPointer<f32>, "1";
        /// Approximate solution.
        x: DevicePointer<f32>, "1";
        /// The residual, and the solution between two steps.
        other: DevicePointer<f32>, "1";
        /// Right-hand side of the next grid.
        coarse_b: DevicePointer<f32>, "1";
        /// Solution on the next grid.
        coarse_x: ReadPointer<f32>, "1";
        /// Words of the iteration.
        words: ReadPointer<u64>, "1";
        /// Cells in x.
        nx: i32, "1";
        /// Cells in y.
        ny: i32, "1";
        /// Cells of the next grid in x.
        coarse_nx: i32, "1";
        /// Cells of the next grid in y.
        coarse_ny: i32, "1";
        /// 1 if the next grid has every second cell in x.
        halved_x: i32, "1";
        /// The same in y.
        halved_y: i32, "1";
        /// Lengths of the steps of relaxation.
        steps: [f32; 2], "1";
    }
}

//! What the kernels are given that have no file of their own for it: one struct each, alike in Rust
//! and in CUDA.

use super::advection::{LayeredPointers, TransportArgs};
use crate::shared::{DevicePointer, ReadPointer, shared_struct};

shared_struct! {
    /// What the sum of all water is made from.
    #[derive(Default)]
    pub struct WaterArgs<R> {
        /// The water fields one after the other, (field, k, j, i).
        water: ReadPointer<R>, "kg kg⁻¹";
        /// Mass of the cells.
        mass: LayeredPointers<R>, "kg";
        /// One sum for each level and block.
        sums: DevicePointer<f64>, "kg";
        /// Places of a row.
        pitch: i32, "1";
        /// Cells from south to north.
        ny: i32, "1";
        /// First row of the region.
        first_row: i32, "1";
        /// First row beyond it.
        end_row: i32, "1";
        /// Place of the first column of the region in its row.
        first_column: i32, "1";
        /// The first place beyond it.
        end_column: i32, "1";
    }
}

shared_struct! {
    /// What the terms of a step are added up from.
    #[derive(Default)]
    pub struct TallyArgs<R> {
        /// The planes of the terms of each state, one after the other, (term, j, i).
        planes: ReadPointer<DevicePointer<R>>, "kg m⁻²";
        /// Area of the cells, (j, i).
        area: ReadPointer<f64>, "m²";
        /// One sum for each state, block and term, added to.
        sums: DevicePointer<f64>, "kg";
        /// Places of a row.
        pitch: i32, "1";
        /// Cells from south to north.
        ny: i32, "1";
        /// First row of the region.
        first_row: i32, "1";
        /// First row beyond it.
        end_row: i32, "1";
        /// Place of the first column of the region in its row.
        first_column: i32, "1";
        /// The first place beyond it.
        end_column: i32, "1";
        /// Blocks of a state.
        blocks: i32, "1";
        /// Fills the struct up.
        filler: i32, "1";
    }
}

shared_struct! {
    /// What lies between two fields is made from.
    #[derive(Default)]
    pub struct BlendArgs<R> {
        /// What is made.
        out: DevicePointer<R>, "as the fields";
        /// The field of the frame before.
        before: ReadPointer<R>, "as the fields";
        /// The field of the frame after.
        after: ReadPointer<R>, "as the fields";
        /// Number of elements.
        count: i64, "1";
        /// How far the time has come from the one to the other.
        weight: ReadPointer<R>, "1";
    }
}

shared_struct! {
    /// How far the time has come from one frame to the next.
    #[derive(Default)]
    pub struct WeightArgs<R> {
        /// Where the two are kept.
        kept: DevicePointer<R>, "1";
        /// For the fluxes.
        flux: R, "1";
        /// For the air and the values at the sides.
        air: R, "1";
    }
}

shared_struct! {
    /// What the vertical fluxes are made from.
    #[derive(Default)]
    pub struct CloseArgs<R> {
        /// Air through the x-faces, (nz, ny, nx + 1).
        x: ReadPointer<R>, "kg s⁻¹";
        /// Air through the y-faces, (nz, ny + 1, nx).
        y: ReadPointer<R>, "kg s⁻¹";
        /// Air through the z-faces, (nz + 1, ny, nx); set.
        z: DevicePointer<R>, "kg s⁻¹";
        /// Column mass, (ny, nx).
        mu: ReadPointer<f64>, "Pa";
        /// Hybrid coefficient of the column mass of all below a face, nz + 1.
        c1_below: ReadPointer<f64>, "1";
        /// Hybrid coefficient beside it, nz + 1.
        c2_below: ReadPointer<f64>, "Pa";
        /// Places of a row.
        pitch: i32, "1";
        /// Places of a row of x-faces.
        face_pitch: i32, "1";
        /// Cells from south to north.
        ny: i32, "1";
        /// Fills the struct up.
        filler: i32, "1";
    }
}

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
    /// What the kernel that ends steps is given.
    #[derive(Default)]
    pub struct StepEndArgs<R> {
        /// The last stage of the transport.
        transport: TransportArgs<R>, "see there";
        /// The terms of the water budget.
        tally: TallyArgs<R>, "see there";
        /// The notes of the steps, on the device.
        notes: DevicePointer<u64>, "1";
        /// The same where the host sees them.
        shown: DevicePointer<u64>, "1";
        /// Blocks that add up what has entered, none where nothing can; the others have the terms.
        entered_blocks: i32, "1";
        /// Steps that end.
        steps: i32, "1";
        /// Values that each has kept at the sides.
        side_values: i32, "1";
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

shared_struct! {
    /// What the water above each column is made from.
    #[derive(Default)]
    pub struct ContentsArgs<R> {
        /// The water fields one after the other, (field, k, j, i).
        water: ReadPointer<R>, "kg kg⁻¹";
        /// Mass of the cells, from the first one on.
        mass: LayeredPointers<R>, "kg";
        /// Area of the cells, (j, i).
        area: ReadPointer<f64>, "m²";
        /// The water above each square metre, (field, j, i); set.
        contents: DevicePointer<R>, "kg m⁻²";
        /// Cells from west to east.
        nx: i32, "1";
        /// Cells from south to north.
        ny: i32, "1";
        /// Places of a row of the mass.
        pitch: i32, "1";
        /// Fills the struct up.
        filler: i32, "1";
    }
}

shared_struct! {
    /// What the fastest outflow is found in.
    #[derive(Default)]
    pub struct OutflowArgs<R> {
        /// Air through the x-faces, (nz, ny, nx + 1), from that west of the first cell on.
        x: ReadPointer<R>, "kg s⁻¹";
        /// Air through the y-faces, (nz, ny + 1, nx), from that south of the first cell on.
        y: ReadPointer<R>, "kg s⁻¹";
        /// Air through the z-faces, (nz + 1, ny, nx), from that below the first cell on.
        z: ReadPointer<R>, "kg s⁻¹";
        /// Mass of the cells, from the first one on.
        mass: LayeredPointers<R>, "kg";
        /// The largest rate and its cell in one word, 0 before.
        fastest: DevicePointer<u64>, "s⁻¹";
        /// Cells from west to east.
        nx: i32, "1";
        /// Cells from south to north.
        ny: i32, "1";
        /// Places of a row.
        pitch: i32, "1";
        /// Places of a row of x-faces.
        face_pitch: i32, "1";
    }
}

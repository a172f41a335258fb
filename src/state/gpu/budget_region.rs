//! The region of budgets in the memory of a plane.

use std::ops::Range;

use crate::cuda_abi::shared_struct;
use crate::grid::gpu::Layout;

shared_struct! {
    /// Region of a budget in a plane.
    #[derive(Default)]
    pub struct BudgetRegion {
        /// Elements of a row.
        pitch: i32, "1";
        /// Cells from south to north.
        ny: i32, "1";
        /// First row.
        first_row: i32, "1";
        /// First row beyond it.
        end_row: i32, "1";
        /// Position of the first column in its row.
        first_column: i32, "1";
        /// Position after the last column.
        end_column: i32, "1";
    }
}

impl BudgetRegion {
    /// Rows j and columns i of a grid, in its memory layout.
    pub(crate) fn new(layout: Layout, rows: Range<usize>, columns: Range<usize>) -> Self {
        let columns = layout.places(columns);
        Self {
            pitch: layout.pitch() as i32,
            ny: layout.shape.ny as i32,
            first_row: rows.start as i32,
            end_row: rows.end as i32,
            first_column: columns.start as i32,
            end_column: columns.end as i32,
        }
    }
}

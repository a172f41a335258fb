//! Arguments of kernels that have no file of their own for it: one struct each, alike in Rust and in CUDA.

use crate::advection::gpu::TransportArgs;
use crate::mass::gpu::LayeredPointers;
use crate::shared::{DevicePointer, ReadPointer, shared_struct};

shared_struct! {
    /// Arguments of the sum of all water.
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
    /// Arguments of the sum of the terms of a step.
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
    /// Arguments of the kernel that ends steps.
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
        /// Blocks that add up the inflow, none where nothing can enter; the others have the terms.
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
    /// Arguments of the water above each column.
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
    /// Arguments of the search for the fastest outflow.
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

//! Argument structs of the kernels of several files, the same in Rust and in CUDA.

use crate::advection::gpu::TransportArgs;
use crate::cuda_abi::{DevicePointer, ReadPointer, shared_struct};
use crate::dry_mass::gpu::LayeredPointers;
use crate::state::gpu::budget_region::BudgetRegion;

shared_struct! {
    /// Arguments of the sum of all water.
    #[derive(Default)]
    pub struct WaterArgs<R> {
        /// The water fields, contiguous, (field, k, j, i).
        water: ReadPointer<R>, "kg kg⁻¹";
        /// Mass of the cells.
        mass: LayeredPointers<R>, "kg";
        /// Partial sums by level and block.
        sums: DevicePointer<f64>, "kg";
        /// Region of the budget.
        region: BudgetRegion, "1";
    }
}

shared_struct! {
    /// Arguments of the sums of the water budget of a step.
    #[derive(Default)]
    pub struct TallyArgs<R> {
        /// The planes of the terms of each state, contiguous, (term, j, i).
        planes: ReadPointer<DevicePointer<R>>, "kg m⁻²";
        /// Area of the cells, (j, i).
        area: ReadPointer<f64>, "m²";
        /// Partial sums by state, block and term; accumulated.
        sums: DevicePointer<f64>, "kg";
        /// Region of the budget.
        region: BudgetRegion, "1";
        /// Blocks of a state.
        blocks: i32, "1";
        /// Padding.
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
        /// Copy of the notes in host-mapped memory.
        shown: DevicePointer<u64>, "1";
        /// Number of blocks that sum the inflow, 0 if nothing can enter; the other blocks sum the terms.
        entered_blocks: i32, "1";
        /// Number of steps in the batch.
        steps: i32, "1";
        /// Side fluxes that each step has stored.
        side_values: i32, "1";
        /// Padding.
        filler: i32, "1";
    }
}

shared_struct! {
    /// Arguments of the kernels that pack columns of the fields and unpack them.
    #[derive(Default)]
    pub struct MarginArgs<R> {
        /// The fields, contiguous, (field, k, j, i).
        fields: DevicePointer<R>, "as the fields";
        /// The packed columns.
        packed: DevicePointer<R>, "as the fields";
        /// Place of the lowest cell of each packed column among them.
        starts: ReadPointer<u64>, "1";
        /// Place of each packed column in a plane of the fields.
        places: ReadPointer<i32>, "1";
        /// Columns of the message that each packed column is of, which is the distance of its levels.
        counts: ReadPointer<i32>, "1";
        /// Elements of a plane of the fields.
        plane: i64, "1";
        /// Packed columns.
        columns: i32, "1";
        /// Levels of all fields.
        levels: i32, "1";
    }
}

shared_struct! {
    /// Arguments of the column contents.
    #[derive(Default)]
    pub struct ContentsArgs<R> {
        /// The water fields, contiguous, (field, k, j, i).
        water: ReadPointer<R>, "kg kg⁻¹";
        /// Mass of the cells, from the first one on.
        mass: LayeredPointers<R>, "kg";
        /// Area of the cells, (j, i).
        area: ReadPointer<f64>, "m²";
        /// Column contents, mass per area, (field, j, i); set.
        contents: DevicePointer<R>, "kg m⁻²";
        /// Cells from west to east.
        nx: i32, "1";
        /// Cells from south to north.
        ny: i32, "1";
        /// Elements of a row of the mass.
        pitch: i32, "1";
        /// Padding.
        filler: i32, "1";
    }
}

shared_struct! {
    /// Arguments of the search for the largest Courant number.
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
        /// The largest rate and its cell in one word; 0 before the launch.
        fastest: DevicePointer<u64>, "s⁻¹";
        /// Cells from west to east that are searched.
        nx: i32, "1";
        /// Cells from south to north that are searched.
        ny: i32, "1";
        /// Elements of a row.
        pitch: i32, "1";
        /// Elements of a row of x-faces.
        face_pitch: i32, "1";
        /// Rows of cells of a level.
        rows: i32, "1";
        /// Padding.
        filler: i32, "1";
    }
}

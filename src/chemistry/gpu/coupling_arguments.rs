//! Arguments of the kernels between a run and its chemistry, alike in Rust and in CUDA.

use crate::cuda_abi::{DevicePointer, ReadPointer, shared_struct};
use crate::dry_mass::gpu::LayeredPointers;

shared_struct! {
    /// Arguments of the kernels between a run and its chemistry. Cells are those that have chemistry; arrays are
    /// (quantity, cell), planes and fields have rows as the layout has them.
    #[derive(Default)]
    pub(super) struct CouplingArgs<R> {
        /// All fields of the run.
        tracers: DevicePointer<R>, "any";
        /// Density, Exner function, pressure, one after the other.
        air: ReadPointer<R>, "SI";
        /// Mass of the cells.
        mass: LayeredPointers<R>, "kg";
        /// Places among the fields of the variable species, then origins of the fixed ones and of named quantities.
        places: ReadPointer<i32>, "1";
        /// Sine and cosine of the latitude, and the clock by the longitude, of every column.
        columns: ReadPointer<f64>, "1 and s";
        /// Parameters l, m, n of every photolysis frequency; nothing in the dark.
        skies: ReadPointer<f64>, "s⁻¹ and 1";
        /// Photolysis frequencies of the input in the frames before and after, each as (frequency, field); nothing where
        /// the input does not give the light.
        light_before: ReadPointer<R>, "s⁻¹";
        /// See `light_before`.
        light_after: ReadPointer<R>, "s⁻¹";
        /// Weight of the frame after, 0 to 1.
        later: f64, "1";
        /// Photolysis frequencies and true solar time of every column.
        daylight: DevicePointer<f64>, "s⁻¹ and s";
        /// Variable species.
        variable: DevicePointer<f64>, "molecules cm⁻³";
        /// Fixed species.
        fixed: DevicePointer<f64>, "molecules cm⁻³";
        /// Temperature.
        temperature: DevicePointer<f64>, "K";
        /// 1e-6 of the number density of air.
        air_factor: DevicePointer<f64>, "molecules cm⁻³";
        /// Number density of air.
        air_density: DevicePointer<f64>, "molecules cm⁻³";
        /// Hydrolysis of N2O5.
        hydrolysis: DevicePointer<f64>, "s⁻¹";
        /// Photolysis frequencies.
        photolysis: DevicePointer<f64>, "s⁻¹";
        /// Quantities that the rates name beside these.
        quantities: DevicePointer<f64>, "any";
        /// True solar time.
        start: DevicePointer<f64>, "s";
        /// The end of every cell's integration.
        status: ReadPointer<i32>, "1";
        /// Counters of every cell.
        counters: ReadPointer<i32>, "1";
        /// Step that the integration of every cell would continue with.
        next_steps: ReadPointer<f64>, "s";
        /// First step of every cell's next call, 0 for that of all; null if it is the same in every call.
        first_steps: DevicePointer<f64>, "s";
        /// Made by reactions and by clipping: (species, term, block).
        sums: DevicePointer<f64>, "kg ppmv";
        /// Steps, most steps of a cell, cells that failed, the first of them.
        tally: DevicePointer<u64>, "1";
        /// Number of the call.
        call: u64, "1";
        /// Sine and cosine of the declination of the sun.
        declination: [f64; 2], "1";
        /// True solar time at longitude 0.
        clock: f64, "s";
        /// Number of cells.
        cells: i64, "1";
        /// Places of a field.
        field: i64, "1";
        /// Places of a plane.
        plane: i32, "1";
        /// Places of a row.
        pitch: i32, "1";
        /// Rows and places of a row that have chemistry: the first and the one beyond the last.
        first_row: i32, "1";
        /// See `first_row`.
        end_row: i32, "1";
        /// See `first_row`.
        first_column: i32, "1";
        /// See `first_row`.
        end_column: i32, "1";
        /// Rows and places of a row that budgets are of.
        inner: [i32; 4], "1";
        /// Numbers of photolysis frequencies, of variable and of fixed species.
        frequencies: i32, "1";
        /// See `frequencies`.
        variables: i32, "1";
        /// See `frequencies`.
        fixed_species: i32, "1";
        /// Places of potential temperature and vapour among the fields.
        temperature_field: i32, "1";
        /// See `temperature_field`.
        vapour: i32, "1";
        /// Number of quantities that the rates name, whose origins follow those of the fixed species.
        named_quantities: i32, "1";
    }
}

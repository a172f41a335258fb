//! Arguments of the kernels of the chemistry.

use crate::cuda_abi::{DevicePointer, ReadPointer, shared_struct};

shared_struct! {
    /// Cells, their conditions and their results; arrays are (quantity, cell).
    #[derive(Default)]
    pub struct ChemistryArgs {
        /// Variable species in the order of the integration.
        variable: DevicePointer<f64>, "molecules cm⁻³";
        /// Fixed species.
        fixed: ReadPointer<f64>, "molecules cm⁻³";
        /// Temperature.
        temperature: ReadPointer<f64>, "K";
        /// 1e-6 of the number density of air.
        air_factor: ReadPointer<f64>, "molecules cm⁻³";
        /// Number density of air.
        air_density: ReadPointer<f64>, "molecules cm⁻³";
        /// Hydrolysis of N2O5.
        hydrolysis: ReadPointer<f64>, "s⁻¹";
        /// Photolysis frequencies.
        photolysis: ReadPointer<f64>, "s⁻¹";
        /// Quantities that the rates name beside these.
        quantities: ReadPointer<f64>, "any";
        /// Local solar time at the start.
        start: ReadPointer<f64>, "s";
        /// First step of every cell, 0 for the default; null without such steps.
        first_steps: ReadPointer<f64>, "s";
        /// Order in which cells are processed; null for that of their indices.
        order: ReadPointer<i32>, "1";
        /// Rate constants, and the operands of those that depend on time.
        rates: DevicePointer<f64>, "s⁻¹ and powers of cm³";
        /// Status of every cell's integration, in KPP's numbers.
        status: DevicePointer<i32>, "1";
        /// Counters of every cell.
        counters: DevicePointer<i32>, "1";
        /// Time reached, last step, next step.
        times: DevicePointer<f64>, "s";
        /// Number of cells that have been taken.
        taken: DevicePointer<u32>, "1";
        /// Scratch memory of the blocks.
        scratch: DevicePointer<f64>, "any";
        /// Interval.
        interval: f64, "s";
        /// First step, 0 for the default.
        first_step: f64, "s";
        /// Relative tolerance.
        relative: f64, "1";
        /// Absolute tolerance.
        absolute: f64, "molecules cm⁻³";
        /// Number of cells.
        cells: i64, "1";
    }
}

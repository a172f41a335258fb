//! The arguments of the kernels, alike in Rust and in CUDA.

use crate::shared::{DevicePointer, ReadPointer, shared_struct};

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

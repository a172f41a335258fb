//! Arguments of the kernels, the same in Rust and in CUDA.

use crate::cuda_abi::{DevicePointer, ReadPointer, shared_struct};

shared_struct! {
    /// Arguments of the interpolation between two fields.
    #[derive(Default)]
    pub struct BlendArgs<R> {
        /// Interpolated field.
        out: DevicePointer<R>, "as the fields";
        /// The field of the earlier frame.
        before: ReadPointer<R>, "as the fields";
        /// The field of the later frame.
        after: ReadPointer<R>, "as the fields";
        /// Number of elements.
        count: i64, "1";
        /// Weight of the later one, 0 to 1.
        weight: ReadPointer<R>, "1";
    }
}

shared_struct! {
    /// Weights of the later frame.
    #[derive(Default)]
    pub struct WeightArgs<R> {
        /// Memory of the two weights.
        kept: DevicePointer<R>, "1";
        /// For the fluxes.
        flux: R, "1";
        /// For the air and the values at the sides.
        air: R, "1";
    }
}

shared_struct! {
    /// Arguments of the vertical fluxes.
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
        /// Hybrid coefficient of the column mass for the air below each face, nz + 1.
        c1_below: ReadPointer<f64>, "1";
        /// Constant part of the hybrid coefficient, nz + 1.
        c2_below: ReadPointer<f64>, "Pa";
        /// Elements of a row.
        pitch: i32, "1";
        /// Elements of a row of x-faces.
        face_pitch: i32, "1";
        /// Cells from south to north.
        ny: i32, "1";
        /// Padding.
        filler: i32, "1";
    }
}

//! Properties of a device, and the options that it is opened with.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::kernel_source::Architecture;
use super::tuning::IsPossible;

/// Options of the GPU.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of the device.
    pub device: usize,
    /// Location of NVRTC, file or folder; without it all usual places are searched.
    pub compiler_library: Option<PathBuf>,
    /// `true` to use fast, less exact functions.
    pub fast_math: bool,
    /// `true` if compiled kernels are kept for later runs.
    pub cache: bool,
    /// Check for possible settings: with it the settings measured on this GPU are used, without it the built-in ones.
    pub tuning: Option<IsPossible>,
}

impl Default for Options {
    fn default() -> Self {
        Self { device: 0, compiler_library: None, fast_math: true, cache: true, tuning: None }
    }
}

/// Properties of a device.
#[derive(Clone, Debug, Serialize)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Its compute capability as the compiler names it.
    #[serde(serialize_with = "as_text")]
    pub architecture: Architecture,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Largest shared memory of a block, bytes.
    pub shared_bytes: u32,
    /// All of its memory, bytes.
    pub memory: usize,
    /// L2 cache, shared by all multiprocessors, bytes.
    pub cache: usize,
}

fn as_text<S: serde::Serializer>(value: &impl fmt::Display, s: S) -> Result<S::Ok, S::Error> {
    s.collect_str(value)
}

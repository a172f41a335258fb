//! nwp-mini for Python: the extension `nwp_mini._core`, on which the package in `nwp_mini/` stands.
//!
//! `microphysics` has the column physics on arrays of NumPy (`memory`) and of GPU libraries (`device`), `transport` the
//! advection, `chemistry` the reactions in cells, `input` the fields of a WRF file, `command` runs and pictures. Failures
//! become exceptions of the package (`errors`), and objects with threads know their process (`process`).

#![allow(unsafe_code, reason = "memory of arrays that belong to Python")]
#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments as values")]

mod chemistry;
mod command;
mod device;
mod errors;
mod input;
mod memory;
mod microphysics;
mod names;
mod older_libraries;
mod process;
mod transport;

use pyo3::prelude::*;

/// The part of nwp_mini that is in Rust.
#[pymodule(name = "_core", gil_used = false)]
mod core {
    #[pymodule_export]
    use crate::chemistry::{Mechanism, reason};
    #[pymodule_export]
    use crate::command::{call, main};
    #[pymodule_export]
    use crate::input::read;
    #[pymodule_export]
    use crate::microphysics::Physics;
    #[pymodule_export]
    use crate::names::schemes;
    #[pymodule_export]
    use crate::process::has_threads;
    #[pymodule_export]
    use crate::transport::Advection;

    /// Version of the library.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "a name of Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}

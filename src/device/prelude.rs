//! The text that stands before a kernel: working precision, constants, structs, settings.

use std::fmt::Write;

use super::WARP;
use crate::real::Precision;

/// Text above a kernel's source (constants, structs, settings), assembled part by part.
///
/// A kernel has only the parts that it needs, since a change of this text recompiles it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Prelude {
    text: String,
}

/// No kernel uses all constants of a part, and NVRTC would warn of each unused one.
const NO_WARNINGS: &str = "#ifdef __CUDACC_RTC__\n#pragma nv_diag_suppress 177\n#endif\n";

impl Prelude {
    /// Prelude with the working precision (`real` in CUDA) and the size of a warp only.
    pub fn new(precision: Precision) -> Self {
        let real = match precision {
            Precision::F32 => "float",
            Precision::F64 => "double",
        };
        Self { text: format!("{NO_WARNINGS}typedef {real} real;\nconstexpr int WARP = {WARP};\n") }
    }

    /// Adds constants and structs: CUDA text that depends on the parts before it only.
    pub fn with(mut self, part: &str) -> Self {
        self.text += "\n";
        self.text += part;
        self
    }

    /// Adds integer constants by their names in CUDA, such as the size of a tile.
    pub(crate) fn with_settings<N: AsRef<str>>(mut self, settings: &[(N, i32)]) -> Self {
        self.text += "\n// Settings\n";
        for (name, value) in settings {
            // Writing to a string cannot fail.
            let _ = writeln!(self.text, "constexpr int {} = {value};", name.as_ref());
        }
        self
    }

    /// The whole text.
    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

/// Text of shared structs in a working precision; a struct follows the structs that it contains.
macro_rules! structs {
    ($precision:expr; $($name:ident),+ $(,)?) => {
        match $precision {
            $crate::real::Precision::F32 => [$($name::<f32>::cuda_text()),+].join("\n"),
            $crate::real::Precision::F64 => [$($name::<f64>::cuda_text()),+].join("\n"),
        }
    };
}
pub(crate) use structs;

/// Text of shared constants in a working precision.
macro_rules! constants {
    ($precision:expr; $($name:ident),+ $(,)?) => {
        match $precision {
            $crate::real::Precision::F32 => [$(<f32 as $name>::cuda_text()),+].concat(),
            $crate::real::Precision::F64 => [$(<f64 as $name>::cuda_text()),+].concat(),
        }
    };
}
pub(crate) use constants;

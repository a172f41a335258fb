//! The choice between CPU and GPU, and the options of the GPU.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tracing::info;

use crate::cli::advice::message;
use crate::device;
use crate::device::Gpu;
use crate::device::tuning::IsPossible;
use crate::error::Result;
use crate::gpu::tuning::Knob;
use crate::grid::Shape;
use crate::physics::device::Mappings;
use crate::physics::scheme::Scheme;
use crate::real::Precision;

/// Backend to compute on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BackendChoice {
    /// The GPU when there is one, the CPU otherwise
    Auto,
    /// The CPU
    Cpu,
    /// The GPU, or fail with exit code 4
    Gpu,
    /// The CPU and the GPU from the same state, compared with each other
    Both,
}

/// Mapping of columns to the threads of the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum MappingChoice {
    /// The faster one
    Auto,
    /// A thread for a column
    Column,
    /// A block of threads for a few columns
    Tile,
}

/// Levels that every mapping admits.
const FEW_LEVELS: usize = 20;

impl MappingChoice {
    /// The mapping for a grid on a device; `None` in a scheme without a choice.
    pub(super) fn of(
        self,
        gpu: &Gpu,
        shape: &Shape,
        precision: Precision,
        scheme: &dyn Scheme,
    ) -> Option<String> {
        let (mappings, nz, columns) = (scheme.mappings()?, shape.nz, shape.columns());
        let fastest = mappings.fastest(gpu, precision, nz, columns);
        let built_in = mappings.built_in(precision, nz, columns);
        let mut all =
            [fastest.clone(), built_in].into_iter().chain(mappings.candidates(precision, nz));
        Some(all.find(|text| self.has(text)).unwrap_or(fastest))
    }

    /// `true` if there is a mapping of this kind.
    pub(in crate::cli) fn is_among(self, mappings: &dyn Mappings) -> bool {
        let all = mappings.candidates(Precision::F32, FEW_LEVELS);
        all.iter().any(|text| self.has(text))
    }

    /// `true` if a text names a mapping of this kind, with which it begins.
    fn has(self, text: &str) -> bool {
        match self {
            Self::Auto => true,
            Self::Column => text.starts_with("column"),
            Self::Tile => text.starts_with("tile"),
        }
    }
}

/// Use of measured settings.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct TuningChoice {
    /// Use the built-in settings of the kernels, not those measured by nwp-mini tune
    #[arg(long, env = "NWP_NO_TUNING", value_parser = clap::builder::FalseyValueParser::new())]
    pub(super) no_tuning: bool,
}

/// Location of the run-time compiler.
#[derive(Clone, Debug, Args)]
pub(super) struct CompilerPlace {
    /// The run-time compiler of CUDA, file or folder [default: look in all usual places]
    #[arg(long = "nvrtc-lib", value_name = "PATH", env = "NWP_NVRTC")]
    pub(super) library: Option<PathBuf>,
}

impl CompilerPlace {
    /// The default options, with the library path from here.
    pub(super) fn options(&self) -> device::Options {
        device::Options { compiler_library: self.library.clone(), ..device::Options::default() }
    }
}

/// Options of the GPU.
#[derive(Clone, Debug, Args)]
pub(super) struct GpuChoice {
    #[command(flatten)]
    place: CompilerPlace,
    /// Number of the GPU
    #[arg(long, value_name = "N", default_value = "0")]
    device: usize,
    /// Compile the kernels without fast-math: exact division, roots and functions
    #[arg(long)]
    no_fast_math: bool,
    /// Compile the kernels anew instead of taking them from the user's cache folder
    #[arg(long)]
    no_kernel_cache: bool,
    #[command(flatten)]
    tuning: TuningChoice,
}

impl GpuChoice {
    /// The same for the library.
    pub(super) fn options(&self) -> device::Options {
        device::Options {
            device: self.device,
            fast_math: !self.no_fast_math,
            cache: !self.no_kernel_cache,
            tuning: (!self.tuning.no_tuning).then_some(Knob::is_possible as IsPossible),
            ..self.place.options()
        }
    }
}

impl BackendChoice {
    /// The GPU to use; `None` for the CPU. `auto` logs the reason for taking the CPU.
    pub(super) fn open(self, choice: &GpuChoice) -> Result<Option<Gpu>> {
        match self {
            Self::Cpu => Ok(None),
            Self::Gpu | Self::Both => Gpu::open(&choice.options()).map(Some),
            Self::Auto => match Gpu::open(&choice.options()) {
                Ok(gpu) => {
                    info!("computing on the GPU {}", gpu.device().name);
                    Ok(Some(gpu))
                }
                Err(error) => {
                    info!("computing on the CPU: {}", message(&error));
                    Ok(None)
                }
            },
        }
    }
}

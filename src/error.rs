//! Errors: what was found, what was expected and what to do.

use crate::os_text::Shown;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Result type of the library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Remedy for an error; the command line translates it to an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// Compute on the CPU.
    UseCpu,
    /// Take a smaller grid, or compute on the CPU.
    UseSmallerGridOrCpu,
    /// Take fewer members of an ensemble, a smaller grid, or the CPU.
    UseFewerMembers,
    /// Install the driver, or compute on the CPU.
    InstallDriver,
    /// Install the compiler, or specify its path.
    InstallCompiler,
    /// Specify the path of an older compiler, or compute on the CPU.
    UseOlderCompiler,
    /// Choose another device by its number.
    ChooseDevice,
    /// Choose another architecture to compile for.
    ChooseArchitecture,
    /// Give the value of a quantity that is the same in all cells, or code that defines it.
    GiveRateConstant,
    /// Take another time step.
    ChangeTimeStep,
    /// Take a shorter run, or a longer time step.
    ShortenRun,
    /// Take a longer run.
    LengthenRun,
    /// Select the file that counts if several have the same time.
    ChooseOverlap,
    /// Make the axis periodic.
    MakePeriodic,
    /// Use the file as a restart file.
    ResumeFromFile,
    /// Use a restart file.
    GiveRestartFile,
    /// Use columns in the documented format.
    GiveColumns,
    /// Use a transport case in the documented format.
    GiveTransportCase,
    /// Change the forcing of an idealised case.
    ChangeWinds,
    /// Change the period of an idealised case.
    ChangePeriod,
    /// Take bilinear weights, or a target in metres.
    UseBilinear,
    /// Take a target in metres.
    UseMetres,
    /// Take a target in degrees.
    UseDegrees,
    /// Change the bounds of the target.
    ChangeBounds,
    /// Change the spacing of the target.
    ChangeSpacing,
    /// Change bounds or spacing of the target.
    ChangeTarget,
    /// Integrate a cell of a mechanism by one thread.
    UseThreadMapping,
    /// Define the passive tracers in a file.
    GiveTracerFile,
    /// Give a passive tracer another name.
    RenameTracer,
    /// Specify the lateral boundaries.
    SpecifySides,
}

impl Advice {
    /// The advice to a caller of the library.
    pub fn text(self) -> &'static str {
        match self {
            Self::UseCpu => "compute on the CPU",
            Self::UseSmallerGridOrCpu => "use a smaller grid or the CPU",
            Self::UseFewerMembers => "take fewer members, a smaller grid or the CPU",
            Self::InstallDriver => "install a recent NVIDIA driver, or use the CPU",
            Self::InstallCompiler => {
                "install the CUDA toolkit or the Python package nvidia-cuda-nvrtc, or give the \
                 path of the library"
            }
            Self::UseOlderCompiler => "give the path of an older NVRTC, or compute on the CPU",
            Self::ChooseDevice => "choose another one",
            Self::ChooseArchitecture => "choose another architecture",
            Self::GiveRateConstant => {
                "where it is the same in all cells, give it as a constant of the rates"
            }
            Self::ChangeTimeStep => "take another time step",
            Self::ShortenRun => "make the run shorter or the time step longer",
            Self::LengthenRun => "make the run longer",
            Self::ChooseOverlap => "choose the file to use for a time that several files have",
            Self::MakePeriodic => "make the axis periodic",
            Self::ResumeFromFile => "resume the run from it",
            Self::GiveRestartFile => "use a restart file",
            Self::GiveColumns => "use a file of columns",
            Self::GiveTransportCase => "use a transport case",
            Self::ChangeWinds => {
                "take a weaker updraft, a smaller distance between columns or a longer period"
            }
            Self::ChangePeriod => "take another period",
            Self::UseBilinear => "take bilinear weights",
            Self::UseMetres => "take a target in metres",
            Self::UseDegrees => "take a target in degrees",
            Self::ChangeBounds => "take other bounds",
            Self::ChangeSpacing => "take a larger spacing",
            Self::ChangeTarget => "take other bounds or another spacing",
            Self::UseThreadMapping => "map a cell to a thread",
            Self::GiveTracerFile => "or define them in a TOML file",
            Self::RenameTracer => "rename a passive tracer",
            Self::SpecifySides => "specify others where that is wrong",
        }
    }
}

/// A failure that ends a command.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The command line or a configuration requests something impossible.
    Usage(String),
    /// A file cannot be used as the input that was requested.
    Input {
        /// The file.
        path: PathBuf,
        /// Problem, expectation and remedy, in words.
        message: String,
    },
    /// Reading or writing failed in the operating system or in the NetCDF library.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Action that failed, as in "write to".
        action: &'static str,
        /// System error message.
        reason: String,
    },
    /// An output file exists already.
    Exists(PathBuf),
    /// The GPU was requested and cannot be used.
    Gpu(String),
    /// A comparison failed.
    Verdict(String),
    /// A field holds a value that is not a finite number.
    BlowUp {
        /// Name of the field.
        variable: &'static str,
        /// The offending value.
        value: f64,
        /// Number of the step after which it was found (0: in the initial state).
        step: usize,
        /// Cell, as `[k, j, i]`.
        cell: [usize; 3],
    },
    /// An iteration did not converge, or its numbers are not finite.
    NotConverged(String),
    /// Cells whose integration failed; the other cells are in the output.
    Unsolved(String),
    /// A failure with a remedy.
    Advised {
        /// The failure.
        error: Box<Error>,
        /// Remedy.
        advice: Advice,
    },
    /// A member of an ensemble failed.
    Member {
        /// Its number.
        member: usize,
        /// Its failure.
        error: Box<Error>,
    },
    /// Another rank failed and tells why.
    OfRank {
        /// Its number.
        rank: usize,
        /// The exit code of its failure.
        code: u8,
    },
    /// The user stopped the run.
    Interrupted(String),
    /// The reader of standard output has closed the pipe.
    BrokenPipe,
}

impl Error {
    /// An [`Error::Input`] about `path`.
    pub fn input(path: &Path, message: impl Into<String>) -> Self {
        Self::Input { path: path.to_owned(), message: message.into() }
    }

    /// An [`Error::Io`] about `path`.
    pub fn io(path: &Path, action: &'static str, reason: impl fmt::Display) -> Self {
        Self::Io { path: path.to_owned(), action, reason: reason.to_string() }
    }

    /// An [`Error::Io`] about a file that cannot be read; if it does not exist, with the nearest name in its folder.
    pub fn cannot_read(path: &Path, error: &io::Error) -> Self {
        let near = match error.kind() {
            io::ErrorKind::NotFound => nearest_file(path),
            _ => None,
        };
        match near {
            Some(near) => {
                Self::io(path, "read", format!("{error}; the nearest existing name is {near}"))
            }
            None => Self::io(path, "read", error),
        }
    }

    /// The same with a remedy.
    pub fn advise(self, advice: Advice) -> Self {
        Self::Advised { error: Box::new(self), advice }
    }

    /// Returns `true` if the GPU cannot do what was requested.
    pub fn is_of_gpu(&self) -> bool {
        match self {
            Self::Gpu(_) => true,
            Self::Advised { error, .. } | Self::Member { error, .. } => error.is_of_gpu(),
            _ => false,
        }
    }

    /// The same as the failure of a member of an ensemble.
    pub fn of_member(self, member: usize) -> Self {
        Self::Member { member, error: Box::new(self) }
    }

    /// The exit code of the process that ends with this error.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::BrokenPipe => 0,
            Self::Verdict(_) => 1,
            Self::Usage(_) => 2,
            Self::Input { .. } | Self::Io { .. } | Self::Exists(_) => 3,
            Self::Gpu(_) => 4,
            Self::BlowUp { .. } | Self::NotConverged(_) | Self::Unsolved(_) => 5,
            Self::Advised { error, .. } | Self::Member { error, .. } => error.exit_code(),
            Self::OfRank { code, .. } => *code,
            Self::Interrupted(_) => 130,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message)
            | Self::Verdict(message)
            | Self::NotConverged(message)
            | Self::Unsolved(message)
            | Self::Interrupted(message) => f.write_str(message),
            Self::Input { path, message } => write!(f, "{}: {message}", path.shown()),
            Self::Io { path, action, reason } => {
                write!(f, "cannot {action} {}: {reason}", path.shown())
            }
            Self::Exists(path) => write!(f, "{} exists already", path.shown()),
            Self::Gpu(message) => write!(f, "the GPU cannot be used: {message}"),
            Self::BlowUp { variable, value, step, cell: [k, j, i] } => {
                write!(f, "{variable} became {value} in cell i={i} j={j} k={k} at step {step}")
            }
            Self::Advised { error, advice } => write!(f, "{error}; {}", advice.text()),
            Self::Member { member, error } => write!(f, "member {member}: {error}"),
            Self::OfRank { rank, .. } => write!(f, "rank {rank} failed"),
            Self::BrokenPipe => f.write_str("standard output was closed"),
        }
    }
}

impl std::error::Error for Error {}

/// Most files of a folder that are compared with a misspelled name.
const LOOKED_AT: usize = 10_000;

/// The file in the folder of `path` with the smallest edit distance, if it is small.
fn nearest_file(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    entries
        .take(LOOKED_AT)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .map(|other| (strsim::damerau_levenshtein(name, &other), other))
        // Without its extension, or with a few typing errors.
        .filter(|(distance, other)| {
            *distance <= name.len() / 4 || other.starts_with(&format!("{name}."))
        })
        .min()
        .map(|(_, other)| other)
}

/// Failures of writing to standard output; a closed pipe is not an error.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::BrokenPipe
        } else {
            Self::io(Path::new("standard output"), "write to", error)
        }
    }
}

//! Failures, and the exceptions of the package that they become.

use nwp_mini::error::Error;
use pyo3::prelude::*;

/// The module of the package that defines the exceptions.
const MODULE: &str = "nwp_mini._errors";

/// A failure of a call.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A value of an argument is impossible.
    Value(String),
    /// An argument is of another type than it has to be.
    Type(String),
    /// The library refuses or fails.
    Library(Error),
    /// The library has a fault.
    Fault(String),
    /// An object of the process before a fork is used, of which only this process is left.
    Forked(&'static str),
    /// An exception of Python.
    Python(PyErr),
}

/// Result of a call.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        let (class, text) = match failure {
            Failure::Python(error) => return error,
            Failure::Value(text) => ("FieldError", text),
            Failure::Type(text) => ("FieldTypeError", text),
            Failure::Fault(text) => ("Fault", text),
            Failure::Forked(title) => (
                "ForkError",
                format!(
                    "{title} was made before a fork, and its threads or its GPU stayed in the parent; make it anew in \
                     this process"
                ),
            ),
            Failure::Library(error) => (class_of(&error), error.to_string()),
        };
        Python::attach(|py| {
            let class = py.import(MODULE).and_then(|module| module.getattr(class));
            match class.and_then(|class| class.call1((text,))) {
                Ok(exception) => Self::from_value(exception),
                Err(error) => error,
            }
        })
    }
}

/// The exception for an error of the library.
fn class_of(error: &Error) -> &'static str {
    match error {
        Error::Usage(_) => "FieldError",
        Error::Input { .. } | Error::Io { .. } | Error::Exists(_) => "FileError",
        Error::Gpu(_) => "GpuError",
        Error::Advised { error, .. } | Error::Member { error, .. } => class_of(error),
        Error::BlowUp { .. } | Error::NotConverged(_) | Error::Unsolved(_) => "NumericsError",
        Error::Interrupted(_) => "Interrupted",
        _ => "NwpMiniError",
    }
}

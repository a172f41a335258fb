//! Compilation units, and the architectures that they are compiled for.
//!
//! The text that is compiled is the prelude, which Rust writes, followed by the entry file; headers come from memory.

use std::collections::BTreeMap;
use std::fmt;

use sha2::{Digest, Sha256};

use super::prelude::Prelude;
use super::sources;

/// A compilation unit: an entry file below the prelude that Rust writes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KernelSource {
    /// The entry file below `kernels/`, as "advection/transport.cu".
    pub file: &'static str,
    /// Constants, parameter structs, and compile-time settings.
    pub prelude: String,
    /// `true` to compile without fast-math even if the run has it.
    pub is_exact: bool,
    /// The text of the entry file, if it is not one of the crate.
    pub text: Option<String>,
}

impl KernelSource {
    /// A file with its prelude.
    pub fn new(file: &'static str, prelude: Prelude) -> Self {
        Self { file, prelude: prelude.into_text(), is_exact: false, text: None }
    }

    /// A text of a user's own with its prelude; it may include the headers below `kernels/`. `name` stands for it in
    /// messages of the compiler.
    pub fn from_text(name: &'static str, text: String, prelude: Prelude) -> Self {
        Self { text: Some(text), ..Self::new(name, prelude) }
    }

    /// The text of the entry file.
    fn body(&self) -> &str {
        self.text.as_deref().unwrap_or_else(|| sources::text(self.file))
    }

    /// The same without fast-math, which flushes subnormal numbers to zero.
    pub fn exactly(self) -> Self {
        Self { is_exact: true, ..self }
    }

    /// Headers that the file and its prelude include, directly or indirectly: name and text.
    pub fn headers(&self) -> BTreeMap<&'static str, &'static str> {
        sources::headers_of(self.body(), &self.prelude)
    }

    /// Digest of all text of the code: the file, its prelude, and the included headers.
    pub(crate) fn digest(&self) -> [u8; 32] {
        let mut digest = Sha256::new();
        let mut add = |text: &str| {
            digest.update(text.len().to_le_bytes());
            digest.update(text);
        };
        add(self.file);
        add(&self.program());
        for (name, text) in self.headers() {
            add(name);
            add(text);
        }
        digest.finalize().into()
    }

    /// The complete text: the prelude and the file.
    pub fn program(&self) -> String {
        let Self { file, prelude, .. } = self;
        let body = self.body();
        format!("#line 1 \"prelude\"\n{prelude}\n#line 1 \"kernels/{file}\"\n{body}")
    }
}

/// Target of a compilation: the compute capability 9.0 as 90.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Architecture(pub u32);

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.0)
    }
}

impl std::str::FromStr for Architecture {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_prefix("sm_").unwrap_or(text);
        number
            .parse()
            .map(Self)
            .map_err(|_| format!("\"{text}\" is not an architecture; expected one such as sm_90"))
    }
}

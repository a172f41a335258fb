//! Compiled kernels kept from run to run.
//!
//! An entry is named after the digest of everything that its code depends on. It is written under a temporary name and
//! renamed, so that concurrent runs and killed runs leave complete entries only. A damaged entry is detected by its
//! checksum and compiled again.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use sha2::{Digest, Sha256};
use tracing::debug;

use super::compile::{Architecture, Code, Compiled, Compiler, KernelSource};
use crate::error::Result;

/// First bytes of an entry, with the version of the format.
const MAGIC: &[u8; 8] = b"nwpcode1";
const DIGEST: usize = 32;
/// Most entries that are kept; the oldest are removed first.
const MOST: usize = 400;

/// A folder of compiled kernels, or no cache.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    folder: Option<PathBuf>,
}

/// The user's cache folder: `$XDG_CACHE_HOME/nwp-mini`, else `~/.cache/nwp-mini`.
pub fn user_folder() -> Option<PathBuf> {
    let absolute = |name| {
        std::env::var_os(name).map(PathBuf::from).filter(|path: &PathBuf| path.is_absolute())
    };
    let root = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    root.map(|root| root.join("nwp-mini"))
}

impl Cache {
    /// The cache in the user's cache folder.
    pub(super) fn of_user() -> Self {
        Self { folder: user_folder() }
    }

    /// No cache: every kernel is compiled.
    pub(super) fn none() -> Self {
        Self { folder: None }
    }

    /// Code for the device, from the folder or from the compiler.
    ///
    /// # Errors
    ///
    /// Those of [`Compiler::compile`]. A folder that cannot be read or written is no error.
    pub(super) fn compile(
        &self,
        compiler: &Compiler,
        source: &KernelSource,
        device: Architecture,
    ) -> Result<Code> {
        let Some(folder) = &self.folder else {
            return compiler.compile(source, device, &[]).map(|compiled| compiled.code);
        };
        let path = folder.join(key(compiler, source, device)?);
        if let Some(code) = fs::read(&path).ok().as_deref().and_then(unpack) {
            return Ok(code);
        }
        let Compiled { code, .. } = compiler.compile(source, device, &[])?;
        if let Err(error) = self.keep(&path, &code) {
            debug!("compiled kernels are not cached: {}: {error}", path.display());
        }
        Ok(code)
    }

    fn keep(&self, path: &std::path::Path, code: &Code) -> std::io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&pack(code))?;
        file.persist(path)?;
        self.prune();
        Ok(())
    }

    /// Removes the oldest entries beyond [`MOST`].
    fn prune(&self) {
        let Some(folder) = &self.folder else { return };
        let mut entries: Vec<_> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        entries.sort();
        let surplus = entries.len().saturating_sub(MOST);
        for (_, path) in entries.into_iter().take(surplus) {
            // Another run may have removed the entry already.
            let _ = fs::remove_file(path);
        }
    }
}

/// Digest of everything that the code depends on.
fn key(compiler: &Compiler, source: &KernelSource, device: Architecture) -> Result<String> {
    let (target, _) = compiler.target(device)?;
    let mut digest = Sha256::new();
    let mut add = |text: &str| {
        digest.update(text.len().to_le_bytes());
        digest.update(text);
    };
    add(env!("CARGO_PKG_VERSION"));
    add(&format!("{:?}", compiler.version()));
    compiler.options_of(source, &target).iter().for_each(|option| add(option));
    digest.update(source.digest());
    Ok(format!("{:x}", digest.finalize()))
}

/// The bytes of an entry: magic, kind, checksum, code.
fn pack(code: &Code) -> Vec<u8> {
    let (kind, code) = match code {
        Code::Cubin(code) => (0, code),
        Code::Ptx(code) => (1, code),
    };
    [&MAGIC[..], &[kind], &Sha256::digest(code), code].concat()
}

/// The code of an entry; `None` when it is damaged.
fn unpack(bytes: &[u8]) -> Option<Code> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (kind, rest) = rest.split_first()?;
    let (digest, code) = rest.split_at_checked(DIGEST)?;
    if Sha256::digest(code)[..] != *digest {
        return None;
    }
    match kind {
        0 => Some(Code::Cubin(code.to_vec())),
        1 if code.last() == Some(&0) => Some(Code::Ptx(code.to_vec())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_whole_or_not_at_all() {
        for code in [Code::Cubin(vec![1, 2, 3]), Code::Ptx(b".version 8.0\0".to_vec())] {
            let bytes = pack(&code);
            assert_eq!(unpack(&bytes), Some(code));
            for cut in 0..bytes.len() {
                assert_eq!(unpack(&bytes[..cut]), None, "cut to {cut} bytes");
            }
            for at in 0..bytes.len() {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1;
                // Only the kind can still be parsed, as PTX, and PTX must end in zero.
                assert!(at == MAGIC.len() || unpack(&damaged).is_none(), "byte {at}");
            }
        }
    }

    /// A compiler; `None`, with a message, on a machine without one.
    fn compiler() -> Option<Compiler> {
        match Compiler::find(None, true).1 {
            Ok(compiler) => Some(compiler),
            Err(error) => {
                // Printed past the capture of test output, so that a skipped test is visible.
                let _ = writeln!(std::io::stderr(), "skipped: {error}");
                None
            }
        }
    }

    #[test]
    fn damaged_entries_are_made_anew_and_runs_at_once_agree() {
        let Some(compiler) = compiler() else { return };
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache { folder: Some(folder.path().join("kept")) };
        let prelude =
            "constexpr int WARP = 32, SUM_THREADS = 32;\nextern \"C\" __global__ void nothing() {}";
        let source = KernelSource {
            file: "primitives/block_sum.cuh",
            prelude: prelude.into(),
            is_exact: false,
        };
        let make = || cache.compile(&compiler, &source, Architecture(90)).unwrap();
        let first = make();
        let entry =
            folder.path().join("kept").join(key(&compiler, &source, Architecture(90)).unwrap());
        let whole = fs::read(&entry).unwrap();
        fs::write(&entry, &whole[..whole.len() / 2]).unwrap();
        assert_eq!(make(), first);
        assert!(unpack(&fs::read(&entry).unwrap()).is_some(), "the damaged entry is still there");

        fs::remove_file(&entry).unwrap();
        std::thread::scope(|scope| {
            let runs: Vec<_> = (0..4).map(|_| scope.spawn(make)).collect();
            for run in runs {
                assert!(matches!(run.join().unwrap(), Code::Cubin(_)));
            }
        });
        let names: Vec<_> = fs::read_dir(folder.path().join("kept")).unwrap().collect();
        assert_eq!(names.len(), 1, "{names:?}");
    }

    #[test]
    fn what_the_code_depends_on_changes_the_key() {
        let Some(compiler) = compiler() else { return };
        let source = KernelSource {
            file: "primitives/block_sum.cuh",
            prelude: String::new(),
            is_exact: false,
        };
        let own = key(&compiler, &source, Architecture(90)).unwrap();
        let other = KernelSource { prelude: "constexpr int NZ = 5;".into(), ..source.clone() };
        let exact = Compiler::find(None, false).1.unwrap();
        for different in [
            key(&compiler, &other, Architecture(90)).unwrap(),
            key(&compiler, &source, Architecture(80)).unwrap(),
            key(&exact, &source, Architecture(90)).unwrap(),
        ] {
            assert_ne!(own, different);
        }
    }
}

//! Compiled kernels kept from run to run.
//!
//! An entry is named after the digest of everything that its code depends on. It is written under a temporary name and
//! renamed, so that concurrent runs and killed runs leave complete entries only. A damaged entry is detected by its
//! checksum and compiled again.

use std::fs;
use std::io::Write;
use std::path::Path;

use sha2::{Digest, Sha256};
use tracing::debug;

use super::nvrtc::Compiler;
use crate::device::driver::Code;
use crate::device::kernel_source::{Architecture, KernelSource};
use crate::error::Result;
use crate::os_text::Shown;

/// First bytes of an entry, with the version of the format.
const MAGIC: &[u8; 8] = b"nwpcode1";
const DIGEST: usize = 32;
/// Most entries that are kept; the oldest are removed first.
const MOST: usize = 400;

/// Code for the device, from the folder, if there is one, or from the compiler; a folder that cannot be read or written
/// is no error.
pub(super) fn compile(
    folder: Option<&Path>,
    compiler: &Compiler,
    source: &KernelSource,
    device: Architecture,
) -> Result<Code> {
    let made = || compiler.compile(source, device, &[]).map(|compiled| compiled.code);
    let Some(folder) = folder else { return made() };
    let path = folder.join(key(compiler, source, device)?);
    if let Some(code) = fs::read(&path).ok().as_deref().and_then(unpack) {
        return Ok(code);
    }
    let code = made()?;
    if let Err(error) = keep(folder, &path, &code) {
        debug!("compiled kernels are not cached: {}: {error}", path.shown());
    }
    Ok(code)
}

fn keep(folder: &Path, path: &Path, code: &Code) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&pack(code))?;
    file.persist(path)?;
    prune(folder);
    Ok(())
}

/// Removes the oldest entries beyond [`MOST`].
fn prune(folder: &Path) {
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
        Code::Binary(code) => (0, code),
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
        0 => Some(Code::Binary(code.to_vec())),
        1 if code.last() == Some(&0) => Some(Code::Ptx(code.to_vec())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_whole_or_not_at_all() {
        for code in [Code::Binary(vec![1, 2, 3]), Code::Ptx(b".version 8.0\0".to_vec())] {
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

    fn source(prelude: &str) -> KernelSource {
        let file = "primitives/block_sum.cuh";
        KernelSource { file, prelude: prelude.to_owned(), is_exact: false, text: None }
    }

    #[test]
    fn damaged_entries_are_made_anew_and_runs_at_once_agree() {
        let Some(compiler) = compiler() else { return };
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("kept");
        let prelude =
            "constexpr int WARP = 32, SUM_THREADS = 32;\nextern \"C\" __global__ void nothing() {}";
        let source = source(prelude);
        let make = || compile(Some(&kept), &compiler, &source, Architecture(90)).unwrap();
        let first = make();
        let entry = kept.join(key(&compiler, &source, Architecture(90)).unwrap());
        let whole = fs::read(&entry).unwrap();
        fs::write(&entry, &whole[..whole.len() / 2]).unwrap();
        assert_eq!(make(), first);
        assert!(unpack(&fs::read(&entry).unwrap()).is_some(), "the damaged entry is still there");

        fs::remove_file(&entry).unwrap();
        std::thread::scope(|scope| {
            let runs: Vec<_> = (0..4).map(|_| scope.spawn(make)).collect();
            for run in runs {
                assert!(matches!(run.join().unwrap(), Code::Binary(_)));
            }
        });
        let names: Vec<_> = fs::read_dir(&kept).unwrap().collect();
        assert_eq!(names.len(), 1, "{names:?}");
    }

    #[test]
    fn what_the_code_depends_on_changes_the_key() {
        let Some(compiler) = compiler() else { return };
        let source = source("");
        let own = key(&compiler, &source, Architecture(90)).unwrap();
        let other = self::source("constexpr int NZ = 5;");
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

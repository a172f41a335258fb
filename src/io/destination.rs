//! The file that a name stands for: symbolic links are followed, and mode and owner of a file that is
//! replaced are kept.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use tracing::warn;

use crate::error::{Error, Result};
use crate::os_text::Shown;

/// Links that are followed one after the other; as many as Linux follows.
const MOST_LINKS: usize = 40;

/// Mode bits of reading, writing and executing.
const PERMISSIONS: u32 = 0o777;
/// Mode bits that a file in the making needs, whatever the file has that it replaces.
const WRITABLE: u32 = 0o600;
/// Mode bits of a new file, before the user's mask.
const NEW: u32 = 0o666;
/// Mode bits of the group, and of everybody else.
const OF_GROUP: u32 = 0o070;
const OF_OTHERS: u32 = 0o007;

/// The path of the file that `target` stands for, be it there or yet to be written.
///
/// A link to a file that does not exist stands for that file.
///
/// # Errors
///
/// [`Error::Input`] where links lead in a circle, [`Error::Io`] where a link cannot be read.
pub fn resolve(target: &Path) -> Result<PathBuf> {
    let mut path = target.to_owned();
    for _ in 0..MOST_LINKS {
        if !path.symlink_metadata().is_ok_and(|about| about.is_symlink()) {
            return Ok(path);
        }
        let to = fs::read_link(&path).map_err(|e| Error::io(target, "follow the link", e))?;
        // A relative link starts from the folder that holds it; an absolute one replaces it all.
        path = folder_of(&path).join(to);
    }
    let message = format!("is a link after {MOST_LINKS} links, in a circle; give another name");
    Err(Error::input(target, message))
}

/// The folder that holds a file.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns `true` if two names stand for one file, whether it exists or not.
pub fn is_same(a: &Path, b: &Path) -> bool {
    let whole = |path: &Path| {
        fs::canonicalize(path).ok().or_else(|| {
            let path = resolve(path).ok()?;
            Some(fs::canonicalize(folder_of(&path)).ok()?.join(path.file_name()?))
        })
    };
    whole(a).is_some_and(|a| whole(b) == Some(a))
}

/// Fails where there is a file of this name, unless it may be replaced.
///
/// # Errors
///
/// [`Error::Exists`].
pub fn refuse_existing(target: &Path, force: bool) -> Result<()> {
    // A link to nowhere is no file; its target can be made.
    if target.metadata().is_ok() && !force {
        return Err(Error::Exists(target.to_owned()));
    }
    Ok(())
}

/// Makes an empty file in the place of one that may be there; nobody can read it who cannot read
/// `replaced`.
pub(super) fn create(path: &Path, replaced: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let mode = fs::metadata(replaced).map_or(NEW, |about| about.mode() & PERMISSIONS | WRITABLE);
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path).map(drop)
}

/// Gives a complete file the mode, and as far as the system allows it the owner, of the one that it
/// is about to replace; nothing where there is none.
pub(super) fn take_after(path: &Path, replaced: &Path) -> io::Result<()> {
    let Ok(old) = fs::metadata(replaced) else { return Ok(()) };
    if old.nlink() > 1 {
        warn!(
            "{} is one of {} names of its file; the others keep what the file held",
            replaced.shown(),
            old.nlink()
        );
    }
    let new = File::open(path)?.metadata()?;
    let mut mode = old.mode() & PERMISSIONS;
    let is_same_owner = (new.uid(), new.gid()) == (old.uid(), old.gid());
    if !is_same_owner && chown(path, Some(old.uid()), Some(old.gid())).is_err() {
        let has_group = new.gid() == old.gid() || chown(path, None, Some(old.gid())).is_ok();
        if !has_group {
            // Another group gets no more than everybody.
            mode &= !OF_GROUP | ((mode & OF_OTHERS) << 3);
        }
        warn!(
            "{} belonged to user {} and group {}; the system does not let this program keep {}",
            replaced.shown(),
            old.uid(),
            old.gid(),
            if has_group { "the user" } else { "both" }
        );
    }
    fs::set_permissions(path, Permissions::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_lead_from_the_folder_that_holds_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("far")).expect("a folder");
        symlink("far/second", at("first")).expect("a link");
        symlink("third", at("far/second")).expect("a link");
        symlink("../real.nc", at("far/third")).expect("a link");
        assert_eq!(resolve(&at("first")).expect("a file"), at("far/../real.nc"));
        assert!(is_same(&at("first"), &at("real.nc")), "neither is there yet");
        assert!(!is_same(&at("first"), &at("far/real.nc")));
        symlink(at("real.nc"), at("absolute")).expect("a link");
        assert_eq!(resolve(&at("absolute")).expect("a file"), at("real.nc"));
        symlink("circle", at("circle")).expect("a link");
        let told = resolve(&at("circle")).expect_err("no end").to_string();
        assert!(told.contains("circle"), "{told}");
    }
}

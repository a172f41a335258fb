//! The file that a name refers to: symbolic links are followed, and the mode and owner of a replaced file are kept.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use tracing::warn;

use crate::error::{Error, Result};
use crate::os_text::Shown;

/// Most links that are followed one after the other, as on Linux.
const MOST_LINKS: usize = 40;

/// Permission bits.
const PERMISSIONS: u32 = 0o777;
/// Permission bits that a file being written needs, for any mode of the file that it replaces.
const WRITABLE: u32 = 0o600;
/// Permission bits of a new file, before the umask.
const NEW: u32 = 0o666;
/// Permission bits of the group, and of others.
const OF_GROUP: u32 = 0o070;
const OF_OTHERS: u32 = 0o007;

/// Path of the file that `target` refers to; the file may not exist yet.
///
/// A link to a missing file refers to that file.
pub(crate) fn resolve(target: &Path) -> Result<PathBuf> {
    let mut path = target.to_owned();
    for _ in 0..MOST_LINKS {
        if !path.symlink_metadata().is_ok_and(|about| about.is_symlink()) {
            return Ok(path);
        }
        let to = fs::read_link(&path).map_err(|e| Error::io(target, "follow the link", e))?;
        // A relative link starts from the folder of the link; an absolute one replaces the path.
        path = folder_of(&path).join(to);
    }
    let message = format!(
        "is a circular symbolic link ({MOST_LINKS} links were followed); choose \
                           another name"
    );
    Err(Error::input(target, message))
}

/// The folder that holds a file.
pub(in crate::io) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// `true` if a name is that of a Zarr store.
pub(in crate::io) fn is_zarr(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "zarr")
}

/// Returns `true` if two names refer to the same file, whether it exists or not.
pub(crate) fn is_same(a: &Path, b: &Path) -> bool {
    let whole = |path: &Path| {
        fs::canonicalize(path).ok().or_else(|| {
            let path = resolve(path).ok()?;
            Some(fs::canonicalize(folder_of(&path)).ok()?.join(path.file_name()?))
        })
    };
    whole(a).is_some_and(|a| whole(b) == Some(a))
}

/// Fails if a file of this name exists, unless it may be replaced.
pub(crate) fn refuse_existing(target: &Path, force: bool) -> Result<()> {
    // A dangling link is not a file; its target can be created.
    if target.metadata().is_ok() && !force {
        return Err(Error::Exists(target.to_owned()));
    }
    Ok(())
}

/// Creates an empty file, in place of an existing one, that is readable only by users who can read `replaced`.
pub(in crate::io) fn create(path: &Path, replaced: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let mode = fs::metadata(replaced).map_or(NEW, |about| about.mode() & PERMISSIONS | WRITABLE);
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path).map(drop)
}

/// Gives a complete file the mode, and if the system allows it the owner, of the file that it will replace; does
/// nothing if there is none.
pub(in crate::io) fn take_after(path: &Path, replaced: &Path) -> io::Result<()> {
    let Ok(old) = fs::metadata(replaced) else { return Ok(()) };
    if old.nlink() > 1 {
        warn!(
            "{} is one of {} hard links to its file; the others keep the old contents",
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
            // A different group gets no more rights than others.
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

//! The folder of what is kept from run to run: compiled kernels and measured settings.

use std::path::PathBuf;

/// The user's cache folder: `$XDG_CACHE_HOME/nwp-mini`, else `~/.cache/nwp-mini`.
pub fn user_folder() -> Option<PathBuf> {
    let absolute = |name| {
        std::env::var_os(name).map(PathBuf::from).filter(|path: &PathBuf| path.is_absolute())
    };
    let root = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    root.map(|root| root.join("nwp-mini"))
}

//! Files of libraries brought from a disk before they are needed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Once;

/// Reads the files of NVRTC from end to end, once, beside the compiler that runs on them. A disk is asked for a
/// few pages at a time otherwise, in the order in which the compiler comes to need them, and it waits for each.
pub(super) fn bring_nvrtc() {
    static BROUGHT: Once = Once::new();
    BROUGHT.call_once(|| {
        for path in mapped_files("libnvrtc") {
            // What cannot be read ahead comes when it is needed.
            let _ = std::thread::Builder::new().spawn(move || read_through(&path));
        }
    });
}

/// The files in the memory of this process whose names begin so; none where the system does not tell.
fn mapped_files(name: &str) -> BTreeSet<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| PathBuf::from(&line[at..])));
    let is_meant = |path: &PathBuf| {
        path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(name))
    };
    paths.filter(is_meant).collect()
}

/// Reads a file and forgets it; the system keeps it in memory.
fn read_through(path: &PathBuf) -> std::io::Result<()> {
    const AT_ONCE: usize = 4 << 20;
    let (mut file, mut room) = (File::open(path)?, vec![0; AT_ONCE]);
    while file.read(&mut room)? > 0 {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_memory_are_found_and_read() {
        // Every process on such a system has the C library.
        let files = mapped_files("libc.so");
        assert!(!files.is_empty() || !cfg!(target_env = "gnu"));
        for file in files {
            read_through(&file).unwrap();
        }
        assert!(mapped_files("no such library").is_empty());
    }
}

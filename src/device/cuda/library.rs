//! Finding the libraries of CUDA at run time: the driver and the run-time compiler NVRTC.
//!
//! Neither is linked. A machine without them runs on the CPU, and [`Search`] reports in one line the names and paths
//! tried and the reason for each failure.

use std::ffi::{CStr, OsStr, c_int, c_uint};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
use serde::Serialize;

use crate::os_text;
use crate::os_text::Shown;

/// Oldest CUDA version of a driver with all functions that the program calls: 12.8.
const OLDEST_DRIVER: c_int = 12_080;
/// Oldest NVRTC that knows the program's options and whose machine code such a driver loads.
const OLDEST_NVRTC: c_int = 12;

/// Result of the search for a library.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Search {
    /// Path of the library that was found.
    #[serde(serialize_with = "os_text::serialize_option")]
    pub found: Option<PathBuf>,
    /// Its version, as "13.0".
    pub version: Option<String>,
    /// Failed attempts, in order, each with the reason.
    pub tried: Vec<Attempt>,
}

/// A failed attempt to load a library.
#[derive(Clone, Debug, Serialize)]
pub struct Attempt {
    /// Name or path of the library.
    #[serde(serialize_with = "os_text::serialize")]
    pub path: PathBuf,
    /// Reason of the failure.
    pub why: String,
}

impl Search {
    pub(super) fn reject(&mut self, path: &Path, why: impl fmt::Display) {
        self.tried.push(Attempt { path: path.to_owned(), why: why.to_string() });
    }

    /// Reason why the library was not found, in one line: from the attempts that got furthest.
    pub(super) fn reason(&self, library: &str) -> String {
        // A file that exists but cannot be used says more than all missing ones.
        let there = self.tried.iter().find(|attempt| attempt.why != ABSENT);
        if let Some(Attempt { path, why }) = there {
            return format!("{}: {why}", path.shown());
        }
        let places: Vec<_> =
            self.tried.iter().map(|attempt| attempt.path.shown().into_owned()).collect();
        format!("no {library} found, looked for {}", shortened(&places))
    }
}

/// A list in words, shortened if it is long.
fn shortened(places: &[String]) -> String {
    const MOST: usize = 3;
    let list = places[..places.len().min(MOST)].join(", ");
    match places.len().saturating_sub(MOST) {
        0 => list,
        more => format!("{list} and {more} more (nwp-mini info lists all)"),
    }
}

const ABSENT: &str = "not there";

/// Message of the loader without the file name; [`ABSENT`] if the file does not exist.
pub(super) fn loading_error(error: &libloading::Error) -> String {
    use std::error::Error;
    let text = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    if text.contains("No such file") {
        return ABSENT.to_owned();
    }
    text.split_once(": ").map_or(text.clone(), |(_, reason)| reason.to_owned())
}

/// Finds the driver, initialises it, and queries its version.
///
/// The names are tried in the order of cudarc, so that cudarc loads the library that was tested here.
pub(super) fn find_driver() -> (Search, Result<(), String>) {
    let mut search = Search::default();
    let mut names: Vec<PathBuf> =
        cudarc::get_lib_name_candidates("cuda").into_iter().map(PathBuf::from).collect();
    names.dedup();
    for name in names {
        // SAFETY: the library's constructors are those of the system's driver.
        let library = match unsafe { Library::open(Some(&name), RTLD_NOW) } {
            Ok(library) => library,
            Err(error) => {
                search.reject(&name, loading_error(&error));
                continue;
            }
        };
        match ask_driver(&library) {
            Ok(version) => {
                (search.version, search.found) = (Some(version), Some(name));
                return (search, Ok(()));
            }
            Err(why) => search.reject(&name, why),
        }
        // cudarc will take the first library that loads, usable or not.
        break;
    }
    let reason = search.reason("CUDA driver (libcuda)");
    (search, Err(reason))
}

/// The driver's CUDA version, or the reason why it cannot be used.
fn ask_driver(library: &Library) -> Result<String, String> {
    const STUB: c_int = 34;
    const NO_DEVICE: c_int = 100;
    const MISMATCH: c_int = 803;
    // SAFETY: the signatures are those of the driver's published interface.
    let (init, get_version) = unsafe {
        let init = library.get::<unsafe extern "C" fn(c_uint) -> c_int>(b"cuInit\0");
        let version =
            library.get::<unsafe extern "C" fn(*mut c_int) -> c_int>(b"cuDriverGetVersion\0");
        match (init, version) {
            (Ok(init), Ok(version)) => (init, version),
            _ => return Err("it lacks cuInit or cuDriverGetVersion and is not a driver".to_owned()),
        }
    };
    let mut version = 0;
    // SAFETY: the pointer is valid for the one integer that is written.
    if unsafe { get_version(&raw mut version) } == 0 && (1..OLDEST_DRIVER).contains(&version) {
        let (found, needed) = (version_text(version), version_text(OLDEST_DRIVER));
        return Err(format!("the driver knows CUDA up to {found}, {needed} is needed"));
    }
    // SAFETY: 0 is the only value that the flags may have.
    match unsafe { init(0) } {
        0 => Ok(version_text(version)),
        STUB => Err("it is a stub for linking, not a driver".to_owned()),
        NO_DEVICE => Err("it sees no GPU".to_owned()),
        MISMATCH => Err("the library and the driver of the kernel differ in version".to_owned()),
        code => Err(format!("cuInit failed with CUDA error {code}")),
    }
}

fn version_text(version: c_int) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// The functions of NVRTC that the program calls.
pub(super) struct Nvrtc {
    pub(super) version: (i32, i32),
    pub(super) path: PathBuf,
    library: Library,
}

impl fmt::Debug for Nvrtc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NVRTC {}.{} at {}", self.version.0, self.version.1, self.path.shown())
    }
}

impl Nvrtc {
    /// The function of this name.
    ///
    /// # Safety
    ///
    /// `F` must be the type that NVRTC documents for it.
    pub(super) unsafe fn function<F: Copy>(&self, name: &CStr) -> Result<F, String> {
        // SAFETY: as promised by the caller.
        unsafe { self.library.get::<F>(name.to_bytes_with_nul()) }
            .map(|symbol| *symbol)
            .map_err(|_| format!("{} has no {}", self.path.shown(), name.to_string_lossy()))
    }
}

/// Finds NVRTC: at the path `given` only, or in all usual places.
pub(super) fn find_nvrtc(given: Option<&Path>) -> (Search, Result<Nvrtc, String>) {
    let mut search = Search::default();
    let candidates: Box<dyn Iterator<Item = PathBuf>> = match given {
        Some(path) if path.is_dir() => Box::new(libraries_in(path).into_iter()),
        Some(path) => Box::new(std::iter::once(path.to_owned())),
        None => {
            // Folders are searched when everything before them has failed.
            let all_in = |folders: fn() -> Vec<PathBuf>| {
                std::iter::once_with(folders).flatten().flat_map(|folder| libraries_in(&folder))
            };
            let names = LOADER_NAMES.into_iter().map(PathBuf::from);
            let named = all_in(named_folders).chain(names);
            let in_python = || python_folders(&["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib", ""]);
            Box::new(named.chain(all_in(usual_folders)).chain(all_in(in_python)))
        }
    };
    for path in candidates {
        match open_nvrtc(&path) {
            Ok(nvrtc) => {
                search.version = Some(format!("{}.{}", nvrtc.version.0, nvrtc.version.1));
                search.found = Some(nvrtc.path.clone());
                return (search, Ok(nvrtc));
            }
            Err(why) => search.reject(&path, why),
        }
    }
    let reason = search.reason("NVRTC library");
    (search, Err(reason))
}

/// Library names that the dynamic loader resolves.
const LOADER_NAMES: [&str; 3] = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];

/// Folders named by environment variables.
pub(super) fn named_folders() -> Vec<PathBuf> {
    ["CUDA_HOME", "CUDA_PATH"]
        .into_iter()
        .filter_map(std::env::var_os)
        .filter(|value| !value.is_empty())
        .flat_map(|root| {
            ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"]
                .map(|part| Path::new(&root).join(part))
        })
        .collect()
}

/// Folders of the toolkit as installed by distributions and by NVIDIA, the newest first.
pub(super) fn usual_folders() -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = ["/usr/local", "/opt", "/opt/nvidia"]
        .iter()
        .filter_map(|place| std::fs::read_dir(place).ok())
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("cuda"))
        .map(|entry| entry.path())
        .collect();
    roots.sort();
    roots.reverse();
    let toolkits = roots.into_iter().flat_map(|root| [root.join("lib64"), root.join("lib")]);
    let system = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"];
    toolkits.chain(system.map(PathBuf::from)).collect()
}

/// Folders of NVIDIA's packages in the active Python environments, by their parts below those of all packages.
pub(super) fn python_folders(parts: &[&str]) -> Vec<PathBuf> {
    let mut packages = Vec::new();
    for root in ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(std::env::var_os) {
        let versions = std::fs::read_dir(Path::new(&root).join("lib")).into_iter().flatten();
        packages.extend(versions.flatten().map(|entry| entry.path().join("site-packages")));
        packages.push(Path::new(&root).join("lib"));
    }
    packages.extend(python_paths());
    packages.iter().flat_map(|root| parts.iter().map(|part| root.join(part))).collect()
}

/// Package folders of the Python on the path; none without Python.
fn python_paths() -> Vec<PathBuf> {
    let script = "import site, sys; print('\\n'.join(p for p in sys.path if 'packages' in p)); \
                  print(site.getusersitepackages())";
    let output = Command::new("python3").args(["-I", "-c", script]).output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| PathBuf::from(OsStr::from_bytes(line))).collect()
}

/// NVRTC libraries in a folder, the newest first; the folder's plain library name if there is none, so that the report
/// shows the folder.
fn libraries_in(folder: &Path) -> Vec<PathBuf> {
    let is_library = |name: &str| {
        // `alt` builds and the built-ins library are not the compiler itself.
        name.strip_prefix("libnvrtc.so")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let mut libraries: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| is_library(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .collect();
    libraries.sort();
    libraries.reverse();
    if libraries.is_empty() {
        libraries.push(folder.join("libnvrtc.so"));
    }
    libraries
}

/// Loads NVRTC and its built-ins from the same folder.
fn open_nvrtc(path: &Path) -> Result<Nvrtc, String> {
    type Version = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
    if path.components().count() > 1 && !path.exists() {
        return Err(ABSENT.to_owned());
    }
    // SAFETY: the library's constructors are those of NVIDIA's compiler.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL) }
        .map_err(|error| loading_error(&error))?;
    let mut nvrtc = Nvrtc { version: (0, 0), path: path.to_owned(), library };
    // SAFETY: the types are those of NVRTC's published interface, and the pointers are valid.
    let code = unsafe {
        let version: Version = nvrtc.function(c"nvrtcVersion")?;
        nvrtc.function::<*const ()>(c"nvrtcGetCUBIN")?;
        version(&raw mut nvrtc.version.0, &raw mut nvrtc.version.1)
    };
    if code != 0 {
        return Err(format!("nvrtcVersion failed with code {code}"));
    }
    if nvrtc.version.0 < OLDEST_NVRTC {
        let (major, minor) = nvrtc.version;
        return Err(format!("it is NVRTC {major}.{minor}, {OLDEST_NVRTC}.0 is needed"));
    }
    // The loader resolved a bare name, and resolves the built-ins too.
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        load_builtins(folder);
    }
    Ok(nvrtc)
}

/// NVRTC opens its built-ins by their bare name, which succeeds only if the loader can resolve it or the library is
/// already loaded.
fn load_builtins(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with("libnvrtc-builtins.so") {
            // SAFETY: data and plain functions of NVIDIA's compiler.
            if let Ok(library) =
                unsafe { Library::open(Some(entry.path()), RTLD_NOW | RTLD_GLOBAL) }
            {
                // The library must stay loaded until the compiler needs it.
                std::mem::forget(library);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_given_place_is_the_only_one_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let (search, outcome) = find_nvrtc(Some(folder.path()));
        let reason = outcome.unwrap_err();
        assert_eq!(search.tried.len(), 1, "{search:?}");
        assert!(reason.contains(folder.path().to_str().unwrap()), "{reason}");
    }

    #[test]
    fn a_file_that_is_no_library_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("libnvrtc.so.13");
        std::fs::write(&file, "not a library, but long enough to be looked at as one").unwrap();
        let reason = find_nvrtc(Some(&file)).1.unwrap_err();
        assert!(reason.contains("libnvrtc.so.13: "), "{reason}");
        assert!(!reason.contains(ABSENT) && !reason.contains('\n'), "{reason}");
    }

    #[test]
    fn reasons_prefer_what_is_there() {
        let mut search = Search::default();
        search.reject(Path::new("libcuda.so"), ABSENT);
        search.reject(Path::new("libcuda.so.1"), "it is a stub");
        assert_eq!(search.reason("driver"), "libcuda.so.1: it is a stub");
    }
}

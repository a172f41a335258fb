//! The library of MPI.

use std::env;
use std::ffi::{c_char, c_int, c_void};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

use super::LIBRARY;
use super::launch::{Launch, OPEN_MPI};

/// Names of the libraries by their binary interfaces: Open MPI, the MPI 5.0 standard, MPICH and its family.
const OPEN: [&str; 1] = ["libmpi.so.40"];
const OTHERS: [&str; 4] = ["libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi.so.12", "libmpich.so.12"];

/// Room for the version of any library, bytes.
const VERSION_BYTES: usize = 8192;

/// A library that was opened.
#[derive(Debug)]
pub struct Found {
    /// Its name, or its path.
    pub name: String,
    /// First words of its description of itself.
    pub version: String,
    pub(super) library: Library,
}

impl Found {
    fn open(name: &str) -> Result<Self, String> {
        // SAFETY: a library of MPI, which does nothing when it is loaded. Global, as the modules that it loads look for
        // its symbols.
        let library = unsafe { Library::open(Some(name), RTLD_NOW | RTLD_GLOBAL) }
            .map_err(|_| "cannot be loaded".to_owned())?;
        let version = version(&library)?;
        Ok(Self { name: name.to_owned(), version, library })
    }

    /// The address of a symbol.
    pub(super) fn symbol(&self, name: &str) -> Option<*mut c_void> {
        // SAFETY: the address is asked for, and nothing is called.
        let symbol = unsafe { self.library.get::<*mut c_void>(name.as_bytes()) };
        symbol.ok().map(|symbol| symbol.into_raw().cast())
    }
}

/// Description that a library gives of itself: the first line, up to the first comma, without the word for what it is.
fn version(library: &Library) -> Result<String, String> {
    type Get = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
    // SAFETY: the signature is that of the standard, which allows the call before MPI has started; the room is that of
    // MPI_MAX_LIBRARY_VERSION_STRING of any library.
    let (text, length) = unsafe {
        let get = library.get::<Get>(b"MPI_Get_library_version");
        let get = get.map_err(|_| "has no MPI_Get_library_version".to_owned())?;
        let (mut text, mut length) = (vec![0_u8; VERSION_BYTES], 0);
        get(text.as_mut_ptr().cast(), &raw mut length);
        (text, length)
    };
    let text = String::from_utf8_lossy(&text[..(length.max(0) as usize).min(VERSION_BYTES)]);
    let text = text.trim_end_matches('\0').lines().next().unwrap_or_default();
    let words = text.split(',').next().unwrap_or_default().split_whitespace();
    Ok(words.filter(|word| *word != "Version:").collect::<Vec<_>>().join(" "))
}

/// Libraries to try, the likeliest first.
fn candidates(launch: &Launch) -> Vec<String> {
    if let Ok(given) = env::var(LIBRARY) {
        return vec![given];
    }
    let names: Vec<&str> = if launch.variable == OPEN_MPI || launch.variable.is_empty() {
        OPEN.into_iter().chain(OTHERS).collect()
    } else {
        OTHERS.into_iter().chain(OPEN).collect()
    };
    let path = env::var_os("PATH").unwrap_or_default();
    // A launcher in a folder of its own has its library beside it; those of the system are known to the loader.
    let folders = env::split_paths(&path).filter(|folder| {
        let is_of_system = [Path::new("/usr/bin"), Path::new("/bin")].contains(&folder.as_path());
        !is_of_system && folder.join("mpiexec").exists()
    });
    let folders: Vec<_> = folders.map(|folder| folder.join("../lib")).collect();
    let beside = folders.iter().flat_map(|folder| {
        names.iter().map(|name| folder.join(name).to_string_lossy().into_owned())
    });
    beside.chain(names.iter().map(|name| (*name).to_owned())).collect()
}

/// The first library that can be opened.
pub(super) fn library(launch: &Launch) -> Result<Found, String> {
    let mut tried = Vec::new();
    for name in candidates(launch) {
        match Found::open(&name) {
            Ok(found) => return Ok(found),
            Err(why) => tried.push(format!("{name} {why}")),
        }
    }
    Err(tried.join(", "))
}

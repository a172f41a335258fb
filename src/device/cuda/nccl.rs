//! NCCL: messages between the GPUs of several processes, queued on their streams. The library is found at run time, as
//! NVRTC is; the functions are those of its stable C interface.
//!
//! A GPU is of one process of a group. The first exchange between two of them makes their connection, which takes memory
//! and time, and which a graph cannot record.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::library::{Search, loading_error, named_folders, python_folders, usual_folders};
use crate::device::driver::{Outcome, Refusal, Shipment};
use crate::os_text::Shown;

/// Oldest version that records messages between two devices in graphs.
const OLDEST: c_int = 20_906;

/// Names of the library.
const NAMES: [&str; 2] = ["libnccl.so.2", "libnccl.so"];

/// Bytes of a token, `NCCL_UNIQUE_ID_BYTES`.
const TOKEN_BYTES: usize = 128;

/// Success, among the codes of results.
const SUCCESS: c_int = 0;

/// The type of bytes, `ncclUint8`.
const BYTE: c_int = 1;

/// A token, `ncclUniqueId`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Token {
    bytes: [c_char; TOKEN_BYTES],
}

/// A process's part of a group, `ncclComm_t`.
pub(super) type Communicator = *mut c_void;

/// A stream, `cudaStream_t`, which is a `CUstream`.
pub(super) type CudaStream = *mut c_void;

/// Defines the functions with their names in the library.
macro_rules! functions {
    ($($field:ident = $name:literal ($($argument:ty),*);)*) => {
        /// The functions that return a code.
        struct Functions {
            $($field: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl Functions {
            /// The functions of a library.
            fn of(library: &Library) -> Result<Self, String> {
                // SAFETY: the signatures are those of NCCL's published interface.
                unsafe {
                    Ok(Self {
                        $($field: *library
                            .get($name.to_bytes_with_nul())
                            .map_err(|_| format!("it has no {}", $name.to_string_lossy()))?,)*
                    })
                }
            }
        }
    };
}

functions! {
    version = c"ncclGetVersion"(*mut c_int);
    token = c"ncclGetUniqueId"(*mut Token);
    join = c"ncclCommInitRank"(*mut Communicator, c_int, Token, c_int);
    async_error = c"ncclCommGetAsyncError"(Communicator, *mut c_int);
    finalize = c"ncclCommFinalize"(Communicator);
    destroy = c"ncclCommDestroy"(Communicator);
    abort = c"ncclCommAbort"(Communicator);
    group_start = c"ncclGroupStart"();
    group_end = c"ncclGroupEnd"();
    send = c"ncclSend"(*const c_void, usize, c_int, c_int, Communicator, CudaStream);
    receive = c"ncclRecv"(*mut c_void, usize, c_int, c_int, Communicator, CudaStream);
}

/// The library.
pub(super) struct Nccl {
    functions: Functions,
    in_words: unsafe extern "C" fn(c_int) -> *const c_char,
    version: c_int,
    path: PathBuf,
    /// The functions are its own.
    _library: Library,
}

impl fmt::Debug for Nccl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.about(), self.path.shown())
    }
}

/// The library of this process, which is searched for once.
pub(super) fn library() -> Outcome<&'static Nccl> {
    static FOUND: OnceLock<Result<Nccl, String>> = OnceLock::new();
    FOUND.get_or_init(find).as_ref().map_err(|why| Refusal(why.clone()))
}

/// Finds the library: in folders that the environment names, where the loader looks, and where NVIDIA's packages are.
fn find() -> Result<Nccl, String> {
    let mut search = Search::default();
    let names = || NAMES.into_iter().map(PathBuf::from);
    let all_in = |folders: fn() -> Vec<PathBuf>| {
        let inside = |folder: PathBuf| NAMES.map(|name| folder.join(name));
        std::iter::once_with(folders).flatten().flat_map(inside)
    };
    let in_python = || python_folders(&["nvidia/nccl/lib", ""]);
    let candidates = all_in(named_folders).chain(names()).chain(all_in(usual_folders));
    for path in candidates.chain(all_in(in_python)) {
        match Nccl::open(&path) {
            Ok(nccl) => return Ok(nccl),
            Err(why) => search.reject(&path, why),
        }
    }
    Err(search.reason("NCCL library"))
}

/// The version as its parts: 2.28.9 for 22809.
fn version_text(version: c_int) -> String {
    format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100)
}

impl Nccl {
    /// Loads the library of a path and asks for its version.
    fn open(path: &Path) -> Result<Self, String> {
        // SAFETY: the library's constructors are those of NVIDIA's library.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }
            .map_err(|error| loading_error(&error))?;
        let functions = Functions::of(&library)?;
        // SAFETY: as above.
        let in_words = unsafe { library.get(c"ncclGetErrorString".to_bytes_with_nul()) }
            .map(|function| *function)
            .map_err(|_| "it has no ncclGetErrorString".to_owned())?;
        let mut version = 0;
        // SAFETY: the pointer is valid for the one integer that is written.
        let code = unsafe { (functions.version)(&raw mut version) };
        if code != SUCCESS {
            return Err(format!("ncclGetVersion failed with code {code}"));
        }
        if version < OLDEST {
            let [found, needed] = [version, OLDEST].map(version_text);
            return Err(format!("it is NCCL {found}, {needed} is needed"));
        }
        Ok(Self { functions, in_words, version, path: path.to_owned(), _library: library })
    }

    /// Its name and version.
    pub(super) fn about(&self) -> String {
        format!("NCCL {}", version_text(self.version))
    }

    /// A refusal in the library's words, unless a call has succeeded.
    fn check(&self, call: &str, code: c_int) -> Outcome<()> {
        if code == SUCCESS {
            return Ok(());
        }
        // SAFETY: the function takes any code and returns a text that stays.
        let words = unsafe { CStr::from_ptr((self.in_words)(code)) }.to_string_lossy();
        Err(Refusal(format!("{call} of {}: {words}", self.about())))
    }

    /// A token for a new group.
    pub(super) fn token(&self) -> Outcome<Vec<u8>> {
        let mut token = Token { bytes: [0; TOKEN_BYTES] };
        // SAFETY: the pointer is valid for the token that is written.
        self.check("ncclGetUniqueId", unsafe { (self.functions.token)(&raw mut token) })?;
        Ok(token.bytes.map(|byte| byte as u8).to_vec())
    }

    /// Joins a group with the device that is the current one of this thread.
    pub(super) fn join(&self, token: &[u8], [number, size]: [usize; 2]) -> Outcome<Communicator> {
        let bytes: [u8; TOKEN_BYTES] = token
            .try_into()
            .map_err(|_| Refusal(format!("a token of {} bytes is not one of NCCL", token.len())))?;
        let token = Token { bytes: bytes.map(|byte| byte as c_char) };
        let mut communicator = std::ptr::null_mut();
        // SAFETY: the pointer is valid for the communicator that is written.
        let code = unsafe {
            (self.functions.join)(&raw mut communicator, size as c_int, token, number as c_int)
        };
        self.check("ncclCommInitRank", code)?;
        Ok(communicator)
    }

    /// Leaves a group: with the others if all is well, at once if anything has failed.
    ///
    /// # Safety
    ///
    /// The communicator came from [`Nccl::join`] and is left once.
    pub(super) unsafe fn leave(&self, communicator: Communicator) {
        let mut failure = SUCCESS;
        // SAFETY: as promised by the caller; errors are ignored, since nobody is left to tell.
        unsafe {
            let asked = (self.functions.async_error)(communicator, &raw mut failure);
            if asked == SUCCESS
                && failure == SUCCESS
                && (self.functions.finalize)(communicator) == SUCCESS
            {
                (self.functions.destroy)(communicator);
            } else {
                (self.functions.abort)(communicator);
            }
        }
    }

    /// Queues messages to other devices of a group and from them, all at once.
    ///
    /// # Safety
    ///
    /// Communicator and stream live; the ranges are those of [`Driver::exchange`](crate::device::driver::Driver::exchange).
    pub(super) unsafe fn exchange(
        &self,
        communicator: Communicator,
        stream: CudaStream,
        [sent, received]: [&[Shipment]; 2],
    ) -> Outcome<()> {
        let functions = &self.functions;
        let place = |address: u64| std::ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: the call has no arguments.
        self.check("ncclGroupStart", unsafe { (functions.group_start)() })?;
        let send = |message: &Shipment| {
            let (from, peer) = (place(message.address), message.peer as c_int);
            // SAFETY: as promised by the caller.
            let code =
                unsafe { (functions.send)(from, message.bytes, BYTE, peer, communicator, stream) };
            self.check("ncclSend", code)
        };
        let receive = |message: &Shipment| {
            let (to, peer) = (place(message.address), message.peer as c_int);
            // SAFETY: as above.
            let code =
                unsafe { (functions.receive)(to, message.bytes, BYTE, peer, communicator, stream) };
            self.check("ncclRecv", code)
        };
        let queued = sent.iter().try_for_each(send);
        let queued = queued.and_then(|()| received.iter().try_for_each(receive));
        // The group ends whatever happened in it.
        // SAFETY: the call has no arguments.
        let ended = self.check("ncclGroupEnd", unsafe { (functions.group_end)() });
        queued.and(ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_their_parts() {
        assert_eq!(version_text(22_809), "2.28.9");
        assert_eq!(version_text(OLDEST), "2.9.6");
    }

    #[test]
    fn a_library_of_something_else_is_refused() {
        let why = Nccl::open(Path::new("libc.so.6")).unwrap_err();
        assert!(why.contains("ncclGetVersion"), "{why}");
        let folder = tempfile::tempdir().unwrap();
        let why = Nccl::open(&folder.path().join("libnccl.so.2")).unwrap_err();
        assert_eq!(why, "not there");
    }
}

//! Kernels compiled for the host by a C++ compiler, as modules: shared libraries that the process loads.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};
use nwp_mini::device::KernelSource;
use nwp_mini::error::{Error, Result};
use sha2::{Digest, Sha256};

/// Options of the compiler for modules and for the emulator itself. Variables of inline functions stay those of a
/// module: in another one they have another size. Products and sums are rounded one by one, as Rust does.
const OPTIONS: [&str; 7] = [
    "-std=c++17",
    "-fPIC",
    "-shared",
    "-w",
    "-fno-gnu-unique",
    "-Wl,-Bsymbolic",
    "-ffp-contract=off",
];
/// A variable that was not written has no value by chance.
const OF_A_MODULE: [&str; 2] = ["-O1", "-ftrivial-auto-var-init=pattern"];
/// For schemes, whose conversions and places in tables depend on the weather: each is looked at.
const OF_A_SCHEME: [&str; 2] =
    ["-fsanitize=undefined,float-cast-overflow", "-fno-sanitize-recover=all"];
const OF_THE_EMULATOR: [&str; 1] = ["-O2"];
/// Room for shared memory whose size the launch decides, bytes; the most that a block has.
pub(super) const DYNAMIC_SHARED_BYTES: usize = 227 << 10;

/// The header of the language, and the one that it includes.
const HEADERS: [(&str, &str); 2] = [
    ("cuda.h", include_str!("../../emulator/cuda.h")),
    ("functions.h", include_str!("../../emulator/functions.h")),
];

/// Extents of a grid or a block, as C++ has them.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Extents {
    x: u32,
    y: u32,
    z: u32,
}

impl From<[u32; 3]> for Extents {
    fn from([x, y, z]: [u32; 3]) -> Self {
        Self { x, y, z }
    }
}

/// `emulator::Launch`.
#[repr(C)]
pub(super) struct Launch {
    pub(super) thread: unsafe extern "C" fn(*const c_void),
    pub(super) arguments: *const c_void,
    pub(super) touch: unsafe extern "C" fn(),
    pub(super) preceding: Option<unsafe extern "C" fn(*mut c_void)>,
    pub(super) context: *mut c_void,
    pub(super) grid: Extents,
    pub(super) block: Extents,
}

type Run = unsafe extern "C" fn(*const Launch, u64, *mut c_char, usize) -> c_int;

/// The emulator, loaded once.
struct Emulator {
    run: Run,
    leave_out: unsafe extern "C" fn(*const c_char),
    note_barriers: unsafe extern "C" fn(),
    noted_barriers: unsafe extern "C" fn() -> *const c_char,
    /// Stays loaded as long as the process.
    _library: Library,
}

static EMULATOR: LazyLock<Emulator> = LazyLock::new(|| {
    const HAS: &str = "the emulator has the function";
    let source = include_str!("../../emulator/runtime.cpp");
    let path = compiled("emulator", source, &[], &OF_THE_EMULATOR).expect("the emulator compiles");
    // SAFETY: the library is ours; its functions have these types.
    unsafe {
        let library = Library::open(Some(&path), RTLD_NOW | RTLD_GLOBAL).expect("it loads");
        Emulator {
            run: *library.get(b"emulator_run").expect(HAS),
            leave_out: *library.get(b"emulator_leave_out").expect(HAS),
            note_barriers: *library.get(b"emulator_note_barriers").expect(HAS),
            noted_barriers: *library.get(b"emulator_noted_barriers").expect(HAS),
            _library: library,
        }
    }
});

/// Leaves a barrier out in all launches to come, given as "FILE:LINE".
pub(super) fn leave_out_barrier(place: &str) {
    let place = CString::new(place).expect("a place without NUL");
    // SAFETY: the text lives during the call, and no launch runs before the device is open.
    unsafe { (EMULATOR.leave_out)(place.as_ptr()) };
}

/// Notes the barriers of all launches to come.
pub(super) fn note_barriers() {
    // SAFETY: no launch runs before the device is open.
    unsafe { (EMULATOR.note_barriers)() };
}

/// The barriers that were noted.
pub(super) fn noted_barriers() -> Vec<String> {
    // SAFETY: the text is the library's and stays until the next call.
    let text = unsafe { CStr::from_ptr((EMULATOR.noted_barriers)()) };
    text.to_string_lossy().lines().map(str::to_owned).collect()
}

/// Runs a launch; an error is where its threads got stuck.
///
/// # Safety
///
/// All parts of the launch are of the same module, and its arguments those of the kernel.
pub(super) unsafe fn run(launch: &Launch, seed: u64) -> Result<(), String> {
    let mut message = [0_u8; 1024];
    // SAFETY: as promised by the caller; the message has this room.
    let has_failed =
        unsafe { (EMULATOR.run)(launch, seed, message.as_mut_ptr().cast(), message.len()) } != 0;
    if !has_failed {
        return Ok(());
    }
    let text = CStr::from_bytes_until_nul(&message).unwrap_or_default();
    Err(text.to_string_lossy().into_owned())
}

/// Compiles a source: the path of its module.
pub(super) fn compile(source: &KernelSource) -> Result<PathBuf> {
    // An array whose size the launch decides gets all the room that there is.
    let sized = |text: &str| {
        text.lines().fold(String::new(), |mut all, line| {
            let array = line.strip_prefix("extern __shared__ ");
            // Writing to a string cannot fail.
            let _ = match array.and_then(|rest| rest.strip_suffix("[];")) {
                Some(array) => {
                    let kind = array.rsplit(' ').nth(1).unwrap_or_default();
                    let count = format!("{DYNAMIC_SHARED_BYTES} / sizeof({kind}) + 1");
                    writeln!(all, "__shared__ __align__(16) {array}[{count}];")
                }
                None => writeln!(all, "{line}"),
            };
            all
        })
    };
    let body = sized(&source.program());
    let mut text = format!("#include \"cuda.h\"\n{body}\n");
    text +=
        "extern \"C\" void emulator_touch() { thread_local volatile char anchor; anchor = 0; }\n";
    let headers: Vec<(&str, String)> =
        source.headers().into_iter().map(|(name, text)| (name, sized(text))).collect();
    let name = source.file.replace('/', "-");
    let is_scheme = source.file.starts_with("physics/");
    let of_a_scheme = if is_scheme { &OF_A_SCHEME[..] } else { &[] };
    let options = [&OF_A_MODULE, of_a_scheme].concat();
    compiled(&name, &text, &headers, &options).map_err(|log| {
        Error::Gpu(format!(
            "kernels/{} does not compile for the emulated device:\n{log}",
            source.file
        ))
    })
}

/// Text that makes a preprocessed one a module: for each kernel in it a function that runs one thread, and one that
/// tells the bytes of the arguments.
fn shims(preprocessed: &str) -> String {
    const MARK: &str = "__attribute__((used)) void";
    let mut shims = String::new();
    for (at, mark) in preprocessed.match_indices(MARK) {
        let name = preprocessed[at + mark.len()..].split('(').next().unwrap_or_default().trim();
        // Writing to a string cannot fail.
        let _ = writeln!(
            shims,
            "extern \"C\" void emulator_thread_{name}(const void* a) {{ emulator::run_thread({name}, a); }}\n\
             extern \"C\" unsigned long emulator_bytes_{name}() {{ return emulator::bytes_of_arguments({name}); }}"
        );
    }
    shims
}

/// The library of a text: compiled, or from an earlier compilation of the same text.
fn compiled(
    name: &str,
    text: &str,
    headers: &[(&str, String)],
    options: &[&str],
) -> Result<PathBuf, String> {
    static VERSION: LazyLock<Vec<u8>> = LazyLock::new(|| {
        Command::new("c++").arg("--version").output().expect("c++ is installed").stdout
    });
    let mut digest = Sha256::new();
    digest.update(&*VERSION);
    let texts = HEADERS.iter().map(|(_, text)| text);
    for part in OPTIONS.iter().chain(options).chain(&[text]).chain(texts) {
        digest.update(part.len().to_le_bytes());
        digest.update(part);
    }
    for (name, text) in headers {
        digest.update(name);
        digest.update(text);
    }
    let all = crate::scratch().join("modules");
    let module = all.join(format!("{name}-{:.16x}.so", digest.finalize()));
    if module.exists() {
        return Ok(module);
    }
    std::fs::create_dir_all(&all).expect("the folder can be made");
    let folder = tempfile::tempdir_in(&all).expect("a folder for the sources");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it is in the folder")).expect("a folder");
        std::fs::write(path, text).expect("the text can be written");
    };
    for (name, text) in HEADERS {
        write(name, text);
    }
    for (name, text) in headers {
        write(name, text);
    }
    write("module.cpp", text);
    let compiler = |arguments: &[&str]| {
        let mut command = Command::new("c++");
        for name in ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"] {
            command.env_remove(name);
        }
        let command = command.current_dir(folder.path()).args(OPTIONS).args(arguments);
        let output = command.output().expect("c++ is installed");
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    // Macros of the kernels define kernels, too.
    let preprocessed = compiler(&["-I.", "-E", "module.cpp"])?;
    write("module.ii", &format!("{preprocessed}\n# 1 \"shims\"\n{}", shims(&preprocessed)));
    compiler(&[options, &["-o", "module.so", "module.ii"]].concat())?;
    // It gets its name when it is complete: several processes may do this at a time.
    std::fs::rename(folder.path().join("module.so"), &module).expect("the folder is ours");
    Ok(module)
}

/// A loaded module.
#[derive(Debug)]
pub(super) struct Module {
    library: Library,
}

/// A kernel of a module.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) name: String,
    /// Bytes of its arguments.
    pub(super) bytes: usize,
    pub(super) thread: unsafe extern "C" fn(*const c_void),
    pub(super) touch: unsafe extern "C" fn(),
    /// Dynamic shared memory that it may have, bytes.
    pub(super) allowed_bytes: u32,
}

impl Module {
    /// Loads a module from its path.
    pub(super) fn load(path: &[u8]) -> Result<Self, String> {
        LazyLock::force(&EMULATOR);
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        // SAFETY: the library is ours and has no constructors of its own.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        Ok(Self { library: library.map_err(|error| error.to_string())? })
    }

    /// The kernel of this name.
    pub(super) fn function(&self, name: &str) -> Result<Function, String> {
        let symbol = |stem: &str| format!("emulator_{stem}_{name}");
        // SAFETY: the functions have these types: they are those of `compile`.
        unsafe {
            let thread =
                self.library.get(symbol("thread").as_str()).map_err(|error| error.to_string())?;
            let bytes = self
                .library
                .get::<unsafe extern "C" fn() -> usize>(symbol("bytes").as_str())
                .map_err(|error| error.to_string())?();
            let touch = self.library.get(b"emulator_touch").map_err(|error| error.to_string())?;
            Ok(Function {
                name: name.to_owned(),
                bytes,
                thread: *thread,
                touch: *touch,
                allowed_bytes: 48 << 10,
            })
        }
    }
}

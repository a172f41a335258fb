//! Compiles kernels for the host and runs them there; see `validation/emulator/cuda.h`.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

/// The arrays that a program is given and gives back, by name: size of an element, bytes.
#[derive(Clone, Debug, Default)]
pub struct Records(BTreeMap<String, (usize, Vec<u8>)>);

/// A number in the files of a program.
pub trait Element: Copy {
    /// Number of bytes.
    const SIZE: usize;
    /// Its bytes in the order of the machine.
    fn append(self, bytes: &mut Vec<u8>);
    /// The number that has these bytes.
    fn read(bytes: &[u8]) -> Self;
}

macro_rules! element {
    ($($type:ident)*) => { $(
        impl Element for $type {
            const SIZE: usize = size_of::<Self>();

            fn append(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_ne_bytes());
            }

            fn read(bytes: &[u8]) -> Self {
                Self::from_ne_bytes(bytes.try_into().expect("as many bytes as the number has"))
            }
        }
    )* };
}

element!(f32 f64 i32 u32 u64 u8);

impl Records {
    /// Adds an array.
    pub fn put<T: Element>(&mut self, name: &str, values: &[T]) {
        let mut bytes = Vec::with_capacity(values.len() * T::SIZE);
        for value in values {
            value.append(&mut bytes);
        }
        self.0.insert(name.to_owned(), (T::SIZE, bytes));
    }

    /// Adds a struct as its bytes.
    pub fn put_bytes(&mut self, name: &str, bytes: Vec<u8>) {
        self.0.insert(name.to_owned(), (1, bytes));
    }

    /// The elements of an array.
    pub fn take<T: Element>(&self, name: &str) -> Vec<T> {
        let (size, bytes) = self.0.get(name).unwrap_or_else(|| panic!("no array {name}"));
        assert_eq!(*size, T::SIZE, "size of the elements of {name}");
        bytes.chunks_exact(T::SIZE).map(T::read).collect()
    }

    fn bytes(&self) -> Vec<u8> {
        let mut all = Vec::new();
        for (name, (size, bytes)) in &self.0 {
            all.extend((name.len() as u32).to_ne_bytes());
            all.extend(name.bytes());
            all.extend((*size as u32).to_ne_bytes());
            all.extend((bytes.len() as u64 / *size as u64).to_ne_bytes());
            all.extend(bytes);
        }
        all
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let mut records = BTreeMap::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let length = u32::read(take(&mut rest, 4)) as usize;
            let name = String::from_utf8_lossy(take(&mut rest, length)).into_owned();
            let size = u32::read(take(&mut rest, 4)) as usize;
            let count = u64::read(take(&mut rest, 8)) as usize;
            records.insert(name, (size, take(&mut rest, size * count).to_vec()));
        }
        Self(records)
    }
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, left) = rest.split_at(count);
    *rest = left;
    taken
}

/// A compiled program that runs kernels on the host.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
}

impl Program {
    /// Compiles `source`, a file below `validation/`, after `prelude`, which it includes as `prelude.h`, with further
    /// options of the compiler. A program of the same text, of this run of the tests or of an earlier one, is used
    /// again: most of the time of these tests is the compiler's. `name` begins the name of its folder.
    pub fn compile(name: &str, source: &str, prelude: &str, options: &[&str]) -> Self {
        /// The programs of this run of the tests by the digests of their texts.
        static PROGRAMS: Mutex<BTreeMap<u64, Arc<OnceLock<PathBuf>>>> = Mutex::new(BTreeMap::new());
        let digest = text_digest(source, prelude, options);
        let path = {
            let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(programs.entry(digest).or_default())
        };
        let path = path.get_or_init(|| {
            let folder = sources().folder.join(format!("{name}-{digest:016x}"));
            std::fs::create_dir_all(&folder).expect("the folder can be made");
            std::fs::write(folder.join("prelude.h"), prelude).expect("the prelude can be written");
            let include = format!("-I{}", folder.display());
            let source = crate::project().join("validation").join(source);
            let object = runtime().to_str().expect("the folder has a plain name");
            let program = folder.join("program");
            compile_once(&[options, &[&include, object]].concat(), &source, &program);
            program
        });
        Self { path: path.clone() }
    }

    /// Runs the program on some arrays; `seed` decides the order of blocks and threads.
    pub fn run(&self, records: &Records, seed: u64) -> Records {
        self.attempt(records, seed).unwrap_or_else(|why| panic!("{why}"))
    }

    /// Runs the program; an error is its message.
    ///
    /// # Errors
    ///
    /// The message of the program.
    pub fn attempt(&self, records: &Records, seed: u64) -> Result<Records, String> {
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let [given, got] =
            ["in", "out"].map(|end| self.path.with_extension(format!("{run}.{end}")));
        std::fs::write(&given, records.bytes()).expect("the arrays can be written");
        let output = Command::new(&self.path)
            .args([&given, &got])
            .arg(seed.to_string())
            .output()
            .expect("the program runs");
        std::fs::remove_file(given).expect("the file is ours");
        if !output.status.success() {
            return Err(format!("seed {seed}: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let found = Records::from_bytes(&std::fs::read(&got).expect("the program has written"));
        std::fs::remove_file(got).expect("the file is ours");
        Ok(found)
    }
}

/// Options of the compiler for all programs, and for the object file that they are linked with.
const OPTIONS: [&str; 5] = ["-std=c++17", "-O1", "-Wall", "-Wno-unknown-pragmas", "-Werror"];
const RUNTIME_OPTIONS: [&str; 2] = ["-O2", "-c"];
/// Folders of headers.
const HEADERS: [&str; 2] = ["validation/emulator", "kernels"];
/// Folders of all files that a program is compiled from, but for those of its own options.
const SOURCES: [&str; 4] =
    ["kernels", "validation/emulator", "validation/emulated", "validation/peers"];
/// Variables of the environment that add folders of headers.
const HEADER_VARIABLES: [&str; 3] = ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"];

/// Compiles `target` from a source file, unless it is there already. It gets its name when it is complete, so that
/// several test executables may do this at a time.
fn compile_once(options: &[&str], source: &Path, target: &Path) {
    if target.exists() {
        return;
    }
    let made = target.with_extension(format!("{}.new", std::process::id()));
    let mut command = Command::new("c++");
    for name in HEADER_VARIABLES {
        command.env_remove(name);
    }
    let (objects, options): (Vec<&str>, Vec<&str>) = options
        .iter()
        .partition(|option| Path::new(option).extension().is_some_and(|ending| ending == "o"));
    let headers = HEADERS.map(|at| format!("-I{}", crate::project().join(at).display()));
    command.args(OPTIONS).args(options).args(headers);
    command.arg("-o").args([&made, source]).args(objects);
    let output = command.output().expect("c++ is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::rename(made, target).expect("the folder is ours");
}

/// The object file that all programs are linked with.
fn runtime() -> &'static Path {
    static RUNTIME: LazyLock<PathBuf> = LazyLock::new(|| {
        let object = sources().folder.join("runtime.o");
        let source = crate::project().join("validation/emulator/runtime.cpp");
        compile_once(&RUNTIME_OPTIONS, &source, &object);
        object
    });
    &RUNTIME
}

/// The files that programs are compiled from.
struct Sources {
    digest: u64,
    /// Folder of the programs that are compiled from them.
    folder: PathBuf,
}

/// The files as they are now. Programs of other versions of them are removed.
fn sources() -> &'static Sources {
    static NOW: LazyLock<Sources> = LazyLock::new(|| {
        let mut hasher = DefaultHasher::new();
        let version = Command::new("c++").arg("--version").output().expect("c++ is installed");
        (version.stdout, OPTIONS, RUNTIME_OPTIONS, HEADERS).hash(&mut hasher);
        for folder in SOURCES {
            hash_files(&crate::project().join(folder), &mut hasher);
        }
        let (digest, all) = (hasher.finish(), crate::scratch().join("emulated"));
        let folder = all.join(format!("{digest:016x}"));
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        for entry in std::fs::read_dir(all).expect("the folder can be read").flatten() {
            if entry.path() != folder {
                // Another test executable may remove it at the same time.
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        Sources { digest, folder }
    });
    &NOW
}

/// Digest of all that a program is compiled from: compiler, options, prelude, and all files that it may include.
fn text_digest(source: &str, prelude: &str, options: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (sources().digest, source, prelude).hash(&mut hasher);
    for option in options {
        match option.strip_prefix("-I") {
            Some(folder) => hash_files(Path::new(folder), &mut hasher),
            None => option.hash(&mut hasher),
        }
    }
    hasher.finish()
}

/// Adds the names and contents of all files in a folder to a digest, but for those of Rust.
fn hash_files(folder: &Path, hasher: &mut DefaultHasher) {
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        path.file_name().hash(hasher);
        if path.is_dir() {
            hash_files(&path, hasher);
        } else if path.extension().is_none_or(|extension| extension != "rs") {
            std::fs::read(&path).expect("the file can be read").hash(hasher);
        }
    }
}

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
    /// again: most of the time of these tests is the compiler's.
    pub fn compile(name: &str, source: &str, prelude: &str, options: &[&str]) -> Self {
        /// The programs of this run of the tests by the digests of their texts.
        static PROGRAMS: Mutex<BTreeMap<u64, Arc<OnceLock<PathBuf>>>> = Mutex::new(BTreeMap::new());
        let digest = text_digest(source, prelude, options);
        let path = {
            let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(programs.entry(digest).or_default())
        };
        let folder = crate::scratch().join(name);
        let path = path.get_or_init(|| compiled(&folder, digest, source, prelude, options));
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

/// The program in a folder, compiled anew unless its digest is that of the text.
fn compiled(folder: &Path, digest: u64, source: &str, prelude: &str, options: &[&str]) -> PathBuf {
    let (program, note) = (folder.join("program"), folder.join("digest"));
    let digest = format!("{digest:016x}");
    if program.exists() && std::fs::read(&note).is_ok_and(|found| found == digest.as_bytes()) {
        return program;
    }
    std::fs::create_dir_all(folder).expect("the folder can be made");
    // Without the digest a program that is half written is not used.
    let _ = std::fs::remove_file(&note);
    std::fs::write(folder.join("prelude.h"), prelude).expect("the prelude can be written");
    let include = format!("-I{}", folder.display());
    let source = crate::project().join("validation").join(source);
    compiler(&[options, &[&include]].concat(), &source, &program, Some(runtime()));
    std::fs::write(note, digest).expect("the digest can be written");
    program
}

/// Runs the compiler of C++ with `options` on a source file, and links it with an object file; without one it compiles an
/// object file.
fn compiler(options: &[&str], source: &Path, target: &Path, object: Option<&Path>) {
    let project = crate::project();
    let mut command = Command::new("c++");
    command
        .args(["-std=c++17", "-O1", "-Wall", "-Wno-unknown-pragmas", "-Werror"])
        .args(options)
        .args(
            ["validation/emulator", "kernels"]
                .map(|at| format!("-I{}", project.join(at).display())),
        )
        .arg("-o")
        .args([target, source]);
    match object {
        Some(object) => command.arg(object),
        None => command.arg("-c"),
    };
    let output = command.output().expect("c++ is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The object file that all programs are linked with.
fn runtime() -> &'static Path {
    static RUNTIME: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = crate::scratch().join("emulator");
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        let object = folder.join("runtime.o");
        let source = crate::project().join("validation/emulator/runtime.cpp");
        compiler(&["-O2"], &source, &object, None);
        object
    });
    &RUNTIME
}

/// Digest of all that a program is compiled from: compiler, options, prelude, and all files that it may include.
fn text_digest(source: &str, prelude: &str, options: &[&str]) -> u64 {
    static OF_ALL: LazyLock<u64> = LazyLock::new(|| {
        let mut hasher = DefaultHasher::new();
        let version = Command::new("c++").arg("--version").output().expect("c++ is installed");
        version.stdout.hash(&mut hasher);
        let project = crate::project();
        for folder in ["kernels", "validation/emulator", "validation/emulated", "validation/peers"]
        {
            hash_files(&project.join(folder), &mut hasher);
        }
        hasher.finish()
    });
    let mut hasher = DefaultHasher::new();
    (*OF_ALL, source, prelude, options).hash(&mut hasher);
    for folder in options.iter().filter_map(|option| option.strip_prefix("-I")) {
        hash_files(Path::new(folder), &mut hasher);
    }
    hasher.finish()
}

/// Adds the names and contents of all files in a folder to a digest, but for those of Rust.
fn hash_files(folder: &Path, hasher: &mut DefaultHasher) {
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            hash_files(&path, hasher);
        } else if path.extension().is_none_or(|extension| extension != "rs") {
            (&path, std::fs::read(&path).expect("the file can be read")).hash(hasher);
        }
    }
}

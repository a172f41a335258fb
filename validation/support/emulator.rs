//! Compiles kernels for the host and runs them there; see `validation/emulator/cuda.h`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

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
#[derive(Debug)]
pub struct Program {
    path: PathBuf,
}

impl Program {
    /// Compiles `source`, a file below `validation/`, after `prelude`, which it includes as
    /// `prelude.h`, with further options of the compiler.
    pub fn compile(name: &str, source: &str, prelude: &str, options: &[&str]) -> Self {
        let project = crate::project();
        let folder = crate::scratch().join(name);
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        std::fs::write(folder.join("prelude.h"), prelude).expect("the prelude can be written");
        let path = folder.join("program");
        let output = Command::new("c++")
            .args(["-std=c++17", "-O1", "-Wall", "-Wno-unknown-pragmas", "-Werror"])
            .args(options)
            .arg("-o")
            .arg(&path)
            .args(
                [&folder, &project.join("validation/emulator"), &project.join("kernels")]
                    .map(|at| format!("-I{}", at.display())),
            )
            .arg(project.join("validation").join(source))
            .output()
            .expect("c++ is installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Self { path }
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

//! A device emulated by arrays on the host.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use nwp_mini::cuda_abi::{Bytes, DevicePointer};
use nwp_mini::device::KernelSource;

use super::emulator::{Element, Program, Records};

/// Arrays of the emulated device. An address is the number of an array, shifted, and a byte in it.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) records: Records,
    arrays: u64,
    launches: usize,
}

const ARRAY_SHIFT: u32 = 40;

impl Memory {
    pub(crate) fn array<T: Element>(&mut self, values: &[T]) -> DevicePointer<T> {
        self.arrays += 1;
        let mut bytes = Vec::new();
        for value in values {
            value.append(&mut bytes);
        }
        self.records.put_bytes(&format!("array{}", self.arrays), bytes);
        DevicePointer::new(self.arrays << ARRAY_SHIFT)
    }

    pub(crate) fn launch(&mut self, kernel: &str, args: &impl Bytes, blocks: usize, threads: u32) {
        let number = self.launches;
        self.launches += 1;
        let mut bytes = Vec::new();
        args.write(&mut bytes);
        self.records.put_bytes(&format!("args{number}"), bytes);
        self.records.put_bytes(&format!("kernel{number}"), kernel.as_bytes().to_vec());
        self.records.put(&format!("launch{number}"), &[blocks as i32, 1, threads as i32]);
    }
}

/// The elements of an array after the launches.
pub(crate) fn taken<T: Element>(found: &Records, array: DevicePointer<T>) -> Vec<T> {
    let bytes: Vec<u8> = found.take(&format!("array{}", array.address() >> ARRAY_SHIFT));
    bytes.chunks_exact(T::SIZE).map(T::read).collect()
}

/// The program for a source; each is compiled once.
pub(crate) fn program(name: &str, source: &KernelSource, options: &[&str]) -> Arc<Program> {
    static PROGRAMS: Mutex<BTreeMap<String, Arc<Program>>> = Mutex::new(BTreeMap::new());
    let file = Path::new(source.file).file_stem().and_then(|stem| stem.to_str());
    let file = file.expect("kernels have plain names");
    let key = format!("{file}-{name}");
    let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    let program = programs.entry(key.clone()).or_insert_with(|| {
        let file = format!("emulated/reduce/{file}.cpp");
        Arc::new(Program::compile(&key, &file, &source.prelude, options))
    });
    Arc::clone(program)
}

//! A device emulated by arrays on the host.

use std::path::Path;

use nwp_mini::cuda_abi::{Bytes, DevicePointer};
use nwp_mini::device::KernelSource;
use nwp_mini::real::Real;

use super::emulator::{Element, Program, Records};

/// A precision that programs exchange numbers in.
pub(crate) trait Exchanged: Real + Element + Bytes {}

impl Exchanged for f32 {}
impl Exchanged for f64 {}

/// Arrays and launches of the emulated device. An address is the number of an array, shifted.
#[derive(Default)]
pub(crate) struct Memory {
    records: Records,
    arrays: u64,
    launches: usize,
}

const ARRAY_SHIFT: u32 = 40;

impl Memory {
    /// An array of these values.
    pub(crate) fn array<T: Element>(&mut self, values: &[T]) -> DevicePointer<T> {
        self.arrays += 1;
        self.records.put(&format!("array{}", self.arrays), values);
        DevicePointer::new(self.arrays << ARRAY_SHIFT)
    }

    /// An array that must be written before it is read.
    pub(crate) fn poisoned<R: Exchanged>(&mut self, count: usize) -> DevicePointer<R> {
        self.array(&vec![R::nan(); count])
    }

    /// A launch to come: kernel, blocks in x and y, threads of a block, arguments.
    pub(crate) fn launch(
        &mut self,
        kernel: &str,
        [across, down]: [usize; 2],
        threads: u32,
        args: &impl Bytes,
    ) {
        let mut bytes = Vec::new();
        args.write(&mut bytes);
        let number = self.launches;
        self.records.put_bytes(&format!("args{number}"), bytes);
        self.records.put_bytes(&format!("kernel{number}"), kernel.as_bytes().to_vec());
        self.records.put(&format!("launch{number}"), &[across as i32, down as i32, threads as i32]);
        self.launches += 1;
    }

    /// Runs the launches; the elements of an array afterwards.
    pub(crate) fn run<T: Element>(
        self,
        program: &Program,
        seed: u64,
        array: DevicePointer<T>,
    ) -> Vec<T> {
        taken(&program.run(&self.records, seed), array)
    }

    /// Runs the program; an error is its message.
    pub(crate) fn attempt<T: Element>(
        self,
        program: &Program,
        seed: u64,
        array: DevicePointer<T>,
    ) -> Result<Vec<T>, String> {
        program.attempt(&self.records, seed).map(|found| taken(&found, array))
    }
}

fn taken<T: Element>(found: &Records, array: DevicePointer<T>) -> Vec<T> {
    found.take(&format!("array{}", array.address() >> ARRAY_SHIFT))
}

/// The kernels of a source as a program; `name` distinguishes the programs.
pub(crate) fn program(name: &str, source: &KernelSource) -> Program {
    program_with(name, source, &Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels"))
}

/// The program with kernels from another folder.
pub(crate) fn program_with(name: &str, source: &KernelSource, kernels: &Path) -> Program {
    let file = match source.file {
        "primitives/transpose.cu" => "emulated/matrix/transpose.cpp",
        "primitives/csr.cu" => "emulated/matrix/csr.cpp",
        other => panic!("no program for {other}"),
    };
    let include = format!("-I{}", kernels.display());
    Program::compile(name, file, &source.prelude, &[&include])
}

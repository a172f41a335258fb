//! A device emulated by arrays on the host.

use nwp_mini::cuda_abi::{Bytes, DevicePointer};
use nwp_mini::device::KernelSource;
use nwp_mini_support::emulator::{Element, Program, Records};

/// Arrays and launches of the emulated device. An address is the number of an array, shifted.
#[derive(Default)]
pub(crate) struct Memory {
    records: Records,
    arrays: u64,
    launches: usize,
}

/// As in `launches.h`.
const ARRAY_SHIFT: u32 = 40;

impl Memory {
    /// An array of these values.
    pub(crate) fn array<T: Element>(&mut self, values: &[T]) -> DevicePointer<T> {
        self.arrays += 1;
        self.records.put(&format!("array{}", self.arrays), values);
        DevicePointer::new(self.arrays << ARRAY_SHIFT)
    }

    /// A launch to come: kernel, blocks and threads of a block, arguments.
    pub(crate) fn launch(&mut self, kernel: &str, blocks: usize, threads: u32, args: &impl Bytes) {
        let mut bytes = Vec::new();
        args.write(&mut bytes);
        let number = self.launches;
        self.records.put_bytes(&format!("args{number}"), bytes);
        self.records.put_bytes(&format!("kernel{number}"), kernel.as_bytes().to_vec());
        self.records.put(&format!("launch{number}"), &[blocks as i32, 1, threads as i32]);
        self.launches += 1;
    }

    /// Runs the launches.
    pub(crate) fn run(self, program: &Program, seed: u64) -> Done {
        self.attempt(program, seed).unwrap_or_else(|why| panic!("{why}"))
    }

    /// Runs the program; an error is its message.
    ///
    /// # Errors
    ///
    /// The message of the program.
    pub(crate) fn attempt(self, program: &Program, seed: u64) -> Result<Done, String> {
        program.attempt(&self.records, seed).map(Done)
    }
}

/// The arrays after the launches.
pub(crate) struct Done(Records);

impl Done {
    /// The elements of an array.
    pub(crate) fn of<T: Element>(&self, array: DevicePointer<T>) -> Vec<T> {
        self.0.take(&format!("array{}", array.address() >> ARRAY_SHIFT))
    }
}

/// The kernels of a source as a program; `name` distinguishes the programs.
pub(super) fn program(name: &str, source: &KernelSource) -> Program {
    let kind = match source.file {
        "lattice/wilson.cu" => "-DOPERATOR",
        "lattice/ladder.cu" => "-DLADDER",
        "lattice/solver.cu" => "-DSOLVER",
        other => panic!("no program for {other}"),
    };
    Program::compile(name, "emulated/lattice/program.cpp", &source.prelude, &[kind])
}

//! Launch configurations.

/// Launch configuration: blocks, threads of a block, and dynamic shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Shared memory of a block beyond what the kernel declares, bytes.
    pub shared_bytes: u32,
}

impl Launch {
    /// Blocks in x and y of so many threads.
    pub(crate) fn new([x, y]: [u32; 2], threads: u32) -> Self {
        Self { grid: [x, y, 1], block: [threads, 1, 1], shared_bytes: 0 }
    }

    /// A one-dimensional launch of at least `threads` threads in blocks of `block`.
    pub(crate) fn flat(threads: usize, block: u32) -> Self {
        let blocks = threads.div_ceil(block as usize).max(1);
        let blocks = i32::try_from(blocks).expect("blocks of a grid").unsigned_abs();
        Self::new([blocks, 1], block)
    }
}

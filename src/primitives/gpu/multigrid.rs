//! The V-cycle of multigrid on the device, with the bits of the CPU version.

use crate::cuda_abi::ReadPointer;
use crate::device::{Buffer, Gpu, Kernel, Launch, Module};
use crate::error::Result;
use crate::primitives::gpu::arguments::MultigridArgs;
use crate::primitives::multigrid::{Level, Multigrid, STEPS, WEIGHTS};

/// Threads of a block.
pub(crate) const THREADS: usize = 256;

/// Kernels of a cycle in their order on one grid: before the next grid, and after it.
const DOWN: [&str; 3] = ["multigrid_start", "multigrid_residual", "multigrid_restrict"];
/// After the next grid.
const UP: [&str; 3] = ["multigrid_correct", "multigrid_second", "multigrid_first"];
/// On the last grid.
const LAST: &str = "multigrid_last";

/// The kernels on a device.
#[derive(Clone, Debug)]
pub(crate) struct CycleKernels {
    down: [Kernel; 3],
    up: [Kernel; 3],
    last: Kernel,
}

impl CycleKernels {
    pub(crate) fn new(module: &Module) -> Result<Self> {
        let three = |[a, b, c]: [&'static str; 3]| -> Result<[Kernel; 3]> {
            Ok([module.kernel(a)?, module.kernel(b)?, module.kernel(c)?])
        };
        Ok(Self { down: three(DOWN)?, up: three(UP)?, last: module.kernel(LAST)? })
    }
}

/// A grid on the device.
#[derive(Debug)]
struct Grid {
    extents: [usize; 2],
    halved: [bool; 2],
    couplings: [Buffer<f32>; 2],
    corners: Option<[Buffer<f32>; 2]>,
    diagonal: Buffer<f32>,
    inverse: Buffer<f32>,
    weights: Buffer<f32>,
    b: Buffer<f32>,
    x: Buffer<f32>,
    other: Buffer<f32>,
}

impl Grid {
    fn new(gpu: &Gpu, level: &Level) -> Result<Self> {
        let cells = level.cells();
        let [west, south] = &level.couplings;
        let [sw, se] = &level.corners;
        let corners = if sw.is_empty() { None } else { Some([gpu.upload(sw)?, gpu.upload(se)?]) };
        Ok(Self {
            extents: level.extents,
            halved: level.halved,
            couplings: [gpu.upload(west)?, gpu.upload(south)?],
            corners,
            diagonal: gpu.upload(&level.diagonal)?,
            inverse: gpu.upload(&level.inverse)?,
            weights: gpu.upload(&level.weights)?,
            b: gpu.zeros(cells)?,
            x: gpu.zeros(cells)?,
            other: gpu.zeros(cells)?,
        })
    }
}

/// A hierarchy of grids on the device.
#[derive(Debug)]
pub(crate) struct Cycle {
    kernels: CycleKernels,
    grids: Vec<Grid>,
}

impl Cycle {
    /// Uploads a hierarchy.
    pub(crate) fn new(gpu: &Gpu, kernels: &CycleKernels, multigrid: &Multigrid) -> Result<Self> {
        let grids = multigrid.levels().iter().map(|level| Grid::new(gpu, level));
        Ok(Self { kernels: kernels.clone(), grids: grids.collect::<Result<_>>()? })
    }

    /// Device memory for a hierarchy whose finest grid has so many cells, bytes.
    pub(crate) fn bytes(cells: usize) -> usize {
        // Couplings, diagonal, its reciprocal, and three vectors; corners on coarse grids; weights of the next grid, of
        // which there are at most half as many cells.
        const PLANES: usize = 7;
        const CORNERS: usize = 2;
        let finest = PLANES * cells + WEIGHTS * cells.div_ceil(2);
        let coarse = (PLANES + CORNERS) * cells + WEIGHTS * cells.div_ceil(2);
        size_of::<f32>() * (finest + coarse)
    }

    /// The right-hand side of the finest grid.
    pub(crate) fn right_hand_side(&self) -> &Buffer<f32> {
        &self.grids[0].b
    }

    /// The approximate solution.
    pub(crate) fn solution(&self) -> &Buffer<f32> {
        &self.grids[0].x
    }

    /// Queues a cycle, which does nothing once the words of the iteration have a verdict.
    pub(crate) fn launch(&self, words: ReadPointer<u64>) -> Result<()> {
        let CycleKernels { down, up, last } = &self.kernels;
        let Some(deepest) = self.grids.len().checked_sub(1) else { return Ok(()) };
        for number in 0..deepest {
            let args = self.arguments(number, words);
            let cells = self.grids[number].x.len();
            for (kernel, threads) in down.iter().zip([cells, cells, self.grids[number + 1].x.len()])
            {
                Self::launch_kernel(kernel, threads, &args)?;
            }
        }
        Self::launch_kernel(last, 1, &self.arguments(deepest, words))?;
        for number in (0..deepest).rev() {
            let args = self.arguments(number, words);
            for kernel in up {
                Self::launch_kernel(kernel, self.grids[number].x.len(), &args)?;
            }
        }
        Ok(())
    }

    fn launch_kernel(kernel: &Kernel, threads: usize, args: &MultigridArgs) -> Result<()> {
        // SAFETY: this value owns all arrays, with the extents of the grids; the device is waited for before they are
        // freed.
        unsafe { kernel.launch(Launch::flat(threads, THREADS as u32), args) }
    }

    fn arguments(&self, number: usize, words: ReadPointer<u64>) -> MultigridArgs {
        let grid = &self.grids[number];
        let next = self.grids.get(number + 1).unwrap_or(grid);
        let [south_west, south_east] = match &grid.corners {
            Some(planes) => planes.each_ref().map(|plane| plane.pointer().read()),
            None => [ReadPointer::default(); 2],
        };
        let [west, south] = grid.couplings.each_ref().map(|plane| plane.pointer().read());
        let [nx, ny] = grid.extents.map(|n| n as i32);
        let [coarse_nx, coarse_ny] = next.extents.map(|n| n as i32);
        let [halved_x, halved_y] = grid.halved.map(i32::from);
        MultigridArgs {
            west,
            south,
            south_west,
            south_east,
            diagonal: grid.diagonal.pointer().read(),
            inverse: grid.inverse.pointer().read(),
            weights: grid.weights.pointer().read(),
            b: grid.b.pointer().read(),
            x: grid.x.pointer(),
            other: grid.other.pointer(),
            coarse_b: next.b.pointer(),
            coarse_x: next.x.pointer().read(),
            words,
            nx,
            ny,
            coarse_nx,
            coarse_ny,
            halved_x,
            halved_y,
            steps: STEPS,
        }
    }
}

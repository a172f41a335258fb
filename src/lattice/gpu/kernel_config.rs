//! Compile-time form of the kernels of the Wilson operator: the lattice, the memory layout of its fields, cache hints
//! of loads and stores, and the order of the sites.

use rayon::prelude::*;

use super::arguments::WilsonArgs;
use crate::device::structs;
use crate::device::{KernelSource, Prelude};
use crate::lattice::{DIRECTIONS, Extents, LINK_REALS, Parity, SPINOR_REALS};
use crate::real::{Precision, Real};

/// Cache hint of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// No hint.
    Plain,
    /// Through the read-only path.
    Kept,
    /// Evict first.
    Once,
    /// Through the read-only path, without allocation in the L1 cache.
    Past,
}

/// Bytes that a thread loads with one instruction.
const UNIT_BYTES: usize = 16;
/// Sites of a chunk: a warp.
const CHUNK: usize = 32;
/// Threads of a block.
const BLOCK: usize = 64;
/// Most sites of a brick along x: a full row of 32 sites.
const MOST_ALONG_X: usize = 16;
/// Reals of a link without its third row.
pub const TWO_ROWS: usize = 12;

/// A form of the kernels.
#[allow(clippy::struct_excessive_bools, reason = "each is a setting of its own; all pairs occur")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelConfig {
    /// The lattice.
    pub extents: Extents,
    /// Stored reals of a link: 18, or 12 where the third row is rebuilt.
    pub link_reals: usize,
    /// `true` if spinors are kept in a basis with diagonal g_t.
    pub is_diagonal: bool,
    /// `true` if the backward links are also stored with the site that they lead to.
    pub is_backward_stored: bool,
    /// Sites whose sixteen-byte units are contiguous.
    pub chunk: usize,
    /// Loads of spinors.
    pub spinor_load: Load,
    /// Loads of links.
    pub link_load: Load,
    /// `true` if results are stored with the hint evict-first.
    pub is_streamed: bool,
    /// Sites of a block along x/2, y, z, t (a brick); `None` for the order of indices.
    pub brick: Option<[usize; 4]>,
    /// Bricks along z that are processed for all times before the next ones.
    pub slab: usize,
    /// Sites of a block.
    pub block_sites: usize,
    /// Right-hand sides that are distributed over the threads of a block.
    pub side_threads: usize,
    /// Right-hand sides of a thread at a time.
    pub register_sides: usize,
    /// `true` if a thread goes from one right-hand side to the next.
    pub loops_sides: bool,
    /// Launch bounds: blocks of a multiprocessor.
    pub resident: usize,
    /// `true` if only the hopping term is compiled.
    pub is_hop_alone: bool,
}

impl KernelConfig {
    /// The fastest form, as measured on an H100.
    pub fn choose(precision: Precision, extents: Extents, link_reals: usize) -> Self {
        let brick = brick(extents, BLOCK);
        Self {
            extents,
            link_reals,
            is_diagonal: true,
            is_backward_stored: false,
            chunk: chunk(extents),
            spinor_load: Load::Kept,
            link_load: Load::Past,
            is_streamed: false,
            brick: Some(brick),
            slab: extents.along()[2].div_ceil(brick[2]),
            block_sites: BLOCK,
            side_threads: 1,
            register_sides: 1,
            loops_sides: false,
            resident: match precision {
                Precision::F32 => 6,
                Precision::F64 => 4,
            },
            is_hop_alone: false,
        }
    }

    /// The form of the lower rungs of the ladder: whole links, each component contiguous over the sites, no hints,
    /// sites in index order.
    pub fn plain(extents: Extents) -> Self {
        Self {
            link_reals: LINK_REALS,
            is_diagonal: false,
            chunk: extents.half_volume(),
            spinor_load: Load::Plain,
            link_load: Load::Plain,
            is_streamed: false,
            brick: None,
            resident: 1,
            ..Self::choose(Precision::F32, extents, LINK_REALS)
        }
    }

    /// The same with blocks of so many sites, in bricks if this form has bricks.
    pub fn with_block(self, sites: usize) -> Self {
        let brick = self.brick.map(|_| brick(self.extents, sites));
        let slab = brick.map_or(1, |brick| self.extents.along()[2].div_ceil(brick[2]));
        Self { block_sites: sites, brick, slab, ..self }
    }

    /// Returns `true` if fields have the same memory layout in another form.
    pub(crate) fn lies_as(&self, other: &Self) -> bool {
        let layout = |form: &Self| {
            (form.extents, form.link_reals, form.is_diagonal, form.is_backward_stored, form.chunk)
        };
        layout(self) == layout(other)
    }

    /// The same with a given brick.
    pub(crate) fn with_brick(self, brick: [usize; DIRECTIONS]) -> Self {
        let slab = self.extents.along()[2].div_ceil(brick[2]);
        Self { block_sites: brick.iter().product(), brick: Some(brick), slab, ..self }
    }

    /// Right-hand sides of a launch; any number if threads process them in turn.
    pub fn sides(&self) -> usize {
        self.side_threads * self.register_sides
    }

    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        (self.block_sites * self.side_threads) as u32
    }

    /// Blocks of a launch.
    pub fn blocks(&self) -> usize {
        let Some(brick) = self.brick else {
            return self.extents.half_volume().div_ceil(self.block_sites);
        };
        let mut extents = self.extents.along();
        extents[0] /= 2;
        let mut bricks: [usize; DIRECTIONS] =
            std::array::from_fn(|mu| extents[mu].div_ceil(brick[mu]));
        bricks[2] = bricks[2].next_multiple_of(self.slab);
        bricks.iter().product()
    }

    /// Stored directions of a site's links.
    pub(crate) fn directions(&self) -> usize {
        if self.is_backward_stored { 2 * DIRECTIONS } else { DIRECTIONS }
    }

    /// The settings of the kernels.
    pub fn settings(&self) -> Vec<(&'static str, i32)> {
        let [x, y, z, t] = self.extents.along();
        let brick = self.brick.unwrap_or([1; DIRECTIONS]);
        let numbers = [
            ("LATTICE_X", x),
            ("LATTICE_Y", y),
            ("LATTICE_Z", z),
            ("LATTICE_T", t),
            ("LINK_REALS", self.link_reals),
            ("DIAGONAL_T", usize::from(self.is_diagonal)),
            ("BACKWARD_STORED", usize::from(self.is_backward_stored)),
            ("CHUNK", self.chunk),
            ("LOAD_PLAIN", Load::Plain as usize),
            ("LOAD_KEPT", Load::Kept as usize),
            ("LOAD_ONCE", Load::Once as usize),
            ("LOAD_PAST", Load::Past as usize),
            ("SPINOR_LOAD", self.spinor_load as usize),
            ("LINK_LOAD", self.link_load as usize),
            ("STREAMED", usize::from(self.is_streamed)),
            ("BRICK_X", brick[0]),
            ("BRICK_Y", brick[1]),
            ("BRICK_Z", brick[2]),
            ("BRICK_T", brick[3]),
            ("SLAB_BRICKS", self.slab),
            ("BLOCK_SITES", self.block_sites),
            ("SIDE_THREADS", self.side_threads),
            ("REGISTER_SIDES", self.register_sides),
            ("LOOP_SIDES", usize::from(self.loops_sides)),
            ("RESIDENT_BLOCKS", self.resident),
            ("HOP_ALONE", usize::from(self.is_hop_alone)),
        ];
        numbers.into_iter().map(|(name, value)| (name, value as i32)).collect()
    }

    /// A source in this form.
    pub fn source(&self, file: &'static str, precision: Precision) -> KernelSource {
        let arguments = structs!(precision; WilsonArgs);
        let prelude = Prelude::new(precision).with(&arguments).with_settings(&self.settings());
        KernelSource::new(file, prelude).exactly()
    }

    /// The position of real `n` of site `index` in an array of `reals` reals a site, in units of `unit`.
    fn place(&self, index: usize, n: usize, [reals, unit]: [usize; 2]) -> usize {
        let first = index / self.chunk * (self.chunk * reals / unit) + index % self.chunk;
        (first + n / unit * self.chunk) * unit + n % unit
    }

    /// The sites of one parity of a field, (t, z, y, x, spin, colour, complex), in the layout of the kernels.
    pub fn lay_spinors<R: Real>(&self, parity: Parity, psi: &[R]) -> Vec<R> {
        let shape = [SPINOR_REALS, UNIT_BYTES / size_of::<R>()];
        let mut field = vec![R::ZERO; self.extents.half_volume() * SPINOR_REALS];
        let of_chunk = self.chunk * SPINOR_REALS;
        field.par_chunks_mut(of_chunk).enumerate().for_each(|(chunk, field)| {
            for within in 0..self.chunk {
                let index = chunk * self.chunk + within;
                let site = self.extents.lexicographic(self.extents.site_at(index, parity));
                let spinor = &psi[site * SPINOR_REALS..][..SPINOR_REALS];
                for (n, value) in self.rotated(spinor).into_iter().enumerate() {
                    field[self.place(index, n, shape) - chunk * of_chunk] = value;
                }
            }
        });
        field
    }

    /// The inverse: a field from the layout of the kernels.
    pub fn pick_spinors<R: Real>(&self, parity: Parity, field: &[R], psi: &mut [R]) {
        let shape = [SPINOR_REALS, UNIT_BYTES / size_of::<R>()];
        for (index, site) in self.extents.sites(parity).enumerate() {
            let spinor: [R; SPINOR_REALS] =
                std::array::from_fn(|n| field[self.place(index, n, shape)]);
            // The rotation is its own inverse.
            psi[site * SPINOR_REALS..][..SPINOR_REALS].copy_from_slice(&self.rotated(&spinor));
        }
    }

    /// A spinor in the basis of the kernels: sums and differences of the upper and the lower components.
    fn rotated<R: Real>(&self, spinor: &[R]) -> [R; SPINOR_REALS] {
        let half = SPINOR_REALS / 2;
        std::array::from_fn(|n| {
            let value = match (self.is_diagonal, n < half) {
                (false, _) => return spinor[n],
                (true, true) => spinor[n].f64() + spinor[n + half].f64(),
                (true, false) => spinor[n - half].f64() - spinor[n].f64(),
            };
            R::of(value * std::f64::consts::FRAC_1_SQRT_2)
        })
    }

    /// The links of the sites of one parity in the layout of the kernels, from `links`, (mu, t, z, y, x, row, column,
    /// complex).
    pub fn lay_links<R: Real>(&self, parity: Parity, links: &[f64]) -> Vec<R> {
        let reals = self.link_reals;
        let unit = if reals == LINK_REALS { 2 } else { UNIT_BYTES / size_of::<R>() };
        let of_direction = reals * self.extents.half_volume();
        let mut field = vec![R::ZERO; self.directions() * of_direction];
        field.par_chunks_mut(of_direction).enumerate().for_each(|(direction, field)| {
            let mu = direction % DIRECTIONS;
            for index in 0..self.extents.half_volume() {
                let mut site = self.extents.site_at(index, parity);
                if direction >= DIRECTIONS {
                    site = self.extents.neighbour(site, mu, false);
                }
                let at = mu * self.extents.volume() + self.extents.lexicographic(site);
                for n in 0..reals {
                    field[self.place(index, n, [reals, unit])] = R::of(links[at * LINK_REALS + n]);
                }
            }
        });
        field
    }
}

/// Sites of a chunk: a warp, or the largest power of two that divides the lattice.
fn chunk(extents: Extents) -> usize {
    let half = extents.half_volume();
    let mut chunk = CHUNK;
    while !half.is_multiple_of(chunk) {
        chunk /= 2;
    }
    chunk
}

/// A brick with a power of two of sites, as cubic as the lattice admits.
pub fn brick(extents: Extents, sites: usize) -> [usize; DIRECTIONS] {
    let mut most = extents.along();
    most[0] /= 2;
    let powers = || (0..=MOST_ALONG_X.ilog2()).rev().map(|power| 1 << power);
    // Bricks that divide the rows evenly, or leave few threads without a site.
    let along_x = powers()
        .find(|b| *b >= 4 && most[0].is_multiple_of(*b))
        .or_else(|| powers().find(|b| 4 * most[0] >= 3 * most[0].next_multiple_of(*b)))
        .unwrap_or(1)
        .min(sites);
    let mut brick = [along_x, 1, 1, 1];
    let mut rest = sites / along_x;
    let mut mu = 1;
    while rest > 1 {
        let is_full = brick[1..].iter().zip(&most[1..]).all(|(brick, most)| brick >= most);
        if is_full || brick[mu] < most[mu] {
            brick[mu] *= 2;
            rest /= 2;
        }
        mu = if mu == 3 { 1 } else { mu + 1 };
    }
    brick
}

//! Stored form of volumes: rounded, shuffled, deflated.

use std::cell::RefCell;

use libdeflater::{CompressionLvl, Compressor};

use crate::grid::{Shape, Slab};
use crate::io::layout::Axes;

/// Compression of volumes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// No compression.
    None,
    /// Fast compression.
    #[default]
    Fast,
    /// Small files.
    Small,
}

impl Compression {
    /// Deflate level, as in zlib; `None` without compression. Bytes are shuffled before.
    pub(in crate::io) fn deflate(self) -> Option<i32> {
        match self {
            Self::None => None,
            Self::Fast => Some(1),
            Self::Small => Some(6),
        }
    }
}

/// Bits of the significand that are kept in volumes, except pressure and geopotential, which keep all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// All bits.
    #[default]
    All,
    /// This number of bits.
    Bits(u32),
    /// The number of bits with 99 % of the information of neighbours, for each variable and frame.
    Auto,
}

/// The largest relative error of values with so many bits of the significand after the leading one.
pub(crate) fn rounding_error(bits: u32) -> f64 {
    0.5_f64.powi(bits as i32 + 1)
}

/// Bytes of values in a chunk: enough for deflate, and few enough to give all cores some chunks.
const CHUNK: usize = 1 << 20;

/// Chunks of a field: several whole levels, or several whole rows of one level. A plane is a volume of one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::io) struct Blocks {
    levels: usize,
    rows: usize,
    /// Extents of the volume.
    volume: [usize; 3],
    is_plane: bool,
}

/// A chunk of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::io) struct Block {
    /// Level and row of its first value.
    pub(in crate::io) level: usize,
    pub(in crate::io) row: usize,
    /// Range of its values in the volume.
    pub(in crate::io) begin: usize,
    pub(in crate::io) end: usize,
}

impl Blocks {
    /// Chunks of about equal size, for a volume of these extents with values of `size` bytes.
    pub(in crate::io) fn new(volume: [usize; 3], size: usize) -> Self {
        let [nz, ny, nx] = volume.map(|n| n.max(1));
        let even = |n: usize, most: usize| n.div_ceil(n.div_ceil(most.clamp(1, n)));
        let level = ny * nx * size;
        let (levels, rows) = if level <= CHUNK {
            (even(nz, CHUNK / level), ny)
        } else {
            (1, even(ny, CHUNK / (nx * size)))
        };
        Self { levels, rows, volume, is_plane: false }
    }

    /// Chunks of a variable on a grid, if it is a volume or a plane.
    pub(in crate::io) fn of(axes: Axes, shape: Shape, size: usize) -> Option<Self> {
        match axes.lengths(shape)[..] {
            [nz, ny, nx] => Some(Self::new([nz, ny, nx], size)),
            [ny, nx] => Some(Self { is_plane: true, ..Self::new([1, ny, nx], size) }),
            _ => None,
        }
    }

    /// Levels and rows of a chunk.
    #[cfg(feature = "zarr")]
    pub(in crate::io) fn chunk(self) -> [usize; 2] {
        [self.levels, self.rows]
    }

    /// Extents of a chunk, including time.
    pub(in crate::io) fn extents(self) -> Vec<usize> {
        self.with_levels(1, self.levels, self.rows, self.volume[2])
    }

    /// Offset of a chunk of a frame.
    pub(in crate::io) fn offset(self, frame: usize, block: Block) -> Vec<usize> {
        self.with_levels(frame, block.level, block.row, 0)
    }

    fn with_levels(self, time: usize, level: usize, row: usize, i: usize) -> Vec<usize> {
        if self.is_plane { vec![time, row, i] } else { vec![time, level, row, i] }
    }

    /// Cells of a row.
    pub(in crate::io) fn row(self) -> usize {
        self.volume[2]
    }

    /// Values of a chunk, including those beyond the edge of the volume.
    pub(in crate::io) fn values(self) -> usize {
        self.levels * self.rows * self.volume[2]
    }

    /// Whole levels with all their chunks, of at most so many values each, unless a level has more.
    pub(in crate::io) fn slabs(self, most: usize) -> Vec<Slab> {
        let [nz, ny, nx] = self.volume;
        let chunk = self.levels * ny * nx;
        let levels = self.levels * (most / chunk).max(1);
        (0..nz)
            .step_by(levels)
            .map(|level| Slab { levels: level..(level + levels).min(nz), rows: 0..ny })
            .collect()
    }

    /// The chunks, in the order of their values.
    pub(in crate::io) fn all(self) -> impl Iterator<Item = Block> {
        let [nz, ny, nx] = self.volume;
        let rows = move |level| (0..ny).step_by(self.rows).map(move |row| (level, row));
        (0..nz).step_by(self.levels).flat_map(rows).map(move |(level, row)| {
            let begin = (level * ny + row) * nx;
            // Chunks of several levels hold all rows, so that their values are contiguous.
            let last = ((level + self.levels).min(nz) - 1) * ny + (row + self.rows).min(ny);
            Block { level, row, begin, end: last * nx }
        })
    }
}

/// A type of values, with access to its bits.
pub trait Bits: Copy + PartialEq + Send + Sync + 'static {
    /// Stored bits of the significand.
    const STORED: u32;

    /// The nearest value with `bits` bits of the significand, ties to even. Values that are not finite or would
    /// overflow, and subnormal numbers with fewer bits, stay unchanged.
    fn rounded(self, bits: u32) -> Self;

    /// The bits of the value.
    fn word(self) -> u64;

    /// Number of positions at which a bit, counted from the lowest one, is set in both rows.
    fn ones(a: &[Self], b: &[Self], bit: usize) -> u64;

    /// Appends values in the byte order of files.
    fn plain(values: &[Self], out: &mut Vec<u8>);

    /// Shuffle: writes all lowest bytes, then all second bytes, and so on, each to an equal part of `out`.
    fn shuffled(values: &[Self], out: &mut [u8]);
}

macro_rules! bits {
    ($real:ty, $word:ty, $stored:literal) => {
        impl Bits for $real {
            const STORED: u32 = $stored;

            fn rounded(self, bits: u32) -> Self {
                let Some(dropped) = Self::STORED.checked_sub(bits).filter(|n| *n > 0) else {
                    return self;
                };
                let word = self.to_bits();
                let half = (1 << (dropped - 1)) - 1 + ((word >> dropped) & 1);
                let rounded = Self::from_bits(word.wrapping_add(half) >> dropped << dropped);
                if self.is_normal() && rounded.is_finite() { rounded } else { self }
            }

            fn word(self) -> u64 {
                self.to_bits().into()
            }

            fn ones(a: &[Self], b: &[Self], bit: usize) -> u64 {
                let both = a.iter().zip(b).map(|(a, b)| a.to_bits() & b.to_bits());
                both.map(|word| (word >> bit) & 1).sum::<$word>().into()
            }

            fn plain(values: &[Self], out: &mut Vec<u8>) {
                out.extend(values.iter().flat_map(|x| x.to_le_bytes()));
            }

            fn shuffled(values: &[Self], out: &mut [u8]) {
                let each = out.len() / size_of::<Self>();
                for (number, plane) in out.chunks_exact_mut(each.max(1)).enumerate() {
                    let shift = 8 * number;
                    for (byte, x) in plane.iter_mut().zip(values) {
                        *byte = (x.to_bits() >> shift) as u8;
                    }
                }
            }
        }
    };
}

bits!(f32, u32, 23);
bits!(f64, u64, 52);

/// Values of type float, from bytes that may be shuffled.
pub(in crate::io) fn unshuffled(bytes: &[u8], is_shuffled: bool) -> Vec<f32> {
    if !is_shuffled {
        let (words, _) = bytes.as_chunks();
        return words.iter().map(|word| f32::from_le_bytes(*word)).collect();
    }
    let [lowest, low, high, highest] = {
        let (first, second) = bytes.split_at(bytes.len() / 2);
        let [a, b] = [first, second].map(|half| half.split_at(half.len() / 2));
        [a.0, a.1, b.0, b.1]
    };
    let words = lowest.iter().zip(low).zip(high.iter().zip(highest));
    words.map(|((a, b), (c, d))| f32::from_le_bytes([*a, *b, *c, *d])).collect()
}

/// Coding of values to the bytes of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::io) struct Coding {
    pub(in crate::io) compression: Compression,
    /// Bits of the significand that are kept; `None` for all.
    pub(in crate::io) bits: Option<u32>,
}

thread_local! {
    /// Compressor of a thread with its level, and a buffer for shuffled values.
    static TOOLS: RefCell<Tools> = RefCell::new(Tools::default());
}

#[derive(Default)]
struct Tools {
    compressor: Option<(i32, Compressor)>,
    shuffled: Vec<u8>,
}

impl Tools {
    /// A zlib stream of shuffled bytes.
    fn zlib(&mut self, level: i32) -> Result<Vec<u8>, String> {
        let Self { compressor, shuffled } = self;
        let compressor = if let Some(same) = compressor.take_if(|(now, _)| *now == level) {
            compressor.insert(same)
        } else {
            let known =
                CompressionLvl::new(level).map_err(|_| format!("no deflate level {level}"))?;
            compressor.insert((level, Compressor::new(known)))
        };
        let compressor = &mut compressor.1;
        let mut out = vec![0; compressor.zlib_compress_bound(shuffled.len())];
        let length = compressor
            .zlib_compress(shuffled, &mut out)
            .map_err(|_| "deflate needs more room than it said".to_owned())?;
        out.truncate(length);
        Ok(out)
    }
}

impl Coding {
    /// The bytes of a chunk of `room` values; missing ones are 0.
    pub(in crate::io) fn encode<T: Bits>(
        self,
        values: &[T],
        room: usize,
    ) -> Result<Vec<u8>, String> {
        match self.bits.filter(|bits| *bits < T::STORED) {
            None => self.pack(values, room),
            Some(bits) => {
                let rounded: Vec<T> = values.iter().map(|x| x.rounded(bits)).collect();
                self.pack(&rounded, room)
            }
        }
    }

    fn pack<T: Bits>(self, values: &[T], room: usize) -> Result<Vec<u8>, String> {
        let bytes = room * size_of::<T>();
        let Some(level) = self.compression.deflate() else {
            let mut out = Vec::with_capacity(bytes);
            T::plain(values, &mut out);
            out.resize(bytes, 0);
            return Ok(out);
        };
        TOOLS.with_borrow_mut(|tools| {
            tools.shuffled.clear();
            tools.shuffled.resize(bytes, 0);
            T::shuffled(values, &mut tools.shuffled);
            tools.zlib(level)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use libdeflater::Decompressor;

    #[test]
    fn chunks_cover_a_volume_once() {
        for (volume, size) in [
            ([27, 58, 71], 4),
            ([27, 232, 284], 4),
            ([5, 812, 994], 4),
            ([3, 700, 995], 8),
            ([1, 1, 1], 4),
        ] {
            let blocks = Blocks::new(volume, size);
            let [1, levels, rows, nx] = blocks.extents()[..] else { panic!("{blocks:?}") };
            assert_eq!(nx, volume[2]);
            assert!(levels == 1 || rows == volume[1], "{blocks:?}");
            assert!(blocks.values() * size <= CHUNK, "{blocks:?}");
            let mut next = 0;
            for block in blocks.all() {
                assert_eq!(block.begin, next, "{blocks:?}");
                assert_eq!((block.level % levels, block.row % rows), (0, 0));
                assert_eq!(block.begin, (block.level * volume[1] + block.row) * nx);
                assert!(block.end - block.begin <= blocks.values() && block.end > block.begin);
                next = block.end;
            }
            assert_eq!(next, volume.iter().product::<usize>(), "{blocks:?}");
        }
    }

    /// A row longer than a chunk is a chunk of its own.
    #[test]
    fn long_rows_stay_whole() {
        assert_eq!(Blocks::new([2, 3, CHUNK], 4).extents(), [1, 1, 1, CHUNK]);
    }

    #[test]
    fn planes_have_no_levels() {
        let shape = Shape { nx: 994, ny: 812, nz: 27 };
        let plane = Blocks::of(Axes::PlaneY, shape, 4).expect("a plane");
        assert_eq!(plane.extents(), [1, 204, 994]);
        let last = plane.all().last().expect("chunks");
        assert_eq!(plane.offset(7, last), [7, 612, 0]);
        assert_eq!(Blocks::of(Axes::Layer, shape, 4), None);
        // A level has 3 MB.
        let slabs = Blocks::of(Axes::Volume, shape, 4).expect("a volume").slabs(4 << 20);
        assert_eq!(slabs.first().map(|slab| slab.levels.clone()), Some(0..5));
        assert_eq!(slabs.last().map(|slab| slab.levels.clone()), Some(25..27));
    }

    #[test]
    fn rounding_takes_the_nearest_and_of_two_the_even_one() {
        let one = |ulps: u32| f32::from_bits(1.0_f32.to_bits() + ulps);
        let step = 1 << 13;
        assert_eq!(one(step / 2 - 1).rounded(10), 1.0);
        assert_eq!(one(step / 2).rounded(10), 1.0);
        assert_eq!(one(step / 2 + 1).rounded(10), one(step));
        assert_eq!(one(step + step / 2).rounded(10), one(2 * step));
        assert_eq!((-one(step / 2 + 1)).rounded(10), -one(step));
        assert_eq!(one(12345).rounded(23), one(12345));
        assert_eq!(0.1_f64.rounded(52), 0.1);
        assert_eq!(0.0_f32.rounded(3).to_bits(), 0);
        assert_eq!(f32::MAX.rounded(5), f32::MAX);
        assert_eq!(f32::from_bits(3).rounded(5), f32::from_bits(3));
        assert!(f32::NAN.rounded(5).is_nan());
        assert_eq!(f64::INFINITY.rounded(5), f64::INFINITY);
    }

    /// The error is at most half of the last bit that is kept.
    #[test]
    fn rounding_keeps_its_bound() {
        for bits in [1, 7, 12, 22] {
            let bound = rounding_error(bits);
            for n in 1..2000 {
                let x = f64::from(n).sqrt() * 1e-7;
                let single = x as f32;
                let error = f64::from((single.rounded(bits) - single).abs()) / f64::from(single);
                assert!(error <= bound, "{single} {bits} {error}");
                assert!(((x.rounded(bits) - x) / x).abs() <= bound);
            }
        }
    }

    #[test]
    fn shuffling_puts_bytes_of_one_rank_together() {
        let values = [f32::from_bits(0x0403_0201), f32::from_bits(0x1413_1211)];
        let mut out = [9; 12];
        f32::shuffled(&values, &mut out);
        assert_eq!(out, [1, 0x11, 9, 2, 0x12, 9, 3, 0x13, 9, 4, 0x14, 9]);
        let mut out = [0; 8];
        f32::shuffled(&values, &mut out);
        assert_eq!(unshuffled(&out, true), values);
        assert_eq!(unshuffled(&1.5_f32.to_le_bytes(), false), [1.5]);
        f64::shuffled(&[f64::from_bits(0x0807_0605_0403_0201)], &mut out);
        assert_eq!(out, [1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn what_is_deflated_inflates_to_the_same_and_is_padded() {
        let values: Vec<f32> = (0..1000).map(|n| (n as f32).sin()).collect();
        for compression in [Compression::Fast, Compression::Small] {
            let coding = Coding { compression, bits: None };
            let stored = coding.encode(&values, 1024).expect("bytes");
            let mut bytes = vec![1; 4096];
            let length = Decompressor::new().zlib_decompress(&stored, &mut bytes).expect("zlib");
            assert_eq!(length, 4096);
            let mut expected = vec![0; 4096];
            f32::shuffled(&values, &mut expected);
            assert_eq!(bytes, expected);
        }
        let plain = Coding { compression: Compression::None, bits: Some(7) };
        let stored = plain.encode(&values, 1024).expect("bytes");
        assert_eq!(stored.len(), 4096);
        assert_eq!(stored[4..8], 1.0_f32.sin().rounded(7).to_le_bytes());
        assert_eq!(stored[4000..], [0; 96]);
    }
}

//! Shards of a field: their shape, and their bytes.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use rayon::prelude::*;
use zarrs::array::CodecOptions;
use zarrs::array::codec::api::BytesToBytesCodecTraits;
use zarrs::array::codec::{BloscCodec, BloscCompressor, BloscShuffleMode};

use super::level;
use crate::grid::{Shape, Slab};
use crate::io::layout::Axes;
use crate::io::store::format::{Field, Values};
use crate::io::store::storage::{Bits, Blocks, Compression};

/// Most bytes of the values of a shard.
const SHARD: usize = 64 << 20;

/// Shards of a volume or of a plane: several whole levels, or several rows of one level, in whole chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::io::store) struct Shards {
    /// Levels and rows of the field, and cells of a row.
    field: [usize; 3],
    /// Levels and rows of a chunk.
    inner: [usize; 2],
    /// Chunks of a shard along levels and rows.
    chunks: [usize; 2],
    is_plane: bool,
}

/// A shard of a field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shard {
    /// Its number along levels, and along rows.
    number: [usize; 2],
    /// Its levels and rows in the field, without those beyond the edge.
    begin: [usize; 2],
    end: [usize; 2],
    nx: usize,
    is_plane: bool,
}

impl Shard {
    /// Its place in the array, for a frame.
    pub(super) fn at(&self, frame: usize) -> Vec<usize> {
        let [level, row] = self.number;
        if self.is_plane { vec![frame, row, 0] } else { vec![frame, level, row, 0] }
    }

    /// Its values in the field, which are contiguous: shards of several levels hold all rows of `ny`.
    pub(super) fn range(&self, ny: usize) -> [usize; 2] {
        let [level, row] = self.begin;
        let [levels, rows] = self.end;
        [(level * ny + row) * self.nx, ((levels - 1) * ny + rows) * self.nx]
    }

    /// Its levels and rows in the field.
    fn slab(&self) -> Slab {
        let range = |axis: usize| self.begin[axis]..self.end[axis];
        Slab { levels: range(0), rows: range(1) }
    }

    /// Number of its values.
    pub(super) fn values(&self) -> usize {
        (self.end[0] - self.begin[0]) * (self.end[1] - self.begin[1]) * self.nx
    }
}

impl Shards {
    /// The shards of a variable on a grid, if it is a volume or a plane, with values of `size` bytes.
    pub(in crate::io::store) fn of(axes: Axes, shape: Shape, size: usize) -> Option<Self> {
        Self::new(&axes.lengths(shape), size)
    }

    /// The same, by the lengths of its dimensions.
    pub(super) fn new(lengths: &[usize], size: usize) -> Option<Self> {
        let (field, is_plane) = match *lengths {
            [nz, ny, nx] => ([nz, ny, nx], false),
            [ny, nx] => ([1, ny, nx], true),
            _ => return None,
        };
        let [levels, rows] = Blocks::new(field, size).chunk();
        let bytes = levels * rows * field[2].max(1) * size;
        let all = [field[0].div_ceil(levels).max(1), field[1].div_ceil(rows).max(1)];
        let even = |n: usize, most: usize| n.div_ceil(n.div_ceil(most.clamp(1, n)));
        let along_rows = even(all[1], SHARD / bytes);
        // Several levels only where a shard holds all rows.
        let along_levels =
            if along_rows == all[1] { even(all[0], SHARD / (bytes * along_rows)) } else { 1 };
        let (inner, chunks) = ([levels, rows], [along_levels, along_rows]);
        Some(Self { field, inner, chunks, is_plane })
    }

    /// The values of all shards, in their order.
    pub(in crate::io::store) fn slabs(self) -> impl Iterator<Item = Slab> {
        self.all().map(|shard| shard.slab())
    }

    /// The shards whose values a field has, all or some of them.
    pub(super) fn of_field(self, field: &Field<'_>) -> impl Iterator<Item = Shard> {
        let here = move |shard: &Shard| {
            let [begin, end] = shard.range(self.field[1]);
            field.within(begin, end).is_some()
        };
        self.all().filter(here)
    }

    /// `true` if a shard has several chunks.
    pub(super) fn is_shared(&self) -> bool {
        self.chunks != [1, 1]
    }

    /// Extents of a chunk, including time.
    pub(super) fn inner_extents(&self) -> Vec<usize> {
        self.with_time(self.inner)
    }

    /// Extents of a shard, including time.
    pub(super) fn extents(&self) -> Vec<usize> {
        self.with_time([0, 1].map(|axis| self.inner[axis] * self.chunks[axis]))
    }

    fn with_time(&self, [levels, rows]: [usize; 2]) -> Vec<usize> {
        let nx = self.field[2];
        if self.is_plane { vec![1, rows, nx] } else { vec![1, levels, rows, nx] }
    }

    /// All shards, in the order of their values.
    pub(super) fn all(self) -> impl Iterator<Item = Shard> {
        let Self { field, inner, chunks, is_plane } = self;
        let step = [0, 1].map(|axis| inner[axis] * chunks[axis]);
        let along = move |axis: usize| 0..field[axis].div_ceil(step[axis]);
        along(0).flat_map(move |level| along(1).map(move |row| [level, row])).map(move |number| {
            let begin = [0, 1].map(|axis| number[axis] * step[axis]);
            let end = [0, 1].map(|axis| (begin[axis] + step[axis]).min(field[axis]));
            Shard { number, begin, end, nx: field[2], is_plane }
        })
    }

    /// Writes a shard of a field; returns its size in bytes. `side_by_side` chunks are encoded at a time.
    pub(super) fn write(
        &self,
        field: &Field<'_>,
        shard: &Shard,
        packer: &Packer,
        side_by_side: usize,
        path: &Path,
    ) -> Result<u64, String> {
        let room = self.inner[0] * self.inner[1] * self.field[2];
        let encode = |number: usize| -> Result<Option<Vec<u8>>, String> {
            match self.chunk(shard, number) {
                Some([levels, rows]) => {
                    let bytes = part(field, self.field, levels, rows);
                    packer.pack(bytes, room).map(Some)
                }
                None => Ok(None),
            }
        };
        let failed = |e: std::io::Error| e.to_string();
        if !self.is_shared() {
            let bytes = encode(0)?.unwrap_or_default();
            std::fs::write(path, &bytes).map_err(failed)?;
            return Ok(bytes.len() as u64);
        }
        let mut file = BufWriter::new(File::create(path).map_err(failed)?);
        let (mut index, mut offset) = (Vec::new(), 0);
        let numbers: Vec<usize> = (0..self.chunks[0] * self.chunks[1]).collect();
        for numbers in numbers.chunks(side_by_side.max(1)) {
            let encoded = numbers.par_iter().map(|n| encode(*n)).collect::<Result<Vec<_>, _>>()?;
            for bytes in encoded {
                let Some(bytes) = bytes else {
                    // The mark of a chunk that is not there.
                    index.extend([u64::MAX; 2]);
                    continue;
                };
                file.write_all(&bytes).map_err(failed)?;
                index.extend([offset, bytes.len() as u64]);
                offset += bytes.len() as u64;
            }
        }
        let index: Vec<u8> = index.into_iter().flat_map(u64::to_le_bytes).collect();
        file.write_all(&index).map_err(failed)?;
        file.write_all(&crc32c::crc32c(&index).to_le_bytes()).map_err(failed)?;
        file.flush().map_err(failed)?;
        Ok(offset + index.len() as u64 + size_of::<u32>() as u64)
    }

    /// Levels and rows of a chunk of a shard; `None` if it is beyond the edge.
    fn chunk(&self, shard: &Shard, number: usize) -> Option<[std::ops::Range<usize>; 2]> {
        let at = [number / self.chunks[1], number % self.chunks[1]];
        let range = |axis: usize| {
            let begin = shard.begin[axis] + at[axis] * self.inner[axis];
            begin..(begin + self.inner[axis]).min(shard.end[axis])
        };
        let both = [range(0), range(1)];
        both.iter().all(|range| !range.is_empty()).then_some(both)
    }
}

/// The bytes of values, rounded to bits of the significand.
fn plain<T: Bits>(values: &[T], bits: Option<u32>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(values));
    match bits.filter(|bits| *bits < T::STORED) {
        None => T::plain(values, &mut bytes),
        Some(bits) => {
            let rounded: Vec<T> = values.iter().map(|x| x.rounded(bits)).collect();
            T::plain(&rounded, &mut bytes);
        }
    }
    bytes
}

/// The bytes of the values of some levels and rows of a field, rounded.
fn part(
    field: &Field<'_>,
    [_, ny, nx]: [usize; 3],
    levels: std::ops::Range<usize>,
    rows: std::ops::Range<usize>,
) -> Vec<u8> {
    // Chunks of several levels hold all rows, so that their values are contiguous.
    let begin = (levels.start * ny + rows.start) * nx;
    let range = field.within(begin, ((levels.end - 1) * ny + rows.end) * nx).unwrap_or_default();
    match field.values {
        Values::Single(values) => plain(&values[range], field.bits),
        Values::Double(values) => plain(&values[range], field.bits),
        Values::Whole(_) | Values::Text(_) => Vec::new(),
    }
}

/// The codec of the chunks of a field.
#[derive(Debug)]
pub(super) struct Packer {
    codec: Option<BloscCodec>,
    /// Bytes of a value.
    size: usize,
}

impl Packer {
    /// The codec of a compression, for values of `size` bytes.
    pub(super) fn new(compression: Compression, size: usize) -> Result<Self, String> {
        let codec = level(compression).map(|level| {
            let level = level.try_into().map_err(|_| format!("no level {level} of blosc"))?;
            let shuffle = BloscShuffleMode::Shuffle;
            BloscCodec::new(BloscCompressor::Zstd, level, None, shuffle, Some(size))
                .map_err(|e| e.to_string())
        });
        Ok(Self { codec: codec.transpose()?, size })
    }

    /// The bytes of a chunk of `room` values; missing ones are 0.
    fn pack(&self, mut bytes: Vec<u8>, room: usize) -> Result<Vec<u8>, String> {
        bytes.resize(room * self.size, 0);
        match &self.codec {
            None => Ok(bytes),
            Some(codec) => codec
                .encode(Cow::Owned(bytes), &CodecOptions::default())
                .map(Cow::into_owned)
                .map_err(|e| e.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_cover_a_field_once_and_keep_to_their_size() {
        for (lengths, size) in [
            (&[27, 58, 71][..], 4),
            (&[50, 812, 994], 4),
            (&[60, 3000, 4001], 8),
            (&[3, 20_000, 20_000], 4),
            (&[20_000, 20_001], 4),
            (&[1, 1, 1], 4),
            (&[2, 3, 1 << 20], 4),
        ] {
            let shards = Shards::new(lengths, size).expect("a field");
            let bytes = shards.extents().iter().product::<usize>() * size;
            assert!(bytes <= SHARD, "{lengths:?}: {bytes}");
            let covered: usize = shards.all().map(|shard| shard.values()).sum();
            assert_eq!(covered, lengths.iter().product::<usize>(), "{lengths:?}");
            for (shard, inner) in shards.extents().iter().zip(shards.inner_extents()) {
                assert_eq!(shard % inner, 0, "{lengths:?}: {shards:?}");
            }
        }
        assert_eq!(Shards::new(&[5], 4), None);
    }
}

//! Values of large variables, whose chunks are inflated on all threads.

use std::cell::RefCell;
use std::ops::Range;

use libdeflater::Decompressor;
use rayon::prelude::*;

use crate::io::store::netcdf::chunks::{Dataset, File};
use crate::io::store::ordered_pipeline::in_order;
use crate::io::store::storage::unshuffled;

/// Fewest values that are inflated here.
const FEWEST: usize = 1 << 16;

/// Fewest and most bytes of a chunk; variables with others are read by the NetCDF library.
const SMALLEST: usize = 1 << 12;
const LARGEST: usize = 1 << 28;

/// Memory that the inflater may need beyond the data itself: per byte, and once.
const EXCESS: (usize, usize) = (1000, 1024);

thread_local! {
    static TOOLS: RefCell<(Decompressor, Vec<u8>)> = RefCell::new((Decompressor::new(), Vec::new()));
}

/// Layout of the chunks, and the requested ranges.
#[derive(Debug)]
struct ChunkRequest<'a> {
    dataset: &'a Dataset,
    chunk: Vec<usize>,
    is_shuffled: bool,
    ranges: &'a [Range<usize>],
}

/// The values of a variable within ranges, one for each of its dimensions, the last index fastest. `None` if they are
/// few, if they are not stored as deflated chunks of floats, or on any error, which the NetCDF library then reports.
pub(in crate::io) fn values(file: &File, name: &str, ranges: &[Range<usize>]) -> Option<Vec<f32>> {
    let all = ranges.iter().try_fold(1_usize, |n, range| n.checked_mul(range.len()))?;
    if all < FEWEST {
        return None;
    }
    let dataset = file.dataset(name).ok()?;
    let (chunk, is_shuffled) = dataset.deflated_floats()?;
    let chunk: Vec<usize> = chunk.iter().map(|n| *n as usize).collect();
    let each = chunk.iter().try_fold(size_of::<f32>(), |n, length| n.checked_mul(*length))?;
    let fits = dataset.extents().iter().zip(ranges).all(|(n, range)| range.end <= *n as usize);
    if chunk.len() != ranges.len() || dataset.extents().len() != ranges.len() || !fits {
        return None;
    }
    let wanted = ChunkRequest { dataset: &dataset, chunk, is_shuffled, ranges };
    if !(SMALLEST..=LARGEST).contains(&each) {
        return None;
    }
    let begins = wanted.begins();
    if begins.len() < 2 {
        return None;
    }
    let mut values = vec![0.0; all];
    // Several threads touch the memory first, so that the system provides its pages in parallel.
    values.par_chunks_mut(FEWEST).for_each(|part| part.fill(0.0));
    in_order(
        begins.len(),
        |n| wanted.inflated(&begins[n], each),
        |n, inflated| {
            wanted.put(&begins[n], &inflated?, &mut values);
            Ok(())
        },
    )
    .ok()?;
    Some(values)
}

impl ChunkRequest<'_> {
    /// First elements of the chunks that contain requested values.
    fn begins(&self) -> Vec<Vec<usize>> {
        self.ranges.iter().zip(&self.chunk).fold(vec![Vec::new()], |begins, (range, each)| {
            let first = range.start / (*each) * each;
            let along: Vec<usize> = (first..range.end).step_by(*each).collect();
            let longer = |begin: &Vec<usize>| {
                let begin = begin.clone();
                along.iter().map(move |at| [begin.as_slice(), &[*at]].concat()).collect::<Vec<_>>()
            };
            begins.iter().flat_map(longer).collect()
        })
    }

    /// The values of the chunk that begins at `begin`, of `bytes` bytes.
    fn inflated(&self, begin: &[usize], bytes: usize) -> Result<Vec<f32>, String> {
        let offset: Vec<u64> = begin.iter().map(|at| *at as u64).collect();
        let (part, once) = EXCESS;
        let stored = self.dataset.read_chunk(&offset, bytes + bytes / part + once)?;
        TOOLS.with_borrow_mut(|(decompressor, room)| {
            room.resize(bytes, 0);
            match decompressor.zlib_decompress(&stored, room) {
                Ok(length) if length == bytes => Ok(unshuffled(room, self.is_shuffled)),
                other => Err(format!("a chunk of {bytes} bytes inflates to {other:?}")),
            }
        })
    }

    /// Copies the requested values of a chunk to the result.
    fn put(&self, begin: &[usize], inflated: &[f32], values: &mut [f32]) {
        let Self { chunk, ranges, .. } = self;
        let shared: Vec<Range<usize>> = (ranges.iter().zip(begin).zip(chunk))
            .map(|((range, begin), each)| range.start.max(*begin)..range.end.min(begin + each))
            .collect();
        let Some((row, outer)) = shared.split_last() else { return };
        let rows: usize = outer.iter().map(Range::len).product();
        for number in 0..rows {
            let mut rest = number;
            let (mut from, mut from_each) = (row.start - begin[outer.len()], chunk[outer.len()]);
            let last = &ranges[outer.len()];
            let (mut to, mut to_each) = (row.start - last.start, last.len());
            for (axis, along) in outer.iter().enumerate().rev() {
                let at = along.start + rest % along.len();
                rest /= along.len();
                from += (at - begin[axis]) * from_each;
                to += (at - ranges[axis].start) * to_each;
                from_each *= chunk[axis];
                to_each *= ranges[axis].len();
            }
            values[to..to + row.len()].copy_from_slice(&inflated[from..from + row.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of a variable in chunks, and its values.
    fn file(chunk: [usize; 3], shuffle: bool) -> (tempfile::TempDir, Vec<f32>) {
        let folder = tempfile::tempdir().expect("a folder");
        let values: Vec<f32> = (0..2 * 150 * 300).map(|n| (n as f32).sqrt()).collect();
        let define = || -> netcdf::Result<()> {
            let mut file = netcdf::create(folder.path().join("in.nc"))?;
            file.add_unlimited_dimension("Time")?;
            file.add_dimension("j", 150)?;
            file.add_dimension("i", 300)?;
            let mut variable = file.add_variable::<f32>("T", &["Time", "j", "i"])?;
            variable.set_compression(2, shuffle)?;
            variable.set_chunking(&chunk)?;
            variable.put_values(&values, [0..2, 0..150, 0..300])?;
            file.close()
        };
        define().expect("a file");
        (folder, values)
    }

    #[test]
    fn chunks_are_put_together_again() {
        for (chunk, shuffle) in [([1, 64, 300], true), ([1, 150, 77], true), ([2, 40, 128], false)]
        {
            let (folder, expected) = file(chunk, shuffle);
            let path = folder.path().join("in.nc");
            // As for a reader, which holds the file open.
            let opened = netcdf::open(&path).expect("a file");
            let file = File::open_to_read(&path).expect("the same file");
            let found = values(&file, "T", &[0..2, 0..150, 0..300]);
            assert!(found.as_deref() == Some(&expected[..]), "{chunk:?}");
            let found = values(&file, "T", &[1..2, 3..149, 0..300]).map_or(0, |part| part.len());
            assert_eq!(found, 0, "too few for {chunk:?}");
            let part = values(&file, "T", &[0..2, 20..150, 10..290]).expect("values");
            let mut at = 0;
            for time in 0..2 {
                for j in 20..150 {
                    let begin = (time * 150 + j) * 300;
                    assert!(
                        part[at..at + 280] == expected[begin + 10..begin + 290],
                        "{chunk:?} {j}"
                    );
                    at += 280;
                }
            }
            assert_eq!(values(&file, "T", &[0..3, 0..150, 0..300]), None, "beyond the end");
            assert_eq!(values(&file, "U", &[0..2, 0..150, 0..300]), None);
            drop(file);
            let again: Vec<f32> =
                opened.variable("T").expect("T").get_values(..).expect("the file stays open");
            assert!(again == expected);
        }
    }
}

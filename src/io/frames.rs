//! A NetCDF file that grows frame by frame, whose volumes are compressed on all cores.
//!
//! The NetCDF library defines the file and closes it; from then on its datasets are those of HDF5
//! ([`chunks`](crate::io::chunks)), which keeps nothing of what was written. Any reader takes the file for
//! what it is, one of NetCDF-4 with the filters shuffle and deflate.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::mpsc::channel;

use crate::grid::Shape;
use crate::io::chunks::{Dataset, File, Result};
use crate::io::information::kept_bits;
use crate::io::layout::Variable;
use crate::io::ledger::Ledger;
use crate::io::storage::{Bits, Block, Blocks, Coding, Compression, Keep};
use crate::io::writer::{Numbers, Stored};

/// Chunks under way for each thread that compresses: enough that none waits for the disk, and few
/// enough not to count beside the frame.
const UNDER_WAY: usize = 3;

/// Name of the dimension that grows.
const TIME: &str = "Time";

/// A file that grows.
#[derive(Debug)]
pub(super) struct FrameFile {
    // Closed in this order.
    datasets: HashMap<&'static str, Dataset>,
    file: File,
    shape: Shape,
    ledger: Ledger,
    /// Chunks of volumes that are the same in all frames, as they are stored.
    lasting: HashMap<&'static str, Vec<Vec<u8>>>,
}

/// A volume of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Volume<'a> {
    about: &'static Variable,
    numbers: Numbers<'a>,
    blocks: Blocks,
    coding: Coding,
    /// Whether it is the same in all frames.
    lasts: bool,
}

impl Volume<'_> {
    /// The bytes of a chunk.
    fn encode(&self, block: Block) -> Result<Vec<u8>> {
        let Self { blocks, coding, .. } = self;
        match self.numbers {
            Numbers::Single(x) => coding.encode(&x[block.begin..block.end], blocks.values()),
            Numbers::Double(x) => coding.encode(&x[block.begin..block.end], blocks.values()),
        }
    }

    /// Bytes of the values of a chunk.
    fn raw(&self, block: Block) -> usize {
        let size = match self.numbers {
            Numbers::Single(_) => size_of::<f32>(),
            Numbers::Double(_) => size_of::<f64>(),
        };
        (block.end - block.begin) * size
    }
}

impl FrameFile {
    /// Opens a file that the NetCDF library has defined and closed, for fields of this shape.
    ///
    /// # Errors
    ///
    /// The call of the library that failed, as in all that follows.
    pub(super) fn open(path: &Path, shape: Shape, ledger: Ledger) -> Result<Self> {
        let (datasets, lasting) = (HashMap::new(), HashMap::new());
        Ok(Self { datasets, file: File::open(path)?, shape, ledger, lasting })
    }

    /// A dataset, long enough to have a frame.
    fn reaching(&mut self, name: &'static str, frame: usize) -> Result<&mut Dataset> {
        if !self.datasets.contains_key(name) {
            let found = self.file.dataset(name)?;
            self.datasets.insert(name, found);
        }
        let dataset = self.datasets.get_mut(name).ok_or_else(|| format!("no dataset {name}"))?;
        dataset.reach(frame + 1)?;
        Ok(dataset)
    }

    /// Begins a frame: the dimension of time has its length from here on.
    pub(super) fn begin(&mut self, frame: usize) -> Result<()> {
        self.reaching(TIME, frame).map(drop)
    }

    /// Writes all values of a variable at a frame, as they are.
    pub(super) fn put<T: Bits>(
        &mut self,
        name: &'static str,
        frame: usize,
        values: &[T],
    ) -> Result<()> {
        let mut bytes = Vec::with_capacity(size_of_val(values));
        T::plain(values, &mut bytes);
        self.put_bytes(name, frame, &bytes)
    }

    /// The same with what is bytes already.
    pub(super) fn put_bytes(
        &mut self,
        name: &'static str,
        frame: usize,
        bytes: &[u8],
    ) -> Result<()> {
        self.reaching(name, frame)?.write(frame, bytes)
    }

    /// A volume to be written in a form, if a variable is one; `lasts` where it is the same in all frames.
    pub(super) fn volume<'a, R: Stored>(
        &self,
        about: &'static Variable,
        (values, lasts): (&'a [R], bool),
        (compression, keep): (Compression, Keep),
    ) -> Option<Volume<'a>> {
        let blocks = Blocks::of(about.axes, self.shape, size_of::<R>())?;
        let bits = match keep {
            // Nothing is looked for in what is stored already.
            _ if lasts && self.lasting.contains_key(about.name) => None,
            Keep::All => None,
            Keep::Bits(bits) => Some(bits.min(R::STORED)),
            Keep::Auto => Some(kept_bits(values, blocks.extents()[3])),
        };
        if let Some(bits) = bits {
            self.ledger.keep(about.name, bits);
        }
        let coding = Coding { compression, bits };
        Some(Volume { about, numbers: R::numbers(values), blocks, coding, lasts })
    }

    /// Writes volumes at a frame. Chunks are compressed on all threads and written in their order, so that
    /// a file does not depend on the threads.
    pub(super) fn put_volumes(&mut self, frame: usize, volumes: &[Volume<'_>]) -> Result<()> {
        for volume in volumes {
            self.reaching(volume.about.name, frame)?;
        }
        let tasks: Vec<(&Volume<'_>, usize, Block)> = volumes
            .iter()
            .flat_map(|volume| {
                volume.blocks.all().enumerate().map(move |(number, block)| (volume, number, block))
            })
            .collect();
        let Self { datasets, lasting, ledger, .. } = self;
        let stored = std::mem::take(lasting);
        let encode = |n: usize| {
            let (volume, number, block) = tasks[n];
            let before = stored.get(volume.about.name).filter(|_| volume.lasts);
            match before.and_then(|chunks| chunks.get(number)) {
                Some(chunk) => Ok(Cow::Borrowed(chunk.as_slice())),
                None => volume.encode(block).map(Cow::Owned),
            }
        };
        let mut kept: HashMap<&'static str, Vec<Vec<u8>>> = HashMap::new();
        let done = in_order(tasks.len(), encode, |n, bytes: Result<Cow<'_, [u8]>>| {
            let ((volume, _, block), bytes) = (tasks[n], bytes?);
            let name = volume.about.name;
            ledger.count(volume.raw(block), bytes.len());
            datasets[name].write_chunk(&[frame, block.level, block.row, 0], &bytes)?;
            if let (true, Cow::Owned(bytes)) = (volume.lasts, bytes) {
                kept.entry(name).or_default().push(bytes);
            }
            Ok(())
        });
        *lasting = stored;
        lasting.extend(kept);
        done
    }

    /// Hands what was written to the system.
    pub(super) fn sync(&self) -> Result<()> {
        self.file.flush()
    }

    /// Completes the file.
    pub(super) fn close(self) -> Result<()> {
        let Self { datasets, file, .. } = self;
        drop(datasets);
        file.close()
    }
}

/// Makes `count` things on all threads and takes them in their order, a few being under way.
fn in_order<T: Send>(
    count: usize,
    make: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(usize, T) -> Result<()>,
) -> Result<()> {
    let (sender, receiver) = channel();
    let make = &make;
    rayon::in_place_scope(|scope| {
        let begin = |n: usize| {
            let sender = sender.clone();
            scope.spawn(move |_| {
                let made = catch_unwind(AssertUnwindSafe(|| make(n)));
                // Nobody listens any more where one that came before could not be taken.
                let _ = sender.send((n, made));
            });
        };
        let ahead = count.min(UNDER_WAY * rayon::current_num_threads());
        (0..ahead).for_each(begin);
        let mut early = BTreeMap::new();
        for next in 0..count {
            let made = loop {
                if let Some(made) = early.remove(&next) {
                    break made;
                }
                let (n, made) = receiver.recv().map_err(|e| e.to_string())?;
                early.insert(n, made);
            };
            take(next, made.unwrap_or_else(|panic| resume_unwind(panic)))?;
            if next + ahead < count {
                begin(next + ahead);
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::fields::define_variable;
    use crate::io::layout::{Axes, dimensions};
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn things_are_taken_in_order_and_few_are_under_way() {
        let (begun, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let most = UNDER_WAY * rayon::current_num_threads();
        let make = |n: usize| {
            let ahead = begun.fetch_add(1, Ordering::SeqCst) + 1 - taken.load(Ordering::SeqCst);
            assert!(ahead <= most + 1, "{ahead}");
            n * n
        };
        let mut seen = Vec::new();
        let done = in_order(100, make, |n, made| {
            assert_eq!(made, n * n);
            seen.push(n);
            taken.fetch_add(1, Ordering::SeqCst);
            Ok(())
        });
        assert_eq!(done, Ok(()));
        assert_eq!(seen, (0..100).collect::<Vec<_>>());
        assert_eq!(in_order(0, |n| n, |_, _| Err(String::new())), Ok(()));
    }

    #[test]
    fn the_first_that_cannot_be_taken_ends_it() {
        let take = |n: usize, _| if n == 5 { Err("full".to_owned()) } else { Ok(()) };
        assert_eq!(in_order(50, |n| n, take), Err("full".to_owned()));
    }

    const U: Variable = Variable {
        name: "U",
        axes: Axes::VolumeX,
        units: "m s-1",
        description: "wind",
        standard_name: None,
        cell_methods: None,
    };

    /// Frames of a variable on x-faces, of which the second and third are written as lasting.
    fn written(shape: Shape, form: (Compression, Keep)) -> (Vec<f32>, Vec<f32>) {
        static ABOUT: Variable = U;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.nc");
        let define = || -> netcdf::Result<()> {
            let mut file = netcdf::create(&path)?;
            file.add_unlimited_dimension("Time")?;
            for (name, length) in dimensions(shape) {
                file.add_dimension(name, length)?;
            }
            define_variable::<f32>(&mut file, &ABOUT, false, (shape, form.0))?;
            file.close()
        };
        define().expect("a file");
        let values = |frame: usize| -> Vec<f32> {
            let cells = shape.nz * shape.ny * (shape.nx + 1);
            (0..cells).map(|n| (n as f32 * 1e-3).sin() + frame as f32).collect()
        };
        let mut file = FrameFile::open(&path, shape, Ledger::default()).expect("the file");
        let mut all = Vec::new();
        for (frame, which) in [0, 1, 1].into_iter().enumerate() {
            let values = values(which);
            file.begin(frame).expect("time");
            let volume = file.volume(&ABOUT, (&values, frame > 0), form).expect("a volume");
            file.put_volumes(frame, &[volume]).expect("chunks");
            all.extend(values);
        }
        file.close().expect("a whole file");
        let file = netcdf::open(&path).expect("the file");
        assert_eq!(file.dimension_len("Time"), Some(3));
        (all, file.variable("U").expect("U").get_values(..).expect("values"))
    }

    /// Chunks of whole levels, the last of which is cut, and of rows, likewise.
    #[test]
    fn the_netcdf_library_reads_what_was_stored_in_chunks() {
        for (nz, ny, nx) in [(5, 300, 300), (2, 701, 500), (1, 1, 1)] {
            let shape = Shape { nz, ny, nx };
            for compression in [Compression::None, Compression::Fast, Compression::Small] {
                let (expected, found) = written(shape, (compression, Keep::All));
                assert!(expected == found, "{shape} {compression:?}");
            }
        }
        let (expected, found) =
            written(Shape { nz: 5, ny: 300, nx: 300 }, (Compression::Fast, Keep::Bits(9)));
        assert!(expected.iter().zip(&found).all(|(x, y)| x.rounded(9) == *y));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.nc");
        let mut file = netcdf::create(&path).expect("a file");
        file.add_unlimited_dimension("Time").expect("time");
        file.add_variable::<f64>("XTIME", &["Time"]).expect("a variable");
        file.close().expect("a file");
        let shape = Shape { nz: 1, ny: 1, nx: 1 };
        let mut file = FrameFile::open(&path, shape, Ledger::default()).expect("the file");
        assert!(file.put("XTIME", 0, &[1.0_f32]).is_err());
        assert!(file.put("XTIME", 0, &[1.0_f64, 2.0]).is_err());
        assert!(file.put("YTIME", 0, &[1.0_f64]).is_err());
        assert_eq!(file.put("XTIME", 3, &[1.0_f64]), Ok(()));
        assert!(FrameFile::open(&folder.path().join("none.nc"), shape, Ledger::default()).is_err());
    }
}

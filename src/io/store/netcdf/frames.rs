//! A NetCDF file that grows frame by frame, whose fields are compressed on all cores.
//!
//! The NetCDF library defines the file and closes it; from then on its datasets are written by HDF5
//! ([`chunks`](super::chunks)), which caches no chunk. To any reader the file is NetCDF-4 with the filters shuffle and
//! deflate.

use std::collections::BTreeMap;
use std::path::Path;

use super::chunks::{Dataset, File, Result};
use crate::io::store::format::{Field, Form, Values};
use crate::io::store::ordered_pipeline::in_order;
use crate::io::store::storage::{Bits, Block, Blocks, Coding, Compression};

/// Bytes that a compressed chunk may be longer than twice its values.
const SLACK: usize = 1 << 10;

/// Name of the unlimited dimension.
const TIME: &str = "Time";

/// A file that grows frame by frame.
#[derive(Debug)]
pub(in crate::io) struct FrameFile {
    // Closed in this order, datasets by name: the bytes of the file depend on it.
    datasets: BTreeMap<&'static str, Dataset>,
    file: File,
    form: Form,
    /// Fields of the frame that is being written, of those that are the same in all frames.
    written: Vec<&'static str>,
    /// Fields that are the same in all frames and are stored, with the frame that has them.
    lasting: BTreeMap<&'static str, usize>,
}

/// A chunk of a field to be encoded.
type Encode<'a> = Box<dyn Fn(Block) -> Result<Vec<u8>> + Sync + 'a>;

/// A field in the chunks of a file.
struct InChunks<'a> {
    name: &'static str,
    blocks: Blocks,
    encode: Encode<'a>,
    /// Size of a value, bytes.
    size: usize,
    /// The frame that has the same chunks already.
    same_as: Option<usize>,
}

impl FrameFile {
    /// Opens a file that the NetCDF library has defined and closed.
    pub(in crate::io) fn open(path: &Path, form: Form) -> Result<Self> {
        let (datasets, lasting, written) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        Ok(Self { datasets, file: File::open(path)?, form, written, lasting })
    }

    /// A dataset, extended to contain a frame.
    fn reaching(&mut self, name: &'static str, frame: usize) -> Result<&mut Dataset> {
        if !self.datasets.contains_key(name) {
            let found = self.file.dataset(name)?;
            self.datasets.insert(name, found);
        }
        let dataset = self.datasets.get_mut(name).ok_or_else(|| format!("no dataset {name}"))?;
        dataset.extend_to(frame + 1)?;
        Ok(dataset)
    }

    /// Begins a frame: extends the dimension of time.
    pub(in crate::io) fn begin(&mut self, frame: usize) -> Result<()> {
        self.reaching(TIME, frame).map(drop)
    }

    /// Writes all values of a variable at a frame, without encoding.
    pub(in crate::io) fn put(
        &mut self,
        name: &'static str,
        frame: usize,
        values: Values<'_>,
    ) -> Result<()> {
        self.reaching(name, frame)?.write(frame, &values.plain())
    }

    /// A volume or a plane in chunks.
    fn in_chunks<'a>(&self, field: &Field<'a>) -> Result<InChunks<'a>> {
        match field.values {
            Values::Single(values) => self.of_precision(field, values),
            Values::Double(values) => self.of_precision(field, values),
            Values::Whole(_) | Values::Text(_) => {
                Err(format!("{} is not a field of numbers", field.about.name))
            }
        }
    }

    fn of_precision<'a, T: Bits>(
        &self,
        field: &Field<'a>,
        values: &'a [T],
    ) -> Result<InChunks<'a>> {
        let (Field { about, bits, lasts, .. }, field) = (*field, *field);
        let (compression, size) = (self.form.compression, size_of::<T>());
        let blocks = Blocks::of(about.axes, self.form.shape, size)
            .ok_or_else(|| format!("{} is neither a volume nor a plane", about.name))?;
        let coding = Coding { compression, bits };
        let encode = move |block: Block| {
            let here = field.within(block.begin, block.end).unwrap_or_default();
            coding.encode(&values[here], blocks.values())
        };
        Ok(InChunks {
            name: about.name,
            blocks,
            encode: Box::new(encode),
            size,
            // Encoding a chunk again without compression is as fast as copying it.
            same_as: self
                .lasting
                .get(about.name)
                .copied()
                .filter(|_| lasts && compression != Compression::None),
        })
    }

    /// Writes volumes and planes at a frame. Chunks are compressed on all threads and written in order, so that a file
    /// does not depend on the threads.
    pub(in crate::io) fn put_fields(&mut self, frame: usize, fields: &[Field<'_>]) -> Result<()> {
        for field in fields {
            self.reaching(field.about.name, frame)?;
            if field.lasts {
                self.written.push(field.about.name);
            }
        }
        let in_chunks =
            fields.iter().map(|field| self.in_chunks(field)).collect::<Result<Vec<_>>>()?;
        let tasks: Vec<(&InChunks<'_>, Block)> = in_chunks
            .iter()
            .zip(fields)
            .flat_map(|(chunks, field)| {
                let here = |block: &Block| field.within(block.begin, block.end).is_some();
                chunks.blocks.all().filter(here).map(move |block| (chunks, block))
            })
            .collect();
        let Self { datasets, form: Form { statistics, .. }, .. } = self;
        let encode = |n: usize| {
            let (field, block) = tasks[n];
            let raw = field.blocks.values() * field.size;
            match field.same_as {
                Some(before) => {
                    let offset = field.blocks.offset(before, block);
                    let offset: Vec<u64> = offset.into_iter().map(|at| at as u64).collect();
                    datasets[field.name].read_chunk(&offset, 2 * raw + SLACK)
                }
                None => (field.encode)(block),
            }
        };
        in_order(tasks.len(), encode, |n, bytes: Result<Vec<u8>>| {
            let ((field, block), bytes) = (tasks[n], bytes?);
            statistics.count((block.end - block.begin) * field.size, bytes.len());
            datasets[field.name].write_chunk(&field.blocks.offset(frame, block), &bytes)
        })
    }

    /// Ends a frame: what lasts is stored from now on.
    pub(in crate::io) fn end(&mut self, frame: usize) {
        for name in std::mem::take(&mut self.written) {
            self.lasting.entry(name).or_insert(frame);
        }
    }

    /// Flushes the file to the system.
    pub(in crate::io) fn sync(&self) -> Result<()> {
        self.file.flush()
    }

    /// Completes the file.
    pub(in crate::io) fn close(self) -> Result<()> {
        let Self { datasets, file, .. } = self;
        drop(datasets);
        file.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::output_statistics::OutputStatistics;
    use crate::grid::Shape;
    use crate::io::layout::{Axes, Variable, dimensions};
    use crate::io::store::fields::{StoredVariable, define};

    const U: Variable = Variable {
        name: "U",
        axes: Axes::VolumeX,
        units: "m s-1",
        description: "wind",
        standard_name: None,
        cell_methods: None,
    };

    /// Frames of a variable on x-faces, of which the second and third are written as constant.
    fn written(
        shape: Shape,
        (compression, bits): (Compression, Option<u32>),
    ) -> (Vec<f32>, Vec<f32>) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.nc");
        let create = || -> netcdf::Result<()> {
            let mut file = netcdf::create(&path)?;
            file.add_unlimited_dimension("Time")?;
            for (name, length) in dimensions(shape) {
                file.add_dimension(name, length)?;
            }
            define::<f32>(&mut file, &StoredVariable::in_blocks::<f32>(&U, shape), compression)?;
            file.close()
        };
        create().expect("a file");
        let values = |frame: usize| -> Vec<f32> {
            let cells = shape.nz * shape.ny * (shape.nx + 1);
            (0..cells).map(|n| (n as f32 * 1e-3).sin() + frame as f32).collect()
        };
        let form = Form { shape, compression, statistics: OutputStatistics::default() };
        let mut file = FrameFile::open(&path, form).expect("the file");
        let mut all = Vec::new();
        for (frame, which) in [0, 1, 1].into_iter().enumerate() {
            let values = values(which);
            file.begin(frame).expect("time");
            let field = Values::Single(&values);
            let field = Field { about: U, values: field, first: 0, bits, lasts: frame > 0 };
            file.put_fields(frame, &[field]).expect("chunks");
            file.end(frame);
            all.extend(values);
        }
        file.close().expect("a whole file");
        let file = netcdf::open(&path).expect("the file");
        assert_eq!(file.dimension_len("Time"), Some(3));
        (all, file.variable("U").expect("U").get_values(..).expect("values"))
    }

    /// Chunks of whole levels, and of rows; the last chunk is shorter.
    #[test]
    fn the_netcdf_library_reads_what_was_stored_in_chunks() {
        for (nz, ny, nx) in [(5, 300, 300), (2, 701, 500), (1, 1, 1)] {
            let shape = Shape { nx, ny, nz };
            for compression in [Compression::None, Compression::Fast, Compression::Small] {
                let (expected, found) = written(shape, (compression, None));
                assert!(expected == found, "{shape} {compression:?}");
            }
        }
        let (expected, found) =
            written(Shape { nz: 5, ny: 300, nx: 300 }, (Compression::Fast, Some(9)));
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
        let statistics = OutputStatistics::default();
        let form = Form { shape, compression: Compression::None, statistics };
        let mut file = FrameFile::open(&path, form.clone()).expect("the file");
        assert!(file.put("XTIME", 0, Values::Single(&[1.0])).is_err());
        assert!(file.put("XTIME", 0, Values::Double(&[1.0, 2.0])).is_err());
        assert!(file.put("YTIME", 0, Values::Double(&[1.0])).is_err());
        assert_eq!(file.put("XTIME", 3, Values::Double(&[1.0])), Ok(()));
        assert!(FrameFile::open(&folder.path().join("none.nc"), form).is_err());
    }
}

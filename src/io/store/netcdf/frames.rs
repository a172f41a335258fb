//! A NetCDF file that grows frame by frame, whose fields are compressed on all cores.
//!
//! The NetCDF library defines the file and closes it; from then on its datasets are written by HDF5
//! ([`chunks`](super::chunks)), which caches no chunk. To any reader the file is NetCDF-4 with the filters shuffle and
//! deflate.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use super::chunks::{Dataset, File, Result};
use crate::io::store::format::{Field, Form, Values};
use crate::io::store::ordered_pipeline::in_order;
use crate::io::store::storage::{Bits, Block, Blocks, Coding, Compression};

/// Name of the unlimited dimension.
const TIME: &str = "Time";

/// A file that grows frame by frame.
#[derive(Debug)]
pub(in crate::io) struct FrameFile {
    // Closed in this order, datasets by name: the bytes of the file depend on it.
    datasets: BTreeMap<&'static str, Dataset>,
    file: File,
    form: Form,
    /// Stored chunks of fields that are the same in all frames.
    lasting: BTreeMap<&'static str, Vec<Vec<u8>>>,
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
    /// `true` if its chunks are kept for the next frames.
    is_kept: bool,
    /// `true` if the field is the same in all frames.
    lasts: bool,
}

impl FrameFile {
    /// Opens a file that the NetCDF library has defined and closed.
    pub(in crate::io) fn open(path: &Path, form: Form) -> Result<Self> {
        let (datasets, lasting) = (BTreeMap::new(), BTreeMap::new());
        Ok(Self { datasets, file: File::open(path)?, form, lasting })
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
        &Field { about, bits, lasts, .. }: &Field<'a>,
        values: &'a [T],
    ) -> Result<InChunks<'a>> {
        let (compression, size) = (self.form.compression, size_of::<T>());
        let blocks = Blocks::of(about.axes, self.form.shape, size)
            .ok_or_else(|| format!("{} is neither a volume nor a plane", about.name))?;
        let coding = Coding { compression, bits };
        let encode =
            move |block: Block| coding.encode(&values[block.begin..block.end], blocks.values());
        Ok(InChunks {
            name: about.name,
            blocks,
            encode: Box::new(encode),
            size,
            // Encoding a chunk again without compression is as fast as copying it.
            is_kept: lasts && compression != Compression::None,
            lasts,
        })
    }

    /// Writes volumes and planes at a frame. Chunks are compressed on all threads and written in order, so that a file
    /// does not depend on the threads.
    pub(in crate::io) fn put_fields(&mut self, frame: usize, fields: &[Field<'_>]) -> Result<()> {
        for field in fields {
            self.reaching(field.about.name, frame)?;
        }
        let fields =
            fields.iter().map(|field| self.in_chunks(field)).collect::<Result<Vec<_>>>()?;
        let tasks: Vec<(&InChunks<'_>, usize, Block)> = fields
            .iter()
            .flat_map(|field| {
                field.blocks.all().enumerate().map(move |(number, block)| (field, number, block))
            })
            .collect();
        let Self { datasets, lasting, form: Form { statistics, .. }, .. } = self;
        let stored = std::mem::take(lasting);
        let encode = |n: usize| {
            let (field, number, block) = tasks[n];
            let before = stored.get(field.name).filter(|_| field.lasts);
            match before.and_then(|chunks| chunks.get(number)) {
                Some(chunk) => Ok(Cow::Borrowed(chunk.as_slice())),
                None => (field.encode)(block).map(Cow::Owned),
            }
        };
        let mut kept: BTreeMap<&'static str, Vec<Vec<u8>>> = BTreeMap::new();
        let done = in_order(tasks.len(), encode, |n, bytes: Result<Cow<'_, [u8]>>| {
            let ((field, _, block), bytes) = (tasks[n], bytes?);
            let name = field.name;
            statistics.count((block.end - block.begin) * field.size, bytes.len());
            datasets[name].write_chunk(&field.blocks.offset(frame, block), &bytes)?;
            if let (true, Cow::Owned(mut bytes)) = (field.is_kept, bytes) {
                bytes.shrink_to_fit();
                kept.entry(name).or_default().push(bytes);
            }
            Ok(())
        });
        *lasting = stored;
        lasting.extend(kept);
        done
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
            let field = Field { about: U, values: field, bits, lasts: frame > 0 };
            file.put_fields(frame, &[field]).expect("chunks");
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

//! Unformatted sequential Fortran files: records of bytes between two markers with their length, big-endian.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::io::damage_guard;

/// Length of a record marker, bytes.
const MARK: u64 = 4;

/// A file, read record by record.
#[derive(Debug)]
pub(crate) struct Records {
    path: PathBuf,
    file: BufReader<File>,
    /// Bytes that have not been read.
    left: u64,
    /// Records read so far.
    count: usize,
}

impl Records {
    /// Opens a file.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let left = damage_guard::regular_file(path, "a file of records")?;
        let file = File::open(path).map_err(|e| Error::io(path, "read", e))?;
        Ok(Self { path: path.to_owned(), file: BufReader::new(file), left, count: 0 })
    }

    /// An [`Error::Input`] about this file.
    pub(crate) fn error(&self, message: impl Into<String>) -> Error {
        Error::input(&self.path, message)
    }

    /// Bytes that have not been read.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// The next record, of `count` integers; `what` describes its contents in an error.
    pub(crate) fn integers(&mut self, what: &str, count: usize) -> Result<Vec<i32>> {
        Ok(self.record(what, count)?.into_iter().map(i32::from_be_bytes).collect())
    }

    /// The next record, of `count` single-precision numbers, in the order and the units of the file.
    pub(crate) fn reals(&mut self, what: &str, count: usize) -> Result<Vec<f32>> {
        Ok(self.record(what, count)?.into_iter().map(f32::from_be_bytes).collect())
    }

    /// Fails if bytes are left.
    pub(crate) fn finish(self) -> Result<()> {
        if self.left == 0 {
            return Ok(());
        }
        Err(self.error(format!(
            "goes on for {} bytes after record {}, which is the last one of the format",
            self.left, self.count
        )))
    }

    /// The next record, of `count` four-byte numbers.
    fn record(&mut self, what: &str, count: usize) -> Result<Vec<[u8; 4]>> {
        let number = self.count + 1;
        let about = format!("record {number} ({what})");
        let wanted = 4 * count as u64;
        let first: [u8; 4] = self.bytes(&about)?;
        let found = u64::from(u32::from_be_bytes(first));
        if found != wanted {
            let reason = if u64::from(u32::from_le_bytes(first)) == wanted {
                "the file is little-endian; big-endian is needed: write it with gfortran's \
                 -fconvert=big-endian, or convert='big_endian' of open"
                    .to_owned()
            } else if number == 1 && found == 0 {
                "the marks seem to have eight bytes; four are needed: write it with gfortran's \
                 -frecord-marker=4"
                    .to_owned()
            } else {
                format!("{wanted} are needed; is this a file of the format, and complete?")
            };
            return Err(self.error(format!("{about} has {found} bytes by its mark; {reason}")));
        }
        if self.left < wanted + MARK {
            return Err(self.error(format!(
                "ends inside of {about}: {} bytes are left of the {} that it takes; copy the file \
                 again",
                self.left,
                wanted + MARK
            )));
        }
        let mut numbers = vec![[0; 4]; count];
        self.file
            .read_exact(numbers.as_flattened_mut())
            .map_err(|e| Error::io(&self.path, "read", e))?;
        self.left -= wanted;
        let last = u64::from(u32::from_be_bytes(self.bytes(&about)?));
        if last != wanted {
            return Err(self.error(format!(
                "{about} begins with a mark of {wanted} bytes and ends with one of {last}; the \
                 two must agree: copy the file again, as binary"
            )));
        }
        self.count = number;
        Ok(numbers)
    }

    /// A record marker.
    fn bytes(&mut self, about: &str) -> Result<[u8; 4]> {
        if self.left < MARK {
            return Err(self.error(format!("ends before {about}; copy the file again")));
        }
        let mut mark = [0; MARK as usize];
        self.file.read_exact(&mut mark).map_err(|e| Error::io(&self.path, "read", e))?;
        self.left -= MARK;
        Ok(mark)
    }
}

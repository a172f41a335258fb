//! Unformatted sequential Fortran files: records of bytes between two markers with their length, big-endian.

use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Length of a record marker, bytes.
const MARK: u64 = 4;

/// A file, read record by record.
#[derive(Debug)]
pub struct Records {
    path: PathBuf,
    file: BufReader<File>,
    /// Bytes that have not been read.
    left: u64,
    /// Records read so far.
    count: usize,
}

impl Records {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the file cannot be read, [`Error::Input`] when it is not a regular file or is empty.
    pub fn open(path: &Path) -> Result<Self> {
        let about = fs::metadata(path).map_err(|e| Error::io(path, "read", e))?;
        // Opening a pipe would wait for a writer.
        if !about.is_file() {
            let what = if about.is_dir() { "a folder" } else { "a device or a pipe" };
            return Err(Error::input(path, format!("is {what}; a file of records is needed")));
        }
        if about.len() == 0 {
            return Err(Error::input(path, "is empty; a file of records is needed"));
        }
        let file = File::open(path).map_err(|e| Error::io(path, "read", e))?;
        Ok(Self { path: path.to_owned(), file: BufReader::new(file), left: about.len(), count: 0 })
    }

    /// An [`Error::Input`] about this file.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error::input(&self.path, message)
    }

    /// Bytes that have not been read.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// The next record, of `count` integers; `what` describes its contents in an error.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] when the file ends too early, or when the record has another length.
    pub fn integers(&mut self, what: &str, count: usize) -> Result<Vec<i32>> {
        let bytes = self.record(what, count)?;
        Ok(bytes.chunks_exact(4).map(|x| i32::from_be_bytes([x[0], x[1], x[2], x[3]])).collect())
    }

    /// The next record, of `count` single-precision numbers, in the order and the units of the file.
    ///
    /// # Errors
    ///
    /// As [`Records::integers`].
    pub fn reals(&mut self, what: &str, count: usize) -> Result<Vec<f32>> {
        let bytes = self.record(what, count)?;
        Ok(bytes.chunks_exact(4).map(|x| f32::from_be_bytes([x[0], x[1], x[2], x[3]])).collect())
    }

    /// Fails if bytes are left.
    ///
    /// # Errors
    ///
    /// [`Error::Input`].
    pub fn finish(self) -> Result<()> {
        if self.left == 0 {
            return Ok(());
        }
        Err(self.error(format!(
            "goes on for {} bytes after record {}, which is the last one of the format",
            self.left, self.count
        )))
    }

    /// The bytes of the next record, of `count` four-byte numbers.
    fn record(&mut self, what: &str, count: usize) -> Result<Vec<u8>> {
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
        let mut bytes = vec![0; wanted as usize];
        self.file.read_exact(&mut bytes).map_err(|e| Error::io(&self.path, "read", e))?;
        self.left -= wanted;
        let last = u64::from(u32::from_be_bytes(self.bytes(&about)?));
        if last != wanted {
            return Err(self.error(format!(
                "{about} begins with a mark of {wanted} bytes and ends with one of {last}; the \
                 two must agree: copy the file again, as binary"
            )));
        }
        self.count = number;
        Ok(bytes)
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

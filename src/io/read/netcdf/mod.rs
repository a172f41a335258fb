//! NetCDF behind the seam of inputs.

mod classic_header;
mod filters;
mod hdf5_heap;
mod inflate;
mod metadata;

use std::fs;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use netcdf::types::NcTypeDescriptor;

use crate::error::{Error, Result};
use crate::io::attribute::AttributeValue;
use crate::io::read::damage_guard::regular_file;
use crate::io::read::dataset::{Answer, Dataset, Extent, Variable};
use crate::io::store::netcdf::chunks::File;
use crate::io::store::netcdf::digest::digest;
use crate::io::store::netcdf::{hdf5_lock, types};

/// An open NetCDF file.
#[derive(Debug)]
pub(in crate::io) struct NetcdfFile {
    path: PathBuf,
    /// The same file opened by HDF5, if chunks have been read; closed first.
    chunks: OnceLock<Option<File>>,
    file: netcdf::File,
    /// Most bytes that the values of a variable can take.
    most_bytes: u64,
    is_hdf5: bool,
}

impl NetcdfFile {
    /// Opens a file for reading.
    pub(in crate::io) fn open(path: &Path) -> Result<Self> {
        let length = regular_file(path, "a NetCDF file")?;
        let mut signature = Vec::new();
        let open = || fs::File::open(path).map_err(|e| Error::io(path, "read", e));
        open()?.take(8).read_to_end(&mut signature).map_err(|e| Error::io(path, "read", e))?;
        classic_header::check(open()?, length).map_err(|why| Error::input(path, why))?;
        if metadata::is_hdf5(&signature) {
            hdf5_heap::check(open()?).map_err(|why| Error::input(path, why))?;
        }
        let file = netcdf::open(path).map_err(|e| {
            let locked = metadata::is_hdf5(&signature).then(|| hdf5_lock::refusal_to_read(path));
            let message = locked.flatten().unwrap_or_else(|| {
                format!(
                    "is not a readable NetCDF file ({e}); is it complete, and not being written to?"
                )
            });
            Error::input(path, message)
        })?;
        metadata::check_metadata(path, &file)?;
        let most_bytes = metadata::most_bytes(length, &signature);
        let (path, is_hdf5) = (path.to_owned(), metadata::is_hdf5(&signature));
        Ok(Self { path, file, most_bytes, is_hdf5, chunks: OnceLock::new() })
    }

    fn get<T: NcTypeDescriptor + Copy>(
        &self,
        name: &str,
        ranges: &[Range<usize>],
    ) -> Answer<Vec<T>> {
        let variable = self.file.variable(name).ok_or_else(|| format!("no variable {name}"))?;
        let read = variable.get_values(ranges.to_vec());
        read.map_err(|e| self.explained(name, &e))
    }

    /// The message of the library, or a better one.
    fn explained(&self, name: &str, error: &netcdf::Error) -> String {
        let text = error.to_string();
        filters::explained(&self.path, name, &text).unwrap_or(text)
    }

    /// The values of a large variable, inflated on all threads; `None` if its layout does not allow it.
    fn inflated(&self, name: &str, ranges: &[Range<usize>]) -> Option<Vec<f32>> {
        let chunks = self
            .chunks
            .get_or_init(|| self.is_hdf5.then(|| File::open_to_read(&self.path).ok()).flatten());
        inflate::values(chunks.as_ref()?, name, ranges)
    }
}

impl Dataset for NetcdfFile {
    fn names(&self) -> Vec<String> {
        self.file.variables().map(|v| v.name()).collect()
    }

    fn variable(&self, name: &str) -> Option<Variable> {
        let found = self.file.variable(name)?;
        let extents = found.dimensions().iter().map(|d| Extent {
            name: d.name(),
            length: d.len(),
            unlimited: d.is_unlimited(),
        });
        let attributes = found.attributes().map(|attribute| {
            let value = attribute.value().map(types::value).map_err(|e| e.to_string());
            (attribute.name().to_owned(), value)
        });
        Some(Variable {
            name: found.name(),
            kind: types::found(&found.vartype()),
            extents: extents.collect(),
            attributes: attributes.collect(),
        })
    }

    fn groups(&self) -> Answer<Vec<String>> {
        let groups = self.file.groups().map_err(|e| e.to_string())?;
        Ok(groups.map(|group| group.name()).collect())
    }

    fn dimensions(&self) -> Vec<(String, usize)> {
        self.file.dimensions().map(|d| (d.name(), d.len())).collect()
    }

    fn attribute(&self, name: &str) -> Option<Answer<AttributeValue>> {
        let value = self.file.attribute(name)?.value();
        Some(value.map(types::value).map_err(|e| e.to_string()))
    }

    fn digest(&self, except: &str) -> Answer<String> {
        digest(&self.file, except).map_err(|e| e.to_string())
    }

    fn excess(&self, variable: &Variable) -> Option<String> {
        metadata::excess(variable, self.most_bytes)
    }

    fn singles(&self, name: &str, ranges: &[Range<usize>]) -> Answer<Vec<f32>> {
        self.inflated(name, ranges).map_or_else(|| self.get(name, ranges), Ok)
    }

    fn doubles(&self, name: &str, ranges: &[Range<usize>]) -> Answer<Vec<f64>> {
        self.get(name, ranges)
    }

    fn integers(&self, name: &str, ranges: &[Range<usize>]) -> Answer<Vec<i64>> {
        self.get(name, ranges)
    }

    fn naturals(&self, name: &str, ranges: &[Range<usize>]) -> Answer<Vec<u64>> {
        self.get(name, ranges)
    }

    fn characters(&self, name: &str, ranges: &[Range<usize>]) -> Answer<Vec<u8>> {
        let variable = self.file.variable(name).ok_or_else(|| format!("no variable {name}"))?;
        let read = variable.get_raw_values(ranges.to_vec());
        read.map_err(|e| self.explained(name, &e))
    }

    fn strings(&self, name: &str, ranges: &[Range<usize>]) -> Answer<Vec<String>> {
        let variable = self.file.variable(name).ok_or_else(|| format!("no variable {name}"))?;
        let strings = places(ranges).into_iter().map(|place| {
            if place.is_empty() { variable.get_string(..) } else { variable.get_string(place) }
        });
        strings.collect::<netcdf::Result<_>>().map_err(|e| self.explained(name, &e))
    }
}

/// Every index within the ranges, the last dimension fastest.
fn places(ranges: &[Range<usize>]) -> Vec<Vec<usize>> {
    ranges.iter().fold(vec![Vec::new()], |places, range| {
        let longer = |place: &Vec<usize>| {
            let place = place.clone();
            range.clone().map(move |index| [place.as_slice(), &[index]].concat())
        };
        places.iter().flat_map(longer).collect()
    })
}

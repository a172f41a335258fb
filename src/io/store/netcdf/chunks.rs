//! Stored chunks of an HDF5 file, which neither the NetCDF library nor its crate can access.
//!
//! A NetCDF-4 file is an HDF5 file. This module opens such a file, after the NetCDF library has closed it, with the
//! HDF5 library underneath: it extends datasets and stores chunks as given, so that the caller can compress them on all
//! cores. Every call holds the lock that the NetCDF crate uses too.
//!
//! All `unsafe` code for files is here. Memory safety depends on this file only: sizes are compared with those that the
//! library reports before it gets a buffer to read from or to write to.

#![allow(unsafe_code, reason = "the HDF5 library is one of C")]

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use hdf5_sys::LOCK;
use hdf5_sys::h5::{herr_t, hsize_t};
use hdf5_sys::h5d::{
    H5Dclose, H5Dget_chunk_info_by_coord, H5Dget_create_plist, H5Dget_space, H5Dget_type, H5Dopen2,
    H5Dread_chunk, H5Dset_extent, H5Dwrite, H5Dwrite_chunk,
};
use hdf5_sys::h5e::{H5E_DEFAULT, H5Eset_auto2};
use hdf5_sys::h5f::{
    H5F_ACC_RDONLY, H5F_ACC_RDWR, H5F_close_degree_t, H5F_scope_t, H5Fclose, H5Fflush, H5Fopen,
};
use hdf5_sys::h5i::hid_t;
use hdf5_sys::h5p::{
    H5P_CLS_FILE_ACCESS, H5P_DEFAULT, H5Pclose, H5Pcreate, H5Pget_chunk, H5Pget_filter2,
    H5Pget_nfilters, H5Pset_fclose_degree,
};
use hdf5_sys::h5s::{
    H5S_seloper_t, H5Sclose, H5Screate_simple, H5Sget_simple_extent_dims,
    H5Sget_simple_extent_ndims, H5Sselect_hyperslab,
};
use hdf5_sys::h5t::{H5T_NATIVE_FLOAT, H5Tclose, H5Tequal, H5Tget_size};
use hdf5_sys::h5z::{H5Z_FILTER_DEFLATE, H5Z_FILTER_SHUFFLE};

/// Result of a call of the library, with its message.
pub(in crate::io) type Result<T> = std::result::Result<T, String>;

/// Most dimensions of a dataset: NetCDF's variables of WRF have four.
const MOST_DIMENSIONS: usize = 8;

/// A handle that the library has opened, and the function that closes it.
#[derive(Debug)]
struct Handle {
    id: hid_t,
    close: unsafe extern "C" fn(hid_t) -> herr_t,
}

impl Handle {
    /// Takes the handle that a call named `call` has opened.
    fn new(id: hid_t, close: unsafe extern "C" fn(hid_t) -> herr_t, call: &str) -> Result<Self> {
        if id < 0 { Err(refused(call)) } else { Ok(Self { id, close }) }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let _lock = LOCK.lock();
        // SAFETY: the library checks identifiers itself, and this one was opened by it and is still open. Where the
        // result matters, `File::close` reports it.
        unsafe { (self.close)(self.id) };
    }
}

fn refused(call: &str) -> String {
    format!("HDF5 refused {call}")
}

/// Numbers of the filters of a dataset, from its creation property list.
fn filters(form: &Handle) -> Result<Vec<i32>> {
    // SAFETY: the identifier is that of a property list. With lengths of 0 the library returns neither the parameters
    // of the filter nor its name, so these pointers may be null.
    let filter = |n: u32| unsafe {
        let (mut flags, mut parameters) = (0, 0);
        let (flags, parameters) = (&raw mut flags, &raw mut parameters);
        let (values, name, config) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        H5Pget_filter2(form.id, n, flags, parameters, values, 0, name, config)
    };
    // SAFETY: as above.
    let count = unsafe { H5Pget_nfilters(form.id) };
    let count = u32::try_from(count).map_err(|_| refused("H5Pget_nfilters"))?;
    Ok((0..count).map(filter).collect())
}

fn done(code: herr_t, call: &str) -> Result<()> {
    if code < 0 { Err(refused(call)) } else { Ok(()) }
}

/// An HDF5 file.
#[derive(Debug)]
pub(in crate::io) struct File(Handle);

impl File {
    /// Opens an existing file for reading and writing.
    pub(in crate::io) fn open(path: &Path) -> Result<Self> {
        Self::open_as(path, H5F_ACC_RDWR, H5F_close_degree_t::H5F_CLOSE_STRONG)
    }

    /// Opens a file for reading, which the NetCDF library may have open for reading too. The library requires that all
    /// open handles of a file have the same close degree.
    pub(in crate::io) fn open_to_read(path: &Path) -> Result<Self> {
        Self::open_as(path, H5F_ACC_RDONLY, H5F_close_degree_t::H5F_CLOSE_WEAK)
    }

    fn open_as(path: &Path, mode: u32, degree: H5F_close_degree_t) -> Result<Self> {
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|e| e.to_string())?;
        let _lock = LOCK.lock();
        // SAFETY: the library gets no callback, and `name` ends with a zero and lives until the end of the call. The
        // library checks identifiers.
        unsafe {
            H5Eset_auto2(H5E_DEFAULT, None, ptr::null_mut());
            let access = Handle::new(H5Pcreate(*H5P_CLS_FILE_ACCESS), H5Pclose, "H5Pcreate")?;
            done(H5Pset_fclose_degree(access.id, degree), "H5Pset_fclose_degree")?;
            Handle::new(H5Fopen(name.as_ptr(), mode, access.id), H5Fclose, "H5Fopen").map(Self)
        }
    }

    /// A dataset, by its name.
    pub(in crate::io) fn dataset(&self, name: &str) -> Result<Dataset> {
        let text = CString::new(name).map_err(|e| e.to_string())?;
        let _lock = LOCK.lock();
        // SAFETY: as in `open`; the arrays of extents have `MOST_DIMENSIONS` elements, and a dataset with more
        // dimensions is rejected before they are read.
        unsafe {
            let id = H5Dopen2(self.0.id, text.as_ptr(), H5P_DEFAULT);
            let handle = Handle::new(id, H5Dclose, &format!("H5Dopen of {name}"))?;
            let space = Handle::new(H5Dget_space(handle.id), H5Sclose, "H5Dget_space")?;
            let rank = H5Sget_simple_extent_ndims(space.id);
            let Some(rank) = usize::try_from(rank).ok().filter(|rank| *rank <= MOST_DIMENSIONS)
            else {
                return Err(format!("{name} has {rank} dimensions"));
            };
            let mut extents = [0; MOST_DIMENSIONS];
            let found = H5Sget_simple_extent_dims(space.id, extents.as_mut_ptr(), ptr::null_mut());
            done(found, "H5Sget_simple_extent_dims")?;
            let kind = Handle::new(H5Dget_type(handle.id), H5Tclose, "H5Dget_type")?;
            let form =
                Handle::new(H5Dget_create_plist(handle.id), H5Pclose, "H5Dget_create_plist")?;
            let mut chunk = [0; MOST_DIMENSIONS];
            let chunked = H5Pget_chunk(form.id, MOST_DIMENSIONS as i32, chunk.as_mut_ptr());
            let chunk = (chunked >= 0).then(|| chunk[..rank].to_vec());
            let size = H5Tget_size(kind.id);
            let filters = filters(&form)?;
            Ok(Dataset { handle, kind, size, extents: extents[..rank].to_vec(), chunk, filters })
        }
    }

    /// Flushes the file to the system.
    pub(in crate::io) fn flush(&self) -> Result<()> {
        let _lock = LOCK.lock();
        // SAFETY: the identifier is that of an open file.
        done(unsafe { H5Fflush(self.0.id, H5F_scope_t::H5F_SCOPE_GLOBAL) }, "H5Fflush")
    }

    /// Completes the file; its datasets must be dropped before.
    pub(in crate::io) fn close(self) -> Result<()> {
        let _lock = LOCK.lock();
        let flushed = self.flush();
        let id = self.0.id;
        std::mem::forget(self);
        // SAFETY: the identifier is that of an open file, and is forgotten here so that it is closed once.
        let closed = done(unsafe { H5Fclose(id) }, "H5Fclose");
        flushed.and(closed)
    }
}

/// A dataset of an open file.
#[derive(Debug)]
pub(in crate::io) struct Dataset {
    handle: Handle,
    /// The type of its elements, and their size, bytes.
    kind: Handle,
    size: usize,
    extents: Vec<hsize_t>,
    /// Extents of a chunk; `None` without chunks.
    chunk: Option<Vec<hsize_t>>,
    /// Numbers of the filters of the chunks, in order.
    filters: Vec<i32>,
}

impl Dataset {
    /// Extends the first dimension to the requested length, if it is shorter.
    pub(in crate::io) fn extend_to(&mut self, length: usize) -> Result<()> {
        let length = length as hsize_t;
        if self.extents.first().is_none_or(|now| *now >= length) {
            return Ok(());
        }
        self.extents[0] = length;
        let _lock = LOCK.lock();
        // SAFETY: there is an extent for each dimension that the library has reported.
        done(unsafe { H5Dset_extent(self.handle.id, self.extents.as_ptr()) }, "H5Dset_extent")
    }

    /// Writes all elements at one index of the first dimension, in the byte order of this machine.
    pub(in crate::io) fn write(&self, at: usize, bytes: &[u8]) -> Result<()> {
        let mut start = vec![0; self.extents.len()];
        let mut count = self.extents.clone();
        let (Some(first), Some(one)) = (start.first_mut(), count.first_mut()) else {
            return Err("a dataset without dimensions cannot grow".to_owned());
        };
        (*first, *one) = (at as hsize_t, 1);
        let elements: hsize_t = count.iter().product();
        if at as hsize_t >= self.extents[0] || elements as usize * self.size != bytes.len() {
            return Err(format!(
                "{} bytes do not fit index {at} of {:?}",
                bytes.len(),
                self.extents
            ));
        }
        let _lock = LOCK.lock();
        // SAFETY: start and count have an entry for every dimension; the buffer holds exactly the selected elements, in
        // the type of the file.
        unsafe {
            let file = Handle::new(H5Dget_space(self.handle.id), H5Sclose, "H5Dget_space")?;
            let set = H5S_seloper_t::H5S_SELECT_SET;
            let (start, count) = (start.as_ptr(), count.as_ptr());
            let (stride, block) = (ptr::null(), ptr::null());
            let selected = H5Sselect_hyperslab(file.id, set, start, stride, count, block);
            done(selected, "H5Sselect_hyperslab")?;
            let memory = H5Screate_simple(1, &raw const elements, ptr::null());
            let memory = Handle::new(memory, H5Sclose, "H5Screate_simple")?;
            let values = bytes.as_ptr().cast();
            let (dataset, kind) = (self.handle.id, self.kind.id);
            done(H5Dwrite(dataset, kind, memory.id, file.id, H5P_DEFAULT, values), "H5Dwrite")
        }
    }

    /// Stores a chunk that has passed all filters of the dataset; `offset` is the position of its first element.
    pub(in crate::io) fn write_chunk(&self, offset: &[usize], bytes: &[u8]) -> Result<()> {
        let offset: Vec<hsize_t> = offset.iter().map(|x| *x as hsize_t).collect();
        let begins = |chunk: &Vec<hsize_t>| {
            let extents = self.extents.iter().zip(chunk);
            offset.len() == self.extents.len()
                && offset.iter().zip(extents).all(|(at, (n, each))| at < n && at % each == 0)
        };
        if !self.chunk.as_ref().is_some_and(begins) {
            return Err(format!("no chunk begins at {offset:?}"));
        }
        let _lock = LOCK.lock();
        // SAFETY: the offset has an entry for every dimension and is that of a chunk; the library reads the number of
        // bytes that it is given.
        let code = unsafe {
            let (id, values) = (self.handle.id, bytes.as_ptr().cast());
            H5Dwrite_chunk(id, H5P_DEFAULT, 0, offset.as_ptr(), bytes.len(), values)
        };
        done(code, "H5Dwrite_chunk")
    }

    /// Extents.
    pub(in crate::io) fn extents(&self) -> &[hsize_t] {
        &self.extents
    }

    /// Extents of the chunks, and `true` if they are shuffled, if the values are of type float in the byte order of
    /// this machine and the filters are deflate, or shuffle and deflate.
    pub(in crate::io) fn deflated_floats(&self) -> Option<(&[hsize_t], bool)> {
        let is_shuffled = match self.filters[..] {
            [H5Z_FILTER_DEFLATE] => false,
            [H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE] => true,
            _ => return None,
        };
        let _lock = LOCK.lock();
        // SAFETY: both identifiers are those of types.
        let is_float = unsafe { H5Tequal(self.kind.id, *H5T_NATIVE_FLOAT) } > 0;
        Some((self.chunk.as_deref()?, is_shuffled)).filter(|_| is_float)
    }

    /// A stored chunk of at most `most` bytes; `offset` is the position of its first element. A chunk that has not
    /// passed all filters, or was never written, is rejected.
    pub(in crate::io) fn read_chunk(&self, offset: &[hsize_t], most: usize) -> Result<Vec<u8>> {
        if offset.len() != self.extents.len() || self.chunk.is_none() {
            return Err(format!("no chunk begins at {offset:?}"));
        }
        let (mut mask, mut address, mut size) = (0, 0, 0);
        let _lock = LOCK.lock();
        // SAFETY: the offset has an entry for every dimension; the outputs have the types that the library writes.
        let code = unsafe {
            let (mask, address, size) = (&raw mut mask, &raw mut address, &raw mut size);
            H5Dget_chunk_info_by_coord(self.handle.id, offset.as_ptr(), mask, address, size)
        };
        done(code, "H5Dget_chunk_info_by_coord")?;
        let mut length = usize::try_from(size).map_err(|e| e.to_string())?;
        if mask != 0 || length == 0 || length > most {
            return Err(format!("the chunk at {offset:?} has {length} bytes and the mask {mask}"));
        }
        let mut bytes = vec![0_u8; length];
        // SAFETY: the buffer has the number of bytes that the library is given.
        let code = unsafe {
            let (id, values) = (self.handle.id, bytes.as_mut_ptr().cast());
            let (mask, room) = (&raw mut mask, &raw mut length);
            H5Dread_chunk(id, H5P_DEFAULT, offset.as_ptr(), mask, values, room)
        };
        done(code, "H5Dread_chunk")?;
        Ok(bytes)
    }
}

//! Arrays on a GPU, by the CUDA array interface or by DLPack.

use std::ffi::{CStr, c_void};

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::errors::{Failure, Result};
use crate::memory::{Kind, Memory, Place};

/// Kinds of devices of DLPack: memory of the host, of CUDA, and pinned or managed by CUDA.
const HOST: i32 = 1;
const CUDA: i32 = 2;
const MANAGED: i32 = 13;

/// Code of floating-point numbers in DLPack.
const FLOAT: u8 = 2;

/// Name of a capsule of DLPack that nobody has taken.
const TENSOR: &CStr = c"dltensor";

/// DLDevice of DLPack.
#[repr(C)]
#[derive(Clone, Copy)]
struct Device {
    kind: i32,
    _number: i32,
}

/// DLTensor of DLPack, with which a capsule begins.
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: Device,
    axes: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

/// The elements of an array that is not NumPy's. `stream` is that of the call, for producers that wait for it.
pub(crate) fn memory(name: &str, object: &Bound<'_, PyAny>, stream: Option<u64>) -> Result<Memory> {
    if let Some(interface) = attribute(object, "__cuda_array_interface__")? {
        return by_interface(name, &interface);
    }
    if attribute(object, "__dlpack__")?.is_some() {
        return by_dlpack(name, object, stream);
    }
    Err(Failure::Type(format!(
        "{name} is {}; an array is needed: of NumPy, or of a library for GPUs with __cuda_array_interface__ or __dlpack__",
        object.get_type().name()?
    )))
}

/// The stream in which the producer of an array has written it, if it tells.
pub(crate) fn stream_of(object: &Bound<'_, PyAny>) -> Result<Option<u64>> {
    let Some(interface) = attribute(object, "__cuda_array_interface__")? else { return Ok(None) };
    let interface = interface.cast_into::<PyDict>().map_err(PyErr::from)?;
    match interface.get_item("stream")? {
        Some(stream) if !stream.is_none() => Ok(Some(stream.extract()?)),
        _ => Ok(None),
    }
}

/// An attribute; some raise other errors than that it is missing, as of arrays on the host.
fn attribute<'py>(object: &Bound<'py, PyAny>, name: &str) -> Result<Option<Bound<'py, PyAny>>> {
    match object.getattr(name) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_instance_of::<PyAttributeError>(object.py()) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn by_interface(name: &str, interface: &Bound<'_, PyAny>) -> Result<Memory> {
    let item = |key: &str| -> Result<Option<Bound<'_, PyAny>>> {
        let interface = interface.cast::<PyDict>().map_err(PyErr::from)?;
        Ok(interface.get_item(key)?.filter(|item| !item.is_none()))
    };
    let needed = |key: &str| {
        let text = format!("{name}: its __cuda_array_interface__ has no {key}");
        item(key)?.ok_or(Failure::Type(text))
    };
    let typestr: String = needed("typestr")?.extract()?;
    let kind = match &*typestr {
        "<f4" => Kind::F4,
        "<f8" => Kind::F8,
        other => return Err(wrong_type(name, other)),
    };
    if item("mask")?.is_some() {
        return Err(Failure::Type(format!("{name} has a mask; every cell needs a value")));
    }
    let (address, is_read_only): (usize, bool) = needed("data")?.extract()?;
    let shape: Vec<usize> = needed("shape")?.extract()?;
    let strides = match item("strides")? {
        Some(strides) => strides.extract()?,
        None => contiguous(&shape, kind),
    };
    Memory::new(name, (address, kind, Place::Device, !is_read_only), &shape, &strides)
}

fn by_dlpack(name: &str, object: &Bound<'_, PyAny>, stream: Option<u64>) -> Result<Memory> {
    let (kind, _): (i32, i32) = object.call_method0("__dlpack_device__")?.extract()?;
    let arguments = PyDict::new(object.py());
    if kind != HOST {
        // 1 is the default stream there, 0 is not allowed.
        arguments.set_item("stream", stream.filter(|stream| *stream != 0).unwrap_or(1))?;
    }
    let capsule = object.call_method("__dlpack__", (), Some(&arguments))?;
    // The capsule is not taken: it frees its description when it goes, and the object keeps the memory.
    let capsule = capsule.cast_into::<PyCapsule>().map_err(PyErr::from)?;
    let tensor = capsule.pointer_checked(Some(TENSOR))?.cast::<Tensor>();
    // SAFETY: a capsule of this name holds a structure that begins with a DLTensor.
    let tensor = unsafe { tensor.as_ref() };
    let place = match tensor.device.kind {
        HOST => Place::Host,
        CUDA | MANAGED => Place::Device,
        other => {
            return Err(Failure::Type(format!(
                "{name} is on a device of kind {other} of DLPack; the host (1) or CUDA (2) is needed"
            )));
        }
    };
    let kind = match (tensor.code, tensor.bits, tensor.lanes) {
        (FLOAT, 32, 1) => Kind::F4,
        (FLOAT, 64, 1) => Kind::F8,
        (code, bits, lanes) => {
            return Err(wrong_type(
                name,
                &format!("DLPack type {code} of {bits} bits, {lanes} lanes"),
            ));
        }
    };
    let axes = usize::try_from(tensor.axes).unwrap_or_default();
    // SAFETY: DLPack has a length for every axis, and a stride unless the elements are contiguous.
    let [shape, strides] = unsafe {
        [tensor.shape, tensor.strides].map(|numbers| {
            if numbers.is_null() { &[][..] } else { std::slice::from_raw_parts(numbers, axes) }
        })
    };
    let shape: Vec<usize> = shape.iter().map(|length| *length as usize).collect();
    let strides = if strides.is_empty() {
        contiguous(&shape, kind)
    } else {
        strides.iter().map(|stride| *stride as isize * kind.bytes() as isize).collect()
    };
    let address = tensor.data as usize + tensor.byte_offset as usize;
    Memory::new(name, (address, kind, place, true), &shape, &strides)
}

/// Strides of contiguous elements, bytes.
fn contiguous(shape: &[usize], kind: Kind) -> Vec<isize> {
    let mut strides = vec![0; shape.len()];
    let mut bytes = kind.bytes() as isize;
    for (stride, length) in strides.iter_mut().zip(shape).rev() {
        *stride = bytes;
        bytes *= *length as isize;
    }
    strides
}

fn wrong_type(name: &str, found: &str) -> Failure {
    Failure::Type(format!(
        "{name} is an array of {found}; float32 or float64 is needed, and nothing is converted"
    ))
}

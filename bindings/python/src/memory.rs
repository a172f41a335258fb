//! Arrays of Python: where their elements are, in memory of the host.

use ndarray::{ArrayView3, ArrayViewMut2, ArrayViewMut3};
use numpy::{PyUntypedArray, PyUntypedArrayMethods, dtype, npyffi};
use nwp_mini_host::strided::{self, Side, check_distinct};
use pyo3::prelude::*;

use crate::device;
use crate::errors::{Failure, Result};

/// Most axes of an array.
pub(crate) const AXES: usize = 3;

/// Type of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    F4,
    F8,
}

impl Kind {
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::F4 => 4,
            Self::F8 => 8,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::F4 => "float32",
            Self::F8 => "float64",
        }
    }
}

/// The memory that holds an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Host,
    Device,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Self::Host => "in memory of the host",
            Self::Device => "on a GPU",
        }
    }
}

/// The elements of an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// Address of the first element.
    pub(crate) address: usize,
    pub(crate) kind: Kind,
    pub(crate) place: Place,
    pub(crate) is_writable: bool,
    axes: usize,
    /// Length of each axis, and elements from neighbour to neighbour.
    sides: [Side; AXES],
}

impl Memory {
    /// Elements from their address, lengths, and strides in bytes.
    pub(crate) fn new(
        name: &str,
        (address, kind, place, is_writable): (usize, Kind, Place, bool),
        shape: &[usize],
        strides: &[isize],
    ) -> Result<Self> {
        let axes = shape.len();
        if axes > AXES || axes != strides.len() {
            return Err(Failure::Value(format!(
                "{name} has {axes} axes; a field has those of levels, rows and columns, a plane those of rows and columns"
            )));
        }
        let mut sides = [(1, 0); AXES];
        for ((side, length), stride) in sides.iter_mut().zip(shape).zip(strides) {
            if *length > 1 && stride % kind.bytes() as isize != 0 {
                return Err(Failure::Value(format!(
                    "{name} has elements {stride} bytes apart, no multiple of {}; copy it by numpy.ascontiguousarray",
                    kind.bytes()
                )));
            }
            *side = (*length, *stride as i64 / kind.bytes() as i64);
        }
        if !address.is_multiple_of(kind.bytes()) {
            return Err(Failure::Value(format!(
                "{name} is not aligned in memory; copy it by numpy.array"
            )));
        }
        Ok(Self { address, kind, place, is_writable, axes, sides })
    }

    /// The elements of an object: an array of NumPy, or of a library for a GPU.
    pub(crate) fn of(name: &str, object: &Bound<'_, PyAny>, stream: Option<u64>) -> Result<Self> {
        match object.cast::<PyUntypedArray>() {
            Ok(array) => of_numpy(name, array),
            Err(_) => device::memory(name, object, stream),
        }
    }

    /// Lengths of the axes.
    pub(crate) fn sides(&self) -> &[Side] {
        &self.sides[..self.axes]
    }

    fn shape(&self) -> String {
        let lengths: Vec<String> =
            self.sides().iter().map(|(length, _)| length.to_string()).collect();
        format!("({})", lengths.join(", "))
    }

    /// The first byte, and that behind the last one; none without elements.
    fn range(&self) -> Option<[usize; 2]> {
        let (mut low, mut high) = (0_i64, 1_i64);
        for (length, stride) in self.sides() {
            let reach = (i64::try_from(*length).ok()? - 1) * stride;
            if *length == 0 {
                return None;
            }
            if reach < 0 { low += reach } else { high += reach }
        }
        let at = |elements: i64| {
            self.address.wrapping_add_signed(elements as isize * self.kind.bytes() as isize)
        };
        Some([at(low), at(high)])
    }

    /// True if the arrays may have bytes in common.
    fn may_overlap(&self, other: &Self) -> bool {
        match (self.range(), other.range()) {
            (Some([a, b]), Some([c, d])) => a < d && c < b,
            _ => false,
        }
    }

    /// The field as a view for writing.
    ///
    /// # Safety
    ///
    /// The array lives as long as the view, nobody else reads or writes it meanwhile, and its type is `R`.
    pub(crate) unsafe fn field_mut<'a, R>(&self, order: &Order) -> ArrayViewMut3<'a, R> {
        // SAFETY: promised by the caller; cells of fields that are written were found to be different elements.
        unsafe { strided::volume(self.address as *mut R, &order.field(self)).deref_into_view_mut() }
    }

    /// The field as a view for reading.
    ///
    /// # Safety
    ///
    /// As [`Memory::field_mut`], without changes while the view lives.
    pub(crate) unsafe fn field<'a, R>(&self, order: &Order) -> ArrayView3<'a, R> {
        // SAFETY: promised by the caller.
        unsafe { strided::volume(self.address as *mut R, &order.field(self)).deref_into_view() }
    }

    /// The plane as a view for writing.
    ///
    /// # Safety
    ///
    /// As [`Memory::field_mut`].
    pub(crate) unsafe fn plane_mut<'a, R>(&self, order: &Order) -> ArrayViewMut2<'a, R> {
        // SAFETY: as above.
        unsafe { strided::plane(self.address as *mut R, &order.plane(self)).deref_into_view_mut() }
    }
}

fn of_numpy(name: &str, array: &Bound<'_, PyUntypedArray>) -> Result<Memory> {
    let py = array.py();
    let found = array.dtype();
    let kind = if same(&found, &dtype::<f32>(py)) {
        Kind::F4
    } else if same(&found, &dtype::<f64>(py)) {
        Kind::F8
    } else {
        return Err(Failure::Type(format!(
            "{name} is an array of {}; float32 or float64 of this machine is needed, and nothing is converted: use \
             {name}.astype('f4') or ('f8')",
            found.str()?
        )));
    };
    if !array.is_exact_instance_of::<PyUntypedArray>() && array.hasattr("mask")? {
        return Err(Failure::Type(format!(
            "{name} is a masked array; every cell needs a value: use {name}.filled(...)"
        )));
    }
    // SAFETY: an array of NumPy, whose description stays during the call.
    let (data, flags) = unsafe {
        let array = array.as_array_ptr();
        ((*array).fields.data, (*array).fields.flags)
    };
    let is_writable = flags & npyffi::NPY_ARRAY_WRITEABLE != 0;
    let about = (data as usize, kind, Place::Host, is_writable);
    Memory::new(name, about, array.shape(), array.strides())
}

fn same(found: &Bound<'_, numpy::PyArrayDescr>, wanted: &Bound<'_, numpy::PyArrayDescr>) -> bool {
    numpy::PyArrayDescrMethods::is_equiv_to(found, wanted)
}

/// Order of the axes: the places of levels, rows and columns among them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order([usize; AXES]);

impl Order {
    /// From the letters k (levels), j (rows) and i (columns of a row), the slowest first in C's order.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let at = |letter: char| text.find(letter);
        match (text.len(), at('k'), at('j'), at('i')) {
            (AXES, Some(k), Some(j), Some(i)) => Ok(Self([k, j, i])),
            _ => Err(Failure::Value(format!(
                "order={text:?}: the letters k (levels), j (rows) and i (columns of a row) are needed, each once, as in \
                 order='kji'"
            ))),
        }
    }

    /// Lengths and strides of levels, rows and columns.
    pub(crate) fn field(&self, memory: &Memory) -> [Side; 3] {
        self.0.map(|axis| memory.sides[axis])
    }

    /// Lengths and strides of rows and columns in a plane, which has the order of a field without its levels.
    pub(crate) fn plane(&self, memory: &Memory) -> [Side; 2] {
        let [k, j, i] = self.0;
        [j, i].map(|axis| memory.sides[axis - usize::from(axis > k)])
    }
}

/// An array of a call, with its name, the object, and its role.
pub(crate) struct Argument<'a, 'py> {
    pub(crate) name: &'static str,
    pub(crate) object: &'a Bound<'py, PyAny>,
    pub(crate) memory: Memory,
    pub(crate) is_changed: bool,
    pub(crate) is_plane: bool,
}

/// Fails unless all arrays of a call fit together: fields of one shape and type in one place, planes of their rows and
/// columns, and none that is changed shares memory with another.
pub(crate) fn check_arguments(arguments: &[Argument<'_, '_>], order: &Order) -> Result<()> {
    let Some(first) = arguments.first() else { return Ok(()) };
    for argument in arguments {
        check_beside(first, argument, order)?;
        let Argument { name, memory, is_changed, .. } = argument;
        if *is_changed && !memory.is_writable {
            return Err(Failure::Value(format!(
                "{name} is read-only, and the call changes it; give an array that can be written"
            )));
        }
        if *is_changed {
            let sides = &memory.sides;
            check_distinct(sides, ["axis 0", "axis 1", "axis 2"], memory.kind.bytes())
                .map_err(|text| Failure::Value(format!("{name}: the stride of {text}")))?;
        }
    }
    for (at, one) in arguments.iter().enumerate() {
        for other in &arguments[..at] {
            if (one.is_changed || other.is_changed)
                && one.memory.may_overlap(&other.memory)
                && shares_memory(one, other)?
            {
                return Err(Failure::Value(format!(
                    "{} and {} share memory; each needs its own",
                    other.name, one.name
                )));
            }
        }
    }
    Ok(())
}

/// Fails unless a field has a shape of (levels, rows, columns).
pub(crate) fn check_argument(
    name: &str,
    memory: &Memory,
    order: &Order,
    (nk, nj, ni): (usize, usize, usize),
) -> Result<()> {
    let found = order.field(memory).map(|(length, _)| length);
    if memory.axes == AXES && found == [nk, nj, ni] {
        return Ok(());
    }
    Err(Failure::Value(format!(
        "{name} has the shape {}; ({nk}, {nj}, {ni}) is needed on this grid",
        memory.shape()
    )))
}

fn check_beside(
    first: &Argument<'_, '_>,
    Argument { name, memory, is_plane, .. }: &Argument<'_, '_>,
    order: &Order,
) -> Result<()> {
    let (axes, needed) = (memory.axes, if *is_plane { AXES - 1 } else { AXES });
    if axes != needed {
        let kind = if *is_plane { "a plane at the ground" } else { "a field" };
        return Err(Failure::Value(format!(
            "{name} has {axes} axes, {}; {kind} has {needed}, any of which may have length 1",
            memory.shape()
        )));
    }
    let beside = &first.memory;
    if memory.kind != beside.kind {
        return Err(Failure::Type(format!(
            "{name} is {}, {} {}; all arrays of a call have one type, and none is converted",
            memory.kind.name(),
            first.name,
            beside.kind.name()
        )));
    }
    if memory.place != beside.place {
        return Err(Failure::Type(format!(
            "{name} is {}, {} {}; all arrays of a call are in one place",
            memory.place.name(),
            first.name,
            beside.place.name()
        )));
    }
    let lengths = |sides: &[Side]| sides.iter().map(|(length, _)| *length).collect::<Vec<_>>();
    let fits = if *is_plane {
        let [_, j, i] = order.field(beside);
        let [own_j, own_i] = order.plane(memory);
        (own_j.0, own_i.0) == (j.0, i.0)
    } else {
        lengths(memory.sides()) == lengths(beside.sides())
    };
    if !fits {
        let rule = if *is_plane {
            "a plane has its rows and columns"
        } else {
            "all fields have one shape"
        };
        return Err(Failure::Value(format!(
            "{name} has the shape {}, {} {}; {rule}",
            memory.shape(),
            first.name,
            beside.shape()
        )));
    }
    Ok(())
}

/// True if two arrays whose extents overlap have an element in common.
fn shares_memory(one: &Argument<'_, '_>, other: &Argument<'_, '_>) -> Result<bool> {
    if one.memory.place == Place::Device {
        return Ok(one.memory.address == other.memory.address);
    }
    if [one, other].iter().any(|argument| !argument.object.is_instance_of::<PyUntypedArray>()) {
        return Ok(true);
    }
    let numpy = one.object.py().import("numpy")?;
    Ok(numpy.call_method1("shares_memory", (one.object, other.object))?.extract()?)
}

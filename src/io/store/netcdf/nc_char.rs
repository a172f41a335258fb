//! NetCDF's character type, the type of WRF's time stamps.
//!
//! # Decisions
//!
//! **One `unsafe impl` outside the device layer and the launchers.** WRF's `Times` is of type `NC_CHAR`, which the
//! netcdf crate writes only for a type that implements its unsafe trait `NcTypeDescriptor`. The implementation names
//! the type and contains no code that could go wrong.

use netcdf::types::{NcTypeDescriptor, NcVariableType};

/// One byte of text.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct NcChar(#[allow(dead_code, reason = "read by the NetCDF library only")] u8);

impl NcChar {
    /// The bytes of a text.
    pub fn of<T: AsRef<[u8]> + ?Sized>(text: &T) -> Vec<Self> {
        text.as_ref().iter().copied().map(Self).collect()
    }
}

// SAFETY: NC_CHAR is one byte without further meaning, and so is this type by its representation.
#[allow(unsafe_code, reason = "the NetCDF crate has no character type of its own")]
unsafe impl NcTypeDescriptor for NcChar {
    fn type_descriptor() -> NcVariableType {
        NcVariableType::Char
    }
}

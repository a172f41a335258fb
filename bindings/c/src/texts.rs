//! Texts of C that live with their handle.

use std::ffi::{CStr, CString, c_char};

use nwp_mini::error::Result;

use crate::call::refused;

/// Texts of descriptions, whose places do not change.
#[derive(Debug, Default)]
pub(crate) struct Texts(Vec<CString>);

impl Texts {
    /// A text of C, without zeros in it.
    pub(crate) fn keep(&mut self, text: &str) -> *const c_char {
        let text = CString::new(text.replace('\0', " ")).expect("no zero is left");
        // The characters are on the heap: they stay when the list grows.
        let place = text.as_ptr();
        self.0.push(text);
        place
    }
}

/// A text that a caller hands over.
///
/// # Safety
///
/// It ends in zero, and stays as long as the result.
pub(crate) unsafe fn from_caller<'a>(text: *const c_char, name: &str) -> Result<&'a str> {
    if text.is_null() {
        return Err(refused(format!("{name} is NULL; a text is needed")));
    }
    // SAFETY: as promised by the caller.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str()
        .map_err(|_| refused(format!("{name} is not in UTF-8: {}", text.to_string_lossy())))
}

//! The text of the last error of a thread, in a fixed place: no caller frees it, and none holds a freed one.

use std::cell::UnsafeCell;
use std::ffi::c_char;

/// Bytes of a text with its end.
const BYTES: usize = 4096;

thread_local! {
    static TEXT: UnsafeCell<[u8; BYTES]> = const { UnsafeCell::new([0; BYTES]) };
}

/// The text, ended by zero.
pub(crate) fn text() -> *const c_char {
    TEXT.with(|text| text.get().cast_const().cast())
}

/// Replaces the text; what does not fit is left out.
pub(crate) fn set(message: &str) {
    let most = message.len().min(BYTES - 1);
    let end = (0..=most).rev().find(|end| message.is_char_boundary(*end)).unwrap_or(0);
    // Zero is no part of a text of C.
    let bytes = message.as_bytes()[..end].iter().map(|byte| if *byte == 0 { b' ' } else { *byte });
    TEXT.with(|text| {
        // SAFETY: the place is this thread's own, and no reference to it is held.
        let text = unsafe { &mut *text.get() };
        text.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
        text[end] = 0;
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    fn shown() -> String {
        // SAFETY: the text ends in zero and is this thread's own.
        unsafe { CStr::from_ptr(text()) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn long_texts_end_between_characters() {
        set("short");
        assert_eq!(shown(), "short");
        set(&"θ".repeat(BYTES));
        assert_eq!(shown(), "θ".repeat((BYTES - 1) / 2));
        set("a\0b");
        assert_eq!(shown(), "a b");
        let other = std::thread::spawn(shown).join().unwrap();
        assert_eq!(other, "");
    }
}

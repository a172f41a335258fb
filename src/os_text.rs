//! Text of paths and arguments, which are bytes to the system, for messages and attributes.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::Serializer;

/// Text of a name that may contain bytes that are not UTF-8.
///
/// A UTF-8 name is its own text. In any other name each byte outside UTF-8 becomes `\xEF` and a backslash becomes `\\`,
/// so that different names have different texts.
pub fn escaped(name: &OsStr) -> Cow<'_, str> {
    if let Some(text) = name.to_str() {
        return Cow::Borrowed(text);
    }
    let mut text = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', "\\\\"));
        for byte in chunk.invalid() {
            write!(text, "\\x{byte:02X}").expect("writing to memory");
        }
    }
    Cow::Owned(text)
}

/// Message of an error in the text of a TOML file, in one line, with the line of the error.
pub(crate) fn toml_message(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().map_or("", |span| &text[..span.start]);
    let line = before.matches('\n').count() + 1;
    format!("line {line}: {}", error.message().trim().replace('\n', "; "))
}

/// The arguments of this process with the name of the program, separated by spaces.
pub fn command_line() -> String {
    let arguments: Vec<_> = std::env::args_os().collect();
    arguments.iter().map(|argument| escaped(argument)).collect::<Vec<_>>().join(" ")
}

/// Serializes a path by [`escaped`]; serde itself refuses paths that are not UTF-8.
///
/// # Errors
///
/// Those of the serializer.
pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.shown())
}

/// As [`serialize`], for a path that may be missing.
///
/// # Errors
///
/// Those of the serializer.
pub fn serialize_option<S: Serializer>(
    path: &Option<PathBuf>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => serialize(path, serializer),
        None => serializer.serialize_none(),
    }
}

/// Names of files as text.
pub trait Shown {
    /// The whole path, by [`escaped`].
    fn shown(&self) -> Cow<'_, str>;

    /// The last component of the path, by [`escaped`]; empty if there is none.
    fn shown_name(&self) -> Cow<'_, str>;
}

impl Shown for Path {
    fn shown(&self) -> Cow<'_, str> {
        escaped(self.as_os_str())
    }

    fn shown_name(&self) -> Cow<'_, str> {
        self.file_name().map_or(Cow::Borrowed(""), escaped)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn names_of_other_bytes_are_told_apart() {
        let text = |bytes: &'static [u8]| escaped(OsStr::from_bytes(bytes)).into_owned();
        assert_eq!(text(b"na\xefve.nc"), r"na\xEFve.nc");
        assert_eq!(text("naïve.nc".as_bytes()), "naïve.nc");
        // A backslash is not changed if nothing is escaped.
        assert_eq!(text(br"a\b.nc"), r"a\b.nc");
        assert_eq!(text(b"a\\x\xff\xfe"), r"a\\x\xFF\xFE");
        let path = Path::new(OsStr::from_bytes(b"dir\xff/na\xefve.nc"));
        assert_eq!(path.shown(), r"dir\xFF/na\xEFve.nc");
        assert_eq!(path.shown_name(), r"na\xEFve.nc");
        assert_eq!(Path::new("/").shown_name(), "");
    }
}

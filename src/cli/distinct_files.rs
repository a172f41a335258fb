//! The files of a command are distinct.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::io::store::destination::is_same;

/// Fails if two of the files that a command writes are the same, or one of them is also read. `written`: options with
/// their files; `read`: what a file is, as in "the input file", and the file.
pub(super) fn refuse_one_file_twice(
    written: &[(&str, Option<&PathBuf>)],
    read: &[(&str, &PathBuf)],
) -> Result<()> {
    let refuse = |option: &str, what: &str| {
        Err(Error::Usage(format!("{option} is {what}; choose another name")))
    };
    for (n, (option, path)) in written.iter().enumerate() {
        let Some(path) = path else { continue };
        if let Some((what, _)) = read.iter().find(|(_, other)| is_same(path, other)) {
            return refuse(option, what);
        }
        let mut before = written[..n].iter();
        match before.find(|(_, other)| other.is_some_and(|other| is_same(path, other))) {
            Some(("--output", _)) => return refuse(option, "the output file"),
            Some((other, _)) => return refuse(option, &format!("the file of {other}")),
            None => {}
        }
    }
    Ok(())
}

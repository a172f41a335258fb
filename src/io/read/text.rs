//! Text files: configurations, tolerances, stations, records.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, Result};

/// Length of the longest file that is read, bytes.
const LONGEST: u64 = 64 << 20;

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<String> {
    if path.is_dir() {
        return Err(Error::input(path, "is a folder; a file of text is needed"));
    }
    let mut bytes = Vec::new();
    let mut file = File::open(path).map_err(|e| Error::cannot_read(path, &e))?;
    let all = file.by_ref().take(LONGEST + 1).read_to_end(&mut bytes);
    all.map_err(|e| Error::cannot_read(path, &e))?;
    if bytes.len() as u64 > LONGEST {
        let message = format!("has more than {LONGEST} bytes; a file of text is needed");
        return Err(Error::input(path, message));
    }
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let line = String::from_utf8_lossy(&e.as_bytes()[..at]).matches('\n').count() + 1;
        Error::input(path, format!("line {line} is not text (UTF-8); save the file as UTF-8"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.toml");
        std::fs::write(&path, b"a = 1\nb = \"\xff\"\n").expect("a file");
        let told = |path: &Path| read(path).expect_err("no text").to_string();
        assert!(told(&path).contains("run.toml: line 2 is not text"), "{}", told(&path));
        let near = told(&folder.path().join("rnu.toml"));
        assert!(
            near.contains("cannot read") && near.contains("the nearest existing name is run.toml"),
            "{near}"
        );
        let far = told(&folder.path().join("storm.csv"));
        assert!(far.contains("No such file") && !far.contains("nearest"), "{far}");
        assert!(told(folder.path()).contains("is a folder"));
        #[cfg(unix)]
        assert!(told(Path::new("/dev/zero")).contains("more than"));
    }
}

//! Checks of the headers of classic NetCDF files (CDF-1, CDF-2, CDF-5) before the library reads them. The library
//! trusts their counts, allocates accordingly, and takes zeros for a part that is cut off.
//!
//! Source: the NetCDF user's guide, appendix "File format specifications".

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

/// Number of records that means "not counted" (streaming).
const STREAMING: u64 = u32::MAX as u64;

/// Alignment of lists, names and values, bytes.
const WORD: u64 = 4;

/// Longest name that the library supports, bytes (`NC_MAX_NAME`).
const LONGEST_NAME: u64 = 256;

/// Bytes of a value of each type, from 1 on, and number of the types that versions before CDF-5 have.
const WIDTHS: [u64; 11] = [1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8];
const OLD_TYPES: usize = 6;

/// Tags of the lists of dimensions, of variables and of attributes.
const TAGS: [(u64, &str); 3] = [(0x0a, "dimensions"), (0x0b, "variables"), (0x0c, "attributes")];

/// Result of a check: a fault, as a clause that follows the name of the file.
type Checked<T> = Result<T, String>;

/// Fails if the header of a classic file contradicts itself or the length of the file; accepts files of other formats.
pub(in crate::io) fn check(file: File, length: u64) -> Checked<()> {
    let mut header = Header { file: BufReader::new(file), at: 0, length, version: 0 };
    let mut magic = [0; 4];
    if length < 4 || header.take(&mut magic).is_err() || &magic[..3] != b"CDF" {
        return Ok(());
    }
    header.version = magic[3];
    match header.version {
        1 | 2 | 5 => header.check(),
        other => Err(format!("has the NetCDF version {other}; supported are 1, 2 and 5")),
    }
}

struct Header {
    file: BufReader<File>,
    /// Bytes read so far.
    at: u64,
    /// Length of the file, bytes.
    length: u64,
    version: u8,
}

/// A variable in the header.
struct Variable {
    name: String,
    is_record: bool,
    /// Bytes of its values, or of the values of one record.
    size: u64,
    /// Bytes of a value.
    width: u64,
    begin: u64,
}

impl Header {
    fn check(&mut self) -> Checked<()> {
        let records = self.count()?;
        let mut lengths = Vec::new();
        for _ in 0..self.list(0, 1)? {
            self.name()?;
            lengths.push(self.count()?);
        }
        self.attributes()?;
        let count = self.list(1, 4)?;
        let variables: Vec<Variable> =
            (0..count).map(|_| self.variable(&lengths)).collect::<Checked<_>>()?;
        self.check_extent(&variables, records)
    }

    /// Fails if the values of a variable lie beyond the end of the file.
    fn check_extent(&self, variables: &[Variable], records: u64) -> Checked<()> {
        let of_records: Vec<&Variable> = variables.iter().filter(|v| v.is_record).collect();
        let padded = |v: &Variable| v.size.checked_next_multiple_of(WORD).unwrap_or(u64::MAX);
        // A single record variable of a type shorter than four bytes is stored without padding.
        let record = match of_records[..] {
            [one] if one.width < WORD => one.size,
            _ => of_records.iter().map(|v| padded(v)).fold(0, u64::saturating_add),
        };
        for variable in variables {
            let before = match (variable.is_record, records) {
                (false, _) => 0,
                (true, 0 | STREAMING) => continue,
                (true, records) => (records - 1).saturating_mul(record),
            };
            let end = variable.begin.saturating_add(before).saturating_add(variable.size);
            if end > self.length {
                return Err(format!(
                    "is truncated or damaged: variable {} ends at byte {end}, and the file has \
                     {}; copy or create it again",
                    variable.name, self.length
                ));
            }
        }
        Ok(())
    }

    fn variable(&mut self, lengths: &[u64]) -> Checked<Variable> {
        let name = self.name()?;
        let (mut count, mut is_record) = (1_u64, false);
        let width = if self.version == 5 { 8 } else { 4 };
        let rank = self.count()?;
        for axis in 0..self.fits(rank, width, "dimensions")? {
            let number = self.count()?;
            let length = usize::try_from(number).ok().and_then(|number| lengths.get(number));
            let Some(&length) = length else {
                return Err(self.damaged(&format!("variable {name} has a dimension {number}")));
            };
            // Only the first dimension can be unlimited, written as 0.
            if axis == 0 && length == 0 {
                is_record = true;
            } else {
                count = count.saturating_mul(length);
            }
        }
        self.attributes()?;
        let width = self.width()?;
        self.count()?;
        let begin = if self.version == 1 { self.word()? } else { self.long()? };
        Ok(Variable { name, is_record, size: count.saturating_mul(width), width, begin })
    }

    fn attributes(&mut self) -> Checked<()> {
        for _ in 0..self.list(2, 3)? {
            let name = self.name()?;
            let width = self.width()?;
            let count = self.count()?;
            let bytes = self.fits(count, width, &format!("values of attribute {name}"))? * width;
            self.pass(bytes)?;
        }
        Ok(())
    }

    /// Number of elements of a list, each of at least `words` words.
    fn list(&mut self, kind: usize, words: u64) -> Checked<u64> {
        let (tag, what) = TAGS[kind];
        let (found, count) = (self.word()?, self.count()?);
        if found != tag && (found, count) != (0, 0) {
            return Err(
                self.damaged(&format!("{found} stands where the list of {what} should begin"))
            );
        }
        self.fits(count, words * WORD, what)
    }

    /// A count of items of `size` bytes that fit into the rest of the file.
    fn fits(&self, count: u64, bytes: u64, what: &str) -> Checked<u64> {
        let rest = self.length.saturating_sub(self.at);
        if count.saturating_mul(bytes) <= rest {
            return Ok(count);
        }
        Err(self.damaged(&format!("it counts {count} {what}, and {rest} bytes are left")))
    }

    fn name(&mut self) -> Checked<String> {
        let count = self.count()?;
        if count == 0 || count > LONGEST_NAME {
            return Err(self.damaged(&format!("a name has {count} bytes")));
        }
        let mut bytes = vec![0; self.fits(count, 1, "bytes of a name")? as usize];
        self.take(&mut bytes)?;
        self.pass(bytes.len().next_multiple_of(WORD as usize) as u64 - bytes.len() as u64)?;
        String::from_utf8(bytes).map_err(|e| {
            let name = String::from_utf8_lossy(e.as_bytes()).into_owned();
            self.damaged(&format!("the name {name:?} is not text"))
        })
    }

    /// Bytes of a value of the type that is read next.
    fn width(&mut self) -> Checked<u64> {
        let number = self.word()?;
        let types = if self.version == 5 { &WIDTHS[..] } else { &WIDTHS[..OLD_TYPES] };
        let width = usize::try_from(number).ok().and_then(|n| types.get(n.checked_sub(1)?));
        width.copied().ok_or_else(|| self.damaged(&format!("{number} is no type")))
    }

    fn count(&mut self) -> Checked<u64> {
        if self.version == 5 { self.long() } else { self.word() }
    }

    fn word(&mut self) -> Checked<u64> {
        let mut bytes = [0; 4];
        self.take(&mut bytes)?;
        Ok(u32::from_be_bytes(bytes).into())
    }

    fn long(&mut self) -> Checked<u64> {
        let mut bytes = [0; 8];
        self.take(&mut bytes)?;
        Ok(u64::from_be_bytes(bytes))
    }

    fn take(&mut self, bytes: &mut [u8]) -> Checked<()> {
        self.file.read_exact(bytes).map_err(|_| self.damaged("the file ends there"))?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Skips values and the padding after them.
    fn pass(&mut self, bytes: u64) -> Checked<()> {
        let end = self.at.saturating_add(bytes).next_multiple_of(WORD);
        if end > self.length {
            return Err(self.damaged("the file ends there"));
        }
        self.file.seek(SeekFrom::Start(end)).map_err(|e| self.damaged(&e.to_string()))?;
        self.at = end;
        Ok(())
    }

    fn damaged(&self, why: &str) -> String {
        format!(
            "is truncated or damaged: its header is invalid at byte {} ({why}); copy or create it \
             again",
            self.at
        )
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn words(version: u8, words: &[u32]) -> Vec<u8> {
        let magic = [b'C', b'D', b'F', version];
        magic.into_iter().chain(words.iter().flat_map(|word| word.to_be_bytes())).collect()
    }

    /// No records; a dimension `x` of 3, an attribute, and a variable of float at byte 96.
    fn good() -> Vec<u32> {
        let name = |name: &[u8; 4]| u32::from_be_bytes(*name);
        [
            [0, 0x0a, 1, 1, name(b"x\0\0\0"), 3].as_slice(),
            &[0x0c, 1, 1, name(b"a\0\0\0"), 2, 4, name(b"text")],
            &[0x0b, 1, 1, name(b"v\0\0\0"), 1, 0, 0, 0, 5, 12, 96],
            &[1, 2, 3],
        ]
        .concat()
    }

    fn checked(bytes: &[u8]) -> Checked<()> {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("room");
        file.rewind().expect("the beginning");
        check(file, bytes.len() as u64)
    }

    #[test]
    fn good_headers_pass() {
        let mut good = good();
        // The values begin at the end of the header.
        let end = 4 + 4 * (good.len() as u32 - 3);
        let begin = good.len() - 4;
        good[begin] = end;
        assert_eq!(checked(&words(1, &good)), Ok(()));
        assert_eq!(checked(b"\x89HDF\r\n\x1a\n"), Ok(()));
        assert_eq!(checked(b"CD"), Ok(()));
        // Truncated at any byte, it is rejected.
        let whole = words(1, &good);
        for length in 4..whole.len() {
            let why = checked(&whole[..length]).expect_err("a cut file");
            assert!(why.contains("is truncated or damaged"), "{why}");
        }
    }

    #[test]
    fn headers_that_make_no_sense_are_told() {
        let broken = |at: usize, word: u32, said: &str| {
            let mut words_of = good();
            words_of[at] = word;
            let why = checked(&words(1, &words_of)).expect_err("a broken file");
            assert!(why.contains(said), "{said:?} is not in {why:?}");
        };
        broken(1, 7, "7 stands where the list of dimensions should begin");
        broken(2, u32::MAX, "it counts 4294967295 dimensions");
        broken(3, 300, "a name has 300 bytes");
        broken(4, 0xff00_0000, "is not text");
        broken(5, u32::MAX, "variable v ends at byte");
        broken(11, 1 << 28, "it counts 268435456 values of attribute a");
        broken(10, 77, "77 is no type");
        broken(18, 9, "variable v has a dimension 9");
        assert!(checked(&words(3, &good())).expect_err("no version").contains("version 3"));
    }
}

//! Numbers of elements as values of options.

use std::fmt;
use std::str::FromStr;

/// Suffixes, and the power of two that each multiplies by.
const SUFFIXES: [(&str, u32); 3] = [("Ki", 10), ("Mi", 20), ("Gi", 30)];

/// A number of elements, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Elements(pub(super) usize);

impl FromStr for Elements {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let suffix =
            SUFFIXES.iter().find_map(|(suffix, power)| Some((text.strip_suffix(suffix)?, *power)));
        let (digits, power) = suffix.unwrap_or((text, 0));
        let number: Option<usize> = digits.parse().ok().filter(|number| *number > 0);
        number.and_then(|number| number.checked_mul(1 << power)).map(Self).ok_or_else(|| {
            format!(
                "\"{text}\" is not a number of elements; expected 1 or more, as 1000, 64Ki or 4Mi"
            )
        })
    }
}

impl fmt::Display for Elements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shortest = SUFFIXES.iter().rev().find(|(_, power)| self.0.is_multiple_of(1 << power));
        match shortest {
            Some((suffix, power)) => write!(f, "{}{suffix}", self.0 >> power),
            None => write!(f, "{}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_written() {
        for (text, number) in [("1", 1), ("1000", 1000), ("64Ki", 1 << 16), ("3Gi", 3 << 30)] {
            let read: Elements = text.parse().unwrap();
            assert_eq!((read.0, read.to_string().as_str()), (number, text));
        }
        assert_eq!(Elements(4096).to_string(), "4Ki");
        for text in ["", "0", "-1", "Ki", "1.5Mi", "4M", "99999999999Gi"] {
            assert!(text.parse::<Elements>().unwrap_err().contains(text), "{text}");
        }
    }
}

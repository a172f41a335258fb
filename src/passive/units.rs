//! Units that a tracer may have, in the spelling of UDUNITS and CF.

/// Units that take no prefix.
const ALONE: [&str; 12] =
    ["1", "%", "percent", "ppm", "ppb", "ppt", "ppmv", "ppbv", "pptv", "dBZ", "degree", "degrees"];

/// Units that take prefixes and exponents.
const BASE: &str = "kg g m s K mol Pa J W N Bq Hz min h hour day d L l molecules";

/// Prefixes of these units.
const PREFIXES: [&str; 13] = ["", "k", "h", "d", "c", "m", "u", "µ", "n", "p", "M", "G", "T"];

/// True for a valid unit: `1`, `ppbv`, or units with prefixes and exponents, multiplied by spaces, dots or stars and
/// divided by slashes, as in `kg kg-1`, `ug m-3`, `mol/mol`.
pub fn is_known(text: &str) -> bool {
    if ALONE.contains(&text) {
        return true;
    }
    let factors: Vec<&str> = text.split([' ', '.', '*', '/']).collect();
    !text.trim().is_empty() && factors.into_iter().all(is_factor)
}

/// True for one unit with a prefix and an exponent.
fn is_factor(text: &str) -> bool {
    let end = text.find(|c: char| c == '-' || c == '+' || c == '^' || c.is_ascii_digit());
    let (unit, exponent) = text.split_at(end.unwrap_or(text.len()));
    let exponent = exponent.trim_start_matches('^');
    let is_exponent = end.is_none() || exponent.parse::<i8>().is_ok_and(|power| power != 0);
    if unit.is_empty() {
        // As in 1 / s.
        return text == "1";
    }
    let is_unit = PREFIXES.iter().any(|prefix| {
        unit.strip_prefix(prefix).is_some_and(|rest| BASE.split(' ').any(|base| base == rest))
    });
    is_exponent && (is_unit || (end.is_none() && ALONE.contains(&unit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_the_field_are_known_and_others_are_not() {
        for text in [
            "1",
            "kg kg-1",
            "kg kg^-1",
            "g/kg",
            "ug m-3",
            "µg m-3",
            "mol mol-1",
            "ppbv",
            "Bq m-3",
            "kg-1",
            "m2 s-2",
            "s",
            "K",
            "J kg-1",
            "molecules cm-3",
            "%",
            "kg.kg-1",
            "1/s",
        ] {
            assert!(is_known(text), "{text}");
        }
        for text in ["", " ", "furlongs", "smoke", "kg--1", "m0", "kgkg-1x", "ppq kg", "-1", "kg 3"]
        {
            assert!(!is_known(text), "{text}");
        }
    }
}

//! Numbers in formulas have names.

use crate::rules::{Finding, Source};
use crate::text::{code_only, is_word, words};

/// Numbers with a fraction or an exponent without a name in a kernel. Halves, ones and twos need none.
pub(crate) fn bare_in_kernel(source: &Source) -> Vec<Finding> {
    let code = code_only(&source.text);
    let mut findings = Vec::new();
    for (at, number) in numbers(&code) {
        let digits = number.trim_end_matches(['f', 'F']);
        let is_whole = digits.bytes().all(|b| b.is_ascii_digit()) && digits == number;
        let is_other = number.starts_with("0x") || number.ends_with(['u', 'U', 'l', 'L']);
        if is_whole || is_other {
            continue;
        }
        let value: Option<f64> = digits.parse().ok();
        if !value.is_some_and(|value| [0.0, 0.5, 1.0, 2.0].contains(&value)) {
            findings.push(source.finding(at, nameless(number)));
        }
    }
    findings
}

/// Modules of the crate's root that hold formulas.
const FORMULAS: [&str; 9] = [
    "advection",
    "forcing",
    "dry_mass",
    "physics",
    "time_steps",
    "primitives",
    "projection",
    "state",
    "thermo",
];

/// The largest whole number that a formula may have without a name, as a power or a weight.
const LARGEST_NAMELESS: f64 = 10.0;

/// Numbers without a name in a Rust file with formulas, outside of constants and tests. As in kernels, small integers
/// need no name.
pub(crate) fn bare_in_formula(source: &Source) -> Vec<Finding> {
    let path = source.path.strip_prefix("src/").unwrap_or_default();
    let root = path.split(['/', '.']).next().unwrap_or_default();
    if !source.is_rust() || !FORMULAS.contains(&root) {
        return Vec::new();
    }
    let code = code_only(&source.text);
    let code = &code[..code.find("#[cfg(test)]").unwrap_or(code.len())];
    let mut findings = Vec::new();
    for (at, number) in numbers(code) {
        let digits = number.trim_end_matches("f32").trim_end_matches("f64").trim_end_matches('_');
        if !digits.contains(['.', 'e', 'E']) || number.starts_with("0x") {
            continue;
        }
        let value: Option<f64> = digits.replace('_', "").parse().ok();
        let needs_no_name = |value: f64| {
            value == 0.5
                || value.fract() == 0.0 && value <= LARGEST_NAMELESS && !digits.contains('e')
        };
        if !value.is_some_and(needs_no_name) && !is_defined(&code[..at]) {
            findings.push(source.finding(at, nameless(number)));
        }
    }
    findings
}

/// True if the following text is part of the definition of a constant, or of a table of constants.
fn is_defined(before: &str) -> bool {
    let begin =
        words(before).filter(|(_, word)| ["const", "exact", "single", "tuning"].contains(word));
    let Some((at, word)) = begin.last() else { return false };
    let text = &before[at..];
    if word == "tuning" {
        return text.starts_with("tuning! {") && !text.contains("\n}");
    }
    // The type of an array contains a semicolon.
    let is_length = |at: usize| text[..at].rfind('[') > text[..at].rfind(']');
    !text.match_indices(';').any(|(at, _)| !is_length(at))
}

fn nameless(number: &str) -> String {
    format!("{number} has no name; make it a constant, with unit and source")
}

/// All numbers of a code, with their places.
fn numbers(code: &str) -> Vec<(usize, &str)> {
    let bytes = code.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let begins = bytes[at].is_ascii_digit()
            || (bytes[at] == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit));
        // A member of a tuple follows a word or a bracket.
        let follows_word =
            code[..at].ends_with(|c: char| is_word(c) || [')', ']', '.'].contains(&c));
        if !begins || follows_word {
            at += 1;
            continue;
        }
        let number = number(&code[at..]);
        // A range is no fraction, and no method either.
        let end = number.match_indices('.').map(|(dot, _)| dot);
        let mut end =
            end.filter(|dot| !number[dot + 1..].starts_with(|c: char| c.is_ascii_digit()));
        let is_last = |dot: usize| dot + 1 == number.len();
        let number = end.find(|dot| !is_last(*dot)).map_or(number, |dot| &number[..dot]);
        found.push((at, number));
        at += number.len().max(1);
    }
    found
}

/// The number that a text begins with.
fn number(text: &str) -> &str {
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let is_sign_of_exponent =
            ['+', '-'].contains(&c) && text[..at].ends_with(['e', 'E']) && !text.starts_with("0x");
        if !(is_word(c) || c == '.' || is_sign_of_exponent) {
            break;
        }
        end = at + c.len_utf8();
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn bare_numbers_are_found() {
        let count = |text: &str| bare_in_kernel(&source("kernels/a.cu", text)).len();
        for bare in ["9.81f", "1e-15", "0.25", ".75f", "1.5e+3f", "3.", "2.5E-3", "1.0e1"] {
            assert_eq!(count(&format!("x = a * {bare} + b;")), 1, "{bare}");
        }
        for good in [
            "0",
            "1.0f",
            "0.5f",
            "2.",
            "37",
            "0xffffffff",
            "32u",
            "below_2",
            "q.x2",
            "a1e5",
            "1'000",
        ] {
            assert_eq!(count(&format!("x = a * {good} + b;")), 0, "{good}");
        }
        assert_eq!(count("// 9.81\n#include \"a9.81f\"\n"), 0);
        assert_eq!(count("f(real(0.3), 0.7)"), 2);
    }

    #[test]
    fn bare_numbers_are_found_in_rust_too() {
        let count = |path: &str, text: &str| bare_in_formula(&source(path, text)).len();
        let formula = |text: &str| count("src/physics/wsm5/warm.rs", text);
        for bare in ["9.81", "1e-15", "0.25", "2.5e3_f32", "1.0e1", "1004.0", "0.78f64"] {
            assert_eq!(formula(&format!("let x = a * {bare} + b;")), 1, "{bare}");
        }
        for good in ["0.5", "2.0", "7.0 / 3.0", "5", "0..27", "x.0.1", "a1e5", "1_000", "0xe5"] {
            assert_eq!(formula(&format!("let x = a * {good} + b;")), 0, "{good}");
        }
        for defined in [
            "const A: f64 = 9.81;",
            "const A: [f64; 2] = [9.81, 0.3];",
            "exact G = 9.81, s;",
            "tuning! {\n    a: f32 = 1.5, [1e3, 1e4];\n    b: f32 = 2.5;\n}",
            "fn f() {}\n#[cfg(test)]\nmod tests { f(0.3); }",
            "// 9.81",
        ] {
            assert_eq!(formula(defined), 0, "{defined}");
        }
        assert_eq!(formula("const A: f64 = 9.81; let x = 0.3;"), 1);
        assert_eq!(formula("tuning! {\n    a: f32 = 1.5;\n}\nfn f() { 0.3 }"), 1);
        assert_eq!(count("src/thermo.rs", "f(0.3)"), 1);
        assert_eq!(count("src/cli/run.rs", "f(0.3)"), 0);
    }
}

//! Device functions with one error each, which the sweeps must notice.

use std::ops::Range;

use super::kernels::Function;
use super::program::Header;
use super::text::{code_only, words};

/// A wrong copy of a device function.
#[derive(Clone, Debug)]
pub(crate) struct Mutant {
    /// The path of the right one.
    pub(crate) original: String,
    /// Its own path.
    pub(crate) path: String,
    /// Description of the error.
    pub(crate) error: String,
}

/// Errors that change no result: a part of the description, and the reason.
pub(crate) const HARMLESS: [(&str, &str); 16] = [
    (
        "kessler::reflectivity: if (qr <= <RADAR_RAIN_MIN ->",
        "so little rain has less than the least echo anyway",
    ),
    (
        "thermo::heat_capacity: const real vapour = max(qv, <Q_MIN ->",
        "so little vapour is lost beside 1",
    ),
    (
        "slope::ice_number: const real content = rho * max(qi, <SCARCE_ICE ->",
        "the bound holds there",
    ),
    (
        "warm::rates: const real rhw = max(cell.qv / step_start.qsw, <Q_MIN ->",
        "it is lost beside 1",
    ),
    ("ice::rates: const real rhi = max(cell.qv / step_start.qsi, <Q_MIN ->", "it is lost beside 1"),
    ("melt::psmlt: if (cell.t <= FREEZING <||", "the bounds of the amount leave nothing either"),
    ("melt::psmlt_in_substep: if (cell.t <= FREEZING <||", "the bounds leave nothing either"),
    ("melt::melt_snow: if (cell.t <= FREEZING <||", "psmlt looks again"),
    ("melt::melt_snow_in_substep: if (cell.t <= FREEZING <||", "psmlt looks again"),
    (
        "step::processes: const bool is_calm = cell::is_clear(cell) && (cell.t >= FREEZING <||",
        "the shortcut gives what the long way does",
    ),
    (
        "step::processes: const bool is_calm = cell::is_clear(cell) && (cell.t >= <FREEZING",
        "the shortcut gives what the long way does",
    ),
    (
        "wsm6::ice::growth_rates: const real rhi = max(cell.qv / step_start.qsi, <Q_MIN ->",
        "it is lost beside 1",
    ),
    (
        "wsm6::ice::melting_rates: const real rhw = max(cell.qv / step_start.qsw, <Q_MIN ->",
        "it is lost beside 1",
    ),
    (
        "wsm6::step::apply_rates: const bool is_calm = cell::is_clear(cell) && (cell.t >= FREEZING <||",
        "the shortcut gives what the long way does",
    ),
    (
        "wsm6::step::apply_rates: const bool is_calm = cell::is_clear(cell) && (cell.t >= <FREEZING",
        "the shortcut gives what the long way does",
    ),
    ("max(ice + water, <FRACTION_MIN", "melting snow is never made of air alone"),
];

/// The headers with all mutated copies of their functions, each after the original, and the list of the copies.
pub(crate) fn mutate(headers: &[Header], constants: &[String]) -> (Vec<Header>, Vec<Mutant>) {
    let mut mutants = Vec::new();
    let mutated = headers
        .iter()
        .map(|header| {
            let code = code_only(&header.text);
            let (mut text, mut done) = (String::new(), 0);
            for function in header.functions() {
                text += &header.text[done..function.body.end];
                done = function.body.end;
                for (place, new) in errors(&code, function.body.clone(), constants) {
                    let name = format!("mutant_{}", mutants.len());
                    text += &copy(&code, &function, &name, &place, &new);
                    mutants.push(Mutant {
                        original: function.path(),
                        path: Function { name, ..function.clone() }.path(),
                        error: described(&code, &function, &place, &new),
                    });
                }
            }
            Header { path: header.path.clone(), text: text + &header.text[done..] }
        })
        .collect();
    (mutated, mutants)
}

/// A copy of a function under another name, with the text at a place replaced.
fn copy(code: &str, function: &Function, name: &str, place: &Range<usize>, new: &str) -> String {
    let head = code[function.name_range.end..function.body.start].trim();
    let body = [&code[function.body.start..place.start], new, &code[place.end..function.body.end]];
    format!("\n__device__ inline {} {name}{head}\n{}\n", function.result, body.concat())
}

/// The line of an error.
fn described(code: &str, function: &Function, place: &Range<usize>, new: &str) -> String {
    let start = code[..place.start].rfind('\n').map_or(0, |at| at + 1);
    let end = place.end + code[place.end..].find('\n').unwrap_or(0);
    let line = [&code[start..place.start], "<", &code[place.clone()], " -> ", new, ">"].concat();
    format!("{}: {}{}", function.path(), line.trim_start(), &code[place.end..end])
}

/// Operators and their replacements. Shorter operators come after longer ones that contain them.
const OPERATORS: [(&str, &str); 14] = [
    ("+=", "-="),
    ("-=", "+="),
    ("*=", "/="),
    ("<=", ">"),
    (">=", "<"),
    ("==", "!="),
    ("&&", "||"),
    ("||", "&&"),
    ("<", ">="),
    (">", "<="),
    ("+", "-"),
    ("-", "+"),
    ("*", "+"),
    ("/", "*"),
];

/// Functions and their replacements.
const FUNCTIONS: [(&str, &str); 4] =
    [("min", "max"), ("max", "min"), ("exp", "log"), ("floor", "ceil")];

/// Parts of the parameters that are structs.
const PARTS: [&str; 2] = ["common", "graupel"];

/// The positions in a function's body at which an error can be made, and the replacements: another operator, another
/// function, and a constant or parameter that is off by a thousandth.
fn errors(code: &str, body: Range<usize>, constants: &[String]) -> Vec<(Range<usize>, String)> {
    let text = &code[body.clone()];
    let mut errors = Vec::new();
    for (at, _) in text.match_indices(char::is_whitespace) {
        let word = text[at + 1..].split(char::is_whitespace).next().unwrap_or_default();
        if let Some((_, wrong)) = OPERATORS.iter().find(|(right, _)| *right == word) {
            errors.push((at + 1..at + 1 + word.len(), (*wrong).to_owned()));
        }
    }
    for (at, word) in words(text) {
        let place = at..at + word.len();
        let is_call = text[place.end..].starts_with('(');
        let is_parameter =
            text[..at].ends_with("p.") && !text[..at - 2].ends_with(char::is_alphanumeric);
        if let Some((_, wrong)) = FUNCTIONS.iter().find(|(right, _)| is_call && *right == word) {
            errors.push((place, (*wrong).to_owned()));
        } else if is_parameter {
            let rest = &text[place.end..];
            let member = rest.strip_prefix('.').and_then(|rest| words(rest).next());
            let member = member.map(|(_, member)| format!(".{member}")).unwrap_or_default();
            // A parameter of a part, but not a whole part.
            if !member.is_empty() || !PARTS.contains(&word) {
                let place = at - "p.".len()..place.end + member.len();
                errors.push((place, format!("(p.{word}{member} * real(1.001))")));
            }
        } else if constants.iter().any(|constant| constant == word) {
            errors.push((place, format!("({word} * real(1.001))")));
        }
    }
    errors
        .into_iter()
        .map(|(place, new)| (body.start + place.start..body.start + place.end, new))
        .collect()
}

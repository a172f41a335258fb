//! Information from the text of a Rust file, without a compiler.

/// The text with comments and literals blanked; every other byte keeps its place.
pub fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let within_word = code.chars().last().is_some_and(is_word);
        let blank = comment(rest).or_else(|| literal(rest, within_word)).unwrap_or(0);
        if blank == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            code.extend(rest[..blank].bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }));
            rest = &rest[blank..];
        }
    }
    code
}

/// Length of the comment that the text begins with.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if !text.starts_with("/*") {
        return None;
    }
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let step = match text.as_bytes()[at..] {
            [b'/', b'*', ..] => {
                depth += 1;
                2
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        at += step;
        if depth == 0 {
            return Some(at);
        }
    }
    Some(text.len())
}

/// Length of the string or character that the text begins with.
fn literal(text: &str, within_word: bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let prefixed = text.trim_start_matches(['b', 'c']);
    if !within_word && prefixed.starts_with('r') {
        let hashes: String = prefixed[1..].chars().take_while(|&c| c == '#').collect();
        let opening = text.len() - prefixed.len() + 1 + hashes.len();
        if bytes.get(opening) == Some(&b'"') {
            let closing = format!("\"{hashes}");
            let inside = &text[opening + 1..];
            let length = inside.find(&closing).map_or(inside.len(), |at| at + closing.len());
            return Some(opening + 1 + length);
        }
    }
    match bytes[0] {
        b'"' => {
            let mut at = 1;
            while at < bytes.len() && bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            Some((at + 1).min(bytes.len()))
        }
        b'\'' => {
            let mut inside = text[1..].char_indices();
            let (_, first) = inside.next()?;
            let (second, _) = inside.next()?;
            if first == '\\' {
                // The character after the backslash may itself be a quotation mark.
                let behind = text.get(1 + second + 1..)?;
                return Some(1 + second + 1 + behind.find('\'')? + 1);
            }
            // Without a closing mark it is a lifetime.
            text[1 + second..].starts_with('\'').then_some(1 + second + 1)
        }
        _ => None,
    }
}

pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Every word with its offset.
pub fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let place = |word: &str| word.as_ptr().addr() - code.as_ptr().addr();
    code.split(|c| !is_word(c)).filter(|w| !w.is_empty()).map(move |w| (place(w), w))
}

/// The paths, from the crate's root to the last name, that a file of `module` uses.
pub fn used_paths(module: &[&str], code: &str) -> Vec<(usize, Vec<String>)> {
    let mut found = Vec::new();
    for (offset, word) in words(code) {
        let mut base = match word {
            "crate" | "nwp_mini" => Vec::new(),
            "super" if !code[..offset].trim_end().ends_with("::") => {
                let mut place: Vec<String> = module.iter().map(ToString::to_string).collect();
                place.extend(inline_modules(code, offset));
                place.pop();
                place
            }
            _ => continue,
        };
        let Some(mut tail) = after_colons(&code[offset + word.len()..]) else { continue };
        while let Some(further) = tail.strip_prefix("super").and_then(after_colons) {
            base.pop();
            tail = further;
        }
        for path in expanded(tail) {
            found.push((offset, base.iter().cloned().chain(path).collect()));
        }
    }
    found
}

fn after_colons(text: &str) -> Option<&str> {
    text.trim_start().strip_prefix("::").map(str::trim_start)
}

/// Names of the `mod name { }` blocks around a place.
fn inline_modules(code: &str, offset: usize) -> Vec<String> {
    let around = words(&code[..offset]).filter(|(_, word)| *word == "mod").filter_map(|(at, _)| {
        let (name, _) = code[at + "mod".len()..].split_once('{')?;
        let opening = at + "mod".len() + name.len();
        let is_block = name.trim().chars().all(is_word);
        let encloses = opening < offset && offset < opening + braced(&code[opening..]).len();
        (is_block && encloses).then(|| name.trim().to_owned())
    });
    around.collect()
}

/// The text from an opening brace to the matching closing one.
fn braced(text: &str) -> &str {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[..=at];
        }
    }
    text
}

/// The names of all paths that `a::b` or `{a::b, c}` stands for.
fn expanded(text: &str) -> Vec<Vec<String>> {
    let text = text.trim_start();
    if text.starts_with('{') {
        let inside = braced(text);
        let inside = inside[1..].strip_suffix('}').unwrap_or(&inside[1..]);
        let (mut depth, mut start, mut items) = (0, 0, Vec::new());
        for (at, c) in inside.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    items.push(&inside[start..at]);
                    start = at + 1;
                }
                _ => {}
            }
        }
        items.push(&inside[start..]);
        let items = items.into_iter().filter(|item| !item.trim().is_empty());
        return items.flat_map(expanded).collect();
    }
    let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    let name = if text.starts_with('*') { "*" } else { &text[..end] };
    let own = (name != "self").then(|| name.to_owned());
    match after_colons(&text[end..]) {
        Some(tail) => expanded(tail)
            .into_iter()
            .map(|path| own.iter().cloned().chain(path).collect())
            .collect(),
        None => vec![own.into_iter().collect()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(module: &[&str], code: &str) -> Vec<String> {
        used_paths(module, &code_only(code)).into_iter().map(|(_, path)| path.join("::")).collect()
    }

    #[test]
    fn comments_and_literals_are_blanked() {
        for hidden in [
            "// unsafe",
            "/// unsafe",
            "/* a /* b */ unsafe */",
            "\"unsafe\"",
            "\"a \\\" unsafe\"",
            "r\"unsafe\"",
            "r#\"a \" unsafe\"#",
            "br#\"unsafe\"#",
            "b\"unsafe\"",
            "'\"' + /* unsafe */ '\"'",
            "'\\'' + '\\\\' + \"unsafe\"",
            "'\\u{1F600}' + \"unsafe\"",
        ] {
            let code = code_only(&format!("a {hidden}\n b"));
            assert!(!code.contains("unsafe"), "{hidden} became {code}");
            assert!(code.ends_with("\n b"), "{hidden} became {code}");
        }
    }

    #[test]
    fn code_stays() {
        for shown in [
            "// x\nunsafe",
            "/* x */ unsafe",
            "\"x\" unsafe",
            "fn f<'a>(x: &'a str) { unsafe",
            "'\"' unsafe '\"'",
            "r#type unsafe",
            "r#\"x\"# unsafe",
            "\"é\" unsafe",
        ] {
            let code = code_only(shown);
            assert!(words(&code).any(|(_, w)| w == "unsafe"), "{shown} became {code}");
            let place = shown.find("unsafe");
            assert_eq!(code.find("unsafe"), place, "{shown} became {code}");
        }
    }

    #[test]
    fn paths_are_found() {
        let module = ["io", "reader"];
        for (code, expected) in [
            ("use crate::error::{Error, Result};", vec!["error::Error", "error::Result"]),
            (
                "use crate::{real::Real, io::{pending, writer::W}};",
                vec!["real::Real", "io::pending", "io::writer::W"],
            ),
            ("let x = crate::cli::main();", vec!["cli::main"]),
            ("use crate::error::{self, Error};", vec!["error", "error::Error"]),
            ("use crate::grid;", vec!["grid"]),
            ("use crate::grid::*;", vec!["grid::*"]),
            ("use super::pending::Pending;", vec!["io::pending::Pending"]),
            ("use super::super::cli;", vec!["cli"]),
            ("mod tests { use super::nearest; }", vec!["io::reader::nearest"]),
            ("mod a { } use super::pending;", vec!["io::pending"]),
            ("use crate::a::{b::{c::d, e}, f};", vec!["a::b::c::d", "a::b::e", "a::f"]),
            ("pub fn f() {}", vec![]),
            ("// crate::cli\nlet s = \"crate::cli\";", vec![]),
            ("nwp_mini::cli::main()", vec!["cli::main"]),
        ] {
            assert_eq!(paths(&module, code), expected, "{code}");
        }
    }
}

//! The public items of the library.

use crate::rules::Source;

/// The file that lists them.
pub(crate) const LIST: &str = "validation/tidy/public.txt";

/// Modules whose items are for the program and its tests; all other public items are for users.
const OF_THE_PROGRAM: [&str; 2] = ["cli", "main"];

/// Items of the modules that are public, as "fn physics::call", in order.
pub(crate) fn items(sources: &[Source]) -> Vec<String> {
    let mut found: Vec<String> = sources
        .iter()
        .filter(|source| !source.module().first().is_some_and(|m| OF_THE_PROGRAM.contains(m)))
        .flat_map(|source| {
            let module = source.module().join("::");
            source.text.lines().filter_map(move |line| item(&module, line))
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

/// The item that a line declares for everybody.
fn item(module: &str, line: &str) -> Option<String> {
    let mut rest = line.strip_prefix("pub ")?;
    for word in ["unsafe ", "const fn "] {
        rest = rest.strip_prefix(word).map_or(rest, |after| after);
    }
    let (kind, name) = rest.split_once(' ').unwrap_or(("fn", rest));
    let (kind, name) =
        if ["fn", "struct", "enum", "trait", "const", "type", "static"].contains(&kind) {
            (kind, name)
        } else if rest.contains('(') && line.starts_with("pub const fn ") {
            ("fn", rest)
        } else {
            return None;
        };
    let name: String = name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    Some(format!("{kind} {module}::{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_found_by_name() {
        let text = "pub fn f<R>(x: R) {}\npub(crate) fn g() {}\n    pub fn inner() {}\npub struct S;\n\
                    pub const N: usize = 1;\npub const fn h() {}\npub use a::B;\npub mod m;\n";
        let source = |path: &str| Source { path: path.to_owned(), text: text.to_owned() };
        let found = items(&[source("src/physics/mod.rs"), source("src/cli/mod.rs")]);
        let expected = ["const physics::N", "fn physics::f", "fn physics::h", "struct physics::S"];
        assert_eq!(found, expected);
    }
}

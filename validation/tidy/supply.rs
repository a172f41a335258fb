//! Dependencies of the program, and their licences.

use std::collections::{BTreeMap, BTreeSet};

use toml::Table;

/// Name and version of every package of `Cargo.lock` but our own.
pub(crate) fn locked(text: &str) -> BTreeSet<(String, String)> {
    let lock: Table = text.parse().expect("Cargo.lock is TOML");
    let packages = lock["package"].as_array().expect("a list of packages");
    let text = |package: &Table, key: &str| {
        package.get(key).and_then(|value| value.as_str()).unwrap_or_default().to_owned()
    };
    let packages = packages.iter().filter_map(|package| package.as_table());
    packages
        .filter(|package| package.contains_key("source"))
        .map(|package| (text(package, "name"), text(package, "version")))
        .collect()
}

/// Licence and place of every package of the list, by its name and version.
pub(crate) fn listed(text: &str) -> BTreeMap<(String, String), [String; 2]> {
    let rows = text.lines().skip_while(|line| !line.starts_with("|---"));
    rows.skip(1)
        .filter_map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [package, version, licence, place] = cells[..] else { return None };
            let name = package.trim_start_matches('[').split(']').next()?;
            Some(((name.to_owned(), version.to_owned()), [licence, place].map(str::to_owned)))
        })
        .collect()
}

/// True if one of the admitted licences satisfies an SPDX expression.
pub(crate) fn is_admitted(expression: &str, admitted: &[&str]) -> bool {
    let whole = |part: &str| {
        let part = part.trim().trim_matches(['(', ')']).trim();
        admitted.contains(&part)
    };
    // No package here has OR inside of AND; one that has would be rejected.
    expression.split(" AND ").all(|part| part.split(" OR ").any(whole))
}

/// Licences that `deny.toml` admits.
pub(crate) fn admitted(text: &str) -> Vec<String> {
    let deny: Table = text.parse().expect("deny.toml is TOML");
    let allow = deny["licenses"]["allow"].as_array().expect("a list of licences");
    allow.iter().filter_map(|licence| licence.as_str().map(str::to_owned)).collect()
}

#[test]
fn licences_are_understood() {
    let admitted = ["MIT", "Apache-2.0"];
    for good in ["MIT", "GPL-3.0 OR MIT", "(MIT OR GPL-3.0) AND Apache-2.0"] {
        assert!(is_admitted(good, &admitted), "{good}");
    }
    for bad in ["GPL-3.0", "MIT AND GPL-3.0", "", "MIT-0"] {
        assert!(!is_admitted(bad, &admitted), "{bad}");
    }
    let list = "words\n|---|\n| [a](b) | 1.0 | MIT | program |\n| c | 2 | Zlib | tests |\n";
    let key = |name: &str, version: &str| (name.to_owned(), version.to_owned());
    assert_eq!(listed(list)[&key("a", "1.0")], ["MIT", "program"]);
    assert_eq!(listed(list)[&key("c", "2")], ["Zlib", "tests"]);
    let lock = "[[package]]\nname = \"a\"\nversion = \"1.0\"\nsource = \"r\"\n[[package]]\nname = \
                \"own\"\nversion = \"3\"\n";
    assert_eq!(locked(lock), [key("a", "1.0")].into());
}

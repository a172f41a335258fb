//! Rules of the source tree: dependencies of modules, places of `unsafe`, lengths of files.
//!
//! The rules are those of ARCHITECTURE.md. Each is a function of text, with a test beside it in which it fails.

mod kernel_rules;
mod messages;
mod numbers;
mod public;
mod rules;
mod schemes;
mod supply;

use nwp_mini_support::{kernels, text};

use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs;
use std::path::Path;

use rules::Source;
use sha2::{Digest, Sha256};

/// All source files of the project, without files that tools have put beside them.
fn project() -> Vec<Source> {
    let mut sources = Vec::new();
    collect(Path::new(env!("CARGO_MANIFEST_DIR")), "", &mut sources);
    assert!(sources.iter().any(|s| s.path == "src/lib.rs"), "the sources were not found");
    sources
}

fn collect(folder: &Path, prefix: &str, sources: &mut Vec<Source>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(Result::unwrap).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        // Build folders and virtual environments carry these.
        let foreign = ["CACHEDIR.TAG", "pyvenv.cfg"].iter().any(|mark| path.join(mark).exists());
        if entry.file_type().unwrap().is_dir() {
            if !foreign && (name == ".ci" || !name.starts_with('.')) {
                collect(&path, &format!("{prefix}{name}/"), sources);
            }
        } else {
            let source = Source { path: format!("{prefix}{name}"), text: String::new() };
            if ["rs", "cu", "cuh", "py", "sh"].contains(&source.extension()) {
                sources.push(Source { text: fs::read_to_string(path).unwrap(), ..source });
            }
        }
    }
}

/// The library of the tests, with its paths and names as those of a crate of its own.
fn support_of_the_tests() -> Vec<Source> {
    let own = |source: Source| {
        let inner = source.path.strip_prefix("validation/support/")?;
        let text = source.text.replace("nwp_mini::", "tested::");
        source.is_rust().then(|| Source { path: format!("src/{inner}"), text })
    };
    let sources: Vec<Source> = project().into_iter().filter_map(own).collect();
    assert!(sources.iter().any(|s| s.path == "src/lib.rs"), "the support library was not found");
    sources
}

fn rust_of_the_crate() -> Vec<Source> {
    project().into_iter().filter(|s| s.path.starts_with("src/") && s.is_rust()).collect()
}

fn expect_none(findings: impl IntoIterator<Item = impl Display>) {
    let lines: Vec<String> = findings.into_iter().map(|f| f.to_string()).collect();
    assert!(lines.is_empty(), "see ARCHITECTURE.md for the rules\n{}\n", lines.join("\n"));
}

#[test]
fn modules_use_only_lower_layers() {
    expect_none(rust_of_the_crate().iter().flat_map(rules::bad_imports));
}

#[test]
fn no_module_uses_itself_through_others() {
    expect_none(rules::cycles(&rust_of_the_crate()));
    expect_none(rules::cycles(&support_of_the_tests()));
}

#[test]
fn texts_name_no_options_and_paths_become_text_in_one_place() {
    let sources = rust_of_the_crate();
    expect_none(sources.iter().flat_map(messages::named_options));
    expect_none(sources.iter().flat_map(messages::displayed_paths));
}

#[test]
fn unsafe_code_gpu_and_netcdf_keep_to_their_places() {
    expect_none(rust_of_the_crate().iter().flat_map(rules::misplaced_words));
}

/// Users rely on these items, which change on purpose only: with `NWP_MINI_UPDATE=1` the list is rewritten.
#[test]
fn public_items_are_those_of_the_list() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(public::LIST);
    let found = public::items(&rust_of_the_crate()).join("\n") + "\n";
    if std::env::var_os("NWP_MINI_UPDATE").is_some() {
        fs::write(&path, &found).unwrap();
    }
    let listed = fs::read_to_string(&path).unwrap_or_default();
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let (found, listed) = (lines(&found), lines(&listed));
    let gone = listed.difference(&found).map(|item| format!("{item} is gone"));
    let new = found.difference(&listed).map(|item| format!("{item} is new"));
    let changes: Vec<String> = gone.chain(new).collect();
    assert!(
        changes.is_empty(),
        "{} of {}:\n{}\nrun with NWP_MINI_UPDATE=1 where that is meant\n",
        changes.len(),
        public::LIST,
        changes.join("\n")
    );
}

#[test]
fn the_backend_is_one_small_trait() {
    expect_none(rules::wide_backend(&rust_of_the_crate()));
}

#[test]
fn schemes_are_named_in_few_files() {
    expect_none(schemes::scattered(&project()));
}

#[test]
fn nothing_is_left_unfinished() {
    expect_none(project().iter().flat_map(rules::unfinished));
}

#[test]
fn no_folder_is_a_heap() {
    expect_none(rules::crowded_folders(&rust_of_the_crate()));
}

#[test]
fn files_are_short_and_well_named() {
    expect_none(project().iter().flat_map(rules::bad_file));
}

#[test]
fn tests_share_code_through_the_support_library() {
    // In pieces, so that this line is no finding.
    let elsewhere = ["#[", "path ="].concat();
    let borrowed = project().into_iter().filter(|source| source.text.contains(&elsewhere));
    expect_none(borrowed.map(|source| format!("{}: {elsewhere} ...]", source.path)));
}

/// Every formula of a kernel is in the Rust file of the same name too, and vice versa.
#[test]
fn kernels_have_their_twins() {
    let sources = project();
    let headers: Vec<_> =
        sources.iter().filter_map(|s| Some((s, kernel_rules::twin_paths(s)?))).collect();
    assert!(headers.len() > 10, "{} files of device functions", headers.len());
    expect_none(headers.into_iter().flat_map(|(header, paths)| {
        let rust = sources.iter().find(|source| paths.contains(&source.path));
        kernel_rules::bad_twins(header, rust)
    }));
}

#[test]
fn formulas_hold_no_bare_numbers() {
    let sources = project();
    let kernels = sources.iter().filter(|source| kernel_rules::is_kernel(source));
    expect_none(kernels.flat_map(numbers::bare_in_kernel));
    expect_none(sources.iter().flat_map(numbers::bare_in_formula));
}

/// Rates are functions of their arguments, and change none of them.
#[test]
fn rates_change_nothing() {
    let sources = project();
    let rates = sources.iter().filter(|source| schemes::RATES.contains(&source.path.as_str()));
    let rates: Vec<_> = rates.collect();
    assert_eq!(rates.len(), schemes::RATES.len(), "the files of the rates are not all there");
    expect_none(rates.into_iter().flat_map(rules::changes));
}

/// Maximum size of the records, bytes: the last full set of each kind of machine, and the records that READMEs refer
/// to.
const MOST_RECORDED: u64 = 3_000_000;

/// Pages beside those of the records whose links lead somewhere.
const PAGES: [&str; 18] = [
    "README.md",
    "ARCHITECTURE.md",
    "benches/README.md",
    "benches/ladders/README.md",
    "benches/ladders/memory.md",
    "benches/ladders/sparse_products.md",
    "benches/ladders/sum.md",
    "benches/ladders/transpose.md",
    "benches/ladders/wilson.md",
    "bindings/README.md",
    "bindings/python/README.md",
    "data/README.md",
    "data/chemistry/README.md",
    "src/DECISIONS.md",
    "src/cases/README.md",
    "src/cli/README.md",
    "validation/README.md",
    "validation/wrf_storm/README.md",
];

#[test]
fn records_are_few_and_their_readmes_point_to_what_is_there() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/results");
    let (mut folders, mut bytes, mut pages) = (vec![results], 0, Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let (path, about) = (entry.path(), entry.metadata().unwrap());
            if about.is_dir() {
                folders.push(path);
            } else {
                bytes += about.len();
                pages.extend(path.extension().is_some_and(|e| e == "md").then_some(path));
            }
        }
    }
    assert!(bytes <= MOST_RECORDED, "{bytes} bytes of records; older ones go, history keeps them");
    assert!(!pages.is_empty(), "the records have no README");
    let others = PAGES.map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join(name));
    expect_none(pages.into_iter().chain(others).flat_map(|page| {
        let text = fs::read_to_string(&page).unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        let is_missing = |link: &&str| {
            !link.is_empty() && !link.contains("://") && !page.parent().unwrap().join(link).exists()
        };
        let missing = links.filter(is_missing).map(|link| format!("{}: no {link}", page.display()));
        missing.collect::<Vec<_>>()
    }));
}

/// Every data file has the checksum that the README beside it states.
#[test]
fn data_files_are_those_of_their_readme() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    for folder in [data.clone(), data.join("reference")] {
        let readme = fs::read_to_string(folder.join("README.md")).unwrap();
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().extension().is_some_and(|e| e == "nc" || e == "csv") {
                let sum = format!("{:x}", Sha256::digest(fs::read(entry.path()).unwrap()));
                let stated = readme.lines().any(|l| l.contains(&name) && l.contains(&sum));
                assert!(
                    stated,
                    "{name}: sha256 {sum} does not stand beside its name in the README"
                );
            }
        }
    }
}

/// `LICENSES-THIRD-PARTY.md` lists the packages of `Cargo.lock`, under licences that `deny.toml` admits.
#[test]
fn licences_are_listed_and_admitted() {
    let [lock, list, deny] = ["Cargo.lock", "LICENSES-THIRD-PARTY.md", "deny.toml"].map(|name| {
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect(name)
    });
    let (locked, listed) = (supply::locked(&lock), supply::listed(&list));
    let found: std::collections::BTreeSet<_> = listed.keys().cloned().collect();
    assert!(locked.len() > 20, "{locked:?}");
    assert!(
        locked == found,
        "run validation/licences.py; not listed: {:?}; listed and not locked: {:?}",
        locked.difference(&found).collect::<Vec<_>>(),
        found.difference(&locked).collect::<Vec<_>>()
    );
    let admitted = supply::admitted(&deny);
    let admitted: Vec<&str> = admitted.iter().map(String::as_str).collect();
    let refused: Vec<_> = listed
        .iter()
        .filter(|(_, [licence, _])| !supply::is_admitted(licence, &admitted))
        .collect();
    assert!(refused.is_empty(), "deny.toml does not admit {refused:?}");
}

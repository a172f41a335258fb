//! Tells the program which commit it is built from, `NWP_MINI_COMMIT` at compile time, and puts
//! the sources of the CUDA kernels into it.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Sources of the program. Nothing else makes it differ from its commit.
const SOURCES: [&str; 5] = ["src", "kernels", "build.rs", "Cargo.toml", "Cargo.lock"];

fn main() {
    println!("cargo::rustc-env=NWP_MINI_COMMIT={}", commit().unwrap_or_else(|| "unknown".into()));
    for source in SOURCES {
        rerun_if_changed(source);
    }
    let list = kernel_sources(&Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("kernels"));
    fs::write(Path::new(&env::var("OUT_DIR").unwrap()).join("kernel_sources.rs"), list).unwrap();
}

/// A Rust constant with the name and the text of every file below `folder`, in order of names.
fn kernel_sources(folder: &Path) -> String {
    let mut files = Vec::new();
    collect(folder, &mut files);
    files.sort();
    let mut list = "/// Name below `kernels/`, and text.\n".to_owned();
    list += "const FILES: &[(&str, &str)] = &[\n";
    for file in files {
        let name = file.strip_prefix(folder).unwrap().to_str().expect("a name in UTF-8");
        let path = file.to_str().expect("a path in UTF-8");
        writeln!(list, "    ({name:?}, include_str!({path:?})),").unwrap();
    }
    list + "];\n"
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "cu" || e == "cuh") {
            files.push(path);
        }
    }
}

/// The short name of the commit, with "-dirty" where the sources differ from it; `None` without
/// git, and where this folder is not the top of a repository of its own.
fn commit() -> Option<String> {
    if !git(&["rev-parse", "--show-prefix"])?.is_empty() {
        return None;
    }
    let name = git(&["rev-parse", "--short=12", "HEAD"])?;
    // The log of HEAD grows with every commit and checkout. Where logs are off, HEAD names the
    // file to watch. All of these may lie outside this folder, as in a linked worktree.
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    for file in ["HEAD", "logs/HEAD", "packed-refs"].into_iter().chain(branch.as_deref()) {
        rerun_if_changed(&git(&["rev-parse", "--git-path", file])?);
    }
    let status = [&["status", "--porcelain", "--"], &SOURCES[..]].concat();
    Some(if git(&status)?.is_empty() { name } else { name + "-dirty" })
}

/// The answer of git; `None` when it fails or is absent.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("--no-optional-locks").args(arguments).output().ok()?;
    let answer = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| answer.trim().to_owned())
}

/// Watches a file or folder. A missing one would count as changed at every build.
fn rerun_if_changed(path: &str) {
    if Path::new(path).exists() {
        println!("cargo::rerun-if-changed={path}");
    }
}

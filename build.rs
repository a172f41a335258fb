//! Tells the program which commit it is built from: `NWP_MINI_COMMIT` at compile time.

use std::path::Path;
use std::process::Command;

/// What the program is made of. Nothing else makes it differ from its commit.
const SOURCES: [&str; 5] = ["src", "kernels", "build.rs", "Cargo.toml", "Cargo.lock"];

fn main() {
    println!("cargo::rustc-env=NWP_MINI_COMMIT={}", commit().unwrap_or_else(|| "unknown".into()));
    for source in SOURCES {
        rerun_if_changed(source);
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

/// What git answers; `None` when it fails or is absent.
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

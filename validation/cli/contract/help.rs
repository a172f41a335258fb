//! Examples of the help and commands of the pages: each works when it is pasted.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::chemistry;

use super::bases;
use super::model::{Data, Flavour, Model};
use super::small::Small;

const PROGRAM: &str = env!("CARGO_BIN_EXE_nwp-mini");
const PROJECT: &str = env!("CARGO_MANIFEST_DIR");

/// A folder with the contents of the project after `make build`, and with the files of users.
fn furnished() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    for name in ["data", "validation"] {
        symlink(Path::new(PROJECT).join(name), path(name)).expect("a link");
    }
    fs::create_dir_all(path("target/release")).expect("a folder");
    symlink(PROGRAM, path("target/release/nwp-mini")).expect("a link");
    fs::copy(Path::new(PROJECT).join("data/reference/wilson.nc"), path("wilson.nc"))
        .expect("a copy");
    chemistry::write_cells(&path("cells.nc"));
    let small = Small::new();
    for name in ["a.nc", "b.nc", "wrfinput_d01", "wrfout_d01.nc"] {
        small.write(&path(name));
    }
    let mut hour = Model::read(&path("a.nc"));
    for number in 0..4 {
        let stamp = format!("2005-08-28_0{number}:00:00");
        hour.field("Times").data = Data::Text(stamp.clone().into_bytes());
        hour.write(&path(&format!("wrfout_d01_{stamp}")), Flavour::Hdf5).expect("a file");
    }
    bases::columns().write(&path("columns.nc"), Flavour::Hdf5).expect("a file");
    bases::transport().write(&path("case.nc"), Flavour::Hdf5).expect("a file");
    folder
}

/// Runs a line of a shell in the folder.
fn run(folder: &TempDir, line: &str) -> (Option<i32>, String) {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let mut path = folder.path().join("target/release").into_os_string();
    path.push(":");
    path.push(paths);
    let output = Command::new("sh")
        .args(["-c", line])
        .current_dir(folder.path())
        .env("PATH", path)
        .env("HOME", folder.path())
        .env_remove("NWP_BACKEND")
        .output()
        .expect("sh starts");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Commands that take minutes, or need a tool that not every machine has; other tests and `benches/run.sh` run them.
const LEFT_OUT: [&str; 12] = [
    // Pictures are tested in validation/cli/plot.
    "nwp-mini plot ",
    "make ",
    "mpirun ",
    "ncdump ",
    "ncview ",
    "python ",
    "benches/run.sh",
    "nwp-mini bench physics",
    "nwp-mini bench reduce",
    "nwp-mini bench scale",
    "nwp-mini man | man",
    // As root, launchers refuse; validation/cli/ranks has the option.
    "nwp-mini run --gpus ",
];

/// Parts of commands, and what stands for them here: a place that is there, and a small grid.
const REPLACED: [(&str, &str); 2] = [
    ("~/.local/share/bash-completion/completions/nwp-mini", "completions"),
    ("--nx 160 --ny 160", "--nx 40 --ny 40"),
];

/// Runs lines in sequence in one folder; each must succeed, or report that there is no GPU.
fn all_end_well(lines: &[String]) {
    let folder = furnished();
    // Stores are for programs that are built with the feature; validation/cli/zarr has them.
    let is_possible = |line: &&String| cfg!(feature = "zarr") || !line.contains(".zarr");
    let left_out = |line: &&String| LEFT_OUT.iter().any(|start| line.starts_with(start));
    for line in lines.iter().filter(|line| is_possible(line) && !left_out(line)) {
        let line = REPLACED.iter().fold(line.clone(), |line, (from, to)| line.replace(from, to));
        let (code, said) = run(&folder, &line);
        let no_gpu = code == Some(4) && said.contains("the GPU cannot be used");
        // Exit code 1 of `diff` means different files.
        let differ = line.starts_with("nwp-mini diff ") && code == Some(1);
        assert!(code == Some(0) || no_gpu || differ, "{line}\n{code:?}\n{said}");
    }
}

/// Commands that the help of the program lists.
fn commands() -> Vec<String> {
    let help = String::from_utf8(super::nwp_mini(&["--help"]).stdout).expect("UTF-8");
    let (_, list) = help.split_once("Commands:").expect("a list of commands");
    let lines = list.lines().skip(1).take_while(|line| !line.trim().is_empty());
    let name = |line: &str| line.split_whitespace().next().map(str::to_owned);
    let indented = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    indented.filter_map(name).filter(|name| name != "help").collect()
}

#[test]
fn every_command_has_examples_that_work() {
    let commands = commands();
    assert!(commands.len() > 10, "{commands:?}");
    let mut lines = Vec::new();
    for command in commands.iter().map(String::as_str).chain([""]) {
        let arguments: Vec<&str> =
            [command, "--help"].into_iter().filter(|x| !x.is_empty()).collect();
        let help = String::from_utf8(super::nwp_mini(&arguments).stdout).expect("UTF-8");
        // An example ends at the next empty line: help is wrapped.
        let examples = help.split("\n\n").filter_map(|part| part.trim().strip_prefix("Example: "));
        let before = lines.len();
        lines.extend(examples.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")));
        assert!(lines.len() > before, "nwp-mini {command} --help has no example");
    }
    all_end_well(&lines);
}

/// Pages with commands for users; `data/chemistry/README.md` has another test.
const PAGES: [&str; 4] =
    ["README.md", "src/cli/README.md", "src/cases/README.md", "benches/README.md"];

#[test]
fn commands_of_the_pages_work() {
    let total: usize = PAGES.into_iter().map(commands_of_page_work).sum();
    assert!(total > 20, "{total} commands");
}

/// Runs the commands of a page in sequence, and returns their number.
fn commands_of_page_work(page: &str) -> usize {
    let text = fs::read_to_string(Path::new(PROJECT).join(page)).expect(page);
    let blocks = text.split("```").skip(1).step_by(2);
    let starts = ["nwp-mini ", "target/release/nwp-mini ", "printf "];
    // Output of the program begins with its name and version.
    let is_shown = |line: &str| line.starts_with("nwp-mini 0.");
    let is_command =
        |line: &&str| starts.iter().any(|start| line.starts_with(start)) && !is_shown(line);
    let lines: Vec<String> =
        blocks.flat_map(str::lines).filter(is_command).map(str::to_owned).collect();
    assert!(!lines.is_empty(), "{page} has no command");
    all_end_well(&lines);
    lines.len()
}

/// The help of scripts needs nothing but Python.
#[test]
fn scripts_have_help() {
    let folder = Path::new(PROJECT).join("validation");
    let about = fs::read_to_string(folder.join("README.md")).expect("validation/README.md");
    let mut count = 0;
    for entry in fs::read_dir(&folder).expect("a folder") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let interpreter = match name.rsplit_once('.') {
            Some((_, "py")) => "python3",
            Some((_, "sh")) => "bash",
            _ => continue,
        };
        count += 1;
        assert!(
            about.contains(&format!("`{name}`")),
            "validation/README.md does not tell of {name}"
        );
        let output =
            Command::new(interpreter).arg(folder.join(&name)).arg("--help").output().expect(&name);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains(&name), "{name}: {output:?}");
    }
    assert!(count >= 6, "{count} scripts");
    let manifest = fs::read_to_string(Path::new(PROJECT).join("Cargo.toml")).expect("Cargo.toml");
    let (_, tests) = manifest.split_once("[[test]]").expect("tests");
    for test in tests.split("[[test]]") {
        let name = test.split('"').nth(1).expect("a name");
        assert!(
            about.contains(&format!("`{name}`")),
            "validation/README.md does not tell of {name}"
        );
    }
}

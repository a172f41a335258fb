//! The command's contract with scripts: exit codes, and output on each stream.

mod help;
mod locks;
mod mistakes;

use nwp_mini_support::files::{bases, model};
use nwp_mini_support::run::{place, small};

use assert_cmd::Command;

fn nwp_mini(arguments: &[&str]) -> std::process::Output {
    let mut command = Command::cargo_bin("nwp-mini").expect("built by cargo for this test");
    command.args(arguments).output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

#[test]
fn help_lists_the_exit_codes() {
    let output = nwp_mini(&["--help"]);
    assert_eq!(output.status.code(), Some(0));
    let help = text(&output.stdout);
    let (_, codes) = help.split_once("Exit codes:").expect("a list of exit codes");
    for code in ["0", "1", "2", "3", "4", "5", "130"] {
        assert!(codes.lines().any(|l| l.split_whitespace().next() == Some(code)), "{code}: {help}");
    }
}

#[test]
fn version_is_that_of_the_package() {
    let output = nwp_mini(&["--version"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).starts_with(concat!("nwp-mini ", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn wrong_usage_exits_with_2_and_leaves_standard_output_alone() {
    for arguments in [
        &[][..],
        &["no-such-command"],
        &["--no-such-option"],
        &["--threads", "0"],
        &["--quiet", "--verbose"],
    ] {
        let output = nwp_mini(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(text(&output.stdout), "", "{arguments:?}");
        assert_ne!(text(&output.stderr), "", "{arguments:?}");
    }
}

#[test]
fn nothing_is_coloured_in_a_pipe() {
    for arguments in [&["--help"][..], &["no-such-command"]] {
        let output = nwp_mini(arguments);
        let escape = |bytes: &[u8]| bytes.contains(&b'\x1b');
        assert!(!escape(&output.stdout) && !escape(&output.stderr), "{arguments:?}");
    }
}

/// In verbose runs log lines tell the seconds since the start; in other runs they do not.
#[test]
fn verbose_lines_tell_the_seconds_since_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.nc");
    let input = concat!(env!("CARGO_MANIFEST_DIR"), "/data/soc.nc");
    let run = ["run", "--backend", "cpu", "--steps", "1", "--input", input, "--force", "--output"];
    let run = [&run[..], &[output.to_str().unwrap()]].concat();
    let lines = |options: &[&str]| {
        let output = nwp_mini(&[options, &run[..]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    let verbose = lines(&["-v"]);
    let first = verbose.lines().find(|line| line.contains("first step")).expect("a line for it");
    let seconds = first.trim_start().split_once('s').map(|(seconds, _)| seconds.parse::<f64>());
    let seconds = seconds.expect("seconds").expect("a number");
    assert!(seconds > 0.0 && seconds < 600.0, "{first}");
    assert!(!lines(&[]).contains("first step"));
}

fn configured(text: &str, arguments: &[&str]) -> std::process::Output {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.toml");
    std::fs::write(&file, text).expect("it can be written");
    let soc = concat!(env!("CARGO_MANIFEST_DIR"), "/data/soc.nc");
    let output = Command::cargo_bin("nwp-mini")
        .expect("built by cargo for this test")
        .current_dir(folder.path())
        .args(["-q", "run", "--dry-run", "--config", "run.toml", "--input", soc])
        .args(arguments)
        .output()
        .expect("it starts");
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 1, "only the configuration stays");
    output
}

#[test]
fn configuration_counts_unless_an_option_is_typed() {
    let steps = |output: &std::process::Output| text(&output.stdout);
    assert!(steps(&configured("steps = 3", &[])).contains("would make 3 steps of 150 s"));
    assert!(steps(&configured("steps = 3\ndt = 60", &[])).contains("would make 3 steps of 60 s"));
    assert!(steps(&configured("steps = 3", &["--steps", "5"])).contains("5 steps"));
    // The two lengths of a run exclude each other; that on the command line takes precedence.
    assert!(steps(&configured("steps = 3", &["--hours", "1"])).contains("24 steps"));
}

#[test]
fn wrong_configuration_is_reported_by_name() {
    for (wrong, words) in [
        ("stepz = 3", "unknown key stepz; the nearest is steps"),
        ("dt = true", "the value true does not fit the key dt"),
        ("force = 1", "true or false is needed"),
        ("limiter = \"monotone\"", "monotonic"),
        ("dt = -1.5", "--dt -1.5"),
        ("dt", "run.toml"),
    ] {
        let output = configured(wrong, &[]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert!(text(&output.stderr).contains(words), "{wrong}: {}", text(&output.stderr));
    }
}

/// The printed defaults are a configuration that changes nothing.
#[test]
fn printed_defaults_are_the_defaults() {
    let defaults = nwp_mini(&["config", "--print-default"]);
    assert_eq!(defaults.status.code(), Some(0));
    let (with, without) = (configured(&text(&defaults.stdout), &[]), configured("", &[]));
    assert_eq!(with.status.code(), Some(0), "{}", text(&with.stderr));
    assert_eq!(text(&with.stdout), text(&without.stdout));
}

#[test]
fn completions_and_manual_name_every_command() {
    let [completions, manual] =
        [&["completions", "bash"][..], &["man"]].map(|arguments| text(&nwp_mini(arguments).stdout));
    for command in ["run", "columns", "transport", "bench", "info", "config"] {
        assert!(completions.contains(command), "{command}");
        assert!(manual.contains(command), "{command}");
    }
}

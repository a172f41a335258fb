//! What the command promises to scripts: exit codes, and what goes to which stream.

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

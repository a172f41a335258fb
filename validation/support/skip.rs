//! Tests that a machine does not admit.

use std::io::{Write, stderr};

/// Reports that the emulated device does not run a test, and why.
pub fn left_out(why: &str) {
    let _ = writeln!(stderr(), "left out on the emulated device: {why}");
}

/// Reports that a test is for the emulated device alone, and why.
pub fn left_out_on_a_gpu(why: &str) {
    let _ = writeln!(stderr(), "left out without the emulated device: {why}");
}

/// Reports that a test is skipped, and why; panics if the variable CI forbids skipping.
///
/// Straight to standard error, past the capture of the test's output: a test that was left out
/// should be seen.
pub fn skipped(why: &str) {
    let none_may_be =
        std::env::var("CI").is_ok_and(|value| ["true", "1"].contains(&value.as_str()));
    assert!(!none_may_be, "CI is set and admits no skipped test: {why}");
    let _ = writeln!(stderr(), "skipped: {why}");
}

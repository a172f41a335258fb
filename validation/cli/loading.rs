//! Machines without a working GPU: one readable line, the CPU for `--backend auto`, exit code 4 for `--backend gpu`,
//! and never a panic. The broken libraries are compiled here from C.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder with a synthetic library.
struct Library {
    folder: tempfile::TempDir,
}

impl Library {
    /// Compiles `code` to a library of this name.
    fn of_c(name: &str, code: &str) -> Self {
        let library = Self { folder: tempfile::tempdir().unwrap() };
        let source = library.folder.path().join("library.c");
        fs::write(&source, code).unwrap();
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-o"]).arg(library.folder.path().join(name)).arg(source);
        assert!(cc.status().expect("a C compiler").success());
        library
    }

    fn of_text(name: &str, text: &str) -> Self {
        let library = Self { folder: tempfile::tempdir().unwrap() };
        fs::write(library.folder.path().join(name), text).unwrap();
        library
    }
}

/// A driver whose `cuInit` returns `code` and that knows CUDA up to `version`.
fn driver(code: i32, version: i32) -> Library {
    let text = format!(
        "int cuInit(unsigned flags) {{ (void)flags; return {code}; }}\n\
         int cuDriverGetVersion(int *version) {{ *version = {version}; return 0; }}\n"
    );
    Library::of_c("libcuda.so", &text)
}

/// Runs the program with this folder first in the path of the loader.
fn nwp_mini(library: Option<&Library>, arguments: &[&str]) -> Output {
    let mut command = assert_cmd::Command::cargo_bin("nwp-mini").unwrap();
    for variable in ["NWP_NVRTC", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"] {
        command.env_remove(variable);
    }
    match library {
        Some(library) => command.env("LD_LIBRARY_PATH", library.folder.path()),
        None => command.env_remove("LD_LIBRARY_PATH"),
    };
    command.args(arguments).output().unwrap()
}

/// The one line that a refusal consists of.
fn line(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(!text.contains("panicked"), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1, "{text}");
    lines[0].to_owned()
}

fn soc() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/soc.nc")
}

/// `run --backend gpu` for one step, into a folder that goes.
fn run(library: Option<&Library>, backend: &str) -> (Output, bool) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.nc");
    let (soc, path) = (soc(), out.display().to_string());
    let input = soc.display().to_string();
    let arguments =
        ["run", "--input", &input, "--backend", backend, "--steps", "1", "--output", &path];
    let output = nwp_mini(library, &arguments);
    (output, out.exists())
}

#[test]
fn every_broken_driver_is_reported_in_one_line() {
    let cases = [
        (driver(34, 13_000), "it is a stub for linking"),
        (driver(100, 13_000), "it sees no GPU"),
        (driver(803, 13_000), "differ in version"),
        (driver(999, 13_000), "CUDA error 999"),
        (driver(0, 12_040), "CUDA up to 12.4, 12.8 is needed"),
        // cudarc panics at the first function that it misses.
        (driver(0, 13_000), "cannot be used"),
        (Library::of_c("libcuda.so", "int nothing;\n"), "lacks cuInit"),
        (Library::of_text("libcuda.so", "no library at all\n"), "libcuda.so: "),
    ];
    let nvrtc = "int nvrtcVersion(int *major, int *minor) { *major = 13; *minor = 0; return 0; }\n\
                 int nvrtcGetCUBIN(void) { return 1; }\n";
    for (library, reason) in &cases {
        // With a compiler beside it, so that there is no other defect.
        let also = Library::of_c("libnvrtc.so.13", nvrtc);
        let from = also.folder.path().join("libnvrtc.so.13");
        fs::copy(from, library.folder.path().join("libnvrtc.so.13")).unwrap();
        let (output, wrote) = run(Some(library), "gpu");
        let line = line(&output);
        assert_eq!(output.status.code(), Some(4), "{line}");
        assert!(line.contains(reason), "{reason}: {line}");
        assert!(!wrote, "{reason}: an output file was left");

        let (output, wrote) = run(Some(library), "auto");
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{reason}: {log}");
        assert!(log.contains("CPU") && log.contains(reason), "{reason}: {log}");
        assert!(wrote, "{reason}");

        let info = nwp_mini(Some(library), &["info"]);
        assert!(info.status.success(), "{reason}");
        assert!(String::from_utf8_lossy(&info.stdout).contains(reason), "{reason}");
    }
}

#[test]
fn every_broken_compiler_is_reported_in_one_line() {
    let old = "int nvrtcVersion(int *major, int *minor) { *major = 11; *minor = 2; return 0; }\n\
               int nvrtcGetCUBIN(void) { return 1; }\n";
    let failing = "int nvrtcVersion(int *major, int *minor) { return 7; }\n\
                   int nvrtcGetCUBIN(void) { return 1; }\n";
    let cases = [
        (Library::of_c("libnvrtc.so.13", old), "it is NVRTC 11.2, 12.0 is needed"),
        (Library::of_c("libnvrtc.so.13", failing), "nvrtcVersion failed with code 7"),
        (Library::of_c("libnvrtc.so.13", "int nothing;\n"), "has no nvrtcVersion"),
        (Library::of_text("libnvrtc.so.13", "no library\n"), "libnvrtc.so.13: "),
        (Library::of_text("another", ""), "looked for"),
    ];
    for (library, reason) in &cases {
        let place = library.folder.path().display().to_string();
        let output = nwp_mini(None, &["kernels", "--nvrtc-lib", &place]);
        let line = line(&output);
        assert_eq!(output.status.code(), Some(4), "{line}");
        assert!(line.contains(reason), "{reason}: {line}");
        assert!(line.contains("--nvrtc-lib"), "no remedy: {line}");
    }
}

#[test]
fn info_shows_where_it_was_looked() {
    let empty = tempfile::tempdir().unwrap();
    let place = empty.path().display().to_string();
    let output = nwp_mini(None, &["info", "--nvrtc-lib", &place]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    assert!(text.contains(&place) && text.contains("libcuda.so"), "{text}");
}

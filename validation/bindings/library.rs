//! The library under test, the compilers for programs that call it, and their programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use nwp_mini_support::project;
use nwp_mini_support::skip::skipped;

/// Folder of the libraries, built as they are shipped: by themselves, since another member of the workspace would turn on
/// features that the library has not.
pub(crate) fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let executable = std::env::current_exe().expect("the path of the test executable");
        // target/release/deps
        let profile = executable.ancestors().nth(2).expect("a folder of the profile");
        let target = profile.parent().expect("a target folder");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        build.current_dir(project()).args([
            "build",
            "--quiet",
            "--release",
            "--package",
            "nwp-mini-c",
        ]);
        build.arg("--target-dir").arg(target);
        expect(&build.output().expect("cargo starts"), "the library is built");
        target.join("release")
    })
}

/// Fails with all that a program has said, unless it succeeded.
pub(crate) fn expect(output: &Output, what: &str) -> String {
    let said = words(output);
    assert!(output.status.success(), "{what}: {:?}\n{said}", output.status);
    said
}

/// All that a program has said.
pub(crate) fn words(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&all).into_owned()
}

/// Returns `true` if a program is installed; a test that needs it is skipped if not.
pub(crate) fn has(program: &str, package: &str) -> bool {
    let is_there =
        Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_there {
        skipped(&format!("no {program} found; install the package {package}"));
    }
    is_there
}

/// Form of the library that a program is linked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Linked {
    /// The shared library.
    Shared,
    /// The static library.
    Static,
}

impl Linked {
    /// Arguments of a compiler, behind the program's own.
    pub(crate) fn arguments(self) -> Vec<String> {
        let folder = folder().display();
        let arguments = match self {
            Self::Shared => {
                vec![format!("{folder}/libnwp_mini_c.so"), format!("-Wl,-rpath,{folder}")]
            }
            Self::Static => vec![format!("{folder}/libnwp_mini_c.a"), "-ldl".to_owned()],
        };
        arguments.into_iter().chain(["-pthread", "-lm"].map(str::to_owned)).collect()
    }
}

/// Compiles a program in C or C++, which must not cause a warning.
pub(crate) fn compiled(source: &str, linked: Linked, place: &Path) -> PathBuf {
    let is_cpp = source.ends_with("cpp");
    let (compiler, standard) = if is_cpp { ("c++", "-std=c++17") } else { ("cc", "-std=c11") };
    let stem = Path::new(source).file_stem().expect("a name").to_string_lossy();
    let program = place.join(format!("{stem}_{linked:?}"));
    let mut command = Command::new(compiler);
    command.current_dir(project()).args([
        standard,
        "-O1",
        "-g",
        "-pedantic",
        "-Wall",
        "-Wextra",
        "-Werror",
    ]);
    command.args(["-Ibindings/c/include", "-Ivalidation/bindings/programs", source]);
    command.args(linked.arguments()).arg("-o").arg(&program);
    expect(&command.output().expect("a C compiler"), source);
    program
}

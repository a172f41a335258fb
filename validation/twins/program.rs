//! The kernels' functions as a program of the host, compiled by a C++ compiler.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nwp_mini::gpu::prelude::{Configuration, prelude};

use super::kernels::{Argument, Function, device_functions, holds_twins};
use super::text::code_only;
use super::values::Precision;

/// A file of `kernels/`.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    /// Its name below `kernels/`, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Header {
    /// Its device functions.
    pub(crate) fn functions(&self) -> Vec<Function> {
        device_functions(&code_only(&self.text))
    }
}

/// All files of device functions that are twins of Rust ones.
pub(crate) fn headers() -> Vec<Header> {
    let mut headers = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    collect(&root, "", &mut headers);
    assert!(headers.iter().any(|h| h.path == "thermo.cuh"), "the kernels were not found");
    headers.sort_by(|a, b| a.path.cmp(&b.path));
    headers
}

fn collect(folder: &Path, prefix: &str, headers: &mut Vec<Header>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), &format!("{path}/"), headers);
        } else if holds_twins(&path) {
            headers.push(Header { path, text: fs::read_to_string(entry.path()).unwrap() });
        }
    }
}

/// A program that calls the functions of some headers.
pub(crate) struct Program {
    executable: PathBuf,
    folder: tempfile::TempDir,
}

impl Program {
    /// Compiles the headers for a configuration; no warning passes.
    pub(crate) fn compile(configuration: &Configuration, headers: &[Header]) -> Self {
        Self::compile_with(configuration, headers, &["-Wall", "-Wextra", "-Werror"])
    }

    /// Compiles headers that are known to be wrong.
    pub(crate) fn compile_silently(configuration: &Configuration, headers: &[Header]) -> Self {
        Self::compile_with(configuration, headers, &["-w"])
    }

    fn compile_with(configuration: &Configuration, headers: &[Header], warnings: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for header in headers {
            let path = folder.path().join(&header.path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &header.text).unwrap();
        }
        fs::write(folder.path().join("main.cc"), main_text(configuration, headers)).unwrap();
        let executable = folder.path().join("twins");
        let project = Path::new(env!("CARGO_MANIFEST_DIR"));
        let emulator = project.join("validation/emulator");
        // Contraction to fused operations is a freedom that Rust does not take.
        let output = Command::new("c++")
            .args(["-std=c++17", "-O1", "-ffp-contract=off"])
            .args(warnings)
            .arg("-I")
            .args([folder.path(), Path::new("-I"), &emulator])
            // Headers of the twins.
            .arg("-I")
            .arg(project.join("kernels"))
            .arg(folder.path().join("main.cc"))
            .arg("-o")
            .arg(&executable)
            .output()
            .expect("a C++ compiler named c++");
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "the kernels do not compile on the host\n{messages}");
        Self { executable, folder }
    }

    /// Calls each of the functions with the same inputs; returns the results of each.
    pub(crate) fn call<R: Precision>(&self, functions: &[String], inputs: &[R]) -> Vec<Vec<R>> {
        let [input, output] = ["in", "out"].map(|name| self.folder.path().join(name));
        fs::write(&input, R::to_bytes(inputs)).unwrap();
        let answer = Command::new(&self.executable)
            .args([&input, &output])
            .args(functions)
            .output()
            .unwrap();
        let messages = String::from_utf8_lossy(&answer.stderr);
        assert!(answer.status.success(), "{}: {messages}", functions[0]);
        let values = R::from_bytes(&fs::read(&output).unwrap());
        values.chunks(values.len() / functions.len()).map(<[R]>::to_vec).collect()
    }
}

/// The program: it applies a function to one set of arguments after the other.
fn main_text(configuration: &Configuration, headers: &[Header]) -> String {
    let mut text = String::from("#include \"functions.h\"\n");
    text += &prelude(configuration);
    for header in headers {
        let _ = writeln!(text, "#include \"{}\"", header.path);
    }
    text += include_str!("reader.h");
    text += "\nconst Entry ENTRIES[] = {\n";
    for function in headers.iter().flat_map(Header::functions) {
        let _ = writeln!(text, "{}", entry(&function));
    }
    text + "};\n\n" + include_str!("main.cc")
}

/// The line that registers a function by its path.
fn entry(function: &Function) -> String {
    let mut text = format!("{{\"{}\", [] {{ ", function.path());
    let mut place = match &function.namespaces[..] {
        [] => String::new(),
        namespaces => format!("{}::", namespaces.join("::")),
    };
    if let Some(object) = &function.object {
        let _ = write!(text, "{place}{object} object; take(object); ");
        "object.".clone_into(&mut place);
    }
    let mut names = Vec::new();
    for argument in &function.arguments {
        names.push(argument.name.clone());
        if argument.kind != "const Wsm5Params&" {
            let _ = write!(text, "{}; take({}); ", declaration(argument), argument.name);
        }
    }
    let call = format!("{place}{}({})", function.name, names.join(", "));
    let _ = match &function.result[..] {
        "void" => write!(text, "{call}; "),
        _ => write!(text, "give({call}); "),
    };
    let is_changed = |kind: &str| kind.contains('&') && !kind.starts_with("const ");
    for argument in function.arguments.iter().filter(|a| is_changed(&a.kind)) {
        let _ = write!(text, "give({}); ", argument.name);
    }
    text + "}},"
}

/// Declares a variable that can be passed as an argument.
fn declaration(argument: &Argument) -> String {
    let kind = argument.kind.trim_start_matches("const ");
    match kind.split_once("(&)") {
        Some((element, extent)) => format!("{element}{}{extent}", argument.name),
        None => format!("{} {}", kind.trim_end_matches('&'), argument.name),
    }
}

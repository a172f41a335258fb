//! The rules of the kernels.

use crate::kernels::{Function, device_functions, enclosed, holds_twins, separated};
use crate::rules::{Finding, Source};
use crate::text::{code_only, is_word, words};

/// Files whose functions Rust has from a crate.
const OF_A_CRATE: [&str; 1] = ["kernels/complex.cuh"];

/// Rust functions in files with device twins that only the host needs: they are called before the
/// first step, or hold loops, which kernels have in other forms.
const HOST_ONLY: [(&str, &[&str]); 4] = [
    ("src/thermo.rs", &["exner", "specific_volume"]),
    ("src/physics/wsm5/substepped_sedimentation.rs", &["largest"]),
    ("src/forcing/blend.rs", &["blend"]),
    ("src/advection/boundary.rs", &["add_open_sides"]),
];

/// True if a file belongs to the kernels.
pub(crate) fn is_kernel(source: &Source) -> bool {
    source.path.starts_with("kernels/") && ["cu", "cuh"].contains(&source.extension())
}

/// The paths of the Rust file with the twins of a kernel file's functions: as a file, and as a folder; `None` if there
/// need not be one.
pub(crate) fn twin_paths(source: &Source) -> Option<[String; 2]> {
    let path = source.path.strip_prefix("kernels/").filter(|path| holds_twins(path))?;
    let stem = path.strip_suffix(".cuh")?;
    let is_ours = !OF_A_CRATE.contains(&source.path.as_str());
    is_ours.then(|| [format!("src/{stem}.rs"), format!("src/{stem}/mod.rs")])
}

/// Device functions without a Rust twin of the same name with the same arguments in the same order,
/// and Rust functions without a device twin.
pub(crate) fn bad_twins(header: &Source, rust: Option<&Source>) -> Vec<Finding> {
    let Some([expected, _]) = twin_paths(header) else { return Vec::new() };
    let Some(rust) = rust else {
        let what = format!("its twin {expected} is missing; name it like the file of its formulas");
        return vec![header.finding(0, what)];
    };
    let functions = device_functions(&code_only(&header.text));
    let code = code_only(&rust.text);
    let twins = rust_functions(&code);
    let mut findings: Vec<Finding> = functions
        .iter()
        .filter_map(|function| {
            let found = twins.iter().find(|twin| twin.name == function.name);
            let what = difference(function, found, &rust.path)?;
            Some(header.finding(function.name_range.start, what))
        })
        .collect();
    let host_only = HOST_ONLY.iter().find(|(path, _)| *path == rust.path).map_or(&[][..], |h| h.1);
    for twin in twins.iter().filter(|twin| twin.is_free) {
        let is_known = functions.iter().any(|function| function.name == twin.name);
        if !is_known && !host_only.contains(&twin.name) {
            let what = format!("{} has no twin in {}", twin.name, header.path);
            findings.push(rust.finding(twin.place, what));
        }
    }
    findings
}

/// A function of a Rust file.
struct RustFunction<'a> {
    name: &'a str,
    /// Names of its arguments, without `self`.
    arguments: Vec<&'a str>,
    /// True if it belongs to no type and to no inner module.
    is_free: bool,
    place: usize,
}

fn rust_functions(code: &str) -> Vec<RustFunction<'_>> {
    let functions = words(code).filter(|(_, word)| *word == "fn").filter_map(|(at, word)| {
        let rest = code[at + word.len()..].trim_start();
        let name = &rest[..rest.find(|c| !is_word(c))?];
        let list = enclosed(&rest[rest.find('(')?..]);
        let arguments = separated(list.get(1..list.len() - 1)?)
            .into_iter()
            .filter_map(|argument| argument.split_once(':'))
            .map(|(name, _)| name.trim().trim_start_matches("mut ").trim())
            .filter(|name| *name != "self")
            .collect();
        let line = code[..at].rfind('\n').map_or(0, |end| end + 1);
        let is_free = !name.is_empty() && !code[line..].starts_with(char::is_whitespace);
        Some(RustFunction { name, arguments, is_free, place: at })
    });
    functions.collect()
}

fn difference(function: &Function, twin: Option<&RustFunction<'_>>, path: &str) -> Option<String> {
    let Some(twin) = twin else {
        return Some(format!("{} has no twin in {path}", function.name));
    };
    let arguments: Vec<&str> = function.arguments.iter().map(|a| a.name.as_str()).collect();
    (arguments != twin.arguments).then(|| {
        format!(
            "{}({}) has the arguments ({}) in {path}",
            function.name,
            arguments.join(", "),
            twin.arguments.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    fn twins(kernel: &str, rust: &str) -> Vec<String> {
        let header = source("kernels/physics/wsm5/warm.cuh", kernel);
        let rust = source("src/physics/wsm5/warm.rs", rust);
        bad_twins(&header, Some(&rust)).iter().map(ToString::to_string).collect()
    }

    const KERNEL: &str = "// praut\nnamespace warm {\n\
        __device__ inline real praut(const Wsm5Params& p, real dt, const real (&q)[2]) { return 0; }\n}\n";

    #[test]
    fn good_twins_pass() {
        let rust = "pub fn praut<R: Real>(\n    p: &Scheme<R>,\n    mut dt: R,\n    q: [R; 2],\n) -> R {}\n\
            impl Warm {\n    fn helper(&self, x: f64) {}\n}\nmod tests {\n    fn inner() {}\n}\n";
        assert_eq!(twins(KERNEL, rust), [""; 0]);
        let method = "struct Faces {\n__device__ inline real sum() const { return 0; }\n};";
        assert_eq!(twins(method, "impl Faces {\n    pub fn sum(self) -> R {}\n}\n"), [""; 0]);
    }

    #[test]
    fn bad_twins_are_found() {
        for (rust, what) in [
            (
                "fn other(p: P, dt: R, q: Q) {}",
                "kernels/physics/wsm5/warm.cuh:3: praut has no twin",
            ),
            (
                "fn praut(p: P, q: Q, dt: R) {}",
                "kernels/physics/wsm5/warm.cuh:3: praut(p, dt, q) has",
            ),
            ("fn praut(p: P, dt: R) {}", "kernels/physics/wsm5/warm.cuh:3: praut(p, dt, q) has"),
            (
                "fn praut(p: P, dt: R, qc: Q) {}",
                "kernels/physics/wsm5/warm.cuh:3: praut(p, dt, q) has",
            ),
            (
                "// fn praut(p: P, dt: R, q: Q) {}",
                "kernels/physics/wsm5/warm.cuh:3: praut has no twin",
            ),
        ] {
            let found = twins(KERNEL, rust);
            assert!(found[0].starts_with(what), "{rust}: {found:?}");
        }
        let rust = "fn praut(p: P, dt: R, q: Q) {}\npub fn pracw(x: R) {}\n";
        let found = twins(KERNEL, rust);
        assert_eq!(
            found,
            ["src/physics/wsm5/warm.rs:2: pracw has no twin in kernels/physics/wsm5/warm.cuh"]
        );
        assert_eq!(bad_twins(&source("kernels/physics/wsm5/warm.cuh", KERNEL), None).len(), 1);
    }

    #[test]
    fn parts_of_kernels_need_no_twins() {
        for path in [
            "kernels/physics/tile/warp.cuh",
            "kernels/complex.cuh",
            "kernels/physics/wsm5/column.cu",
        ] {
            assert_eq!(bad_twins(&source(path, KERNEL), None).len(), 0, "{path}");
        }
    }
}

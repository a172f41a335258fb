//! The rules of the house.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::text::{code_only, used_paths, words};

/// Modules by layer. A module uses only lower layers and its own folder.
const LAYERS: [&[&str]; 11] = [
    &["bounds", "error", "simd", "os_text", "counter_rng", "real", "cuda_abi", "threads", "ranks"],
    &["device"],
    &["calendar", "constants", "grid", "primitives", "constituents"],
    &["dry_mass", "time_steps", "thermo", "units"],
    &["domain", "state"],
    &["advection", "chemistry", "forcing", "frame", "lattice", "physics"],
    &["ensemble", "gpu", "passive"],
    &["backend", "embedded", "io"],
    &["cases", "projection", "diagnostics"],
    &["model", "plot"],
    &["cli", "main"],
];

/// Layers whose modules may use each other: the lowest one, and the command with its options.
const SOCIABLE: [usize; 2] = [0, LAYERS.len() - 1];

/// The launchers of kernels, beside their kernels' subjects; only they and the device layer may contain `unsafe`.
const LAUNCHERS: [&str; 9] = [
    "src/primitives/gpu/",
    "src/advection/gpu/",
    "src/chemistry/gpu/",
    "src/forcing/gpu/",
    "src/lattice/gpu/",
    "src/physics/wsm5/gpu/",
    "src/physics/kessler/gpu.rs",
    "src/physics/wsm6/gpu/",
    "src/gpu/",
];

/// The folder of MPI, a C library as those of the GPU.
const MPI: &str = "src/ranks/mpi/";

/// The one place outside the device layer and the launchers for the word, once: the character type of NetCDF can only be
/// declared by implementing an unsafe trait.
const UNSAFE_EXCEPTION: &str = "src/io/store/netcdf/nc_char.rs";

/// The rooms of NetCDF: outputs and inputs of other formats pass the same seams.
const NETCDF: [&str; 2] = ["src/io/store/netcdf/", "src/io/read/netcdf/"];

/// The shim of HDF5, through which chunks of a file are written and read as they are stored.
const UNSAFE_SHIM: &str = "src/io/store/netcdf/chunks.rs";

const LONGEST_FILE: usize = 500;

/// Most files of source in a folder, its folders aside.
const MOST_FILES: usize = 20;

/// The folder that has more of them, and their number, which may only fall.
const CROWDED: (&str, usize) = ("src/physics/wsm5", 22);

/// Written in two halves, so that this file passes its own check.
const UNFINISHED: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];

/// A file of the project.
pub(crate) struct Source {
    /// Name relative to the project, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// A violation of a rule, and its position.
pub(crate) struct Finding {
    path: String,
    line: usize,
    what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

impl Source {
    pub(crate) fn finding(&self, offset: usize, what: String) -> Finding {
        let line = self.text[..offset].matches('\n').count() + 1;
        Finding { path: self.path.clone(), line, what }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.extension() == "rs"
    }

    pub(crate) fn extension(&self) -> &str {
        self.path.rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    /// The file's place in the tree of modules: `["io", "reader"]`. The crate's root is empty.
    pub(crate) fn module(&self) -> Vec<&str> {
        let inner = self.path.trim_start_matches("src/").trim_end_matches(".rs");
        let mut names: Vec<&str> = inner.split('/').collect();
        if matches!(names.last(), Some(&("mod" | "lib"))) {
            names.pop();
        }
        names
    }
}

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// Modules that reach up, sideways, or to something that the table does not know.
pub(crate) fn bad_imports(source: &Source) -> Vec<Finding> {
    let (code, module) = (code_only(&source.text), source.module());
    let Some(&own) = module.first() else { return Vec::new() };
    let Some(layer) = layer_of(own) else {
        let what = format!("module {own} is not in the table of layers; give it its place there");
        return vec![source.finding(0, what)];
    };
    let mut findings = Vec::new();
    for (offset, path) in used_paths(&module, &code) {
        let Some(other) = path.first().filter(|other| *other != own) else { continue };
        let what = match layer_of(other) {
            None => format!("{own} uses {other} of the crate's root, no module of the table"),
            Some(there) if there < layer => continue,
            Some(there) if there == layer && SOCIABLE.contains(&layer) => continue,
            Some(there) => format!(
                "{own} (layer {layer}) uses {other} (layer {there}); only lower layers and its own \
                 folder are open to it"
            ),
        };
        findings.push(source.finding(offset, what));
    }
    findings
}

/// Dependencies of each module.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// Cycles of dependencies between files, and between modules of the crate's root with their contents. Dependencies
/// between a folder's `mod.rs` and the files of its folder do not count.
pub(crate) fn cycles(sources: &[Source]) -> Vec<String> {
    let names: BTreeSet<String> = sources.iter().map(|s| s.module().join("::")).collect();
    let (mut of_files, mut of_roots) = (Uses::new(), Uses::new());
    for source in sources {
        let module = source.module();
        let own = module.join("::");
        for (_, path) in used_paths(&module, &code_only(&source.text)) {
            // The deepest module that the path leads through.
            let Some(other) = (1..=path.len())
                .rev()
                .map(|length| path[..length].join("::"))
                .find(|name| names.contains(name))
            else {
                continue;
            };
            let is_within = |inner: &str, outer: &str| {
                inner == outer || inner.starts_with(&format!("{outer}::"))
            };
            if !is_within(&own, &other) && !is_within(&other, &own) {
                of_files.entry(own.clone()).or_default().insert(other);
            }
            if let Some(root) = module.first().filter(|root| **root != path[0]) {
                of_roots.entry((*root).to_owned()).or_default().insert(path[0].clone());
            }
        }
    }
    let mut found = circles(&of_files);
    let roots = circles(&of_roots);
    found.extend(roots);
    found.sort();
    found.dedup();
    found
}

/// All dependencies that are part of a cycle.
fn circles(uses: &Uses) -> Vec<String> {
    let reaches = |from: &str, to: &str| {
        let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(at) = next.pop() {
            let others = uses.get(at).into_iter().flatten().map(String::as_str);
            next.extend(others.filter(|other| reached.insert(*other)));
        }
        reached.contains(to)
    };
    let back = uses.iter().flat_map(|(from, others)| others.iter().map(move |other| (from, other)));
    back.filter(|(from, other)| reaches(other, from))
        .map(|(from, other)| format!("{from} uses {other}, which uses it in turn"))
        .collect()
}

/// The libraries of the GPU outside the device layer, `unsafe` outside it, the launchers and the shim, NetCDF
/// outside `src/io/`, and HDF5 outside the shim.
pub(crate) fn misplaced_words(source: &Source) -> Vec<Finding> {
    let code = code_only(&source.text);
    let is_in = |folder| source.path.starts_with(folder);
    let cuda = "src/device/cuda/";
    let launches = is_in("src/device/") || is_in(MPI) || LAUNCHERS.into_iter().any(is_in);
    // A path to the rooms is no use of the crate.
    let is_room = |at: usize| ["store::", "read::", "mod "].iter().any(|x| code[..at].ends_with(x));
    let mut exceptions = usize::from(source.path == UNSAFE_EXCEPTION);
    let mut findings = Vec::new();
    for (offset, word) in words(&code) {
        let home = match word {
            "unsafe" | "hdf5_sys" if source.path == UNSAFE_SHIM => continue,
            "hdf5_sys" => UNSAFE_SHIM,
            "unsafe" if !launches => {
                let declares = words(&code[offset..]).nth(1).is_some_and(|(_, w)| w == "impl");
                if declares && exceptions > 0 {
                    exceptions -= 1;
                    continue;
                }
                "src/device/ and the launchers"
            }
            _ if !is_in(cuda) && ["cudarc", "nvrtc", "nccl"].iter().any(|x| word.contains(x)) => {
                cuda
            }
            "netcdf" if !(NETCDF.into_iter().any(is_in) || is_in("src/io/") && is_room(offset)) => {
                "src/io/store/netcdf/ and src/io/read/netcdf/"
            }
            _ => continue,
        };
        findings.push(source.finding(offset, format!("{word} has its only place in {home}")));
    }
    findings
}

/// Arguments that a function of rates could change: mutable references in Rust, and in CUDA references without
/// `const`.
pub(crate) fn changes(source: &Source) -> Vec<Finding> {
    let code = code_only(&source.text);
    let code = &code[..code.find("#[cfg(test)]").unwrap_or(code.len())];
    let what = || "a rate changes nothing; wsm5/balance and wsm5/melt do".to_owned();
    let places: Vec<usize> = if source.is_rust() {
        code.match_indices("&mut ").map(|(at, _)| at).collect()
    } else {
        // `const Cell& cell` and `const real (&q)[2]` are read; `[&]` is a closure.
        let changes = |at: usize| {
            let argument = code[..at].rfind([',', '(', ';', '{']).map_or(0, |before| before + 1);
            let is_operator = code[at..].starts_with("& ") && code[..at].ends_with(' ');
            let is_pair = code[at..].starts_with("&&") || code[..at].ends_with('&');
            let is_closure = code[..at].ends_with('[');
            let text = code[argument..at].trim();
            !(is_operator
                || is_pair
                || is_closure
                || text.starts_with("const ")
                || text.ends_with("const"))
        };
        code.match_indices('&').map(|(at, _)| at).filter(|at| changes(*at)).collect()
    };
    places.into_iter().map(|at| source.finding(at, what())).collect()
}

/// Marks of unfinished work.
pub(crate) fn unfinished(source: &Source) -> Vec<Finding> {
    let marks = words(&source.text).filter(|(_, word)| UNFINISHED.contains(word));
    let mut findings: Vec<Finding> =
        marks.map(|(at, mark)| source.finding(at, format!("{mark}: do it or drop it"))).collect();
    if source.is_rust() {
        let code = code_only(&source.text);
        for (at, word) in words(&code) {
            let is_macro = code[at + word.len()..].starts_with('!');
            if is_macro && ["todo", "unimplemented", "dbg"].contains(&word) {
                findings.push(source.finding(at, format!("{word}! is no finished work")));
            }
        }
    }
    findings
}

/// Most methods of the interface to CPU and GPU.
const BACKEND_METHODS: usize = 8;

/// The interface to CPU and GPU, where it has more methods than it may, or supertraits that add to them; exactly one
/// file declares it.
pub(crate) fn wide_backend(sources: &[Source]) -> Vec<String> {
    let declared = sources.iter().filter_map(|source| {
        let (_, body) = source.text.split_once("pub trait Backend<R>")?;
        Some((source, body.split("\n}").next().unwrap_or(body)))
    });
    let declared: Vec<_> = declared.collect();
    let [(source, body)] = declared[..] else {
        return vec![format!("{} files declare the trait Backend", declared.len())];
    };
    let methods = body.lines().filter(|line| line.trim_start().starts_with("fn ")).count();
    let mut found = Vec::new();
    if methods > BACKEND_METHODS {
        found.push(format!("{}: {methods} methods; {BACKEND_METHODS} are the most", source.path));
    }
    if !body.starts_with(" {") {
        found.push(format!("{}: supertraits hide methods of Backend", source.path));
    }
    found
}

/// Folders of the source with more files than a listing shows at a glance.
pub(crate) fn crowded_folders(sources: &[Source]) -> Vec<String> {
    let mut files: BTreeMap<&str, usize> = BTreeMap::new();
    for (folder, _) in sources.iter().filter_map(|source| source.path.rsplit_once('/')) {
        *files.entry(folder).or_default() += 1;
    }
    let most = |folder: &str| if folder == CROWDED.0 { CROWDED.1 } else { MOST_FILES };
    let crowded = files.into_iter().filter(|(folder, count)| *count > most(folder));
    crowded.map(|(folder, count)| format!("{folder}: {count} files; make rooms")).collect()
}

/// Files that are too long or named after nothing.
pub(crate) fn bad_file(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines = source.text.lines().count();
    if lines > LONGEST_FILE {
        let what = format!("{lines} lines; split it, {LONGEST_FILE} are the most");
        findings.push(source.finding(source.text.len(), what));
    }
    let name = source.path.rsplit('/').next().unwrap_or_default();
    let parts = source.path.split('/').map(|part| part.split('.').next().unwrap_or_default());
    if parts.into_iter().any(|part| ["util", "utils", "common"].contains(&part)) {
        let what = format!("{name} says nothing; name it after what lives there");
        findings.push(source.finding(0, what));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    fn imports(path: &str, text: &str) -> Vec<String> {
        bad_imports(&source(path, text)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn imports_upwards_and_sideways_are_found() {
        let up = imports("src/io/reader.rs", "use crate::error::Error;\nuse crate::cli::main;\n");
        assert_eq!(up.len(), 1);
        assert!(
            up[0].starts_with("src/io/reader.rs:2: io (layer 7) uses cli (layer 10)"),
            "{up:?}"
        );
        assert_eq!(imports("src/io/mod.rs", "fn f() { crate::backend::g() }").len(), 1);
        assert_eq!(imports("src/dry_mass.rs", "use super::state::State;").len(), 1);
        assert_eq!(imports("src/physics/mod.rs", "use crate::{real::Real, model::M};").len(), 1);
        assert_eq!(imports("src/forcing/air.rs", "use super::super::advection::flux;").len(), 1);
    }

    #[test]
    fn a_wide_backend_is_found() {
        let backend = |text: &str| wide_backend(&[source("src/backend/mod.rs", text)]);
        let methods = |count: usize| "    /// A.\n    fn a(&self);\n".repeat(count);
        let after = "impl X {\n    fn b() {}\n}\n";
        let small = format!("pub trait Backend<R> {{\n{}}}\n{after}", methods(8));
        assert_eq!(backend(&small), Vec::<String>::new());
        let large = format!("pub trait Backend<R> {{\n{}}}\n{after}", methods(9));
        assert_eq!(backend(&large).len(), 1);
        assert_eq!(backend("pub trait Backend<R>: Other<R> {\n}\n").len(), 1);
        assert_eq!(backend(after).len(), 1);
    }

    #[test]
    fn modules_unknown_to_the_table_are_found() {
        assert_eq!(imports("src/weather.rs", "").len(), 1);
        assert_eq!(imports("src/cli/mod.rs", "use crate::VERSION;").len(), 1);
    }

    #[test]
    fn imports_downwards_and_at_home_pass() {
        for (path, text) in [
            (
                "src/io/reader.rs",
                "use crate::error::Error; use crate::io::store::atomic_file::AtomicFile;",
            ),
            ("src/physics/wsm5/warm.rs", "use super::params::Params; use crate::real::Real;"),
            ("src/dry_mass.rs", "mod tests { use super::*; }"),
            ("src/main.rs", "fn main() { nwp_mini::cli::main() }"),
            ("src/lib.rs", "pub mod cli; pub use crate::cli::main;"),
            ("src/real.rs", "use crate::cuda_abi::shared_constants;"),
        ] {
            assert_eq!(imports(path, text), [""; 0], "{path}");
        }
    }

    #[test]
    fn cycles_are_found() {
        let of = |files: &[(&str, &str)]| {
            let sources: Vec<Source> = files.iter().map(|(p, t)| source(p, t)).collect();
            cycles(&sources).len()
        };
        let (a, b) = ("src/io/a.rs", "src/io/b.rs");
        assert_eq!(of(&[(a, "use super::b::B;"), (b, "use crate::io::a::A;")]), 2);
        assert_eq!(
            of(&[("src/real.rs", "crate::error::E"), ("src/error.rs", "crate::real::R")]),
            2
        );
        assert_eq!(of(&[(a, "use super::b::B;"), (b, "")]), 0);
        assert_eq!(of(&[("src/io/mod.rs", "crate::io::a::A"), (a, "use super::Shared;")]), 0);
        let (c, d) = ("src/io/restart/save.rs", "src/io/wrf/series.rs");
        assert_eq!(of(&[(c, "use crate::io::wrf::series::Series;"), (d, "")]), 0);
        let back = "use crate::io::restart::{load, save::{Saved, write}};";
        assert_eq!(of(&[(c, "use crate::io::wrf::series::Series;"), (d, back)]), 2);
        let real = ("src/real.rs", "crate::simd::Lane");
        assert_eq!(of(&[real, ("src/simd/mod.rs", "mod float;")]), 0);
        assert_eq!(
            of(&[real, ("src/simd/mod.rs", ""), ("src/simd/float.rs", "crate::real::R")]),
            2
        );
        let (builder, memory) = ("src/backend/gpu/builder.rs", "src/backend/gpu/memory.rs");
        assert_eq!(of(&[(builder, "super::memory::of();"), (memory, "use super::builder::S;")]), 2);
    }

    #[test]
    fn words_out_of_place_are_found() {
        let count = |path: &str, text| misplaced_words(&source(path, text)).len();
        assert_eq!(count("src/real.rs", "unsafe { f() }"), 1);
        assert_eq!(count("src/real.rs", "use cudarc::driver; fn nvrtc_path() {}"), 2);
        assert_eq!(count("src/cli/mod.rs", "fn f() -> netcdf::Result<()> {}"), 1);
        assert_eq!(count("src/real.rs", "// unsafe\nlet a = \"netcdf, cudarc\";"), 0);
        assert_eq!(count("src/real.rs", "#![deny(unsafe_code)]"), 0);
        assert_eq!(count("src/device/cuda/mod.rs", "unsafe { cudarc::f() }"), 0);
        for launcher in LAUNCHERS {
            assert_eq!(count(&format!("{launcher}mod.rs"), "unsafe { cudarc::f() }"), 1);
        }
        assert_eq!(count("src/physics/wsm5/warm.rs", "unsafe { f() }"), 1);
        assert_eq!(count("src/io/read/reader.rs", "use netcdf::Variable;"), 1);
        assert_eq!(count("src/io/read/reader.rs", "use crate::io::read::netcdf::NetcdfFile;"), 0);
        assert_eq!(count("src/io/read/netcdf/mod.rs", "use netcdf::Variable;"), 0);
        assert_eq!(count("src/io/reader.rs", "use hdf5_sys::h5f::H5Fopen;"), 1);
        assert_eq!(count(UNSAFE_SHIM, "use hdf5_sys::h5f::H5Fopen; unsafe { f() }"), 0);
    }

    #[test]
    fn the_exception_holds_for_one_declaration() {
        let declaration = "unsafe impl NcTypeDescriptor for NcChar {}\n";
        let count = |path, text: &str| misplaced_words(&source(path, text)).len();
        assert_eq!(count(UNSAFE_EXCEPTION, declaration), 0);
        assert_eq!(count(UNSAFE_EXCEPTION, &declaration.repeat(2)), 1);
        assert_eq!(count(UNSAFE_EXCEPTION, "unsafe { f() }"), 1);
        assert_eq!(count("src/io/reader.rs", declaration), 1);
    }

    #[test]
    fn rates_that_change_something_are_found() {
        let count = |path, text| changes(&source(path, text)).len();
        assert_eq!(count("src/physics/wsm5/ice.rs", "fn f(cell: &Cell<R>, q: R) -> R { q }"), 0);
        assert_eq!(count("src/physics/wsm5/ice.rs", "fn f(cell: &mut Cell<R>) {}"), 1);
        assert_eq!(count("src/physics/wsm5/ice.rs", "#[cfg(test)]\nmod tests { f(&mut x) }"), 0);
        let kernel = "kernels/physics/wsm5/ice.cuh";
        let read = "real f(const Cell& cell, real q) { const auto g = [&](real x) { return a & b && c; }; }";
        assert_eq!(count(kernel, read), 0);
        assert_eq!(count(kernel, "real f(const Air& air, Cell& cell) {}"), 1);
        assert_eq!(count(kernel, "real f(real& q) {}"), 1);
    }

    #[test]
    fn unfinished_work_is_found() {
        let count = |path, text: &str| unfinished(&source(path, text)).len();
        for mark in UNFINISHED {
            assert_eq!(count("kernels/a.cuh", &format!("// {mark}: later")), 1);
        }
        for name in ["todo", "unimplemented", "dbg"] {
            assert_eq!(count("src/a.rs", &format!("fn f() {{ {name}!(1) }}")), 1);
            assert_eq!(count("src/a.rs", &format!("// {name}!(1)\nlet {name} = 1;")), 0);
        }
    }

    #[test]
    fn crowded_folders_are_found() {
        let count = |folder: &str, files: usize| {
            let file = |n: usize| source(&format!("{folder}/file_{n}.rs"), "");
            crowded_folders(&(0..files).map(file).collect::<Vec<_>>()).len()
        };
        assert_eq!([MOST_FILES, MOST_FILES + 1].map(|files| count("src/io", files)), [0, 1]);
        assert_eq!([CROWDED.1, CROWDED.1 + 1].map(|files| count(CROWDED.0, files)), [0, 1]);
    }

    #[test]
    fn long_and_ill_named_files_are_found() {
        let count = |path, lines| bad_file(&source(path, &"x\n".repeat(lines))).len();
        assert_eq!(count("kernels/a.cu", LONGEST_FILE), 0);
        assert_eq!(count("kernels/a.cu", LONGEST_FILE + 1), 1);
        assert_eq!(count("src/io/utils.rs", 1), 1);
        assert_eq!(count("src/common/a.rs", 1), 1);
        assert_eq!(count("src/uncommon.rs", 1), 0);
    }
}

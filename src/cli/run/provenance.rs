//! Provenance of an output, for its attributes.

use std::path::Path;
use std::{fs, io};

use sha2::{Digest, Sha256};

use crate::backend::Info;
use crate::cli::FilePrecision;
use crate::cli::run::metadata::variant;
use crate::cli::run::options::RunConfig;
use crate::device::{CompilerFacts, Gpu};
use crate::domain::Attribute;
use crate::error::{Error, Result};
use crate::os_text::{Shown, command_line};

/// Provenance of an output, on a backend.
pub(in crate::cli) fn provenance<R: FilePrecision>(
    config: &RunConfig,
    info: &Info,
    gpu: Option<&Gpu>,
) -> Result<Vec<(String, Attribute)>> {
    let names: Vec<_> = config.inputs.iter().map(|path| path.shown_name()).collect();
    let name = names.join(", ");
    let sums = config.inputs.iter().map(|path| sha256(path)).collect::<Result<Vec<_>>>()?;
    let variant = variant(&*config.scheme.physics);
    let variant = variant.map(|(option, name)| (option, name.to_owned()));
    let facts = [
        ("nwp_mini_version", env!("CARGO_PKG_VERSION").to_owned()),
        ("git_hash", env!("NWP_MINI_COMMIT").to_owned()),
        ("command_line", command_line()),
        ("history", format!("made by nwp-mini {} from {name}", env!("CARGO_PKG_VERSION"))),
        ("backend", info.kind.to_owned()),
        ("device_name", info.device.clone()),
        ("precision", R::NAME.to_owned()),
    ];
    let of_input = [
        ("input_file", name),
        ("input_sha256", sums.join(", ")),
        ("refined", config.scheme.refine.to_string()),
    ];
    let compiler = gpu.map(|gpu| {
        let CompilerFacts { version, options, .. } = gpu.compiler();
        [("nvrtc_version", version), ("nvrtc_options", options.join(" "))]
    });
    let recipe = config.tracers.as_ref().filter(|recipe| !recipe.text.is_empty());
    let tracers = recipe.map(|recipe| ("tracers", recipe.text.clone()));
    let chemistry = config.chemistry.iter().flat_map(|chosen| chosen.kept.iter().cloned());
    let facts = facts
        .into_iter()
        .chain(variant)
        .chain(of_input)
        .chain(tracers)
        .chain(chemistry)
        .chain(compiler.into_iter().flatten());
    Ok(facts.map(|(name, text)| (name.to_owned(), Attribute::Text(text))).collect())
}

/// The checksum of a file, or of the names and contents of all files of a store, in the order of the names.
fn sha256(path: &Path) -> Result<String> {
    let mut hasher = Sha256::new();
    let is_store = path.is_dir();
    let mut waiting = vec![path.to_owned()];
    while let Some(path) = waiting.pop() {
        let failed = |e: io::Error| Error::io(&path, "read", e);
        if path.is_dir() {
            let entries = fs::read_dir(&path).map_err(failed)?;
            let entries = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
            let mut entries = entries.map_err(failed)?;
            entries.sort_unstable_by(|a, b| b.cmp(a));
            waiting.extend(entries);
            continue;
        }
        if is_store {
            hasher.update(path.file_name().unwrap_or_default().as_encoded_bytes());
        }
        let mut file = fs::File::open(&path).map_err(failed)?;
        io::copy(&mut file, &mut hasher).map_err(failed)?;
    }
    Ok(format!("{:x}", hasher.finalize()))
}

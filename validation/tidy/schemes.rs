//! A scheme of column physics stands in its folders, and is named in few other files.

use crate::rules::Source;
use crate::text::code_only;

/// Files that list the schemes.
const LISTS: [&str; 2] = ["src/physics/mod.rs", "src/physics/registry.rs"];

/// Most files of source and kernels, besides its own, those of schemes that build on it, and the lists, whose code may
/// name a scheme: a test is about the kernels of one.
const MOST_FILES: usize = 1;

/// Schemes that build on another one.
const BUILT_ON: [(&str, &str); 1] = [("wsm6", "wsm5")];

/// The files of the rates of the microphysics and of their components. Changes of cells are elsewhere: in `balance` by
/// the rates of a minor step, in `melt` by instantaneous processes.
pub(crate) const RATES: [&str; 28] = [
    "kernels/physics/kessler/cell.cuh",
    "kernels/physics/kessler/conversion.cuh",
    "kernels/physics/kessler/evaporation.cuh",
    "kernels/physics/kessler/saturation.cuh",
    "kernels/physics/kessler/sedimentation.cuh",
    "kernels/physics/wsm5/ice.cuh",
    "kernels/physics/wsm5/radii.cuh",
    "kernels/physics/wsm5/slope.cuh",
    "kernels/physics/wsm5/warm.cuh",
    "kernels/physics/wsm6/collection.cuh",
    "kernels/physics/wsm6/ice.cuh",
    "kernels/physics/wsm6/slope.cuh",
    "kernels/physics/wsm6/vapour.cuh",
    "kernels/thermo.cuh",
    "src/physics/kessler/cell.rs",
    "src/physics/kessler/conversion.rs",
    "src/physics/kessler/evaporation.rs",
    "src/physics/kessler/saturation.rs",
    "src/physics/kessler/sedimentation.rs",
    "src/physics/wsm5/ice.rs",
    "src/physics/wsm5/radii.rs",
    "src/physics/wsm5/slope.rs",
    "src/physics/wsm5/warm.rs",
    "src/physics/wsm6/collection.rs",
    "src/physics/wsm6/ice.rs",
    "src/physics/wsm6/slope.rs",
    "src/physics/wsm6/vapour.rs",
    "src/thermo.rs",
];

/// Schemes that are named in more files than they may be.
pub(crate) fn scattered(sources: &[Source]) -> Vec<String> {
    let mut schemes: Vec<&str> = sources
        .iter()
        .filter_map(|source| source.path.strip_prefix("src/physics/")?.split_once('/'))
        .map(|(scheme, _)| scheme)
        .collect();
    schemes.dedup();
    let mut findings = Vec::new();
    for scheme in schemes {
        let of_schemes: Vec<String> = std::iter::once(scheme)
            .chain(BUILT_ON.iter().filter(|(_, base)| *base == scheme).map(|(heir, _)| *heir))
            .map(|folder| format!("/{folder}/"))
            .collect();
        let names_it = |source: &&Source| {
            let is_of_program = ["src/", "kernels/"].iter().any(|at| source.path.starts_with(at));
            is_of_program
                && !of_schemes.iter().any(|folder| source.path.contains(folder))
                && !LISTS.contains(&source.path.as_str())
                && code_only(&source.text).to_lowercase().contains(scheme)
        };
        let files: Vec<&str> =
            sources.iter().filter(names_it).map(|source| source.path.as_str()).collect();
        if files.len() > MOST_FILES {
            let count = files.len();
            findings.push(format!("{scheme} is named in {count} files: {}", files.join(", ")));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(others: usize, text: &str) -> Vec<String> {
        let file = |path: String, text: &str| Source { path, text: text.to_owned() };
        let mut sources = vec![
            file("src/physics/drizzle/mod.rs".to_owned(), "pub struct Drizzle;"),
            file("kernels/physics/drizzle/drizzle.cu".to_owned(), "void drizzle() {}"),
            file("src/physics/registry.rs".to_owned(), "use super::drizzle;"),
            file("validation/host/drizzle.rs".to_owned(), "drizzle();"),
        ];
        sources.extend((0..others).map(|n| file(format!("src/cli/option_{n}.rs"), text)));
        scattered(&sources)
    }

    #[test]
    fn a_scattered_scheme_is_found() {
        assert_eq!(findings(MOST_FILES, "registry::drizzle();"), [""; 0]);
        assert_eq!(findings(MOST_FILES + 1, "// In drizzle no ice falls."), [""; 0]);
        assert_eq!(findings(MOST_FILES + 1, "registry::drizzle();").len(), 1);
    }
}

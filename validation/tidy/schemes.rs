//! A scheme of column physics stands in its folders, and is named in few other files.
//!
//! One that was here before schemes were is named in more; their number may only fall.

use crate::rules::Source;
use crate::text::code_only;

/// Files that list the schemes.
const LISTS: [&str; 3] =
    ["src/physics/mod.rs", "src/physics/registry.rs", "src/backend/microphysics.rs"];

/// Most files of source and kernels, besides its own and the lists, whose code may name a scheme.
const MOST_FILES: usize = 6;

/// Schemes that are named in more files, and the number of these today. It is lowered with every file that no longer
/// names them.
const NAMED_TODAY: [(&str, usize); 1] = [("wsm5", 42)];

/// Schemes that are named in more files than they may be, or in fewer than is written down here.
pub(crate) fn scattered(sources: &[Source]) -> Vec<String> {
    let mut schemes: Vec<&str> = sources
        .iter()
        .filter_map(|source| source.path.strip_prefix("src/physics/")?.split_once('/'))
        .map(|(scheme, _)| scheme)
        .collect();
    schemes.dedup();
    let named_today = |scheme| NAMED_TODAY.iter().find(|(name, _)| *name == scheme);
    let mut findings = Vec::new();
    for scheme in schemes {
        let own = format!("/{scheme}/");
        let names_it = |source: &&Source| {
            let is_of_program = ["src/", "kernels/"].iter().any(|at| source.path.starts_with(at));
            is_of_program
                && !source.path.contains(&own)
                && !LISTS.contains(&source.path.as_str())
                && code_only(&source.text).to_lowercase().contains(scheme)
        };
        let files: Vec<&str> =
            sources.iter().filter(names_it).map(|source| source.path.as_str()).collect();
        let most = named_today(scheme).map_or(MOST_FILES, |(_, today)| *today);
        if files.len() > most {
            let count = files.len();
            findings.push(format!("{scheme} is named in {count} files: {}", files.join(", ")));
        } else if files.len() < most && named_today(scheme).is_some() {
            findings.push(format!(
                "{scheme} is named in {} files, not {most}: lower the number",
                files.len()
            ));
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
        assert_eq!(findings(6, "Microphysics::Drizzle => {}"), [""; 0]);
        assert_eq!(findings(7, "// In drizzle no ice falls."), [""; 0]);
        assert_eq!(findings(7, "Microphysics::Drizzle => {}").len(), 1);
    }

    #[test]
    fn a_scheme_is_named_in_as_many_files_as_are_written_down() {
        let [(scheme, today)] = NAMED_TODAY;
        let found = |others: usize| {
            let file =
                |path: String| Source { path, text: format!("use crate::physics::{scheme};") };
            let own = file(format!("src/physics/{scheme}/mod.rs"));
            let others = (0..others).map(|n| file(format!("src/cli/option_{n}.rs")));
            scattered(&others.chain([own]).collect::<Vec<_>>()).len()
        };
        assert_eq!([today - 1, today, today + 1].map(found), [1, 0, 1]);
    }
}

//! Rules on the texts of the library: no options of the command line, and paths as text by `os_text` only.

use crate::rules::{Finding, Source};
use crate::text::{code_only, is_word, words};

/// Files whose texts are of the command line.
const COMMAND_LINE: [&str; 2] = ["src/cli/", "src/main.rs"];

/// Files whose texts are options of another program: of the compiler of kernels.
const OF_THE_COMPILER: [&str; 2] = ["src/device/cuda/nvrtc.rs", "src/device/cuda/ptxas_report.rs"];

/// The one file that converts paths to text.
const TEXT_OF_PATHS: &str = "src/os_text.rs";

/// Options of the command line in texts and documents of the library, which carries an `Advice` instead.
pub(crate) fn named_options(source: &Source) -> Vec<Finding> {
    let is_exempt = COMMAND_LINE.iter().any(|place| source.path.starts_with(place))
        || OF_THE_COMPILER.contains(&source.path.as_str());
    if is_exempt {
        return Vec::new();
    }
    let text = &source.text;
    let is_option = |at: &usize| {
        let follows = text[at + 2..].chars().next().is_some_and(|c| c.is_ascii_lowercase());
        follows && !text[..*at].ends_with(|c| is_word(c) || c == '-')
    };
    let places = text.match_indices("--").map(|(at, _)| at).filter(is_option);
    let what = |at: usize| {
        let name: String = text[at..].chars().take_while(|c| is_word(*c) || *c == '-').collect();
        format!("{name} is an option of the command line; errors carry an Advice")
    };
    places.map(|at| source.finding(at, what(at))).collect()
}

/// Conversions of paths to text that lose or forge bytes.
pub(crate) fn displayed_paths(source: &Source) -> Vec<Finding> {
    if source.path == TEXT_OF_PATHS {
        return Vec::new();
    }
    let code = code_only(&source.text);
    let is_call = |at: usize| code[..at].ends_with('.') && code[at..].starts_with("display()");
    let calls = words(&code).filter(|(at, word)| *word == "display" && is_call(*at));
    let what = || "a path becomes text by os_text::Shown only".to_owned();
    calls.map(|(at, _)| source.finding(at, what())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn options_in_texts_are_found() {
        let count = |path, text| named_options(&source(path, text)).len();
        assert_eq!(count("src/passive/file.rs", "let a = \"rename one of --tracers\";"), 1);
        assert_eq!(count("src/real.rs", "/// As `--precision` takes it, and --dt."), 2);
        assert_eq!(count("src/cli/run.rs", "let a = \"--tracers\";"), 0);
        assert_eq!(count("src/device/cuda/nvrtc.rs", "let a = \"--std=c++17\";"), 0);
        assert_eq!(count("src/real.rs", "// i --> j, a -- b, x--y, ---- line\nlet a = b - -c;"), 0);
    }

    #[test]
    fn displayed_paths_are_found() {
        let count = |path, text| displayed_paths(&source(path, text)).len();
        assert_eq!(count("src/io/reader.rs", "format!(\"{}\", path.display())"), 1);
        assert_eq!(count("src/cli/run.rs", "self.path.display().to_string()"), 1);
        assert_eq!(count("src/os_text.rs", "path.display()"), 0);
        assert_eq!(count("src/plot/map.rs", "fn display() { display(); } // path.display()"), 0);
    }
}

//! Errors and warnings of a mechanism: file, line, column, the text with a caret, the expectation, and the most similar
//! known name. All errors of a mechanism are collected before it is rejected.

use std::path::{Path, PathBuf};

use crate::os_text::Shown;

/// Maximum number of errors and warnings that are kept: more errors end the reading, more warnings are only counted.
const MOST_KEPT: usize = 50;

/// Characters shown on either side of the position of an error.
const SHOWN: usize = 60;

/// Maximum number of bytes that are underlined.
const MOST_UNDERLINED: usize = 40;

/// A part of the text of a source file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Index of the file among the sources.
    pub file: usize,
    /// First byte.
    pub start: usize,
    /// Byte after the last one.
    pub end: usize,
}

/// A file of a mechanism as it was read.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its path.
    pub path: PathBuf,
    /// Its text, with invalid UTF-8 replaced.
    pub text: String,
}

/// Severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// A warning: the mechanism can be used.
    Warning,
    /// An error: the mechanism cannot be used.
    Error,
}

/// An error or a warning, and its position.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Its weight.
    pub severity: Severity,
    /// Its position in the text, if it has one.
    pub span: Option<Span>,
    /// The finding.
    pub message: String,
    /// The expectation, or the remedy.
    pub help: String,
}

/// The errors and warnings of a mechanism in the order of discovery, with the files that they refer to.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    /// Files, in the order of reading.
    pub sources: Vec<SourceFile>,
    list: Vec<Diagnostic>,
    /// Number of warnings and of errors.
    counts: [usize; 2],
}

impl Diagnostics {
    /// Notes an error.
    pub fn error(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.add(Severity::Error, Some(span), message.into(), help.into());
    }

    /// Notes a warning.
    pub fn warning(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.add(Severity::Warning, Some(span), message.into(), help.into());
    }

    /// Notes an error that concerns the mechanism as a whole.
    pub(crate) fn general(&mut self, message: impl Into<String>, help: impl Into<String>) {
        self.add(Severity::Error, None, message.into(), help.into());
    }

    /// Notes that there are more than `most` of something.
    pub(super) fn too_many(&mut self, span: Span, what: &str, most: usize) {
        let help = format!("expected at most {most}");
        self.error(span, format!("there are too many {what}"), help);
    }

    /// Number of errors.
    pub fn errors(&self) -> usize {
        self.counts[Severity::Error as usize]
    }

    /// Number of warnings.
    pub fn warnings(&self) -> usize {
        self.counts[Severity::Warning as usize]
    }

    /// True if there are so many errors that parsing should stop.
    pub(crate) fn is_hopeless(&self) -> bool {
        self.errors() > MOST_KEPT
    }

    /// Notes an error or a warning, with its position if it has one.
    pub(super) fn add(
        &mut self,
        severity: Severity,
        span: Option<Span>,
        message: String,
        help: String,
    ) {
        let count = &mut self.counts[severity as usize];
        *count += 1;
        if *count <= MOST_KEPT {
            self.list.push(Diagnostic { severity, span, message, help });
        }
    }

    /// The text of all errors, or of all warnings, with their positions.
    pub fn text(&self, severity: Severity) -> String {
        let kept = self.list.iter().filter(|diagnostic| diagnostic.severity == severity);
        let mut texts: Vec<String> = kept.map(|diagnostic| self.text_of(diagnostic)).collect();
        let more = self.counts[severity as usize].saturating_sub(MOST_KEPT);
        if more > 0 {
            texts.push(match severity {
                Severity::Warning => format!("and {more} more"),
                // Reading stops at the first error that is not kept, and nobody knows how many there are.
                Severity::Error => format!("and more; reading stopped after {MOST_KEPT} errors"),
            });
        }
        texts.join("\n")
    }

    fn text_of(&self, diagnostic: &Diagnostic) -> String {
        let Diagnostic { span, message, help, .. } = diagnostic;
        let (mut text, separator) = match *span {
            None => (message.clone(), "; "),
            Some(span) => {
                let source = &self.sources[span.file];
                let Location { line, column, shown, indent, carets } = Location::of(source, span);
                let file = source.path.shown();
                let marks = " ".repeat(indent) + &"^".repeat(carets);
                let text =
                    format!("{file}:{line}:{column}: {message}\n    | {shown}\n    | {marks}");
                (text, " ")
            }
        };
        if !help.is_empty() {
            text = text + separator + help;
        }
        text
    }
}

/// A position in words: line and column from 1, and the part of the line that is shown.
struct Location {
    line: usize,
    column: usize,
    shown: String,
    indent: usize,
    carets: usize,
}

impl Location {
    fn of(source: &SourceFile, span: Span) -> Self {
        let text = source.text.as_bytes();
        let start = span.start.min(text.len());
        let line = text[..start].split(|&byte| byte == b'\n').count();
        let line_start = text[..start].iter().rposition(|&byte| byte == b'\n').map_or(0, |i| i + 1);
        let line_end =
            text[start..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |i| start + i);
        let column = 1 + String::from_utf8_lossy(&text[line_start..start]).chars().count();

        let from = line_start.max(start.saturating_sub(SHOWN));
        let to = line_end.min(start + 2 * SHOWN);
        let visible = |bytes: &[u8]| -> String {
            let text = String::from_utf8_lossy(bytes);
            text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
        };
        let before = visible(&text[from..start]);
        let after = visible(&text[start..to]);
        let cut = if from > line_start { "..." } else { "" };
        let more = if to < line_end { "..." } else { "" };
        let marked = span.end.clamp(start, line_end.min(start + MOST_UNDERLINED));
        Self {
            line,
            column,
            indent: cut.len() + before.chars().count(),
            carets: String::from_utf8_lossy(&text[start..marked]).chars().count().max(1),
            shown: format!("{cut}{before}{}{more}", after.trim_end()),
        }
    }
}

/// The most similar known name by edit distance, if it is similar enough.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_ascii_uppercase();
    let near = 1 + name.len() / 3;
    known
        .into_iter()
        .filter(|other| other.len().abs_diff(name.len()) <= near)
        .map(|other| (strsim::damerau_levenshtein(&name, &other.to_ascii_uppercase()), other))
        .filter(|(distance, _)| *distance <= near)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, other)| other)
}

/// The name of a file without folder and extension.
pub(super) fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

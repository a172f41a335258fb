//! Messages about TOML files.

/// Message of a TOML error with its line.
pub(super) fn located(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().map_or("", |span| &text[..span.start]);
    let line = before.matches('\n').count() + 1;
    format!("line {line}: {}", error.message().trim().replace('\n', "; "))
}

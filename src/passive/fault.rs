//! Messages about files of TOML.

/// Message of an error of TOML with its line.
pub(super) fn located(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().map_or("", |span| &text[..span.start]);
    let line = before.matches('\n').count() + 1;
    format!("line {line}: {}", error.message().trim().replace('\n', "; "))
}

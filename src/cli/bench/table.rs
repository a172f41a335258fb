//! Tables for people: the columns with their heads, widths and texts.

use std::fmt::Display;

/// A column: its head, its width, negative for texts at the left edge, and its text in the line of a row.
pub(super) type Column<T> = (&'static str, isize, fn(&T) -> String);

/// The heads of the columns.
pub(super) fn head<T>(columns: &[Column<T>]) -> String {
    aligned(columns, |(head, ..)| (*head).to_owned())
}

/// The line of a row.
pub(super) fn line<T>(columns: &[Column<T>], row: &T) -> String {
    aligned(columns, |(_, _, text)| text(row))
}

fn aligned<T>(columns: &[Column<T>], text: impl Fn(&Column<T>) -> String) -> String {
    let cells = columns.iter().map(|column| {
        let (text, width) = (text(column), column.1.unsigned_abs());
        if column.1 < 0 { format!("{text:<width$}") } else { format!("{text:>width$}") }
    });
    cells.collect::<Vec<_>>().join(" ")
}

/// A number with so many digits, or a dash.
pub(super) fn digits(number: Option<f64>, digits: usize) -> String {
    or_dash(number.map(|x| format!("{x:.digits$}")))
}

/// A value, or a dash.
pub(super) fn or_dash(value: Option<impl Display>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// Name of the CPU with a number of threads.
pub(super) fn cpu_with(threads: usize) -> String {
    format!("CPU, {}", counted(threads, "thread"))
}

/// A number of things.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stand_below_their_heads() {
        let columns: [Column<f64>; 2] =
            [("half", -6, |x| format!("{:.1}", x / 2.0)), ("x", 4, |x| digits(Some(*x), 0))];
        assert_eq!([head(&columns), line(&columns, &3.0)], ["half      x", "1.5       3"]);
        assert_eq!([cpu_with(1), cpu_with(8)], ["CPU, 1 thread", "CPU, 8 threads"]);
        assert_eq!(digits(None, 3), "-");
    }
}

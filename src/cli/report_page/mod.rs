//! A self-contained page about a run or a measurement, with embedded pictures: no network, no script, no other file.

mod bench;
mod roofline;
mod run;

use std::fmt::Write;

use serde_json::Value;
use time::OffsetDateTime;
use time::macros::format_description;

pub(super) use bench::page as of_bench;
pub(super) use run::page as of_run;

use crate::os_text::command_line;
use crate::plot::svg::escaped;

static STYLE: &str = include_str!("page.css");

/// A page being built.
struct Page {
    title: String,
    sections: Vec<(&'static str, String)>,
    head: String,
}

/// Style of a cell of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Plain,
    Good,
    Bad,
}

/// A cell of a table.
#[derive(Clone, Debug)]
struct Cell {
    text: String,
    look: Look,
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, look: Look::Plain }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Cell {
    /// Verdict, in words and colour.
    fn verdict(passes: bool) -> Self {
        let (text, look) = if passes { ("pass", Look::Good) } else { ("FAIL", Look::Bad) };
        Self { text: text.to_owned(), look }
    }

    fn html(&self) -> String {
        let class = match self.look {
            Look::Plain => "",
            Look::Good => " class=\"good\"",
            Look::Bad => " class=\"bad\"",
        };
        format!("<td{class}>{}</td>", escaped(&self.text))
    }
}

impl Page {
    fn new(title: &str) -> Self {
        Self { title: title.to_owned(), sections: Vec::new(), head: String::new() }
    }

    /// The key figures at the top, each with its name.
    fn facts(&mut self, facts: &[(String, String)]) {
        self.head += "<div class=\"facts\">\n";
        for (value, what) in facts {
            let [value, what] = [value, what].map(|text| escaped(text));
            writeln!(self.head, "<div class=\"fact\"><b>{value}</b><span>{what}</span></div>")
                .expect("writing to memory");
        }
        self.head += "</div>\n";
    }

    /// A section, unless it is empty.
    fn section(&mut self, title: &'static str, content: String) {
        if !content.is_empty() {
            self.sections.push((title, content));
        }
    }

    fn html(&self) -> String {
        let title = escaped(&self.title);
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n\
             </head>\n<body>\n<header>\n<h1>{title}</h1>\n<nav>"
        );
        for (number, (name, _)) in self.sections.iter().enumerate() {
            writeln!(html, "<a href=\"#s{number}\">{}</a>", escaped(name))
                .expect("writing to memory");
        }
        write!(html, "</nav>\n</header>\n<main>\n{}", self.head).expect("writing to memory");
        for (number, (name, content)) in self.sections.iter().enumerate() {
            let name = escaped(name);
            writeln!(html, "<section>\n<h2 id=\"s{number}\">{name}</h2>\n{content}</section>")
                .expect("writing to memory");
        }
        html + "</main>\n</body>\n</html>\n"
    }
}

/// A table: the cells of a row with the heads of their columns; the first column has words.
fn table<const N: usize>(rows: impl IntoIterator<Item = [(&'static str, Cell); N]>) -> String {
    let mut rows = rows.into_iter().peekable();
    let Some(first) = rows.peek() else { return String::new() };
    let heads = first.each_ref().map(|(head, _)| format!("<th>{}</th>", escaped(head)));
    let mut html = format!(
        "<div class=\"scroll\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n",
        heads.concat()
    );
    for row in rows {
        let cells: String = row.iter().map(|(_, cell)| cell.html()).collect();
        writeln!(html, "<tr>{cells}</tr>").expect("writing to memory");
    }
    html + "</tbody>\n</table></div>\n"
}

/// Pairs of a name and a value.
fn list(pairs: &[(&str, String)]) -> String {
    let mut html = "<table class=\"plain\"><tbody>\n".to_owned();
    for (name, value) in pairs.iter().filter(|(_, value)| !value.is_empty()) {
        writeln!(html, "<tr><td>{}</td><td>{}</td></tr>", escaped(name), escaped(value))
            .expect("writing to memory");
    }
    html + "</tbody></table>\n"
}

/// A picture.
fn figure(svg: &str) -> String {
    format!("<figure>\n{svg}</figure>\n")
}

fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", escaped(text))
}

/// Provenance of this page.
fn provenance(pairs: &[(&str, String)]) -> String {
    let now = OffsetDateTime::now_utc();
    let form = format_description!("[year]-[month]-[day] [hour]:[minute] UTC");
    let made = now.format(form).unwrap_or_else(|_| now.date().to_string());
    format!(
        "{}<p class=\"faint\">Command</p>\n<pre>{}</pre>\n",
        list(&[pairs, &[("page made", made)]].concat()),
        escaped(&command_line())
    )
}

/// A number at a path of keys, as "timing/step/total_s".
fn number(value: &Value, path: &str) -> Option<f64> {
    value.pointer(&format!("/{path}"))?.as_f64()
}

/// A text or a number at a path of keys, as text.
fn text(value: &Value, path: &str) -> String {
    match value.pointer(&format!("/{path}")) {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
    }
}

/// The values of a list at a path of keys.
fn items<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    value.pointer(&format!("/{path}")).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A number with a number of decimals, or a dash.
fn fixed(x: Option<f64>, digits: usize) -> String {
    x.map_or_else(|| "–".to_owned(), |x| format!("{x:.digits$}").replace('-', "−"))
}

/// A number with few digits, or a dash.
fn brief(x: Option<f64>) -> String {
    x.map_or_else(|| "–".to_owned(), crate::plot::colour::short)
}

/// A position `[k, j, i]` as "i j k".
fn place(value: &Value) -> String {
    let indices: Vec<String> =
        value.as_array().into_iter().flatten().rev().map(Value::to_string).collect();
    indices.join(" ")
}

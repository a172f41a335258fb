//! Stations from a CSV file: a header, then a name and two coordinates in each line.

use std::collections::HashMap;
use std::path::Path;

use crate::error::{Error, Result};
use crate::io::read::reader::nearest;
use crate::io::read::text;
use crate::io::weights::Coordinates;

/// A station.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Station {
    /// Name of the station.
    pub name: String,
    /// Longitude, degrees east, or x, m.
    pub x: f64,
    /// Latitude, degrees north, or y, m.
    pub y: f64,
    /// Line of the file, counted from 1.
    pub line: usize,
}

/// The stations of a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stations {
    /// Kind of the coordinates.
    pub coordinates: Coordinates,
    /// In the order of the file; at least one.
    pub list: Vec<Station>,
}

/// Names of the columns.
const COLUMNS: [&str; 5] = ["name", "lat", "lon", "x", "y"];

/// Expected header.
const HEADERS: &str = "name,lat,lon (degrees) or name,x,y (m)";

impl Stations {
    /// Reads a file of stations. Empty lines and lines that begin with # are skipped.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when it cannot be read; [`Error::Input`] with the line when the header lacks a column or has an
    /// unknown one, when a line has other columns than the header, when a number is invalid or out of range, and when a
    /// name is missing or repeated.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = text::read(path)?;
        Self::parse(&text).map_err(|message| Error::input(path, message))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}');
        let mut lines = text
            .lines()
            .enumerate()
            .map(|(n, line)| (n + 1, line.trim()))
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let Some((line, header)) = lines.next() else {
            return Err(format!(
                "is empty; a header {HEADERS} is needed, then a line for each station"
            ));
        };
        let header: Vec<String> = fields(header, line)?.iter().map(|x| x.to_lowercase()).collect();
        let (coordinates, [name, x, y]) = columns(&header, line)?;
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut list = Vec::new();
        for (line, text) in lines {
            let fields = fields(text, line)?;
            if fields.len() != header.len() {
                return Err(format!(
                    "line {line} has {} columns; the header has {}",
                    fields.len(),
                    header.len()
                ));
            }
            let number = |column: usize| number(&fields[column], &header[column], line);
            let station =
                Station { name: fields[name].clone(), x: number(x)?, y: number(y)?, line };
            if station.name.is_empty() {
                return Err(format!("line {line} has no name; every station needs one"));
            }
            if let Some(before) = known.insert(station.name.clone(), line) {
                return Err(format!(
                    "line {line} has the name {:?} of line {before}; names must differ",
                    station.name
                ));
            }
            list.push(station);
        }
        if list.is_empty() {
            return Err("has a header and no station; add one in each line below".to_owned());
        }
        Ok(Self { coordinates, list })
    }
}

/// Indices of the columns: name, longitude or x, latitude or y.
fn columns(header: &[String], line: usize) -> Result<(Coordinates, [usize; 3]), String> {
    for (n, column) in header.iter().enumerate() {
        if !COLUMNS.contains(&column.as_str()) {
            let hint = nearest(column, COLUMNS.into_iter())
                .map_or_else(String::new, |near| format!("; the nearest known name is {near}"));
            return Err(format!(
                "line {line} has a column {column:?}{hint}; the header must be {HEADERS}"
            ));
        }
        if header[..n].contains(column) {
            return Err(format!("line {line} has two columns {column}; one is needed"));
        }
    }
    let at = |name: &str| header.iter().position(|column| column == name);
    let Some(name) = at("name") else {
        return Err(format!("line {line} has no column name; the header must be {HEADERS}"));
    };
    match [at("lon"), at("lat"), at("x"), at("y")] {
        [Some(x), Some(y), None, None] => Ok((Coordinates::Degrees, [name, x, y])),
        [None, None, Some(x), Some(y)] => Ok((Coordinates::Metres, [name, x, y])),
        found => {
            let names = ["lon", "lat", "x", "y"];
            let has: Vec<&str> =
                names.into_iter().zip(found).filter_map(|(name, at)| at.map(|_| name)).collect();
            let has = if has.is_empty() { "no coordinates".to_owned() } else { has.join(", ") };
            Err(format!("line {line} has {has}; the header must be {HEADERS}"))
        }
    }
}

fn number(text: &str, column: &str, line: usize) -> Result<f64, String> {
    let range = match column {
        "lat" => -90.0..=90.0,
        "lon" => -360.0..=360.0,
        _ => f64::MIN..=f64::MAX,
    };
    match text.parse::<f64>() {
        Ok(x) if range.contains(&x) => Ok(x),
        Ok(x) if x.is_finite() => Err(format!(
            "line {line} has {column} {text}; it must be between {} and {} degrees",
            range.start(),
            range.end()
        )),
        _ => Err(format!("line {line} has {column} {text:?}; a number is needed")),
    }
}

/// The columns of a line. In double quotes a column may contain commas, and a quote as two.
fn fields(line: &str, number: usize) -> Result<Vec<String>, String> {
    let mut fields = vec![String::new()];
    let (mut is_quoted, mut characters) = (false, line.chars().peekable());
    while let Some(c) = characters.next() {
        let field = fields.last_mut().expect("never empty");
        match c {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' if is_quoted => is_quoted = false,
            '"' if field.trim().is_empty() => {
                field.clear();
                is_quoted = true;
            }
            ',' if !is_quoted => fields.push(String::new()),
            c => field.push(c),
        }
    }
    if is_quoted {
        return Err(format!("line {number} has a quote that is not closed"));
    }
    Ok(fields.into_iter().map(|field| field.trim().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_in_any_order() {
        let text =
            "\u{feff}# towns\nLon, name ,lat\n\n8.5,\"Zug, upper \"\"part\"\"\",47.1\n-3,b,50\n";
        let Stations { coordinates, list } = Stations::parse(text).expect("good places");
        assert_eq!(coordinates, Coordinates::Degrees);
        let zug = "Zug, upper \"part\"".to_owned();
        assert_eq!(list[0], Station { name: zug, x: 8.5, y: 47.1, line: 4 });
        assert_eq!(list[1], Station { name: "b".to_owned(), x: -3.0, y: 50.0, line: 5 });
        let metres = Stations::parse("name,x,y\na,1e3,2e3").expect("good places");
        assert_eq!((metres.coordinates, metres.list[0].x), (Coordinates::Metres, 1000.0));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, words) in [
            ("", &["is empty", "name,lat,lon"][..]),
            ("# nothing\n", &["is empty"]),
            ("name,lat,lon\n", &["no station"]),
            ("lat,lon\n1,2", &["line 1", "no column name"]),
            ("name,lat\na,1", &["line 1", "has lat", "name,lat,lon"]),
            ("name,lat,y\na,1,2", &["line 1", "lat, y"]),
            ("name,lat,long\na,1,2", &["line 1", "\"long\"", "nearest", "lon"]),
            ("name,lat,lon,lat\na,1,2,3", &["two columns lat"]),
            ("name,x,y\na,1\n", &["line 2", "2 columns", "has 3"]),
            ("name,x,y\na,1,two\n", &["line 2", "y \"two\"", "number"]),
            ("name,x,y\na,1,nan\n", &["line 2", "number"]),
            ("name,x,y\na,1,\n", &["line 2", "y \"\"", "number"]),
            ("name,lat,lon\na,91,2\n", &["line 2", "lat 91", "-90 and 90"]),
            ("name,x,y\n,1,2\n", &["line 2", "no name"]),
            ("name,x,y\na,1,2\nb,1,2\na,1,2\n", &["line 4", "\"a\"", "line 2"]),
            ("name,x,y\n\"a,1,2\n", &["line 2", "quote"]),
        ] {
            let message = Stations::parse(text).expect_err(text);
            for word in words {
                assert!(message.contains(word), "{word:?} is not in {message:?}");
            }
        }
    }
}

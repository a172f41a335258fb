//! `nwp-mini bench --merge`: records of several runs and machines as one table and one picture.

mod chart;
mod tables;

use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Bench;
use crate::error::{Error, Result};
use crate::io::atomic_file::AtomicFile;
use crate::io::text;
use crate::os_text::escaped;

/// A row of a record; older versions lack some fields.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Row {
    bench: String,
    variant: String,
    backend: Option<String>,
    threads: Option<usize>,
    grid_or_n: Option<String>,
    median_s: Option<f64>,
    min_s: Option<f64>,
    max_s: Option<f64>,
    cells_per_s: Option<f64>,
    gb_per_s: Option<f64>,
    percent_of_copy: Option<f64>,
    percent_of_arithmetic: Option<f64>,
    copy_gb_per_s: Option<f64>,
    arithmetic_gop_per_s: Option<f64>,
    timing: Option<String>,
    /// Location of the data of a rung.
    place: Option<String>,
    cumulative_speed_up: Option<f64>,
    device: Option<String>,
    precision: Option<String>,
    tracers: Option<usize>,
    version: Option<String>,
    commit: Option<String>,
    date: Option<String>,
    cpu: Option<String>,
    cores: Option<usize>,
    driver: Option<String>,
    compiler: Option<String>,
    fast_math: Option<bool>,
    input: Option<String>,
    dt: Option<f64>,
    /// Name of the folder of the record.
    #[serde(skip)]
    folder: String,
}

/// A row that has a time.
#[derive(Clone, Debug)]
struct Timed {
    row: Row,
    median: f64,
    grid: String,
}

/// Input of records that do not name it: all records before the name was recorded had this one.
const USUAL_INPUT: &str = "soc.nc";

impl Bench {
    /// Merges the records.
    pub(super) fn merge_records(&self, out: &mut impl Write) -> Result<()> {
        let svg = AtomicFile::if_asked(self.range.svg.as_deref(), self.force)?;
        let json = AtomicFile::if_asked(self.json.as_deref(), self.force)?;
        let mut rows = Vec::new();
        for path in &self.merge {
            rows.extend(read(path)?);
        }
        // Of two records of the same subject the newer one counts; without dates, the one given last.
        rows.sort_by(|a, b| a.row.date.cmp(&b.row.date));
        let cases = tables::cases(&rows);
        write!(out, "{}", tables::machines(&rows))?;
        write!(out, "{}", tables::bounds(&rows))?;
        write!(out, "{}", tables::parts(&cases))?;
        write!(out, "{}", tables::ladders(&rows))?;
        if let Some(svg) = svg {
            let wanted: Vec<String> = self.tile.iter().map(ToString::to_string).collect();
            let picture = chart::draw(&cases, &wanted).ok_or_else(|| {
                Error::Usage(
                    "--svg: the records contain no time of wsm5, advection or step on the \
                     requested grid"
                        .to_owned(),
                )
            })?;
            svg.write_text(&picture)?;
        }
        if let Some(json) = json {
            json.write_json(&rows.iter().map(|timed| &timed.row).collect::<Vec<_>>())?;
        }
        Ok(())
    }
}

/// The rows of a record that have a time.
fn read(path: &Path) -> Result<Vec<Timed>> {
    let text = text::read(path)?;
    let rows: Vec<Row> = serde_json::from_str(&text).map_err(|error| {
        let message =
            format!("is not a record of bench --json, a list of figures: {error}; measure again");
        Error::input(path, message)
    })?;
    let absolute = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = absolute.parent().and_then(Path::file_name).unwrap_or_default();
    let timed = rows.into_iter().filter_map(|row| {
        let (median, grid) = (row.median_s?, row.grid_or_n.clone()?);
        let row = Row { folder: escaped(folder).into_owned(), ..row };
        (median > 0.0 && row.backend.is_some()).then_some(Timed { row, median, grid })
    });
    let timed: Vec<Timed> = timed.collect();
    if timed.is_empty() {
        return Err(Error::input(path, "contains no times; use records of bench --json"));
    }
    Ok(timed)
}

impl Row {
    fn is_gpu(&self) -> bool {
        self.backend.as_deref() == Some("gpu")
    }

    /// The processor, as far as it is known.
    fn host(&self) -> String {
        let own = self.device.as_ref().filter(|_| !self.is_gpu());
        let cpu = self.cpu.as_ref().or(own).unwrap_or(&self.folder);
        match self.cores {
            Some(cores) => format!("{cpu}, {cores} cores"),
            None => cpu.clone(),
        }
    }

    /// Platform, in words.
    fn platform(&self) -> String {
        let exact = if self.fast_math == Some(false) { ", no fast-math" } else { "" };
        match (self.is_gpu(), self.threads) {
            (true, _) => {
                format!("{}{exact}", self.device.as_ref().unwrap_or(&self.folder))
            }
            (false, Some(1)) => format!("{}, 1 thread", self.host()),
            (false, Some(threads)) => format!("{}, {threads} threads", self.host()),
            (false, None) => self.host(),
        }
    }

    fn input(&self) -> &str {
        self.input.as_deref().unwrap_or(USUAL_INPUT)
    }

    fn precision(&self) -> &str {
        self.precision.as_deref().unwrap_or("f32")
    }
}

/// Key of a part of a step, independent of the backend.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PartKey {
    what: String,
    grid: String,
    precision: String,
    input: String,
}

/// One part of a step on one platform: its fastest variant.
#[derive(Clone, Debug)]
struct FastestPart {
    key: PartKey,
    platform: String,
    timed: Timed,
    /// Time for a cell and a tracer, s.
    of_a_cell: f64,
    with_transfers: bool,
}

/// Subject of a row in comparisons: the same words for all backends.
fn what(row: &Row) -> Option<String> {
    let has = |word| row.variant.contains(word);
    let fall = if has("sub-stepped") { ", sub-stepped fall" } else { "" };
    Some(match row.bench.as_str() {
        "wsm5" => {
            let radar = if has("radar") || has("radii") { ", radii and reflectivity" } else { "" };
            format!("WSM5{fall}{radar}")
        }
        "advection" => {
            let limiters = ["positive definite", "monotonic", "no limiter"];
            let limiter = limiters.into_iter().find(|limiter| has(limiter))?;
            format!("advection, RK3, {limiter}, a tracer")
        }
        "step" => format!("whole step, 6 tracers and WSM5{fall}"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn row(json: &str) -> Row {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn the_same_part_has_one_name_everywhere() {
        let name = |bench: &str, variant: &str| {
            what(&row(&format!("{{\"bench\": \"{bench}\", \"variant\": \"{variant}\"}}")))
        };
        assert_eq!(name("wsm5", "surface outputs"), name("wsm5", "tile C8 NT256 B4"));
        assert_eq!(name("wsm5", "with radii and reflectivity"), name("wsm5", "column NT32, radar"));
        assert_eq!(
            name("advection", "RK3, monotonic, a tracer"),
            name("advection", "RK3, monotonic, 6 tracers")
        );
        assert_ne!(
            name("step", "6 tracers and WSM5"),
            name("step", "6 tracers and WSM5, sub-stepped")
        );
        assert_eq!(name("reduce", "two passes"), None);
    }

    #[test]
    fn records_of_any_age_are_read() {
        let old = row(
            r#"{"bench": "wsm5", "variant": "v", "backend": "cpu", "threads": 1, "gb_per_s": null}"#,
        );
        let old = Row { folder: "2026-epyc".to_owned(), ..old };
        assert_eq!(old.platform(), "2026-epyc, 1 thread");
        let new =
            row(r#"{"bench": "wsm5", "variant": "v", "backend": "gpu", "device": "G", "cpu": "C",
                "cores": 4, "fast_math": false}"#);
        assert_eq!([new.platform(), new.host()], ["G, no fast-math", "C, 4 cores"]);
    }
}

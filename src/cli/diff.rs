//! `nwp-mini diff`: comparison of two NetCDF files or Zarr stores, variable by variable.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use crate::cli::distinct_files::refuse_one_file_twice;
use crate::cli::run::metadata::{Machine, machine};
use crate::diagnostics::comparison::{
    Comparison, DifferenceAt, Figures, VariableReport, VariableVerdict, compare,
};
use crate::diagnostics::tolerance::{SHIPPED, Tolerances};
use crate::diagnostics::totals::Total;
use crate::error::{Error, Result};
use crate::io::read::reader::Reader;
use crate::io::store::atomic_file::AtomicFile;
use crate::os_text::Shown;

/// Most failures in the last message.
const NAMED: usize = 8;

/// Compare two NetCDF files or Zarr stores, variable by variable.
///
/// Without --tolerance every difference counts, to the last bit; only one NaN is as good as another.
/// Whole numbers and text are compared for equality, whatever the tolerance. Packed values
/// are unpacked, and may be off by half of their step; a missing value differs from any other value.
/// Values in other units are converted to those of the first file, and the difference is told.
/// Other attributes are not compared. Files with groups are refused, and so are those that differ in nothing but have
/// variables of user-defined types.
///
/// Example: nwp-mini diff --print-tolerance > limits.toml
///
/// Example: nwp-mini diff a.nc b.nc --tolerance limits.toml
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Diff {
    /// The file that relative differences refer to
    #[arg(value_name = "A.nc", required_unless_present = "print_tolerance")]
    a: Option<PathBuf>,
    /// The file to compare with it
    #[arg(value_name = "B.nc", required_unless_present = "print_tolerance")]
    b: Option<PathBuf>,
    /// TOML file with tolerances
    #[arg(long, value_name = "FILE")]
    tolerance: Option<PathBuf>,
    /// Write the figures to a JSON file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Overwrite the JSON file
    #[arg(long)]
    force: bool,
    /// Print limits for two builds in single precision, as a tolerance file
    #[arg(long, exclusive = true)]
    print_tolerance: bool,
}

const HELP: &str = "\
Tolerance file:
  [variables]
  QRAIN = { atol = 1e-9, rtol = 1e-4, outliers = 1e-3, rms_percent = 2 }
  [default]            # of all other variables; without it they must be the same
  atol = 0
  [totals]             # relative; RAINNC SNOWNC GRAUPELNC rain snow graupel water
  water = 1e-6
A value passes if |a - b| <= atol + rtol |a|; outliers is the fraction of values that may fail;
rms_percent limits the root mean square of the errors, in per cent of that of A, plus atol.

Exit codes: 0 the same within the limits, 1 different, 2 wrong usage, 3 could not compare";

/// The figures, for programs.
#[derive(Debug, Serialize)]
struct Facts<'a> {
    version: &'static str,
    commit: &'static str,
    machine: Machine,
    a: String,
    b: String,
    tolerance: Option<String>,
    same: bool,
    #[serde(flatten)]
    comparison: &'a Comparison,
}

impl Diff {
    pub(super) fn run(&self) -> Result<()> {
        let (Some(a), Some(b)) = (&self.a, &self.b) else {
            io::stdout().write_all(SHIPPED.as_bytes())?;
            return Ok(());
        };
        let tolerances = self.tolerance.as_deref().map(Tolerances::read).transpose()?;
        let mut read = vec![("an input file", a), ("an input file", b)];
        read.extend(self.tolerance.iter().map(|path| ("the file of --tolerance", path)));
        refuse_one_file_twice(&[("--json", self.json.as_ref())], &read)?;
        let json = AtomicFile::if_asked(self.json.as_deref(), self.force)?;
        let comparison = compare(&Reader::open(a)?, &Reader::open(b)?, tolerances.as_ref())?;
        let failures = comparison.failures();
        if let Some(file) = json {
            let facts = Facts {
                version: env!("CARGO_PKG_VERSION"),
                commit: env!("NWP_MINI_COMMIT"),
                machine: machine(),
                a: a.shown().into_owned(),
                b: b.shown().into_owned(),
                tolerance: self.tolerance.as_ref().map(|path| path.shown().into_owned()),
                same: failures.is_empty(),
                comparison: &comparison,
            };
            file.write_json(&facts)?;
        }
        self.print(&comparison, [a, b])?;
        if failures.is_empty() {
            let is_within = |v: &VariableReport| v.verdict == VariableVerdict::Within;
            let limits = match self.tolerance {
                Some(_) => "within the limits",
                None if comparison.variables.iter().any(is_within) => {
                    "within half a step of what is packed and the rounding of what is converted"
                }
                None => "bit by bit",
            };
            let count = comparison.variables.len();
            writeln!(io::stdout(), "\nThe same {limits}: {count} variables.")?;
            return Ok(());
        }
        if let Some(unread) = comparison.all_that_fails_is_unread() {
            return Err(Error::input(
                a,
                format!(
                    "the values of {} are of user-defined types (compound, enum, opaque, vlen), which cannot be \
                     read; the other {} variables pass; compare those with another tool, such as h5diff",
                    some_of(&unread),
                    comparison.variables.len() - unread.len()
                ),
            ));
        }
        Err(Error::Verdict(format!(
            "{} and {} differ in {}; the table on standard output says how",
            a.shown(),
            b.shown(),
            some_of(&failures)
        )))
    }

    fn print(&self, comparison: &Comparison, [a, b]: [&Path; 2]) -> Result<()> {
        let mut out = io::stdout().lock();
        let limits = match &self.tolerance {
            Some(path) => path.shown().into_owned(),
            None => "none; every difference counts".to_owned(),
        };
        writeln!(out, "A           {}\nB           {}", a.shown(), b.shown())?;
        writeln!(out, "tolerance   {limits}\n")?;
        let rows: Vec<_> = comparison.variables.iter().map(variable_row).collect();
        print_table(&mut out, &VARIABLE_HEAD, &rows)?;
        if !comparison.totals.is_empty() {
            writeln!(out)?;
            let rows: Vec<_> = comparison.totals.iter().map(total_row).collect();
            print_table(&mut out, &TOTAL_HEAD, &rows)?;
        }
        let told: Vec<_> =
            comparison.variables.iter().filter(|v| !v.pass || v.units_differ).collect();
        if !told.is_empty() {
            writeln!(out)?;
        }
        for variable in told {
            writeln!(out, "{}: {}", variable.name, explanation(variable))?;
        }
        Ok(())
    }
}

/// The first [`NAMED`] names, and the number of others.
fn some_of(names: &[String]) -> String {
    let named = names[..names.len().min(NAMED)].join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

const VARIABLE_HEAD: [&str; 12] = [
    "", "variable", "min", "max", "max abs", "at", "mean abs", "rms", "rms %", "ULP", "differ",
    "verdict",
];

const TOTAL_HEAD: [&str; 7] = ["", "total", "A", "B", "relative", "verdict", "what"];

/// First characters of a row, which mark failures.
fn mark(passes: bool) -> String {
    if passes { String::new() } else { "!".to_owned() }
}

fn variable_row(variable: &VariableReport) -> Vec<String> {
    let figures = variable.figures.as_ref();
    let number = |of: fn(&Figures) -> Option<f64>| short(figures.and_then(of));
    let whole = |of: fn(&Figures) -> Option<u64>| match figures.and_then(of) {
        Some(x) => x.to_string(),
        None => "-".to_owned(),
    };
    let at = figures.and_then(|f| f.worst.as_ref()).map_or_else(
        || "-".to_owned(),
        |worst| worst.at.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
    );
    vec![
        mark(variable.pass),
        variable.name.clone(),
        number(|f| f.min[0]),
        number(|f| f.max[0]),
        number(|f| f.max_abs),
        at,
        number(|f| f.mean_abs),
        number(|f| f.rms),
        number(|f| f.relative_percent),
        whole(|f| f.max_ulp),
        whole(|f| Some(f.differing)),
        verdict_words(variable.verdict).to_owned(),
    ]
}

fn verdict_words(verdict: VariableVerdict) -> &'static str {
    match verdict {
        VariableVerdict::Identical => "identical",
        VariableVerdict::Within => "within",
        VariableVerdict::Different => "DIFFERENT",
        VariableVerdict::OnlyInA => "ONLY IN A",
        VariableVerdict::OnlyInB => "ONLY IN B",
        VariableVerdict::OtherType => "OTHER TYPE",
        VariableVerdict::OtherDimensions => "OTHER DIMENSIONS",
        VariableVerdict::OtherUnits => "OTHER UNITS",
        VariableVerdict::NotComparable => "NOT COMPARABLE",
    }
}

fn total_row(total: &Total) -> Vec<String> {
    let verdict = match (total.pass, total.limit) {
        (true, None) => "not judged",
        (true, Some(_)) => "within",
        (false, _) => "DIFFERENT",
    };
    vec![
        mark(total.pass),
        total.name.to_owned(),
        format!("{:.6e}", total.a),
        format!("{:.6e}", total.b),
        short(total.relative),
        verdict.to_owned(),
        total.what.clone(),
    ]
}

fn short(x: Option<f64>) -> String {
    match x {
        Some(0.0) => "0".to_owned(),
        Some(x) => format!("{x:.3e}"),
        None => "-".to_owned(),
    }
}

/// Reason why a variable fails, with the names of the dimensions.
fn explanation(variable: &VariableReport) -> String {
    let place = |at: &[usize]| {
        let names = variable.dimensions.iter().zip(at);
        let words: Vec<String> = names.map(|(name, index)| format!("{name}={index}")).collect();
        if words.is_empty() { String::new() } else { format!(" at {}", words.join(" ")) }
    };
    let mut words: Vec<String> = variable.note.iter().cloned().collect();
    if let Some(figures) = &variable.figures {
        if let (Some(count), Some(first)) = (figures.unmatched, &figures.first_unmatched) {
            words.push(format!(
                "{count} values are NaN or infinite in one file only, the first{} (NaN: {} in A, \
                 {} in B; infinite: {} and {})",
                place(first),
                figures.nan[0],
                figures.nan[1],
                figures.inf[0],
                figures.inf[1]
            ));
        }
        if let Some(DifferenceAt { at, a, b }) = &figures.worst {
            words.push(match (a, b) {
                (Some(a), Some(b)) => format!("largest difference{}: {a:e} and {b:e}", place(at)),
                _ => format!("first difference{}", place(at)),
            });
        }
        if let (Some(limits), Some(beyond)) = (&variable.limits, figures.beyond) {
            let share = 100.0 * beyond as f64 / figures.values.max(1) as f64;
            let allowed = 100.0 * limits.outliers;
            words.push(format!("{share:.3} % of the values beyond the limit, {allowed} % allowed"));
        }
    }
    words.join("; ")
}

/// Columns as wide as their widest entry: words are left-aligned, numbers right-aligned.
fn print_table(out: &mut impl Write, head: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
    let head: Vec<String> = head.iter().map(ToString::to_string).collect();
    let is_word =
        |column: usize| ["", "variable", "total", "verdict", "what"].contains(&&*head[column]);
    let widths: Vec<usize> = (0..head.len())
        .map(|c| rows.iter().chain([&head]).map(|row| row[c].len()).max().unwrap_or(0))
        .collect();
    for row in [&head].into_iter().chain(rows) {
        let mut line = String::new();
        for (column, (entry, width)) in row.iter().zip(&widths).enumerate() {
            let entry = if is_word(column) {
                format!("{entry:<width$}  ")
            } else {
                format!("{entry:>width$}  ")
            };
            line += &entry;
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

//! Runs of this program on one GPU and on several, each in processes of its own: weak and strong scaling beside a model.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use tracing::info;

use super::super::Bench;
use super::super::table::{self, Column, counted, digits};
use super::model::{LATENCY, LINK, StepAlone};
use super::on_gpus::{GpuSteps, Kind};
use crate::backend::ExchangeTimes;
use crate::cli::launcher::{Launcher, Program, refuse_launched, without};
use crate::error::{Error, Result};
use crate::io::store::atomic_file::AtomicFile;
use crate::os_text::Shown;
use crate::ranks::{Alone, Team};

/// Difference of two efficiencies that is told, in points of per cent.
const TOLD: f64 = 2.0;

/// Exit codes of this program after a message that tells why.
const EXPLAINED: [u8; 5] = [2, 3, 4, 5, 130];

/// Options of the parent that its children have not, each with a value.
const OWN: [&str; 5] = ["--gpus", "--backend", "--json", "--weak", "--strong"];

/// A row of a child.
#[derive(Clone, Debug, Deserialize)]
struct Found {
    median_s: f64,
    #[serde(flatten)]
    steps: GpuSteps,
}

/// A row with what follows from it and from those of one GPU.
#[derive(Clone, Debug)]
struct Scaled {
    found: Found,
    /// Time of a step by the model, s.
    model_s: f64,
    /// Efficiency found, and by the model, per cent.
    efficiency: [f64; 2],
    /// The state has the bits of one GPU; `None` on one, and for weak scaling, where grids differ.
    same_bits: Option<bool>,
}

/// Columns of the table.
const COLUMNS: [Column<Scaled>; 12] = [
    ("kind", -6, |row| row.found.steps.kind.name().to_owned()),
    ("grid", -20, |row| row.found.steps.sized()),
    ("GPUs", 4, |row| row.found.steps.gpus.to_string()),
    ("parts", 6, |row| row.found.steps.parts.clone()),
    ("step ms", 9, |row| format!("{:.4}", row.found.median_s * 1e3)),
    ("model ms", 9, |row| format!("{:.4}", row.model_s * 1e3)),
    ("found %", 7, |row| format!("{:.1}", row.efficiency[0])),
    ("model %", 7, |row| format!("{:.1}", row.efficiency[1])),
    ("exchange us", 11, |row| digits(row.exchange().and_then(|times| times.mean_s).map(micro), 1)),
    ("exposed us", 10, |row| {
        digits(row.exchange().and_then(|times| times.exposed_s).map(micro), 1)
    }),
    ("sent kB", 9, |row| format!("{:.0}", row.found.steps.bytes_sent as f64 / 1e3)),
    ("state", -10, |row| match row.same_bits {
        Some(true) => "same bits".to_owned(),
        Some(false) => "other bits".to_owned(),
        None => "-".to_owned(),
    }),
];

/// A time in microseconds.
fn micro(seconds: f64) -> f64 {
    seconds * 1e6
}

impl Scaled {
    /// The exchanges inside the steps whose phases are timed.
    fn exchange(&self) -> Option<&ExchangeTimes> {
        self.found.steps.exchange.as_ref()
    }
}

impl GpuSteps {
    /// The grid in words.
    fn sized(&self) -> String {
        match self.kind {
            Kind::Weak => format!("{} a GPU", self.size),
            Kind::Strong | Kind::Part => format!("{} in all", self.size),
        }
    }
}

/// Rows of children with what follows from them, case by case in the order of the first child, which has one GPU.
fn scaled(all: &[Found]) -> Vec<Scaled> {
    let alone = all.iter().filter(|row| row.steps.gpus == 1);
    let mut rows = Vec::new();
    for one in alone.clone().filter(|row| row.steps.kind != Kind::Part) {
        let is_of_case =
            |row: &&Found| row.steps.kind == one.steps.kind && row.steps.size == one.steps.size;
        for found in all.iter().filter(is_of_case) {
            // As many cells as the part has, by themselves.
            let is_part = |row: &&Found| row.steps.part == found.steps.part;
            let is_one = found.steps.gpus == 1;
            let part = alone.clone().filter(|_| !is_one).find(is_part).unwrap_or(one);
            let GpuSteps { advection_s, microphysics_s, part: [nx, ny], .. } = part.steps;
            let columns = |[nx, ny]: [usize; 2]| (nx * ny) as f64;
            let step = StepAlone {
                seconds: part.median_s * columns(found.steps.part) / columns([nx, ny]),
                transport: advection_s / (advection_s + microphysics_s),
            };
            let model_s = found.steps.largest().step(step);
            let is_strong = found.steps.kind == Kind::Strong;
            let shares = if is_strong { found.steps.gpus as f64 } else { 1.0 };
            let efficiency =
                [found.median_s, model_s].map(|seconds| 100.0 * one.median_s / (shares * seconds));
            let same_bits = (is_strong && !is_one).then(|| found.steps.digest == one.steps.digest);
            rows.push(Scaled { found: found.clone(), model_s, efficiency, same_bits });
        }
    }
    rows
}

/// A line for each case: where found and model part.
fn differences(rows: &[Scaled]) -> Vec<String> {
    let case = |row: &Scaled| (row.found.steps.kind, row.found.steps.size.clone());
    let cases = rows.chunk_by(|a, b| case(a) == case(b));
    let line = |rows: &[Scaled]| {
        let steps = &rows[0].found.steps;
        let apart = rows.iter().filter_map(|row| {
            let points = row.efficiency[0] - row.efficiency[1];
            let way = if points < 0.0 { "below" } else { "above" };
            let gpus = row.found.steps.gpus;
            (points.abs() > TOLD)
                .then(|| format!("{:.1} points {way} the model on {gpus} GPUs", points.abs()))
        });
        let apart: Vec<String> = apart.collect();
        let told = if apart.is_empty() {
            format!("within {TOLD:.0} points of the model")
        } else {
            apart.join(", ")
        };
        format!("{}, {}: {told}", steps.kind.name(), steps.sized())
    };
    cases.map(line).collect()
}

/// Cases of which a number of GPUs has other bits than one.
fn faults(rows: &[Scaled]) -> Vec<String> {
    let other = rows.iter().filter(|row| row.same_bits == Some(false));
    let fault = |row: &Scaled| {
        let GpuSteps { gpus, digest_steps, .. } = &row.found.steps;
        let grid = row.found.steps.sized();
        format!("{grid}: after {digest_steps} steps {gpus} GPUs have other bits than one")
    };
    other.map(fault).collect()
}

impl Bench {
    /// Measures steps on each number of GPUs, in processes that this one starts; `arguments` are those of the command
    /// line.
    pub(in crate::cli) fn over_gpus(&self, arguments: &[OsString]) -> Result<()> {
        self.check(&Team::new(Arc::new(Alone)))?;
        let (options, counts) = (&self.range.on_gpus, self.range.on_gpus.counts());
        refuse_launched(&options.shown())?;
        let [name, words @ ..] = arguments else { return Ok(()) };
        let program = Program::of(name)?;
        let is_several = counts.last().is_some_and(|most| *most > 1);
        let launcher = is_several.then(|| Launcher::find(&options.shown())).transpose()?;
        let json = AtomicFile::if_asked(self.json.as_deref(), self.force)?;
        let folder = tempfile::tempdir();
        let folder = folder.map_err(|e| Error::io(&std::env::temp_dir(), "write to", e))?;
        let mut values: Vec<Value> = Vec::new();
        for count in &counts {
            info!("steps on {}", counted(*count, "GPU"));
            let mut command = match &launcher {
                Some(launcher) if *count > 1 => launcher.processes(*count, &program),
                _ => program.alone(),
            };
            let path = folder.path().join(format!("{count}.json"));
            command.args(without(words, &OWN)).arg("--backend=gpu").arg("--json").arg(&path);
            command.args(options.weak().iter().map(|size| format!("--weak={size}")));
            command.args(options.strong().iter().map(|size| format!("--strong={size}")));
            if *count == 1 && is_several {
                let others: Vec<String> = counts[1..].iter().map(ToString::to_string).collect();
                command.arg(format!("--parts-of={}", others.join(",")));
            }
            values.extend(rows_of(command, *count, &path)?);
        }
        let found = values.iter().map(Found::deserialize);
        let found: Vec<Found> = found
            .collect::<std::result::Result<_, _>>()
            .map_err(|e| unreadable(folder.path(), e))?;
        let rows = scaled(&found);
        self.tell(&mut io::stdout().lock(), &rows, &values)?;
        add_to(&mut values, &rows);
        json.map_or(Ok(()), |json| json.write_json(&values))?;
        let faults = faults(&rows);
        if faults.is_empty() { Ok(()) } else { Err(Error::Verdict(faults.join("\n"))) }
    }

    /// Prints the table.
    fn tell(&self, out: &mut dyn Write, rows: &[Scaled], values: &[Value]) -> Result<()> {
        let device = values.first().and_then(|value| value["device"].as_str()).unwrap_or("no GPU");
        let way = rows.iter().find_map(Scaled::exchange).map(|times| {
            let rate = times.gb_per_s.map(|rate| format!(", {rate:.1} GB/s each way"));
            format!("{}{}", times.way, rate.unwrap_or_default())
        });
        writeln!(
            out,
            "{device}; columns of {} repeated, {}, dt {} s, whole steps; margins: {}",
            self.input.shown(),
            self.precision.name(),
            self.dt,
            way.unwrap_or_else(|| "none, one GPU".to_owned())
        )?;
        writeln!(
            out,
            "model: kernels as on one GPU in this run, with the transport of the margins; assumed: {:.0} us \
             for an exchange and {:.0} GB/s by NVLink each way, hidden behind the microphysics of inner \
             columns",
            LATENCY * 1e6,
            LINK / 1e9
        )?;
        writeln!(out, "{}", table::head(&COLUMNS))?;
        for row in rows {
            writeln!(out, "{}", table::line(&COLUMNS, row))?;
        }
        for line in differences(rows) {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}

/// The rows of a child, which tells by itself why it failed.
fn rows_of(mut command: Command, count: usize, path: &Path) -> Result<Vec<Value>> {
    let program = Path::new(command.get_program()).to_path_buf();
    let status = command.stdout(Stdio::null()).status();
    let status = status.map_err(|e| Error::io(&program, "start", e))?;
    match status.code().and_then(|code| u8::try_from(code).ok()) {
        Some(0) => {}
        Some(code) if EXPLAINED.contains(&code) => return Err(Error::OfRank { rank: 0, code }),
        _ => {
            return Err(Error::Verdict(format!(
                "the steps on {count} GPUs were not measured: {} ended by {status}",
                program.shown()
            )));
        }
    }
    let file = File::open(path).map_err(|e| Error::io(path, "read", e))?;
    serde_json::from_reader(file).map_err(|e| unreadable(path, e))
}

fn unreadable(path: &Path, error: serde_json::Error) -> Error {
    Error::io(path, "read", error)
}

/// Adds what follows from the rows to those for programs.
fn add_to(values: &mut [Value], rows: &[Scaled]) {
    for Scaled { found, model_s, efficiency: [of_found, of_model], same_bits } in rows {
        let GpuSteps { kind, size, gpus, .. } = &found.steps;
        let is_it = |value: &&mut Value| {
            value["kind"] == kind.name() && value["size"] == **size && value["gpus"] == *gpus
        };
        if let Some(fields) = values.iter_mut().find(is_it).and_then(|value| value.as_object_mut())
        {
            fields.insert("model_s".to_owned(), (*model_s).into());
            fields.insert("efficiency".to_owned(), (of_found / 100.0).into());
            fields.insert("model_efficiency".to_owned(), (of_model / 100.0).into());
            fields.insert("same_bits".to_owned(), (*same_bits).into());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(kind: &str, size: &str, gpus: usize, part: [usize; 2], median_s: f64) -> Value {
        let [nx, ny] = part;
        let cut = usize::from(gpus > 1);
        json!({
            "device": "a device",
            "median_s": median_s,
            "kind": kind,
            "size": size,
            "gpus": gpus,
            "parts": format!("{gpus}x1"),
            "part": part,
            "columns_with_margins": (nx + 10 * cut) * ny,
            "inner_columns": (nx - 20 * cut) * ny,
            "bytes_sent": cut * 10 * ny * 27 * 24,
            "exchange": (gpus > 1).then(|| json!({
                "way": "by hand", "gb_per_s": 2.5, "bytes": 3, "mean_s": 1e-4, "exposed_s": null
            })),
            "advection_s": 0.75 * median_s,
            "microphysics_s": 0.25 * median_s,
            "digest": format!("{size}{}", if median_s > 0.5 { "?" } else { "" }),
            "digest_steps": 64,
        })
    }

    fn rows(strong: f64) -> (Vec<Value>, Vec<Scaled>) {
        let values = vec![
            row("weak", "512x512", 1, [512, 512], 1.2e-3),
            row("strong", "1024x1024", 1, [1024, 1024], 4.6e-3),
            row("part", "512x1024", 1, [512, 1024], 2.4e-3),
            row("weak", "512x512", 2, [512, 512], 1.3e-3),
            row("strong", "1024x1024", 2, [512, 1024], strong),
        ];
        let found: Vec<Found> = values
            .iter()
            .map(|value| serde_json::from_value(value.clone()).expect("a row"))
            .collect();
        let rows = scaled(&found);
        (values, rows)
    }

    #[test]
    fn efficiencies_are_those_of_weak_and_of_strong_scaling() {
        let (mut values, rows) = rows(2.5e-3);
        let numbers: Vec<_> =
            rows.iter().map(|row| (row.found.steps.kind, row.found.steps.gpus)).collect();
        assert_eq!(
            numbers,
            [(Kind::Weak, 1), (Kind::Weak, 2), (Kind::Strong, 1), (Kind::Strong, 2)]
        );
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(rows[0].efficiency[0], 100.0);
        near(rows[0].efficiency[1], 100.0);
        near(rows[1].efficiency[0], 100.0 * 1.2 / 1.3);
        near(rows[3].efficiency[0], 100.0 * 4.6 / 5.0);
        // By the part of its size, not by the half of the whole.
        let model = 2.4e-3 * (0.75 * 522.0 / 512.0 + 0.25) + 4e-6;
        near(rows[3].model_s, model);
        near(rows[3].efficiency[1], 100.0 * 4.6e-3 / (2.0 * model));
        assert_eq!(
            rows.iter().map(|row| row.same_bits).collect::<Vec<_>>(),
            [None, None, None, Some(true)]
        );
        assert!(faults(&rows).is_empty());
        let lines = differences(&rows);
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("weak, 512x512 a GPU: 5."), "{lines:?}");
        assert!(lines[0].ends_with("points below the model on 2 GPUs"), "{lines:?}");
        assert_eq!(lines[1], "strong, 1024x1024 in all: 2.3 points below the model on 2 GPUs");
        add_to(&mut values, &rows);
        assert_eq!(
            (&values[4]["same_bits"], &values[1]["same_bits"]),
            (&true.into(), &Value::Null)
        );
        assert!((values[3]["efficiency"].as_f64().expect("a number") - 1.2 / 1.3).abs() < 1e-9);
        assert_eq!(values[2].get("efficiency"), None);
        let line = table::line(&COLUMNS, &rows[3]);
        assert!(line.starts_with("strong 1024x1024 in all"), "{line}");
        for word in ["2x1", "2.5000", "92.0", "same bits"] {
            assert!(line.contains(word), "{word} in {line}");
        }
    }

    #[test]
    fn other_bits_are_a_fault() {
        let (_, rows) = rows(0.6);
        let faults = faults(&rows);
        assert_eq!(faults, ["1024x1024 in all: after 64 steps 2 GPUs have other bits than one"]);
    }
}

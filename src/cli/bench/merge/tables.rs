//! The records as tables in Markdown.

use std::fmt::Write;

use super::super::table::digits;
use super::{FastestPart, PartKey, Row, Timed, what};

/// Methods of timing of the rungs, and the column heads.
const RUNGS: [[&str; 2]; 2] = [["hot", "graph"], ["rotating", "graph"]];

/// The machines and programs of the records.
pub(super) fn machines(rows: &[Timed]) -> String {
    let mut text = String::from(
        "| GPU | driver | NVRTC | CPU | date | nwp-mini | commit |\n|---|---|---|---|---|---|---|\n",
    );
    let mut lines: Vec<String> = Vec::new();
    let is_beside_gpu = |row: &Row| {
        let same = |other: &Row| {
            other.is_gpu() && (&other.host(), &other.date) == (&row.host(), &row.date)
        };
        rows.iter().any(|timed| same(&timed.row))
    };
    for Timed { row, .. } in rows {
        if !row.is_gpu() && is_beside_gpu(row) {
            continue;
        }
        let of_gpu = |value: &Option<String>| value.clone().filter(|_| row.is_gpu());
        let known = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        let line = format!(
            "| {} | {} | {} | {} | {} | {} | {} |",
            known(of_gpu(&row.device)),
            known(of_gpu(&row.driver)),
            known(of_gpu(&row.compiler)),
            row.host(),
            known(row.date.clone()),
            known(row.version.clone()),
            known(row.commit.clone())
        );
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    for line in lines {
        writeln!(text, "{line}").expect("writing to memory");
    }
    text
}

/// Peak performance of each platform, from the newest record.
pub(super) fn bounds(rows: &[Timed]) -> String {
    let mut lines: Vec<(String, f64, Option<f64>)> = Vec::new();
    for Timed { row, .. } in rows {
        // Ladders have no arithmetic, and integers no bound of their own.
        let Some(copy) = row.copy_gb_per_s.filter(|_| row.place.is_none()) else { continue };
        let name = format!("{}, {}", row.platform(), row.precision());
        match lines.iter_mut().find(|(known, ..)| *known == name) {
            Some(line) => *line = (name, copy, row.arithmetic_gop_per_s),
            None => lines.push((name, copy, row.arithmetic_gop_per_s)),
        }
    }
    let mut text = String::new();
    for (at, (name, copy, arithmetic)) in lines.into_iter().enumerate() {
        let break_before = if at == 0 { "\n" } else { "" };
        let arithmetic = arithmetic.map_or_else(String::new, |rate| {
            format!(", chains of fused multiplications and additions make {rate:.0} G op/s")
        });
        let copies = format!("a copy moves {copy:.1} GB/s, read and written");
        writeln!(text, "{break_before}- {name}: {copies}{arithmetic}").expect("writing to memory");
    }
    text
}

/// The parts of a step, with the fastest variant on each platform.
pub(super) fn cases(rows: &[Timed]) -> Vec<FastestPart> {
    let mut cases: Vec<FastestPart> = Vec::new();
    for timed in rows {
        let row = &timed.row;
        let (Some(what), Some(rate)) = (what(row), row.cells_per_s) else { continue };
        let tracers = if row.bench == "advection" { row.tracers.unwrap_or(1) } else { 1 };
        let case = FastestPart {
            key: PartKey {
                what,
                grid: timed.grid.clone(),
                precision: row.precision().to_owned(),
                input: row.input().to_owned(),
            },
            platform: row.platform(),
            of_a_cell: 1.0 / (rate * tracers as f64),
            with_transfers: row.timing.as_deref() == Some("with transfers"),
            timed: timed.clone(),
        };
        let same = |other: &&mut FastestPart| {
            (&other.key, &other.platform, other.with_transfers)
                == (&case.key, &case.platform, case.with_transfers)
        };
        match cases.iter_mut().find(same) {
            // A newer record replaces an older one; within one record the fastest variant counts.
            Some(known) if is_of_one_record(&known.timed.row, row) => {
                if case.of_a_cell < known.of_a_cell {
                    *known = case;
                }
            }
            Some(known) => *known = case,
            None => cases.push(case),
        }
    }
    cases.sort_by(|a, b| a.key.cmp(&b.key).then(b.of_a_cell.total_cmp(&a.of_a_cell)));
    cases
}

fn is_of_one_record(a: &Row, b: &Row) -> bool {
    (&a.date, &a.commit, &a.folder) == (&b.date, &b.commit, &b.folder)
}

/// The parts of a step: times, and speed-ups against the CPU of the same machine.
pub(super) fn parts(cases: &[FastestPart]) -> String {
    let mut text = String::new();
    let mut say = |line: String| writeln!(text, "{line}").expect("writing to memory");
    let (mut input, mut key): (Option<&str>, Option<&PartKey>) = (None, None);
    let mut order: Vec<&FastestPart> = cases.iter().collect();
    order.sort_by(|a, b| a.key.input.cmp(&b.key.input));
    for case in order {
        if input != Some(&case.key.input) {
            input = Some(&case.key.input);
            say(format!(
                "\nColumns of {}; medians of single calls: on the CPU by the clock of the host, on the GPU \
                 in a graph or between events, without transfers but where it says so; times of a \
                 cell, and of a tracer where tracers are carried.\n",
                case.key.input
            ));
            say("| what | grid | precision | where | variant | timed by | median ms | min .. max ms | \
                 ns/cell | M cells/s | % of a copy | % of the arithmetic | x 1 thread | x all threads |"
                .to_owned());
            say("|---|---|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|".to_owned());
            key = None;
        }
        let FastestPart { platform, timed: Timed { row, median, .. }, of_a_cell, .. } = case;
        let PartKey { what, grid, precision, .. } = &case.key;
        let [what, grid, precision] =
            if key == Some(&case.key) { ["", "", ""] } else { [what.as_str(), grid, precision] };
        key = Some(&case.key);
        let [least, most] = [row.min_s, row.max_s].map(|s| digits(s.map(|s| s * 1e3), 4));
        let [one, all] = [false, true].map(|all| digits(speed_up(cases, case, all), 1));
        say(format!(
            "| {what} | {grid} | {precision} | {platform} | {} | {} | {:.4} | {least} .. {most} | {:.3} | \
             {:.1} | {} | {} | {one} | {all} |",
            row.variant,
            row.timing.as_deref().unwrap_or("wall"),
            median * 1e3,
            of_a_cell * 1e9,
            1e-6 / of_a_cell,
            digits(row.percent_of_copy, 1),
            digits(row.percent_of_arithmetic, 1)
        ));
    }
    text
}

/// Speed relative to one thread, or to all threads, of the CPU of the same machine.
fn speed_up(cases: &[FastestPart], case: &FastestPart, all: bool) -> Option<f64> {
    let host = case.timed.row.host();
    let on_cpu = cases.iter().filter(|other| {
        let row = &other.timed.row;
        other.key == case.key && !row.is_gpu() && row.host() == host
    });
    let of_threads = |other: &&FastestPart| other.timed.row.threads;
    let base = if all {
        // One thread is all threads only on a single core.
        let is_all = |other: &&FastestPart| {
            let row = &other.timed.row;
            row.threads > Some(1) || row.cores == Some(1)
        };
        on_cpu.max_by_key(of_threads).filter(is_all)
    } else {
        on_cpu.min_by_key(of_threads).filter(|other| other.timed.row.threads == Some(1))
    };
    base.map(|base| base.of_a_cell / case.of_a_cell)
}

/// The ladders: every rung, hot and rotating, timed in graphs; rows of the CPU by the clock.
pub(super) fn ladders(rows: &[Timed]) -> String {
    let rungs = rows.iter().filter(|timed| timed.row.place.is_some());
    // One row: the same rung on the same data, timed in several ways.
    let mut lines: Vec<(String, String, [Option<&Timed>; 2])> = Vec::new();
    for timed in rungs {
        let row = &timed.row;
        let line = format!(
            "| {} | {} | {} | {} | {} |",
            row.bench,
            timed.grid,
            row.precision(),
            row.platform(),
            row.variant
        );
        let group = format!("{} {} {} {}", row.bench, timed.grid, row.precision(), row.folder);
        let is_wall = !row.is_gpu();
        let column = RUNGS.iter().position(|[place, timing]| {
            row.place.as_deref() == Some(*place)
                && (is_wall || row.timing.as_deref() == Some(*timing))
        });
        let Some(column) = column else { continue };
        let at = lines.iter().position(|(known, of, _)| (known, of) == (&line, &group));
        let at = at.unwrap_or_else(|| {
            // Beside the other rows of its group.
            let at =
                lines.iter().rposition(|(_, of, _)| *of == group).map_or(lines.len(), |at| at + 1);
            lines.insert(at, (line, group, [None; 2]));
            at
        });
        lines[at].2[column] = Some(timed);
    }
    if lines.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\nLadders: medians of a call in a graph, on the same data in every call (hot) and on copies in \
         turn that exceed the cache (rotating); on the CPU by the clock.\n\n\
         | ladder | size | type | where | rung | hot us | GB/s | % of a copy | x first rung | \
         rotating us | GB/s | % of a copy | x first rung |\n\
         |---|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for (line, _, columns) in lines {
        let cells = columns.map(|timed| {
            let Some(Timed { row, median, .. }) = timed else { return "- | - | - | -".to_owned() };
            format!(
                "{:.2} | {} | {} | {}",
                median * 1e6,
                digits(row.gb_per_s, 1),
                digits(row.percent_of_copy, 1),
                digits(row.cumulative_speed_up, 1)
            )
        });
        writeln!(text, "{line} {} |", cells.join(" | ")).expect("writing to memory");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::tests::row;
    use super::*;

    fn timed(date: &str, backend: &str, threads: &str, variant: &str, ms: f64) -> Timed {
        let row = row(&format!(
            "{{\"bench\": \"wsm5\", \"variant\": \"{variant}\", \"backend\": \"{backend}\",
              \"threads\": {threads}, \"device\": \"D\", \"cpu\": \"C\", \"cores\": 8,
              \"date\": \"{date}\", \"cells_per_s\": {}}}",
            1e6 / ms
        ));
        Timed { row, median: ms * 1e-3, grid: "71x58x27".to_owned() }
    }

    #[test]
    fn the_fastest_variant_of_the_youngest_record_counts() {
        let rows = [
            timed("1", "gpu", "null", "column NT32", 1.0),
            timed("1", "gpu", "null", "tile", 0.5),
            timed("2", "gpu", "null", "column NT32", 3.0),
            timed("2", "gpu", "null", "tile", 2.0),
            timed("2", "cpu", "1", "surface outputs", 80.0),
            timed("2", "cpu", "8", "surface outputs", 16.0),
        ];
        let cases = cases(&rows);
        assert_eq!(cases.len(), 3);
        let gpu = cases.iter().find(|case| case.timed.row.is_gpu()).unwrap();
        assert_eq!(gpu.timed.row.variant, "tile");
        assert!((gpu.timed.median - 2e-3).abs() < 1e-12);
        assert_eq!(speed_up(&cases, gpu, false).unwrap().round(), 40.0);
        assert_eq!(speed_up(&cases, gpu, true).unwrap().round(), 8.0);
        assert_eq!(bounds(&rows), "");
        let text = parts(&cases);
        assert!(text.contains("| 40.0 | 8.0 |") && text.contains("| 1.0 | 0.2 |"), "{text}");
        // Every row of a table has the same number of columns.
        let bars: Vec<usize> = text
            .lines()
            .filter(|line| line.starts_with('|'))
            .map(|line| line.matches('|').count())
            .collect();
        assert!(bars.iter().all(|count| *count == bars[0]), "{text}");
    }
}

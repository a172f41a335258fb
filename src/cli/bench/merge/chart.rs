//! The platforms side by side as bars.

use super::{FastestPart, PartKey};
use crate::plot::bars::{Bar, Group, bars};

/// Parts in the chart.
const DRAWN: [&str; 3] =
    ["WSM5", "advection, RK3, positive definite, a tracer", "whole step, 6 tracers and WSM5"];

/// Colours of the bars: a GPU, a GPU with transfers, one thread, several.
const GPU: usize = 3;
const WITH_TRANSFERS: usize = 6;
const ONE_THREAD: usize = 4;
const THREADS: usize = 2;

/// The platforms on the requested grids, NXxNY, or on the commonest one; `None` if there is nothing to draw.
pub(super) fn draw(cases: &[FastestPart], wanted: &[String]) -> Option<String> {
    let drawn: Vec<&FastestPart> =
        cases.iter().filter(|case| DRAWN.contains(&&*case.key.what)).collect();
    let is_wanted = |case: &&FastestPart| {
        let horizontal = case.key.grid.rsplit_once('x').map_or("", |(horizontal, _)| horizontal);
        wanted.iter().any(|grid| grid == horizontal)
    };
    let setting = |key: &PartKey| (key.grid.clone(), key.precision.clone(), key.input.clone());
    let count = |of: &(String, String, String)| {
        drawn.iter().filter(|case| setting(&case.key) == *of).count()
    };
    let mut settings: Vec<(String, String, String)> = if wanted.is_empty() {
        let most = drawn.iter().map(|case| setting(&case.key)).max_by_key(count)?;
        vec![most]
    } else {
        let grids = drawn.iter().filter(|case| is_wanted(case));
        grids.map(|case| setting(&case.key)).collect()
    };
    settings.sort();
    settings.dedup();
    let mut groups = Vec::new();
    for (grid, precision, input) in &settings {
        for what in DRAWN {
            let key = PartKey {
                what: what.to_owned(),
                grid: grid.clone(),
                precision: precision.clone(),
                input: input.clone(),
            };
            let bars: Vec<Bar> =
                drawn.iter().filter(|case| case.key == key).map(|case| bar(case)).collect();
            if !bars.is_empty() {
                let title = format!("{what}: {grid}, {precision}, columns of {input}");
                groups.push(Group { title, bars });
            }
        }
    }
    if groups.is_empty() {
        return None;
    }
    let below = "medians; longer is faster; GPUs in graphs, without transfers but where it says so";
    let title = "Every platform on the same case";
    Some(bars([title, below], "million cells a second", &groups).svg("platforms"))
}

fn bar(case: &FastestPart) -> Bar {
    let row = &case.timed.row;
    let (colour, note) = match (row.is_gpu(), case.with_transfers, row.threads) {
        (true, true, _) => (WITH_TRANSFERS, ", with transfers"),
        (true, false, _) => (GPU, ""),
        (false, _, Some(1)) => (ONE_THREAD, ""),
        (false, ..) => (THREADS, ""),
    };
    let when = [&row.date, &row.commit].into_iter().flatten().map(String::as_str);
    Bar {
        name: format!("{}{note}", case.platform),
        note: when.collect::<Vec<_>>().join(" "),
        value: 1e-6 / case.of_a_cell,
        colour,
    }
}

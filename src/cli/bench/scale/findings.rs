//! Findings from the measurements: sizes with constant cost a cell, the size from which on the GPU is faster than the
//! CPU, the fastest mapping.

use std::fmt::Write;

use serde::Serialize;
use serde_json::{Value, json};

use super::super::size::Elements;
use super::{Point, Subject};
use crate::physics::scheme::Scheme;

/// Factor of the least time of a cell up to which the cost counts as constant.
const FLAT: f64 = 0.1;

/// Time of a cell as a function of the size, for one series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct TimePerSize {
    pub(super) series: String,
    /// The least time for a cell, ns.
    pub(super) best_ns_per_cell: f64,
    /// Columns from which on the time is near the least one: the device is saturated.
    pub(super) saturated_from: usize,
    /// `true` if it stays near it.
    pub(super) is_flat: bool,
    /// Largest excess from there on, per cent of the least time, and the number of columns at it.
    pub(super) worst_percent: f64,
    pub(super) worst_at: usize,
    /// Number of sizes from there on.
    pub(super) sizes: usize,
    /// Columns from which on the times are near each other, and the least of these: used if the overall minimum is due
    /// to caches.
    pub(super) level_from: usize,
    pub(super) level_ns_per_cell: f64,
    /// Number of sizes from there on.
    pub(super) level_sizes: usize,
}

/// Result of a comparison of two series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Crossover {
    /// The GPU is faster from this number of columns on.
    GpuFrom(usize),
    /// The GPU is faster at all sizes, from this one on.
    GpuAlways(usize),
    /// The CPU is faster at all sizes, up to this one.
    CpuAlways(usize),
}

/// Findings about one subject.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Finding {
    /// Names of the subject, in records and in words.
    #[serde(rename = "subject")]
    bench: &'static str,
    #[serde(skip)]
    title: &'static str,
    #[serde(skip)]
    pub(super) subject: Subject,
    pub(super) courses: Vec<TimePerSize>,
    /// Comparison with each series of the CPU.
    pub(super) crossovers: Vec<(String, Crossover)>,
    /// The fastest series of the GPU at each number of columns, if there are several.
    pub(super) best: Vec<(usize, String)>,
}

/// Findings about each subject of the points.
pub(super) fn of(points: &[Point], scheme: &dyn Scheme) -> Vec<Finding> {
    let of_subject = |subject: Subject| {
        let points: Vec<&Point> = points.iter().filter(|point| point.subject == subject).collect();
        let times = |name: &str| -> Vec<(usize, f64)> {
            let of_series = points.iter().filter(|point| point.series == name);
            of_series.map(|point| (point.columns, point.figure.ns_per_cell)).collect()
        };
        let names = super::series(points.iter().copied()).into_iter();
        let series: Vec<_> = names.map(|name| (name, times(name))).collect();
        let courses = series.iter().map(|(name, times)| course(name, times)).collect();
        let (on_gpu, on_cpu): (Vec<_>, Vec<_>) =
            series.into_iter().partition(|(name, _)| name.starts_with(super::gpu::PLACE));
        let fastest = fastest(&on_gpu);
        let gpu: Vec<(usize, f64)> = fastest.iter().map(|best| (best.columns, best.ns)).collect();
        let crossovers = on_cpu
            .iter()
            .filter_map(|(name, times)| Some(((*name).to_owned(), crossover(times, &gpu)?)));
        let several = fastest.iter().filter(|_| on_gpu.len() > 1);
        let best = several.map(|best| (best.columns, best.series.to_owned()));
        Finding {
            bench: subject.bench(scheme),
            title: subject.title(scheme),
            subject,
            courses,
            crossovers: crossovers.collect(),
            best: best.collect(),
        }
    };
    let found = Subject::ALL.into_iter().map(of_subject);
    found.filter(|finding| !finding.courses.is_empty()).collect()
}

/// Time of a cell as a function of the number of columns.
fn course(series: &str, times: &[(usize, f64)]) -> TimePerSize {
    let best = times.iter().map(|(_, ns)| *ns).fold(f64::INFINITY, f64::min);
    let near = |ns: f64| ns <= (1.0 + FLAT) * best;
    let first = times.iter().position(|(_, ns)| near(*ns)).unwrap_or(0);
    let (worst_at, worst) =
        times[first..].iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, best));
    let least = |from: usize| times[from..].iter().map(|(_, ns)| *ns).fold(f64::INFINITY, f64::min);
    let is_level = |from: &usize| {
        let least = least(*from);
        times[*from..].iter().all(|(_, ns)| *ns <= (1.0 + FLAT) * least)
    };
    let level = (0..times.len()).find(is_level).unwrap_or(0);
    TimePerSize {
        series: series.to_owned(),
        best_ns_per_cell: best,
        saturated_from: times[first].0,
        is_flat: near(worst),
        worst_percent: 100.0 * (worst / best - 1.0),
        worst_at,
        sizes: times.len() - first,
        level_from: times[level].0,
        level_ns_per_cell: least(level),
        level_sizes: times.len() - level,
    }
}

/// The fastest series at a size.
#[derive(Debug, PartialEq)]
struct Fastest<'a> {
    /// Number of columns.
    columns: usize,
    /// Time of a cell, ns.
    ns: f64,
    series: &'a str,
}

/// The fastest series at each size.
fn fastest<'a>(series: &[(&'a str, Vec<(usize, f64)>)]) -> Vec<Fastest<'a>> {
    let mut best: Vec<Fastest<'a>> = Vec::new();
    for (name, times) in series {
        for &(columns, ns) in times {
            let found = Fastest { columns, ns, series: name };
            match best.iter_mut().find(|known| known.columns == columns) {
                Some(known) if known.ns > ns => *known = found,
                Some(_) => {}
                None => best.push(found),
            }
        }
    }
    best.sort_by_key(|known| known.columns);
    best
}

/// Crossover of GPU and CPU, from the sizes that both have; `None` if they share none.
fn crossover(cpu: &[(usize, f64)], gpu: &[(usize, f64)]) -> Option<Crossover> {
    let both: Vec<(usize, bool)> = cpu
        .iter()
        .filter_map(|(at, ns)| {
            let (_, other) = gpu.iter().find(|(of, _)| of == at)?;
            Some((*at, other < ns))
        })
        .collect();
    let (first, last) = (both.first()?.0, both.last()?.0);
    Some(match both.iter().rposition(|(_, gpu_wins)| !gpu_wins) {
        None => Crossover::GpuAlways(first),
        Some(at) if at + 1 == both.len() => Crossover::CpuAlways(last),
        Some(at) => Crossover::GpuFrom(both[at + 1].0),
    })
}

impl Finding {
    /// The keys of a row for programs, without values, and the finding.
    pub(super) fn row(&self) -> Value {
        json!({
            "bench": "scale",
            "variant": self.bench,
            "backend": null,
            "threads": null,
            "grid_or_n": null,
            "median_s": null,
            "min_s": null,
            "max_s": null,
            "runs": null,
            "cells_per_s": null,
            "gb_per_s": null,
            "percent_of_copy": null,
            "findings": self,
        })
    }

    /// The same in words.
    pub(super) fn text(&self) -> String {
        let mut text = format!("\n{}", self.title);
        let mut say = |line: String| {
            write!(text, "\n  {line}").expect("writing to memory");
        };
        for course in &self.courses {
            say(course.text());
        }
        for (series, crossover) in &self.crossovers {
            say(match crossover {
                Crossover::GpuFrom(at) => {
                    format!("the GPU is faster than {series} from {} columns on", Elements(*at))
                }
                Crossover::GpuAlways(at) => format!(
                    "the GPU is faster than {series} at all sizes measured, from {} columns on",
                    Elements(*at)
                ),
                Crossover::CpuAlways(at) => format!(
                    "{series} is faster than the GPU at all sizes measured, up to {} columns",
                    Elements(*at)
                ),
            });
        }
        // Runs of consecutive sizes with the same winner.
        for sizes in self.best.chunk_by(|a, b| a.1 == b.1) {
            let [first, last] = [&sizes[0], &sizes[sizes.len() - 1]].map(|(at, _)| Elements(*at));
            say(format!("best on the GPU from {first} to {last} columns: {}", sizes[0].1));
        }
        text
    }
}

impl TimePerSize {
    fn text(&self) -> String {
        let Self { series, best_ns_per_cell: best, worst_percent, sizes, .. } = self;
        let [from, at] = [self.saturated_from, self.worst_at].map(Elements);
        let limit = 100.0 * FLAT;
        if self.sizes < 2 {
            return format!(
                "{series}: {best:.4} ns a cell at best, at {from} columns, the largest grid: not \
                 yet saturated as far as can be told"
            );
        }
        if self.is_flat {
            format!(
                "{series}: {best:.4} ns a cell at best, flat within {limit:.0} % from {from} columns \
                 on ({sizes} sizes, at most {worst_percent:.1} % above)"
            )
        } else {
            let level = match self.level_sizes {
                0 | 1 => String::new(),
                sizes => format!(
                    "; flat at {:.4} from {} columns on ({sizes} sizes)",
                    self.level_ns_per_cell,
                    Elements(self.level_from)
                ),
            };
            format!(
                "{series}: {best:.4} ns a cell at best, not flat: within {limit:.0} % of that at \
                 {from} columns, {worst_percent:.1} % above it at {at}{level}"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_course_is_told_from_others() {
        let flat = course("a", &[(16, 9.0), (32, 2.1), (64, 2.0), (128, 2.19)]);
        assert_eq!(
            (flat.saturated_from, flat.is_flat, flat.worst_at, flat.sizes),
            (32, true, 128, 3)
        );
        assert!(
            (flat.worst_percent - 9.5).abs() < 1e-9 && flat.text().contains("flat within 10 %")
        );
        let steep = course("b", &[(16, 2.0), (32, 2.3), (64, 2.0)]);
        assert_eq!((steep.saturated_from, steep.is_flat, steep.worst_at), (16, false, 32));
        assert!(steep.text().contains("not flat") && steep.text().contains("15.0 %"));
        // A single last size is not significant.
        assert!(!steep.text().contains("flat at"), "{}", steep.text());
        let cached = course("d", &[(16, 2.0), (32, 2.9), (64, 3.1), (128, 3.0)]);
        assert_eq!((cached.saturated_from, cached.is_flat, cached.level_from), (16, false, 32));
        assert!(cached.text().contains("; flat at 2.9000 from 32 columns on (3 sizes)"));
        let falling = course("c", &[(16, 4.0), (32, 2.0)]);
        assert!(falling.text().contains("not yet saturated"), "{}", falling.text());
    }

    #[test]
    fn who_overtakes_whom_is_told() {
        let cpu = [(16, 5.0), (32, 5.0), (64, 5.0), (128, 5.0)];
        let gpu = |times: [f64; 3]| [(16, times[0]), (32, times[1]), (64, times[2])];
        assert_eq!(crossover(&cpu, &gpu([9.0, 4.0, 1.0])), Some(Crossover::GpuFrom(32)));
        assert_eq!(crossover(&cpu, &gpu([1.0, 9.0, 1.0])), Some(Crossover::GpuFrom(64)));
        assert_eq!(crossover(&cpu, &gpu([1.0; 3])), Some(Crossover::GpuAlways(16)));
        assert_eq!(crossover(&cpu, &gpu([9.0; 3])), Some(Crossover::CpuAlways(64)));
        assert_eq!(crossover(&cpu, &[]), None);
    }

    #[test]
    fn the_fastest_of_several_is_named_by_size() {
        let series =
            [("a", vec![(16, 1.0), (32, 3.0)]), ("b", vec![(16, 2.0), (32, 1.0), (64, 1.0)])];
        let expected = [(16, "a"), (32, "b"), (64, "b")].map(|(columns, series)| Fastest {
            columns,
            ns: 1.0,
            series,
        });
        assert_eq!(fastest(&series), expected);
    }
}

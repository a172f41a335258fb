//! Report of a pair of runs: a comparison of the times, and the verdicts.

use std::collections::BTreeSet;
use std::io::Write;

use crate::backend::PhaseTimes;
use crate::diagnostics::pair::Verdict;
use crate::error::{Error, Result};
use crate::model::backend_comparison::{ComparisonReport, Timed};
use crate::model::divergent_columns::{DivergentColumn, QuantityProfile};

/// Prints times, verdicts, and the divergent columns.
pub(in crate::cli) fn print(report: &ComparisonReport) -> Result<()> {
    let mut out = crate::cli::summary_output();
    print_times(&mut out, report)?;
    print_verdicts(&mut out, report)?;
    for suspect in &report.suspects {
        print_suspect(&mut out, suspect)?;
    }
    Ok(())
}

/// Fails when a verdict is bad.
pub(in crate::cli) fn judge(report: &ComparisonReport) -> Result<()> {
    let bad: Vec<String> = report
        .verdicts
        .iter()
        .filter(|verdict| !verdict.pass)
        .map(|verdict| format!("{} after {}", verdict.field, steps(verdict.steps)))
        .collect();
    if bad.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = report.runs.iter().rev().map(|run| run.name.as_str()).take(2).collect();
    let [b, a] = names[..] else { return Ok(()) };
    Err(Error::Verdict(format!("{b} and {a} differ by more than rounding in {}", bad.join(", "))))
}

fn steps(count: usize) -> String {
    if count == 1 { "the first step".to_owned() } else { format!("{count} steps") }
}

fn print_times(out: &mut impl Write, report: &ComparisonReport) -> Result<()> {
    writeln!(
        out,
        "\ntimes, ms for each step, and M cells/s\n\
         run                                      steps  transport microphys.    kernels   + copies \
         end to end   kernels  + copies    to end"
    )?;
    for run in &report.runs {
        let Timed { times: PhaseTimes { advection, microphysics, .. }, .. } = run;
        let of_step = |seconds: f64| 1e3 * seconds / run.steps.max(1) as f64;
        let speed = |seconds: f64| run.cells as f64 / seconds.max(f64::MIN_POSITIVE) / 1e6;
        let parts = [run.kernels(), run.with_transfers(), run.end_to_end()];
        write!(
            out,
            "{:<40} {:>5} {:>10.3} {:>10.3}",
            run.name,
            run.steps,
            of_step(advection.kernel_s),
            of_step(microphysics.kernel_s)
        )?;
        for seconds in parts {
            write!(out, " {:>10.3}", 1e3 * seconds)?;
        }
        for seconds in parts {
            write!(out, " {:>9.2}", speed(seconds))?;
        }
        writeln!(out)?;
    }
    writeln!(
        out,
        "kernels: transport and microphysics alone; + copies: with all copies between host and \
         device, of which the CPU needs none; end to end: wall time from the state in host memory \
         to the last frame of output there"
    )?;
    for ratio in &report.ratios {
        writeln!(
            out,
            "{} is {:.2} times as fast as {}: {}",
            ratio.a, ratio.ratio, ratio.b, ratio.what
        )?;
    }
    Ok(())
}

fn print_verdicts(out: &mut impl Write, report: &ComparisonReport) -> Result<()> {
    let [.., a, b] = &report.runs[..] else { return Ok(()) };
    let heads: BTreeSet<usize> = report.verdicts.iter().map(|verdict| verdict.steps).collect();
    for count in heads {
        writeln!(out, "\nafter {}: {} against {}", steps(count), b.name, a.name)?;
        writeln!(
            out,
            "field                  max abs   rms rel     p99.9     max ULP    worst i j k  \
             judged by                         found     limit  verdict"
        )?;
        let mut origins = BTreeSet::new();
        for verdict in report.verdicts.iter().filter(|verdict| verdict.steps == count) {
            origins.extend(verdict.checks.iter().map(|check| (check.measure, &check.origin)));
            writeln!(out, "{}", line(verdict))?;
        }
        writeln!(out, "limits:")?;
        for (measure, origin) in origins {
            writeln!(out, "  {measure}: {origin}")?;
        }
    }
    writeln!(
        out,
        "errors of the first step are against a step in double precision; {:.1} % of the columns \
         leave their course there by rounding alone, and no largest error is judged in them",
        100.0 * report.fragile_share
    )?;
    Ok(())
}

fn line(verdict: &Verdict) -> String {
    let number = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{x:.1e}"));
    let worst = verdict.worst.map_or_else(|| "-".to_owned(), |[k, j, i]| format!("{i} {j} {k}"));
    let ulp = verdict.max_ulp.map_or_else(|| "-".to_owned(), |x| x.to_string());
    let Verdict { field, max_abs, measure, found, limit, .. } = verdict;
    let [rms_rel, p999] = [verdict.rms_rel, verdict.p999].map(number);
    let words = if verdict.pass { "passes" } else { "FAILS" };
    format!(
        "{field:<20} {max_abs:>9.1e} {rms_rel:>9} {p999:>9} {ulp:>11} {worst:>14}  \
         {measure:<29} {found:>9.1e} {limit:>9.1e}  {words}"
    )
}

fn print_suspect(out: &mut impl Write, suspect: &DivergentColumn) -> Result<()> {
    let fields: Vec<String> = suspect
        .fields
        .iter()
        .map(|(name, [k, j, i])| format!("{name} (worst at i={i} j={j} k={k})"))
        .collect();
    writeln!(out, "\nafter {}, a column of {}", steps(suspect.steps), fields.join(", "))?;
    if let Some(inputs) = &suspect.inputs {
        writeln!(
            out,
            "before the step, and the air of the microphysics, in the variables of nwp-mini columns"
        )?;
        print_profiles(out, &inputs.iter().collect::<Vec<_>>())?;
    }
    for (side, profiles) in [("CPU", &suspect.a), ("other", &suspect.b)] {
        let (levels, ground): (Vec<_>, Vec<_>) =
            profiles.iter().partition(|profile| profile.values.len() > 1);
        writeln!(out, "after, {side}")?;
        print_profiles(out, &levels)?;
        for profile in ground {
            writeln!(out, "  {} {:.9e}", profile.name, profile.values[0])?;
        }
    }
    Ok(())
}

/// Levels from the top down.
fn print_profiles(out: &mut impl Write, profiles: &[&QuantityProfile]) -> Result<()> {
    write!(out, "{:>4}", "k")?;
    for profile in profiles {
        write!(out, " {:>16}", profile.name)?;
    }
    writeln!(out)?;
    let count = profiles.iter().map(|profile| profile.values.len()).max().unwrap_or(0);
    for k in (0..count).rev() {
        write!(out, "{k:>4}")?;
        for profile in profiles {
            write!(out, " {:>16.9e}", profile.values[k])?;
        }
        writeln!(out)?;
    }
    Ok(())
}

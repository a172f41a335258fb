//! The page of a run.

use serde_json::Value;

use super::{
    Cell, Page, brief, figure, fixed, items, list, number, paragraph, place, provenance, table,
    text,
};
use crate::physics::registry;
use crate::plot::canvas::Picture;

/// The page of a run, from its `--json` report and its pictures with their names.
pub(in crate::cli) fn page(facts: &Value, pictures: &[(&'static str, Picture)]) -> String {
    let mut page = Page::new(&format!("nwp-mini run: {}", file_name(&text(facts, "input"))));
    page.facts(&summary(facts));
    page.section("What ran", what_ran(facts));
    let figures: Vec<String> =
        pictures.iter().map(|(name, picture)| figure(&picture.svg(name))).collect();
    page.section("Pictures of the last frame", figures.concat());
    page.section("Water", water(facts));
    page.section("Times", times(facts));
    page.section("Runs side by side", runs(facts));
    page.section("Verdicts", verdicts(facts));
    page.section("Fields at the end", fields(facts));
    page.section(
        "Provenance",
        provenance(&[
            (
                "program",
                format!("nwp-mini {}, commit {}", text(facts, "version"), text(facts, "commit")),
            ),
            ("device", text(facts, "device")),
            ("machine", machine(facts)),
            ("input", text(facts, "input")),
            ("output", text(facts, "output")),
        ]),
    );
    page.html()
}

fn file_name(path: &str) -> String {
    path.split(", ")
        .map(|path| path.rsplit('/').next().unwrap_or(path))
        .collect::<Vec<_>>()
        .join(", ")
}

fn machine(facts: &Value) -> String {
    let [cpu, cores, threads, os, arch] = ["cpu", "cores", "threads", "os", "arch"]
        .map(|name| text(facts, &format!("machine/{name}")));
    format!("{cpu}, {cores} cores, {threads} threads, {os} {arch}")
}

fn summary(facts: &Value) -> Vec<(String, String)> {
    let get = |path: &str| number(facts, path);
    let faster = get("seconds").zip(get("timing/run/total_s")).map(|(a, b)| a / b.max(1e-9));
    // Records of earlier versions lack it.
    let over = match text(facts, "precipitation_mean_over").as_str() {
        "" => String::new(),
        cells => format!(" over {cells}"),
    };
    let mut summary = vec![
        (
            format!("{} s", fixed(get("seconds"), 0)),
            format!("simulated in {} steps", text(facts, "steps")),
        ),
        (format!("{} ×", brief(faster)), "as fast as the weather".to_owned()),
        (
            format!("{} M", fixed(get("timing/step/cells_per_s").map(|x| x / 1e6), 2)),
            "cells a second, stepping".to_owned(),
        ),
        (
            format!("{} mm", fixed(get("precipitation_mean_mm"), 3)),
            format!(
                "precipitation in the mean{over}, {} mm at most",
                fixed(get("precipitation_max_mm"), 2)
            ),
        ),
        (brief(get("water/closure_rel")), "of all water unexplained".to_owned()),
    ];
    let verdicts = items(facts, "verdict");
    if !verdicts.is_empty() {
        let bad = verdicts.iter().filter(|verdict| !passes(verdict)).count();
        let said = if bad == 0 { "pass".to_owned() } else { format!("{bad} FAIL") };
        summary.push((said, format!("of {} verdicts on CPU against GPU", verdicts.len())));
    }
    summary
}

fn passes(verdict: &Value) -> bool {
    verdict["pass"].as_bool().unwrap_or(false)
}

fn what_ran(facts: &Value) -> String {
    let grid: Vec<String> = items(facts, "grid").iter().map(Value::to_string).collect();
    let refined = match number(facts, "refine") {
        Some(count) if count > 1.0 => {
            format!(", each cell of the input divided into {count}×{count}")
        }
        _ => String::new(),
    };
    let get = |path: &str| number(facts, path);
    let options = registry::descriptions().into_iter().map(|scheme| scheme.variant_option);
    let variant = options.map(|option| (option, text(facts, option)));
    let variant = variant.filter(|(_, name)| !name.is_empty());
    let variant = variant.map(|(option, name)| format!(", {option} {name}"));
    let microphysics = text(facts, "physics") + &variant.collect::<String>();
    list(&[
        ("grid", format!("{} cells{refined}", grid.join("×"))),
        ("boundaries", text(facts, "boundary")),
        ("where", format!("{}, {}", text(facts, "device"), text(facts, "precision"))),
        (
            "time step",
            format!(
                "{} s; {} s would have been possible",
                brief(get("dt")),
                fixed(get("max_dt"), 1)
            ),
        ),
        ("transport", format!("RK3, limiter {}", text(facts, "limiter"))),
        ("microphysics", microphysics),
        (
            "wind",
            format!(
                "made to conserve mass: column divergence at most {} Pa/h before and {} Pa/h after, \
                 u changed by {} m/s and v by {} m/s at most",
                fixed(get("projection/residual_before"), 1),
                brief(get("projection/residual_after")),
                fixed(get("projection/max_du"), 2),
                fixed(get("projection/max_dv"), 2)
            ),
        ),
        ("frames of output", text(facts, "frames")),
    ])
}

fn water(facts: &Value) -> String {
    let get = |name: &str| number(facts, &format!("water/{name}"));
    let Some(start) = get("start") else { return String::new() };
    let terms = [
        ("at the start", get("start")),
        ("fallen", get("fallen").map(|x| -x)),
        ("through the sides", get("sides")),
        ("made by the fall scheme", get("fallout_residual")),
        ("made by clipping", get("clipped")),
        ("made by rho dz against M", get("mass_mismatch")),
        ("at the end", get("end")),
    ];
    let rows = terms.map(|(name, mass)| {
        let share = mass.map(|mass| if start > 0.0 { 100.0 * mass / start } else { 0.0 });
        let mass = mass.map_or_else(|| "–".to_owned(), |x| format!("{x:.5e}").replace('-', "−"));
        [("", name.into()), ("kg", mass.into()), ("%", fixed(share, 5).into())]
    });
    let closure = format!(
        "Inside the outermost rows. Every line is measured on its own; what they leave unexplained, \
         {} of all water, is an error of the program or rounding.",
        brief(get("closure_rel"))
    );
    table(rows) + &paragraph(&closure)
}

fn times(facts: &Value) -> String {
    let phases = [
        ("transport", "advection"),
        ("microphysics", "microphysics"),
        ("both", "step"),
        ("input frames", "input_frames"),
        ("output", "output"),
        ("the whole run", "run"),
    ];
    table(phases.map(|(name, phase)| {
        let get = |what: &str| number(facts, &format!("timing/{phase}/{what}"));
        [
            ("", name.into()),
            ("kernels, s", fixed(get("kernel_s"), 3).into()),
            ("copies, s", fixed(get("transfer_s"), 3).into()),
            ("total, s", fixed(get("total_s"), 3).into()),
            ("M cells/s", fixed(get("cells_per_s").map(|x| x / 1e6), 2).into()),
        ]
    }))
}

fn runs(facts: &Value) -> String {
    let rows = items(facts, "runs").iter().map(|run| {
        let steps = number(run, "steps").unwrap_or(1.0).max(1.0);
        let of_step = |path: &str| number(run, path).map(|seconds| 1e3 * seconds / steps);
        let whole = of_step("end_to_end_s");
        let cells = number(run, "cells").zip(whole).map(|(cells, ms)| cells / ms.max(1e-9) / 1e3);
        [
            ("run", text(run, "name").into()),
            ("steps", text(run, "steps").into()),
            ("transport, ms/step", fixed(of_step("times/advection/kernel_s"), 3).into()),
            ("microphysics, ms/step", fixed(of_step("times/microphysics/kernel_s"), 3).into()),
            ("end to end, ms/step", fixed(whole, 3).into()),
            ("M cells/s", fixed(cells, 2).into()),
        ]
    });
    let ratios = items(facts, "pairs").iter().map(|pair| {
        let ratio = fixed(number(pair, "ratio"), 2);
        let [a, b, what] = ["a", "b", "what"].map(|name| text(pair, name));
        paragraph(&format!("{a} is {ratio} times as fast as {b}: {what}"))
    });
    table(rows) + &ratios.collect::<String>()
}

fn verdicts(facts: &Value) -> String {
    table(items(facts, "verdict").iter().map(|verdict| {
        [
            ("field", text(verdict, "field").into()),
            ("steps", text(verdict, "steps").into()),
            ("largest", brief(number(verdict, "max_abs")).into()),
            ("rms, relative", brief(number(verdict, "rms_rel")).into()),
            ("ULP", text(verdict, "max_ulp").into()),
            ("at i j k", place(&verdict["worst"]).into()),
            ("judged by", text(verdict, "measure").into()),
            ("found", brief(number(verdict, "found")).into()),
            ("limit", brief(number(verdict, "limit")).into()),
            ("verdict", Cell::verdict(passes(verdict))),
        ]
    }))
}

fn fields(facts: &Value) -> String {
    let Some(last) = items(facts, "diagnostics").last() else { return String::new() };
    let rows = items(last, "fields").iter().map(|field| {
        [
            ("", text(field, "name").into()),
            ("least", brief(number(field, "min/value")).into()),
            ("at i j k", place(&field["min"]["at"]).into()),
            ("most", brief(number(field, "max/value")).into()),
            ("at i j k", place(&field["max"]["at"]).into()),
            ("mean", brief(number(field, "mean")).into()),
            ("rms", brief(number(field, "rms")).into()),
        ]
    });
    let courant = format!(
        "Largest Courant number {} at {} (i j k).",
        fixed(number(last, "courant/value"), 3),
        place(&last["courant"]["at"])
    );
    table(rows) + &paragraph(&courant)
}

//! All outputs of a run, and runs that go on with another number of ranks.

use std::fs;

use super::{Launcher, check_figures, check_file, place};

/// Output of a run, with an interval at which the smallest piece of it is due.
const FRAMES: [&str; 6] = ["--steps", "4", "--dt", "30", "--output-interval", "60"];

#[test]
fn several_input_frames_and_every_file_that_a_run_writes() {
    let Some(launcher) = Launcher::take() else { return };
    let place = place();
    // Several times to be input.
    let series = ["run", "-q", "--input", "small.nc", "--backend", "cpu", "--output", "series.nc"];
    let series = [&series[..], &["--steps", "3", "--dt", "30", "--output-interval", "30"]].concat();
    place.command(&series).good();
    let target = ["--target", "latlon", "--spacing", "0.5", "--output", "w.nc"];
    place.command(&[&["weights", "-q", "--input", "small.nc"][..], &target].concat()).good();
    // Far apart, and one between the parts.
    let places = "name,lat,lon\na,45.5,9.5\nb,47.6,12.55\nc,49.9,15.3\n";
    fs::write(place.path("p.csv"), places).expect("a file");
    let aux = ["--regrid", "w.nc", "--points", "p.csv", "--points-interval", "30", "--profiles"];
    let run = |stem: &str| -> Vec<String> {
        let names = [
            ("--output", "nc"),
            ("--json", "json"),
            ("--report", "html"),
            ("--restart-output", "r.nc"),
        ];
        let names = names
            .into_iter()
            .flat_map(|(option, end)| [option.to_owned(), format!("{stem}.{end}")]);
        let fixed = ["run", "-q", "--input", "series.nc", "--backend", "cpu"];
        let words = [&fixed[..], &FRAMES, &aux].concat();
        words.into_iter().map(str::to_owned).chain(names).collect()
    };
    let words = run("one");
    place.command(&words.iter().map(String::as_str).collect::<Vec<_>>()).good();
    let words = run("several");
    launcher.run(&place, 4, &words.iter().map(String::as_str).collect::<Vec<_>>()).good();
    for end in ["nc", "r.nc", "regrid.nc", "points.nc", "points.profiles.nc", "profiles.nc"] {
        let names = ["one", "several"].map(|stem| format!("{stem}.{end}"));
        check_file(end, &place, names.each_ref().map(String::as_str));
    }
    check_figures("all outputs", &place.json("one.json"), &place.json("several.json"), 4);
    let page = fs::read_to_string(place.path("several.html")).expect("a page");
    assert!(page.contains("</html>") && page.contains("<svg"));
    // One of each, by one rank.
    let files = place.files();
    let of = |stem: &str| files.iter().filter(|name| name.starts_with(stem)).count();
    assert_eq!((of("one."), of("several."), of(".")), (8, 8, 0), "{files:?}");
}

#[test]
fn steps_are_measured_beside_those_of_each_rank_alone() {
    let Some(launcher) = Launcher::take() else { return };
    let place = place();
    let scale = ["bench", "scale", "--input", "small.nc", "--threads", "1", "--runs", "1"];
    let sizes = ["--columns-from", "256", "--columns-to", "512", "--json", "r.json"];
    launcher.run(&place, 2, &[&scale[..], &sizes].concat()).good();
    let rows = place.json("r.json");
    let rows = rows.as_array().expect("rows");
    let columns: Vec<_> = rows.iter().map(|row| row["columns"].as_u64()).collect();
    assert_eq!(columns, [Some(256), Some(512)]);
    for row in rows {
        let number = |key: &str| row[key].as_f64().expect("a number");
        // Margins add to a step, and their cells arrive: ten rows or columns of sixteen, seven levels, six fields.
        assert!(number("model_efficiency") < 1.0 && number("alone_s") < number("model_s"), "{row}");
        assert!((number("alone_s") / number("median_s") / number("efficiency") - 1.0).abs() < 1e-9);
        assert_eq!(row["bytes_sent"], 10.0 * 16.0 * 7.0 * 6.0 * 4.0);
        assert_eq!((&row["ranks"], &row["bench"]), (&2.into(), &"ranks".into()));
    }
    launcher.run(&place, 2, &["bench", "reduce"]).refused(2, &["bench scale", "2"]);
}

#[test]
fn a_run_goes_on_with_other_numbers_of_ranks() {
    let Some(launcher) = Launcher::take() else { return };
    let place = place();
    let tracers = "[[tracer]]\nname = \"smoke\"\nunits = \"1\"\ndecay = 600.0\n\
                   initial = { kind = \"constant\", value = 0.3 }\n\
                   [[tracer]]\nname = \"dust\"\nunits = \"1\"\n\
                   initial = { kind = \"constant\", value = 1e-25 }\n";
    fs::write(place.path("t.toml"), tracers).expect("a file");
    let first = ["run", "-q", "--input", "small.nc", "--dt", "30", "--tracers", "t.toml"];
    let whole = [
        "--steps",
        "6",
        "--output",
        "whole.nc",
        "--json",
        "whole.json",
        "--restart-output",
        "whole.r.nc",
    ];
    place.command(&[&first[..], &["--backend", "cpu"], &whole].concat()).good();
    let part = |number: &str| -> Vec<String> {
        let names = [("--output", "nc"), ("--json", "json"), ("--restart-output", "r.nc")];
        let names = names
            .into_iter()
            .flat_map(|(option, end)| [option.to_owned(), format!("{number}.{end}")]);
        ["--steps", "2"].into_iter().map(str::to_owned).chain(names).collect()
    };
    let with = |head: &[&str], number: &str| -> Vec<String> {
        head.iter().map(|word| (*word).to_owned()).chain(part(number)).collect()
    };
    let run = |ranks: usize, words: Vec<String>| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if ranks == 1 {
            place.command(&[&words[..], &["--backend", "cpu"]].concat()).good();
        } else {
            launcher.run(&place, ranks, &words).good();
        }
    };
    run(4, with(&first, "1"));
    run(1, with(&["run", "-q", "--restart", "1.r.nc"], "2"));
    run(3, with(&["run", "-q", "--restart", "2.r.nc"], "3"));
    check_file("restart file", &place, ["whole.r.nc", "3.r.nc"]);
    let last = |name: &str| place.open(name).last_bits();
    assert_eq!(last("whole.nc"), last("3.nc"));
    let (whole, last) = (place.json("whole.json"), place.json("3.json"));
    for name in ["water", "tracers", "precipitation_mean_mm", "steps", "seconds", "projection"] {
        assert_eq!(whole[name], last[name], "{name}");
    }
}

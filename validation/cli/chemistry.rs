//! `nwp-mini mechanism` and `nwp-mini chemistry` as users meet them.

use std::path::Path;
use std::process::{Command, Output};

use nwp_mini::chemistry::mechanism::LONGEST_TEXT;
use nwp_mini_support::{program, project, reference};
use tempfile::TempDir;

const RADM2: &str = "data/chemistry/radm2.kpp";

fn nwp_mini(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(program()).current_dir(folder).args(arguments).output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn radm2() -> String {
    project().join(RADM2).display().to_string()
}

/// Writes variables of one dimension.
fn write(path: &Path, variables: &[(String, Vec<f64>)]) {
    let mut file = netcdf::create(path).unwrap();
    file.add_dimension("cell", variables[0].1.len()).unwrap();
    for (name, values) in variables {
        file.add_variable::<f64>(name, &["cell"]).unwrap().put_values(values, ..).unwrap();
    }
}

/// The cells of the reference data in the format of users, and the results of KPP for them.
struct Cells {
    variables: Vec<(String, Vec<f64>)>,
    species: Vec<String>,
    expected: Vec<f64>,
    counters: Vec<i32>,
}

impl Cells {
    fn of_radm2() -> Self {
        let file = reference("kpp");
        let values = |name: &str| -> Vec<f64> {
            file.variable(&format!("radm2_{name}")).expect(name).get_values(..).unwrap()
        };
        let names = |name: &str| -> Vec<String> {
            let variable = file.variable(&format!("radm2_{name}")).expect(name);
            let bytes = variable.get_raw_values(..).unwrap();
            let length = variable.dimensions()[1].len();
            bytes.chunks(length).map(|row| text(row).trim_matches(['\0', ' ']).to_owned()).collect()
        };
        let columns = |values: &[f64], names: &[String]| -> Vec<(String, Vec<f64>)> {
            let column = |i| values.iter().skip(i).step_by(names.len()).copied().collect();
            names.iter().enumerate().map(|(i, name)| (name.clone(), column(i))).collect()
        };
        let species = names("var_name");
        let mut variables = columns(&values("y0"), &species);
        variables.extend(columns(&values("fix"), &names("fix_name")));
        for name in ["temp", "c_m", "rc_n2o5"] {
            variables.push((name.to_owned(), values(name)));
        }
        let jval = file.variable("radm2_jval").unwrap();
        let frequencies: String =
            jval.attribute("names").unwrap().value().unwrap().try_into().unwrap();
        let frequencies: Vec<String> = frequencies.split(' ').map(str::to_owned).collect();
        variables.extend(columns(&values("jval"), &frequencies));
        let counters = file.variable("radm2_au_wrf_60_stat").unwrap().get_values(..).unwrap();
        Self { variables, species, expected: values("au_wrf_60_y"), counters }
    }

    fn without(&self, name: &str) -> Vec<(String, Vec<f64>)> {
        self.variables.iter().filter(|(known, _)| known != name).cloned().collect()
    }
}

/// Writes a file of cells of RADM2.
pub(crate) fn write_cells(path: &Path) {
    write(path, &Cells::of_radm2().variables);
}

/// Options of the run `wrf_60` of the reference data.
const WRF_60: [&str; 6] = ["--method", "ros3", "--dt", "60", "--hstart", "0.6"];

fn chemistry(folder: &Path, more: &[&str]) -> Output {
    let radm2 = radm2();
    let fixed = ["chemistry", "--mechanism", &radm2, "--input", "cells.nc", "--output", "out.nc"];
    nwp_mini(folder, &[&fixed[..], &WRF_60[..], more].concat())
}

/// Half of every temperature with a factor of 2 is the same temperature, and one that is not valid is no number.
#[test]
fn packed_cells_are_unpacked() {
    let (folder, cells) = (TempDir::new().unwrap(), Cells::of_radm2());
    let path = folder.path().join("cells.nc");
    write(&path, &cells.without("temp"));
    let (_, temperatures) = cells.variables.iter().find(|(name, _)| name == "temp").unwrap();
    let mut file = netcdf::append(&path).unwrap();
    let mut variable = file.add_variable::<f64>("temp", &["cell"]).unwrap();
    variable.put_attribute("scale_factor", 2.0).unwrap();
    let mut halves: Vec<f64> = temperatures.iter().map(|t| 0.5 * t).collect();
    variable.put_values(&halves, ..).unwrap();
    drop(file);
    let counters = || -> Vec<i32> {
        let out = netcdf::open(folder.path().join("out.nc")).unwrap();
        out.variable("counters").unwrap().get_values(..).unwrap()
    };
    let output = chemistry(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(counters(), cells.counters);

    halves[0] = 1e4;
    let mut file = netcdf::append(&path).unwrap();
    let mut variable = file.variable_mut("temp").unwrap();
    variable.put_attribute("valid_max", 500.0).unwrap();
    variable.put_values(&halves, ..).unwrap();
    drop(file);
    let output = chemistry(folder.path(), &["--force"]);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{message}");
    assert!(message.contains("1 temperature") && message.contains("cell=0"), "{message}");
}

#[test]
fn cells_are_integrated_as_by_kpp() {
    let (folder, cells) = (TempDir::new().unwrap(), Cells::of_radm2());
    write(&folder.path().join("cells.nc"), &cells.variables);
    let output = chemistry(folder.path(), &["--lu", "f64", "--force", "--mapping", "warp"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("59 variable and 2 fixed species"));
    let out = netcdf::open(folder.path().join("out.nc")).unwrap();
    let counters: Vec<i32> = out.variable("counters").unwrap().get_values(..).unwrap();
    assert_eq!(counters, cells.counters);
    let codes: Vec<i32> = out.variable("ierr").unwrap().get_values(..).unwrap();
    assert!(codes.iter().all(|&code| code == 1));
    let time: Vec<f64> = out.variable("texit").unwrap().get_values(..).unwrap();
    assert!(time.iter().all(|t| (t - 60.0).abs() < 1e-9));
    assert!(out.variable("hexit").is_some() && out.variable("hnew").is_some());
    for (i, name) in cells.species.iter().enumerate() {
        let found: Vec<f64> = out.variable(name).expect(name).get_values(..).unwrap();
        let expected = cells.expected.iter().skip(i).step_by(cells.species.len());
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() <= 1e-9 * b.abs() + 1e-3, "{name} {a} {b}");
        }
    }
}

#[test]
fn factors_in_single_precision_are_refused_with_the_reason() {
    let folder = TempDir::new().unwrap();
    let output = chemistry(folder.path(), &["--lu", "f32"]);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("--lu f32") && message.contains("slower"), "{message}");
}

#[test]
fn a_cell_that_fails_is_reported_and_keeps_its_input() {
    let (folder, mut cells) = (TempDir::new().unwrap(), Cells::of_radm2());
    let ozone = cells.variables.iter().position(|(name, _)| name == "O3").unwrap();
    cells.variables[ozone].1[4] = f64::NAN;
    let temperature = cells.variables.iter().position(|(name, _)| name == "temp").unwrap();
    cells.variables[temperature].1[6] = -4.0;
    write(&folder.path().join("cells.nc"), &cells.variables);
    let output = chemistry(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(5));
    let message = text(&output.stderr);
    for part in ["2 of ", "(ierr -9)", "(ierr -10)", "cell=4"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let out = netcdf::open(folder.path().join("out.nc")).unwrap();
    let codes: Vec<i32> = out.variable("ierr").unwrap().get_values(..).unwrap();
    let failed: Vec<usize> = (0..codes.len()).filter(|&cell| codes[cell] != 1).collect();
    assert_eq!(failed, [4, 6]);
    for (name, values) in cells.variables.iter().filter(|(name, _)| cells.species.contains(name)) {
        let found: Vec<f64> = out.variable(name).expect(name).get_values(..).unwrap();
        for cell in failed.iter().copied() {
            assert_eq!(found[cell].to_bits(), values[cell].to_bits(), "{name} {cell}");
        }
    }
}

#[test]
fn what_a_file_lacks_is_an_error_or_a_line() {
    let (folder, cells) = (TempDir::new().unwrap(), Cells::of_radm2());
    let input = folder.path().join("cells.nc");
    for (name, parts) in [
        ("temp", ["no variable temp", "reaction <R22>"]),
        ("c_m", ["no variable cfactor or c_m", "reaction <R22>"]),
        ("rc_n2o5", ["no variable rc_n2o5 or rh", "reaction <R43>"]),
        ("Pj_no2", ["no variable Pj_no2", "reaction <R1>"]),
    ] {
        write(&input, &cells.without(name));
        let output = chemistry(folder.path(), &[]);
        assert_eq!(output.status.code(), Some(3), "{name}");
        let message = text(&output.stderr);
        assert!(parts.iter().all(|part| message.contains(part)), "{name}: {message}");
        assert!(!folder.path().join("out.nc").exists(), "{name}");
    }
    let mut fewer = cells.without("ISO");
    fewer.retain(|(name, _)| name != "XYL");
    write(&input, &fewer);
    let output = chemistry(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let message = text(&output.stderr);
    let line = message.lines().find(|line| line.contains("no variable of these species"));
    assert!(line.is_some_and(|line| line.contains("ISO 0") && line.contains("XYL 0")), "{message}");
    // The output is there now.
    let output = chemistry(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("--force"));
    let output = chemistry(folder.path(), &["--force", "-q"]);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
}

#[test]
fn impossible_options_are_refused_before_anything_is_read() {
    let folder = TempDir::new().unwrap();
    for (more, code, part) in [
        (&["--backend", "both"][..], 2, "--backend both"),
        (&["--rtol", "0"], 2, "--rtol 0"),
        (&["--rtol", "1"], 2, "--rtol 1"),
        (&["--atol", "-1"], 2, "--atol -1"),
        (&["--hstart", "inf"], 2, "--hstart inf"),
        (&["--rates", "sometimes"], 2, "sometimes"),
    ] {
        // Later options would not replace those of the run.
        let radm2 = radm2();
        let fixed =
            ["chemistry", "--mechanism", &radm2, "--input", "none.nc", "--output", "out.nc"];
        let output = nwp_mini(folder.path(), &[&fixed[..], more].concat());
        assert_eq!(output.status.code(), Some(code), "{more:?}");
        assert!(text(&output.stderr).contains(part), "{more:?}: {}", text(&output.stderr));
    }
}

#[test]
fn a_mechanism_is_explained_and_drawn() {
    let folder = TempDir::new().unwrap();
    let mechanism = radm2();
    let files = ["--json", "m.json", "--dot", "m.dot", "--plot", "m.svg"];
    let output = nwp_mini(folder.path(), &[&["mechanism", &mechanism][..], &files[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let listing = text(&output.stdout);
    for part in [
        "radm2: 59 variable and 2 fixed species, 156 reactions",
        "21 need light",
        "572 entries of the Jacobian, 659 of its factors (87 of fill); 2092 without reordering",
        "304 + 1642",
    ] {
        assert!(listing.contains(part), "{part}\n{listing}");
    }
    // Under a clear sky O1D lives for nanoseconds and methane for years.
    let life = |name: &str| listing.lines().find(|l| l.starts_with(&format!("{name} "))).unwrap();
    assert!(life("O1D").contains(" ns "), "{}", life("O1D"));
    assert!(life("CH4").contains(" a "), "{}", life("CH4"));

    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&read("m.json")).unwrap();
    assert_eq!(json["reactions"].as_array().unwrap().len(), 156);
    assert_eq!(json["nnz_lu"], 659);
    let dot = read("m.dot");
    assert!(
        dot.starts_with("digraph")
            && dot.contains("\"NO2\" -> \"NO\" [label=\"R1\", style=dashed]")
    );
    let svg = read("m.svg");
    let picture = roxmltree::Document::parse(&svg).expect("SVG");
    assert!(picture.descendants().filter(|node| node.has_tag_name("rect")).count() > 659);

    let output = nwp_mini(folder.path(), &["mechanism", &mechanism, "--json", "m.json"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("--force"));
}

#[test]
fn faults_of_a_mechanism_are_reported_together() {
    let folder = TempDir::new().unwrap();
    let source = "#DEFVAR A = IGNORE; B = IGNORE;\n#EQUATIONS\nA = BB : 1;\nA = B : ARR3(1);\n";
    std::fs::write(folder.path().join("m.kpp"), source).unwrap();
    let output = nwp_mini(folder.path(), &["mechanism", "m.kpp"]);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(3), ""));
    let message = text(&output.stderr);
    for part in ["m.kpp:3:5: the species BB", "m.kpp:4:9: ARR3 is not a known function", "^^^^"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let output = nwp_mini(folder.path(), &["mechanism", "none.kpp"]);
    assert_eq!(output.status.code(), Some(3));
    let large = "{".to_owned() + &" ".repeat(LONGEST_TEXT as usize) + "}";
    std::fs::write(folder.path().join("large.kpp"), large).unwrap();
    let output = nwp_mini(folder.path(), &["mechanism", "large.kpp"]);
    assert_eq!(output.status.code(), Some(3));
    let limit = format!("a mechanism has at most {LONGEST_TEXT}");
    assert!(text(&output.stderr).contains(&limit));
}

/// The mechanism of the page about writing mechanisms, and the results that the page states.
#[test]
fn the_first_mechanism_of_the_page_reaches_the_photostationary_state() {
    let page = std::fs::read_to_string(project().join("data/chemistry/README.md")).unwrap();
    let mechanism = page.split("```\n").nth(1).expect("a mechanism in the page");
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("leighton.kpp"), mechanism).unwrap();
    let output = nwp_mini(folder.path(), &["mechanism", "leighton.kpp"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("3 reactions"), "{}", text(&output.stdout));

    let air = 2.46e19;
    let frequencies = [8e-3, 8e-4];
    let variables = [
        ("temp", vec![298.15; 2]),
        ("c_m", vec![air; 2]),
        ("Pj_no2", frequencies.to_vec()),
        ("M", vec![air; 2]),
        ("O2", vec![0.209 * air; 2]),
        ("NO", vec![0.0; 2]),
        ("NO2", vec![2.46e11; 2]),
    ];
    let variables = variables.map(|(name, values)| (name.to_owned(), values));
    write(&folder.path().join("cells.nc"), &variables);
    let files = ["--input", "cells.nc", "--output", "out.nc", "--dt", "3600"];
    let output = nwp_mini(
        folder.path(),
        &[&["chemistry", "--mechanism", "leighton.kpp"][..], &files[..]].concat(),
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let message = text(&output.stderr);
    let named = message.lines().any(|line| line.contains("O3 0") && line.contains("O 0"));
    assert!(named, "{message}");
    let out = netcdf::open(folder.path().join("out.nc")).unwrap();
    let values =
        |name: &str| -> Vec<f64> { out.variable(name).expect(name).get_values(..).unwrap() };
    let (no, no2, o3) = (values("NO"), values("NO2"), values("O3"));
    let k = 1.8e-12 * (-1370.0_f64 / 298.15).exp();
    for cell in 0..2 {
        let ratio = frequencies[cell] * no2[cell] / (k * no[cell] * o3[cell]);
        // The relative tolerance of the integration is 1e-3.
        assert!((ratio - 1.0).abs() < 5e-3, "cell {cell}: {ratio}");
        let nitrogen = (no[cell] + no2[cell]) / 2.46e11;
        assert!((nitrogen - 1.0).abs() < 1e-9, "cell {cell}: {nitrogen}");
    }
}

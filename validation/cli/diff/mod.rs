//! `nwp-mini diff` and `validation/compare.py`: every kind of difference is found and named, and the
//! two, which share no code, agree on every verdict and figure.

mod user_defined;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tempfile::TempDir;

use nwp_mini_support::skip::skipped;

/// Contents of a test file.
#[derive(Clone)]
struct Content {
    times: usize,
    /// Name of the dimension `x`.
    x: &'static str,
    /// Variable that is left out.
    without: &'static str,
    /// True if `T` is in double precision.
    wide: bool,
    t: Vec<f32>,
    d: Vec<f64>,
    n: Vec<i32>,
    big: u64,
    label: &'static str,
    rain: Vec<f32>,
    mu: f32,
}

const LEVELS: usize = 3;
const COLUMNS: usize = 4;
const CELLS: usize = LEVELS * COLUMNS;

impl Content {
    fn new() -> Self {
        Self {
            times: 2,
            x: "x",
            without: "",
            wide: false,
            t: (0..2 * CELLS).map(|n| 250.0 + n as f32).collect(),
            d: (0..CELLS).map(|n| 1e-3 * n as f64 - 5e-3).collect(),
            n: vec![3, -7, 0, i32::MAX],
            big: u64::MAX,
            label: "morning",
            rain: (0..2 * COLUMNS).map(|n| 0.5 * n as f32).collect(),
            mu: 9.0e4,
        }
    }

    fn write(&self, path: &Path) {
        let mut file = netcdf::create(path).expect("a new file");
        file.add_unlimited_dimension("Time").expect("a dimension");
        let lengths = [("level", LEVELS), (self.x, COLUMNS), ("y", 1)];
        for (name, length) in lengths {
            file.add_dimension(name, length).expect("a dimension");
        }
        file.add_attribute("DX", 1000.0_f32).expect("an attribute");
        file.add_attribute("DY", 1000.0_f32).expect("an attribute");
        let time = 0..self.times;
        let volume = ["Time", "level", "y", self.x];
        let t = &self.t[..self.times * CELLS];
        if self.wide {
            let mut variable = file.add_variable::<f64>("T", &volume).expect("a variable");
            let t: Vec<f64> = t.iter().map(|&t| t.into()).collect();
            variable.put_values(&t, (time.clone(), .., .., ..)).expect("values");
        } else if self.without != "T" {
            let mut variable = file.add_variable::<f32>("T", &volume).expect("a variable");
            variable.put_values(t, (time.clone(), .., .., ..)).expect("values");
        }
        // Water that weighs as much as the air, in a grid that knows its mass.
        for (name, value) in [("QVAPOR", 0.75_f32), ("QRAIN", 0.25)] {
            let mut variable = file.add_variable::<f32>(name, &volume).expect("a variable");
            let values = vec![value; self.times * CELLS];
            variable.put_values(&values, (time.clone(), .., .., ..)).expect("values");
        }
        for (name, value) in [("MU", self.mu), ("MUB", 0.0)] {
            let mut variable =
                file.add_variable::<f32>(name, &["Time", "y", self.x]).expect("a variable");
            let values = vec![value; self.times * COLUMNS];
            variable.put_values(&values, (time.clone(), .., ..)).expect("values");
        }
        let mut variable = file.add_variable::<f32>("DNW", &["level"]).expect("a variable");
        variable.put_values(&[-0.25_f32, -0.25, -0.5], ..).expect("values");
        let mut variable = file.add_variable::<f64>("D", &["level", self.x]).expect("a variable");
        variable.put_values(&self.d, ..).expect("values");
        if self.without != "N" {
            let mut variable = file.add_variable::<i32>("N", &[self.x]).expect("a variable");
            variable.put_values(&self.n, ..).expect("values");
        }
        let mut variable = file.add_variable::<u64>("BIG", &[]).expect("a variable");
        variable.put_values(&[self.big], ..).expect("values");
        let mut variable = file.add_string_variable("LABEL", &["y"]).expect("a variable");
        variable.put_string(self.label, [0]).expect("a text");
        let mut variable =
            file.add_variable::<f32>("RAINNC", &["Time", self.x]).expect("a variable");
        let rain = &self.rain[..self.times * COLUMNS];
        variable.put_values(rain, (time, ..)).expect("values");
    }
}

/// Two files with one difference, and the expected report.
struct Case {
    name: &'static str,
    /// Changes the contents for the second file.
    change: fn(&mut Content),
    tolerance: &'static str,
    /// Variable, verdict, and part of the explanation on standard output; the other variables are equal.
    expected: Option<(&'static str, &'static str, &'static str)>,
    same: bool,
}

const fn case(name: &'static str, change: fn(&mut Content)) -> Case {
    Case { name, change, tolerance: "", expected: None, same: true }
}

impl Case {
    const fn under(self, tolerance: &'static str) -> Self {
        Self { tolerance, ..self }
    }

    const fn passes(self, variable: &'static str, verdict: &'static str) -> Self {
        Self { expected: Some((variable, verdict, "")), ..self }
    }

    const fn fails(
        self,
        variable: &'static str,
        verdict: &'static str,
        says: &'static str,
    ) -> Self {
        Self { expected: Some((variable, verdict, says)), same: false, ..self }
    }
}

const PLACE: &str = "Time=1 level=0 y=0 x=2: 2.64e2 and 2.640";

fn cases() -> Vec<Case> {
    let tiny = |bits| f32::from_bits(bits);
    assert!(tiny(1) > 0.0);
    vec![
        case("the same", |_| ()),
        case("the same within limits", |_| ()).under("[default]\natol = 1"),
        case("one value", |c| c.t[14] = 264.01).fails("T", "different", PLACE),
        case("one value in double precision", |c| c.d[7] = 2.1e-3).fails(
            "D",
            "different",
            "level=1 x=3: 2e-3 and 2.1e-3",
        ),
        case("last bit", |c| c.t[14] = c.t[14].next_up()).fails("T", "different", PLACE),
        case("within atol", |c| c.t[14] = 264.01)
            .under("[variables]\nT = { atol = 0.011 }")
            .passes("T", "within"),
        case("beyond atol", |c| c.t[14] = 264.01)
            .under("[variables]\nT = { atol = 0.009 }\n[default]\natol = 1")
            .fails("T", "different", "4.167 % of the values beyond the limit, 0 % allowed"),
        case("within rtol", |c| c.t[14] = 264.01)
            .under("[default]\nrtol = 4e-5")
            .passes("T", "within"),
        case("an outlier", |c| c.t[14] = 264.01)
            .under("[default]\noutliers = 0.05")
            .passes("T", "within"),
        case("an outlier too large", |c| c.t[14] = 364.0)
            .under("[default]\noutliers = 0.05\nrms_percent = 7")
            .fails("T", "different", "5 % allowed"),
        case("limits of another variable", |c| c.t[14] = 264.01)
            .under("[variables]\nD = { atol = 9 }")
            .fails("T", "different", PLACE),
        case("NaN against a number", |c| c.t[3] = f32::NAN)
            .under("[default]\natol = 1e30\noutliers = 0.9")
            .fails(
                "T",
                "different",
                "1 values are NaN or infinite in one file only, the first at \
                                      Time=0 level=0 y=0 x=3 (NaN: 0 in A, 1 in B",
            ),
        case("infinity against a number", |c| c.d[0] = f64::NEG_INFINITY)
            .under("[default]\natol = 1e30")
            .fails("D", "different", "infinite: 0 and 1"),
        case("all NaN", |c| c.d.fill(f64::NAN)).fails("D", "different", "12 values are NaN"),
        case("huge values", |c| c.d[3] = f64::MAX).fails("D", "different", "level=0 x=3"),
        case("whole number", |c| c.n[1] = -6).under("[default]\natol = 10").fails(
            "N",
            "different",
            "x=1: -7e0 and -6e0",
        ),
        case("whole numbers that doubles round together", |c| c.big = u64::MAX - 1).fails(
            "BIG",
            "different",
            "first difference",
        ),
        case("text", |c| c.label = "mourning").fails("LABEL", "different", "difference at y=0"),
        case("only in A", |c| c.without = "T").fails("T", "only_in_a", "only in A"),
        case("other type", |c| c.wide = true).fails("T", "other_type", "float in A, double in B"),
        case("across zero", |c| c.d[5] = -f64::from_bits(3)).fails("D", "different", "level=1 x=1"),
        case("denormals", |c| c.rain[0] = f32::from_bits(5)).fails("RAINNC", "different", "x=0"),
        case("sign of zero", |c| c.rain[0] = -0.0).fails("RAINNC", "different", "first difference"),
        case("sign of zero within limits", |c| c.rain[0] = -0.0)
            .under("[default]\natol = 0")
            .passes("RAINNC", "within"),
    ]
}

/// Keeps the tests of this file from running at the same time: a command started by one test would inherit the files,
/// and their locks, that the HDF5 library has open for another test.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A Python with the modules of the script; without one, a message on standard error.
fn python() -> Option<PathBuf> {
    let is_fit = |program: &Path| {
        let imports = "import tomllib, numpy, netCDF4";
        let done = Command::new(program).args(["-c", imports]).output();
        done.is_ok_and(|output| output.status.success())
    };
    if let Some(named) = std::env::var_os("NWP_MINI_PYTHON").map(PathBuf::from) {
        assert!(is_fit(&named), "{} lacks numpy, netCDF4 or Python 3.11", named.display());
        return Some(named);
    }
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let local = [".venv/bin/python", "target/conventions/readers/bin/python"];
    let candidates = local.map(|place| project.join(place)).into_iter();
    let found = candidates.chain(["python3".into()]).find(|program| is_fit(program));
    if found.is_none() {
        skipped(
            "validation/compare.py, for want of a Python 3.11 with numpy and netCDF4 (name one by \
             NWP_MINI_PYTHON)",
        );
    }
    found
}

/// The program and, where it can run, the script.
struct Tools {
    folder: TempDir,
    python: Option<PathBuf>,
}

impl Tools {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder"), python: python() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn program(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nwp-mini"));
        command.arg("diff").args(arguments).current_dir(&self.folder).output().expect("it starts")
    }

    fn script(&self, arguments: &[&str]) -> Option<Output> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("validation/compare.py");
        let mut command = Command::new(self.python.as_ref()?);
        command.arg(script).args(arguments).current_dir(&self.folder);
        Some(command.output().expect("it starts"))
    }

    /// Runs both on a.nc and b.nc; returns the exit code, standard output and the figures.
    fn compare(&self, name: &str, options: &[&str]) -> (Option<i32>, String, Value) {
        let with_json = |json| [&["a.nc", "b.nc", "--force", "--json", json], options].concat();
        let ours = self.program(&with_json("ours.json"));
        let stdout = String::from_utf8(ours.stdout).expect("UTF-8");
        let stderr = String::from_utf8_lossy(&ours.stderr);
        let read = |file: &str| -> Value {
            let text = fs::read_to_string(self.path(file))
                .unwrap_or_else(|e| panic!("{name}: {e}: {stderr}"));
            serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}: {text}"))
        };
        let facts = read("ours.json");
        if let Some(theirs) = self.script(&with_json("theirs.json")) {
            let stderr = String::from_utf8_lossy(&theirs.stderr);
            assert_eq!(theirs.status.code(), ours.status.code(), "{name}: {stderr}");
            let other = read("theirs.json");
            for key in ["same", "variables", "totals"] {
                agree(&format!("{name}: {key}"), &facts[key], &other[key]);
            }
            let table = |text: &str| {
                text.lines().filter(|l| !l.contains(": ")).map(str::to_owned).collect::<Vec<_>>()
            };
            assert_eq!(table(&stdout), table(&String::from_utf8_lossy(&theirs.stdout)), "{name}");
        }
        (ours.status.code(), stdout, facts)
    }
}

/// Two JSON values are equal, except for the order of sums in numbers.
fn agree(place: &str, a: &Value, b: &Value) {
    match (a, b) {
        (Value::Array(x), Value::Array(y)) if x.len() == y.len() => {
            for (n, (x, y)) in x.iter().zip(y).enumerate() {
                agree(&format!("{place}[{n}]"), x, y);
            }
        }
        (Value::Object(x), Value::Object(y)) if x.keys().eq(y.keys()) => {
            for (key, x) in x {
                agree(&format!("{place}.{key}"), x, &y[key]);
            }
        }
        (Value::Number(x), Value::Number(y)) => {
            let [x, y] = [x, y].map(|x| x.as_f64().expect("a number"));
            assert!((x - y).abs() <= 1e-12 * x.abs(), "{place}: {x} and {y}");
        }
        _ => assert_eq!(a, b, "{place}"),
    }
}

fn report<'v>(facts: &'v Value, variable: &str) -> &'v Value {
    let variables = facts["variables"].as_array().expect("a list");
    variables.iter().find(|v| v["name"] == variable).unwrap_or_else(|| panic!("no {variable}"))
}

#[test]
fn every_difference_is_found_and_named() {
    let _alone = alone();
    let tools = Tools::new();
    Content::new().write(&tools.path("a.nc"));
    for Case { name, change, tolerance, expected, same } in cases() {
        let mut content = Content::new();
        change(&mut content);
        content.write(&tools.path("b.nc"));
        fs::write(tools.path("limits.toml"), tolerance).expect("writable");
        let options: &[&str] =
            if tolerance.is_empty() { &[] } else { &["--tolerance", "limits.toml"] };
        let (code, stdout, facts) = tools.compare(name, options);
        assert_eq!(code, Some(i32::from(!same)), "{name}: {stdout}");
        assert_eq!(facts["same"], same, "{name}");
        for variable in facts["variables"].as_array().expect("a list") {
            let verdict = match expected {
                Some((unlike, verdict, _)) if variable["name"] == unlike => verdict,
                _ => "identical",
            };
            assert_eq!(variable["verdict"], verdict, "{name}: {}", variable["name"]);
        }
        if let Some((_, _, says)) = expected {
            assert!(stdout.contains(says), "{name}: {says:?} is not in: {stdout}");
        }
        let marked = stdout.lines().filter(|line| line.starts_with('!')).count();
        assert_eq!(marked, usize::from(!same), "{name}: {stdout}");
    }
}

#[test]
fn other_dimensions_and_lengths() {
    let _alone = alone();
    let tools = Tools::new();
    Content::new().write(&tools.path("a.nc"));

    Content { x: "column", ..Content::new() }.write(&tools.path("b.nc"));
    let (code, stdout, facts) = tools.compare("other name", &[]);
    assert_eq!((code, &report(&facts, "D")["figures"]), (Some(1), &Value::Null));
    assert!(stdout.contains("D: (level=3, x=4) in A, (level=3, column=4) in B"), "{stdout}");
    assert_eq!(report(&facts, "DNW")["verdict"], "identical");

    // Common times are compared all the same.
    let mut shorter = Content { times: 1, ..Content::new() };
    shorter.t[2] += 1.0;
    shorter.write(&tools.path("b.nc"));
    let (code, stdout, facts) = tools.compare("fewer times", &[]);
    let t = report(&facts, "T");
    assert_eq!((code, &t["verdict"]), (Some(1), &Value::from("other_dimensions")));
    assert_eq!(t["shape"], Value::from(vec![1, 3, 1, 4]));
    assert_eq!((&t["figures"]["values"], &t["figures"]["differing"]), (&12.into(), &1.into()));
    assert!(stdout.contains("(Time=2, level=3, y=1, x=4) in A, (Time=1, "), "{stdout}");
    // Totals of the last time of both.
    let totals = facts["totals"].as_array().expect("a list");
    assert!(totals.iter().all(|total| total["a"] == total["b"]), "{totals:?}");
}

#[test]
fn variables_of_the_second_file_alone() {
    let _alone = alone();
    let tools = Tools::new();
    Content { without: "N", ..Content::new() }.write(&tools.path("a.nc"));
    Content::new().write(&tools.path("b.nc"));
    let (code, stdout, facts) = tools.compare("only in B", &[]);
    assert_eq!((code, &report(&facts, "N")["verdict"]), (Some(1), &Value::from("only_in_b")));
    assert!(stdout.contains("N: only in B"), "{stdout}");
}

#[test]
fn ulps_and_totals() {
    let _alone = alone();
    let tools = Tools::new();
    let mut a = Content::new();
    (a.d[0], a.t[0], a.rain[7]) = (-f64::from_bits(2), f32::MIN_POSITIVE, 3.5);
    a.write(&tools.path("a.nc"));
    let mut b = a.clone();
    (b.d[0], b.t[0], b.rain[7], b.mu) = (f64::from_bits(3), 0.0, 3.0, 4.5e4);
    b.write(&tools.path("b.nc"));
    fs::write(tools.path("limits.toml"), "[totals]\nwater = 0.1\nRAINNC = 0.1").expect("writable");
    let (_, stdout, facts) = tools.compare("ULP", &["--tolerance", "limits.toml"]);
    assert_eq!(report(&facts, "D")["figures"]["max_ulp"], 5);
    assert_eq!(report(&facts, "T")["figures"]["max_ulp"], 1 << 23);
    let totals = facts["totals"].as_array().expect("a list");
    let total = |name: &str| totals.iter().find(|t| t["name"] == name).expect("there");
    assert_eq!((&total("RAINNC")["a"], &total("RAINNC")["b"]), (&11.0.into(), &10.5.into()));
    assert_eq!(total("RAINNC")["pass"], true);
    // All of the air is water: M g = mu dx dy, four columns.
    let water = total("water");
    let mass = 9.0e4 * 1e6 * COLUMNS as f64 / 9.81;
    assert!((water["a"].as_f64().expect("a number") / mass - 1.0).abs() < 1e-12, "{water}");
    assert_eq!((&water["relative"], &water["pass"]), (&0.5.into(), &false.into()));
    assert!(stdout.lines().any(|l| l.starts_with("!  water")), "{stdout}");
}

/// WRF's own file, with one character of its time stamp changed.
#[test]
fn a_file_of_wrf_with_another_time() {
    let _alone = alone();
    let tools = Tools::new();
    let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/soc.nc");
    let bytes = fs::read(original).expect("data/soc.nc");
    fs::write(tools.path("a.nc"), &bytes).expect("writable");
    let stamp = b"0001-01-01_10:00:00";
    let at = bytes.windows(stamp.len()).position(|w| w == stamp).expect("stored as it is");
    let mut changed = bytes.clone();
    changed[at + 12] = b'1';
    fs::write(tools.path("b.nc"), &changed).expect("writable");
    let (code, stdout, facts) = tools.compare("soc.nc", &[]);
    let times = report(&facts, "Times");
    assert_eq!((code, &times["types"][0]), (Some(1), &Value::from("char")));
    assert_eq!(times["figures"]["worst"]["at"], Value::from(vec![0, 12]));
    assert_eq!(
        facts["variables"]
            .as_array()
            .expect("a list")
            .iter()
            .filter(|v| v["pass"] == false)
            .count(),
        1
    );
    assert!(stdout.contains("Times: first difference at Time=0 DateStrLen=12"), "{stdout}");
}

/// Exit codes 2 and 3, of both.
#[test]
fn wrong_usage_and_unreadable_files() {
    let _alone = alone();
    let tools = Tools::new();
    Content::new().write(&tools.path("a.nc"));
    fs::write(tools.path("text.nc"), "not NetCDF").expect("writable");
    fs::write(tools.path("bad.toml"), "[default]\nattol = 1").expect("writable");
    fs::write(tools.path("worse.toml"), "[default").expect("writable");
    fs::write(tools.path("there.json"), "precious").expect("writable");
    let mut nested = netcdf::create(tools.path("nested.nc")).expect("a new file");
    nested.add_group("inner").expect("a group");
    nested.close().expect("closed");
    netcdf::create(tools.path("empty.nc")).expect("a new file").close().expect("closed");
    for (arguments, code, words) in [
        (&["a.nc"][..], 2, &["B.nc"][..]),
        (&["a.nc", "a.nc", "--no-such-option"], 2, &["no-such-option"]),
        (
            &["a.nc", "a.nc", "--tolerance", "bad.toml"],
            2,
            &["bad.toml", "attol", "did you mean atol"],
        ),
        (&["a.nc", "a.nc", "--tolerance", "worse.toml"], 2, &["worse.toml"]),
        (&["a.nc", "a.nc", "--tolerance", "none.toml"], 3, &["none.toml"]),
        (&["a.nc", "none.nc"], 3, &["none.nc"]),
        (&["text.nc", "a.nc"], 3, &["text.nc"]),
        (&["a.nc", "nested.nc"], 3, &["nested.nc", "inner", "without groups"]),
        (&["empty.nc", "empty.nc"], 3, &["nothing can be compared"]),
        (&["a.nc", "a.nc", "--json", "there.json"], 3, &["there.json", "--force"]),
    ] {
        for output in
            [Some(tools.program(arguments)), tools.script(arguments)].into_iter().flatten()
        {
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
            assert!(output.stdout.is_empty(), "{arguments:?}");
            for word in words {
                assert!(stderr.contains(word), "{word:?} is not in: {stderr}");
            }
        }
    }
    assert_eq!(fs::read_to_string(tools.path("there.json")).expect("still there"), "precious");
}

#[test]
fn the_shipped_tolerances_are_printed_and_accepted() {
    let _alone = alone();
    let tools = Tools::new();
    Content::new().write(&tools.path("a.nc"));
    Content::new().write(&tools.path("b.nc"));
    let printed = tools.program(&["--print-tolerance"]);
    assert_eq!(printed.status.code(), Some(0));
    fs::write(tools.path("shipped.toml"), printed.stdout).expect("writable");
    let (code, stdout, _) = tools.compare("shipped", &["--tolerance", "shipped.toml"]);
    assert_eq!(code, Some(0), "{stdout}");
}

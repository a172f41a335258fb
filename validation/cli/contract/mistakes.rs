//! Mistakes of users and the messages for them: file or option, what was found, what is expected, what to do.

use std::fs;

use super::small::Small;

/// An output that would replace its input.
const SAME_FILE: &[&str] = &["--output is the input file", "another name"];

/// Arguments, exit code, and words of the message.
const MISTAKES: &[(&[&str], i32, &[&str])] = &[
    (&["run", "small.nc"], 2, &["'small.nc'", "--input small.nc"]),
    (&["columns", "small.nc"], 2, &["'small.nc'", "--input small.nc"]),
    (&["run", "-i", "smal.nc"], 3, &["cannot read smal.nc", "nearest existing name is small.nc"]),
    (&["run", "-i", "small"], 3, &["cannot read small", "nearest existing name is small.nc"]),
    (&["run", "-i", "away/small.nc"], 3, &["cannot read away/small.nc", "No such file"]),
    (&["run", "-i", "folder"], 3, &["folder", "is a folder", "a NetCDF file", "is needed"]),
    (&["run", "-i", "text.txt"], 3, &["text.txt", "not a readable NetCDF file"]),
    (&["run", "-i", "empty.nc"], 3, &["empty.nc", "is empty"]),
    (&["run", "-i", "cut.nc"], 3, &["cut.nc", "is it complete"]),
    (&["run", "-i", "columns.nc"], 3, &["columns.nc", "lacks the variables", "QVAPOR", "WRF"]),
    (&["run", "-i", "small.nc", "--hour", "2"], 2, &["--hour", "--hours"]),
    (&["run", "-i", "small.nc", "--steps", "ten"], 2, &["ten", "--steps"]),
    (
        &["run", "-i", "small.nc", "--dt", "1e4"],
        2,
        &["a time step of 10000 s", "--dt", "longest time step"],
    ),
    (&["run", "-i", "small.nc", "--hours", "1e9"], 2, &["--hours", "reduce --hours"]),
    (&["run", "-i", "small.nc", "-o", "away/x.nc"], 3, &["away/x.nc", "does not exist; create it"]),
    (
        &["run", "-i", "small.nc", "-o", "small.nc"],
        2,
        &["--output is the input file", "another name"],
    ),
    (&["run", "-i", "small.nc", "-o", "text.txt"], 3, &["text.txt exists", "--force"]),
    (
        &["run", "-i", "small.nc", "small.nc"],
        3,
        &["small.nc", "which is also in", "every time once"],
    ),
    (
        &["run", "-i", "small.nc", "--boundary", "cyclic"],
        2,
        &["cyclic", "periodic, specified or open"],
    ),
    (&["run", "-i", "small.nc", "--limiter", "fct"], 2, &["fct", "pd, monotonic, none"]),
    (&["run", "-i", "small.nc", "--backend", "cuda"], 2, &["cuda", "auto, cpu, gpu, both"]),
    (&["run", "-i", "small.nc", "--precision", "double"], 2, &["double", "f32, f64"]),
    (&["run", "-i", "small.nc", "--refine", "0"], 2, &["--refine", "1..="]),
    (&["run", "-i", "small.nc", "--output-interval", "0"], 2, &["--output-interval 0", "positive"]),
    (&["run", "-i", "small.nc", "--config", "wrong.toml"], 2, &["wrong.toml", "stepz", "steps"]),
    (&["run", "-i", "small.nc", "--config", "wrng.toml"], 3, &["wrng.toml", "wrong.toml"]),
    (&["run", "-i", "small.nc", "--config", "text.txt"], 2, &["text.txt", "line 1"]),
    (
        &["run", "-i", "small.nc", "--points", "wrong.csv"],
        3,
        &["wrong.csv: line 1", "name,lat,lon"],
    ),
    (&["run", "-i", "small.nc", "--points-interval", "60"], 2, &["--points <FILE.csv>"]),
    (
        &["run", "-i", "small.nc", "--regrid", "small.nc"],
        3,
        &["not a weight file", "nwp-mini weights"],
    ),
    (&["rum", "-i", "small.nc"], 2, &["'rum'", "'run'"]),
    (&["diff", "small.nc"], 2, &["<B.nc>"]),
    (&["diff", "small.nc", "text.txt"], 3, &["text.txt", "not a readable NetCDF file"]),
    (&["diff", "small.nc", "small.nc", "--tolerance", "wrong.toml"], 2, &["wrong.toml", "stepz"]),
    (
        &["columns", "-i", "small.nc", "-o", "x.nc"],
        3,
        &["small.nc", "nwp-mini run", "columns --help"],
    ),
    (&["columns", "-i", "columns.nc", "-o", "x.nc", "--dt", "0"], 2, &["--dt 0", "positive"]),
    (
        &["transport", "--input", "small.nc", "--output", "x.nc"],
        3,
        &["small.nc", "nwp-mini run", "transport --help"],
    ),
    (
        &["weights", "--input", "small.nc", "--target", "xy", "--spacing", "0", "--output", "w.nc"],
        2,
        &["--spacing 0", "positive"],
    ),
    (&["columns", "-i", "columns.nc", "-o", "./columns.nc", "--force"], 2, SAME_FILE),
    (&["transport", "--input", "text.txt", "--output", "text.txt", "--force"], 2, SAME_FILE),
    (&["wilson", "--input", "text.txt", "--output", "text.txt", "--force"], 2, SAME_FILE),
    (
        &["chemistry", "--mechanism", "a", "--input", "b", "--output", "a", "--force"],
        2,
        &["--output is the file of --mechanism", "another name"],
    ),
    (
        &["mechanism", "text.txt", "--dot", "x.svg", "--plot", "x.svg"],
        2,
        &["--plot is the file of --dot", "another name"],
    ),
    (
        &["bench", "csr", "--input", "small.nc", "--json", "small.nc", "--force"],
        2,
        &["--json is the input file", "another name"],
    ),
    (
        &["tune", "--input", "small.nc", "--json", "small.nc", "--force"],
        2,
        &["--json is the input file", "another name"],
    ),
    (&["info", "text.txt"], 3, &["text.txt", "not a readable NetCDF file"]),
    (&["info", "small.nc", "--json", "folder"], 3, &["folder", "is a folder"]),
    (&["bench", "wsm6"], 2, &["wsm6", "physics"]),
    (&["bench", "wsm5", "--tile", "10"], 2, &["\"10\"", "1024x1024"]),
    (&["kernels", "--arch", "h100"], 2, &["h100", "sm_90"]),
    (&["kernels", "--nvrtc-lib", "away.so"], 4, &["away.so", "--nvrtc-lib"]),
    (&["completions", "csh"], 2, &["csh", "zsh"]),
];

#[test]
fn mistakes_are_reported_with_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    Small::new().write(&path("small.nc"));
    let whole = fs::read(path("small.nc")).expect("the file");
    fs::write(path("cut.nc"), &whole[..whole.len() / 2]).expect("a file");
    fs::write(path("empty.nc"), "").expect("a file");
    fs::write(path("text.txt"), "Dear model, it rains.\n").expect("a file");
    fs::write(path("wrong.toml"), "stepz = 3\n").expect("a file");
    fs::write(path("wrong.csv"), "town,latitude\nhere,12\n").expect("a file");
    fs::create_dir(path("folder")).expect("a folder");
    let columns = super::bases::columns();
    columns.write(&path("columns.nc"), super::model::Flavour::Hdf5).expect("a file");
    let before = fs::read_dir(folder.path()).expect("the folder").count();
    for (arguments, code, words) in MISTAKES {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_nwp-mini"))
            .current_dir(folder.path())
            .args(*arguments)
            .output()
            .expect("it starts");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(*code), "{arguments:?}: {said}");
        let error = said.find("error: ").map(|at| &said[at..]).unwrap_or_default();
        for word in *words {
            assert!(error.contains(word), "{arguments:?}: {word:?} is not in {said}");
        }
    }
    assert!(fs::read(path("small.nc")).expect("the file") == whole, "the input has changed");
    assert_eq!(
        fs::read_dir(folder.path()).expect("the folder").count(),
        before,
        "something is left"
    );
}

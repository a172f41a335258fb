//! Good files of every kind that the program reads, small, and the commands that read them.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::model::{Data, Dimension, Field, Flavour, Model};
use super::weights::File;
use crate::run::small::Small;

/// The use of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Input,
    Restart,
    Columns,
    Transport,
    Weights,
    Places,
    Configuration,
    Tolerances,
    /// Read by the library: there is no command for it without a GPU.
    Tuning,
}

impl Kind {
    /// The commands that read the file `name`.
    pub fn commands(self, name: &str) -> Vec<Vec<&str>> {
        const RUN: [&str; 5] = ["run", "--output", "out.nc", "--force", "--input"];
        const AGAIN: [&str; 7] =
            ["run", "--output", "out.nc", "--force", "--steps", "2", "--restart"];
        let on_small =
            |rest: &[&'static str]| [&RUN[..], &["small.nc", "--dry-run"], rest].concat();
        match self {
            Self::Input => vec![
                vec!["info", name],
                [&RUN[..], &[name, "--dry-run"]].concat(),
                [&RUN[..], &[name, "--steps", "1"]].concat(),
                [&RUN[..], &["small.nc", name, "--dry-run"]].concat(),
                [&RUN[..], &[name, "--steps", "1", "--report", "page.html"]].concat(),
                vec!["diff", name, "small.nc"],
                vec!["diff", "small.nc", name, "--tolerance", "limits.toml"],
                vec!["plot", name, "--output", "plots", "--format", "svg"],
                vec!["plot", "--compare", name, "small.nc", "--output", "plots"],
                [&AGAIN[..], &[name]].concat(),
                vec![
                    "weights",
                    "--input",
                    name,
                    "--target",
                    "xy",
                    "--spacing",
                    "50000",
                    "--output",
                    "w.nc",
                ],
            ],
            Self::Restart => vec![
                [&AGAIN[..], &[name]].concat(),
                [&AGAIN[..], &[name, "--dry-run"]].concat(),
                [&AGAIN[..], &[name, "--restart-output", "again.nc"]].concat(),
                vec!["run", "--output", "out.nc", "--hours", "1.5", "--restart", name],
                vec!["diff", name, name],
            ],
            Self::Columns => {
                let columns = ["columns", "--input", name, "--output", "out.nc"];
                let of_2008 = [&columns[..], &["--fallout", "substepped"]].concat();
                vec![columns.to_vec(), of_2008, vec!["diff", name, name]]
            }
            Self::Transport => {
                let transport = ["transport", "--input", name, "--output", "out.nc"];
                let double = [&transport[..], &["--precision", "f64"]].concat();
                vec![transport.to_vec(), double, vec!["diff", name, name]]
            }
            Self::Weights => vec![[&on_small(&["--regrid"])[..], &[name]].concat()],
            Self::Places => vec![[&on_small(&["--points"])[..], &[name]].concat()],
            Self::Configuration => vec![[&on_small(&["--config"])[..], &[name]].concat()],
            Self::Tolerances => vec![vec!["diff", "small.nc", "other.nc", "--tolerance", name]],
            Self::Tuning => Vec::new(),
        }
    }

    /// Name of the file.
    pub fn file(self) -> &'static str {
        match self {
            Self::Places => "hostile.csv",
            Self::Configuration | Self::Tolerances | Self::Tuning => "hostile.toml",
            _ => "hostile.nc",
        }
    }
}

/// A good file.
pub enum Content {
    NetCdf(Model),
    Text(Vec<u8>),
}

/// A valid file and its use.
pub struct Base {
    pub name: &'static str,
    pub kind: Kind,
    pub content: Content,
}

/// The project's own files.
fn project(name: &str) -> std::path::PathBuf {
    crate::project().join(name)
}

/// Copies the valid files that commands need, besides the corrupted one, to a folder.
pub fn furnish(folder: &Path) {
    Small::new().write(&folder.join("small.nc"));
    let mut other = Small::new();
    *other.values("T") += 1e-3;
    other.write(&folder.join("other.nc"));
    let three = folder.join("three.nc");
    three_times(&three).write(&three, Flavour::Hdf5).expect("a file");
    fs::copy(project("validation/tolerances.toml"), folder.join("limits.toml")).expect("a copy");
}

/// All of them; `folder` is a furnished one.
pub fn all(folder: &Path) -> Vec<Base> {
    let path = folder.join("base.nc");
    let mut bases = Vec::new();
    let mut add = |name, kind, model| {
        bases.push(Base { name, kind, content: Content::NetCdf(model) });
    };
    for (name, small) in [("small", Small::new()), ("hybrid", Small::hybrid())] {
        small.write(&path);
        add(name, Kind::Input, taken(&path));
    }
    add("three times", Kind::Input, three_times(&path));
    add("cut out of the storm", Kind::Input, storm());
    run(folder, &["--input", "small.nc", "--steps", "2", "--output", "base.nc"]);
    add("our own output", Kind::Input, taken(&path));
    for (name, options) in RESTARTS {
        add(name, Kind::Restart, restart(folder, options));
    }
    add("columns", Kind::Columns, columns());
    add("transport", Kind::Transport, transport());
    for (name, file) in [("SCRIP", File::scrip()), ("ESMF", File::esmf())] {
        file.write(&path);
        add(name, Kind::Weights, taken(&path));
    }
    let mut text = |name, kind, text: &str| {
        bases.push(Base { name, kind, content: Content::Text(text.as_bytes().to_vec()) });
    };
    text("places", Kind::Places, "# two\nname,lat,lon\nharbour,45.5,9.5\n\"hill, north\",46,10\n");
    text("places on the map", Kind::Places, "name,x,y\na,20000,30000\nb,100000.5,9e4\n");
    let configuration = "steps = 2\ndt = 30.0\nlimiter = \"monotonic\"\nboundary = \"periodic,open\"\n\
                         profiles = true\noutput-interval = 60\n";
    text("configuration", Kind::Configuration, configuration);
    let read = |name| fs::read_to_string(project(name)).expect("a file of the project");
    text("tolerances", Kind::Tolerances, &read("validation/tolerances.toml"));
    bases
}

/// Restart files: before the second frame of the input, and beyond it with other options.
const RESTARTS: [(&str, &[&str]); 2] = [
    ("restart", &["--steps", "2"]),
    (
        "restart after an hour",
        &["--steps", "62", "--precision", "f64", "--boundary", "periodic,open", "--refine", "2"],
    ),
];

/// A restart file of a run over the three times in a furnished folder.
pub fn restart(folder: &Path, options: &[&str]) -> Model {
    let three = ["--input", "three.nc", "--dt", "60", "--output", "out.nc"];
    run(folder, &[&three[..], &["--restart-output", "base.nc"], options].concat());
    fs::remove_file(folder.join("out.nc")).expect("the output");
    taken(&folder.join("base.nc"))
}

/// Runs the program in a prepared folder.
fn run(folder: &Path, options: &[&str]) {
    let message = Command::new(crate::program())
        .args([&["-q", "run", "--force"], options].concat())
        .current_dir(folder)
        .env("NWP_BACKEND", "cpu")
        .output()
        .expect("the program starts");
    assert!(message.status.success(), "{message:?}");
}

/// Takes a file to memory and off the disk.
fn taken(path: &Path) -> Model {
    let model = Model::read(path);
    fs::remove_file(path).expect("a file to remove");
    model
}

/// The small file at noon and in the two hours after it.
pub fn three_times(path: &Path) -> Model {
    let mut small = Small::new();
    small.frames = 3;
    small.write(path);
    let mut model = taken(path);
    let hours = ["12", "13", "14"].map(|hour| format!("2005-08-28_{hour}:00:00"));
    model.field("Times").data = Data::Text(hours.concat().into_bytes());
    model
}

/// A corner of the storm, with all that WRF writes.
fn storm() -> Model {
    let mut storm = Model::read(&project("data/soc.nc"));
    for (name, cells) in [("west_east", 9), ("south_north", 8)] {
        storm.resize(name, cells);
        storm.resize(&format!("{name}_stag"), cells + 1);
    }
    storm
}

/// A model of variables of single precision on these dimensions.
fn model(dimensions: &[(&str, usize)]) -> Model {
    let dimension = |&(name, length): &(&str, usize)| Dimension {
        name: name.to_owned(),
        length,
        unlimited: false,
    };
    Model { dimensions: dimensions.iter().map(dimension).collect(), ..Model::default() }
}

/// Adds a variable whose values follow from their number.
fn add(model: &mut Model, name: &str, axes: &[&str], value: impl Fn(usize) -> f64) {
    let count: usize = axes.iter().map(|axis| model.length(axis)).product();
    model.fields.push(Field {
        name: name.to_owned(),
        axes: axes.iter().map(ToString::to_string).collect(),
        attributes: Vec::new(),
        data: Data::Float((0..count).map(|n| value(n) as f32).collect()),
        turned: false,
    });
}

/// Six columns of moist air with all kinds of water.
pub fn columns() -> Model {
    let mut file = model(&[("level", 12), ("column", 6)]);
    let axes = ["level", "column"];
    let level = |n: usize| (n / 6) as f64;
    let pressure = move |n: usize| 95_000.0 * (-0.12 * level(n)).exp();
    let exner = move |n: usize| (pressure(n) / 1e5).powf(0.2857);
    let theta = move |n: usize| 295.0 + 4.0 * level(n);
    add(&mut file, "th", &axes, theta);
    add(&mut file, "q", &axes, |n| 0.014 * (-0.3 * level(n)).exp());
    add(&mut file, "qc", &axes, |n| if n % 3 == 0 { 6e-4 } else { 0.0 });
    add(&mut file, "qr", &axes, |n| if n % 2 == 0 { 1e-3 } else { 0.0 });
    add(&mut file, "qi", &axes, |n| if level(n) > 6.0 { 5e-5 } else { 0.0 });
    add(&mut file, "qs", &axes, |n| if level(n) > 5.0 { 4e-4 } else { 0.0 });
    add(&mut file, "den", &axes, |n| pressure(n) / (287.0 * theta(n) * exner(n)));
    add(&mut file, "pii", &axes, exner);
    add(&mut file, "p", &axes, pressure);
    add(&mut file, "delz", &axes, |n| 400.0 + 60.0 * level(n));
    add(&mut file, "th_tend", &axes, |_| -1e-4);
    add(&mut file, "q_tend", &axes, |_| 1e-8);
    file.set("dt", 60.0);
    file.set("calls", 3);
    file
}

/// A tracer in a uniform wind on a doubly periodic grid.
pub fn transport() -> Model {
    let mut file = model(&[("x", 8), ("xs", 9), ("y", 6), ("ys", 7), ("z", 5), ("zs", 6)]);
    add(&mut file, "ru", &["y", "z", "xs"], |_| 9e5);
    add(&mut file, "rv", &["ys", "z", "x"], |_| -4e5);
    add(&mut file, "rom", &["y", "zs", "x"], |_| 0.0);
    add(&mut file, "q0", &["y", "z", "x"], |n| 1e-3 * (n % 7) as f64);
    for (name, value) in [("c1h", 1.0), ("c2h", 0.0), ("fnm", 0.5), ("fnp", 0.5), ("rdnw", -5.0)] {
        add(&mut file, name, &["z"], |_| value);
    }
    for (name, value) in
        [("mub", 9e4), ("mu_old", 0.0), ("mut", 9e4), ("msftx", 1.0), ("msfty", 1.0)]
    {
        add(&mut file, name, &["y", "x"], |_| value);
    }
    for (name, value) in [
        ("periodic_x", 1.0),
        ("periodic_y", 1.0),
        ("specified", 0.0),
        ("rdx", 1e-4),
        ("rdy", 1e-4),
        ("dt", 60.0),
        ("nsteps", 3.0),
    ] {
        file.set(name, value);
    }
    file
}

impl Base {
    /// Writes the good file.
    pub fn write(&self, path: &Path) {
        match &self.content {
            Content::NetCdf(model) => {
                model.write(path, Flavour::Hdf5).unwrap_or_else(|e| panic!("{}: {e}", self.name));
            }
            Content::Text(bytes) => fs::write(path, bytes).expect("a file"),
        }
    }
}

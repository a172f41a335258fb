//! `run --gpus N`: the processes that it starts, by which launcher, and what it refuses.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::place::Ended;
use super::{ENVIRONMENT, Launcher, PATIENCE, Place, place};

const USAGE: i32 = 2;
const NO_GPU: i32 = 4;

/// Exit code of the launcher of these tests.
const OF_LAUNCHER: i32 = 7;

/// A launcher that writes down its arguments and its environment, and starts nothing.
const SCRIPT: &str =
    "#!/bin/sh\nprintf '%s\\n' \"$@\" > arguments\n/usr/bin/env > environment\nexit 7\n";

/// Variables that would be taken for those of a user or of a launcher.
const FOREIGN: [&str; 6] = [
    "NWP_GPUS",
    "OMPI_COMM_WORLD_SIZE",
    "PMI_RANK",
    "OMPI_MCA_hwloc_base_binding_policy",
    "PRTE_MCA_hwloc_default_binding_policy",
    "I_MPI_PIN",
];

/// A folder with the small file and, in `bin`, a launcher of this name.
fn with_launcher(name: &str) -> Place {
    let place = place();
    fs::create_dir(place.path("bin")).expect("a folder");
    let file = place.path("bin").join(name);
    fs::write(&file, SCRIPT).expect("a file");
    fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).expect("a mode");
    place
}

/// The program in a place, with that launcher alone on the path.
fn program(place: &Place, arguments: &[&str]) -> Command {
    let mut program = place.program(arguments);
    for name in FOREIGN {
        program.env_remove(name);
    }
    program.env("PATH", place.path("bin")).env("CUDA_VISIBLE_DEVICES", "");
    program
}

fn end(mut program: Command) -> Ended {
    let output = program.output().expect("it starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The arguments of the launcher, which has run in a place, as one line from the number of processes on; the program is left
/// out, and is this one.
#[track_caller]
fn launched(place: &Place, program: Command) -> String {
    let path = fs::canonicalize(program.get_program()).expect("the program");
    let ended = end(program);
    assert_eq!(ended.code, Some(OF_LAUNCHER), "{ended:?}");
    let said = fs::read_to_string(place.path("arguments")).expect("the launcher has run");
    let words: Vec<&str> = said.lines().collect();
    assert_eq!((words[0], Path::new(words[2])), ("-n", &*path));
    [&words[1..2], &words[3..]].concat().join(" ")
}

#[test]
fn processes_get_the_same_options_by_the_launcher_on_the_path() {
    for name in ["mpiexec", "mpirun"] {
        let place = with_launcher(name);
        let words =
            ["-q", "run", "--gpus", "3", "--input", "small.nc", "--backend", "auto", "--dt=9"];
        let found = launched(&place, program(&place, &words));
        assert_eq!(found, "3 -q run --input small.nc --dt=9 --backend=gpu");
    }
}

#[test]
fn the_number_may_come_from_a_file_or_from_the_environment() {
    let place = with_launcher("mpiexec");
    fs::write(place.path("run.toml"), "gpus = 2\nsteps = 4\nbackend = \"gpu\"\n").expect("a file");
    let words = ["run", "--config", "run.toml", "--input", "small.nc"];
    let found = launched(&place, program(&place, &words));
    assert_eq!(found, "2 run --input small.nc --steps=4 --backend=gpu");
    let mut of_environment = program(&place, &words);
    of_environment.env("NWP_GPUS", "5").env("I_MPI_PIN", "1");
    assert!(launched(&place, of_environment).starts_with("5 run"));
    let environment = fs::read_to_string(place.path("environment")).expect("the launcher has run");
    let has = |line: &str| environment.lines().any(|other| other == line);
    assert!(!environment.contains("NWP_GPUS"), "{environment}");
    assert!(has("I_MPI_PIN=1"), "{environment}");
    assert!(has("OMPI_MCA_hwloc_base_binding_policy=none"), "{environment}");
    assert!(has("PRTE_MCA_hwloc_default_binding_policy=none"), "{environment}");
}

#[test]
fn what_contradicts_is_refused_before_anything_starts() {
    let place = with_launcher("mpiexec");
    let cases: [(&[&str], &[&str]); 5] = [
        (&["--gpus", "2", "--backend", "cpu"], &["--gpus 2", "--backend", "cpu; omit one"]),
        (&["--gpus", "2", "--backend", "both"], &["--gpus 2", "both; omit one"]),
        (&["--gpus", "1", "--backend", "cpu"], &["--gpus 1", "cpu; omit one"]),
        (&["--gpus", "4", "--ranks", "3x2"], &["--gpus 4", "--ranks 3x2 6", "the same number"]),
        (&["--gpus", "0"], &["--gpus", "1..="]),
    ];
    for (more, words) in cases {
        // The input is not looked at.
        let arguments = [&["run", "--input", "away.nc"], more].concat();
        end(program(&place, &arguments)).refused(USAGE, words);
    }
    let mut launched_already = program(&place, &["run", "--gpus", "2", "--input", "away.nc"]);
    launched_already.envs([("OMPI_COMM_WORLD_SIZE", "1"), ("OMPI_COMM_WORLD_RANK", "0")]);
    end(launched_already).refused(USAGE, &["--gpus 2", "one process already", "omit --gpus"]);
    assert_eq!(place.files(), ["bin", "small.nc"]);
    fs::remove_file(place.path("bin/mpiexec")).expect("the launcher");
    let words = ["neither mpiexec nor mpirun", "openmpi-bin", "srun -n 2"];
    let arguments = ["run", "--gpus", "2", "--input", "away.nc"];
    end(program(&place, &arguments)).refused(USAGE, &words);
}

#[test]
fn one_gpu_needs_no_launcher() {
    let place = with_launcher("mpiexec");
    let arguments = ["run", "--gpus", "1", "--input", "small.nc", "--steps", "1"];
    end(program(&place, &arguments)).refused(NO_GPU, &["GPU"]);
    assert_eq!(place.files(), ["bin", "small.nc"]);
}

#[test]
fn ranks_do_not_start_ranks() {
    let Some(launcher) = Launcher::take() else { return };
    let place = place();
    let ended = launcher.run(&place, 2, &["run", "--gpus", "2", "--input", "small.nc"]);
    ended.refused(USAGE, &["--gpus 2", "2 processes already", "omit --gpus"]);
    let ended = launcher.run(&place, 2, &["bench", "scale", "--gpus", "1,2"]);
    ended.refused(USAGE, &["--gpus 1,2", "2 processes already"]);
}

#[test]
fn steps_on_gpus_need_one_for_each_rank() {
    let Some(launcher) = Launcher::take() else { return };
    let place = place();
    let words = ["bench", "scale", "--backend", "gpu", "--input", "small.nc", "--json", "x.json"];
    let mut program = launcher.program(&place, 2, &words);
    program.env("CUDA_VISIBLE_DEVICES", "");
    let ended = super::Ended::of(program.spawn().expect("mpirun starts"));
    ended.refused(NO_GPU, &["GPU"]);
    assert_eq!(place.files(), ["small.nc"]);
}

/// The processes start, and find that there is no GPU.
#[test]
fn a_real_launcher_starts_them() {
    let Some(launcher) = Launcher::take() else { return };
    if launcher.name != "mpirun" {
        return;
    }
    let place = place();
    let start = std::time::Instant::now();
    let mut program = place.program(&["run", "--gpus", "2", "--input", "small.nc"]);
    program.envs(ENVIRONMENT).env("CUDA_VISIBLE_DEVICES", "").env_remove("NWP_GPUS");
    let ended = end(program);
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    assert_eq!(ended.code, Some(NO_GPU), "{ended:?}");
    assert_eq!(ended.stderr.matches("error: ").count(), 1, "{ended:?}");
    assert!(ended.stderr.contains("2 processes, started by "), "{ended:?}");
}

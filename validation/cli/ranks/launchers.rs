//! Launchers and libraries of MPI: which one is taken, and what goes without.

use super::{Launcher, Place, place};

const USAGE: i32 = 2;

/// What the launcher of Open MPI tells the first of two processes.
const LAUNCHED: [(&str, &str); 2] = [("OMPI_COMM_WORLD_SIZE", "2"), ("OMPI_COMM_WORLD_RANK", "0")];

/// The variable that names the library.
const LIBRARY: &str = "NWP_MPI_LIBRARY";

/// Runs a command as the first of two processes that a launcher has started, with a library of this name.
fn launched(place: &Place, library: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut program = place.program(arguments);
    let ended = program.envs(LAUNCHED).env(LIBRARY, library).output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (ended.status.code(), text(ended.stdout), text(ended.stderr))
}

#[test]
fn only_runs_look_for_mpi() {
    let place = place();
    let without: [&[&str]; 5] = [
        &["--help"],
        &["run", "--help"],
        &["info", "small.nc"],
        &["plot", "small.nc", "-o", "p", "-q"],
        &["config", "--print-default"],
    ];
    for arguments in without {
        let (code, _, stderr) = launched(&place, "nothing.so", arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {stderr}");
    }
    let run = ["run", "--input", "small.nc", "--steps", "1"];
    let (code, stdout, stderr) = launched(&place, "nothing.so", &run);
    assert_eq!((code, stdout.as_str()), (Some(USAGE), ""), "{stderr}");
    for word in ["OMPI_COMM_WORLD_SIZE", "2 processes", "nothing.so", LIBRARY] {
        assert!(stderr.contains(word), "{word} is not in {stderr}");
    }
    // The machine is described all the same.
    let (code, stdout, _) = launched(&place, "nothing.so", &["info"]);
    assert_eq!(code, Some(0));
    assert!(stdout.contains("MPI            none") && stdout.contains("nothing.so"), "{stdout}");
}

#[test]
fn ranks_without_a_launcher_are_refused() {
    let place = place();
    let alone = place.run_small(&["--ranks", "2x1", "--steps", "1"]);
    alone.refused(USAGE, &["--ranks 2x1 needs 2 processes", "there is one", "mpirun -n 2"]);
    let one = place.run_small(&[
        "--ranks",
        "1x1",
        "--steps",
        "1",
        "--json",
        "out.json",
        "--backend",
        "cpu",
    ]);
    one.good();
    assert_eq!(place.json("out.json")["ranks"], 1);
}

#[test]
fn info_tells_of_the_library_and_of_the_ranks_on_each_host() {
    let Some(launcher) = Launcher::take() else { return };
    let place = place();
    let ended = launcher.run(&place, 2, &["info", "--json", "i.json"]).good();
    assert_eq!(ended.stdout.matches("MPI            Open MPI").count(), 1, "{}", ended.stdout);
    assert!(ended.stdout.contains("ranks          2: 2 on "), "{}", ended.stdout);
    let mpi = place.json("i.json")["mpi"].clone();
    assert_eq!((&mpi["ranks"], &mpi["problem"]), (&2.into(), &serde_json::Value::Null));
    let on_hosts: u64 = mpi["hosts"]
        .as_object()
        .expect("hosts")
        .values()
        .filter_map(serde_json::Value::as_u64)
        .sum();
    assert_eq!(on_hosts, 2);
}

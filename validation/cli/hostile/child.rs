//! The program on a corrupted file, within limits, and its requirements.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Limit of the program's address space, KiB: the program itself, its threads, and 100 times the corrupted files, which
/// have 3 MB at most.
const MEMORY: u32 = 512 << 10;

/// Time that it may compute, s.
const SECONDS: u32 = 5;

/// Wall-clock limit for a program that hangs without computing, on a machine that others use too.
const PATIENCE: Duration = Duration::from_mins(1);

/// Maximum size of a file that it may write, in units of 512 bytes: more would be due to a corrupted size.
const LONGEST_FILE: u32 = 64 << 11;

/// Exit codes of this contract: good, different, usage, input, blow-up.
const CODES: [i32; 5] = [0, 1, 2, 3, 5];

/// The end of a program that met all requirements.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    /// Its standard error.
    pub(crate) said: String,
    /// Time by the clock, s.
    pub(crate) seconds: f64,
    /// Most resident memory that was seen, KiB.
    pub(crate) memory: u64,
}

/// Runs the program with these arguments in `folder` and checks the requirements; `name` is that of the corrupted file.
///
/// # Errors
///
/// A violated requirement.
pub(crate) fn survives(folder: &Path, name: &str, arguments: &[&str]) -> Result<Ended, String> {
    let start = Instant::now();
    let before = files(folder);
    let limits = format!(
        "ulimit -c 0; ulimit -v {MEMORY}; ulimit -t {SECONDS}; ulimit -f {LONGEST_FILE}; exec \"$@\""
    );
    let mut child = Command::new("sh")
        .args(["-c", &limits, "sh", env!("CARGO_BIN_EXE_nwp-mini"), "--threads", "1"])
        .args(arguments)
        .current_dir(folder)
        .env("NWP_BACKEND", "cpu")
        .env("RUST_BACKTRACE", "0")
        // Threads that allocate reserve addresses, which would count as memory.
        .env("MALLOC_ARENA_MAX", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("sh starts");
    let mut pipe = child.stderr.take().expect("standard error is piped");
    let reader = thread::spawn(move || {
        let mut said = Vec::new();
        let _ = pipe.read_to_end(&mut said);
        String::from_utf8_lossy(&said).into_owned()
    });
    let (status, memory) = wait(&mut child)?;
    let seconds = start.elapsed().as_secs_f64();
    let said = reader.join().expect("the reader does not panic");
    let judged = judge(status.code(), status.signal(), &said, name);
    // Output of a successful run is deleted, so that the next run finds the same folder.
    let left: Vec<PathBuf> = files(folder).difference(&before).cloned().collect();
    // Folders precede their contents.
    for path in left.iter().rev() {
        let gone = if path.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) };
        gone.expect("something to remove");
    }
    let code = judged?;
    let partial = left
        .iter()
        .find(|path| code != 0 && code != 5 || path.extension() == Some("part".as_ref()));
    match partial {
        Some(path) => Err(format!("left {} behind with exit code {code}", path.display())),
        None => Ok(Ended { code, said, seconds, memory }),
    }
}

/// Waits for the end; returns the most resident memory, KiB, too.
fn wait(child: &mut Child) -> Result<(std::process::ExitStatus, u64), String> {
    let start = Instant::now();
    let mut memory = 0;
    loop {
        memory = memory.max(peak(child.id()).unwrap_or(0));
        if let Some(status) = child.try_wait().expect("a child to wait for") {
            return Ok((status, memory));
        }
        if start.elapsed() > PATIENCE {
            child.kill().expect("a child to stop");
            child.wait().expect("a child to wait for");
            return Err(format!("did nothing for {PATIENCE:?}"));
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Peak resident memory of a process so far, KiB, if the system reports it.
fn peak(process: u32) -> Option<u64> {
    let about = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = about.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

fn judge(code: Option<i32>, signal: Option<i32>, said: &str, name: &str) -> Result<i32, String> {
    let last: String = said.chars().rev().take(600).collect::<Vec<_>>().into_iter().rev().collect();
    let Some(code) = code else {
        return Err(format!("ended by signal {}: {last}", signal.unwrap_or_default()));
    };
    if said.contains("panicked") {
        return Err(format!("panicked: {last}"));
    }
    if !CODES.contains(&code) {
        return Err(format!("ended with exit code {code}: {last}"));
    }
    let Some(error) = said.find("error: ").map(|at| &said[at..]) else {
        return if code == 0 { Ok(code) } else { Err(format!("exit code {code}, and no error")) };
    };
    // Verdicts and numerical instability do not concern a file, and an invalid option in a file is reported by the name
    // of the option.
    let names_its_place =
        error.contains(name) || code == 1 || code == 5 || (code == 2 && error.contains("--"));
    if names_its_place { Ok(code) } else { Err(format!("does not name the file: {last}")) }
}

/// The files of a folder, and its folders with theirs.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.append(&mut files(&path));
        }
        found.insert(path);
    }
    found
}

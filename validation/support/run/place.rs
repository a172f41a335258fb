//! A separate folder for every test, and the program run in it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use tempfile::TempDir;

use super::result::Output;
use super::small::Small;
use crate::skip::skipped;

/// The storm that is shipped with the project.
pub fn storm() -> PathBuf {
    crate::project().join("data/soc.nc")
}

/// Exit status and output of the program.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Fails unless the program ended well.
    #[track_caller]
    pub fn good(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// Fails unless the program refused with this exit code and one error that holds all of
    /// `words`.
    #[track_caller]
    pub fn refused(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.stdout.is_empty(), "{self:?}");
        assert!(!self.stderr.contains("panicked"), "{self:?}");
        let errors: Vec<&str> = self.stderr.lines().filter(|x| x.starts_with("error: ")).collect();
        assert_eq!(errors.len(), 1, "{self:?}");
        // The error is the last message; the parser of the command line adds advice below it.
        let at = self.stderr.find("error: ").expect("found above");
        let error = &self.stderr[at..];
        for word in words {
            assert!(error.contains(word), "{word:?} is not in {error:?}");
        }
    }
}

/// A folder that goes when the test ends.
pub struct Place {
    folder: TempDir,
}

impl Place {
    /// An empty folder.
    pub fn empty() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder for the test") }
    }

    /// A folder that holds `small.nc`.
    pub fn with(small: &Small) -> Self {
        let place = Self::empty();
        small.write(&place.path("small.nc"));
        place
    }

    /// The path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Names of all files in the folder, in the order of the alphabet.
    pub fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("the folder of the test");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// The program with these arguments, to be run in the folder.
    pub fn program(&self, arguments: &[&str]) -> std::process::Command {
        let mut program = std::process::Command::new(crate::program());
        program.current_dir(self.folder.path()).env_remove("NWP_BACKEND").args(arguments);
        program
    }

    /// Runs any command of the program in the folder.
    pub fn command(&self, arguments: &[&str]) -> Ended {
        Self::end(self.program(arguments), &[])
    }

    /// Runs `nwp-mini run` with these arguments in the folder.
    pub fn run(&self, arguments: &[&str]) -> Ended {
        Self::end(self.program(&["run"]), arguments)
    }

    /// Runs `nwp-mini run` on `small.nc` subject to permissions: the superuser drops the capabilities that bypass them.
    /// `None`, with a line that states the reason, if that is not possible.
    pub fn run_small_bound(&self, arguments: &[&str]) -> Option<Ended> {
        let drop = "-dac_override,-dac_read_search";
        let mut bound = std::process::Command::new("setpriv");
        bound.args(["--bounding-set", drop, "--inh-caps", drop]).current_dir(self.folder.path());
        // A file of the superuser without read permission for others.
        let secret = self.path("secret");
        fs::write(&secret, "").expect("a file");
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).expect("permissions");
        let is_free = fs::File::open(&secret).is_ok();
        let mut probe = std::process::Command::new("setpriv");
        probe.args(bound.get_args()).arg("cat").arg(&secret).stderr(std::process::Stdio::piped());
        let said = is_free.then(|| probe.output());
        fs::remove_file(&secret).expect("the file");
        let program = self.program(&["run"]);
        let program = match said {
            None => program,
            Some(Ok(said))
                if String::from_utf8_lossy(&said.stderr).contains("ermission denied") =>
            {
                bound.arg(program.get_program()).args(program.get_args());
                bound.env_remove("NWP_BACKEND");
                bound
            }
            Some(other) => {
                skipped(&format!("permissions do not bind this user: {other:?}"));
                return None;
            }
        };
        Some(Self::end(program, &[&["--input", "small.nc"], arguments].concat()))
    }

    fn end(program: std::process::Command, arguments: &[&str]) -> Ended {
        let mut program = assert_cmd::Command::from_std(program);
        let output = program.args(arguments).output().expect("the program starts");
        let text = |bytes| String::from_utf8(bytes).expect("the program writes UTF-8");
        Ended {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Runs `nwp-mini run` on `small.nc`.
    pub fn run_small(&self, arguments: &[&str]) -> Ended {
        self.run(&[&["--input", "small.nc"], arguments].concat())
    }

    /// Runs `nwp-mini run` on the storm.
    pub fn run_storm(&self, arguments: &[&str]) -> Ended {
        let storm = storm();
        self.run(&[&["--input", storm.to_str().expect("a path in UTF-8")], arguments].concat())
    }

    /// A NetCDF file in the folder.
    pub fn open(&self, name: &str) -> Output {
        Output::open(&self.path(name))
    }

    /// A JSON file in the folder.
    pub fn json(&self, name: &str) -> serde_json::Value {
        let text = fs::read_to_string(self.path(name)).expect("the figures of the run");
        serde_json::from_str(&text).expect("JSON")
    }

    /// Runs on `small.nc` and returns the figures and the file.
    pub fn figures(&self, arguments: &[&str]) -> (serde_json::Value, Output) {
        let fixed = ["-q", "--force", "--output", "out.nc", "--json", "out.json"];
        self.run_small(&[&fixed, arguments].concat()).good();
        (self.json("out.json"), self.open("out.nc"))
    }
}

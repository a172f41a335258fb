//! Settings measured to be the fastest on a GPU, kept from run to run.
//!
//! There is a TOML file for each kind of GPU, in the folder `tuning` of the user's cache folder. It records its GPU,
//! program version and kernels, and is ignored if any of these differs.
//!
//! # Decisions
//!
//! **Launch configurations are built in, and may be measured.** `nwp-mini tune` measures them (`gpu/tuning` and
//! `tuning` beside the launchers). Measured ones are kept in a file for each kind of GPU, with the program version and
//! the digest of all kernels, and are ignored with one warning if these differ. A knob is an enum variant with its
//! candidates; results depend on it by rounding at most. A configuration applies from a number of columns on. The
//! built-in one of the transport depends on the grid size too: on large grids more warps are worth some register
//! spills, since a stage is memory-bound.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::sources;
use super::user_folder::user_folder;
use crate::real::Precision;

/// The fastest setting of a knob from a number of columns on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// Name of the knob.
    pub knob: String,
    /// The working precision.
    pub precision: String,
    /// Number of levels.
    pub nz: usize,
    /// Smallest number of columns of a grid that the choice applies to.
    pub from_columns: usize,
    /// Text form of the setting.
    pub setting: String,
    /// Number of columns of the grid it was measured on.
    pub measured_on: usize,
    /// Time of a call, µs.
    pub us: f64,
    /// Time of a call with the built-in setting, µs.
    pub built_in_us: f64,
    /// Date of the measurement, as 2026-11-21.
    pub date: String,
}

impl Choice {
    /// Returns `true` if both are for the same knob, precision and levels.
    fn is_about(&self, other: &Self) -> bool {
        (&self.knob, &self.precision, self.nz) == (&other.knob, &other.precision, other.nz)
    }
}

/// All choices for a GPU, with the program version and kernels that they apply to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// Name of the GPU.
    pub gpu: String,
    /// Version of the program.
    pub version: String,
    /// Digest of all kernels.
    pub kernels: String,
    /// The choices.
    #[serde(default, rename = "choice")]
    pub choices: Vec<Choice>,
}

/// Check of a choice: its knob is known, and its setting is possible.
pub type IsPossible = fn(&Choice) -> bool;

/// Head of a file.
const HEAD: &str = "# Written by `nwp-mini tune`: the fastest settings on this GPU. Later runs \
                    use them;
# without the file they use those of the program. It is valid only for the program and the \
                    kernels that it names.
";

/// Bytes that a valid file does not exceed.
const LONGEST: u64 = 1 << 20;

/// Digits of a digest that are written: enough to tell any two apart.
const DIGITS: usize = 16;

impl Tuning {
    /// No choices, for this program.
    pub fn empty(gpu: &str) -> Self {
        Self {
            gpu: gpu.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            kernels: sources::digest()[..DIGITS].to_owned(),
            choices: Vec::new(),
        }
    }

    /// Path of the file for a GPU; `None` if the user has no cache folder.
    pub fn path(gpu: &str) -> Option<PathBuf> {
        let letters = gpu.to_lowercase();
        let words = letters.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
        let name = words.collect::<Vec<_>>().join("-");
        Some(user_folder()?.join("tuning").join(format!("{name}.toml")))
    }

    /// The choices in a file; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// A reason if the file is not applicable: it cannot be read, has another format, or was made for another GPU or
    /// other kernels.
    pub fn load(path: &Path, gpu: &str, is_possible: IsPossible) -> Result<Option<Self>, String> {
        let mut text = String::new();
        let read = File::open(path)
            .and_then(|file| file.take(LONGEST).read_to_string(&mut text).map(drop));
        match read {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("it cannot be read: {error}")),
        }
        if text.len() as u64 == LONGEST {
            return Err(format!("it has {LONGEST} bytes or more, too many for such a file"));
        }
        let tuning: Self = toml::from_str(&text)
            .map_err(|error| format!("it is damaged: {}", error.message().replace('\n', " ")))?;
        let own = Self::empty(gpu);
        if tuning.gpu != own.gpu {
            return Err(format!("it was made for the GPU \"{}\"", tuning.gpu));
        }
        if tuning.version != own.version {
            let (theirs, ours) = (&tuning.version, &own.version);
            return Err(format!("it was made by version {theirs}, this is {ours}"));
        }
        if tuning.kernels != own.kernels {
            return Err("the kernels have changed since it was made".to_owned());
        }
        for choice in &tuning.choices {
            if !is_possible(choice) {
                let Choice { knob, setting, precision, nz, .. } = choice;
                return Err(format!(
                    "it is damaged: \"{setting}\" is not a setting of \"{knob}\" for {nz} levels \
                     of \"{precision}\""
                ));
            }
        }
        Ok(Some(tuning))
    }

    /// Replaces all choices of the same knob, precision and levels by these.
    pub fn replace(&mut self, choices: Vec<Choice>) {
        self.choices.retain(|old| !choices.iter().any(|new| new.is_about(old)));
        self.choices.extend(choices);
        self.choices.sort_by(|a, b| {
            let key = |c: &Choice| (c.knob.clone(), c.precision.clone(), c.nz, c.from_columns);
            key(a).cmp(&key(b))
        });
    }

    /// The choice for a knob, by name, and a grid; `None` if none has been measured.
    pub fn choice(
        &self,
        knob: &str,
        precision: Precision,
        nz: usize,
        columns: usize,
    ) -> Option<&Choice> {
        let counts = |choice: &&Choice| {
            choice.knob == knob
                && choice.precision == precision.name()
                && choice.nz == nz
                && choice.from_columns <= columns
        };
        self.choices.iter().filter(counts).max_by_key(|choice| choice.from_columns)
    }

    /// The text of the file.
    #[expect(clippy::missing_panics_doc, reason = "choices are plain tables")]
    pub fn text(&self) -> String {
        HEAD.to_owned() + &toml::to_string(self).expect("choices are plain tables")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const KNOB: &str = "wsm5";
    const GPU: &str = "NVIDIA H200 (rev. 2)";

    fn choice(from_columns: usize, setting: &str) -> Choice {
        Choice {
            knob: KNOB.to_owned(),
            precision: "f32".to_owned(),
            nz: 27,
            from_columns,
            setting: setting.to_owned(),
            measured_on: 4118,
            us: 7.25,
            built_in_us: 11.8,
            date: "2026-11-21".to_owned(),
        }
    }

    const NARROW: &str = "tile columns=4 threads=128 blocks=6";
    const WIDE: &str = "tile columns=32 threads=256 blocks=3";

    /// A check as a launcher would have it: the two settings of this test, and nothing else.
    fn is_possible(choice: &Choice) -> bool {
        choice.knob == KNOB
            && [NARROW, WIDE].contains(&&*choice.setting)
            && choice.precision == "f32"
            && choice.nz == 27
    }

    fn tuning() -> Tuning {
        let mut tuning = Tuning::empty(GPU);
        tuning.replace(vec![choice(40_000, WIDE), choice(1, NARROW)]);
        tuning
    }

    /// Settings in the text of a file.
    fn read(text: &str) -> Result<Option<Tuning>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        fs::write(&path, text).unwrap();
        Tuning::load(&path, GPU, is_possible)
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gpu.toml");
        assert_eq!(Tuning::load(&path, GPU, is_possible), Ok(None));
        fs::write(&path, tuning().text()).unwrap();
        assert_eq!(Tuning::load(&path, GPU, is_possible), Ok(Some(tuning())));
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with("# Written by `nwp-mini tune`") && text.contains(NARROW),
            "{text}"
        );
    }

    #[test]
    fn the_setting_is_that_of_the_size() {
        let tuning = tuning();
        let of = |knob, precision, nz, columns| {
            let choice = tuning.choice(knob, precision, nz, columns);
            choice.map(|choice| choice.setting.as_str())
        };
        assert_eq!(of(KNOB, Precision::F32, 27, 39_999), Some(NARROW));
        assert_eq!(of(KNOB, Precision::F32, 27, 40_000), Some(WIDE));
        assert_eq!(of(KNOB, Precision::F64, 27, 9), None);
        assert_eq!(of(KNOB, Precision::F32, 50, 9), None);
        assert_eq!(of("another", Precision::F32, 27, 9), None);
    }

    #[test]
    fn new_choices_replace_those_of_the_same_kind() {
        let mut tuning = tuning();
        tuning.replace(vec![Choice { nz: 50, ..choice(1, NARROW) }]);
        assert_eq!(tuning.choices.len(), 3);
        tuning.replace(vec![choice(1, WIDE)]);
        assert_eq!(tuning.choices.len(), 2);
    }

    #[test]
    fn what_was_made_for_something_else_is_refused() {
        let own = tuning();
        for (other, word) in [
            (Tuning { gpu: "another".into(), ..own.clone() }, "for the GPU \"another\""),
            (Tuning { version: "0.0.1".into(), ..own.clone() }, "by version 0.0.1"),
            (Tuning { kernels: "0123".into(), ..own.clone() }, "the kernels have changed"),
        ] {
            let why = read(&other.text()).unwrap_err();
            assert!(why.contains(word), "{why}");
        }
    }

    #[test]
    fn damaged_files_are_refused_in_one_line() {
        let whole = tuning().text();
        assert!(read(&whole).unwrap().is_some());
        for at in 0..whole.len() {
            if !whole.is_char_boundary(at) {
                continue;
            }
            // A file truncated at the end of a line may still have valid choices.
            if let Err(why) = read(&whole[..at]) {
                assert!(!why.contains('\n') && !why.is_empty(), "cut to {at} bytes: {why}");
            }
        }
        for (from, to) in [
            ("threads=256", "threads=257"),
            ("columns=32", "columns=33"),
            ("blocks=3", "blocks=0"),
            ("tile ", "brick "),
            ("\"f32\"", "\"f16\""),
            ("nz = 27", "nz = -27"),
            ("nz = 27", "nz = 4000"),
            ("wsm5", "wsm6"),
            ("from_columns", "columns_from"),
        ] {
            let why = read(&whole.replace(from, to)).expect_err(to);
            assert!(why.contains("damaged") && !why.contains('\n'), "{why}");
        }
        let folder = tempfile::tempdir().unwrap();
        assert!(
            Tuning::load(folder.path(), GPU, is_possible).unwrap_err().contains("cannot be read")
        );
        assert!(read("\u{0}\u{1}").is_err());
        assert!(read(&" ".repeat(1 << 20)).unwrap_err().contains("too many for such a file"));
    }

    #[test]
    fn names_of_files_are_plain() {
        let path = Tuning::path("NVIDIA H200 (rev. 2)/../x");
        let name = path.map(|path| path.file_name().unwrap().to_string_lossy().into_owned());
        assert!(name.is_none_or(|name| name == "nvidia-h200-rev-2-x.toml"));
    }
}

//! The settings of launchers that can be chosen without changing results.
//!
//! Another kind of choice is one more variant of [`Knob`] and of [`Setting`], with its candidates
//! here, its time in `nwp-mini tune`, and a look at [`Knob::measured`] where its launcher takes the
//! built-in setting now.

use std::fmt;

use super::advection::March;
use super::wsm5::{Mapping, Tile};
use crate::device::tuning::Choice;
use crate::device::{Gpu, WARP};
use crate::real::Precision;
use crate::wsm5::Fallout;

/// Something that can be set without changing results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knob {
    /// How threads march in the transport.
    Transport,
    /// How the microphysics shares out columns among threads, for a way of falling.
    Clouds(Fallout),
}

/// What a knob can be set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// That of [`Knob::Transport`].
    Transport(March),
    /// That of [`Knob::Clouds`].
    Clouds(Mapping),
}

/// Registers of a multiprocessor, and fewest of a thread that are worth a trial.
const REGISTERS: [usize; 2] = [1 << 16, 40];
/// Columns of a tile, and the fewest and the most threads that are tried for it.
const TILES: [[usize; 3]; 5] =
    [[2, 64, 128], [4, 64, 256], [8, 96, 384], [16, 128, 512], [32, 192, 512]];
/// Blocks of a multiprocessor that the registers are bound for.
const RESIDENT: [usize; 6] = [2, 3, 4, 5, 6, 8];
/// The same for the transport.
const MARCHING: [usize; 9] = [2, 3, 4, 5, 6, 8, 10, 12, 16];
/// Levels that a thread of the transport is tried to march through.
const MARCHED: [usize; 7] = [1, 2, 3, 4, 6, 9, 14];

impl Knob {
    /// All of them.
    pub const ALL: [Self; 3] =
        [Self::Transport, Self::Clouds(Fallout::SemiLagrangian), Self::Clouds(Fallout::Substepped)];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Transport => "transport",
            Self::Clouds(Fallout::SemiLagrangian) => "wsm5",
            Self::Clouds(Fallout::Substepped) => "wsm5 sub-stepped",
        }
    }

    /// The setting that a choice is about; `None` where the choice makes no sense.
    fn setting(choice: &Choice) -> Option<Setting> {
        let knob = Self::ALL.into_iter().find(|knob| knob.name() == choice.knob)?;
        let all = [Precision::F32, Precision::F64];
        let precision = all.into_iter().find(|real| real.name() == choice.precision)?;
        knob.parse(&choice.setting, precision, choice.nz)
    }

    /// Whether a choice is about a knob and one of its settings.
    pub fn is_possible(choice: &Choice) -> bool {
        Self::setting(choice).is_some()
    }

    /// The setting that was measured to be the best on this GPU; `None` where none has been measured.
    pub fn measured(
        self,
        gpu: &Gpu,
        precision: Precision,
        nz: usize,
        columns: usize,
    ) -> Option<Setting> {
        Self::setting(gpu.tuning()?.choice(self.name(), precision, nz, columns)?)
    }

    /// Reads a setting as [`Setting`] writes it; `None` where it is none, or not for this number of
    /// levels.
    pub fn parse(self, text: &str, precision: Precision, nz: usize) -> Option<Setting> {
        match self {
            Self::Transport => {
                let march = March::parse(text.strip_prefix("march ")?)?;
                march.is_possible(precision).then_some(Setting::Transport(march))
            }
            Self::Clouds(fallout) => {
                let mapping = parse_mapping(text)?;
                let is_possible = match mapping {
                    Mapping::Column => true,
                    Mapping::Tile(tile) => tile.is_possible(precision, fallout, nz),
                };
                is_possible.then_some(Setting::Clouds(mapping))
            }
        }
    }

    /// What is used where nothing has been measured.
    pub fn built_in(self, precision: Precision, nz: usize, columns: usize) -> Setting {
        match self {
            Self::Transport => Setting::Transport(March::choose(columns, precision)),
            Self::Clouds(fallout) => {
                Setting::Clouds(Mapping::choose(columns, precision, fallout, nz))
            }
        }
    }

    /// Settings to begin with, of all shapes.
    pub fn candidates(self, precision: Precision, nz: usize) -> Vec<Setting> {
        let fallout = match self {
            Self::Transport => return marches(precision, nz),
            Self::Clouds(fallout) => fallout,
        };
        let Mapping::Tile(built_in) = Mapping::choose(1, precision, fallout, nz) else {
            return vec![Setting::Clouds(Mapping::Column)];
        };
        // Of all shapes a multiprocessor holds about as many threads as of the built-in one.
        let blocks = |threads: usize| (built_in.threads * built_in.blocks / threads).max(1);
        let shapes = TILES.into_iter().flat_map(|[columns, least, most]| {
            let sizes = (least..=most).step_by(WARP);
            sizes.map(move |threads| Tile { columns, threads, blocks: blocks(threads) })
        });
        let tiles = shapes.filter(|tile| is_worth_a_trial(*tile, precision, fallout, nz));
        let tiles = tiles.map(|tile| Setting::Clouds(Mapping::Tile(tile)));
        [Setting::Clouds(Mapping::Column)].into_iter().chain(tiles).collect()
    }

    /// Settings of the same shape with other bounds of the registers.
    pub fn variants(self, setting: Setting, precision: Precision, nz: usize) -> Vec<Setting> {
        match (self, setting) {
            (Self::Clouds(fallout), Setting::Clouds(Mapping::Tile(tile))) => {
                let others = RESIDENT.into_iter().filter(|blocks| *blocks != tile.blocks);
                let others = others.map(|blocks| Tile { blocks, ..tile });
                others
                    .filter(|tile| is_worth_a_trial(*tile, precision, fallout, nz))
                    .map(|tile| Setting::Clouds(Mapping::Tile(tile)))
                    .collect()
            }
            (Self::Transport, Setting::Transport(march)) => {
                let stages = MARCHING.map(|stages| March { stages, ..march });
                let limited = MARCHING.map(|limited| March { limited, ..march });
                let untiled = march.tiles.then_some(March { tiles: false, ..march });
                let others = stages.into_iter().chain(limited).chain(untiled);
                others.filter(|other| *other != march).map(Setting::Transport).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Marches of all shapes, with bounds of the registers that suit their cells.
fn marches(precision: Precision, nz: usize) -> Vec<Setting> {
    let small = March::choose(1, precision);
    let levels = MARCHED.into_iter().filter(|levels| *levels < nz).chain([nz]).map(Some);
    let levels: Vec<Option<usize>> = [None].into_iter().chain(levels).collect();
    let shapes = March::CELLS.into_iter().flat_map(|cells| {
        let bound = |blocks: usize| (blocks * small.cells / cells).max(1);
        let [stages, limited] = [bound(small.stages), bound(small.limited)];
        levels.iter().map(move |&levels| March { cells, stages, limited, levels, ..small })
    });
    shapes.map(Setting::Transport).collect()
}

/// Reads a mapping as it is written.
fn parse_mapping(text: &str) -> Option<Mapping> {
    if text == "column" {
        return Some(Mapping::Column);
    }
    let mut words = text.strip_prefix("tile ")?.split(' ');
    let mut number = |name: &str| -> Option<usize> {
        words.next()?.strip_prefix(name)?.strip_prefix('=')?.parse().ok()
    };
    let (columns, threads, blocks) = (number("columns")?, number("threads")?, number("blocks")?);
    words.next().is_none().then_some(Mapping::Tile(Tile { columns, threads, blocks }))
}

/// Whether a tile is possible and leaves its threads some registers.
fn is_worth_a_trial(tile: Tile, precision: Precision, fallout: Fallout, nz: usize) -> bool {
    let [registers, least] = REGISTERS;
    let of_a_thread = registers / (tile.threads * tile.blocks);
    of_a_thread >= least && tile.is_possible(precision, fallout, nz)
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transport(march) => write!(f, "march {march}"),
            Self::Clouds(Mapping::Column) => f.write_str("column"),
            Self::Clouds(Mapping::Tile(Tile { columns, threads, blocks })) => {
                write!(f, "tile columns={columns} threads={threads} blocks={blocks}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every candidate is possible, is read as it is written, and the built-in shape is among
    /// them, for any number of levels.
    #[test]
    fn candidates_are_possible_and_read_as_written() {
        for nz in [4, 27, 50, 127, 128] {
            for precision in [Precision::F32, Precision::F64] {
                for knob in Knob::ALL {
                    let mut all = knob.candidates(precision, nz);
                    let more: Vec<Setting> =
                        all.iter().flat_map(|one| knob.variants(*one, precision, nz)).collect();
                    all.extend(more);
                    assert!(
                        knob == Knob::Transport || all.contains(&Setting::Clouds(Mapping::Column))
                    );
                    assert!(all.len() > 3, "{knob:?}, {nz} levels of {precision:?}: {all:?}");
                    all.extend([1, usize::MAX].map(|size| knob.built_in(precision, nz, size)));
                    for setting in all {
                        let text = setting.to_string();
                        assert_eq!(knob.parse(&text, precision, nz), Some(setting), "{text}");
                    }
                }
            }
        }
    }
}

//! Launch configurations of the microphysics, as settings that can be tuned without changing results.

use super::{Mapping, Tile};
use crate::device::{Gpu, WARP};
use crate::physics::wsm5::Sedimentation;
use crate::real::Precision;

/// Registers of a multiprocessor, and fewest registers of a thread that are worth trying.
const REGISTERS: [usize; 2] = [1 << 16, 40];
/// Columns of a tile, and the fewest and the most threads to try for it.
const TILES: [[usize; 3]; 5] =
    [[2, 64, 128], [4, 64, 256], [8, 96, 384], [16, 128, 512], [32, 192, 512]];
/// Launch bounds to try: blocks of a multiprocessor.
const RESIDENT: [usize; 6] = [2, 3, 4, 5, 6, 8];

/// Name of the knob in files, for a variant of sedimentation.
pub(crate) fn name(fallout: Sedimentation) -> &'static str {
    match fallout {
        Sedimentation::SemiLagrangian => "wsm5",
        Sedimentation::Substepped => "wsm5 sub-stepped",
    }
}

/// Reads a mapping as [`Mapping::text`] writes it; `None` if the text is not one, or not for this number of levels.
pub(crate) fn parse(
    text: &str,
    precision: Precision,
    fallout: Sedimentation,
    nz: usize,
) -> Option<Mapping> {
    let mapping = parse_mapping(text)?;
    let is_possible = match mapping {
        Mapping::Column => true,
        Mapping::Tile(tile) => tile.is_possible(precision, fallout, nz),
    };
    is_possible.then_some(mapping)
}

impl Mapping {
    /// Its text in files of settings.
    pub fn text(self) -> String {
        match self {
            Self::Column => "column".to_owned(),
            Self::Tile(Tile { columns, threads, blocks }) => {
                format!("tile columns={columns} threads={threads} blocks={blocks}")
            }
        }
    }

    /// The mapping in short: columns of a tile C, threads of a block NT, blocks of a multiprocessor B.
    pub fn in_short(self) -> String {
        match self {
            Self::Column => format!("column NT{}", self.blocks(1)[1]),
            Self::Tile(Tile { columns, threads, blocks }) => {
                format!("tile C{columns} NT{threads} B{blocks}")
            }
        }
    }
}

/// The mapping measured to be the fastest on this GPU; `None` if none has been measured.
pub(crate) fn measured(
    gpu: &Gpu,
    precision: Precision,
    fallout: Sedimentation,
    nz: usize,
    columns: usize,
) -> Option<Mapping> {
    let choice = gpu.tuning()?.choice(name(fallout), precision, nz, columns)?;
    parse(&choice.setting, precision, fallout, nz)
}

/// First candidates, of all shapes.
pub(crate) fn candidates(precision: Precision, fallout: Sedimentation, nz: usize) -> Vec<Mapping> {
    let Mapping::Tile(built_in) = Mapping::choose(1, precision, fallout, nz) else {
        return vec![Mapping::Column];
    };
    // For each shape the launch bounds allow about as many threads on a multiprocessor as the built-in one.
    let blocks = |threads: usize| (built_in.threads * built_in.blocks / threads).max(1);
    let shapes = TILES.into_iter().flat_map(|[columns, least, most]| {
        let sizes = (least..=most).step_by(WARP);
        sizes.map(move |threads| Tile { columns, threads, blocks: blocks(threads) })
    });
    let tiles = shapes.filter(|tile| is_worth_a_trial(*tile, precision, fallout, nz));
    [Mapping::Column].into_iter().chain(tiles.map(Mapping::Tile)).collect()
}

/// Further candidates: the same shape with other launch bounds.
pub(crate) fn variants(
    mapping: Mapping,
    precision: Precision,
    fallout: Sedimentation,
    nz: usize,
) -> Vec<Mapping> {
    let Mapping::Tile(tile) = mapping else { return Vec::new() };
    let others = RESIDENT.into_iter().filter(|blocks| *blocks != tile.blocks);
    let others = others.map(|blocks| Tile { blocks, ..tile });
    let others = others.filter(|tile| is_worth_a_trial(*tile, precision, fallout, nz));
    others.map(Mapping::Tile).collect()
}

/// Reads a mapping from its text.
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

/// Returns `true` if a tile can be compiled and leaves its threads enough registers.
fn is_worth_a_trial(tile: Tile, precision: Precision, fallout: Sedimentation, nz: usize) -> bool {
    let [registers, least] = REGISTERS;
    let of_a_thread = registers / (tile.threads * tile.blocks);
    of_a_thread >= least && tile.is_possible(precision, fallout, nz)
}

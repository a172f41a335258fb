//! Launch configurations of the microphysics, as settings that can be tuned without changing results.

use super::tile::TileContents;
use super::{Mapping, Tile};
use crate::device::{Gpu, WARP};
use crate::physics::device::Mappings;
use crate::physics::wsm5::Sedimentation;
use crate::real::Precision;

/// Registers of a multiprocessor, and fewest registers of a thread that are worth trying.
const REGISTERS: [usize; 2] = [1 << 16, 40];
/// Columns of a tile, and the fewest and the most threads to try for it.
const TILES: [[usize; 3]; 5] =
    [[2, 64, 128], [4, 64, 256], [8, 96, 384], [16, 128, 512], [32, 192, 512]];
/// Launch bounds to try: blocks of a multiprocessor.
const RESIDENT: [usize; 6] = [2, 3, 4, 5, 6, 8];

/// The mappings of a scheme's kernels, of one variant of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileMappings {
    /// Name of the choice in files of settings.
    pub knob: &'static str,
    /// Contents of a tile.
    pub contents: TileContents,
    /// `true` if there is a kernel with a thread for a column.
    pub has_columns: bool,
}

impl From<Sedimentation> for &'static TileMappings {
    fn from(fallout: Sedimentation) -> Self {
        static SEMI_LAGRANGIAN: TileMappings = TileMappings {
            knob: "wsm5",
            contents: TileContents::of(Sedimentation::SemiLagrangian),
            has_columns: true,
        };
        static SUBSTEPPED: TileMappings = TileMappings {
            knob: "wsm5 sub-stepped",
            contents: TileContents::of(Sedimentation::Substepped),
            has_columns: true,
        };
        match fallout {
            Sedimentation::SemiLagrangian => &SEMI_LAGRANGIAN,
            Sedimentation::Substepped => &SUBSTEPPED,
        }
    }
}

impl TileMappings {
    /// Reads a mapping as [`Mapping::text`] writes it; `None` if the text is not one, or not for this number of levels.
    pub(crate) fn parse(&self, text: &str, precision: Precision, nz: usize) -> Option<Mapping> {
        let mapping = parse_mapping(text)?;
        let is_possible = match mapping {
            Mapping::Column => self.has_columns,
            Mapping::Tile(tile) => tile.is_possible(precision, self.contents, nz),
        };
        is_possible.then_some(mapping)
    }

    /// Returns `true` if a tile can be compiled and leaves its threads enough registers.
    fn is_worth_a_trial(&self, tile: Tile, precision: Precision, nz: usize) -> bool {
        let [registers, least] = REGISTERS;
        let of_a_thread = registers / (tile.threads * tile.blocks);
        of_a_thread >= least && tile.is_possible(precision, self.contents, nz)
    }
}

impl Mappings for TileMappings {
    fn knob(&self) -> &'static str {
        self.knob
    }

    fn is_possible(&self, text: &str, precision: Precision, nz: usize) -> bool {
        self.parse(text, precision, nz).is_some()
    }

    fn built_in(&self, precision: Precision, nz: usize, columns: usize) -> String {
        Mapping::choose(columns, precision, self.contents, nz).text()
    }

    fn candidates(&self, precision: Precision, nz: usize) -> Vec<String> {
        let built_in = Tile::choose(1, precision, self.contents, nz);
        // For each shape the launch bounds allow about as many threads on a multiprocessor as the built-in one.
        let blocks = |threads: usize| (built_in.threads * built_in.blocks / threads).max(1);
        let shapes = TILES.into_iter().flat_map(|[columns, least, most]| {
            let sizes = (least..=most).step_by(WARP);
            sizes.map(move |threads| Tile { columns, threads, blocks: blocks(threads) })
        });
        let tiles = shapes.filter(|tile| self.is_worth_a_trial(*tile, precision, nz));
        let columns = self.has_columns.then_some(Mapping::Column);
        columns.into_iter().chain(tiles.map(Mapping::Tile)).map(Mapping::text).collect()
    }

    fn variants(&self, text: &str, precision: Precision, nz: usize) -> Vec<String> {
        let Some(Mapping::Tile(tile)) = self.parse(text, precision, nz) else { return Vec::new() };
        let others = RESIDENT.into_iter().filter(|blocks| *blocks != tile.blocks);
        let others = others.map(|blocks| Tile { blocks, ..tile });
        let others = others.filter(|tile| self.is_worth_a_trial(*tile, precision, nz));
        others.map(|tile| Mapping::Tile(tile).text()).collect()
    }
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

impl Mapping {
    /// The mapping for a number of columns on a device: that of a text if it is one, or the measured one, or the
    /// built-in one.
    pub(crate) fn chosen(
        text: Option<&str>,
        gpu: &Gpu,
        columns: usize,
        precision: Precision,
        mappings: &TileMappings,
        nz: usize,
    ) -> Self {
        let read = text.and_then(|text| mappings.parse(text, precision, nz));
        read.unwrap_or_else(|| Self::for_device(gpu, columns, precision, mappings, nz))
    }

    /// The mapping for a number of columns on a device: the measured one, or the built-in one.
    pub fn for_device(
        gpu: &Gpu,
        columns: usize,
        precision: Precision,
        mappings: &TileMappings,
        nz: usize,
    ) -> Self {
        let fastest = mappings.fastest(gpu, precision, nz, columns);
        let fastest = mappings.parse(&fastest, precision, nz);
        fastest.unwrap_or_else(|| Self::choose(columns, precision, mappings.contents, nz))
    }
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

//! The margins of a part of a grid on the device, refreshed by its neighbours before the transport of every step.

use std::ops::Range;

use super::GpuPrecision;
use crate::backend::ExchangeTimes;
use crate::device::{Branch, Buffer, Exchange, Gpu, Message, Parcels};
use crate::error::Result;
use crate::gpu::margins::{MarginKernels, PackedColumns, columns_of};
use crate::grid::gpu::Layout;
use crate::grid::{Grid, Parts, Piece, Window};
use crate::state::gpu::device_fields::ActiveColumns;

/// The neighbours of a part of a grid, on devices of their own or on the same one.
#[derive(Debug)]
pub struct GpuNeighbours<'a> {
    /// All parts, each on the rank of its number.
    pub parts: &'a Parts,
    /// The number of this one.
    pub part: usize,
    /// The way to the others.
    pub exchange: Box<dyn Exchange>,
    /// Its bandwidth, for reports: see [`bandwidth`](crate::device::bandwidth).
    pub gb_per_s: Option<f64>,
}

/// Bytes of the tables of a column beside its values.
const TABLES: usize = 16;

/// The cells that neighbours have in common with a part, and the way between them.
#[derive(Debug)]
pub(super) struct Margins {
    kernels: MarginKernels,
    parcels: Parcels,
    exchange: Box<dyn Exchange>,
    gb_per_s: Option<f64>,
    /// Columns of the margins of other parts, in the order of the parts, each in the order of its owner's pieces there; then
    /// those of the own margin that this part itself owns, on an axis that its margin goes around.
    given: PackedColumns,
    /// Columns of the own margin by their owners.
    taken: PackedColumns,
    /// Columns of the own margin that are taken from among the given ones.
    own: PackedColumns,
    /// Columns of the microphysics among which the given ones are, and all others.
    groups: [Vec<ActiveColumns>; 2],
}

/// The columns of the microphysics of a part in two groups of windows: those along its cuts, among which are all that are
/// given to other parts, and the others.
fn groups(part: &Grid, given: &[(usize, Vec<Window>)]) -> [Vec<ActiveColumns>; 2] {
    let (all, owned) = (part.unspecified(), part.owned());
    let windows = || given.iter().flat_map(|(_, windows)| windows);
    let rows = within_cuts(&owned.rows, windows().map(|window| &window.rows));
    let columns = within_cuts(&owned.columns, windows().map(|window| &window.columns));
    let is_all = |window: &Window| window.rows == owned.rows && window.columns == owned.columns;
    let (rows, columns) = match (rows, columns) {
        (Some(rows), Some(columns)) if !windows().any(is_all) => (rows, columns),
        _ => (owned.rows.start..owned.rows.start, owned.columns.clone()),
    };
    let window = |rows: Range<usize>, columns: Range<usize>| ActiveColumns {
        rows: rows.start.max(all.rows.start)..rows.end.min(all.rows.end),
        columns: columns.start.max(all.columns.start)..columns.end.min(all.columns.end),
    };
    let along = [
        window(all.rows.start..rows.start, all.columns.clone()),
        window(rows.end..all.rows.end, all.columns.clone()),
        window(rows.clone(), all.columns.start..columns.start),
        window(rows.clone(), columns.end..all.columns.end),
    ];
    let is_some = |window: &ActiveColumns| !window.rows.is_empty() && !window.columns.is_empty();
    let some = |windows: Vec<ActiveColumns>| windows.into_iter().filter(is_some).collect();
    [some(along.into()), some(vec![window(rows, columns)])]
}

/// The cells of an axis between those that are given at its ends; `None` where others are given. Ranges of the whole axis
/// are of what is given along the other one.
fn within_cuts<'a>(
    owned: &Range<usize>,
    given: impl Iterator<Item = &'a Range<usize>>,
) -> Option<Range<usize>> {
    let mut within = owned.clone();
    for cells in given.filter(|cells| *cells != owned) {
        if cells.start == owned.start {
            within.start = within.start.max(cells.end);
        } else if cells.end == owned.end {
            within.end = within.end.min(cells.start);
        } else {
            return None;
        }
    }
    (within.start < within.end).then_some(within)
}

/// Columns of margins as they are cut out of one part and into another.
struct Columns {
    /// Those of other parts that this one owns, by the parts.
    given: Vec<(usize, Vec<Window>)>,
    /// Those of this part, by their owners.
    taken: Vec<(usize, Vec<Window>)>,
    /// Those of this part that it owns itself: where they are, and where they are missing.
    own: [Vec<Window>; 2],
}

impl Columns {
    fn of(parts: &Parts, part: usize) -> Self {
        let pieces = |of: usize, from: usize| {
            let pieces = parts.pieces(of).into_iter();
            pieces.filter(move |piece| piece.from == from)
        };
        let source = |piece: Piece| piece.source;
        let target = |piece: Piece| piece.target;
        let others = || (0..parts.grids().len()).filter(|other| *other != part);
        let given = others().map(|other| (other, pieces(other, part).map(source).collect()));
        let taken = others().map(|other| (other, pieces(part, other).map(target).collect()));
        let own = pieces(part, part);
        let any = |(_, windows): &(usize, Vec<Window>)| !windows.is_empty();
        Self {
            given: given.filter(any).collect(),
            taken: taken.filter(any).collect(),
            own: own.map(|Piece { source, target, .. }| (source, target)).unzip().into(),
        }
    }
}

/// One message to or from each part, the lists of windows behind one another; `each` are the bytes of a column.
fn messages(lists: &[(usize, Vec<Window>)], each: usize) -> Vec<Message> {
    let mut first = 0;
    let message = |(peer, windows): &(usize, Vec<Window>)| {
        let start = first;
        first += columns_of(windows) * each;
        Message { peer: *peer, bytes: start..first }
    };
    lists.iter().map(message).collect()
}

impl Margins {
    /// Bytes of device memory for the margins of a part with so many levels of all fields.
    pub(super) fn bytes<R>(parts: &Parts, part: usize, levels: usize) -> usize {
        let Columns { given, taken, own } = Columns::of(parts, part);
        let of_lists = |lists: &[(usize, Vec<Window>)]| -> usize {
            lists.iter().map(|(_, windows)| columns_of(windows)).sum()
        };
        let once = of_lists(&given) + of_lists(&taken) + columns_of(&own[0]);
        once * (levels * size_of::<R>() + TABLES)
    }

    /// Compiles the kernels and allocates the memory, for so many fields.
    pub(super) fn new<R: GpuPrecision>(
        gpu: &Gpu,
        neighbours: GpuNeighbours<'_>,
        (layout, fields): (Layout, usize),
    ) -> Result<Self> {
        let GpuNeighbours { parts, part, exchange, gb_per_s } = neighbours;
        let levels = fields * layout.shape.nz;
        let each = levels * size_of::<R>();
        let Columns { given, taken, own: [source, target] } = Columns::of(parts, part);
        let groups = groups(&parts.grids()[part], &given);
        let [sent, received] = [&given, &taken].map(|lists| messages(lists, each));
        let windows = |lists: Vec<(usize, Vec<Window>)>| -> Vec<Vec<Window>> {
            lists.into_iter().map(|(_, windows)| windows).collect()
        };
        let columns = |before: usize, lists: &[Vec<Window>]| {
            PackedColumns::new(gpu, (layout, levels), before, lists)
        };
        let to_others = sent.last().map_or(0, |message| message.bytes.end) / size_of::<R>();
        let mut all = windows(given);
        all.push(source);
        let (given, taken) = (columns(0, &all)?, columns(0, &windows(taken))?);
        let own = columns(to_others, &[target])?;
        let bytes = [&given, &taken].map(|columns| columns.elements()[1] * size_of::<R>());
        let parcels = Parcels::new(gpu, bytes, [sent, received])?;
        let kernels = MarginKernels::new::<R>(gpu, layout, levels)?;
        Ok(Self { kernels, parcels, exchange, gb_per_s, given, taken, own, groups })
    }

    /// The columns of the microphysics along the cuts, which are given to other parts, and all others.
    pub(super) fn groups(&self) -> &[Vec<ActiveColumns>; 2] {
        &self.groups
    }

    /// The way of the messages, and the bytes that go to other devices, without times.
    pub(super) fn about(&self) -> ExchangeTimes {
        let bytes = self.parcels.sent().iter().map(|message| message.bytes.len()).sum();
        let (way, gb_per_s) = (self.exchange.about(), self.gb_per_s);
        ExchangeTimes { way, gb_per_s, bytes, mean_s: None, exposed_s: None }
    }

    /// Returns `true` if the refreshment can be recorded in a graph.
    pub(super) fn are_recordable(&self) -> bool {
        self.exchange.is_recordable()
    }

    /// Sets the cells of the margins in the fields of all states to those of their owners. All parts call it as often.
    pub(super) fn refresh<R: GpuPrecision>(
        &self,
        branch: Branch<'_>,
        fields: &Buffer<R>,
    ) -> Result<()> {
        let Self { kernels, parcels, exchange, given, taken, own, .. } = self;
        kernels.pack(branch, fields, (given, parcels.outgoing()))?;
        exchange.exchange(branch, parcels)?;
        kernels.unpack(branch, fields, (taken, parcels.incoming()))?;
        kernels.unpack(branch, fields, (own, parcels.outgoing()))
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, s};

    use super::*;
    use crate::grid::{Shape, Side, Sides};

    /// Both groups together are the columns of the microphysics, each once, and all that other parts need of them are in
    /// the first.
    #[test]
    fn what_others_need_is_in_the_first_group() {
        let sides = [Side::Periodic, Side::Specified, Side::Open];
        let shape = Shape { nx: 40, ny: 44, nz: 1 };
        for (x, y) in sides.into_iter().flat_map(|x| sides.map(|y| (x, y))) {
            let grid = Grid::whole(shape, [1.0; 2], Sides { west: x, east: x, south: y, north: y });
            for (cuts, margin, has_others) in [
                ([&[20][..], &[22][..]], 3, true),
                ([&[][..], &[15, 30][..]], 4, true),
                ([&[4][..], &[5][..]], 10, false),
                ([&[20][..], &[][..]], 45, false),
            ] {
                let parts = Parts::new(&grid, cuts, [margin; 2]);
                for (number, part) in parts.grids().iter().enumerate() {
                    let Columns { given, .. } = Columns::of(&parts, number);
                    let [first, others] = groups(part, &given);
                    let mut seen = Array2::<u8>::zeros((part.shape.ny, part.shape.nx));
                    for (mark, windows) in [(1, &first), (2, &others)] {
                        for ActiveColumns { rows, columns } in windows {
                            let mut cells = seen.slice_mut(s![rows.clone(), columns.clone()]);
                            assert!(cells.iter().all(|cell| *cell == 0), "called twice");
                            cells.fill(mark);
                        }
                    }
                    let called = part.unspecified();
                    assert_eq!(called.of_plane(&seen).iter().filter(|n| **n == 0).count(), 0);
                    let all = seen.iter().filter(|n| **n > 0).count();
                    assert_eq!(all, called.shape(1).columns());
                    let needed = given.iter().flat_map(|(_, windows)| windows);
                    assert!(
                        needed.into_iter().all(|window| {
                            window.of_plane(&seen).iter().all(|group| *group != 2)
                        })
                    );
                    assert!(!has_others || !others.is_empty());
                }
            }
        }
    }

    /// A part packs for another one the columns that that one unpacks, message by message.
    #[test]
    fn messages_have_the_same_columns_on_both_ways() {
        let shape = Shape { nx: 21, ny: 20, nz: 2 };
        let sides = Sides { south: Side::Open, north: Side::Open, ..Sides::all(Side::Periodic) };
        let grid = Grid::whole(shape, [1.0, 1.0], sides);
        for (cuts, margin) in [([&[9][..], &[12][..]], 3), ([&[10][..], &[][..]], 25)] {
            let parts = Parts::new(&grid, cuts, [margin; 2]);
            let all: Vec<Columns> =
                (0..parts.grids().len()).map(|n| Columns::of(&parts, n)).collect();
            for (n, Columns { given, taken, own }) in all.iter().enumerate() {
                assert!(
                    given.iter().chain(taken).all(|(peer, _)| *peer != n),
                    "a message to oneself"
                );
                for (peer, windows) in given {
                    let (_, there) = all[*peer].taken.iter().find(|(from, _)| *from == n).unwrap();
                    let shapes = |windows: &[Window]| -> Vec<_> {
                        windows.iter().map(|window| window.shape(1)).collect()
                    };
                    assert_eq!(shapes(windows), shapes(there));
                }
                let missing: usize = taken.iter().map(|(_, windows)| columns_of(windows)).sum();
                let part = &parts.grids()[n];
                let owned = part.owned().shape(1).columns();
                assert_eq!(missing + columns_of(&own[1]) + owned, part.shape.columns());
                assert_eq!(own[0].is_empty(), margin == 3);
            }
        }
    }

    #[test]
    fn messages_lie_behind_one_another() {
        let window = |columns: usize| vec![Window { rows: 0..2, columns: 0..columns }];
        let found = messages(&[(3, window(2)), (1, window(5))], 8);
        let message = |peer, bytes| Message { peer, bytes };
        assert_eq!(found, [message(3, 0..32), message(1, 32..112)]);
    }
}

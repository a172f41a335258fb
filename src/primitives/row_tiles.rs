//! The rows of a sparse matrix in tiles with about the same number of entries, which blocks of threads
//! work on.

/// Entries that are read together: a tile is kept from the last multiple of them on.
const TOGETHER: usize = 4;

/// A list of tiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowTiles {
    /// First row, number of rows, first entry, entry beyond the last. A row that no tile holds is
    /// cut into pieces, and piece n has −1 − n in place of the number of rows.
    pub tiles: Vec<[i32; 4]>,
    /// The rows that were cut: row, first piece, piece beyond the last, 0.
    pub cuts: Vec<[i32; 4]>,
}

impl RowTiles {
    /// Tiles of at most `capacity` entries, those that stand before the first in its group of four
    /// counted, and at most `most_rows` rows. `starts` says where each row begins, and where the last
    /// ends.
    ///
    /// # Panics
    ///
    /// When a tile holds no group of four entries or no row, and when an entry has a number that does
    /// not fit into 32 bits.
    pub fn new(starts: &[usize], capacity: usize, most_rows: usize) -> Self {
        assert!(capacity >= TOGETHER && most_rows > 0, "{capacity} entries, {most_rows} rows");
        let whole = |n: usize| i32::try_from(n).expect("entries are numbered by 32 bits");
        let room = |first: usize| first / TOGETHER * TOGETHER + capacity;
        let rows = starts.len().saturating_sub(1);
        let (mut made, mut pieces, mut row) = (Self::default(), 0, 0);
        while row < rows {
            let first = starts[row];
            let most = rows.min(row + most_rows);
            let held = starts[row + 1..=most].iter().take_while(|&&end| end <= room(first)).count();
            if held > 0 {
                let end = starts[row + held];
                made.tiles.push([whole(row), whole(held), whole(first), whole(end)]);
                row += held;
                continue;
            }
            let (mut from, end, before) = (first, starts[row + 1], pieces);
            while from < end {
                let to = end.min(room(from));
                made.tiles.push([whole(row), -1 - pieces, whole(from), whole(to)]);
                pieces += 1;
                from = to;
            }
            made.cuts.push([whole(row), before, pieces, 0]);
            row += 1;
        }
        made
    }

    /// Pieces of all rows that were cut.
    pub fn pieces(&self) -> usize {
        self.cuts.last().map_or(0, |cut| cut[2] as usize)
    }
}

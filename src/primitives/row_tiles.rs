//! Tiles: groups of rows of a sparse matrix with about equal numbers of entries, one for each block of threads.

/// Entries of a wide load: a tile is loaded from the last multiple of this number on.
const ENTRIES_PER_LOAD: usize = 4;

/// A list of tiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowTiles {
    /// First row, number of rows, first entry, end of the entries. A row that exceeds a tile is cut into pieces, and
    /// piece n has −1 − n in place of the number of rows.
    pub tiles: Vec<[i32; 4]>,
    /// The rows that are cut: row, first piece, end of the pieces, 0.
    pub cuts: Vec<[i32; 4]>,
}

impl RowTiles {
    /// Tiles of at most `most_rows` rows and `capacity` entries, including the entries before the first one in its wide
    /// load. `starts` has the beginning of each row and the end of the last.
    ///
    /// # Panics
    ///
    /// When a tile has no room for four entries or for a row, and when the number of an entry exceeds 32 bits.
    pub fn new(starts: &[usize], capacity: usize, most_rows: usize) -> Self {
        assert!(
            capacity >= ENTRIES_PER_LOAD && most_rows > 0,
            "{capacity} entries, {most_rows} rows"
        );
        let whole = |n: usize| i32::try_from(n).expect("entries are numbered by 32 bits");
        let room = |first: usize| first / ENTRIES_PER_LOAD * ENTRIES_PER_LOAD + capacity;
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

    /// Number of pieces of all rows that are cut.
    pub fn pieces(&self) -> usize {
        self.cuts.last().map_or(0, |cut| cut[2] as usize)
    }
}

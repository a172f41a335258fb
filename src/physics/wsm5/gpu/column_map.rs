//! Map from threads of the microphysics to columns of the grid.

use crate::cuda_abi::shared_struct;

shared_struct! {
    /// The columns that threads process, and their positions in the fields.
    #[derive(PartialEq, Eq, Hash)]
    pub struct Region {
        /// Elements of a row of the fields.
        nx: i32, "1";
        /// Elements of a level of the fields.
        level: i32, "1";
        /// Index of the first column that threads process, j nx + i.
        first: i32, "1";
        /// Columns of each row that threads process: those of the region, and columns beside them that fill up memory
        /// sectors.
        width: i32, "1";
        /// Number of columns that threads process.
        count: i32, "1";
        /// Columns of a row before the first one of the region.
        before: i32, "1";
        /// Columns of the region in each row.
        own: i32, "1";
        /// Factor for the row of column n without a division: 2 n times this, divided by 2^32 and by 2 to the
        /// `row_shift`.
        row_factor: u32, "1";
        /// See `row_factor`.
        row_shift: i32, "1";
    }
}

impl Region {
    /// The given rows and columns of a grid. Threads process groups of `together` columns if rows begin at multiples of
    /// that number.
    pub fn within(
        [ny, nx]: [usize; 2],
        rows: std::ops::Range<usize>,
        columns: std::ops::Range<usize>,
        together: usize,
    ) -> Self {
        let number = |count: usize| count as i32;
        let together = if nx.is_multiple_of(together) { together } else { 1 };
        let begin = columns.start / together * together;
        let width = columns.end.next_multiple_of(together) - begin;
        let (row_factor, row_shift) = reciprocal(width);
        Self {
            nx: number(nx),
            level: number(ny * nx),
            first: number(rows.start * nx + begin),
            width: number(width),
            count: number(rows.len() * width),
            before: number(columns.start - begin),
            own: number(columns.len()),
            row_factor,
            row_shift,
        }
    }

    /// Constants of kernels compiled for one region; all zero for kernels that take the region as an argument.
    pub fn constants(made_for: Option<Self>) -> [(&'static str, i32); 9] {
        let of = |number: fn(Self) -> i32| made_for.map_or(0, number);
        [
            ("REGION_NX", of(|region| region.nx)),
            ("REGION_LEVEL", of(|region| region.level)),
            ("REGION_FIRST", of(|region| region.first)),
            ("REGION_WIDTH", of(|region| region.width)),
            ("REGION_COUNT", of(|region| region.count)),
            ("REGION_BEFORE", of(|region| region.before)),
            ("REGION_OWN", of(|region| region.own)),
            ("REGION_ROW_FACTOR", of(|region| region.row_factor as i32)),
            ("REGION_ROW_SHIFT", of(|region| region.row_shift)),
        ]
    }
}

/// Factor and shift of a division by a number of up to 31 bits without a divide instruction: `n / divisor` is `(2 n *
/// factor >> 32) >> shift` for all n below 2^31 (Granlund and Montgomery 1994, theorem 4.2).
fn reciprocal(divisor: usize) -> (u32, i32) {
    // Without columns any factor will do.
    let divisor = divisor.max(1) as u64;
    let shift = divisor.next_power_of_two().trailing_zeros();
    ((1u64 << (31 + shift)).div_ceil(divisor) as u32, shift as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exact at the ends of every row, for widths of all lengths.
    #[test]
    fn rows_are_found_without_a_division() {
        const MOST: u64 = i32::MAX as u64;
        for width in (1..=4100).chain((12..31).flat_map(|bits| (1 << bits) - 1..=(1 << bits) + 1)) {
            let (factor, shift) = reciprocal(width);
            let width = width as u64;
            let rows = [0, 1, 2, 3, 70, MOST / width / 3, MOST / width - 1, MOST / width];
            for number in rows.into_iter().flat_map(|row| [row * width, row * width + width - 1]) {
                let number = number.min(MOST);
                let found = ((2 * number * u64::from(factor)) >> 32) >> shift;
                assert_eq!(found, number / width, "{number} / {width}");
            }
        }
    }
}

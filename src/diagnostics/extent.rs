//! Range of latitudes and longitudes of a grid. Longitude is a circle.

use crate::io::mapping::turn;

/// Distance from a pole below which a centre has no longitude, degrees.
const AT_POLE: f64 = 1e-4;
/// Rounding error of a full turn, as a fraction of it.
const ROUNDING: f64 = 1e-4;

/// Outermost latitudes and longitudes of the centres of a grid, degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extent {
    /// From -180 to 180.
    pub west: f64,
    /// From `west` on, up to 360 degrees more.
    pub east: f64,
    /// -90 if the south pole is within the grid.
    pub south: f64,
    /// 90 if the north pole is within the grid.
    pub north: f64,
    /// `true` if the grid goes around the Earth, or around a pole.
    pub is_around: bool,
}

impl Extent {
    /// The extent of the centres from longitudes and latitudes in degrees, row by row; `None` if no centre has finite
    /// coordinates.
    ///
    /// `is_periodic` tells whether the last cell of a row is a neighbour of the first.
    pub(crate) fn of(centres: &[[f64; 2]], nx: usize, is_periodic: bool) -> Option<Self> {
        let is_known = |at: &&[f64; 2]| at.iter().all(|x| x.is_finite());
        let latitudes = || centres.iter().filter(is_known).map(|at| at[1]);
        let mut south = latitudes().reduce(f64::min)?;
        let mut north = latitudes().reduce(f64::max)?;
        let turns = if is_periodic { 0.0 } else { turns_of_rim(centres, nx) };
        // Counterclockwise along the boundary, longitude increases around the north pole and decreases around the south
        // pole.
        if turns > 0.5 {
            north = 90.0;
        }
        if turns < -0.5 {
            south = -90.0;
        }
        let [west, east] = longitudes(centres, nx)?;
        let between = (east - west) / nx.saturating_sub(1).max(1) as f64;
        let closes = is_periodic && east - west + between >= 360.0 * (1.0 - ROUNDING);
        if turns.abs() > 0.5 || closes || east - west >= 360.0 {
            return Some(Self { west: -180.0, east: 180.0, south, north, is_around: true });
        }
        let shift = turn(west) - west;
        Some(Self { west: west + shift, east: east + shift, south, north, is_around: false })
    }
}

/// Winding number of longitude around the Earth along the outermost centres, counterclockwise.
fn turns_of_rim(centres: &[[f64; 2]], nx: usize) -> f64 {
    let ny = centres.len() / nx;
    let south = 0..nx;
    let east = (1..ny).map(|j| j * nx + nx - 1);
    let north = (0..nx - 1).rev().map(|i| (ny - 1) * nx + i);
    let west = (1..ny.saturating_sub(1)).rev().map(|j| j * nx);
    let rim: Vec<f64> = south
        .chain(east)
        .chain(north)
        .chain(west)
        .map(|cell| centres[cell])
        .filter(|at| at[0].is_finite() && at[1].abs() < 90.0 - AT_POLE)
        .map(|at| at[0])
        .collect();
    let next = rim.iter().cycle().skip(1);
    rim.iter().zip(next).map(|(from, to)| turn(to - from)).sum::<f64>() / 360.0
}

/// The westernmost and easternmost longitude, each continued from its neighbour without jumps.
fn longitudes(centres: &[[f64; 2]], nx: usize) -> Option<[f64; 2]> {
    let mut extent: Option<[f64; 2]> = None;
    let mut row_start: Option<f64> = None;
    for row in centres.chunks(nx) {
        let mut before = row_start;
        let mut is_first = true;
        for at in row.iter().filter(|at| at[0].is_finite() && at[1].abs() < 90.0 - AT_POLE) {
            let here = before.map_or(at[0], |before| before + turn(at[0] - before));
            before = Some(here);
            if is_first {
                (row_start, is_first) = (before, false);
            }
            extent = Some(extent.map_or([here; 2], |[w, e]| [w.min(here), e.max(here)]));
        }
    }
    extent
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(nx: usize, ny: usize, at: impl Fn(f64, f64) -> [f64; 2]) -> Vec<[f64; 2]> {
        (0..nx * ny).map(|c| at((c % nx) as f64, (c / nx) as f64)).collect()
    }

    #[test]
    fn the_date_line_is_no_edge() {
        for west in [176.5, 178.5] {
            let centres = grid(12, 10, |i, j| [turn(west + 0.3 * i), -46.0 + 0.2 * j]);
            let found = Extent::of(&centres, 12, false).expect("an extent");
            assert!((found.west - west).abs() < 1e-9 && (found.east - west - 3.3).abs() < 1e-9);
            assert!(!found.is_around && found.south == -46.0);
        }
    }

    #[test]
    fn a_pole_within_the_grid_has_all_longitudes() {
        for side in [1.0, -1.0] {
            // Seen from above the pole, x to the right; the southern hemisphere is mirrored.
            let at = |i: f64, j: f64| {
                let (x, y) = (0.4 * (i - 5.2), 0.4 * (j - 4.7));
                [x.atan2(-side * y).to_degrees(), side * (90.0 - x.hypot(y))]
            };
            let found = Extent::of(&grid(12, 10, at), 12, false).expect("an extent");
            assert!(found.is_around, "{found:?}");
            assert_eq!(if side > 0.0 { found.north } else { -found.south }, 90.0);
            // A grid beside the pole has only some of the longitudes.
            let shifted = |i: f64, j: f64| at(i + 8.0, j);
            let found = Extent::of(&grid(12, 10, shifted), 12, false).expect("an extent");
            assert!(!found.is_around && found.east - found.west < 180.0, "{found:?}");
        }
    }

    #[test]
    fn a_grid_around_the_earth_closes() {
        let centres = grid(36, 5, |i, j| [turn(10.0 * i), 10.0 * j - 20.0]);
        assert!(Extent::of(&centres, 36, true).expect("an extent").is_around);
        let open = Extent::of(&centres, 36, false).expect("an extent");
        assert!(!open.is_around && (open.east - open.west - 350.0).abs() < 1e-9);
        assert_eq!((open.south, open.north), (-20.0, 20.0));
        assert_eq!(Extent::of(&[[f64::NAN, 1.0]], 1, false), None);
    }
}

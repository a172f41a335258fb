//! Noise on a level of the grid with a given correlation length.
//!
//! # Decisions
//!
//! **White noise is smoothed with weights of unit norm.** The squares of the Gaussian's weights add up to 1, and white
//! noise continues beyond the sides, so that the variance is 1 everywhere.

use crate::counter_rng::Random;
use crate::grid::Grid;

/// Half width of the filter in standard deviations: weights beyond are below exp(-8).
const CUTOFF: f64 = 4.0;

/// Generator of levels of noise with mean 0, variance 1 everywhere, and the correlation exp(-d² / 2 L²) at the distance
/// d.
#[derive(Clone, Debug)]
pub(super) struct Noise {
    x: Filter,
    y: Filter,
}

/// Filter of white noise along an axis.
#[derive(Clone, Debug)]
struct Filter {
    /// Cells of the axis.
    count: usize,
    is_periodic: bool,
    /// Weights from `reach` cells before a cell to `reach` cells behind it; the sum of their squares is 1.
    weights: Vec<f64>,
}

impl Filter {
    /// A filter for the correlation length `length`, in cells.
    ///
    /// The correlation of smoothed noise is a Gaussian of √2 times the width of the filter.
    fn new(count: usize, is_periodic: bool, length: f64) -> Self {
        let width = length / std::f64::consts::SQRT_2;
        let reach = (CUTOFF * width).ceil() as usize;
        let weight = |n: usize| {
            let away = n.abs_diff(reach) as f64 / width.max(f64::MIN_POSITIVE);
            if n == reach { 1.0 } else { (-0.5 * away * away).exp() }
        };
        let mut filter =
            Self { count, is_periodic, weights: (0..=2 * reach).map(weight).collect() };
        let norm = filter.shares().iter().map(|share| share * share).sum::<f64>().sqrt();
        filter.weights.iter_mut().for_each(|weight| *weight /= norm);
        filter
    }

    fn reach(&self) -> usize {
        self.weights.len() / 2
    }

    /// Weight of each cell: on a short periodic axis a cell occurs more than once.
    fn shares(&self) -> Vec<f64> {
        if !self.is_periodic {
            return self.weights.clone();
        }
        let mut shares = vec![0.0; self.count];
        for (n, weight) in self.weights.iter().enumerate() {
            shares[n % self.count] += weight;
        }
        shares
    }

    /// Number of cells of white noise.
    fn extent(&self) -> usize {
        self.count + 2 * self.reach()
    }

    /// Index of such a cell; on a periodic axis repeated cells have the same index.
    fn number(&self, at: usize) -> u64 {
        let cell = at as i64 - self.reach() as i64;
        let cell = if self.is_periodic { cell.rem_euclid(self.count as i64) } else { cell };
        cell as u64
    }
}

impl Noise {
    /// Noise with a correlation length, m, on a grid.
    pub(super) fn new(grid: &Grid, length: f64) -> Self {
        let Grid { shape, dx, dy, sides, .. } = *grid;
        Self {
            x: Filter::new(shape.nx, sides.periodic_x(), length / dx),
            y: Filter::new(shape.ny, sides.periodic_y(), length / dy),
        }
    }

    /// A level of noise from the random numbers below `place` in the tree, one for each cell. Shape: (ny, nx).
    pub(super) fn plane(&self, place: Random) -> Vec<f64> {
        let (nx, wide) = (self.x.count, self.x.extent());
        // White noise continues beyond sides that are not periodic, since the variance would be smaller near them
        // otherwise.
        let row = |j: usize| {
            let place = place.at(self.y.number(j));
            let white: Vec<f64> = (0..wide).map(|i| place.at(self.x.number(i)).normal()).collect();
            white.windows(self.x.weights.len()).map(|near| dot(near, &self.x.weights)).collect()
        };
        let rows: Vec<Vec<f64>> = (0..self.y.extent()).map(row).collect();
        let mut plane = vec![0.0; nx * self.y.count];
        for (near, out) in rows.windows(self.y.weights.len()).zip(plane.chunks_mut(nx)) {
            for (row, weight) in near.iter().zip(&self.y.weights) {
                out.iter_mut().zip(row).for_each(|(sum, x)| *sum += weight * x);
            }
        }
        plane
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Shape, Side, Sides};

    const DX: f64 = 10e3;

    fn grid(nx: usize, ny: usize, side: Side) -> Grid {
        Grid::whole(Shape { nx, ny, nz: 1 }, [DX; 2], Sides::all(side))
    }

    /// The mean over planes of the products of values at two points.
    fn product(planes: &[Vec<f64>], a: usize, b: usize) -> f64 {
        planes.iter().map(|plane| plane[a] * plane[b]).sum::<f64>() / planes.len() as f64
    }

    #[test]
    fn variance_is_one_everywhere_and_correlation_falls_with_distance() {
        const COUNT: usize = 4000;
        let (nx, ny) = (12, 9);
        for side in [Side::Specified, Side::Periodic] {
            let noise = Noise::new(&grid(nx, ny, side), 3.0 * DX);
            let place = Random::new(11).named(&side.to_string());
            let planes: Vec<_> = (0..COUNT).map(|n| noise.plane(place.at(n as u64))).collect();
            // Five standard deviations of an estimate from so many planes.
            let limit = 5.0 * (2.0 / COUNT as f64).sqrt();
            for at in [0, nx - 1, nx * ny / 2, nx * ny - 1] {
                let mean = planes.iter().map(|plane| plane[at]).sum::<f64>() / COUNT as f64;
                assert!(mean.abs() < limit, "{side} {at}: mean {mean}");
                let variance = product(&planes, at, at);
                assert!((variance - 1.0).abs() < limit, "{side} {at}: variance {variance}");
            }
            for away in [1, 3, 5] {
                let d = away as f64;
                // On a ring two points are also correlated by the longer way.
                let of = |d: f64| (-d * d / 18.0).exp();
                for (count, to, name) in [(nx, away, "x"), (ny, away * nx, "y")] {
                    let found = product(&planes, 0, to);
                    let expected = match side {
                        Side::Periodic => around(count, away),
                        _ => of(d),
                    };
                    let off = (found - expected).abs();
                    assert!(off < limit, "{side} {name} {away}: {found}, not {expected}");
                }
            }
        }
    }

    /// Correlation on a ring of `count` cells, for a length of three cells.
    fn around(count: usize, away: usize) -> f64 {
        let sum = |away: i64| {
            let round = |n: i64| (-((away + n * count as i64) as f64).powi(2) / 18.0).exp();
            (-3..=3).map(round).sum::<f64>()
        };
        sum(away as i64) / sum(0)
    }

    #[test]
    fn periodic_sides_meet_and_length_nought_leaves_cells_alone() {
        let (nx, ny) = (10, 4);
        let place = Random::new(5);
        let noise = Noise::new(&grid(nx, ny, Side::Periodic), 20.0 * DX);
        let plane = noise.plane(place);
        let step = |a: usize, b: usize| (plane[a] - plane[b]).abs();
        // Smooth across the seam too: nearly uniform here.
        assert!(step(0, nx - 1) < 0.2 && step(0, 1) < 0.2, "{plane:?}");
        let white = Noise::new(&grid(nx, ny, Side::Specified), 0.0).plane(place);
        assert_eq!(white[nx + 2], place.at(1).at(2).normal());
    }
}

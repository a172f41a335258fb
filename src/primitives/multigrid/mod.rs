//! Multigrid for the equation of a potential on a rectangle of cells, as a preconditioner of conjugate gradients.
//!
//! Neighbouring cells are connected by conductances, and the equation of a cell is
//! `Σ over neighbours K (x - x of the neighbour) = b`. A V-cycle is an approximate solution that is linear in b and
//! symmetric: two steps of relaxation, the correction of what remains on a grid of every second cell, and the same two
//! steps in reverse order. With it conjugate gradients take as many iterations on a large grid as on a small one.
//!
//! Source: Alcouffe, Brandt, Dendy, Painter 1981, SIAM J. Sci. Stat. Comput. 2, 430-454, and Dendy 1982, J. Comput.
//! Phys. 48, 366-386 (interpolation by the equation, coarse matrices by Galerkin's method).
//!
//! # Decisions
//!
//! **Interpolation follows the conductances** (`transfer`), and the coarse matrices are `Pᵀ A P` (`galerkin`). With
//! bilinear interpolation and averaged conductances smooth coefficients took 9 iterations to 1e-8 too, but random ones of
//! a contrast of 100 took 29 to 34 on 1000 x 1000 cells and more on larger grids; with these it is 23.
//!
//! **A weight of interpolation is never below a part in 50 of the diagonal.** Coarse matrices of rough coefficients have
//! some couplings of the wrong sign, whose sums can vanish; dividing by these cost twice as many iterations.
//!
//! **Relaxation has two steps of Jacobi's method,** of lengths that damp the upper part of the spectrum together. One
//! step would be as fast for smooth coefficients (10 iterations instead of 8, which cost less each), but take 33 to 90
//! iterations for rough ones; colours, as in the method of Gauss and Seidel, do not exist on periodic grids of any
//! extent.
//!
//! **Only the direction of strong coupling is coarsened where one is 2.5 times (`STRONG`) the other,** as for cells that
//! are much longer than wide, or on grids of few rows.
//!
//! **A cycle is computed in single precision,** from matrices that are set up in double precision. It halves the
//! memory traffic, and the number of iterations is the same; residuals and solution are in double precision.
//!
//! **Neighbours wrap around everywhere.** At sides that are not periodic the coupling is 0, so that the loops do not
//! distinguish them. Beyond such a side the potential is 0, which is a part of the diagonal.

mod cycle;
mod galerkin;
mod stencil;
mod transfer;

pub(crate) use cycle::Workspace;
pub use stencil::Conductances;

use rayon::prelude::*;

use super::sums::power_of_two;
use stencil::Stencil;
use transfer::Interpolation;

/// Lengths of the two steps of relaxation, over the diagonal: `(1 - 0.5 λ)(1 - 1.3 λ)` is at most 0.48 from a quarter of
/// the spectrum, λ = 0.5, to its upper end at 2.
pub(crate) const STEPS: [f32; 2] = [0.5, 1.3];

/// Ratio of mean couplings in x and y from which on the stronger direction alone is coarsened.
const STRONG: f64 = 2.5;

/// Diagonal of the last cell, over that of the first grid, below which it is the rounding error of 0.
const ROUNDING: f64 = 1e-9;

/// Numbers of a cell in the planes of interpolation weights.
pub(crate) const WEIGHTS: usize = 8;

/// A grid of the hierarchy: its matrix, scaled, and the interpolation from the next coarser one.
///
/// All planes are (ny, nx). A coupling is the negative of an entry of the matrix; it is 0 where there is no neighbour.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Level {
    /// Cells in x and y.
    pub(crate) extents: [usize; 2],
    /// `true` for the directions in which the next grid has every second cell.
    pub(crate) halved: [bool; 2],
    /// Couplings to the neighbours in the west and in the south.
    pub(crate) couplings: [Vec<f32>; 2],
    /// Couplings to the neighbours in the south-west and in the south-east; empty if there are none.
    pub(crate) corners: [Vec<f32>; 2],
    /// Diagonal of the matrix.
    pub(crate) diagonal: Vec<f32>,
    /// Reciprocals of the diagonal; 0 for an equation without entries.
    pub(crate) inverse: Vec<f32>,
    /// Interpolation weights: [`WEIGHTS`] planes of the next coarser grid, see `transfer`; empty on the last grid.
    pub(crate) weights: Vec<f32>,
}

impl Level {
    /// Number of cells.
    pub(crate) fn cells(&self) -> usize {
        self.extents[0] * self.extents[1]
    }

    fn new(stencil: &Stencil, scale: f64) -> Self {
        let rounded = |values: &[f64]| -> Vec<f32> {
            values.par_iter().map(|value| (value * scale) as f32).collect()
        };
        let Stencil { west, south, south_west, south_east, diagonal, .. } = stencil;
        let reciprocal = |d: &f64| if *d > 0.0 { (1.0 / (d * scale)) as f32 } else { 0.0 };
        Self {
            extents: stencil.extents,
            halved: [false; 2],
            couplings: [rounded(west), rounded(south)],
            corners: [rounded(south_west), rounded(south_east)],
            diagonal: rounded(diagonal),
            inverse: diagonal.par_iter().map(reciprocal).collect(),
            weights: Vec::new(),
        }
    }
}

/// The hierarchy of grids, from that of the equation to a single cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Multigrid {
    levels: Vec<Level>,
    exponent: i32,
}

impl Multigrid {
    /// The hierarchy of an equation.
    pub fn new(conductances: &Conductances) -> Self {
        let mut stencil = Stencil::new(conductances);
        let top = stencil.diagonal.par_iter().copied().reduce(|| 0.0, f64::max);
        let exponent = exponent_of(top);
        let scale = power_of_two(-exponent);
        let mut levels = Vec::new();
        loop {
            let [nx, ny] = stencil.extents;
            if nx * ny <= 1 {
                // Without sides that fix the potential, the last diagonal is 0.
                stencil
                    .diagonal
                    .iter_mut()
                    .filter(|d| **d <= ROUNDING * top)
                    .for_each(|d| *d = 0.0);
                levels.push(Level::new(&stencil, scale));
                return Self { levels, exponent };
            }
            let halved = coarsened_directions(&stencil);
            let interpolation = Interpolation::new(&stencil, halved);
            let coarse = galerkin::coarse_matrix(&stencil, &interpolation);
            let mut level = Level::new(&stencil, scale);
            level.halved = halved;
            level.weights = interpolation.weights();
            levels.push(level);
            stencil = coarse;
        }
    }

    /// The grids, the finest first.
    pub(crate) fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Cells of the finest grid.
    pub fn cells(&self) -> usize {
        self.levels[0].cells()
    }

    /// The matrices are scaled by 2 to the power of minus this.
    pub(crate) fn exponent(&self) -> i32 {
        self.exponent
    }
}

/// Exponent e such that a positive number is in 2ᵉ [1/2, 1); 0 for zero and numbers that are not finite. At the ends of
/// the range it is limited so that its power of two and the reciprocal are normal.
pub(crate) fn exponent_of(number: f64) -> i32 {
    const MOST: i32 = 500;
    /// Exponent of 1/2 as it is stored, and the bits behind the exponent.
    const BIAS: i32 = 1022;
    const SIGNIFICAND_BITS: u32 = 52;
    if number > 0.0 && number.is_finite() {
        ((number.to_bits() >> SIGNIFICAND_BITS) as i32 - BIAS).clamp(-MOST, MOST)
    } else {
        0
    }
}

/// The directions in which the next grid has every second cell.
fn coarsened_directions(stencil: &Stencil) -> [bool; 2] {
    let [nx, ny] = stencil.extents;
    let mean = |couplings: &[f64]| couplings.iter().sum::<f64>() / couplings.len() as f64;
    let [x, y] = [mean(&stencil.west), mean(&stencil.south)];
    let halved = [nx > 1 && (ny == 1 || x * STRONG > y), ny > 1 && (nx == 1 || y * STRONG > x)];
    if halved == [false; 2] { [nx > 1, ny > 1] } else { halved }
}

//! WSM5 cloud microphysics: vapour, cloud water, rain, cloud ice and snow in columns.
//!
//! `simd::columns::ColumnBlock::call` is the table of contents of the scheme: it calls the processes in order. Each rate
//! is a pure function of scalars, grouped in files by kind. Signs are in [`balance`] for rates and in [`melt`] for
//! instantaneous changes.
//!
//! It computes any number of columns side by side: [`physics::call`](crate::physics::call) as many as there are SIMD
//! lanes, on a CPU with vector instructions; [`Column`] a single one, which is the reference.
//!
//! There are two variants, [`Sedimentation`], by their sedimentation: semi-Lagrangian ([`sedimentation`]) or
//! sub-stepped ([`substepped_sedimentation`]). Terminal velocities are in [`slope`]. A run holds the scheme as an object,
//! [`Wsm5`].
//!
//! # Decisions
//!
//! **On the CPU 32 columns are computed side by side** (`simd::columns`, [`sedimentation_work`]). This applies to
//! semi-Lagrangian sedimentation in single precision, and to reflectivity and radii (`diagnose`) except in the few cells
//! of melting snow. The formulas are the same generic functions as everywhere; loops over columns call them. The
//! compiler vectorises these loops, since everything is inlined, each column writes to its own lane only, and
//! `simd::Lane` has `exp`, `ln`, `log10`, `cbrt` and `powf` without branch, call or table, within one ULP (`validation/host/lanes`). The
//! power of a slope is computed from the argument of its root, as on a GPU. `pulp` compiles the loops for AVX-512 and
//! for AVX2 with FMA, and the better set of the processor is picked at run time; both give the same bits, on any number
//! of threads. On other processors and in double precision, columns are computed one by one: the same loops with a
//! single column in each row, and the functions of the standard library. That is the reference for twins and kernels.
//! Both are held to the same limits against WRF's results. The loops select, and skip levels in which no column is
//! active.
//!
//! **Single columns have no code of their own,** except for sub-stepped sedimentation, which is not vectorised. Their
//! bits are those of a driver of plain numbers that branches in each cell and searches for arrived layers, an oracle of
//! the tests (`host::wsm5::one_lane`). What differs between one column and many is the number type: SIMD lanes of single
//! precision have functions of their own, and drop subnormal numbers (`Real::normal_in_lanes`).
//!
//! **Potential temperature is divided exactly, also with fast-math** (`kernels/primitives/div_rn.cuh`). An error of 2
//! ULP of 300 K in every step would add up to more than any other error. If a call does not change the temperature, the
//! potential temperature does not change either (`theta_after` in `fields`): the conversion to temperature and back, as
//! in WRF, rounds it by one ULP of 300 K in every step. After 60 steps of a storm in single precision that had made the
//! error of quiet air six times as large.
//!
//! **Every process has a factor, 1 in the scheme** (`factors`; `advection::perturbation` for flux terms). The tests set
//! each factor to 1.01 in turn and fail if that is not detected. A product with 1 changes no bit.

/// Number of species that sediment: rain, snow and ice, in this order.
pub const FALLING_SPECIES: usize = 3;

pub mod balance;
pub mod cell;
pub mod factors;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod ice;
pub mod melt;
pub mod params;
pub mod radii;
pub mod reflectivity;
mod run;
pub mod scheme;
pub mod sedimentation;
pub mod sedimentation_work;
pub mod slope;
pub mod step;
pub mod substepped_sedimentation;
pub mod tuning;
pub mod warm;

mod columns;
mod diagnose;
mod fields;
mod simd;

pub use cell::{Air, Cell, Coefficients, StepStart};
pub use columns::{Work, instructions};
pub use diagnose::diagnose;
pub(crate) use fields::theta_after;
pub use fields::{DiagnosticFields, block};
pub use run::{ABOUT, Wsm5};
pub use simd::load_store::Vectorised;
pub use step::Precipitation;

use crate::physics::check_length;
use params::SchemeConstants;
use scheme::Scheme;
use simd::columns::ColumnBlock;
use substepped_sedimentation::SubStepWork;

/// Variant of the scheme, named after its sedimentation.
///
/// | | `SemiLagrangian` | `Substepped` |
/// |---|---|---|
/// | sedimentation of rain and snow | semi-Lagrangian, each species separately | upstream differences in equal sub-steps, the same number for rain and snow |
/// | terminal velocity without rain or snow | 0 | that of the smallest drops and flakes; it counts in the number of sub-steps |
/// | melting of snow | once, after sedimentation, with the new size distribution | in every sub-step, with the size distribution at the start, and not divided by the density |
/// | intercept of snow | at the current temperature | at the temperature at the start of the minor step |
/// | freezing of rain | with the drop size after sedimentation; supercooling capped at 50 K | with the drop size at the start of the minor step; no cap |
/// | saturation | vapour pressure at most 0.99 of the pressure | no bound |
/// | reported precipitation of a call | of all minor steps | of the last minor step; only the sums over the run are complete |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sedimentation {
    /// WRF since 3.2 (JH10).
    #[default]
    SemiLagrangian,
    /// The WRF of July 2008, with which this scheme was first measured on GPUs.
    Substepped,
}

impl Sedimentation {
    /// All variants.
    pub const ALL: [Self; 2] = [Self::SemiLagrangian, Self::Substepped];
}

/// One column, from the ground up.
#[derive(Clone, Debug)]
pub struct Column<R> {
    /// Contents of the cells.
    pub cells: Vec<Cell<R>>,
    /// Their air.
    pub air: Vec<Air<R>>,
    columns: ColumnBlock<R, 1>,
    substeps: SubStepWork<R>,
}

impl<R: SchemeConstants> Column<R> {
    /// A column of `nz` layers.
    pub fn new(nz: usize) -> Self {
        Self {
            cells: vec![Cell::default(); nz],
            air: vec![Air::default(); nz],
            columns: ColumnBlock::new(nz),
            substeps: SubStepWork::new(nz),
        }
    }

    /// One call of the scheme: `dt` seconds, in minor steps of about two minutes at most.
    ///
    /// [`Column::cells`] and rho, p, dz of [`Column::air`] are the input.
    ///
    /// # Panics
    ///
    /// When there are no layers, or the numbers of cells and of air are no longer those of [`Column::new`]; when `dt`
    /// is not a positive number, or takes more minor steps than 31 bits can count.
    pub fn call(&mut self, p: &Scheme<R>, dt: R) -> Precipitation<R> {
        let Self { cells, air, columns, substeps } = self;
        let layers = columns.levels.len();
        assert!(layers > 0, "a column without layers");
        let found = [cells.len(), air.len()];
        assert_eq!(found, [layers; 2], "cells and air of a column of {layers} layers");
        assert_length(dt);
        for (level, (cell, air)) in columns.levels.iter_mut().zip(cells.iter().zip(&*air)) {
            level.cells.put(0, cell);
            // With an Exner function of 1 the potential temperature is the temperature.
            (level.theta, level.exner) = ([cell.t], [R::ONE]);
            (level.rho, level.p, level.dz) = ([air.rho], [air.p], [air.dz]);
        }
        columns.call_alone(p, dt, substeps);
        for (level, (cell, air)) in columns.levels.iter().zip(cells.iter_mut().zip(air)) {
            (*cell, *air) = (level.cells.at(0), level.air(0));
        }
        columns.sums[0]
    }

    /// Numbers of sub-steps in the last minor step: of rain and snow, and of ice; 1 for an absent species.
    pub fn substeps(&self) -> [usize; 2] {
        self.substeps.count()
    }
}

/// Panics on an impossible length of a call, an error of the caller.
pub(crate) fn assert_length<R: SchemeConstants>(dt: R) {
    if let Err(why) = check_length(dt) {
        panic!("{why}");
    }
}

/// Number of minor steps in a call: the nearest to `dt` / 120 s, halves rounded up, at least 1.
pub fn minor_steps<R: SchemeConstants>(dt: R) -> R {
    (dt / R::DT_CLOUD_MAX).round().larger(R::ONE)
}

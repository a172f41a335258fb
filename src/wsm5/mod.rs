//! WSM5 cloud microphysics: vapour, cloud water, rain, cloud ice and snow in columns.
//!
//! [`Column::call`] is the scheme's table of contents: it names the processes in their order.
//! Each rate is a pure function of scalars in the file of its kind; signs stand in [`balance`] for
//! rates and in [`melt`] for instantaneous changes.
//!
//! [`Scheme`] is a scheme of column physics: [`physics::call`](crate::physics::call) computes the columns of a
//! [`block`]. On a CPU with vector instructions it works on many columns side by side (`abreast`, `descent`), with the
//! same functions; [`Column`] is the reference.
//!
//! There are two variants, [`Fallout`], by their sedimentation: semi-Lagrangian ([`fall`]) or sub-stepped
//! ([`substep`]). Terminal velocities are in [`slope`].
//!
//! # Decisions
//!
//! **On the CPU 32 columns are computed side by side** (`abreast`, `descent`). This holds in single precision with
//! semi-Lagrangian sedimentation, and for reflectivity and radii (`diagnose`) except in the few cells of melting snow.
//! The formulas are the generic functions of all other paths; loops over columns call them, and the compiler vectorises
//! these loops, since everything is inlined, writes to its own rows only, and `lanes::Lane` has `exp`, `ln`, `log10`,
//! `cbrt` and `powf` without branch, call or table, within one ULP (`validation/host/lanes`). The power of a slope is
//! computed from the argument of its root, as on a GPU. `pulp` compiles the loops for AVX-512 and for AVX2 with FMA and
//! picks one at run time; both give the same bits, on any number of threads. Elsewhere, and in double precision,
//! columns are computed one by one with the functions of the standard library (`Column`): that is the reference for
//! twins and kernels. Both are judged by the same limits against WRF's results. Single columns have branches; rows of
//! columns have selections, and levels in which no column is active are skipped.
//!
//! **Potential temperature is divided exactly, also with fast-math** (`kernels/primitives/exact.cuh`). An error of 2
//! ULP of 300 K in every step would add up to more than any other error. If a call leaves the temperature as it was,
//! the potential temperature stays as well (`theta_after` in `fields`): the conversion to temperature and back, as in
//! WRF, rounds it by one ULP of 300 K in every step. After 60 steps of a storm in single precision that had made the
//! error of quiet air six times as large.
//!
//! **Every process has a factor, 1 in the scheme** (`factors`; `advection::terms` for flux terms). The tests set each
//! to 1.01 in turn and fail if that goes unnoticed. A product with 1 changes no bit.

/// Number of species that sediment: rain, snow and ice, in this order.
pub const FALLING_SPECIES: usize = 3;

pub mod balance;
pub mod cell;
pub mod factors;
pub mod fall;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod ice;
pub mod melt;
pub mod params;
pub mod radii;
pub mod reflectivity;
pub mod scheme;
pub mod slope;
pub mod step;
pub mod substep;
pub mod tuning;
pub mod warm;

mod abreast;
mod columns;
mod descent;
mod diagnose;
mod fields;
mod gather;

pub use cell::{Air, Cell, Coefficients, Onset};
pub use columns::{Work, instructions};
pub use diagnose::diagnose;
pub use fields::{DiagnosticFields, block};
pub use gather::Vectorised;
pub use step::Precipitation;

use crate::error::{Error, Result};
use fall::Fall;
use params::SchemeConstants;
use scheme::Scheme;
use substep::SubSteps;

/// Variant of the scheme, named after its sedimentation.
///
/// | | `SemiLagrangian` | `Substepped` |
/// |---|---|---|
/// | sedimentation of rain and snow | layers carried down whole, each species by itself | upstream differences in equal sub-steps, as many for rain as for snow |
/// | speed where there is nothing to fall | 0 | that of the smallest drops and flakes; it counts in the number of sub-steps |
/// | melting of snow | once, after the fall, with the new sizes | in every sub-step, with the sizes of the start, and not divided by the density |
/// | intercept of snow | of the present temperature | of the temperature at the start of the minor step |
/// | freezing of rain | with the drop size after the fall; cold counts up to 50 K | with that of the start of the minor step; all cold counts |
/// | saturation | vapour has 0.99 of the pressure at most | no bound |
/// | precipitation of a call | of all minor steps | of the last minor step; only the sums over the run are complete |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fallout {
    /// WRF since 3.2 (JH10).
    #[default]
    SemiLagrangian,
    /// The WRF of July 2008, which the first measurements of this scheme on GPUs were made with.
    Substepped,
}

impl Fallout {
    /// All variants.
    pub const ALL: [Self; 2] = [Self::SemiLagrangian, Self::Substepped];
}

/// One column at work, from the ground up.
#[derive(Clone, Debug)]
pub struct Column<R> {
    /// Contents of the cells.
    pub cells: Vec<Cell<R>>,
    /// Their air.
    pub air: Vec<Air<R>>,
    onset: Vec<Onset<R>>,
    /// The rain whose drop size decides how fast it freezes, kg kg⁻¹.
    qr_sized: Vec<R>,
    n0s_factor: Vec<R>,
    fall: Fall<R>,
    substeps: SubSteps<R>,
}

impl<R: SchemeConstants> Column<R> {
    /// Work space of a column of `nz` layers.
    pub fn new(nz: usize) -> Self {
        Self {
            cells: vec![Cell::default(); nz],
            air: vec![Air::default(); nz],
            onset: vec![Onset::default(); nz],
            qr_sized: vec![R::ZERO; nz],
            n0s_factor: vec![R::ONE; nz],
            fall: Fall::new(nz),
            substeps: SubSteps::new(nz),
        }
    }

    /// One call of the scheme: `dt` seconds, in minor steps of about two minutes at most.
    ///
    /// [`Column::cells`] and rho, p, dz of [`Column::air`] are the input.
    ///
    /// # Panics
    ///
    /// When there are no layers, or no longer as many cells or air as the column was made for; when `dt` is no
    /// positive number, or is more minor steps than 31 bits can count.
    pub fn call(&mut self, p: &Scheme<R>, dt: R) -> Precipitation<R> {
        let layers = self.onset.len();
        assert!(layers > 0, "a column without layers");
        let found = [self.cells.len(), self.air.len()];
        assert_eq!(found, [layers; 2], "cells and air of a column of {layers} layers");
        assert_length(dt);
        let mut sum = Precipitation::default();
        self.set_out(&mut sum);
        let steps = minor_steps(dt);
        let dt_cloud = dt / steps;
        for _ in 0..steps.to_usize().unwrap_or(1) {
            self.minor_step(p, dt_cloud, &mut sum);
        }
        sum
    }

    /// Clips negative condensate and sets the invariants of the call.
    fn set_out(&mut self, sum: &mut Precipitation<R>) {
        for (cell, air) in self.cells.iter_mut().zip(&mut self.air) {
            for q in [&mut cell.qc, &mut cell.qr, &mut cell.qi, &mut cell.qs] {
                sum.clipped += step::clip(air, q);
            }
            cell::settle(cell, air);
        }
        self.fall.set_depths(self.air.iter().map(|air| air.dz));
    }

    /// One minor step: the processes of the scheme in their order.
    fn minor_step(&mut self, p: &Scheme<R>, dt_cloud: R, sum: &mut Precipitation<R>) {
        for ((onset, cell), air) in self.onset.iter_mut().zip(&self.cells).zip(&self.air) {
            *onset = cell::onset(p, air, cell);
        }
        let [rain, snow, ice] = match p.fallout {
            Fallout::SemiLagrangian => self.carry_down(p, dt_cloud, sum),
            Fallout::Substepped => self.sink(p, dt_cloud),
        };
        if p.fallout == Fallout::Substepped {
            (sum.rainncv, sum.snowncv, sum.sr) = (R::ZERO, R::ZERO, R::ZERO);
        }
        step::reach_ground(dt_cloud, self.air[0].dz, rain, snow, ice, sum);
        for (k, (cell, air)) in self.cells.iter_mut().zip(&self.air).enumerate() {
            let onset = &self.onset[k];
            let clipped = step::processes(p, dt_cloud, air, onset, self.qr_sized[k], cell);
            sum.clipped += air.rho * air.dz * clipped;
        }
    }
}

/// Most minor steps of a call: as many as kernels can count.
const MOST_MINOR_STEPS: f64 = i32::MAX as f64;

/// Refuses a length of a call that no call can have.
pub(crate) fn check_length<R: SchemeConstants>(dt: R) -> Result<()> {
    if dt > R::ZERO && minor_steps(dt).f64() <= MOST_MINOR_STEPS {
        return Ok(());
    }
    let most = MOST_MINOR_STEPS * R::DT_CLOUD_MAX.f64();
    Err(Error::Usage(format!(
        "a call of the microphysics of {} s; give a number of seconds above 0 and up to {most:e}",
        dt.f64()
    )))
}

/// The same where it is a fault of the caller.
fn assert_length<R: SchemeConstants>(dt: R) {
    if let Err(why) = check_length(dt) {
        panic!("{why}");
    }
}

/// Number of minor steps in a call: the nearest to `dt` / 120 s, halves rounded up, at least 1.
pub fn minor_steps<R: SchemeConstants>(dt: R) -> R {
    (dt / R::DT_CLOUD_MAX).round().larger(R::ONE)
}

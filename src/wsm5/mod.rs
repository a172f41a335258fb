//! WSM5 cloud microphysics: vapour, cloud water, rain, cloud ice and snow in columns.
//!
//! [`Column::call`] is the table of contents of the scheme: it calls the processes in order. Each rate is a pure
//! function of scalars, grouped in files by kind. Signs are in [`balance`] for rates and in [`melt`] for instantaneous
//! changes.
//!
//! On a CPU with vector instructions [`physics::call`](crate::physics::call) computes many columns side by side
//! (`simd_columns`, `sedimentation_work`) with the same functions; [`Column`] is the reference.
//!
//! There are two variants, [`Sedimentation`], by their sedimentation: semi-Lagrangian ([`sedimentation`]) or
//! sub-stepped ([`substepped_sedimentation`]). Terminal velocities are in [`slope`].
//!
//! # Decisions
//!
//! **On the CPU 32 columns are computed side by side** (`simd_columns`, `sedimentation_work`). This applies to
//! semi-Lagrangian sedimentation in single precision, and to reflectivity and radii (`diagnose`) except in the few
//! cells of melting snow. The formulas are the same generic functions as everywhere; loops over columns call them. The
//! compiler vectorises these loops, since everything is inlined, each column writes to its own lane only, and
//! `simd::Lane` has
//! `exp`, `ln`, `log10`, `cbrt` and `powf` without branch, call or table, within one ULP (`validation/host/lanes`). The
//! power of a slope is computed from the argument of its root, as on a GPU. `pulp` compiles the loops for AVX-512 and
//! for AVX2 with FMA, and the better set of the processor is picked at run time; both give the same bits, on any number
//! of threads. On other processors and in double precision, columns are computed one by one with the functions of the
//! standard library (`Column`): that is the reference for twins and kernels. Both are held to the same limits against
//! WRF's results. Single columns branch; rows of columns select, and skip levels in which no column is active.
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
pub mod scheme;
pub mod sedimentation;
pub mod slope;
pub mod step;
pub mod substepped_sedimentation;
pub mod tuning;
pub mod warm;

mod columns;
mod diagnose;
mod fields;
mod sedimentation_work;
mod simd_columns;
mod simd_load_store;

pub use cell::{Air, Cell, Coefficients, StepStart};
pub use columns::{Work, instructions};
pub use diagnose::diagnose;
pub use fields::{DiagnosticFields, block};
pub use simd_load_store::Vectorised;
pub use step::Precipitation;

use crate::error::{Error, Result};
use params::SchemeConstants;
use scheme::Scheme;
use sedimentation::SemiLagrangianFall;
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

/// Work space of one column, from the ground up.
#[derive(Clone, Debug)]
pub struct Column<R> {
    /// Contents of the cells.
    pub cells: Vec<Cell<R>>,
    /// Their air.
    pub air: Vec<Air<R>>,
    step_start: Vec<StepStart<R>>,
    /// Rain content whose drop size sets the freezing rate, kg kg⁻¹.
    qr_for_slope: Vec<R>,
    n0s_factor: Vec<R>,
    fall: SemiLagrangianFall<R>,
    substeps: SubStepWork<R>,
}

impl<R: SchemeConstants> Column<R> {
    /// Work space of a column of `nz` layers.
    pub fn new(nz: usize) -> Self {
        Self {
            cells: vec![Cell::default(); nz],
            air: vec![Air::default(); nz],
            step_start: vec![StepStart::default(); nz],
            qr_for_slope: vec![R::ZERO; nz],
            n0s_factor: vec![R::ONE; nz],
            fall: SemiLagrangianFall::new(nz),
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
        let layers = self.step_start.len();
        assert!(layers > 0, "a column without layers");
        let found = [self.cells.len(), self.air.len()];
        assert_eq!(found, [layers; 2], "cells and air of a column of {layers} layers");
        assert_length(dt);
        let mut sum = Precipitation::default();
        self.begin_call(&mut sum);
        let steps = minor_steps(dt);
        let dt_cloud = dt / steps;
        for _ in 0..steps.to_usize().unwrap_or(1) {
            self.minor_step(p, dt_cloud, &mut sum);
        }
        sum
    }

    /// Clips negative condensate and sets the invariants of the call.
    fn begin_call(&mut self, sum: &mut Precipitation<R>) {
        for (cell, air) in self.cells.iter_mut().zip(&mut self.air) {
            for q in [&mut cell.qc, &mut cell.qr, &mut cell.qi, &mut cell.qs] {
                sum.clipped += step::clip(air, q);
            }
            cell::set_call_invariants(cell, air);
        }
        self.fall.set_depths(self.air.iter().map(|air| air.dz));
    }

    /// One minor step: the processes of the scheme in their order.
    fn minor_step(&mut self, p: &Scheme<R>, dt_cloud: R, sum: &mut Precipitation<R>) {
        for ((step_start, cell), air) in self.step_start.iter_mut().zip(&self.cells).zip(&self.air)
        {
            *step_start = cell::step_start(p, air, cell);
        }
        let [rain, snow, ice] = match p.fallout {
            Sedimentation::SemiLagrangian => self.sediment_semi_lagrangian(p, dt_cloud, sum),
            Sedimentation::Substepped => self.sediment_substepped(p, dt_cloud),
        };
        if p.fallout == Sedimentation::Substepped {
            (sum.rainncv, sum.snowncv, sum.sr) = (R::ZERO, R::ZERO, R::ZERO);
        }
        step::deposit(dt_cloud, self.air[0].dz, rain, snow, ice, sum);
        for (k, (cell, air)) in self.cells.iter_mut().zip(&self.air).enumerate() {
            let step_start = &self.step_start[k];
            let clipped = step::processes(p, dt_cloud, air, step_start, self.qr_for_slope[k], cell);
            sum.clipped += air.rho * air.dz * clipped;
        }
    }
}

/// Most minor steps of a call, the most that kernels can count.
const MOST_MINOR_STEPS: f64 = i32::MAX as f64;

/// Rejects an impossible length of a call.
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

/// Panics on an impossible length of a call, an error of the caller.
fn assert_length<R: SchemeConstants>(dt: R) {
    if let Err(why) = check_length(dt) {
        panic!("{why}");
    }
}

/// Number of minor steps in a call: the nearest to `dt` / 120 s, halves rounded up, at least 1.
pub fn minor_steps<R: SchemeConstants>(dt: R) -> R {
    (dt / R::DT_CLOUD_MAX).round().larger(R::ONE)
}

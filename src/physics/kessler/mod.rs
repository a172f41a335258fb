//! Kessler warm-rain microphysics: vapour, cloud water and rain in columns, without ice at any temperature.
//!
//! The scheme of WRF's `mp_physics = 1`, from the COMMAS model. One call, in this order:
//!
//! 1. Rain falls by upstream differences, in sub-steps whose number is recomputed after each ([`sedimentation`]).
//! 2. In each cell, once for the whole call ([`cell::processed`]): cloud water becomes rain ([`conversion`]), the air
//!    is brought to saturation ([`saturation`]), and rain evaporates ([`evaporation`]).
//!
//! [`columns::ColumnBlock`] does both on adjacent columns: on [`LANES`] of them with vector instructions, in single and
//! in double precision, or on one with the functions of the standard library. The latter is the reference of the
//! kernels in `kernels/physics/kessler/`.
//!
//! A run carries these four fields alone, and leaves ice and snow of the input out. The reflectivity is that of rain by
//! an exponential size distribution ([`reflectivity()`]); the scheme has no effective radii. Compared with WSM5 the idealised cases
//! have no ice. After an hour of `supercell` rain reaches up to 12 km. The mean rain is 0.81 kg m⁻², where WSM5 has
//! 0.48 of rain and 0.52 of snow, and the mean precipitation is 1.67 mm instead of 1.42, since nothing stays aloft as
//! snow. In `kid-warm1` rain begins two minutes later and amounts to 0.45 mm instead of 1.07: autoconversion begins at
//! 1 g kg⁻¹ of cloud water, of which that cloud has 1.4 at most, and in WSM5 at 0.5. `warm-bubble`, whose cloud has
//! twice as much, differs by 7 % of its rain.
//!
//! Peculiarities of the original that are kept: `rainncv` is the precipitation of the last sub-step of a call, not of
//! the call; sedimentation conserves rain weighted by the distances between the middles of layers, not by the depths of
//! layers; the saturation adjustment is a single step and overshoots.

pub mod cell;
pub mod columns;
pub mod conversion;
pub mod evaporation;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod params;
mod reflectivity;
mod run;
pub mod saturation;
pub mod sedimentation;

pub use reflectivity::reflectivity;
pub use run::ABOUT;

use std::ops::RangeInclusive;

use ndarray::{Array3, Zip};

use self::cell::water;
use self::columns::ColumnBlock;
use self::params::{KesslerConstants, KesslerFactors};
use super::{Block, ColumnPhysics, Field};
use crate::real::Real;
use crate::simd::gather_scatter::{Stretch, for_stretches, give, give_plane, take, take_plane};
use crate::simd::{Instructions, LANES, Task};
use crate::threads;

/// The scheme with the factors of its processes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kessler<R> {
    /// Factors of the processes, all 1 in the scheme itself.
    pub factors: KesslerFactors<R>,
}

impl<R: Real> Default for Kessler<R> {
    fn default() -> Self {
        Self { factors: KesslerFactors::default() }
    }
}

/// A precision in which the scheme can run, one by one or side by side.
pub trait Vectorised: KesslerConstants + Real<Lane: KesslerConstants> {}

impl<R: KesslerConstants + Real<Lane: KesslerConstants>> Vectorised for R {}

/// Work space of a thread.
#[derive(Clone, Debug)]
pub enum Work<R: Real> {
    /// One column at a time.
    Alone(Box<ColumnBlock<R, 1>>),
    /// Columns side by side.
    SideBySide(Instructions, Box<ColumnBlock<R::Lane, LANES>>),
}

/// One call of the scheme on columns side by side.
struct Call<'a, R> {
    factors: KesslerFactors<R>,
    dt: R,
    columns: &'a mut ColumnBlock<R, LANES>,
}

impl<R: KesslerConstants> Task for Call<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.columns.call(&self.factors, self.dt);
    }
}

impl<R: Vectorised> ColumnPhysics<R> for Kessler<R> {
    const NAME: &'static str = "Kessler";
    const TRACERS: &'static [Field] = &[
        Field { name: "th", units: "K", about: "potential temperature" },
        Field { name: "q", units: "kg kg-1", about: "water vapour mixing ratio" },
        Field { name: "qc", units: "kg kg-1", about: "cloud water mixing ratio" },
        Field { name: "qr", units: "kg kg-1", about: "rain mixing ratio" },
    ];
    const AIR: &'static [Field] = &[
        Field { name: "den", units: "kg m-3", about: "density of dry air" },
        Field { name: "pii", units: "1", about: "Exner function" },
        Field { name: "delz", units: "m", about: "depth of the layer" },
    ];
    const SURFACE: &'static [Field] = &[
        Field { name: "rain", units: "mm", about: "accumulated precipitation" },
        Field {
            name: "rainncv",
            units: "mm",
            about: "precipitation of the last sub-step of the last call",
        },
    ];
    const LEVELS: RangeInclusive<usize> = 2..=256;
    const DIAGNOSED: &'static [Field] =
        &[Field { name: "refl_10cm", units: "dBZ", about: "radar reflectivity at 10 cm" }];

    type Work = Work<R>;

    fn work(&self, nz: usize, instructions: Option<Instructions>) -> Work<R> {
        match instructions {
            Some(instructions) => Work::SideBySide(instructions, Box::new(ColumnBlock::new(nz))),
            None => Work::Alone(Box::new(ColumnBlock::new(nz))),
        }
    }

    fn diagnose(&self, tracers: &[Array3<R>], air: &[Array3<R>]) -> Vec<Array3<R>> {
        let ([.., qr], [rho, ..]) = (tracers, air) else { unreachable!("checked by the caller") };
        let cells = Zip::from(rho).and(qr);
        let of_cell = |&rho: &R, &qr: &R| reflectivity(rho, qr);
        vec![if threads::is_alone() {
            cells.map_collect(of_cell)
        } else {
            cells.par_map_collect(of_cell)
        }]
    }

    fn call_block(&self, dt: R, work: &mut Work<R>, block: &mut Block<'_, R>) {
        match work {
            Work::Alone(columns) => for_each(
                block,
                columns,
                |x| x,
                |x| x,
                |columns| {
                    columns.call(&self.factors, dt);
                },
            ),
            Work::SideBySide(instructions, columns) => {
                let (factors, dt) = (self.factors.map(R::lane), dt.lane());
                for_each(block, columns, R::lane, R::of_lane, |columns| {
                    instructions.run(Call { factors, dt, columns });
                });
            }
        }
    }
}

/// Loads the columns of a block, `N` at a time, calls the scheme and stores them.
fn for_each<R: Real, S: KesslerConstants, const N: usize>(
    block: &mut Block<'_, R>,
    columns: &mut ColumnBlock<S, N>,
    to: impl Fn(R) -> S + Copy,
    from: impl Fn(S) -> R + Copy,
    mut call: impl FnMut(&mut ColumnBlock<S, N>),
) {
    let (_, ny, nx) = block.dim();
    let [theta, qv, qc, qr] = &mut block.tracers[..] else { unreachable!("checked by the caller") };
    let [rho, exner, dz] = &block.air[..] else { unreachable!("checked by the caller") };
    let [rain, rainncv] = &mut block.surface[..] else { unreachable!("checked by the caller") };
    columns.theta_base = to(block.theta_base);
    for_stretches([ny, nx], N, |stretches, count| {
        let levels = &mut columns.levels;
        take(&theta.view(), stretches, levels, to, |level| &mut level.theta);
        take(&qv.view(), stretches, levels, to, |level| &mut level.qv);
        take(&qc.view(), stretches, levels, to, |level| &mut level.qc);
        take(&qr.view(), stretches, levels, to, |level| &mut level.qr);
        take(rho, stretches, levels, to, |level| &mut level.rho);
        take(exner, stretches, levels, to, |level| &mut level.exner);
        take(dz, stretches, levels, to, |level| &mut level.dz);
        take_plane(&rain.view(), stretches, to, &mut columns.rain);
        columns.fill_unused_lanes(count);
        call(columns);
        let levels = &columns.levels;
        if let Some(budget) = &mut block.budget {
            give_plane(&mut budget.fallen, stretches, from, &columns.fallen);
            give_plane(&mut budget.fall_residual, stretches, from, &columns.fall_residual);
            give_plane(&mut budget.clipped, stretches, from, &columns.clipped);
            for Stretch { j, columns, lane } in stretches {
                let Some(weighing) = &mut budget.weighing else { continue };
                // The fields still hold what they did before the call.
                let (row, species) = ((*j, columns.clone()), [&*qv, &*qc, &*qr]);
                let total = |[qv, qc, qr]: [R; 3]| water(qv, qc, qr);
                weighing.add_mismatch(row, species, [rho, dz], total, |k, n| {
                    let (level, l) = (&levels[k], lane + n);
                    water(from(level.qv[l]), from(level.qc[l]), from(level.qr[l]))
                });
            }
        }
        give(theta, stretches, levels, from, |level| &level.theta);
        give(qv, stretches, levels, from, |level| &level.qv);
        give(qc, stretches, levels, from, |level| &level.qc);
        give(qr, stretches, levels, from, |level| &level.qr);
        give_plane(rain, stretches, from, &columns.rain);
        give_plane(rainncv, stretches, from, &columns.rainncv);
    });
}

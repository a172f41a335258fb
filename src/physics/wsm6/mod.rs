//! WSM6 cloud microphysics: vapour, cloud water, rain, cloud ice, snow and graupel in columns.
//!
//! The scheme of WRF's `mp_physics = 6` (HL06), with the common terminal velocity of snow and graupel of DHL08.
//! `columns::ColumnBlock::call` is the table of contents of the scheme: it calls the processes in order. Each rate is a
//! pure function of scalars, grouped in files by kind. Signs are in [`balance`] for rates and in [`melt`] for
//! instantaneous changes. What WSM5 has too is WSM5's: saturation, slopes and terminal velocities of rain, snow and ice,
//! the operator of sedimentation, the warm rates, effective radii.
//!
//! It computes [`LANES`] columns side by side with vector instructions in single precision, or one at a time with the
//! functions of the standard library.
//!
//! Peculiarities of the original that are kept: cloud water loses `paacw` to snow and to graupel, even where there is one
//! of them only; rates that an earlier limit has counted as gains are scaled again by a later one, and clipping at zero
//! then adds water; what rain, snow and ice collect of each other changes its target at thresholds of 0.1 g kg⁻¹.

pub mod balance;
pub mod cell;
pub mod collection;
pub mod factors;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod ice;
pub mod melt;
pub mod params;
pub mod reflectivity;
mod run;
pub mod scheme;
pub mod slope;
pub mod step;
pub mod tuning;
pub mod vapour;

mod columns;
mod diagnose;
mod fall;
mod level;
mod load_store;

pub use run::{ABOUT, Wsm6};

use std::ops::RangeInclusive;

use ndarray::Array3;

use self::columns::ColumnBlock;
use self::load_store::{Call, for_each};
use self::params::Wsm6Constants;
use self::scheme::Scheme;
use self::shared::radii::RadiusConstants;
use super::{Block, ColumnPhysics, Field};
use crate::real::{Precision, Real};
use crate::simd::{Instructions, LANES};
// The parts that both schemes have; named once.
use crate::physics::wsm5 as shared;

/// A precision in which the scheme and its diagnostics can run, one by one or side by side.
pub trait Vectorised: Wsm6Constants + RadiusConstants + Real<Lane: Wsm6Constants> {}

impl<R: Wsm6Constants + RadiusConstants + Real<Lane: Wsm6Constants>> Vectorised for R {}

/// Work space of a thread.
#[derive(Clone, Debug)]
pub struct Work<R: Real>(Kind<R>);

#[derive(Clone, Debug)]
enum Kind<R: Real> {
    /// One column at a time.
    Alone(Box<ColumnBlock<R, 1>>),
    /// Columns side by side.
    SideBySide(Instructions, Box<ColumnBlock<R::Lane, LANES>>),
}

impl<R: Vectorised> ColumnPhysics<R> for Scheme<R> {
    const NAME: &'static str = "WSM6";
    const TRACERS: &'static [Field] = &[
        Field { name: "th", units: "K", about: "potential temperature" },
        Field { name: "q", units: "kg kg-1", about: "water vapour mixing ratio" },
        Field { name: "qc", units: "kg kg-1", about: "cloud water mixing ratio" },
        Field { name: "qr", units: "kg kg-1", about: "rain mixing ratio" },
        Field { name: "qi", units: "kg kg-1", about: "cloud ice mixing ratio" },
        Field { name: "qs", units: "kg kg-1", about: "snow mixing ratio" },
        Field { name: "qg", units: "kg kg-1", about: "graupel mixing ratio" },
    ];
    const OPTIONAL: &'static [&'static str] = &["qg"];
    const AIR: &'static [Field] = &[
        Field { name: "den", units: "kg m-3", about: "density of dry air" },
        Field { name: "pii", units: "1", about: "Exner function" },
        Field { name: "p", units: "Pa", about: "pressure" },
        Field { name: "delz", units: "m", about: "depth of the layer" },
    ];
    const SURFACE: &'static [Field] = &[
        Field { name: "rain", units: "mm", about: "accumulated precipitation" },
        Field { name: "rainncv", units: "mm", about: "precipitation of the last call" },
        Field { name: "snow", units: "mm", about: "accumulated precipitation of snow and ice" },
        Field { name: "snowncv", units: "mm", about: "snow and ice of the last call" },
        Field { name: "graupel", units: "mm", about: "accumulated precipitation of graupel" },
        Field { name: "graupelncv", units: "mm", about: "graupel of the last call" },
        Field {
            name: "sr",
            units: "1",
            about: "frozen fraction of the precipitation of the last call",
        },
    ];
    const LEVELS: RangeInclusive<usize> = 4..=256;
    const DIAGNOSED: &'static [Field] = &[
        Field { name: "refl_10cm", units: "dBZ", about: "radar reflectivity at 10 cm" },
        Field { name: "re_cloud", units: "m", about: "effective radius of cloud drops" },
        Field { name: "re_ice", units: "m", about: "effective radius of ice crystals" },
        Field { name: "re_snow", units: "m", about: "effective radius of snow" },
    ];

    type Work = Work<R>;

    fn work(&self, nz: usize, instructions: Option<Instructions>) -> Work<R> {
        // In double precision nothing is vectorised.
        Work(match instructions.filter(|_| R::PRECISION == Precision::F32) {
            Some(instructions) => Kind::SideBySide(instructions, Box::new(ColumnBlock::new(nz))),
            None => Kind::Alone(Box::new(ColumnBlock::new(nz))),
        })
    }

    fn call_block(&self, dt: R, work: &mut Work<R>, block: &mut Block<'_, R>) {
        shared::assert_length(dt);
        match &mut work.0 {
            Kind::Alone(columns) => {
                for_each(block, columns, |x| x, |x| x, |columns| columns.call(self, dt));
            }
            Kind::SideBySide(instructions, columns) => {
                let (p, dt) = (&self.map(R::lane), dt.lane());
                for_each(block, columns, R::lane, R::of_lane, |columns| {
                    instructions.run(Call { p, dt, columns });
                });
            }
        }
    }

    fn diagnose(&self, tracers: &[Array3<R>], air: &[Array3<R>]) -> Vec<Array3<R>> {
        diagnose::diagnose(self, tracers, air)
    }
}

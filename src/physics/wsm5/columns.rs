//! WSM5 as a scheme of column physics: its tracers, and a call on many columns.

use std::array;
use std::ops::RangeInclusive;

use ndarray::Array3;

use super::reflectivity::Bins;
use super::scheme::Scheme;
use super::simd::columns::ColumnBlock;
use super::simd::load_store::{Call, Vectorised, for_each};
use super::substepped_sedimentation::SubStepWork;
use super::{DiagnosticFields, Sedimentation, assert_length, diagnose};
use crate::grid::Shape;
use crate::physics::{Block, ColumnPhysics, Field};
use crate::real::{Precision, Real};
use crate::simd::{Instructions, LANES};
use crate::state::CloudDiagnostics;

/// Vector instructions that a variant of the scheme is run with in a precision, of those that the processor has: in
/// double precision, and with sub-stepped sedimentation, one column is computed after the other.
pub fn instructions<R: Real>(
    fallout: Sedimentation,
    best: Option<Instructions>,
) -> Option<Instructions> {
    let is_abreast = fallout == Sedimentation::SemiLagrangian && R::PRECISION == Precision::F32;
    best.filter(|_| is_abreast)
}

/// Work space of a thread for a variant of the scheme.
#[derive(Clone, Debug)]
pub struct Work<R: Real>(Kind<R>);

#[derive(Clone, Debug)]
enum Kind<R: Real> {
    /// One column after the other, with the functions of the standard library.
    Alone(Box<(ColumnBlock<R, 1>, SubStepWork<R>)>),
    /// Columns side by side.
    ColumnBlock(Instructions, Box<ColumnBlock<R::Lane, LANES>>),
}

impl<R: Vectorised> ColumnPhysics<R> for Scheme<R> {
    const NAME: &'static str = "WSM5";
    const TRACERS: &'static [Field] = &[
        Field { name: "th", units: "K", about: "potential temperature" },
        Field { name: "q", units: "kg kg-1", about: "water vapour mixing ratio" },
        Field { name: "qc", units: "kg kg-1", about: "cloud water mixing ratio" },
        Field { name: "qr", units: "kg kg-1", about: "rain mixing ratio" },
        Field { name: "qi", units: "kg kg-1", about: "cloud ice mixing ratio" },
        Field { name: "qs", units: "kg kg-1", about: "snow mixing ratio" },
    ];
    const AIR: &'static [Field] = &[
        Field { name: "den", units: "kg m-3", about: "density of dry air" },
        Field { name: "pii", units: "1", about: "Exner function" },
        Field { name: "p", units: "Pa", about: "pressure" },
        Field { name: "delz", units: "m", about: "depth of the layer" },
    ];
    const SURFACE: &'static [Field] = &[
        Field { name: "rain", units: "mm", about: "accumulated precipitation" },
        Field { name: "rainncv", units: "mm", about: "precipitation of the last call" },
        Field { name: "snow", units: "mm", about: "accumulated frozen precipitation" },
        Field { name: "snowncv", units: "mm", about: "frozen precipitation of the last call" },
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
        Work(match self::instructions::<R>(self.fallout, instructions) {
            Some(instructions) => Kind::ColumnBlock(instructions, Box::new(ColumnBlock::new(nz))),
            None => Kind::Alone(Box::new((ColumnBlock::new(nz), SubStepWork::new(nz)))),
        })
    }

    fn call_block(&self, dt: R, work: &mut Work<R>, block: &mut Block<'_, R>) {
        assert_length(dt);
        let layers = match &work.0 {
            Kind::Alone(work) => work.0.levels.len(),
            Kind::ColumnBlock(_, columns) => columns.levels.len(),
        };
        assert!(layers > 0, "columns without layers");
        assert_eq!(block.dim().0, layers, "layers of the fields and of the work space");
        match &mut work.0 {
            Kind::Alone(work) => {
                let (columns, substeps) = &mut **work;
                let call = |columns: &mut ColumnBlock<R, 1>| columns.call_alone(self, dt, substeps);
                for_each(block, columns, |x| x, |x| x, call);
            }
            Kind::ColumnBlock(instructions, columns) => {
                assert_eq!(
                    self.fallout,
                    Sedimentation::SemiLagrangian,
                    "variant of the work space"
                );
                let (p, dt) = (&self.map(R::lane), dt.lane());
                for_each(block, columns, R::lane, R::of_lane, |columns| {
                    instructions.run(Call { p, dt, columns });
                });
            }
        }
    }

    fn diagnose(&self, tracers: &[Array3<R>], air: &[Array3<R>]) -> Vec<Array3<R>> {
        let (nz, ny, nx) = tracers[0].dim();
        let mut out = CloudDiagnostics::zeros(&super::ABOUT.set(), Shape { nx, ny, nz });
        let (tracers, air) = (array::from_fn(|n| &tracers[n]), array::from_fn(|n| &air[n]));
        let fields = DiagnosticFields::of(R::ZERO, tracers, air, &mut out);
        diagnose(self, &Bins::default(), Instructions::best(), fields);
        out.fields().to_vec()
    }
}

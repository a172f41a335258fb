//! A toy with a number concentration, a property of a species of water, that reads the vertical wind.

use std::ops::RangeInclusive;

use ndarray::Array3;

use nwp_mini::constituents::{Absent, Constituent};
use nwp_mini::physics::scheme::{About, Parameter};
use nwp_mini::physics::{Block, ColumnPhysics, Field};
use nwp_mini::real::Real;
use nwp_mini::simd::Instructions;

use super::Toy;

/// Cloud water turns to drops at a rate, twice as fast in ascending air, and nothing falls.
#[derive(Clone, Copy, Debug)]
pub struct Drops {
    rate: f64,
}

/// Drops of a kilogram of rain.
pub const PER_KILOGRAM: f64 = 2.0e6;

static ABOUT: About = About {
    parameters: &[Parameter {
        name: "drop_rate",
        description: "rate of autoconversion in descending air, s⁻¹",
        units: Some("s-1"),
        bounds: [0.0, 1.0],
        default: 1e-3,
    }],
    constituents: &[Constituent {
        units: "kg-1",
        description: "Rain number concentration",
        words: "number of raindrops",
        absent: Absent::PerMass { of: "qr", factor: PER_KILOGRAM },
        ..Constituent::property("nr", "QNRAIN", "qr")
    }],
    ..About::of::<Drops>("drops", "Drops: cloud water, rain and its number", 0)
};

impl Default for Drops {
    fn default() -> Self {
        Self { rate: ABOUT.parameters[0].default }
    }
}

impl<R: Real> ColumnPhysics<R> for Drops {
    const NAME: &'static str = "Drops";
    const TRACERS: &'static [Field] = &[
        Field { name: "th", units: "K", about: "potential temperature" },
        Field { name: "q", units: "kg kg-1", about: "water vapour mixing ratio" },
        Field { name: "qc", units: "kg kg-1", about: "cloud water mixing ratio" },
        Field { name: "qr", units: "kg kg-1", about: "rain mixing ratio" },
        Field { name: "nr", units: "kg-1", about: "number of raindrops" },
    ];
    const AIR: &'static [Field] = &[Field { name: "w", units: "m s-1", about: "vertical wind" }];
    const SURFACE: &'static [Field] = &[];
    const LEVELS: RangeInclusive<usize> = 1..=256;
    const DIAGNOSED: &'static [Field] =
        &[Field { name: "refl_10cm", units: "dBZ", about: "radar reflectivity at 10 cm" }];

    type Work = ();

    fn work(&self, _nz: usize, _instructions: Option<Instructions>) {}

    fn call_block(&self, dt: R, (): &mut (), block: &mut Block<'_, R>) {
        let [_, _, qc, qr, nr] = &mut block.tracers[..] else { unreachable!("five tracers") };
        let w = &block.air[0];
        let share = R::of(self.rate) * dt;
        for (at, cloud) in qc.indexed_iter_mut() {
            let share = if w[at] > R::ZERO { share + share } else { share };
            let rain = share * *cloud;
            *cloud -= rain;
            qr[at] += rain;
            nr[at] += R::of(PER_KILOGRAM) * rain;
        }
        if let Some(budget) = &mut block.budget {
            budget.fallen.fill(R::ZERO);
            budget.fall_residual.fill(R::ZERO);
            budget.clipped.fill(R::ZERO);
        }
    }

    fn diagnose(&self, tracers: &[Array3<R>], _air: &[Array3<R>]) -> Vec<Array3<R>> {
        vec![tracers[4].mapv(|n| R::of(0.01) * n - R::of(35.0))]
    }
}

impl Toy for Drops {
    fn about() -> &'static About {
        &ABOUT
    }

    const KERNELS: [&'static str; 2] = ["drops_call", "drops_diagnose"];
    const TEXT: &'static str = "
extern \"C\" __global__ void drops_call(__grid_constant__ const ToyArgs a)
{
    const int number = blockIdx.x * THREADS + threadIdx.x;
    if (number >= a.columns) return;
    const int place = a.first + number / a.width * a.pitch + number % a.width;
    for (int k = 0; k < a.levels; ++k) {
        const int at = k * a.level + place;
        const real share = a.air[4][at] > 0 ? a.share + a.share : a.share;
        const real rain = share * a.state[2][at];
        a.state[2][at] -= rain;
        a.state[3][at] += rain;
        a.state[4][at] += real(2e6) * rain;
    }
    for (int n = 0; n < 4; ++n) a.terms[n][place] = 0;
}

extern \"C\" __global__ void drops_diagnose(__grid_constant__ const ToyArgs a)
{
    const int number = blockIdx.x * THREADS + threadIdx.x;
    if (number >= a.columns) return;
    const int place = a.first + number / a.width * a.pitch + number % a.width;
    for (int k = 0; k < a.levels; ++k)
        a.out[k * a.columns + number] = real(0.01) * a.state[4][k * a.level + place] - 35;
}
";

    fn rate(&self) -> f64 {
        self.rate
    }

    fn with_rate(self, rate: f64) -> Self {
        Self { rate }
    }
}

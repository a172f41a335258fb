//! A toy with graupel: a further species of water, a plane at the ground, and a volume that no other scheme has.

use std::ops::RangeInclusive;

use ndarray::Array3;

use nwp_mini::constituents::Diagnostic;
use nwp_mini::physics::scheme::{About, Parameter};
use nwp_mini::physics::{Block, ColumnPhysics, Field};
use nwp_mini::real::Real;
use nwp_mini::simd::Instructions;

use super::Toy;

/// Cloud water freezes to graupel at a rate, and graupel of the lowest layer falls to the ground at the same rate.
#[derive(Clone, Copy, Debug)]
pub struct Sleet {
    rate: f64,
}

static ABOUT: About = About {
    parameters: &[Parameter {
        name: "sleet_rate",
        description: "rate of freezing and of fall from the lowest layer, s⁻¹",
        units: Some("s-1"),
        bounds: [0.0, 1.0],
        default: 1e-3,
    }],
    diagnostics: &[
        Diagnostic::new("re_graupel", "RE_GRAUPEL", "m").described("Effective radius graupel")
    ],
    ..About::of::<Sleet>("sleet", "Sleet: cloud water and graupel", 0)
};

/// Effective radius at a mixing ratio of 1, m.
const RADIUS: f64 = 0.01;

impl Default for Sleet {
    fn default() -> Self {
        Self { rate: ABOUT.parameters[0].default }
    }
}

impl<R: Real> ColumnPhysics<R> for Sleet {
    const NAME: &'static str = "Sleet";
    const TRACERS: &'static [Field] = &[
        Field { name: "th", units: "K", about: "potential temperature" },
        Field { name: "q", units: "kg kg-1", about: "water vapour mixing ratio" },
        Field { name: "qc", units: "kg kg-1", about: "cloud water mixing ratio" },
        Field { name: "qg", units: "kg kg-1", about: "graupel mixing ratio" },
    ];
    const AIR: &'static [Field] = &[
        Field { name: "den", units: "kg m-3", about: "density of dry air" },
        Field { name: "delz", units: "m", about: "depth of the layer" },
    ];
    const SURFACE: &'static [Field] = &[
        Field { name: "rain", units: "mm", about: "accumulated precipitation" },
        Field { name: "rainncv", units: "mm", about: "precipitation of the last call" },
        Field { name: "graupel", units: "mm", about: "accumulated graupel" },
        Field { name: "graupelncv", units: "mm", about: "graupel of the last call" },
    ];
    const LEVELS: RangeInclusive<usize> = 1..=256;
    const DIAGNOSED: &'static [Field] =
        &[Field { name: "re_graupel", units: "m", about: "effective radius of graupel" }];

    type Work = ();

    fn work(&self, _nz: usize, _instructions: Option<Instructions>) {}

    fn call_block(&self, dt: R, (): &mut (), block: &mut Block<'_, R>) {
        let (_, ny, nx) = block.dim();
        let [_, _, qc, qg] = &mut block.tracers[..] else { unreachable!("four tracers") };
        let [rho, dz] = &block.air[..] else { unreachable!("density and depth") };
        let share = R::of(self.rate) * dt;
        let after = |k: usize, cloud: R, graupel: R| {
            let frozen = share * cloud;
            let sum = graupel + frozen;
            let fallen = if k == 0 { share * sum } else { R::ZERO };
            (cloud - frozen, sum - fallen, fallen)
        };
        if let Some(weighing) = block.budget.as_mut().and_then(|budget| budget.weighing.as_mut()) {
            for j in 0..ny {
                let (cloud, graupel) = (qc.view(), qg.view());
                let water = |k: usize, i: usize| {
                    let (cloud, graupel, _) = after(k, cloud[[k, j, i]], graupel[[k, j, i]]);
                    cloud + graupel
                };
                let sum = |[cloud, graupel]: [R; 2]| cloud + graupel;
                weighing.add_mismatch((j, 0..nx), [&*qc, &*qg], [rho, dz], sum, water);
            }
        }
        let [rain, rainncv, graupel, graupelncv] = &mut block.surface[..] else {
            unreachable!("four planes")
        };
        for ((k, j, i), cloud) in qc.indexed_iter_mut() {
            let at = [k, j, i];
            let (left, sum, fallen) = after(k, *cloud, qg[at]);
            (*cloud, qg[at]) = (left, sum);
            if k > 0 {
                continue;
            }
            let at = [j, i];
            let millimetres = fallen * rho[[k, j, i]] * dz[[k, j, i]];
            rain[at] += millimetres;
            graupel[at] += millimetres;
            (rainncv[at], graupelncv[at]) = (millimetres, millimetres);
            if let Some(budget) = &mut block.budget {
                budget.fallen[at] = millimetres;
                (budget.fall_residual[at], budget.clipped[at]) = (R::ZERO, R::ZERO);
            }
        }
    }

    fn diagnose(&self, tracers: &[Array3<R>], _air: &[Array3<R>]) -> Vec<Array3<R>> {
        vec![tracers[3].mapv(|q| R::of(RADIUS) * q)]
    }
}

impl Toy for Sleet {
    fn about() -> &'static About {
        &ABOUT
    }

    const KERNELS: [&'static str; 2] = ["sleet_call", "sleet_diagnose"];
    const TEXT: &'static str = "
extern \"C\" __global__ void sleet_call(__grid_constant__ const ToyArgs a)
{
    const int number = blockIdx.x * THREADS + threadIdx.x;
    if (number >= a.columns) return;
    const int place = a.first + number / a.width * a.pitch + number % a.width;
    const real *rho = a.air[0], *dz = a.air[3];
    for (int k = 0; k < a.levels; ++k) {
        const int at = k * a.level + place;
        const real cloud = a.state[2][at], graupel = a.state[3][at], frozen = a.share * cloud;
        const real sum = graupel + frozen, fallen = k == 0 ? a.share * sum : real(0);
        a.state[2][at] = cloud - frozen;
        a.state[3][at] = sum - fallen;
        if (k > 0) continue;
        const real millimetres = fallen * rho[at] * dz[at];
        a.planes[0][place] += millimetres;
        a.planes[1][place] = millimetres;
        a.planes[2][place] += millimetres;
        a.planes[3][place] = millimetres;
        a.terms[0][place] = millimetres;
        a.terms[1][place] = 0;
        a.terms[2][place] = 0;
        const real before = cloud + graupel, after = cloud - frozen + (sum - fallen);
        a.terms[3][place] = mismatch::mass_mismatch(layered_at(a.mass, place, k), a.per_area[place], rho[at],
                                                    dz[at], before, after);
    }
}

extern \"C\" __global__ void sleet_diagnose(__grid_constant__ const ToyArgs a)
{
    const int number = blockIdx.x * THREADS + threadIdx.x;
    if (number >= a.columns) return;
    const int place = a.first + number / a.width * a.pitch + number % a.width;
    for (int k = 0; k < a.levels; ++k)
        a.out[k * a.columns + number] = real(0.01) * a.state[3][k * a.level + place];
}
";

    fn rate(&self) -> f64 {
        self.rate
    }

    fn with_rate(self, rate: f64) -> Self {
        Self { rate }
    }
}

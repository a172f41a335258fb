//! Kernels of the Wilson operator, run on the host thread by thread, against the CPU version.
#![allow(clippy::float_cmp, reason = "equal bits are what some tests are about")]

pub(crate) mod host;
mod rungs;
mod solver;

use nwp_mini::lattice::gauge::random_links;
use nwp_mini::lattice::{Extents, GaugeField, SPINOR_REALS};
use nwp_mini::real::Real;
use nwp_mini_support::random::Random;

/// Lattices of equal and of unequal extents, the smallest one, and one whose bricks are not full.
const LATTICES: [[usize; 4]; 4] = [[4, 4, 4, 4], [2, 2, 2, 2], [6, 4, 2, 10], [4, 6, 2, 4]];

/// Links and spinors drawn at random.
struct Drawn<R> {
    extents: Extents,
    links: Vec<f64>,
    psi: Vec<R>,
}

impl<R: Real> Drawn<R> {
    fn new(extents: [usize; 4], seed: u64) -> Self {
        let extents = Extents::new(extents).expect("even extents");
        let mut random = Random::new(seed);
        let links = random_links(extents, || random.between(-1.0, 1.0));
        let reals = extents.volume() * SPINOR_REALS;
        let psi = (0..reals).map(|_| R::of(random.between(-1.0, 1.0))).collect();
        Self { extents, links, psi }
    }

    fn gauge(&self) -> GaugeField<'_> {
        GaugeField { extents: self.extents, links: &self.links, antiperiodic_t: true }
    }
}

/// The norm of a difference relative to the norm of the expected field.
fn distance<R: Real>(found: &[R], expected: &[R]) -> f64 {
    let sum = |terms: &mut dyn Iterator<Item = f64>| terms.map(|x| x * x).sum::<f64>();
    let differences = sum(&mut found.iter().zip(expected).map(|(a, b)| a.f64() - b.f64()));
    (differences / sum(&mut expected.iter().map(|x| x.f64()))).sqrt()
}

/// Largest distance due to rounding, see the limits of the specification: four times the largest of 28 orders of
/// summation.
fn limit<R: Real>() -> f64 {
    match R::PRECISION {
        nwp_mini::real::Precision::F32 => 4e-7,
        nwp_mini::real::Precision::F64 => 1e-15,
    }
}

//! The Wilson operator on the CPU: its properties, the solver, and reference data.
#![allow(clippy::float_cmp, reason = "equal bits are what some tests are about")]

mod free_field;
mod properties;
mod solver;

use nwp_mini::lattice::gauge::{random_links, unit_links};
use nwp_mini::lattice::{Extents, GaugeField, SPINOR_REALS};
use nwp_mini_support::random::Random;

/// Lattices of equal and of unequal extents, with extents of 2, cut into one and into many parts.
const LATTICES: [[usize; 4]; 5] =
    [[2, 2, 2, 2], [4, 4, 4, 4], [2, 4, 6, 8], [6, 4, 2, 10], [8, 4, 8, 4]];
/// Rounding of double precision over some tens of operations.
const DOUBLE: f64 = 1e-13;

/// Links of a lattice.
struct Gauge {
    extents: Extents,
    links: Vec<f64>,
    antiperiodic_t: bool,
}

impl Gauge {
    fn random(extents: [usize; 4], antiperiodic_t: bool, random: &mut Random) -> Self {
        let extents = Extents::new(extents).expect("even extents");
        let links = random_links(extents, || random.between(-1.0, 1.0));
        Self { extents, links, antiperiodic_t }
    }

    fn free(extents: [usize; 4], antiperiodic_t: bool) -> Self {
        let extents = Extents::new(extents).expect("even extents");
        Self { extents, links: unit_links(extents), antiperiodic_t }
    }

    fn field(&self) -> GaugeField<'_> {
        let Self { extents, links, antiperiodic_t } = self;
        GaugeField { extents: *extents, links, antiperiodic_t: *antiperiodic_t }
    }

    fn spinors(&self, random: &mut Random) -> Vec<f64> {
        let reals = self.extents.volume() * SPINOR_REALS;
        (0..reals).map(|_| random.between(-1.0, 1.0)).collect()
    }
}

fn norm(field: &[f64]) -> f64 {
    field.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The norm of a difference relative to the norm of the expected field.
fn distance(found: &[f64], expected: &[f64]) -> f64 {
    let difference: Vec<f64> = found.iter().zip(expected).map(|(a, b)| a - b).collect();
    norm(&difference) / norm(expected)
}

/// g5 psi: the lower two spin components change sign.
fn gamma_5(psi: &[f64]) -> Vec<f64> {
    let upper = SPINOR_REALS / 2;
    let sign = |n: usize| if n % SPINOR_REALS < upper { 1.0 } else { -1.0 };
    psi.iter().enumerate().map(|(n, x)| sign(n) * x).collect()
}

/// The complex scalar product `sum conj(a) b`.
fn product(a: &[f64], b: &[f64]) -> [f64; 2] {
    let pairs = a.chunks_exact(2).zip(b.chunks_exact(2));
    pairs.fold([0.0; 2], |[re, im], (a, b)| {
        [re + a[0] * b[0] + a[1] * b[1], im + a[0] * b[1] - a[1] * b[0]]
    })
}

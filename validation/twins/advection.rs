//! `advection`, and the interpolation between two frames of its winds.

use nwp_mini::advection::boundary::radiative_outflow;
use nwp_mini::advection::flux::{self, Faces};
use nwp_mini::advection::limiter;
use nwp_mini::forcing::blend::between;

use super::pair::{Pair, pairs};
use super::values::{Draw, Precision};

fn mass_flux<R: Precision>(d: &mut Draw<R>) -> R {
    d.signed(1e-3, 1e9)
}

fn mass<R: Precision>(d: &mut Draw<R>) -> R {
    d.log(1e3, 1e13, &[])
}

fn amount<R: Precision>(d: &mut Draw<R>) -> R {
    d.amount(1e-15, 1e9, &[R::SMALLEST])
}

fn cells<R: Precision, const N: usize>(d: &mut Draw<R>) -> [R; N] {
    std::array::from_fn(|_| d.any_q())
}

fn factors<R: Precision>(d: &mut Draw<R>) -> [R; 2] {
    std::array::from_fn(|_| d.linear(0.0, 1.0, &[R::ZERO, R::ONE]))
}

fn six<R: Precision>(mut one: impl FnMut() -> R) -> [R; 6] {
    std::array::from_fn(|_| one())
}

/// The faces of a cell from an array in the order of their declaration.
fn faces<R: Copy>([west, east, south, north, bottom, top]: [R; 6]) -> Faces<R> {
    Faces { west, east, south, north, bottom, top }
}

fn bounds<R: Precision>((least, most): (R, R)) -> [R; 2] {
    [least, most]
}

pub(crate) fn pairs<R: Precision>() -> Vec<Pair<R>> {
    pairs! { p, d:
        "fifth_order_flux"(mass = mass_flux(d), q = cells(d)) => flux::fifth_order_flux(mass, q);
        "third_order_flux"(mass = mass_flux(d), q = cells(d)) => flux::third_order_flux(mass, q);
        "linear_flux"(mass = mass_flux(d), q = cells(d), weights = factors(d))
            => flux::linear_flux(mass, q, weights);
        "upwind_flux"(mass = mass_flux(d), q = cells(d)) => flux::upwind_flux(mass, q);
        "courant_limited_upwind"(mass = mass_flux(d), capacity = amount(d), q = cells(d))
            => flux::courant_limited_upwind(mass, capacity, q);
        "updated"(q = d.near(R::LEAST_KEPT), dt = d.dt(), outflow = mass_flux(d), mass = mass(d))
            => flux::updated(q, dt, outflow, mass);
        "Faces::net_outflow"(through = six(|| mass_flux(d))) => faces(through).net_outflow();
        "Faces::outgoing"(through = six(|| mass_flux(d))) => faces(through).outgoing();
        "Faces::incoming"(through = six(|| mass_flux(d))) => faces(through).incoming();
        "low_order_mass"(
            mass = mass(d),
            q = d.any_q(),
            dt = d.dt(),
            low = six(|| mass_flux(d))
        ) => limiter::low_order_mass(mass, q, dt, faces(low));
        "limiter_ratio"(available = amount(d), wanted = amount(d)) => limiter::limiter_ratio(available, wanted);
        "bounds"(q = d.any_q(), around = cells(d), mass = six(|| mass_flux(d)))
            => bounds(limiter::bounds(q, faces(around), faces(mass)));
        "positive_flux"(low = mass_flux(d), correction = mass_flux(d), outgoing = factors(d))
            => limiter::positive_flux(low, correction, outgoing);
        "monotonic_flux"(
            low = mass_flux(d),
            correction = mass_flux(d),
            outgoing = factors(d),
            incoming = factors(d)
        ) => limiter::monotonic_flux(low, correction, outgoing, incoming);
        "radiative_outflow"(
            outward = mass_flux(d),
            divergence = mass_flux(d),
            edge = d.any_q(),
            inner = d.any_q(),
            latest = d.any_q()
        ) => radiative_outflow(outward, divergence, edge, inner, latest);
        "between"(
            a = mass_flux(d),
            b = mass_flux(d),
            weight = d.linear(-0.5, 1.5, &[R::ZERO, R::ONE])
        ) => between(a, b, weight);
    }
}

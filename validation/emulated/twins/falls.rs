//! `fall` and `substep`.

use nwp_mini::wsm5::fall::{self, Profile};
use nwp_mini::wsm5::substep;

use super::pair::{Pair, pairs, whole};
use super::values::{Draw, Precision};

fn speed<R: Precision>(d: &mut Draw<R>) -> R {
    d.amount(1e-3, 30.0, &[])
}

fn layer<R: Precision>(d: &mut Draw<R>) -> R {
    d.log(1.0, 5000.0, &[])
}

fn density<R: Precision>(d: &mut Draw<R>) -> R {
    d.amount(1e-15, 0.05, &[])
}

/// A difference of densities over the distance of two layers, either way.
fn rise<R: Precision>(d: &mut Draw<R>) -> R {
    fall::rise(density(d), density(d), layer(d), layer(d))
}

fn profile<R: Precision>(d: &mut Draw<R>) -> Profile<R> {
    Profile { bottom: density(d), half_rise: rise(d) }
}

fn part<R: Precision>(d: &mut Draw<R>) -> R {
    d.linear(0.0, 1.0, &[R::ZERO, R::ONE])
}

pub(crate) fn fall<R: Precision>() -> Vec<Pair<R>> {
    pairs! { p, d:
        "fall::reach"(highest = d.linear(0.0, 130.0, &[]).floor(), nz = d.linear(4.0, 130.0, &[]).floor())
            => whole::<R>(fall::reach(highest.to_usize().unwrap(), nz.to_usize().unwrap()));
        "fall::interface_speed_outer"(below = speed(d), above = speed(d))
            => fall::interface_speed_outer(below, above);
        "fall::interface_speed_inner"(
            below_2 = speed(d),
            below = speed(d),
            above = speed(d),
            above_2 = speed(d)
        ) => fall::interface_speed_inner(below_2, below, above, above_2);
        "fall::limited_speed"(
            w = speed(d),
            w_above = speed(d),
            depth = layer(d),
            dt_cloud = d.near(R::FALL_COMPRESSION * depth / (w_above - w)).abs()
        ) => fall::limited_speed(w, w_above, depth, dt_cloud);
        "fall::arrival"(height = layer(d), w = speed(d), dt_cloud = d.dt())
            => fall::arrival(height, w, dt_cloud);
        "fall::arrived_density"(content = density(d), depth = layer(d), thickness = layer(d))
            => fall::arrived_density(content, depth, thickness);
        "fall::mean_speed"(departure = speed(d), arrival = speed(d))
            => fall::mean_speed(departure, arrival);
        "fall::rise"(q_below = density(d), q = density(d), d_below = layer(d), depth = layer(d))
            => fall::rise(q_below, q, d_below, depth);
        "fall::profile"(
            q = density(d),
            depth = layer(d),
            rise_below = rise(d),
            rise_above = rise(d)
        ) => fall::profile(q, depth, rise_below, rise_above);
        "fall::mass_up_to"(profile = profile(d), z = layer(d)) => fall::mass_up_to(profile, z);
        "fall::mean_within"(profile = profile(d), z_low = layer(d), z_high = layer(d))
            => fall::mean_within(profile, z_low, z_high);
        "fall::mass_in_ground"(
            bottom = d.linear(-500.0, 500.0, &[R::ZERO]),
            top = d.linear(-500.0, 500.0, &[R::ZERO]),
            thickness = layer(d),
            density = density(d)
        ) => fall::mass_in_ground(bottom, top, thickness, density);
        "fall::land"(air = d.air(), content = d.signed(1e-15, 0.05), q = d.q(&[]))
            => fall::land(&air, content, &mut q), q;
    }
}

pub(crate) fn substep<R: Precision>() -> Vec<Pair<R>> {
    pairs! { p, d:
        "substep::snow_slope"(air = d.air(), cell = d.cell()) => substep::snow_slope(p, &air, &cell);
        "substep::courant"(speed = speed(d), dz = layer(d), dt_cloud = d.dt())
            => substep::courant(speed, dz, dt_cloud);
        "substep::number_of_substeps"(largest = d.amount(1e-6, 100.0, &[R::ONE, R::TWO]))
            => substep::number_of_substeps(largest);
        "substep::arriving"(leaving_above = part(d), here = d.air(), above = d.air())
            => substep::arriving(leaving_above, &here, &above);
        "substep::passed"(q = d.q(&[]), leaving = part(d), arriving = part(d), q_above = d.q(&[]))
            => substep::passed(q, leaving, arriving, q_above);
    }
}

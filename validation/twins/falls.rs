//! Sedimentation, semi-Lagrangian and sub-stepped.

use nwp_mini::physics::wsm5::sedimentation::{self, LayerProfile};
use nwp_mini::physics::wsm5::substepped_sedimentation;

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
    sedimentation::rise(density(d), density(d), layer(d), layer(d))
}

fn profile<R: Precision>(d: &mut Draw<R>) -> LayerProfile<R> {
    LayerProfile { bottom: density(d), half_rise: rise(d) }
}

fn part<R: Precision>(d: &mut Draw<R>) -> R {
    d.linear(0.0, 1.0, &[R::ZERO, R::ONE])
}

pub(crate) fn fall<R: Precision>() -> Vec<Pair<R>> {
    pairs! { p, d:
        "sedimentation::active_layers"(highest = d.linear(0.0, 130.0, &[]).floor(), nz = d.linear(4.0, 130.0, &[]).floor())
            => whole::<R>(sedimentation::active_layers(highest.to_usize().unwrap(), nz.to_usize().unwrap()));
        "sedimentation::interface_speed_outer"(below = speed(d), above = speed(d))
            => sedimentation::interface_speed_outer(below, above);
        "sedimentation::interface_speed_inner"(
            below_2 = speed(d),
            below = speed(d),
            above = speed(d),
            above_2 = speed(d)
        ) => sedimentation::interface_speed_inner(below_2, below, above, above_2);
        "sedimentation::limited_speed"(
            w = speed(d),
            w_above = speed(d),
            depth = layer(d),
            dt_cloud = d.near(R::FALL_COMPRESSION * depth / (w_above - w)).abs()
        ) => sedimentation::limited_speed(w, w_above, depth, dt_cloud);
        "sedimentation::arrival"(height = layer(d), w = speed(d), dt_cloud = d.dt())
            => sedimentation::arrival(height, w, dt_cloud);
        "sedimentation::arrived_density"(content = density(d), depth = layer(d), thickness = layer(d))
            => sedimentation::arrived_density(content, depth, thickness);
        "sedimentation::mean_speed"(departure = speed(d), arrival = speed(d))
            => sedimentation::mean_speed(departure, arrival);
        "sedimentation::rise"(q_below = density(d), q = density(d), d_below = layer(d), depth = layer(d))
            => sedimentation::rise(q_below, q, d_below, depth);
        "sedimentation::profile"(
            q = density(d),
            depth = layer(d),
            rise_below = rise(d),
            rise_above = rise(d)
        ) => sedimentation::profile(q, depth, rise_below, rise_above);
        "sedimentation::mass_up_to"(profile = profile(d), z = layer(d)) => sedimentation::mass_up_to(profile, z);
        "sedimentation::mean_within"(profile = profile(d), z_low = layer(d), z_high = layer(d))
            => sedimentation::mean_within(profile, z_low, z_high);
        "sedimentation::mass_in_ground"(
            bottom = d.linear(-500.0, 500.0, &[R::ZERO]),
            top = d.linear(-500.0, 500.0, &[R::ZERO]),
            thickness = layer(d),
            density = density(d)
        ) => sedimentation::mass_in_ground(bottom, top, thickness, density);
        "sedimentation::store_content"(air = d.air(), content = d.signed(1e-15, 0.05), q = d.q(&[]))
            => sedimentation::store_content(&air, content, &mut q), q;
    }
}

pub(crate) fn substep<R: Precision>() -> Vec<Pair<R>> {
    pairs! { p, d:
        "substepped_sedimentation::snow_slope"(air = d.air(), cell = d.cell()) => substepped_sedimentation::snow_slope(p, &air, &cell);
        "substepped_sedimentation::courant"(speed = speed(d), dz = layer(d), dt_cloud = d.dt())
            => substepped_sedimentation::courant(speed, dz, dt_cloud);
        "substepped_sedimentation::number_of_substeps"(largest = d.amount(1e-6, 100.0, &[R::ONE, R::TWO]))
            => substepped_sedimentation::number_of_substeps(largest);
        "substepped_sedimentation::arriving"(leaving_above = part(d), here = d.air(), above = d.air())
            => substepped_sedimentation::arriving(leaving_above, &here, &above);
        "substepped_sedimentation::passed"(q = d.q(&[]), leaving = part(d), arriving = part(d), q_above = d.q(&[]))
            => substepped_sedimentation::passed(q, leaving, arriving, q_above);
    }
}

//! The Kessler scheme: `cell`, `conversion`, `evaporation`, `fall` and `saturation`.

use nwp_mini::physics::kessler::cell::{self, KesslerCell};
use nwp_mini::physics::kessler::params::KesslerFactors;
use nwp_mini::physics::kessler::{
    conversion, evaporation, reflectivity, saturation, sedimentation,
};

use super::pair::{Pair, pairs};
use super::values::{Draw, Precision};

fn factors<R: Precision>(d: &mut Draw<R>) -> KesslerFactors<R> {
    let mut factor = || d.linear(0.5, 1.5, &[R::ONE]);
    KesslerFactors {
        autoconversion: factor(),
        accretion: factor(),
        condensation: factor(),
        evaporation: factor(),
        fall: factor(),
    }
}

/// Exner function.
fn exner<R: Precision>(d: &mut Draw<R>) -> R {
    d.linear(0.2, 1.05, &[R::ONE])
}

fn layer<R: Precision>(d: &mut Draw<R>) -> R {
    d.log(1.0, 5000.0, &[])
}

fn speed_of<R: Precision>(d: &mut Draw<R>) -> R {
    d.amount(1e-3, 30.0, &[])
}

fn flux_of<R: Precision>(d: &mut Draw<R>) -> R {
    d.amount(1e-15, 1.0, &[])
}

fn cell<R: Precision>(d: &mut Draw<R>) -> KesslerCell<R> {
    let theta = d.linear(230.0, 450.0, &[]);
    KesslerCell { theta, qv: d.any_q(), qc: d.any_q(), qr: d.any_q(), made: d.q(&[]) }
}

/// Largest Courant numbers, few of them beyond all measure.
fn largest<R: Precision>(d: &mut Draw<R>) -> R {
    let most = R::SUBSTEPS_MAX * R::COURANT_MAX;
    let [within, beyond] = [0.9995, 1.0005].map(|part| most * R::of(part));
    d.amount(1e-3, 100.0, &[R::COURANT_MAX, R::TWO * R::COURANT_MAX, within, beyond])
}

pub(crate) fn pairs<R: Precision>() -> Vec<Pair<R>> {
    pairs! { _scheme, d:
        "kessler::conversion::accretion"(p = factors(d), dt = d.dt(), qr = d.any_q())
            => conversion::accretion(&p, dt, qr);
        "kessler::conversion::conversion"(
            p = factors(d),
            dt = d.dt(),
            qc = d.q(&[R::AUTOCONVERSION_THRESHOLD]),
            qr = d.any_q()
        ) => conversion::conversion(&p, dt, qc, qr);
        "kessler::saturation::pressure"(exner = exner(d)) => saturation::pressure(exner);
        "kessler::saturation::vapour_pressure"(t = d.t()) => saturation::vapour_pressure(t);
        "kessler::saturation::mixing_ratio"(pressure = d.p(), es = d.log(1e-3, 1e4, &[]))
            => saturation::mixing_ratio(pressure, es);
        "kessler::saturation::excess"(
            p = factors(d),
            t = d.t(),
            pressure = d.p(),
            es = d.log(1e-3, 1e4, &[]),
            qvs = d.log(1e-9, 0.1, &[]),
            qv = d.any_q()
        ) => saturation::excess(&p, t, pressure, es, qvs, qv);
        "kessler::saturation::warming"(exner = exner(d)) => saturation::warming(exner);
        "kessler::evaporation::evaporation"(
            p = factors(d),
            dt = d.dt(),
            rho = d.rho(),
            pressure = d.p(),
            qvs = d.log(1e-9, 0.1, &[]),
            qv = d.near(qvs),
            qr = d.q(&[])
        ) => evaporation::evaporation(&p, dt, rho, pressure, qvs, qv, qr);
        "kessler::evaporation::limited"(
            evaporation = d.q(&[]),
            excess = d.near(-evaporation),
            qc = d.q(&[]),
            qr = d.near(evaporation).abs()
        ) => evaporation::limited(evaporation, excess, qc, qr);
        "kessler::sedimentation::density_factor"(rho_lowest = d.rho(), rho = d.rho())
            => sedimentation::density_factor(rho_lowest, rho);
        "kessler::sedimentation::distance"(dz = layer(d), dz_above = layer(d)) => sedimentation::distance(dz, dz_above);
        "kessler::sedimentation::fall_speed"(
            p = factors(d),
            rho = d.rho(),
            density_factor = d.log(0.8, 30.0, &[R::ONE]),
            qr = d.any_q()
        ) => sedimentation::fall_speed(&p, rho, density_factor, qr);
        "kessler::sedimentation::courant"(speed = speed_of(d), span = d.dt(), per_depth = d.log(1e-4, 1.0, &[]))
            => sedimentation::courant(speed, span, per_depth);
        "kessler::sedimentation::number_of_substeps"(largest = largest(d)) => sedimentation::number_of_substeps(largest);
        "kessler::sedimentation::flux"(rho = d.rho(), qr = d.any_q(), speed = speed_of(d))
            => sedimentation::flux(rho, qr, speed);
        "kessler::sedimentation::precipitation"(flux = flux_of(d), substep = d.dt())
            => sedimentation::precipitation(flux, substep);
        "kessler::sedimentation::passed"(
            qr = d.q(&[]),
            substep = d.dt(),
            per_mass = d.log(1e-4, 1.0, &[]),
            flux = flux_of(d),
            flux_above = flux_of(d)
        ) => sedimentation::passed(qr, substep, per_mass, flux, flux_above);
        "kessler::sedimentation::gained"(
            rho = d.rho(),
            dz = layer(d),
            qr = d.any_q(),
            qr_fallen = d.any_q()
        ) => sedimentation::gained(rho, dz, qr, qr_fallen);
        "kessler::reflectivity"(rho = d.rho(), rain = d.any_q()) => reflectivity(rho, rain);
        "kessler::cell::clipped"(q = d.any_q()) => cell::clipped(q);
        "kessler::cell::made"(q = d.any_q()) => cell::made(q);
        "kessler::cell::water"(qv = d.any_q(), qc = d.any_q(), qr = d.any_q())
            => cell::water(qv, qc, qr);
        "kessler::cell::at_least"(amount = d.rate(), least = d.near(amount))
            => cell::at_least(amount, least);
        "kessler::cell::processed"(
            p = factors(d),
            dt = d.dt(),
            theta_base = d.linear(0.0, 50.0, &[R::ZERO]),
            rho = d.rho(),
            exner = exner(d),
            qr_fallen = d.any_q(),
            cell = cell(d)
        ) => cell::processed(&p, dt, theta_base, rho, exner, qr_fallen, &cell);
    }
}

//! `slope`, `warm` and `ice`.

use nwp_mini::physics::wsm5::ice::{self, Growth};
use nwp_mini::physics::wsm5::{slope, warm};

use super::pair::{Pair, pairs};
use super::values::{Draw, Precision};

fn growth<R: Precision>(d: &mut Draw<R>) -> Growth<R> {
    let rhi = d.log(0.01, 3.0, &[R::ONE]);
    Growth { rhi, excess: d.rate(), left: d.rate() }
}

fn number<R: Precision>(d: &mut Draw<R>) -> R {
    d.log(1e3, 1e6, &[R::ICE_NUMBER_MIN, R::ICE_NUMBER_MAX])
}

pub(crate) fn slopes<R: Precision>() -> Vec<Pair<R>> {
    pairs! { p, d:
        "slope::slope_rain"(rho = d.rho(), qr = d.any_q()) => slope::slope_rain(p, rho, qr);
        "slope::slope_snow"(rho = d.rho(), qs = d.any_q(), n0s_factor = d.n0s_factor())
            => slope::slope_snow(p, rho, qs, n0s_factor);
        "slope::snow_intercept_factor"(t = d.t()) => slope::snow_intercept_factor(p, t);
        "slope::ice_number"(rho = d.rho(), qi = d.any_q()) => slope::ice_number(rho, qi);
        "slope::ice_diameter"(rho = d.rho(), qi = d.q(&[]), number = number(d))
            => slope::ice_diameter(p, rho, qi, number);
        "slope::ventilated_surface"(
            still = d.log(1e5, 1e8, &[p.precr1, p.precs1]),
            ventilated = d.log(1e6, 1e9, &[p.precr2, p.precs2]),
            ventilation = d.log(1.0, 1e4, &[]),
            size = d.slope()
        ) => slope::ventilated_surface(still, ventilated, ventilation, size);
        "slope::fall_speed"(
            factor = d.log(10.0, 3000.0, &[p.pvtr, p.pvts]),
            size = d.slope(),
            density_factor = d.log(0.8, 30.0, &[R::ONE])
        ) => slope::fall_speed(factor, size, density_factor);
        "slope::fall_speed_rain"(
            rho = d.rho(),
            density_factor = d.log(0.8, 30.0, &[R::ONE]),
            qr = d.any_q()
        ) => slope::fall_speed_rain(p, rho, density_factor, qr);
        "slope::fall_speed_snow"(
            rho = d.rho(),
            density_factor = d.log(0.8, 30.0, &[R::ONE]),
            qs = d.any_q(),
            n0s_factor = d.n0s_factor()
        ) => slope::fall_speed_snow(p, rho, density_factor, qs, n0s_factor);
        "slope::fall_speed_crystal"(diameter = d.amount(1e-25, 1e-2, &[R::ICE_DIAMETER_MIN, p.dimax]))
            => slope::fall_speed_crystal(diameter);
        "slope::fall_speed_ice"(rho = d.rho(), qi = d.any_q(), number = number(d))
            => slope::fall_speed_ice(p, rho, qi, number);
    }
}

pub(crate) fn warm<R: Precision>() -> Vec<Pair<R>> {
    pairs! { p, d:
        "warm::praut"(dt_cloud = d.dt(), qc = d.q(&[p.qc0])) => warm::praut(p, dt_cloud, qc);
        "warm::pracw"(
            dt_cloud = d.dt(),
            qc = d.q(&[]),
            qr = d.q(&[]),
            rain = d.slope(),
            density_factor = d.log(0.8, 30.0, &[R::ONE])
        ) => warm::pracw(p, dt_cloud, qc, qr, rain, density_factor);
        "warm::prevp"(
            dt_cloud = d.dt(),
            qr = d.q(&[]),
            rhw = d.log(0.01, 3.0, &[R::ONE]),
            excess = d.rate(),
            coefficients = d.coefficients()
        ) => warm::prevp(p, dt_cloud, qr, rhw, excess, &coefficients);
        "warm::rates"(
            dt_cloud = d.dt(),
            air = d.air(),
            step_start = d.step_start(),
            cell = d.cell(),
            coefficients = d.coefficients()
        ) => warm::rates(p, dt_cloud, &air, &step_start, &cell, &coefficients);
    }
}

pub(crate) fn ice<R: Precision>() -> Vec<Pair<R>> {
    pairs! { p, d:
        "ice::psaci"(
            cold = d.cold(),
            air = d.air(),
            cell = d.cell(),
            number = number(d),
            coefficients = d.coefficients()
        ) => ice::psaci(p, cold, &air, &cell, number, &coefficients);
        "ice::psacw"(
            dt_cloud = d.dt(),
            qc = d.q(&[]),
            qs = d.q(&[]),
            coefficients = d.coefficients(),
            density_factor = d.log(0.8, 30.0, &[R::ONE])
        ) => ice::psacw(p, dt_cloud, qc, qs, &coefficients, density_factor);
        "ice::pidep"(
            dt_cloud = d.dt(),
            rho = d.rho(),
            qi = d.q(&[]),
            number = number(d),
            growth = growth(d),
            coefficients = d.coefficients()
        ) => ice::pidep(p, dt_cloud, rho, qi, number, &growth, &coefficients);
        "ice::psdep"(
            dt_cloud = d.dt(),
            qs = d.q(&[]),
            growth = growth(d),
            coefficients = d.coefficients()
        ) => ice::psdep(p, dt_cloud, qs, &growth, &coefficients);
        "ice::pigen"(
            dt_cloud = d.dt(),
            cold = d.cold(),
            rho = d.rho(),
            qi = d.any_q(),
            growth = growth(d)
        ) => ice::pigen(dt_cloud, cold, rho, qi, &growth);
        "ice::psaut"(dt_cloud = d.dt(), rho = d.rho(), qi = d.q(&[p.roqimax]))
            => ice::psaut(p, dt_cloud, rho, qi);
        "ice::rates"(
            dt_cloud = d.dt(),
            air = d.air(),
            step_start = d.step_start(),
            cell = d.cell(),
            coefficients = d.coefficients(),
            prevp = d.near((cell.qv - step_start.qsi) / dt_cloud)
        ) => ice::rates(p, dt_cloud, &air, &step_start, &cell, &coefficients, prevp);
    }
}

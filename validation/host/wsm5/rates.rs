//! The rates, each function alone on WRF's own intermediate values; their limiting, their
//! application, and the return to saturation.
//!
//! Tolerances as in the processes: the roundings inside WRF's own formula.

use nwp_mini::constants::Constants;
use nwp_mini::physics::wsm5::ice::Growth;
use nwp_mini::physics::wsm5::params::SchemeConstants;
use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::physics::wsm5::slope::{fall_speed_crystal, ice_diameter};
use nwp_mini::physics::wsm5::{StepStart, balance, ice, melt, warm};
use nwp_mini::thermo::saturation_water;

use super::comparison::{Comparison, ROUNDING};
use super::processes::{SMOOTH, undecided};
use super::stored::{Row, rows};

/// Share of the cells in which one per cent must show; elsewhere a difference cancels.
const MOST: f64 = 0.9;
/// The factor for rates that often differ: the remaining vapour, and ice and snow that are used up.
const MANY: f64 = 0.75;

/// Compares one rate before it is limited, in rows where the sign of the supercooling is certain; the function returns
/// its value and an absolute tolerance in addition to [`SMOOTH`] of the expected one.
fn compare(name: &'static str, share: f64, found: impl Fn(&Row) -> (f64, f64)) {
    let mut comparison = Comparison::new(name);
    for row in rows().filter(|row| !undecided(row.get("t_after_inst"))) {
        let expected = row.get(&format!("{name}_raw"));
        let (found, tolerance) = found(&row);
        comparison.cell(&row, found, expected, tolerance + 2.0 * SMOOTH * expected.abs());
    }
    comparison.finish(share);
}

#[test]
fn praut() {
    let p = Scheme::default();
    compare("praut", MOST, |row| (warm::praut(&p, row.dt_cloud(), row.get("qc_after_inst")), 0.0));
}

#[test]
fn pracw() {
    let p = Scheme::default();
    compare("pracw", MOST, |row| {
        let (qc, qr) = (row.get("qc_after_inst"), row.get("qr_after_inst"));
        let rain = row.coefficients().rain;
        (warm::pracw(&p, row.dt_cloud(), qc, qr, rain, row.get("denfac")), 0.0)
    });
}

#[test]
fn prevp() {
    let p = Scheme::default();
    compare("prevp", MOST, |row| {
        let qr = row.get("qr_after_inst");
        let excess = row.excess(row.get("qsw_start"));
        (warm::prevp(&p, row.dt_cloud(), qr, row.get("rhw"), excess, &row.coefficients()), 0.0)
    });
}

/// Supercooling of the cell when the rates are computed, t0 - t.
fn cold(row: &Row) -> f64 {
    f64::FREEZING - row.get("t_after_inst")
}

#[test]
fn psaci() {
    let p = Scheme::default();
    compare("psaci", MOST, |row| {
        let (air, cell, coefficients) = (row.air(), row.cell("after_inst"), row.coefficients());
        let number = row.get("xni");
        let found = ice::psaci(&p, cold(row), &air, &cell, number, &coefficients);
        // The difference of two fall speeds, each a power off by SMOOTH.
        let snow = p.pvts * coefficients.snow.power * air.density_factor;
        let crystal = fall_speed_crystal(ice_diameter(&p, air.rho, cell.qi, number).min(p.dimax));
        let difference = (snow - crystal).abs().max(f64::MIN_POSITIVE);
        (found, SMOOTH * (snow + crystal) / difference * found)
    });
}

#[test]
fn psacw() {
    let p = Scheme::default();
    compare("psacw", MOST, |row| {
        let (qc, qs) = (row.get("qc_after_inst"), row.get("qs_after_inst"));
        let found = ice::psacw(&p, row.dt_cloud(), qc, qs, &row.coefficients(), row.get("denfac"));
        (found, 0.0)
    });
}

/// The vapour available to ice after the preceding rates, and the rounding error of the remainder.
fn growth(row: &Row, so_far: &[&str]) -> (Growth<f64>, f64) {
    let excess = row.excess(row.get("qsi_start"));
    let rates = so_far.iter().map(|name| row.get(&format!("{name}_raw")));
    let left = excess - rates.clone().sum::<f64>();
    let terms = excess.abs() + rates.map(f64::abs).sum::<f64>();
    (Growth { rhi: row.get("rhi"), excess, left }, 4.0 * ROUNDING * terms)
}

/// Content of the ice that forms on nuclei, kg m⁻³, before the existing ice is subtracted.
fn initial_ice(row: &Row) -> f64 {
    f64::INITIAL_ICE
        * (f64::NUCLEI * (f64::NUCLEI_GROWTH * cold(row)).exp()).powf(f64::INITIAL_ICE_EXPONENT)
}

/// True if the rates up to pidep or psdep have used up the excess of vapour; `None` where rounding decides.
fn used_up(row: &Row, so_far: &[&str]) -> Option<bool> {
    // Only a process whose species is present can use up the excess.
    let species = ["qi_after_inst", "qs_after_inst"][so_far.len() - 2];
    if row.get(species) <= 0.0 {
        return Some(false);
    }
    let excess = row.excess(row.get("qsi_start")).abs();
    let rates = so_far.iter().map(|name| row.get(&format!("{name}_raw")));
    let sum = rates.clone().sum::<f64>().abs();
    let terms = excess + rates.map(f64::abs).sum::<f64>();
    ((sum - excess).abs() > 4.0 * ROUNDING * terms).then_some(sum >= excess)
}

#[test]
fn pidep() {
    let p = Scheme::default();
    compare("pidep", MANY, |row| {
        if cold(row) <= 0.0 {
            return (0.0, 0.0);
        }
        let (growth, doubt) = growth(row, &["prevp"]);
        let (rho, qi) = (row.get("input_den"), row.get("qi_after_inst"));
        let coefficients = row.coefficients();
        let number = row.get("xni");
        (ice::pidep(&p, row.dt_cloud(), rho, qi, number, &growth, &coefficients), doubt)
    });
}

#[test]
fn psdep() {
    let p = Scheme::default();
    compare("psdep", MOST, |row| {
        let before = ["prevp", "pidep"];
        if cold(row) <= 0.0 || used_up(row, &before) == Some(true) {
            return (0.0, 0.0);
        }
        let (growth, doubt) = growth(row, &before);
        let qs = row.get("qs_after_inst");
        let found = ice::psdep(&p, row.dt_cloud(), qs, &growth, &row.coefficients());
        if used_up(row, &before).is_none() && row.get("psdep_raw") == 0.0 {
            return (0.0, 0.0);
        }
        (found, doubt)
    });
}

#[test]
fn pigen() {
    compare("pigen", MANY, |row| {
        let (before, all) = (["prevp", "pidep"], ["prevp", "pidep", "psdep"]);
        let stopped = used_up(row, &before) == Some(true) || used_up(row, &all) == Some(true);
        if cold(row) <= 0.0 || stopped {
            return (0.0, 0.0);
        }
        let (growth, doubt) = growth(row, &all);
        let (rho, qi) = (row.get("input_den"), row.get("qi_after_inst"));
        let found = ice::pigen(row.dt_cloud(), cold(row), rho, qi, &growth);
        let uncertain = used_up(row, &before).is_none() || used_up(row, &all).is_none();
        if uncertain && row.get("pigen_raw") == 0.0 {
            return (0.0, 0.0);
        }
        // An exponential of a power, less the ice there is.
        (found, doubt + 4.0 * SMOOTH * initial_ice(row) / rho / row.dt_cloud())
    });
}

#[test]
fn psaut() {
    let p = Scheme::default();
    compare("psaut", MOST, |row| {
        if cold(row) <= 0.0 {
            return (0.0, 0.0);
        }
        let (rho, qi, dt) = (row.get("input_den"), row.get("qi_after_inst"), row.dt_cloud());
        (ice::psaut(&p, dt, rho, qi), 4.0 * ROUNDING * (qi + p.roqimax / rho) / dt)
    });
}

/// All cold rates together: the remainder of each for the next, and the end of growth.
#[test]
fn cold_rates_in_their_order() {
    let p = Scheme::default();
    let mut comparison = Comparison::new("cold rates");
    for row in rows().filter(|row| !undecided(row.get("t_after_inst"))) {
        let so_far = ["prevp", "pidep", "psdep"];
        if (2..=3).any(|n| used_up(&row, &so_far[..n]).is_none()) {
            continue;
        }
        let (expected_warm, expected) = row.rates("_raw");
        let cell = row.cell("after_inst");
        let (dt, prevp) = (row.dt_cloud(), expected_warm.prevp);
        let found =
            ice::rates(&p, dt, &row.air(), &row.step_start(), &cell, &row.coefficients(), prevp);
        let (_, doubt) = growth(&row, &so_far);
        let terms = expected.pidep.abs() + expected.psdep.abs();
        // The humidity is a quotient of two stored numbers here, and growth goes with its
        // difference from 1.
        let rhi = row.get("rhi");
        let humidity = 4.0 * ROUNDING * rhi / (rhi - 1.0).abs().max(ROUNDING);
        let doubt = 16.0 * doubt + (SMOOTH + humidity) * terms;
        comparison.cell(&row, found.pidep, expected.pidep, doubt + SMOOTH * expected.pidep.abs());
        comparison.cell(&row, found.psdep, expected.psdep, doubt + SMOOTH * expected.psdep.abs());
        let tolerance = doubt + 4.0 * SMOOTH * initial_ice(&row) / row.air().rho / dt;
        comparison.cell(&row, found.pigen, expected.pigen, tolerance);
    }
    comparison.finish(MANY);
}

#[test]
fn limiting() {
    let mut comparison = Comparison::new("limiting");
    let mut limited = 0;
    for row in rows().filter(|row| !undecided(row.get("t_after_inst"))) {
        let (raw_warm, raw_ice) = row.rates("_raw");
        let cell = row.cell("after_inst");
        let dt = row.dt_cloud();
        let (mut warm, mut ice) = (raw_warm, raw_ice);
        balance::limit(dt, &mut warm, &mut ice, &cell);
        let (expected_warm, expected_ice) = row.rates("");
        // The four sums cancel where gains oppose losses; the error of a factor is the size of the terms relative to
        // the available amount.
        let terms = [
            (cell.qc, raw_warm.praut + raw_warm.pracw + raw_ice.psacw),
            (cell.qi, raw_ice.psaut + raw_ice.psaci + raw_ice.pigen.abs() + raw_ice.pidep.abs()),
            (cell.qr, raw_warm.praut + raw_warm.pracw + raw_warm.prevp.abs() + raw_ice.psacw),
            (cell.qs, raw_ice.psdep.abs() + raw_ice.psaut + raw_ice.psaci + raw_ice.psacw),
        ];
        let condition: f64 = terms
            .iter()
            .map(|&(q, rates)| if rates * dt > q { rates * dt / q.max(f64::Q_MIN) } else { 1.0 })
            .fold(1.0, f64::max);
        let mut pair = |found: f64, expected: f64, raw: f64| {
            limited += usize::from((raw - expected).abs() > 1.0e-3 * raw.abs());
            let tolerance = 16.0 * ROUNDING * condition * expected.abs();
            comparison.cell(&row, found, expected, tolerance);
        };
        pair(warm.praut, expected_warm.praut, raw_warm.praut);
        pair(warm.pracw, expected_warm.pracw, raw_warm.pracw);
        pair(warm.prevp, expected_warm.prevp, raw_warm.prevp);
        pair(ice.psaci, expected_ice.psaci, raw_ice.psaci);
        pair(ice.psacw, expected_ice.psacw, raw_ice.psacw);
        pair(ice.pidep, expected_ice.pidep, raw_ice.pidep);
        pair(ice.psdep, expected_ice.psdep, raw_ice.psdep);
        pair(ice.pigen, expected_ice.pigen, raw_ice.pigen);
        pair(ice.psaut, expected_ice.psaut, raw_ice.psaut);
    }
    println!("{limited} rates are limited");
    assert!(limited > 20, "only {limited} rates are limited");
    comparison.finish(MANY);
}

#[test]
fn update() {
    let mut comparison = Comparison::new("update");
    for row in rows().filter(|row| !undecided(row.get("t_after_inst"))) {
        let (warm, ice) = row.rates("_raw");
        let before = row.cell("after_inst");
        let (air, dt) = (row.air(), row.dt_cloud());
        let mut cell = before;
        balance::apply(dt, &air, warm, ice, &mut cell);
        let expected = row.cell("after_update");
        let rates = [
            warm.praut, warm.pracw, warm.prevp, ice.psaci, ice.psacw, ice.pidep, ice.psdep,
            ice.pigen, ice.psaut,
        ];
        let moved = rates.iter().map(|x| x.abs()).sum::<f64>() * dt;
        let tolerance = |q: f64| 4.0 * ROUNDING * q.abs() + 16.0 * ROUNDING * moved;
        comparison.cell(&row, cell.qv, expected.qv, tolerance(before.qv));
        comparison.cell(&row, cell.qc, expected.qc, tolerance(before.qc));
        comparison.cell(&row, cell.qr, expected.qr, tolerance(before.qr));
        comparison.cell(&row, cell.qi, expected.qi, tolerance(before.qi));
        comparison.cell(&row, cell.qs, expected.qs, tolerance(before.qs));
        let warming = f64::L_SUBLIMATION / air.heat_capacity;
        let change = (cell.t - before.t, expected.t - before.t);
        let rounding = 4.0 * ROUNDING * before.t + warming * tolerance(0.0);
        comparison.cell(&row, change.0, change.1, rounding);
    }
    // Remainders of a species that is used up, and small changes of a large temperature, are poor measures of the
    // rates.
    comparison.finish(0.5);
}

#[test]
fn pcond() {
    let mut comparison = Comparison::new("pcond");
    for row in rows() {
        let (air, dt) = (row.air(), row.dt_cloud());
        let cell = row.cell("after_update");
        let found = melt::pcond(dt, &air, &cell, row.get("qsw_end"));
        let expected = row.get("pcond");
        comparison.cell(&row, found, expected, SMOOTH * expected.abs());
    }
    comparison.finish(MOST);
}

/// The state after condensation, with saturation recomputed.
#[test]
fn condensation() {
    let p = Scheme::default();
    let mut comparison = Comparison::new("condensation");
    for row in rows() {
        let (air, dt) = (row.air(), row.dt_cloud());
        let before = row.cell("after_update");
        let mut cell = before;
        // No temperature is this one, so saturation is not taken from the start.
        let step_start = StepStart { t: 0.0, ..row.step_start() };
        melt::condense(&p, dt, &air, &step_start, &mut cell);
        // As the tolerance of saturation itself; the excess is a difference of this size.
        let qsw = saturation_water(before.t, air.p, p.vapour_pressure_cap);
        let doubt = 4.0 * SMOOTH * qsw * (1.0 + qsw / <f64 as Constants>::EPSILON);
        let mut pair = |found: f64, name: &str, doubt: f64| {
            let expected = row.get(name);
            comparison.cell(&row, found, expected, doubt + 4.0 * ROUNDING * expected.abs());
        };
        pair(cell.qv, "q_end", doubt);
        pair(cell.qc, "qc_end", doubt);
        pair(cell.t, "t_end", doubt * air.latent_heat / air.heat_capacity);
    }
    comparison.finish(MOST);
}

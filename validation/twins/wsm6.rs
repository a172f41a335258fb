//! WSM6: `slope`, `collection`, `vapour`, `ice`, `cell`, `melt`, `balance`, `step` and `reflectivity`.

use nwp_mini::physics::wsm5::ice::Growth;
use nwp_mini::physics::wsm5::reflectivity::Bins;
use nwp_mini::physics::wsm5::warm::WarmRates;
use nwp_mini::physics::wsm6::balance::{self, Targets};
use nwp_mini::physics::wsm6::cell::{self, Wsm6Cell, Wsm6Coefficients};
use nwp_mini::physics::wsm6::collection::{self, Collision};
use nwp_mini::physics::wsm6::ice::{self, Wsm6IceRates};
use nwp_mini::physics::wsm6::params::{Wsm6Constants, Wsm6Params};
use nwp_mini::physics::wsm6::reflectivity::{self, Wsm6Target};
use nwp_mini::physics::wsm6::scheme::Scheme;
use nwp_mini::physics::wsm6::step::{self, Wsm6Precipitation};
use nwp_mini::physics::wsm6::{melt, slope, vapour};

use super::diagnostics::AHEAD;
use super::pair::{Pair, nothing, pairs, truth};
use super::values::{Draw, Precision};

/// The parameters with graupel, or with hail.
fn params<R: Precision>(d: &mut Draw<R>) -> Wsm6Params<R> {
    R::wsm6()[usize::from(!d.chance(2))].params
}

/// The scheme with these parameters.
fn with<R: Precision>(params: Wsm6Params<R>) -> Scheme<R> {
    Scheme { params, ..R::wsm6()[0] }
}

fn density_factor<R: Precision>(d: &mut Draw<R>) -> R {
    d.log(0.8, 30.0, &[R::ONE])
}

/// A mixing ratio of precipitation, near the threshold of what becomes of collected rain.
fn q<R: Precision>(d: &mut Draw<R>) -> R {
    d.q(&[R::Q_GRAUPEL_FORMATION, R::GRAUPEL_AGGREGATION_THRESHOLD])
}

/// A mixing ratio near the sum below which there is no common speed, or of the usual size.
fn little<R: Precision>(d: &mut Draw<R>) -> R {
    if d.chance(2) { d.amount(1e-17, 1e-13, &[R::Q_COMMON_MIN]) } else { d.q(&[]) }
}

fn speed<R: Precision>(d: &mut Draw<R>) -> R {
    d.amount(1e-3, 20.0, &[])
}

fn full<R: Precision>(d: &mut Draw<R>) -> Wsm6Cell<R> {
    // Processes of several species need cells that have them, and few cells of a model do.
    let mut amount = || if d.chance(6) { R::ZERO } else { q(d) };
    let [qc, qr, qi, qs, qg] = std::array::from_fn(|_| amount());
    Wsm6Cell { t: temperature(d), qv: d.any_q(), qc, qr, qi, qs, qg }
}

/// A temperature, often one of the troposphere.
fn temperature<R: Precision>(d: &mut Draw<R>) -> R {
    if d.chance(2) { d.linear(233.0, 283.0, &[R::FREEZING]) } else { d.t() }
}

fn coefficients<R: Precision>(d: &mut Draw<R>) -> Wsm6Coefficients<R> {
    Wsm6Coefficients { common: d.coefficients(), graupel: d.slope() }
}

fn diameter<R: Precision>(d: &mut Draw<R>) -> R {
    d.amount(1e-8, 5e-4, &[])
}

fn motion<R: Precision>(d: &mut Draw<R>) -> Collision<R> {
    let (rain, rimed, ice) = (speed(d), speed(d), speed(d));
    Collision { rain, rimed, ice, diameter: diameter(d), number: number(d) }
}

fn number<R: Precision>(d: &mut Draw<R>) -> R {
    d.log(1e3, 1e6, &[R::ICE_NUMBER_MIN, R::ICE_NUMBER_MAX])
}

fn growth<R: Precision>(d: &mut Draw<R>) -> Growth<R> {
    Growth { rhi: d.log(0.01, 3.0, &[R::ONE]), excess: d.rate(), left: d.rate() }
}

fn warm_rates<R: Precision>(d: &mut Draw<R>) -> WarmRates<R> {
    WarmRates { praut: d.gain(), pracw: d.gain(), prevp: d.rate() }
}

fn ice_rates<R: Precision>(d: &mut Draw<R>) -> Wsm6IceRates<R> {
    Wsm6IceRates {
        praci: d.gain(),
        piacr: d.gain(),
        psaci: d.gain(),
        pgaci: d.gain(),
        paacw: d.gain(),
        pracs: d.gain(),
        psacr: d.gain(),
        pgacr: d.gain(),
        pseml: -d.gain(),
        pgeml: -d.gain(),
        pidep: d.rate(),
        psdep: d.rate(),
        pgdep: d.rate(),
        pigen: d.rate(),
        psaut: d.gain(),
        pgaut: d.gain(),
        psevp: -d.gain(),
        pgevp: -d.gain(),
    }
}

fn parts<R: Precision>(d: &mut Draw<R>) -> Targets<R> {
    let mut part = || if d.chance(2) { R::ONE } else { R::ZERO };
    Targets { of_snow: part(), of_ice: part() }
}

fn sum<R: Precision>(d: &mut Draw<R>) -> Wsm6Precipitation<R> {
    let mut amount = || d.amount(1e-12, 100.0, &[]);
    let (rain, snow, graupel) = (amount(), amount(), amount());
    let sr = d.linear(0.0, 1.0, &[]);
    Wsm6Precipitation { rain, snow, graupel, sr, fall_residual: d.rate(), clipped: d.rate() }
}

fn fallen<R: Precision>(d: &mut Draw<R>) -> R {
    d.signed(1e-15, 10.0)
}

fn target<R: Precision>(d: &mut Draw<R>) -> Wsm6Target<R> {
    Wsm6Target { common: d.target(), qg: d.q(&[]) }
}

pub(crate) fn slopes<R: Precision>() -> Vec<Pair<R>> {
    pairs! { _p, d:
        "wsm6::slope::slope_graupel"(p = params(d), rho = d.rho(), qg = d.any_q())
            => slope::slope_graupel(&p, rho, qg);
        "wsm6::slope::fall_speed_graupel"(
            p = params(d),
            rho = d.rho(),
            density_factor = density_factor(d),
            qg = d.any_q()
        ) => slope::fall_speed_graupel(&p, rho, density_factor, qg);
        "wsm6::slope::common_speed"(ws = speed(d), wg = speed(d), qs = little(d), qg = little(d))
            => slope::common_speed(ws, wg, qs, qg);
        "wsm6::slope::fall_speed_snow_graupel"(
            p = params(d),
            rho = d.rho(),
            density_factor = density_factor(d),
            n0s_factor = d.n0s_factor(),
            qs = d.any_q(),
            qg = d.any_q()
        ) => slope::fall_speed_snow_graupel(&p, rho, density_factor, n0s_factor, qs, qg);
    }
}

pub(crate) fn collection<R: Precision>() -> Vec<Pair<R>> {
    pairs! { _p, d:
        "wsm6::collection::collision"(
            p = params(d),
            air = d.air(),
            cell = full(d),
            number = number(d),
            coefficients = coefficients(d)
        ) => collection::collision(&p, &air, &cell, number, &coefficients);
        "wsm6::collection::efficiency"(collector = q(d), collected = d.log(1e-15, 0.05, &[]))
            => collection::efficiency(collector, collected);
        "wsm6::collection::ice_sweep"(s = d.log(1e-6, 0.01, &[]), diameter = diameter(d))
            => collection::ice_sweep(s, diameter);
        "wsm6::collection::ice_collected"(
            qi = q(d),
            intercept = d.log(1e4, 1e11, &[]),
            speed = speed(d),
            collector = d.slope(),
            motion = motion(d)
        ) => collection::ice_collected(qi, intercept, speed, collector, &motion);
        "wsm6::collection::sticking"(cold = d.cold()) => collection::sticking(cold);
        "wsm6::collection::mass_collected"(
            intercepts = d.log(1e10, 1e18, &[]),
            speed = d.signed(1e-3, 20.0),
            density = d.log(1.0, 1e6, &[]),
            collected = d.slope(),
            collector = d.slope()
        ) => collection::mass_collected(intercepts, speed, density, collected, collector);
        "wsm6::collection::praci"(
            p = params(d),
            dt_cloud = d.dt(),
            cell = full(d),
            coefficients = coefficients(d),
            motion = motion(d)
        ) => collection::praci(&p, dt_cloud, &cell, &coefficients, &motion);
        "wsm6::collection::piacr"(
            p = params(d),
            dt_cloud = d.dt(),
            air = d.air(),
            cell = full(d),
            coefficients = coefficients(d),
            motion = motion(d)
        ) => collection::piacr(&p, dt_cloud, &air, &cell, &coefficients, &motion);
        "wsm6::collection::psaci"(
            p = params(d),
            dt_cloud = d.dt(),
            cell = full(d),
            coefficients = coefficients(d),
            motion = motion(d)
        ) => collection::psaci(&p, dt_cloud, &cell, &coefficients, &motion);
        "wsm6::collection::pgaci"(
            p = params(d),
            dt_cloud = d.dt(),
            cell = full(d),
            coefficients = coefficients(d),
            motion = motion(d)
        ) => collection::pgaci(&p, dt_cloud, &cell, &coefficients, &motion);
        "wsm6::collection::water_collected"(
            factor = d.log(1e7, 1e11, &[]),
            collector = d.slope(),
            q = q(d),
            qc = d.log(1e-15, 0.05, &[])
        ) => collection::water_collected(factor, collector, q, qc);
        "wsm6::collection::psacw"(
            p = params(d),
            dt_cloud = d.dt(),
            air = d.air(),
            cell = full(d),
            coefficients = coefficients(d)
        ) => collection::psacw(&p, dt_cloud, &air, &cell, &coefficients);
        "wsm6::collection::pgacw"(
            p = params(d),
            dt_cloud = d.dt(),
            air = d.air(),
            cell = full(d),
            coefficients = coefficients(d)
        ) => collection::pgacw(&p, dt_cloud, &air, &cell, &coefficients);
        "wsm6::collection::paacw"(psacw = d.gain(), pgacw = d.gain(), qs = little(d), qg = little(d))
            => collection::paacw(psacw, pgacw, qs, qg);
    }
}

pub(crate) fn precipitation<R: Precision>() -> Vec<Pair<R>> {
    pairs! { _p, d:
        "wsm6::collection::pracs"(
            p = params(d),
            dt_cloud = d.dt(),
            air = d.air(),
            cell = full(d),
            coefficients = coefficients(d),
            motion = motion(d)
        ) => collection::pracs(&p, dt_cloud, &air, &cell, &coefficients, &motion);
        "wsm6::collection::psacr"(
            p = params(d),
            dt_cloud = d.dt(),
            air = d.air(),
            cell = full(d),
            coefficients = coefficients(d),
            motion = motion(d)
        ) => collection::psacr(&p, dt_cloud, &air, &cell, &coefficients, &motion);
        "wsm6::collection::pgacr"(
            p = params(d),
            dt_cloud = d.dt(),
            air = d.air(),
            cell = full(d),
            coefficients = coefficients(d),
            motion = motion(d)
        ) => collection::pgacr(&p, dt_cloud, &air, &cell, &coefficients, &motion);
    }
}

pub(crate) fn rates<R: Precision>() -> Vec<Pair<R>> {
    pairs! { _p, d:
        "wsm6::vapour::limited_growth"(rate = d.rate(), most_lost = d.gain(), growth = growth(d))
            => vapour::limited_growth(rate, most_lost, &growth);
        "wsm6::vapour::pidep"(
            dt_cloud = d.dt(),
            qi = d.q(&[]),
            diameter = diameter(d),
            number = number(d),
            growth = growth(d),
            coefficients = coefficients(d)
        ) => vapour::pidep(dt_cloud, qi, diameter, number, &growth, &coefficients);
        "wsm6::vapour::snow_surface"(p = params(d), coefficients = coefficients(d))
            => vapour::snow_surface(&p, &coefficients);
        "wsm6::vapour::graupel_surface"(p = params(d), coefficients = coefficients(d))
            => vapour::graupel_surface(&p, &coefficients);
        "wsm6::vapour::pgdep"(
            p = params(d),
            dt_cloud = d.dt(),
            qg = d.q(&[]),
            growth = growth(d),
            coefficients = coefficients(d)
        ) => vapour::pgdep(&p, dt_cloud, qg, &growth, &coefficients);
        "wsm6::vapour::melt_evaporation"(
            dt_cloud = d.dt(),
            q = d.q(&[]),
            rhw = d.log(0.01, 3.0, &[R::ONE]),
            surface = d.log(1e-6, 1e4, &[]),
            coefficients = coefficients(d)
        ) => vapour::melt_evaporation(dt_cloud, q, rhw, surface, &coefficients);
        "wsm6::ice::melting_by_water"(dt_cloud = d.dt(), cold = d.cold(), q = d.q(&[]), water = d.gain())
            => ice::melting_by_water(dt_cloud, cold, q, water);
        "wsm6::ice::pgaut"(dt_cloud = d.log(0.01, 1e5, &[]), cold = d.cold(), qs = q(d))
            => ice::pgaut(dt_cloud, cold, qs);
        "wsm6::ice::collection_rates"(
            p = params(d),
            dt = d.dt(),
            air = d.air(),
            cell = full(d),
            coefficients = coefficients(d),
            motion = motion(d)
        ) => ice::collection_rates(&with(p), dt, &air, &cell, &coefficients, &motion);
        "wsm6::ice::growth_rates"(
            p = params(d),
            dt_cloud = d.dt(),
            air = d.air(),
            step_start = d.step_start(),
            cell = full(d),
            coefficients = coefficients(d),
            motion = motion(d),
            prevp = d.rate()
        ) => ice::growth_rates(&with(p), dt_cloud, &air, &step_start, &cell, &coefficients, &motion, prevp);
        "wsm6::ice::melting_rates"(
            p = params(d),
            dt_cloud = d.dt(),
            step_start = d.step_start(),
            cell = full(d),
            coefficients = coefficients(d),
            collected = ice_rates(d)
        ) => ice::melting_rates(&with(p), dt_cloud, &step_start, &cell, &coefficients, &collected);
        "wsm6::ice::rates"(
            p = params(d),
            dt_cloud = d.dt(),
            air = d.air(),
            step_start = d.step_start(),
            cell = full(d),
            coefficients = coefficients(d),
            prevp = d.rate()
        ) => ice::rates(&with(p), dt_cloud, &air, &step_start, &cell, &coefficients, prevp);
    }
}

pub(crate) fn cells<R: Precision>() -> Vec<Pair<R>> {
    pairs! { _p, d:
        "wsm6::cell::without_graupel"(cell = full(d)) => cell::without_graupel(&cell);
        "wsm6::cell::is_clear"(cell = sparse(d)) => truth::<R>(cell::is_clear(&cell));
        "wsm6::cell::water"(cell = full(d)) => cell::water(&cell);
        "wsm6::cell::coefficients"(
            p = params(d),
            air = d.air(),
            step_start = d.step_start(),
            cell = sparse(d)
        ) => cell::coefficients(&p, &air, &step_start, &cell);
        "wsm6::melt::pgmlt"(
            p = params(d),
            dt_cloud = d.dt(),
            air = d.air(),
            cell = full(d),
            ventilation = d.log(1.0, 1e4, &[]),
            graupel = d.slope()
        ) => melt::pgmlt(&p, dt_cloud, &air, &cell, ventilation, graupel);
        "wsm6::melt::melt"(p = params(d), dt_cloud = d.dt(), air = d.air(), cell = full(d))
            => nothing(|| melt::melt(&with(p), dt_cloud, &air, &mut cell)), cell;
        "wsm6::melt::adjust_phase"(
            p = params(d),
            dt_cloud = d.dt(),
            air = d.air(),
            qr_for_slope = d.q(&[]),
            cell = full(d)
        ) => nothing(|| melt::adjust_phase(&with(p), dt_cloud, &air, qr_for_slope, &mut cell)), cell;
        "wsm6::melt::condense"(
            p = params(d),
            dt_cloud = d.dt(),
            air = d.air(),
            step_start = d.step_start(),
            cell = full(d)
        ) => melt::condense(&with(p), dt_cloud, &air, &step_start, &mut cell), cell;
        "wsm6::step::warm_rates"(
            p = params(d),
            dt_cloud = d.dt(),
            air = d.air(),
            step_start = d.step_start(),
            cell = full(d),
            coefficients = d.coefficients()
        ) => step::warm_rates(&with(p), dt_cloud, &air, &step_start, &cell, &coefficients);
        "wsm6::step::apply_rates"(
            p = params(d),
            dt_cloud = d.dt(),
            air = d.air(),
            step_start = d.step_start(),
            cell = sparse(d)
        ) => step::apply_rates(&with(p), dt_cloud, &air, &step_start, &mut cell), cell;
        "wsm6::step::condense"(
            p = params(d),
            dt_cloud = d.dt(),
            air = d.air(),
            step_start = d.step_start(),
            cell = full(d)
        ) => step::condense(&with(p), dt_cloud, &air, &step_start, &mut cell), cell;
        "wsm6::step::deposit"(
            dt_cloud = d.dt(),
            depth = d.log(1.0, 5000.0, &[]),
            rain = fallen(d),
            snow = fallen(d),
            graupel = fallen(d),
            ice = fallen(d),
            sum = sum(d)
        ) => nothing(|| step::deposit(dt_cloud, depth, rain, snow, graupel, ice, &mut sum)), sum;
    }
}

/// A cell that may be without any condensate, or with one species alone.
fn sparse<R: Precision>(d: &mut Draw<R>) -> Wsm6Cell<R> {
    let mut cell = full(d);
    let few = d.chance(2);
    for q in [&mut cell.qc, &mut cell.qr, &mut cell.qi, &mut cell.qs, &mut cell.qg] {
        if few && !d.chance(5) {
            *q = R::ZERO;
        }
    }
    cell
}

pub(crate) fn balance<R: Precision>() -> Vec<Pair<R>> {
    pairs! { _p, d:
        "wsm6::balance::targets"(cell = full(d)) => balance::targets(&cell);
        "wsm6::balance::cloud_loss"(warm = warm_rates(d), ice = ice_rates(d))
            => balance::cloud_loss(&warm, &ice);
        "wsm6::balance::ice_loss"(ice = ice_rates(d)) => balance::ice_loss(&ice);
        "wsm6::balance::rain_gain_cold"(warm = warm_rates(d), ice = ice_rates(d))
            => balance::rain_gain_cold(&warm, &ice);
        "wsm6::balance::rain_gain_warm"(warm = warm_rates(d), ice = ice_rates(d))
            => balance::rain_gain_warm(&warm, &ice);
        "wsm6::balance::snow_gain_cold"(ice = ice_rates(d), targets = parts(d))
            => balance::snow_gain_cold(&ice, &targets);
        "wsm6::balance::graupel_gain_cold"(ice = ice_rates(d), targets = parts(d))
            => balance::graupel_gain_cold(&ice, &targets);
        "wsm6::balance::limit_cloud"(dt = d.dt(), warm = warm_rates(d), ice = ice_rates(d), cell = full(d))
            => nothing(|| balance::limit_cloud(dt, &mut warm, &mut ice, &cell)), warm, ice;
        "wsm6::balance::limit_cold"(
            dt = d.dt(),
            warm = warm_rates(d),
            ice = ice_rates(d),
            targets = parts(d),
            cell = full(d)
        ) => nothing(|| balance::limit_cold(dt, &mut warm, &mut ice, &targets, &cell)), warm, ice;
        "wsm6::balance::limit_warm"(dt = d.dt(), warm = warm_rates(d), ice = ice_rates(d), cell = full(d))
            => nothing(|| balance::limit_warm(dt, &mut warm, &mut ice, &cell)), warm, ice;
        "wsm6::balance::apply_cold"(
            dt = d.dt(),
            air = d.air(),
            warm = warm_rates(d),
            ice = ice_rates(d),
            targets = parts(d),
            cell = full(d)
        ) => balance::apply_cold(dt, &air, &warm, &ice, &targets, &mut cell), cell;
        "wsm6::balance::apply_warm"(
            dt = d.dt(),
            air = d.air(),
            warm = warm_rates(d),
            ice = ice_rates(d),
            cell = full(d)
        ) => balance::apply_warm(dt, &air, &warm, &ice, &mut cell), cell;
        "wsm6::balance::apply"(
            dt_cloud = d.dt(),
            air = d.air(),
            warm = warm_rates(d),
            ice = ice_rates(d),
            cell = full(d)
        ) => balance::apply(dt_cloud, &air, warm, ice, &mut cell), cell;
    }
}

pub(crate) fn reflectivity<R: Precision>() -> Vec<Pair<R>> {
    pairs! { _p, d:
        "wsm6::reflectivity::has_graupel"(qg = d.q(&[])) => truth::<R>(reflectivity::has_graupel(qg));
        "wsm6::reflectivity::is_melting"(target = target(d), above = target_above(d))
            => truth::<R>(reflectivity::is_melting(&target, &above));
        "wsm6::reflectivity::z_graupel"(p = params(d), target = target(d))
            => reflectivity::z_graupel(&p, &target);
        "wsm6::reflectivity::z_melting_graupel"(
            p = params(d),
            bins = Bins::up_to(f64::GRAUPEL_BIN_MAX),
            target = target(d),
            graupel_above = d.amount(1e-14, 0.05, &[])
        ) => reflectivity::z_melting_graupel(&p, &bins, &target, graupel_above); within AHEAD;
    }
}

/// A level without much that is frozen.
fn target_above<R: Precision>(d: &mut Draw<R>) -> Wsm6Target<R> {
    let mut above = target(d);
    if d.chance(2) {
        above.common.qs = R::ZERO;
    }
    if d.chance(2) {
        above.qg = R::ZERO;
    }
    above
}

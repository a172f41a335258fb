//! `cell`, `melt`, `balance` and `step`.

use nwp_mini::dry_mass::mismatch;
use nwp_mini::physics::wsm5::ice::IceRates;
use nwp_mini::physics::wsm5::step::{self, Precipitation};
use nwp_mini::physics::wsm5::warm::WarmRates;
use nwp_mini::physics::wsm5::{balance, cell, melt};

use super::pair::{Pair, nothing, pairs, truth};
use super::values::{Draw, Precision};

fn warm_rates<R: Precision>(d: &mut Draw<R>) -> WarmRates<R> {
    WarmRates { praut: d.gain(), pracw: d.gain(), prevp: d.rate() }
}

fn ice_rates<R: Precision>(d: &mut Draw<R>) -> IceRates<R> {
    IceRates {
        psaci: d.gain(),
        psacw: d.gain(),
        pidep: d.rate(),
        psdep: d.rate(),
        pigen: d.rate(),
        psaut: d.gain(),
    }
}

fn sum<R: Precision>(d: &mut Draw<R>) -> Precipitation<R> {
    Precipitation {
        rain: d.amount(1e-12, 100.0, &[]),
        snow: d.amount(1e-12, 100.0, &[]),
        rainncv: d.amount(1e-14, 10.0, &[]),
        snowncv: d.amount(1e-14, 10.0, &[]),
        sr: d.linear(0.0, 1.0, &[]),
        fall_residual: d.rate(),
        clipped: d.rate(),
    }
}

fn fallen<R: Precision>(d: &mut Draw<R>) -> R {
    d.signed(1e-15, 10.0)
}

pub(crate) fn cells<R: Precision>() -> Vec<Pair<R>> {
    pairs! { p, d:
        "cell::is_clear"(cell = d.cell()) => truth::<R>(cell::is_clear(&cell));
        "cell::water"(cell = d.cell()) => cell::water(&cell);
        "mismatch::mass_mismatch"(
            mass = d.log(1e6, 1e12, &[]),
            per_area = d.log(1e-10, 1e-4, &[]),
            rho = d.rho(),
            dz = d.log(1.0, 5000.0, &[]),
            before = d.any_q(),
            after = d.any_q()
        ) => mismatch::mass_mismatch(mass, per_area, rho, dz, before, after);
        "cell::set_call_invariants"(cell = d.cell(), air = d.air()) => nothing(|| cell::set_call_invariants(&cell, &mut air)), air;
        "cell::step_start"(air = d.air(), cell = d.cell()) => cell::step_start(p, &air, &cell);
        "cell::coefficients"(air = d.air(), step_start = d.step_start(), cell = d.cell())
            => cell::coefficients(p, &air, &step_start, &cell);
    }
}

pub(crate) fn melt<R: Precision>() -> Vec<Pair<R>> {
    pairs! { p, d:
        "melt::melting"(
            air = d.air(),
            t = d.t(),
            n0s_factor = d.n0s_factor(),
            snow = d.slope()
        ) => melt::melting(p, &air, t, n0s_factor, snow);
        "melt::psmlt"(
            dt_cloud = d.dt(),
            air = d.air(),
            cell = d.cell(),
            n0s_factor = d.n0s_factor(),
            snow = d.slope()
        ) => melt::psmlt(p, dt_cloud, &air, &cell, n0s_factor, snow);
        "melt::psmlt_in_substep"(
            dt_cloud = d.dt(),
            substeps = d.log(1.0, 50.0, &[R::ONE]),
            air = d.air(),
            cell = d.cell(),
            snow = d.slope()
        ) => melt::psmlt_in_substep(p, dt_cloud, substeps, &air, &cell, snow);
        "melt::melt"(air = d.air(), psmlt = -d.q(&[]), cell = d.cell())
            => nothing(|| melt::melt(&air, psmlt, &mut cell)), cell;
        "melt::melt_snow"(dt_cloud = d.dt(), air = d.air(), cell = d.cell())
            => nothing(|| melt::melt_snow(p, dt_cloud, &air, &mut cell)), cell;
        "melt::melt_snow_in_substep"(
            dt_cloud = d.dt(),
            substeps = d.log(1.0, 50.0, &[R::ONE]),
            air = d.air(),
            snow = d.slope(),
            cell = d.cell()
        ) => nothing(|| melt::melt_snow_in_substep(p, dt_cloud, substeps, &air, snow, &mut cell)), cell;
        "melt::pimlt"(cold = d.cold(), qi = d.q(&[])) => melt::pimlt(cold, qi);
        "melt::pihmf"(cold = d.cold(), qc = d.q(&[])) => melt::pihmf(cold, qc);
        "melt::freezing_growth"(cold = d.cold()) => melt::freezing_growth(p, cold);
        "melt::pihtf"(dt_cloud = d.dt(), cold = d.cold(), rho = d.rho(), qc = d.q(&[]))
            => melt::pihtf(p, dt_cloud, cold, rho, qc);
        "melt::psfrz"(
            dt_cloud = d.dt(),
            cold = d.cold(),
            rho = d.rho(),
            qr = d.q(&[]),
            rain = d.slope()
        ) => melt::psfrz(p, dt_cloud, cold, rho, qr, rain);
        "melt::adjust_phase"(
            dt_cloud = d.dt(),
            air = d.air(),
            qr_for_slope = d.q(&[]),
            cell = d.cell()
        ) => nothing(|| melt::adjust_phase(p, dt_cloud, &air, qr_for_slope, &mut cell)), cell;
        "melt::pcond"(
            dt_cloud = d.dt(),
            air = d.air(),
            cell = d.cell(),
            qsw = d.log(1e-18, 0.1, &[])
        ) => melt::pcond(dt_cloud, &air, &cell, qsw);
        "melt::condense"(dt_cloud = d.dt(), air = d.air(), step_start = d.step_start(), cell = d.cell())
            => melt::condense(p, dt_cloud, &air, &step_start, &mut cell), cell;
    }
}

pub(crate) fn balance<R: Precision>() -> Vec<Pair<R>> {
    pairs! { p, d:
        "balance::limiter_factor"(available = d.any_q(), loss = d.signed(1e-18, 0.1))
            => balance::limiter_factor(available, loss);
        "balance::limit"(dt = d.dt(), warm = warm_rates(d), ice = ice_rates(d), cell = d.cell())
            => nothing(|| balance::limit(dt, &mut warm, &mut ice, &cell)), warm, ice;
        "balance::add_clipped"(q = d.q(&[]), amount = d.signed(1e-18, 0.1))
            => balance::add_clipped(&mut q, amount), q;
        "balance::sub_clipped"(q = d.q(&[]), amount = d.signed(1e-18, 0.1))
            => balance::sub_clipped(&mut q, amount), q;
        "balance::apply_cold"(
            dt = d.dt(),
            air = d.air(),
            warm = warm_rates(d),
            ice = ice_rates(d),
            cell = d.cell()
        ) => balance::apply_cold(dt, &air, &warm, &ice, &mut cell), cell;
        "balance::apply_warm"(
            dt = d.dt(),
            air = d.air(),
            warm = warm_rates(d),
            ice = ice_rates(d),
            cell = d.cell()
        ) => balance::apply_warm(dt, &air, &warm, &ice, &mut cell), cell;
        "balance::apply"(
            dt_cloud = d.dt(),
            air = d.air(),
            warm = warm_rates(d),
            ice = ice_rates(d),
            cell = d.cell()
        ) => balance::apply(dt_cloud, &air, warm, ice, &mut cell), cell;
    }
}

pub(crate) fn step<R: Precision>() -> Vec<Pair<R>> {
    pairs! { p, d:
        "step::clip"(air = d.air(), q = d.any_q()) => step::clip(&air, &mut q), q;
        "step::remove_traces"(q = d.q(&[])) => step::remove_traces(&mut q), q;
        "step::processes"(
            dt_cloud = d.dt(),
            air = d.air(),
            step_start = d.step_start(),
            qr_for_slope = d.q(&[]),
            cell = d.cell()
        ) => step::processes(p, dt_cloud, &air, &step_start, qr_for_slope, &mut cell), cell;
        "step::deposit"(
            dt_cloud = d.dt(),
            depth = d.log(1.0, 5000.0, &[]),
            rain = fallen(d),
            snow = fallen(d),
            ice = fallen(d),
            sum = sum(d)
        ) => nothing(|| step::deposit(dt_cloud, depth, rain, snow, ice, &mut sum)), sum;
    }
}

//! `thermo`.

use nwp_mini::thermo;

use super::pair::{Pair, pairs};
use super::values::Precision;

pub(crate) fn pairs<R: Precision>() -> Vec<Pair<R>> {
    pairs! { p, d:
        "thermo::heat_capacity"(qv = d.any_q()) => thermo::heat_capacity(qv);
        "thermo::latent_heat"(t = d.t()) => thermo::latent_heat(t);
        "thermo::vapour_pressure"(
            tr = d.log(0.5, 2.0, &[R::ONE]),
            ln_tr = d.linear(-0.7, 0.7, &[R::ZERO]),
            c = d.linear(2000.0, 4200.0, &[R::C_ICE, R::C_LIQUID]),
            l = d.linear(2.4e6, 2.9e6, &[R::L_VAPORISATION, R::L_SUBLIMATION])
        ) => thermo::vapour_pressure(tr, ln_tr, c, l);
        "thermo::mixing_ratio"(
            p = d.p(),
            e = d.amount(1e-20, 2e5, &[]),
            cap = d.linear(0.9, 1.0, &[R::VAPOUR_PRESSURE_CAP, R::infinity()])
        ) => thermo::mixing_ratio(p, e, cap);
        "thermo::saturation"(
            t = d.t(),
            p = d.p(),
            cap = d.linear(0.9, 1.0, &[R::VAPOUR_PRESSURE_CAP, R::infinity()])
        ) => thermo::saturation(t, p, cap);
        "thermo::saturation_water"(
            t = d.t(),
            p = d.p(),
            cap = d.linear(0.9, 1.0, &[R::VAPOUR_PRESSURE_CAP, R::infinity()])
        ) => thermo::saturation_water(t, p, cap);
        "thermo::viscosity"(t = d.t(), rho = d.rho()) => thermo::viscosity(t, rho);
        "thermo::conductivity"(viscosity = d.log(1e-6, 1e-2, &[]), rho = d.rho())
            => thermo::conductivity(viscosity, rho);
        "thermo::diffusivity"(t = d.t(), p = d.p()) => thermo::diffusivity(t, p);
        "thermo::growth_resistance"(
            l = d.linear(2.4e6, 2.9e6, &[R::L_VAPORISATION, R::L_SUBLIMATION]),
            t = d.t(),
            rho = d.rho(),
            conductivity = d.log(0.01, 0.05, &[]),
            diffusivity = d.log(1e-6, 0.1, &[]),
            saturation = d.log(1e-15, 0.1, &[R::Q_MIN])
        ) => thermo::growth_resistance(l, t, rho, conductivity, diffusivity, saturation);
        "thermo::ventilation"(
            viscosity = d.log(1e-6, 1e-2, &[]),
            diffusivity = d.log(1e-6, 0.1, &[]),
            rho = d.rho()
        ) => thermo::ventilation(viscosity, diffusivity, rho);
    }
}

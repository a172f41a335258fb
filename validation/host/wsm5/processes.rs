//! Components of the rates, and instantaneous processes, each function alone on WRF's own intermediate values.
//!
//! The stored values are those of WRF in single precision, exactly as WRF used them, so that the error of a function
//! computed from them in double precision is the rounding inside WRF's own formula only. A formula of a dozen
//! operations and a few powers is within [`SMOOTH`] of its value; an exponential amplifies the rounding of its argument
//! by its size; a difference that cancels keeps the rounding of its terms.

use ndarray::Array3;

use nwp_mini::constants::Constants;
use nwp_mini::grid::Shape;
use nwp_mini::physics::registry::usual_set;
use nwp_mini::physics::wsm5::params::SchemeConstants;
use nwp_mini::physics::wsm5::radii::{re_cloud, re_ice, re_snow};
use nwp_mini::physics::wsm5::reflectivity::Bins;
use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::physics::wsm5::slope::{
    Slope, fall_speed_ice, fall_speed_rain, fall_speed_snow, ice_number, slope_rain, slope_snow,
    snow_intercept_factor,
};
use nwp_mini::physics::wsm5::{Cell, DiagnosticFields, diagnose, melt};
use nwp_mini::state::{CloudDiagnostics, Environment, State};
use nwp_mini::thermo::{
    TransportConstants, conductivity, diffusivity, growth_resistance, saturation, saturation_water,
    ventilation, viscosity,
};

use super::comparison::{Comparison, ROUNDING};
use super::stored::{Row, rows, table};

/// A smooth formula: about thirty roundings, all of one sign.
pub const SMOOTH: f64 = 32.0 * ROUNDING;
/// Freezing is 6e-6 K lower in single precision; a temperature this near may count as either.
const NEAR_FREEZING: f64 = 7.0e-6;
/// Share of the cells in which one per cent must show. All but those in which a formula cancels.
const NEARLY_ALL: f64 = 0.95;

/// True if rounding may decide T < t0 and similar comparisons.
pub fn undecided(t: f64) -> bool {
    (t - f64::FREEZING).abs() < NEAR_FREEZING
}

/// Amplification of the rounding of its argument by the exponential in the snow intercept.
fn intercept_condition(t: f64) -> f64 {
    1.0 + 0.12 * (f64::FREEZING - t).abs()
}

/// Relative tolerance of a saturation mixing ratio: an exponential of up to 25 (1 - tr), where tr
/// is rounded too, and a difference p - e.
fn saturation_tolerance(t: f64, saturation: f64) -> f64 {
    let exponent = 25.0 * (1.0 + 2.0 * (1.0 - 273.16 / t).abs());
    let crowding = 1.0 + saturation / <f64 as Constants>::EPSILON;
    SMOOTH.max(4.0 * ROUNDING * exponent) * crowding
}

/// Compares one value in every cell.
fn compare(
    name: &'static str,
    expected: &str,
    found: impl Fn(&Row) -> f64,
    tolerance: impl Fn(&Row) -> f64,
) {
    let mut comparison = Comparison::new(name);
    for row in rows() {
        let value = row.get(expected);
        comparison.cell(&row, found(&row), value, tolerance(&row) * value.abs());
    }
    comparison.finish(NEARLY_ALL);
}

#[test]
fn density_factor() {
    let found = |row: &Row| (f64::RHO_REFERENCE / row.get("input_den")).sqrt();
    compare("density factor", "denfac", found, |_| SMOOTH);
}

#[test]
fn saturation_over_water() {
    let found =
        |row: &Row| saturation(row.start().t, row.get("input_p"), f64::VAPOUR_PRESSURE_CAP).water;
    let tolerance = |row: &Row| saturation_tolerance(row.start().t, row.get("qsw_start"));
    compare("qsw", "qsw_start", found, tolerance);
    let found = |row: &Row| {
        saturation_water(row.get("t_after_update"), row.get("input_p"), f64::VAPOUR_PRESSURE_CAP)
    };
    let tolerance = |row: &Row| saturation_tolerance(row.get("t_after_update"), row.get("qsw_end"));
    compare("qsw at the end", "qsw_end", found, tolerance);
}

#[test]
fn saturation_over_ice() {
    let found =
        |row: &Row| saturation(row.start().t, row.get("input_p"), f64::VAPOUR_PRESSURE_CAP).ice;
    let tolerance = |row: &Row| saturation_tolerance(row.start().t, row.get("qsi_start"));
    compare("qsi", "qsi_start", found, tolerance);
}

#[test]
fn relative_humidity() {
    let over = |saturation: &'static str| {
        move |row: &Row| (row.start().qv / row.get(saturation)).max(f64::Q_MIN)
    };
    compare("rhw", "rhw", over("qsw_start"), |_| 2.0 * ROUNDING);
    compare("rhi", "rhi", over("qsi_start"), |_| 2.0 * ROUNDING);
}

#[test]
fn number_of_ice_crystals() {
    let at = |qi: f64, row: &Row| ice_number(row.get("input_den"), qi);
    compare("ice number at the start", "xni_start", |row| at(row.start().qi, row), |_| SMOOTH);
    compare("ice number", "xni", |row| at(row.get("qi_after_inst"), row), |_| SMOOTH);
}

/// The number has the same bits with WRF's smallest mixing ratio as with ours, whose cube is a normal number.
#[test]
fn little_ice_has_the_fewest_crystals() {
    let amounts = || (-45..-3).flat_map(|e| [1.0, 2.5, 9.9].map(|x| x * 10.0_f32.powi(e)));
    for rho in [0.01, 0.3, 1.4, 100.0_f32] {
        for qi in amounts().chain([0.0, -1.0e-12]) {
            let content = rho * qi.max(f32::Q_MIN);
            let number = f32::ICE_NUMBER * (content * content * content).sqrt().sqrt();
            let expected = number.clamp(f32::ICE_NUMBER_MIN, f32::ICE_NUMBER_MAX);
            let found = ice_number(rho, qi);
            assert_eq!(found.to_bits(), expected.to_bits(), "{qi:e} kg/kg at {rho} kg m-3");
        }
    }
}

#[test]
fn intercept_factor_of_snow() {
    let p = Scheme::default();
    let mut comparison = Comparison::new("snow intercept factor");
    for row in rows() {
        for (name, t) in [("n0sfac_melt", row.start().t), ("n0sfac", row.get("t_after_inst"))] {
            let expected = row.get(name);
            let tolerance = SMOOTH * intercept_condition(t) * expected;
            comparison.cell(&row, snow_intercept_factor(&p, t), expected, tolerance);
        }
    }
    comparison.finish(NEARLY_ALL);
}

#[test]
fn slopes() {
    let p = Scheme::default();
    let rain = |row: &Row| slope_rain(&p, row.get("input_den"), row.get("qr_after_inst"));
    let snow = |row: &Row| {
        let t = row.get("t_after_inst");
        let factor = snow_intercept_factor(&p, t);
        slope_snow(&p, row.get("input_den"), row.get("qs_after_inst"), factor)
    };
    let cold = |row: &Row| SMOOTH * intercept_condition(row.get("t_after_inst"));
    compare("slope of rain", "rslope_rain", |row| rain(row).length, |_| SMOOTH);
    compare("power of the slope of rain", "rslopeb_rain", |row| rain(row).power, |_| SMOOTH);
    compare("slope of snow", "rslope_snow", |row| snow(row).length, cold);
    compare("power of the slope of snow", "rslopeb_snow", |row| snow(row).power, cold);
}

#[test]
fn fall_speeds() {
    let p = Scheme::default();
    let rho = |row: &Row| row.get("input_den");
    let rain = |row: &Row| fall_speed_rain(&p, rho(row), row.get("denfac"), row.start().qr);
    compare("fall speed of rain", "vt_rain", rain, |_| SMOOTH);
    let snow = |row: &Row| {
        let Cell { t, qs, .. } = row.start();
        fall_speed_snow(&p, rho(row), row.get("denfac"), qs, snow_intercept_factor(&p, t))
    };
    let tolerance = |row: &Row| SMOOTH * intercept_condition(row.start().t);
    compare("fall speed of snow", "vt_snow", snow, tolerance);
    let ice = |row: &Row| fall_speed_ice(&p, rho(row), row.start().qi, row.get("xni_start"));
    // A power by way of the logarithm, which is large for a tiny crystal.
    let tolerance = |row: &Row| {
        let logarithm = (row.get("vt_ice").max(f64::MIN_POSITIVE) / f64::ICE_FALL).ln();
        SMOOTH + 4.0 * ROUNDING * logarithm.abs()
    };
    compare("fall speed of ice", "vt_ice", ice, tolerance);
}

#[test]
fn growth_resistances() {
    let resistance = |row: &Row, latent_heat: f64, saturation: f64| {
        let (t, rho) = (row.get("t_after_inst"), row.get("input_den"));
        let conductivity = conductivity(viscosity(t, rho), rho);
        let diffusivity = diffusivity(t, row.get("input_p"));
        growth_resistance(latent_heat, t, rho, conductivity, diffusivity, saturation)
    };
    let water = |row: &Row| resistance(row, row.air().latent_heat, row.get("qsw_start"));
    let ice = |row: &Row| resistance(row, f64::L_SUBLIMATION, row.get("qsi_start"));
    compare("resistance over water", "diffac_water", water, |_| SMOOTH);
    compare("resistance over ice", "diffac_ice", ice, |_| SMOOTH);
}

#[test]
fn ventilation_of_falling_particles() {
    let found = |row: &Row| {
        let (t, rho) = (row.get("t_after_inst"), row.get("input_den"));
        ventilation(viscosity(t, rho), diffusivity(t, row.get("input_p")), rho)
    };
    compare("ventilation", "venfac", found, |_| SMOOTH);
}

/// The cell as snow melts: fallen rain and snow, temperature of the start.
fn fallen(row: &Row) -> Cell<f64> {
    Cell { qr: row.get("qr_after_sed"), qs: row.get("qs_after_sed"), ..row.start() }
}

#[test]
fn psmlt() {
    let p = Scheme::default();
    let mut comparison = Comparison::new("psmlt");
    let mut melted = Comparison::new("melted snow");
    for row in rows() {
        let mut cell = fallen(&row);
        if undecided(cell.t) {
            continue;
        }
        let (air, dt) = (row.air(), row.dt_cloud());
        let factor = row.get("n0sfac_melt");
        let snow = slope_snow(&p, air.rho, cell.qs, factor);
        let found = melt::psmlt(&p, dt, &air, &cell, factor, snow);
        let expected = row.get("psmlt_amount");
        // Freezing itself is rounded by 6e-6 K.
        let freezing = NEAR_FREEZING / (cell.t - f64::FREEZING).abs();
        let tolerance = (2.0 * SMOOTH + freezing) * expected.abs();
        comparison.cell(&row, found, expected, tolerance);

        let before = cell;
        melt::melt_snow(&p, dt, &air, &mut cell);
        let sum = |q: f64| tolerance + 2.0 * ROUNDING * q.abs();
        if expected != 0.0 {
            melted.cell(&row, cell.qr, row.get("qr_after_melt"), sum(before.qr + before.qs));
            melted.cell(&row, cell.qs, row.get("qs_after_melt"), sum(before.qs));
            let warming = f64::L_FUSION / air.heat_capacity * tolerance;
            melted.cell(&row, cell.t, row.get("t_after_melt"), warming + 2.0 * ROUNDING * cell.t);
        }
    }
    comparison.finish(NEARLY_ALL);
    // The snow that remains after melting is a difference that may cancel.
    melted.finish(0.5);
}

/// The cell as freezing sets in, and the slope of the rain that has fallen.
fn before_freezing(row: &Row, p: &Scheme<f64>) -> (Cell<f64>, Slope<f64>) {
    let cell = Cell {
        t: row.get("t_after_melt"),
        qc: row.start().qc,
        qr: row.get("qr_after_melt"),
        qi: row.get("qi_after_sed"),
        qs: row.get("qs_after_melt"),
        ..row.start()
    };
    (cell, slope_rain(p, row.get("input_den"), row.get("qr_after_sed")))
}

/// Compares an amount that freezes or melts at once; the function gets the cold, t0 - t.
fn compare_amount(
    name: &'static str,
    stored: &str,
    found: impl Fn(&Row, &Cell<f64>, Slope<f64>, f64) -> f64,
    tolerance: impl Fn(f64) -> f64,
) {
    let p = Scheme::default();
    let mut comparison = Comparison::new(name);
    for row in rows() {
        let (cell, rain) = before_freezing(&row, &p);
        let cold = f64::FREEZING - cell.t;
        // Homogeneous freezing sets in 40 K lower.
        if undecided(cell.t) || undecided(cell.t + 40.0) {
            continue;
        }
        let expected = row.get(stored);
        let found = found(&row, &cell, rain, cold);
        comparison.cell(&row, found, expected, tolerance(cold) * expected.abs());
    }
    comparison.finish(NEARLY_ALL);
}

/// exp(0.66 cold) - 1: the rounding of freezing in the argument, and a difference.
fn freezing_tolerance(cold: f64) -> f64 {
    if cold <= 0.0 {
        return SMOOTH;
    }
    let argument = 0.66 * cold.min(50.0);
    let absolute = (1.0 + argument) * 4.0 * ROUNDING + 0.66 * NEAR_FREEZING;
    SMOOTH + absolute / (1.0 - (-argument).exp())
}

#[test]
fn pimlt() {
    compare_amount("pimlt", "pimlt_amount", |_, cell, _, cold| melt::pimlt(cold, cell.qi), |_| 0.0);
}

/// Cloud water from ice that has just melted does not occur here: it is too warm.
#[test]
fn pihmf() {
    compare_amount("pihmf", "pihmf_amount", |_, cell, _, cold| melt::pihmf(cold, cell.qc), |_| 0.0);
}

#[test]
fn pihtf() {
    let p = Scheme::default();
    let found = |row: &Row, cell: &Cell<f64>, _, cold: f64| {
        let qc = cell.qc - melt::pihmf(cold, cell.qc);
        melt::pihtf(&p, row.dt_cloud(), cold, row.get("input_den"), qc)
    };
    compare_amount("pihtf", "pihtf_amount", found, freezing_tolerance);
}

#[test]
fn psfrz() {
    let p = Scheme::default();
    let found = |row: &Row, cell: &Cell<f64>, rain, cold: f64| {
        melt::psfrz(&p, row.dt_cloud(), cold, row.get("input_den"), cell.qr, rain)
    };
    // The seventh power of the slope.
    compare_amount("psfrz", "psfrz_amount", found, |cold| 7.0 * SMOOTH + freezing_tolerance(cold));
}

/// All four together, applied in their order.
#[test]
fn instantaneous_changes() {
    let p = Scheme::default();
    let mut comparison = Comparison::new("instantaneous changes");
    for row in rows() {
        let (mut cell, _) = before_freezing(&row, &p);
        if undecided(cell.t) || undecided(cell.t + 40.0) {
            continue;
        }
        let before = cell;
        let air = row.air();
        melt::adjust_phase(&p, row.dt_cloud(), &air, row.get("qr_after_sed"), &mut cell);
        let expected = row.cell("after_inst");
        let amounts = ["pimlt", "pihmf", "pihtf", "psfrz"].map(|x| row.get(&format!("{x}_amount")));
        let moved: f64 = amounts.iter().map(|x| x.abs()).sum();
        let doubt = (7.0 * SMOOTH + freezing_tolerance(f64::FREEZING - before.t)) * moved;
        let mut pair = |found: f64, expected: f64, size: f64, doubt: f64| {
            comparison.cell(&row, found, expected, doubt + 4.0 * ROUNDING * size);
        };
        pair(cell.qc, expected.qc, before.qc + moved, doubt);
        pair(cell.qr, expected.qr, before.qr, doubt);
        pair(cell.qi, expected.qi, before.qi + moved, doubt);
        pair(cell.qs, expected.qs, before.qs + moved, doubt);
        let warming = f64::L_SUBLIMATION / air.heat_capacity;
        pair(cell.t, expected.t, before.t, warming * (doubt + SMOOTH * moved));
    }
    comparison.finish(NEARLY_ALL);
}

/// The final state of every column, from the ground up.
fn final_columns() -> Vec<Vec<Row>> {
    let last: Vec<Row> = rows().filter(|row| row.place().step == 0).collect();
    last.chunks(table().levels).map(<[Row]>::to_vec).collect()
}

/// Temperature of the final state, as WRF rounds it.
fn final_temperature(row: &Row) -> f64 {
    f64::from(row.get("final_th") as f32 * row.get("input_pii") as f32)
}

#[test]
fn effective_radii() {
    let p = Scheme::<f64>::default();
    let mut comparison = Comparison::new("effective radii");
    for row in final_columns().concat() {
        let (t, rho) = (final_temperature(&row), row.get("input_den"));
        let q = |name: &str| row.get(&format!("final_{name}"));
        let mut pair = |found: f64, stored: &str| {
            let expected = q(stored);
            let tolerance = SMOOTH * intercept_condition(t) * expected;
            comparison.cell(&row, found, expected, tolerance);
        };
        pair(re_cloud(&p, rho, q("qc")), "re_cloud");
        pair(re_ice(&p, rho, q("qi")), "re_ice");
        pair(re_snow(&p, t, rho, q("qs")), "re_snow");
    }
    comparison.finish(NEARLY_ALL);
}

#[test]
fn radar_reflectivity() {
    let scheme = Scheme::default();
    let mut comparison = Comparison::new("reflectivity");
    for column in final_columns() {
        let nz = column.len();
        let field = |value: &dyn Fn(&Row) -> f64| {
            Array3::from_shape_fn((nz, 1, 1), |(k, ..)| value(&column[k]))
        };
        let of = |name: &str| field(&|row| row.get(name));
        let [qv, qc, qr, qi, qs] = ["q", "qc", "qr", "qi", "qs"].map(|q| of(&format!("final_{q}")));
        // With an Exner function of 1 the potential temperature is the temperature.
        let state = State::new(usual_set(), vec![field(&final_temperature), qv, qc, qr, qi, qs]);
        let [rho, p, dz] = ["input_den", "input_p", "input_delz"].map(of);
        let air = Environment { rho, exner: field(&|_| 1.0), p, dz, w: None };
        let mut out = CloudDiagnostics::zeros(&usual_set(), Shape { nx: 1, ny: 1, nz });
        let fields = DiagnosticFields::new(0.0, &state, &air, &mut out);
        diagnose(&scheme, &Bins::default(), None, fields);
        for (row, &found) in column.iter().zip(out.named("refl_10cm")) {
            // 10 lg Z: a relative error of Z becomes an absolute one; Z has the seventh power of
            // a length, and the 50 bins of melting snow.
            let expected = row.get("final_refl_10cm");
            comparison.cell(row, found, expected, 4.4 * 7.0 * SMOOTH + 4.0 * ROUNDING * 100.0);
        }
    }
    comparison.finish(NEARLY_ALL);
}

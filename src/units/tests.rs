use super::*;

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 4.0 * f64::EPSILON * a.abs().max(b.abs())
}

#[test]
fn units_of_the_field_are_known_and_others_are_not() {
    for text in [
        "1",
        "kg kg-1",
        "kg kg^-1",
        "g/kg",
        "ug m-3",
        "µg m-3",
        "mol mol-1",
        "ppbv",
        "Bq m-3",
        "kg-1",
        "m2 s-2",
        "s",
        "K",
        "J kg-1",
        "molecules cm-3",
        "%",
        "kg.kg-1",
        "1/s",
        "dBZ",
        "degrees_north",
        "m s{-1}",
        "m**2 s**-2",
        "meters per second",
        "W/m^2",
        "ug/kg-dryair",
        "hPa",
        "millibars",
        "degrees C",
        "[K]",
        "1e-9 mol mol-1",
    ] {
        assert!(Unit::parse(text).is_some(), "{text}");
    }
    for text in [
        "",
        " ",
        "-",
        "furlongs",
        "smoke",
        "kg--1",
        "m0",
        "kgkg-1x",
        "ppq kg",
        "-1",
        "kg 3",
        "miles or so",
        "/s",
        "kg /",
        "s-",
        "percent of the usual",
        "inf",
        "K K since",
        "m99 m99",
        "days since yesterday",
        "a\u{308}",
    ] {
        assert!(Unit::parse(text).is_none(), "{text}");
    }
}

#[test]
fn quantities_take_the_units_that_mean_them() {
    for (quantity, units, value, wanted) in [
        (Quantity::TEMPERATURE, "degC", 10.0, 283.15),
        (Quantity::TEMPERATURE, "Celsius", -5.0, 268.15),
        (Quantity::TEMPERATURE, "C", 0.0, 273.15),
        (Quantity::TEMPERATURE, "degF", 50.0, 283.15),
        (Quantity::TEMPERATURE, "Kelvin", 3.0, 3.0),
        (Quantity::PRESSURE, "hPa", 1013.25, 101_325.0),
        (Quantity::PRESSURE, "mb", 850.0, 85_000.0),
        (Quantity::PRESSURE, "mbar", 850.0, 85_000.0),
        (Quantity::PRESSURE, "kPa", 85.0, 85_000.0),
        (Quantity::PRESSURE, "N m-2", 85.0, 85.0),
        (Quantity::PRESSURE, "PA", 85.0, 85.0),
        (Quantity::MASS_RATIO, "g kg-1", 12.5, 0.0125),
        (Quantity::MASS_RATIO, "G/KG", 12.5, 0.0125),
        (Quantity::MASS_RATIO, "1", 0.5, 0.5),
        (Quantity::GAS_RATIO, "ppbv", 40.0, 0.04),
        (Quantity::GAS_RATIO, "ppt", 40.0, 4e-5),
        (Quantity::GAS_RATIO, "mol mol-1", 4e-8, 0.04),
        (Quantity::GAS_RATIO, "nmol/mol", 40.0, 0.04),
        (Quantity::NUMBER_DENSITY, "molecules/cm3", 1e12, 1e12),
        (Quantity::NUMBER_DENSITY, "molec cm-3", 1e12, 1e12),
        (Quantity::NUMBER_DENSITY, "m-3", 1e18, 1e12),
        (Quantity::FREQUENCY, "min-1", 0.6, 0.01),
        (Quantity::FREQUENCY, "1/h", 36.0, 0.01),
        (Quantity::TIME, "h", 2.5, 9000.0),
        (Quantity::TIME, "minutes", 2.5, 150.0),
        (Quantity::LENGTH, "km", 1.5, 1500.0),
        (Quantity::LENGTH, "feet", 1000.0, 304.8),
        (Quantity::WIND, "km h-1", 36.0, 10.0),
        (Quantity::WIND, "knots", 10.0, 18_520.0 / 3600.0),
        (Quantity::PRECIPITATION, "inch", 2.0, 50.8),
        (Quantity::PRECIPITATION, "cm", 2.0, 20.0),
        (Quantity::PRECIPITATION, "kg m-2", 2.0, 2.0),
        (Quantity::PRECIPITATION, "m", 0.002, 2.0),
        (Quantity::FRACTION, "%", 35.0, 0.35),
        (Quantity::DENSITY, "g m-3", 1200.0, 1.2),
        (Quantity::TEMPERATURE_TENDENCY, "degC h-1", 36.0, 0.01),
        (Quantity::TEMPERATURE_TENDENCY, "K day-1", 8.64, 1e-4),
        (Quantity::RATIO_TENDENCY, "g kg-1 s-1", 0.5, 5e-4),
        (Quantity::DEGREES, "radians", std::f64::consts::PI, 180.0),
        (Quantity::DEGREES, "degree_north", 45.0, 45.0),
        (Quantity::GEOPOTENTIAL, "J kg-1", 3.0, 3.0),
        (Quantity::COUPLED_WIND, "hPa m s-1", 3.0, 300.0),
    ] {
        let conversion = quantity.conversion(units).unwrap_or_else(|why| panic!("{why:?}"));
        assert!(is_near(conversion.of(value), wanted), "{units}: {}", conversion.of(value));
    }
}

#[test]
fn the_units_of_a_quantity_and_none_at_all_change_no_bit() {
    for (quantity, spellings) in [
        (Quantity::TEMPERATURE, ["K", "kelvin", "k"]),
        (Quantity::PRESSURE, ["Pa", "pascals", "N/m2"]),
        (Quantity::MASS_RATIO, ["kg kg-1", "kg/kg", "kg kg**-1"]),
        (Quantity::GAS_RATIO, ["ppmv", "ppm", "umol mol-1"]),
        (Quantity::NUMBER_DENSITY, ["molecules cm-3", "cm^-3", "1/cm3"]),
        (Quantity::WIND, ["m s-1", "m/s", "metres per second"]),
        (Quantity::FREQUENCY, ["s-1", "/s", "Hz"]),
    ] {
        for units in spellings.into_iter().chain(["", " ", "-", "none"]) {
            let is_identity = quantity.conversion(units).is_ok_and(|c| c.is_identity());
            assert_eq!(is_identity, units != "/s", "{units:?} of {}", quantity.units);
        }
    }
}

#[test]
fn units_of_other_quantities_are_refused_with_what_is_known() {
    for (quantity, units) in [
        (Quantity::MASS_RATIO, "ppmv"),
        (Quantity::MASS_RATIO, "%"),
        (Quantity::MASS_RATIO, "kg m-3"),
        (Quantity::MASS_RATIO, "mol mol-1"),
        (Quantity::GAS_RATIO, "ug m-3"),
        (Quantity::GAS_RATIO, "kg kg-1"),
        (Quantity::TEMPERATURE, "Pa"),
        (Quantity::THETA_PERTURBATION, "degC"),
        (Quantity::FREQUENCY, "W m-2"),
        (Quantity::GEOPOTENTIAL, "gpm"),
        (Quantity::GEOPOTENTIAL, "m"),
        (Quantity::WIND, "m s-2"),
        (Quantity::NUMBER, "degrees"),
        (Quantity::NUMBER_DENSITY, "mol m-3"),
        (Quantity::FRACTION, "ppmv"),
        (Quantity::LENGTH, "miles or so"),
    ] {
        let refusal = quantity.conversion(units).expect_err(units);
        assert_eq!(refusal.found, units);
        assert!(refusal.needed.contains(quantity.units), "{refusal:?}");
    }
}

#[test]
fn conversions_between_units_of_files_keep_dates_and_offsets() {
    let of = |from: &str, to: &str| between(from, to).unwrap_or_else(|| panic!("{from} to {to}"));
    assert!(of("Pa", "pascal").is_identity());
    assert!(is_near(of("degC", "degF").of(100.0), 212.0));
    assert!(is_near(of("degF", "degC").of(-40.0), -40.0));
    let since = of("hours since 2020-01-01", "minutes since 2020-01-01 06:00:00");
    assert_eq!(since.of(7.0), 60.0);
    assert!(of("furlongs", "furlongs ").is_identity());
    assert_eq!(between("furlongs", "miles"), None);
    assert_eq!(between("Pa", "K"), None);
    assert_eq!(between("g kg-1", "ppmv"), None);
    // A negative zero stays one.
    assert!(of("hPa", "Pa").of(-0.0).is_sign_negative());
}

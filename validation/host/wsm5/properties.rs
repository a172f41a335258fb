//! Properties of the scheme for any input.

use ndarray::{Array2, Axis};
use nwp_mini::constants::Constants;
use nwp_mini::physics::wsm5::cell;
use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::physics::wsm5::slope::{Slope, slope_rain};
use nwp_mini::physics::wsm5::{Air, Cell, Coefficients, StepStart, ice, melt, warm};
use nwp_mini::thermo::TransportConstants;
use rayon::ThreadPoolBuilder;

use super::case::{CASES, Columns, OUTPUTS, Outcome, Precision};
use super::weather::{Region, Vectors, Weather};

const WATER: [&str; 5] = ["q", "qc", "qr", "qi", "qs"];

fn read(case: &str) -> Columns {
    Columns::of(case)
}

fn check_signs<R: Precision>(case: &str, columns: &Columns) {
    for (dt, calls) in [(60.0, 1), (300.0, 1), (60.0, 10)] {
        let outcome = columns.run::<R>(dt, calls);
        for name in ["qc", "qr", "qi", "qs", "rain", "rainncv", "snow", "snowncv", "sr"] {
            let least = outcome.field(name).iter().copied().fold(R::ZERO, R::min);
            assert!(least >= R::ZERO, "{case} dt={dt} calls={calls} {name}: {least}");
        }
        let part = outcome.field("sr").iter().copied().fold(R::ZERO, R::max);
        // The sums of frozen and of all precipitation are rounded one by one.
        assert!(part.f64() <= 1.0 + 1e-6, "{case}: frozen fraction {part}");
        for (frozen, all) in outcome.field("snow").iter().zip(outcome.field("rain")) {
            assert!(frozen.f64() <= all.f64() * (1.0 + 1e-5), "{case}: {frozen} of {all}");
        }
    }
}

#[test]
fn nothing_becomes_negative() {
    for case in CASES {
        let columns = read(case);
        check_signs::<f32>(case, &columns);
        check_signs::<f64>(case, &columns);
    }
}

/// Water in each column, kg m⁻², summed in double precision.
fn water(columns: &Columns, species: [&Array2<f64>; 5]) -> Vec<f64> {
    let (rho, dz) = (columns.field("den"), columns.field("delz"));
    let (nz, nx) = columns.dim();
    let cell = |k: usize, i: usize| {
        let q: f64 = species.iter().map(|q| q[[k, i]]).sum();
        f64::from(rho[[k, i]]) * f64::from(dz[[k, i]]) * q
    };
    (0..nx).map(|i| (0..nz).map(|k| cell(k, i)).sum()).collect()
}

/// The largest part of a column's water that is unaccounted for.
fn gap<R: Precision>(columns: &Columns, dt: f64) -> f64 {
    let before = WATER.map(|name| columns.field(name).mapv(f64::from));
    let before = water(columns, before.each_ref());
    let outcome = columns.run::<R>(dt, 1);
    let after = WATER.map(|name| outcome.field(name).mapv(R::f64));
    let after = water(columns, after.each_ref());
    let mut worst = 0.0_f64;
    for i in 0..before.len() {
        let made = outcome.residual[i].f64() + outcome.clipped[i].f64();
        let fallen = outcome.fallen[i].f64();
        let missing = after[i] - before[i] + fallen - made;
        // Of all the water that was there or fell.
        let scale = before[i].abs().max(after[i].abs()) + fallen;
        worst = worst.max(missing.abs() / scale);
    }
    worst
}

#[test]
fn column_water_is_conserved() {
    for case in CASES {
        let columns = read(case);
        for dt in [20.0, 60.0, 300.0] {
            let (single, double) = (gap::<f32>(&columns, dt), gap::<f64>(&columns, dt));
            println!("{case} dt={dt}: {single:.2e} in single, {double:.2e} in double precision");
            assert!(single <= 1e-6, "{case} dt={dt}, single precision: {single:e}");
            assert!(double <= 1e-12, "{case} dt={dt}, double precision: {double:e}");
        }
    }
}

/// Columns of the reference without condensate, at half the saturation or less.
fn clear() -> Columns {
    let mut columns = read("dry");
    for name in ["qc", "qr", "qi", "qs"] {
        columns.field_mut(name).fill(0.0);
    }
    let (theta, exner, p) =
        (columns.field("th").clone(), columns.field("pii").clone(), columns.field("p").clone());
    for (index, q) in columns.field_mut("q").indexed_iter_mut() {
        let t = f64::from(theta[index] * exner[index]);
        let saturation =
            nwp_mini::thermo::saturation::<f64>(t, p[index].into(), f64::VAPOUR_PRESSURE_CAP);
        *q = q.min(0.5 * saturation.ice as f32);
    }
    columns.unforced()
}

fn check_clear<R: Precision>(dt: f64) {
    let columns = clear();
    let outcome = columns.run::<R>(dt, 3);
    for name in ["th", "q", "qc", "qr", "qi", "qs"] {
        let same = columns.field(name).mapv(|x| R::of(x.into()));
        assert_eq!(outcome.field(name), same, "{name} dt={dt}");
    }
    // With an offset, potential temperature has more digits than a conversion to temperature and back would keep.
    let weather = Weather::<R>::of(&columns, 1, 300.0);
    let region = Region::whole(weather.shape());
    let one_by_one = weather.after(&Scheme::default(), dt, &region);
    let side_by_side = weather.after(&Vectors::best(Scheme::default()), dt, &region);
    for after in [one_by_one, side_by_side] {
        assert_eq!(after.state.theta(), weather.state.theta(), "less a base, dt={dt}");
    }
    for name in ["rain", "rainncv", "snow", "snowncv", "sr"] {
        assert!(outcome.field(name).iter().all(|x| *x == R::ZERO), "{name}");
    }
    assert!(outcome.field("refl_10cm").iter().all(|x| *x <= R::of(-35.0)));
    assert!(outcome.residual.iter().chain(&outcome.clipped).all(|x| *x == R::ZERO));
}

#[test]
fn clear_air_stays_as_it_is() {
    for dt in [60.0, 300.0] {
        check_clear::<f32>(dt);
        check_clear::<f64>(dt);
    }
}

/// All bits of a result.
fn bits<R: Precision>(outcome: &Outcome<R>) -> Vec<u64> {
    let fields = outcome.fields.iter().flatten();
    fields.chain(&outcome.residual).chain(&outcome.clipped).map(|x| x.f64().to_bits()).collect()
}

fn check_threads<R: Precision>() {
    for case in ["mixed", "storm"] {
        let columns = read(case);
        let run = |threads: usize| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            bits(&pool.install(|| columns.run::<R>(60.0, 2)))
        };
        let one = run(1);
        for threads in [1, 2, 3, 7] {
            assert!(run(threads) == one, "{case} {} on {threads} threads", R::NAME);
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    check_threads::<f32>();
    check_threads::<f64>();
}

fn check_order<R: Precision>() {
    let columns = read("mixed");
    let all = columns.run::<R>(60.0, 3);
    let count = columns.dim().1;
    let backwards: Vec<usize> = (0..count).rev().collect();
    let reversed = columns.select(&backwards).run::<R>(60.0, 3);
    let alone = |column: usize| columns.select(&[column]).run::<R>(60.0, 3);
    for (output, name) in OUTPUTS.into_iter().enumerate() {
        let expected = all.fields[output].select(Axis(1), &backwards);
        assert_eq!(reversed.fields[output], expected, "{name} in reverse");
    }
    for column in (0..count).step_by(29) {
        let single = alone(column);
        for (output, name) in OUTPUTS.into_iter().enumerate() {
            let expected = all.fields[output].select(Axis(1), &[column]);
            assert_eq!(single.fields[output], expected, "{name} of column {column} alone");
        }
    }
}

#[test]
fn columns_do_not_know_of_one_another() {
    check_order::<f32>();
    check_order::<f64>();
}

#[test]
fn precipitation_gathers_over_the_calls() {
    for case in ["mixed", "cold"] {
        let columns = read(case).unforced();
        // Without tendencies, the last of n calls gives the difference of n calls and n - 1.
        let runs: Vec<_> = (1..=4).map(|calls| columns.run::<f32>(60.0, calls)).collect();
        for (total, each) in [("rain", "rainncv"), ("snow", "snowncv")] {
            let mut sum = Array2::<f32>::zeros((1, columns.dim().1));
            for run in &runs {
                sum += run.field(each);
                assert_eq!(run.field(total), sum, "{case} {total}");
            }
        }
        assert!(runs[3].field("rain").sum() > runs[0].field("rain").sum(), "{case}: no rain");
    }
}

/// The frozen fraction is 0 in rain, nearly 1 in snow, and in between for both.
#[test]
fn frozen_fraction() {
    let seen = |case: &str| {
        let outcome = read(case).run::<f64>(60.0, 1);
        let fallen: Vec<(f64, f64, f64)> = outcome
            .field("sr")
            .iter()
            .zip(outcome.field("rainncv"))
            .zip(outcome.field("snowncv"))
            .filter(|((_, rain), _)| **rain > 1e-6)
            .map(|((sr, rain), snow)| (*sr, *rain, *snow))
            .collect();
        for (sr, rain, snow) in &fallen {
            // Up to the 1e-12 mm that the scheme adds to the whole.
            assert!((sr - snow / rain).abs() <= 1e-5, "{case}: {sr} of {snow} in {rain}");
        }
        fallen
    };
    let (warm, cold) = (seen("warm"), seen("cold"));
    assert!(!warm.is_empty() && warm.iter().all(|(sr, ..)| *sr == 0.0), "{warm:?}");
    assert!(cold.iter().any(|(sr, ..)| *sr > 0.999_99), "{cold:?}");
    assert!(seen("edge").iter().any(|(sr, ..)| (0.01..0.99).contains(sr)));
}

/// A sweep of an argument, from small to large.
fn sweep(from: f64, to: f64) -> impl Iterator<Item = f64> {
    (0..200).map(move |n| from * (to / from).powf(f64::from(n) / 199.0))
}

/// The function grows with its argument, and is not constant.
fn assert_grows(name: &str, arguments: impl Iterator<Item = f64>, rate: impl Fn(f64) -> f64) {
    let rates: Vec<f64> = arguments.map(rate).collect();
    assert!(rates.windows(2).all(|pair| pair[0] <= pair[1]), "{name} falls: {rates:?}");
    assert!(rates[0] < rates[rates.len() - 1], "{name} is constant: {rates:?}");
}

const DT: f64 = 60.0;

fn air() -> Air<f64> {
    Air {
        rho: 0.9,
        p: 7.0e4,
        dz: 500.0,
        density_factor: (1.28_f64 / 0.9).sqrt(),
        heat_capacity: 1008.0,
        latent_heat: 2.5e6,
    }
}

fn coefficients(t: f64, qr: f64, qs: f64) -> Coefficients<f64> {
    let saturation = nwp_mini::thermo::saturation(t, air().p, f64::VAPOUR_PRESSURE_CAP);
    let step_start = StepStart { t, qsw: saturation.water, qsi: saturation.ice };
    let cell = Cell { t, qv: saturation.water, qc: 1e-4, qr, qi: 1e-5, qs };
    cell::coefficients(&Scheme::default(), &air(), &step_start, &cell)
}

#[test]
fn rates_grow_with_what_feeds_them() {
    let p = Scheme::<f64>::default();
    assert_grows("praut", sweep(1e-5, 5e-3), |qc| warm::praut(&p, DT, qc));
    assert_grows("pracw in rain", sweep(1e-8, 5e-3), |qr| {
        warm::pracw(&p, DT, 5e-4, qr, slope_rain(&p, 0.9, qr), 1.2)
    });
    let rain = slope_rain(&p, 0.9, 1e-3);
    assert_grows("pracw in cloud", sweep(1e-8, 5e-3), |qc| {
        warm::pracw(&p, DT, qc, 1e-3, rain, 1.2)
    });
    assert_grows("psacw", sweep(1e-8, 5e-3), |qs| {
        ice::psacw(&p, DT, 5e-4, qs, &coefficients(260.0, 0.0, qs), 1.2)
    });
    assert_grows("psaut", sweep(1e-6, 1e-3), |qi| ice::psaut(&p, DT, 0.9, qi));
    assert_grows("psaci", sweep(1e-8, 1e-4), |qi| {
        let cell = Cell { t: 260.0, qi, qs: 1e-3, ..Cell::default() };
        let snow = coefficients(260.0, 0.0, 1e-3);
        ice::psaci(&p, 13.0, &air(), &cell, 1e4, &snow)
    });
    assert_grows("pihtf", sweep(0.1, 39.0), |cold| melt::pihtf(&p, DT, cold, 0.9, 1e-4));
    assert_grows("psfrz", sweep(0.1, 49.0), |cold| melt::psfrz(&p, DT, cold, 0.9, 1e-3, rain));
    assert_grows("-psmlt", sweep(0.01, 20.0), |warmth| {
        let t = f64::FREEZING + warmth;
        let cell = Cell { t, qs: 1e-3, ..Cell::default() };
        -melt::psmlt(&p, DT, &air(), &cell, 1.0, coefficients(t, 0.0, 1e-3).snow)
    });
}

#[test]
fn growth_by_vapour_follows_the_humidity() {
    let p = Scheme::<f64>::default();
    let t = 260.0;
    let coefficients = coefficients(t, 1e-3, 1e-3);
    let saturation = nwp_mini::thermo::saturation::<f64>(t, air().p, f64::VAPOUR_PRESSURE_CAP);
    let humidities = || sweep(0.2, 1.5);
    let water = |rhw: f64| {
        let excess = (rhw - 1.0) * saturation.water / DT;
        warm::prevp(&p, DT, 1e-3, rhw, excess, &coefficients)
    };
    let growth = |rhi: f64| {
        let excess = (rhi - 1.0) * saturation.ice / DT;
        ice::Growth { rhi, excess, left: excess }
    };
    let crystals = |rhi: f64| ice::pidep(&p, DT, 0.9, 1e-5, 1e4, &growth(rhi), &coefficients);
    let snow = |rhi: f64| ice::psdep(&p, DT, 1e-3, &growth(rhi), &coefficients);
    let condensed = |rhw: f64| {
        let cell = Cell { t, qv: rhw * saturation.water, qc: 1e-4, ..Cell::default() };
        melt::pcond(DT, &air(), &cell, saturation.water)
    };
    let rates: [(&str, &dyn Fn(f64) -> f64); 4] =
        [("prevp", &water), ("pidep", &crystals), ("psdep", &snow), ("pcond", &condensed)];
    for (name, rate) in rates {
        assert_grows(name, humidities(), rate);
        for humidity in humidities().filter(|x| (x - 1.0).abs() > 1e-9) {
            let sign = rate(humidity) * (humidity - 1.0);
            assert!(sign > 0.0, "{name} at {humidity} has the wrong sign");
        }
        assert!(rate(1.0).abs() <= 0.0, "{name} at saturation");
    }
}

/// Ice whose diameter is rounded to zero sublimates at most completely, and leaves snow its share.
#[test]
fn ice_without_diameter_takes_no_vapour_away() {
    let p = Scheme::<f32>::default();
    let coefficients = Coefficients { resistance_ice: 1e7, ..Default::default() };
    let growth = ice::Growth { rhi: 0.8, excess: -3e-6, left: -3e-6 };
    for qi in [1e-44, 1e-36, 1e-30] {
        let rate = ice::pidep(&p, 60.0_f32, 0.9, qi, 1e3, &growth, &coefficients);
        assert!(rate <= 0.0 && rate >= -qi, "{rate:e} of {qi:e}");
    }
}

#[test]
fn no_rate_below_its_threshold() {
    let p = Scheme::<f64>::default();
    let (none, little) = (0.0, 1.0e-9);
    let minimum = Slope { length: p.slope_rain_min, power: p.slope_rain_min_b };
    let dry = Coefficients { rain: minimum, ..coefficients(260.0, 1e-3, 1e-3) };
    let growth = ice::Growth { rhi: 0.5, excess: -1e-6, left: -1e-6 };
    let cell = |qi: f64, qs: f64| Cell { t: 260.0, qi, qs, ..Cell::default() };
    let rates = [
        ("praut", warm::praut(&p, DT, p.qc0)),
        ("pracw, rain", warm::pracw(&p, DT, 1e-3, little, minimum, 1.0)),
        ("pracw, cloud", warm::pracw(&p, DT, f64::Q_MIN, 1e-3, minimum, 1.0)),
        ("prevp", warm::prevp(&p, DT, none, 0.5, -1e-6, &dry)),
        ("psaci, warm", ice::psaci(&p, none, &air(), &cell(1e-4, 1e-3), 1e4, &dry)),
        ("psaci, snow", ice::psaci(&p, 10.0, &air(), &cell(1e-4, little), 1e4, &dry)),
        ("psaci, ice", ice::psaci(&p, 10.0, &air(), &cell(f64::Q_MIN, 1e-3), 1e4, &dry)),
        ("psacw, snow", ice::psacw(&p, DT, 1e-3, little, &dry, 1.0)),
        ("psacw, cloud", ice::psacw(&p, DT, f64::Q_MIN, 1e-3, &dry, 1.0)),
        ("pidep", ice::pidep(&p, DT, 0.9, none, 1e4, &growth, &dry)),
        ("psdep", ice::psdep(&p, DT, none, &growth, &dry)),
        ("pigen", ice::pigen(DT, 10.0, 0.9, none, &growth)),
        ("psaut", ice::psaut(&p, DT, 0.9, 0.99 * p.roqimax / 0.9)),
        ("pimlt", melt::pimlt(none, 1e-4)),
        ("pihmf", melt::pihmf(40.0, 1e-4)),
        ("pihtf", melt::pihtf(&p, DT, none, 0.9, 1e-4)),
        ("psfrz", melt::psfrz(&p, DT, none, 0.9, 1e-4, minimum)),
        ("psmlt", {
            let frozen = Cell { t: f64::FREEZING, qs: 1e-3, ..Cell::default() };
            melt::psmlt(&p, DT, &air(), &frozen, 1.0, dry.snow)
        }),
    ];
    for (name, rate) in rates {
        assert!(rate.abs() <= 0.0, "{name}: {rate:e}");
    }
}

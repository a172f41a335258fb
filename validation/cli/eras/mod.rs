//! Files of every era of WRF as input, several times of them, and the report of `info` on them.

#![allow(clippy::print_stdout, reason = "the figures that a test arrives at")]

pub(crate) mod cut;
mod files;
mod frames;
mod info;
pub(crate) mod place;

use nwp_mini_support::real;

use cut::Cut;
use place::{Outcome, Place, largest_difference};

/// The results that a run carries on.
const FIELDS: [&str; 8] = ["T", "QVAPOR", "QCLOUD", "QRAIN", "QICE", "QSNOW", "RAINNC", "W"];

/// The water budget of a run in single precision closes to this part.
const CLOSED: f64 = 1e-6;

/// Runs the piece as it is and as an era would have written it.
fn with_and_without(era: impl FnOnce(&mut Cut)) -> [Outcome; 2] {
    let mut other = Cut::new();
    era(&mut other);
    [Cut::new(), other].map(|cut| {
        let outcome = Place::new().result_of(&cut);
        assert!(outcome.unexplained() < CLOSED, "{}", outcome.unexplained());
        outcome
    })
}

/// Checks that an era's file gives the same bits.
fn same(era: impl FnOnce(&mut Cut)) -> Outcome {
    let [usual, other] = with_and_without(era);
    for name in FIELDS {
        assert!(usual.last(name) == other.last(name), "{name}");
    }
    other
}

/// Checks that an era's file gives the same results except for the rounding of values that it stores differently.
fn nearly_same(era: impl FnOnce(&mut Cut)) {
    let [usual, other] = with_and_without(era);
    // In three steps the storm changes by a degree, by 1e-3 of vapour, and by 1 m/s.
    for (name, tolerance) in [("T", 2e-3), ("QVAPOR", 2e-7), ("QSNOW", 2e-7), ("W", 2e-3)] {
        let difference = largest_difference(&usual.last(name), &other.last(name));
        println!("{name}: {difference:e}");
        assert!(difference < tolerance, "{name}: {difference:e}");
    }
}

#[test]
fn wrf_3_has_no_hybrid_coefficients() {
    same(|cut| cut.remove(&["C1H", "C2H", "C1F", "C2F"]));
}

#[test]
fn wrf_4_has_moist_theta_and_theta() {
    same(|cut| {
        cut.add_like("THM", "T", 123.0);
        cut.numbers.extend([("USE_THETA_M", 1.0), ("HYBRID_OPT", 0.0)]);
    });
}

#[test]
fn moist_theta_alone_serves() {
    nearly_same(|cut| {
        let qv = cut.values("QVAPOR").clone();
        cut.rename("T", "THM");
        cut.values("THM").zip_mut_with(&qv, |theta, &qv| {
            let moist = (f64::from(*theta) + 300.0) * (1.0 + 461.6 / 287.0 * f64::from(qv));
            *theta = (moist - 300.0) as f32;
        });
    });
}

#[test]
fn map_factors_have_older_names() {
    let enlarge = |cut: &mut Cut| {
        for name in ["MX", "MY", "UX", "UY", "VX", "VY"] {
            cut.values(&format!("MAPFAC_{name}")).fill(1.04);
        }
    };
    let rename = |cut: &mut Cut| {
        for (name, older) in [("MX", "M"), ("UX", "U"), ("VX", "V")] {
            cut.rename(&format!("MAPFAC_{name}"), &format!("MAPFAC_{older}"));
        }
        cut.remove(&["MAPFAC_MY", "MAPFAC_UY", "MAPFAC_VY"]);
    };
    let results = [false, true].map(|is_old| {
        let mut cut = Cut::new();
        enlarge(&mut cut);
        if is_old {
            rename(&mut cut);
        }
        Place::new().result_of(&cut)
    });
    for name in FIELDS {
        assert!(results[0].last(name) == results[1].last(name), "{name}");
    }
    let plain = Place::new().result_of(&Cut::new());
    assert!(plain.last("QVAPOR") != results[0].last("QVAPOR"), "the map factors are not used");
}

#[test]
fn idealised_cases_leave_variables_zero() {
    same(|cut| {
        for (name, like) in [
            ("MAPFAC_M", "MAPFAC_MX"),
            ("MAPFAC_U", "MAPFAC_UX"),
            ("MAPFAC_V", "MAPFAC_VX"),
            ("XLAT", "HGT"),
            ("XLONG", "HGT"),
            ("PSFC", "HGT"),
        ] {
            cut.add_like(name, like, 0.0);
        }
        // Profiles that were never filled are no profiles.
        for name in ["C1H", "C2H", "C1F", "C2F"] {
            cut.values(name).fill(0.0);
        }
        for name in ["MX", "MY", "UX", "UY", "VX", "VY"] {
            cut.values(&format!("MAPFAC_{name}")).fill(0.0);
        }
    });
}

#[test]
fn eta_levels_alone_are_enough() {
    nearly_same(|cut| {
        cut.remove(&["ZNU", "DNW", "RDNW", "DN", "RDN", "FNM", "FNP"]);
        cut.remove(&["C1H", "C2H", "C1F", "C2F", "P_TOP", "HGT"]);
    });
}

#[test]
fn unfilled_profiles_are_derived() {
    nearly_same(|cut| {
        for name in ["ZNU", "DNW", "RDNW", "DN", "RDN", "FNM", "FNP"] {
            cut.values(name).fill(0.0);
        }
    });
}

#[test]
fn profiles_may_be_without_time() {
    same(|cut| {
        for (name, field) in &mut cut.fields {
            field.has_time = field.axes.len() > 1 && !name.starts_with("MAPFAC");
        }
        cut.text_axis = "string19";
    });
}

#[test]
fn restart_files_hold_two_time_levels() {
    let other = same(|cut| {
        for name in ["U", "V", "W", "T", "PH", "MU"] {
            cut.rename(name, &format!("{name}_2"));
            // The level before must not be taken.
            cut.add_like(&format!("{name}_1"), &format!("{name}_2"), 1e6);
        }
    });
    assert!(other.at("T", 0) == Place::new().result_of(&Cut::new()).at("T", 0));
}

#[test]
fn input_files_have_no_hydrometeors() {
    let mut cut = Cut::new();
    cut.remove(&["QCLOUD", "QRAIN", "QICE", "QSNOW", "W"]);
    let outcome = Place::new().result_of(&cut);
    assert!(outcome.unexplained() < CLOSED);
    for name in ["QCLOUD", "QRAIN", "QICE", "QSNOW"] {
        assert!(outcome.at(name, 0).iter().all(|q| *q == 0.0), "{name}");
    }
    assert!(outcome.last("QCLOUD").iter().any(|q| *q > 0.0), "nothing condenses in the storm");
}

#[test]
fn graupel_is_left_out_and_its_mass_reported() {
    let other = same(|cut| cut.add_like("QGRAUP", "QSNOW", 1e-3));
    let message = other.stderr.lines().find(|line| line.contains("QGRAUP")).expect("a warning");
    let (_, mass) = message.split_once('(').expect("a mass");
    let mass: f64 = mass.split_once(" kg").expect("in kg").0.parse().expect("a number");
    // A thousandth of the air of 14x12 columns of 30 km, some 9 t over each square metre.
    let (columns, area, column_mass) = (14.0 * 12.0, 30e3 * 30e3, 8.7e4 / 9.81);
    assert!((mass / (1e-3 * columns * area * column_mass) - 1.0).abs() < 0.05, "{mass:e}");
}

/// Coefficients that flatten the coordinate aloft: B(eta) = eta squared.
fn hybrid(cut: &mut Cut) {
    let znw = cut.values("ZNW").clone();
    // Reference pressure of 1000 hPa over the lid.
    let depth = 1e5 - cut.values("P_TOP").first().copied().expect("a number");
    let c1: Vec<f32> = znw.as_slice().expect("a profile").windows(2).map(|z| z[0] + z[1]).collect();
    for (at, c1) in c1.iter().enumerate() {
        cut.values("C1H")[at] = *c1;
        cut.values("C2H")[at] = (1.0 - c1) * depth;
    }
    cut.values("C1F").zip_mut_with(&znw, |c, eta| *c = 2.0 * eta);
    cut.values("C2F").zip_mut_with(&znw, |c, eta| *c = (1.0 - 2.0 * eta) * depth);
    cut.numbers.insert("HYBRID_OPT", 2.0);
}

#[test]
fn the_hybrid_coordinate_weighs_its_layers() {
    let mut cut = Cut::new();
    hybrid(&mut cut);
    let outcome = Place::new().result_of(&cut);
    assert!(outcome.unexplained() < CLOSED, "{}", outcome.unexplained());

    let mut get = |name: &str| cut.values(name).mapv(f64::from);
    let (c1, c2, dnw) = (get("C1H"), get("C2H"), get("DNW"));
    let mu = get("MU") + get("MUB");
    let water = ["QVAPOR", "QCLOUD", "QRAIN", "QICE", "QSNOW"];
    let water = water.map(&mut get).into_iter().reduce(|a, b| a + b).expect("five species");
    let (ny, nx) = (mu.shape()[0], mu.shape()[1]);
    let mut wanted = 0.0;
    for (at, q) in water.indexed_iter() {
        let [k, j, i] = [at[0], at[1], at[2]];
        if (1..ny - 1).contains(&j) && (1..nx - 1).contains(&i) {
            wanted += q * (c1[k] * mu[[j, i]] + c2[k]) * -dnw[k] * 30e3 * 30e3 / 9.81;
        }
    }
    let found = outcome.number("/water/start");
    assert!((found / wanted - 1.0).abs() < 1e-5, "{found} {wanted}");
}

#[test]
fn a_hybrid_file_without_its_coefficients_is_refused() {
    let mut cut = Cut::new();
    hybrid(&mut cut);
    cut.remove(&["C1H"]);
    let place = Place::new();
    cut.write(&place.path("in.nc"));
    place.run(&["in.nc"], &[]).refused(&["in.nc", "HYBRID_OPT is 2", "C1H"]);
}

#[test]
fn our_own_output_is_input() {
    let place = Place::new();
    Cut::new().write(&place.path("in.nc"));
    place.run(&["in.nc"], &["--steps", "3", "--output-interval", "60"]).good();
    let first = place.outcome();
    std::fs::rename(place.path("out.nc"), place.path("again.nc")).expect("another name");
    // Four times, of which the first is the same air with winds that need no projection.
    place.run(&["again.nc"], &["--steps", "3"]).good();
    let again = place.outcome();
    assert!(again.number("/projection/max_du") < 1e-4, "{}", again.figures);
    assert!(again.unexplained() < CLOSED);
    for (name, tolerance) in [("T", 1e-3), ("QVAPOR", 1e-7), ("U", 1e-4), ("V", 1e-4)] {
        let difference = largest_difference(&first.last(name), &again.last(name));
        assert!(difference < tolerance, "{name}: {difference:e}");
    }
    // Later the density, from which W is computed, is that of the new air.
    let difference = largest_difference(&first.at("W", 0), &again.at("W", 0));
    assert!(difference < 1e-4, "{difference:e}");
    for name in ["P", "PH", "MU", "ZNW", "FNM"] {
        assert!(first.last(name) == again.last(name), "{name}");
    }
}

//! Species of chemistry and passive tracers of a run.

use std::fs;

use super::apart;
use super::place::Place;
use super::small::{Field, Small};

const FILES: i32 = 3;
const USAGE: i32 = 2;

const MECHANISM: &str = "#ATOMS N; O;\n#DEFVAR NO = N + O; NO2 = N + 2O; O3 = 3O;\n#DEFFIX M = IGNORE;\n\
                         #EQUATIONS <R1> NO + O3 = NO2 : ARR_ab(2.0D-12, 1400.0);\n";

/// Units, and the map to them from ppmv and the density of the air.
type InOtherUnits = (&'static str, fn(f64, f64) -> f64);

/// The small file with ozone that falls from level to level (ppmv), as `of` makes it of ppmv and density of the air.
fn with_ozone(units: Option<&'static str>, of: impl Fn(f64, f64) -> f64) -> Place {
    let mut small = Small::new();
    let like = small.fields["T"].clone();
    let density = density(&small);
    let mut values = like.values.clone();
    for ((at, x), rho) in values.indexed_iter_mut().zip(density) {
        *x = of(0.04 + 0.01 * at[0] as f64, rho) as f32;
    }
    small.fields.insert("o3", Field { values, units, ..like });
    let place = Place::with(&small);
    fs::write(place.path("m.kpp"), MECHANISM).expect("a file");
    place
}

/// Density of the dry air, kg m-3.
fn density(small: &Small) -> Vec<f64> {
    let field = |name: &str| small.fields[name].values.iter().map(|x| f64::from(*x));
    let pressure = field("P").zip(field("PB")).map(|(p, pb)| p + pb);
    let air = pressure.zip(field("T")).zip(field("QVAPOR"));
    air.map(|((p, theta), qv)| 1.0 / nwp_mini::thermo::specific_volume(theta + 300.0, qv, p))
        .collect()
}

const RUN: [&str; 9] =
    ["-q", "--backend", "cpu", "--steps", "2", "--force", "--chemistry", "m.kpp", "--latitude=45"];

#[test]
fn species_are_converted_to_ppmv() {
    let ozone = |place: &Place| {
        place.run_small(&RUN).good();
        place.open("small.out.nc").frame("o3", 1)
    };
    let plain = ozone(&with_ozone(Some("ppmv"), |ppmv, _| ppmv));
    assert_eq!(ozone(&with_ozone(None, |ppmv, _| ppmv)), plain);
    let avogadro = 6.022e23 / 28.97 * 1e-3;
    let cases: [InOtherUnits; 6] = [
        ("ppm", |ppmv, _| ppmv),
        ("ppbv", |ppmv, _| 1e3 * ppmv),
        ("pptv", |ppmv, _| 1e6 * ppmv),
        ("mol mol-1", |ppmv, _| 1e-6 * ppmv),
        ("molecules cm-3", |ppmv, rho| 1e-6 * ppmv * rho),
        ("m-3", |ppmv, rho| ppmv * rho),
    ];
    for (units, of) in cases {
        let scale = if units.contains("m-3") { avogadro } else { 1.0 };
        let found = ozone(&with_ozone(Some(units), |ppmv, rho| scale * of(ppmv, rho)));
        assert!(apart(&plain, &found) < 1e-5, "{units}: {:e}", apart(&plain, &found));
    }
}

#[test]
fn species_in_other_units_and_impossible_ones_are_refused() {
    for (units, ppmv, words) in [
        ("ug m-3", 80.0, ["\"ug m-3\"", "ppmv"]),
        ("kg kg-1", 1e-8, ["\"kg kg-1\"", "ppmv"]),
        ("percent of the usual", 100.0, ["percent of the usual", "ppmv"]),
        ("ppmv", -0.04, ["o3 (ppmv)", "in cell i=0 j=0 k=0"]),
        ("ppbv", 4e9, ["o3 (ppmv)", "in cell i=0 j=0 k=0"]),
    ] {
        let place = with_ozone(Some(units), |_, _| ppmv);
        place.run_small(&RUN).refused(FILES, &[&["small.nc", "o3"][..], &words].concat());
        assert_eq!(place.files(), ["m.kpp", "small.nc"]);
    }
    // Rounding below 0 is none.
    let place = with_ozone(Some("ppmv"), |ppmv, _| if ppmv > 0.1 { -1e-9 } else { ppmv });
    place.run_small(&RUN).good();
}

#[test]
fn backgrounds_have_at_most_all_of_the_air() {
    let place = with_ozone(Some("ppmv"), |ppmv, _| ppmv);
    let text =
        "[[species]]\nname = \"NO\"\nheight = [0, 9000]\nvalue = [0.1, 1e9]\nsource = \"-\"\n";
    fs::write(place.path("b.toml"), text).expect("a file");
    let ended = place.run_small(&[&RUN[..], &["--chem-background", "b.toml"]].concat());
    ended.refused(USAGE, &["b.toml", "NO", "1e9", "9000 m", "1e6 ppmv"]);
}

/// A tracer that begins with a variable has its values in the units of the tracer.
#[test]
fn tracers_are_converted_to_their_own_units() {
    let place = with_ozone(Some("ppmv"), |ppmv, _| ppmv);
    let tracer = |name: &str, units: &str, variable: &str| {
        format!(
            "[[tracer]]\nname = \"{name}\"\nunits = \"{units}\"\n\
             initial = {{ kind = \"field\", variable = \"{variable}\" }}\n"
        )
    };
    let text =
        tracer("a", "ppbv", "o3") + &tracer("b", "ppmv", "o3") + &tracer("c", "g kg-1", "QVAPOR");
    fs::write(place.path("t.toml"), text).expect("a file");
    let run = ["-q", "--backend", "cpu", "--steps", "1", "--force", "--tracers", "t.toml"];
    place.run_small(&run).good();
    let output = place.open("small.out.nc");
    let of = |name: &str, factor: f64| output.frame(name, 0).mapv(|x| factor * x);
    assert!(apart(&of("a", 1.0), &of("b", 1e3)) < 1e-6);
    assert!(apart(&of("c", 1.0), &of("QVAPOR", 1e3)) < 1e-6);
    assert!((of("b", 1.0)[[0, 0, 0]] - 0.04).abs() < 1e-7);
    fs::write(place.path("t.toml"), tracer("a", "kg m-3", "o3")).expect("a file");
    place.run_small(&run).refused(FILES, &["o3", "ppmv", "kg m-3"]);
    fs::write(place.path("t.toml"), tracer("a", "ppmv", "QVAPOR")).expect("a file");
    place.run_small(&run).refused(USAGE, &["t.toml", "ppmv", "QVAPOR"]);
}

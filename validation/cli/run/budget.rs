//! The water budget: every term, all boundaries, all limiters, both precisions.

use ndarray::{ArrayD, Dimension, IxDyn};

use super::place::Place;
use super::result::Output;
use super::small::Small;

const BOUNDARIES: [&str; 6] =
    ["specified", "periodic", "open", "periodic,specified", "specified,open", "open,periodic"];
const LIMITERS: [&str; 3] = ["pd", "monotonic", "none"];
/// The precisions and the parts of all water that may stay unexplained.
const PROMISED: [(&str, f64); 2] = [("f32", 1e-6), ("f64", 1e-10)];
const WATER: [&str; 5] = ["QVAPOR", "QCLOUD", "QRAIN", "QICE", "QSNOW"];

/// The terms of the budget, kg.
#[derive(Debug)]
struct Terms {
    start: f64,
    end: f64,
    fallen: f64,
    sides: f64,
    made: f64,
    clipped: f64,
    mass_mismatch: f64,
}

impl Terms {
    fn of(figures: &serde_json::Value) -> Self {
        let term = |name: &str| figures["water"][name].as_f64().expect("a term of the budget");
        Self {
            start: term("start"),
            end: term("end"),
            fallen: term("fallen"),
            sides: term("sides"),
            made: term("fallout_residual"),
            clipped: term("clipped"),
            mass_mismatch: term("mass_mismatch"),
        }
    }

    /// Residual of the terms relative to the water at the start.
    fn unexplained(&self) -> f64 {
        let Self { start, end, fallen, sides, made, clipped, mass_mismatch } = self;
        (end - (start - fallen + sides + made + clipped + mass_mismatch)) / start
    }
}

/// The region inside the outermost specified and open rows, from the file.
struct Region<'a> {
    output: &'a Output,
    outside: [bool; 2],
    /// Area of the columns, m2.
    area: ArrayD<f64>,
}

impl<'a> Region<'a> {
    fn new(output: &'a Output, boundary: &str) -> Self {
        let (x, y) = boundary.split_once(',').unwrap_or((boundary, boundary));
        let flat = output.number("DX") * output.number("DY");
        let area = flat / (output.frame("MAPFAC_MX", 0) * output.frame("MAPFAC_MY", 0));
        Self { output, outside: [x, y].map(|kind| kind != "periodic"), area }
    }

    fn holds(&self, at: &IxDyn, field: &ArrayD<f64>) -> bool {
        let shape = field.shape();
        let within = |axis: usize, cut: bool| !cut || (1..shape[axis] - 1).contains(&at[axis]);
        let n = at.ndim();
        within(n - 1, self.outside[0]) && within(n - 2, self.outside[1])
    }

    /// Sum of `value` over the region.
    fn sum(&self, field: &ArrayD<f64>, value: impl Fn(&IxDyn, f64) -> f64) -> f64 {
        let parts = field.indexed_iter().filter(|(at, _)| self.holds(at, field));
        parts.map(|(at, x)| value(&at, *x)).sum()
    }

    /// All water at one time, kg.
    fn water(&self, time: usize) -> f64 {
        let [mu, mub, c1, c2, rdnw] =
            ["MU", "MUB", "C1H", "C2H", "RDNW"].map(|name| self.output.frame(name, time));
        let mass = |at: &IxDyn| {
            let (k, column) = (at[0], &at.slice()[1..]);
            let dry = c1[k] * (mu[column] + mub[column]) + c2[k];
            dry / rdnw[k].abs() * self.area[column] / 9.81
        };
        let all = WATER.iter().fold(0.0 * &self.output.frame("T", time), |sum, name| {
            sum + self.output.frame(name, time)
        });
        self.sum(&all, |at, q| q * mass(at))
    }

    /// Precipitation according to RAINNC, kg.
    fn fallen(&self) -> f64 {
        let rain = self.output.last("RAINNC");
        self.sum(&rain, |at, mm| mm * self.area[at])
    }
}

#[test]
fn water_closes_with_every_boundary_limiter_and_precision() {
    let place = Place::with(&Small::hybrid());
    for (precision, promised) in PROMISED {
        for boundary in BOUNDARIES {
            for limiter in LIMITERS {
                let about = format!("{precision} {boundary} {limiter}");
                let (figures, output) = place.figures(&[
                    "--steps",
                    "15",
                    "--dt",
                    "90",
                    "--boundary",
                    boundary,
                    "--limiter",
                    limiter,
                    "--precision",
                    precision,
                ]);
                let terms = Terms::of(&figures);
                assert!(terms.unexplained().abs() < promised, "{about}: {terms:?}");
                let reported = figures["water"]["closure_rel"].as_f64().expect("a number");
                assert!(reported.abs() < promised, "{about}: {reported}");

                // The terms are those of the fields. The file holds single precision in f32,
                // a part in 1e7 of every value.
                let rounding = if precision == "f32" { 1e-6 } else { 1e-11 };
                let region = Region::new(&output, boundary);
                let fallen = region.fallen();
                let pairs = [
                    (terms.start, region.water(0)),
                    (terms.end, region.water(1)),
                    (terms.fallen, fallen),
                ];
                for (reported, found) in pairs {
                    assert!(
                        (reported - found).abs() < rounding * terms.start,
                        "{about}: {reported} {found}"
                    );
                }
                // The terms are significant.
                assert!(terms.fallen > 1e-3 * terms.start, "{about}: {terms:?}");
                assert!(terms.mass_mismatch.abs() > 0.0, "{about}: {terms:?}");
                let is_closed = boundary == "periodic";
                assert_eq!(terms.sides.abs() == 0.0, is_closed, "{about}: {terms:?}");
            }
        }
    }
}

/// Without a limiter, transport creates negative water, which clipping sets to zero.
#[test]
fn clipping_is_counted() {
    let place = Place::with(&Small::new());
    let clipped = |limiter| {
        let (figures, _) = place.figures(&["--steps", "10", "--limiter", limiter]);
        let terms = Terms::of(&figures);
        terms.clipped / terms.start
    };
    assert!(clipped("none") > 1e-6);
    assert!(clipped("pd").abs() < 1e-7);
}

/// In clear air below saturation the microphysics changes nothing: the inflow through the sides is the increase.
#[test]
fn in_clear_air_only_the_sides_change_the_water() {
    let place = Place::with(&Small::clear());
    for (precision, promised) in PROMISED {
        for boundary in BOUNDARIES {
            let (figures, output) =
                place.figures(&["--steps", "15", "--boundary", boundary, "--precision", precision]);
            let about = format!("{precision} {boundary}");
            let terms = Terms::of(&figures);
            for term in [terms.fallen, terms.made, terms.clipped, terms.mass_mismatch] {
                assert!(term.abs() == 0.0, "{about}: {terms:?}");
            }
            let gained = terms.end - terms.start;
            assert!((gained - terms.sides).abs() < promised * terms.start, "{about}: {terms:?}");
            let condensates = ["QCLOUD", "QRAIN", "QICE", "QSNOW"].map(|name| output.last(name));
            assert!(condensates.iter().flatten().all(|q| q.abs() == 0.0), "{about}");
            if boundary != "periodic" {
                assert!(gained.abs() > 1e-4 * terms.start, "{about}: {terms:?}");
            }
        }
    }
}

/// The minimum and the maximum of a field of the output, without the excluded columns.
fn extremes(values: &ArrayD<f64>, left_out: impl Fn([usize; 2]) -> bool) -> [f64; 2] {
    let n = values.ndim();
    let counted = values.indexed_iter().filter(|(at, _)| !left_out([at[n - 2], at[n - 1]]));
    counted.fold([0.0, 0.0], |[least, most]: [f64; 2], (_, &q)| [least.min(q), most.max(q)])
}

/// With limiters, positive values stay positive except for rounding.
///
/// Radiation through an open side is not limited, and the microphysics sets negative values there to zero. A specified
/// side next to an open one copies the last cell before that, so that the corners are excluded.
#[test]
fn water_stays_positive() {
    let place = Place::with(&Small::hybrid());
    for boundary in BOUNDARIES {
        let is_mixed = boundary.contains("specified") && boundary.contains("open");
        let is_left_out =
            |[j, i]: [usize; 2]| is_mixed && [0, 9].contains(&j) && [0, 11].contains(&i);
        for limiter in ["pd", "monotonic"] {
            let arguments = ["--steps", "40", "--boundary", boundary, "--limiter", limiter];
            let (_, output) =
                place.figures(&[&arguments[..], &["--output-interval", "120"]].concat());
            for name in WATER {
                let [least, most] = extremes(&output.values(name), is_left_out);
                let about = format!("{name} {boundary} {limiter}");
                assert!(least >= -1e-7 * most, "{about}: {least:e} of {most:e}");
            }
        }
    }
    // Without a limiter there is something to see.
    let without = ["--steps", "40", "--limiter", "none", "--boundary", "specified"];
    let (_, output) = place.figures(&without);
    let all = WATER.map(|name| extremes(&output.values(name), |_| false));
    assert!(all.iter().any(|[least, most]| *least < -1e-7 * most), "{all:?}");
}

#[test]
fn the_storm_closes_and_stays_positive() {
    let place = Place::empty();
    for (precision, promised) in PROMISED {
        let arguments =
            ["-q", "--force", "--steps", "8", "--json", "out.json", "--precision", precision];
        place.run_storm(&arguments).good();
        let terms = Terms::of(&place.json("out.json"));
        assert!(terms.unexplained().abs() < promised, "{precision}: {terms:?}");
        let output = place.open("soc.out.nc");
        for name in WATER {
            let [least, most] = extremes(&output.last(name), |_| false);
            assert!(least >= -1e-7 * most, "{name} {precision}: {least:e} of {most:e}");
        }
    }
}

//! The processes one by one against intermediate values that WRF's code in double precision has stored.

use ndarray::{Array2, Array3, ArrayD, Ix3, s};
use netcdf::Group;

use nwp_mini::physics::kessler::cell::{KesslerCell, processed};
use nwp_mini::physics::kessler::params::KesslerFactors;
use nwp_mini::physics::kessler::{columns, conversion, evaporation, saturation, sedimentation};

use super::support;
use super::support::column_reference::truth::{group, on_levels, values};

/// Relative difference of formulas in another order of operations: several roundings, and cancellation in the remainder
/// of the conversion.
const SOME_ROUNDINGS: f64 = 1.0e-12;
/// Relative difference for a difference of two larger numbers.
const CANCELLATION: f64 = 1.0e-9;

/// The stored values of one time step.
struct Stored<'f> {
    input: &'f Group<'f>,
    values: Group<'f>,
    dt: f64,
}

impl Stored<'_> {
    fn field(&self, name: &str) -> Array2<f64> {
        let is_here = self.values.variable(name).is_some();
        let from = if is_here { &self.values } else { self.input };
        let values: ArrayD<f64> = values(from, name, ..);
        on_levels(values)
    }

    /// The input of this name.
    fn entry(&self, name: &str) -> Array2<f64> {
        on_levels(values(self.input, name, ..))
    }

    fn of_substeps(&self, name: &str) -> Array3<f64> {
        values(&self.values, name, ..).into_dimensionality::<Ix3>().expect("(sub, level, column)")
    }
}

fn for_both(check: impl Fn(&Stored<'_>)) {
    let file = support::reference("kessler");
    for (name, dt) in [("dt060", 60.0), ("dt300", 300.0)] {
        let input = &group(&file, "process");
        let values = input.group(name).expect("a group of a time step");
        check(&Stored { input, values, dt });
    }
}

/// Compares a field with the stored one, with a relative tolerance; a change of one per cent must be detected unless
/// the field is 0.
fn compare(
    stored: &Stored<'_>,
    name: &str,
    tolerance: f64,
    floor: f64,
    found: impl Fn([usize; 2]) -> f64,
) {
    let expected = stored.field(name);
    let (mut active, mut caught, mut worst) = (0, 0, 0.0_f64);
    for ((k, column), &expected) in expected.indexed_iter() {
        let found = found([k, column]);
        let limit = tolerance * expected.abs() + floor;
        let ratio = if found == expected { 0.0 } else { (found - expected).abs() / limit };
        assert!(
            ratio <= 1.0,
            "{name}, dt {}: {found:e}, not {expected:e}, at level {k} of column {column}",
            stored.dt
        );
        worst = worst.max(ratio);
        active += usize::from(expected != 0.0);
        caught += usize::from(expected != 0.0 && (found - 1.01 * expected).abs() > limit);
    }
    println!("{name}, dt {}: {worst:.2e} of the tolerance, {active} active", stored.dt);
    assert!(active > 0 && caught * 10 >= active * 9, "{name}: 1 % shows in {caught} of {active}");
}

#[test]
fn conversion_of_cloud_water() {
    let p = KesslerFactors::default();
    for_both(|stored| {
        let [qc, qr] = ["qc", "qr"].map(|name| stored.entry(name));
        compare(stored, "factorn", SOME_ROUNDINGS, 0.0, |at| {
            1.0 / (1.0 + conversion::accretion(&p, stored.dt, qr[at]))
        });
        // The original takes the difference of two numbers of the size of qc.
        compare(stored, "qrprod", SOME_ROUNDINGS, 1.0e-18, |at| {
            conversion::conversion(&p, stored.dt, qc[at], qr[at])
        });
    });
}

#[test]
fn saturation_and_evaporation() {
    let p = KesslerFactors::default();
    for_both(|stored| {
        let [theta, exner, qv, rho] = ["th", "pii", "q", "den"].map(|name| stored.entry(name));
        let [pressure, es, qvs] = ["pressure", "es", "qvs"].map(|name| stored.field(name));
        let [qc, qr] =
            ["qc_after_conversion", "qr_after_conversion"].map(|name| stored.field(name));
        compare(stored, "pressure", SOME_ROUNDINGS, 0.0, |at| saturation::pressure(exner[at]));
        compare(stored, "es", SOME_ROUNDINGS, 0.0, |at| {
            saturation::vapour_pressure(exner[at] * theta[at])
        });
        compare(stored, "qvs", SOME_ROUNDINGS, 0.0, |at| {
            saturation::mixing_ratio(pressure[at], es[at])
        });
        compare(stored, "gam", SOME_ROUNDINGS, 0.0, |at| saturation::warming(exner[at]));
        let excess = |at| {
            let t = exner[at] * theta[at];
            saturation::excess(&p, t, pressure[at], es[at], qvs[at], qv[at])
        };
        compare(stored, "saturation_excess", CANCELLATION, 0.0, excess);
        let raw = |at| {
            evaporation::evaporation(&p, stored.dt, rho[at], pressure[at], qvs[at], qv[at], qr[at])
        };
        compare(stored, "evaporation_raw", CANCELLATION, 0.0, raw);
        compare(stored, "evaporation", CANCELLATION, 1.0e-18, |at| {
            evaporation::limited(raw(at), excess(at), qc[at], qr[at])
        });
    });
}

/// A cell as a whole, from the rain that the fall has left.
#[test]
fn cells_after_the_processes() {
    let p = KesslerFactors::default();
    for_both(|stored| {
        let [theta, qv, qc, qr, rho, exner] =
            ["th", "q", "qc", "qr", "den", "pii"].map(|name| stored.entry(name));
        let converted = |at| conversion::conversion(&p, stored.dt, qc[at], qr[at]);
        let after = stored.field("qr_after_conversion");
        let cell = |at: [usize; 2]| {
            let made = 0.0;
            let cell = KesslerCell { theta: theta[at], qv: qv[at], qc: qc[at], qr: qr[at], made };
            let fallen = after[at] - converted(at);
            processed(&p, stored.dt, 0.0, rho[at], exner[at], fallen, &cell)
        };
        compare(stored, "th", SOME_ROUNDINGS, 0.0, |at| cell(at).theta);
        compare(stored, "q", CANCELLATION, 0.0, |at| cell(at).qv);
        compare(stored, "qc", CANCELLATION, 1.0e-16, |at| cell(at).qc);
        compare(stored, "qr", CANCELLATION, 1.0e-16, |at| cell(at).qr);
    });
}

/// Number and length of the sub-steps, and the first terminal velocities.
#[test]
fn fall_in_substeps() {
    let p = KesslerFactors::default();
    for_both(|stored| {
        let [qr, rho, dz] = ["qr", "den", "delz"].map(|name| stored.entry(name));
        let speeds = stored.of_substeps("vt").slice(s![0, .., ..]).to_owned();
        let numbers: Vec<f64> = values(&stored.values, "n_sub_left", (0, ..)).into_iter().collect();
        let substeps: Vec<f64> = values(&stored.values, "substeps", ..).into_iter().collect();
        let (nz, count) = qr.dim();
        let mut several = 0;
        for column in 0..count {
            let mut largest = 0.0_f64;
            for k in 0..nz {
                let at = [k, column];
                let factor = sedimentation::density_factor(rho[[0, column]], rho[at]);
                let speed = sedimentation::fall_speed(&p, rho[at], factor, qr[at]);
                let expected = speeds[at];
                assert!(
                    (speed - expected).abs() <= SOME_ROUNDINGS * expected,
                    "{speed}, not {expected} m/s at level {k} of column {column}"
                );
                largest = largest.max(sedimentation::courant(speed, stored.dt, 1.0 / dz[at]));
            }
            assert_eq!(
                sedimentation::number_of_substeps(largest),
                numbers[column],
                "column {column}"
            );
            let mut whole = columns::ColumnBlock::<f64, 1>::new(nz);
            for (k, level) in whole.levels.iter_mut().enumerate() {
                let at = [k, column];
                (level.qr, level.rho, level.dz) = ([qr[at]], [rho[at]], [dz[at]]);
                let [theta, exner] = ["th", "pii"].map(|name| stored.entry(name)[at]);
                (level.theta, level.exner) = ([theta], [exner]);
            }
            whole.call(&p, stored.dt);
            assert_eq!(whole.substeps[0], substeps[column], "sub-steps of column {column}");
            several += usize::from(substeps[column] > 1.0);
        }
        assert!(several > 2, "{several} columns have several sub-steps");
    });
}

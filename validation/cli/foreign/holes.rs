//! Declared values that were never written.

use super::{place_of, refused, run_as_promised};
use crate::eras::cut::{Cut, Kind};
use crate::eras::place::Place;

/// Fill value of the library, in types float and double.
const FILL: f32 = 9.969_21e36;

const LATER: &str = "0001-01-01_11:00:00";

fn two_times(spoil: impl FnOnce(&mut Cut)) -> Place {
    let mut first = Cut::new();
    first.add_plane("RAINNC", |_, _| 1.0);
    let mut second = first.clone().at(LATER);
    spoil(&mut second);
    let place = Place::new();
    Cut::write_all(&[&first, &second], &place.path("in.nc"));
    place
}

#[test]
fn a_later_time_that_was_not_written_to_its_end_is_refused() {
    let place = two_times(|cut| {
        for name in ["RAINNC", "MU", "HGT"] {
            cut.values(name).fill(FILL);
        }
    });
    let words = ["in.nc", LATER, "MU was never written", "HGT was never written", "RAINNC"];
    run_as_promised(&place).refused(&words);
    // In the first time, and in the second, which the first steps do not need.
    for name in ["U", "PH", "QVAPOR", "HGT"] {
        let place = two_times(|cut| {
            let field = cut.values(name);
            *field.iter_mut().last().expect("values") = FILL;
        });
        run_as_promised(&place).refused(&[LATER, &format!("variable {name} was never written")]);
    }
}

#[test]
fn what_a_run_does_not_read_may_be_missing() {
    let place = two_times(|cut| cut.values("RAINNC").fill(FILL));
    run_as_promised(&place).good();
    let draw = |time: &str| {
        place
            .command(&[
                "plot",
                "in.nc",
                "--only",
                "precipitation",
                "--format",
                "svg",
                "--force",
                "--time",
                time,
            ])
            .good();
        std::fs::read_to_string(place.path("in.plots/precipitation.svg")).expect("a picture")
    };
    assert!(draw("0").contains("mean 1 mm"));
    let picture = draw("1");
    assert!(picture.contains("no values") && !picture.contains("e37"), "{picture}");
}

#[test]
fn every_variable_and_type_is_looked_at() {
    for name in ["XLAT", "HGT", "MAPFAC_MX", "ZNU", "P_TOP", "QVAPOR", "W"] {
        for kind in [Kind::Single, Kind::Double] {
            let mut cut = Cut::new();
            cut.add_plane("XLAT", |j, _| 45.0 + 0.27 * j as f32);
            cut.add_plane("XLONG", |_, i| 9.0 + 0.38 * i as f32);
            cut.field(name).kind = kind;
            let field = cut.values(name);
            *field.iter_mut().last().expect("values") = FILL;
            if name == "W" {
                // The variable is diagnosed again.
                run_as_promised(&place_of(&cut)).good();
            } else {
                refused(&cut, &["in.nc", name, "never written"]);
            }
        }
    }
}

#[test]
fn marks_of_single_precision_are_met_in_it() {
    for (mark, value) in [(-999.9_f64, -999.9_f32), (f64::NAN, f32::NAN)] {
        for name in ["_FillValue", "missing_value"] {
            let mut cut = Cut::new();
            // The fill value has the type of the variable.
            let attribute = if name == "_FillValue" { (mark as f32).into() } else { mark.into() };
            cut.field("HGT").attributes.push((name, attribute));
            run_as_promised(&place_of(&cut)).good();
            cut.values("HGT")[[4, 4]] = value;
            refused(&cut, &["HGT", name, "south_north=4 west_east=4"]);
        }
    }
}

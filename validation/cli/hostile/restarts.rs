//! Restart files that a tool has changed and signed again: the digest is right, the contents are wrong.

use netcdf::AttributeValue;

use super::bases::{self, Kind};
use super::child::{self, Ended};
use super::model::{Data, Dimension, Field, Flavour, Model};

/// Continues from a restart file of two steps that was changed and signed; returns the result.
fn changed(change: impl Fn(&mut Model)) -> Ended {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    bases::furnish(folder);
    let mut model = bases::restart(folder, &["--steps", "2"]);
    change(&mut model);
    let name = Kind::Restart.file();
    model.write_sealed(&folder.join(name), Flavour::Hdf5).expect("a file");
    let commands = Kind::Restart.commands(name);
    child::survives(folder, name, &commands[0]).unwrap_or_else(|why| panic!("{why}"))
}

/// Such a file must be refused in these words.
#[track_caller]
fn refused(words: &str, change: impl Fn(&mut Model)) {
    let Ended { code, said, .. } = changed(change);
    assert_eq!(code, 3, "{words}: {said}");
    assert!(said.contains(words), "{words:?} is not in {said}");
}

fn fill(model: &mut Model, name: &str, value: f64) {
    let data = &mut model.field(name).data;
    *data = data.of_kind(vec![value; data.len()]);
}

#[test]
fn a_signed_file_is_good() {
    assert_eq!(changed(|_| {}).code, 0);
}

#[test]
fn steps_and_times() {
    let whole = AttributeValue::Longlong;
    refused("attribute steps is", |model| model.set("steps", whole(1 << 60)));
    refused("attribute lack is", |model| model.set("lack", 1e9));
    refused("attribute dt is -60 s", |model| model.set("dt", -60.0));
    refused("after the year 9999", |model| model.set("begin", "9999-12-31_23:59:00"));
    // Frames were taken for past by their number, whose reports are not there.
    refused("reports of 0 frames", |model| model.set("first_frame", whole(7)));
    let turned = "2005-08-28_12:00:00 2005-08-28_14:00:00 2005-08-28_13:00:00";
    refused("later times must follow", |model| model.set("frame_times", turned));
    refused("not after the present", |model| model.set("begin", "2005-08-28_11:00:00"));
}

#[test]
fn grids_that_do_not_fit() {
    for (name, length) in [("z_face", 20), ("input_x_face", 5), ("x", 5), ("input_y", 6)] {
        refused("is needed", |model| model.resize(name, length));
    }
    refused("divided into 4 x 4", |model| model.set("refine", "4"));
}

#[test]
fn numbers_that_no_run_leaves() {
    for (name, value, words) in [
        ("mu", f64::NAN, "variable mu is NaN"),
        ("map_u_y", 0.0, "variable map_u_y is 0"),
        ("c1h", f64::INFINITY, "variable c1h holds inf"),
        ("rdnw", 1.0, "does not fall"),
        ("qv", 5.0, "variable qv is 5"),
        ("theta", f64::NAN, "variable theta is NaN"),
        ("frame_u", 1e30, "U (m/s) is"),
    ] {
        refused(words, |model| fill(model, name, value));
    }
    refused("attribute unit is 1", |model| model.set("unit", 1.0));
}

/// The digest went through the parts of a field one by one, though there was nothing in them.
#[test]
fn many_parts_of_nothing() {
    let ended = changed(|model| {
        for (name, length, unlimited) in [("many", 1 << 40, false), ("none", 0, true)] {
            model.dimensions.push(Dimension { name: name.to_owned(), length, unlimited });
        }
        model.fields.push(Field {
            name: "nothing".to_owned(),
            axes: ["many", "none", "z"].map(str::to_owned).to_vec(),
            attributes: Vec::new(),
            data: Data::Float(Vec::new()),
            turned: false,
        });
    });
    assert_eq!(ended.code, 0, "{}", ended.said);
}

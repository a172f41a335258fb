//! When the times of a file are.

use netcdf::AttributeValue;

use super::{place_of, refused, run_as_promised};
use crate::eras::cut::{Cut, Field, Kind, Stamps};
use crate::eras::place::Place;

/// A file of one time without `Times`, and with `XTIME`.
fn counted(minutes: f32, kind: Kind, about: &[(&'static str, &str)]) -> Cut {
    let mut cut = Cut::new();
    cut.stamps = Stamps::None;
    let mut field = Field::new(&[], ndarray::arr0(minutes).into_dyn());
    field.kind = kind;
    field.attributes =
        about.iter().map(|(name, text)| (*name, AttributeValue::from(*text))).collect();
    cut.fields.insert("XTIME".to_owned(), field);
    cut
}

/// The first of the times that a run writes.
#[track_caller]
fn begin_of(cut: &Cut) -> String {
    let place = place_of(cut);
    run_as_promised(&place).good();
    stamp(&place, "out.nc", 0)
}

fn stamp(place: &Place, name: &str, time: usize) -> String {
    let file = netcdf::open(place.path(name)).expect("a file");
    let times = file.variable("Times").expect("times");
    let bytes = times.get_raw_values([time..time + 1, 0..19]).expect("text");
    String::from_utf8(bytes).expect("ASCII")
}

#[test]
fn xtime_says_when_where_times_do_not() {
    for (count, units, wanted) in [
        (180.0, "minutes since 2020-06-01 00:00:00", "2020-06-01_03:00:00"),
        (3.0, "hours since 2020-06-01", "2020-06-01_03:00:00"),
        (90.0, "seconds since 2020-06-01T00:00:00Z", "2020-06-01_00:01:30"),
        (0.5, "days since 2020-02-29 12:00:00 +00:00", "2020-03-01_00:00:00"),
    ] {
        for kind in [Kind::Single, Kind::Double] {
            assert_eq!(begin_of(&counted(count, kind, &[("units", units)])), wanted, "{units}");
        }
    }
    assert_eq!(
        begin_of(&counted(180.0, Kind::Int, &[("units", "minutes since 2020-06-01")])),
        "2020-06-01_03:00:00"
    );
    for (name, text) in
        [("SIMULATION_START_DATE", "2020-06-01_00:00:00"), ("START_DATE", "2020-06-01_00:00:00.0")]
    {
        for units in [&[][..], &[("units", "")], &[("units", "minutes")]] {
            let mut cut = counted(180.0, Kind::Single, units);
            cut.texts.insert(name, text.to_owned());
            assert_eq!(begin_of(&cut), "2020-06-01_03:00:00", "{name} {units:?}");
        }
    }
    let words = [("description", "minutes since 2020-06-01 00:00:00"), ("units", "")];
    assert_eq!(begin_of(&counted(60.0, Kind::Single, &words)), "2020-06-01_01:00:00");
}

#[test]
fn other_calendars_and_units_are_refused() {
    let since = ("units", "minutes since 2020-06-01 00:00:00");
    for about in [
        &[since, ("calendar", "noleap")][..],
        &[since, ("calendar", "360_day")],
        &[("units", "days since 1500-01-01")],
        &[("units", "months since 2020-06-01")],
        &[("units", "parsecs")],
    ] {
        // 400000 days after 1500 are after the change of calendars.
        let count = if about[0].1.starts_with("days") { 400_000.0 } else { 60.0 };
        let name =
            if about[0] == since || about[0].1.starts_with("days") { "calendar" } else { "units" };
        refused(&counted(count, Kind::Single, about), &["in.nc", "XTIME", name]);
    }
    let standard = [since, ("calendar", "standard")];
    assert_eq!(begin_of(&counted(60.0, Kind::Single, &standard)), "2020-06-01_01:00:00");
}

#[test]
fn times_are_text_of_any_kind() {
    for stamps in [Stamps::Characters, Stamps::Strings, Stamps::Line] {
        for text in ["2020-06-01_03:00:00", "2020-06-01T03:00:00", "2020-06-01 03:00:00"] {
            let mut cut = Cut::new().at(text);
            cut.stamps = stamps;
            assert_eq!(begin_of(&cut), "2020-06-01_03:00:00", "{stamps:?} {text}");
        }
    }
}

#[test]
fn times_that_were_never_written_are_refused() {
    for blank in [" ", "\0"] {
        let mut second = Cut::new();
        second.stamp = blank.repeat(second.stamp.len());
        let place = Place::new();
        Cut::write_all(&[&Cut::new(), &second], &place.path("in.nc"));
        run_as_promised(&place).refused(&["Times was never written", "number 1"]);
    }
}

#[test]
fn several_times_need_to_be_distinguished() {
    let place = Place::new();
    Cut::write_all(&[&Cut::new(), &Cut::new()], &place.path("in.nc"));
    run_as_promised(&place).refused(&["0001-01-01_10:00:00", "which is also in"]);

    let mut silent = Cut::new();
    silent.stamps = Stamps::None;
    Cut::write_all(&[&silent, &silent], &place.path("in.nc"));
    run_as_promised(&place).refused(&["Times", "XTIME"]);

    let units = [("units", "minutes since 2020-06-01 00:00:00")];
    let hours = [180.0, 240.0].map(|minutes| counted(minutes, Kind::Single, &units));
    Cut::write_all(&[&hours[0], &hours[1]], &place.path("in.nc"));
    run_as_promised(&place).good();
    let message = place.command(&["info", "in.nc"]).good().stdout;
    assert!(message.contains("2, from 2020-06-01_03:00:00 to 2020-06-01_04:00:00"), "{message}");
}

#[test]
fn parts_of_a_second_are_read_back() {
    let place = place_of(&Cut::new());
    let options = ["--dt", "0.25", "--steps", "8", "--output-interval", "0.5"];
    place.run(&["in.nc"], &options).good();
    std::fs::rename(place.path("out.nc"), place.path("in.nc")).expect("another name");
    run_as_promised(&place).good();
    // Half a second after the frame of half a second is a whole one.
    place.run(&["in.nc"], &["--dt", "0.5", "--steps", "4", "--output-interval", "0.5"]).good();
    let again = place.outcome();
    assert_eq!(
        again.figures["input_frames"].as_array().map(Vec::len),
        Some(5),
        "{}",
        again.figures
    );
    let times = [0, 2, 4].map(|time| stamp(&place, "out.nc", time));
    assert_eq!(times, ["0001-01-01_10:00:00", "0001-01-01_10:00:01", "0001-01-01_10:00:02"]);
}

#[test]
fn a_restart_keeps_parts_of_a_second() {
    let place = place_of(&Cut::new());
    place.run(&["in.nc"], &["--dt", "0.25", "--steps", "8", "--output-interval", "0.5"]).good();
    std::fs::rename(place.path("out.nc"), place.path("in.nc")).expect("another name");
    let halves = ["--dt", "0.25", "--steps", "3", "--restart-output", "rst.nc"];
    place.run(&["in.nc"], &halves).good();
    let on = place.command(&["run", "--restart", "rst.nc", "--steps", "5", "--output", "b.nc"]);
    on.good();
    place.run(&["in.nc"], &["--dt", "0.25", "--steps", "8"]).good();
    let [whole, parts] = ["out.nc", "b.nc"].map(|name| {
        let file = netcdf::open(place.path(name)).expect("a file");
        let last = file.dimension_len("Time").expect("times") - 1;
        crate::eras::place::field(&file, "QVAPOR", last)
    });
    assert!(whole == parts, "the two halves are not the whole");
}

#[test]
fn overlapping_files_are_distinguished_by_a_rule() {
    let stamps = [
        "0001-01-01_10:00:00",
        "0001-01-01_10:02:00",
        "0001-01-01_10:04:00",
        "0001-01-01_10:06:00",
    ];
    let place = Place::new();
    let at = |time: usize, theta: f32| {
        let mut cut = Cut::new().at(stamps[time]);
        cut.values("PB").mapv_inplace(|p| p + theta);
        cut
    };
    let before = [0, 1, 2].map(|time| at(time, 0.0));
    let after = [1, 2, 3].map(|time| at(time, 8.0));
    Cut::write_all(&before.each_ref(), &place.path("a.nc"));
    Cut::write_all(&after.each_ref(), &place.path("b.nc"));
    let options = ["--steps", "6", "--dt", "60", "--output-interval", "120"];
    place.run(&["a.nc", "b.nc"], &options).refused(&[
        "b.nc",
        stamps[1],
        "--overlap first or --overlap last",
    ]);
    let base = Cut::new().values("PB")[[0, 0, 0]];
    for (rule, added) in [("first", [0.0, 0.0, 0.0, 8.0]), ("last", [0.0, 8.0, 8.0, 8.0])] {
        place.run(&["a.nc", "b.nc"], &[&options[..], &["--overlap", rule]].concat()).good();
        let outcome = place.outcome();
        for (time, added) in added.into_iter().enumerate() {
            assert_eq!(outcome.at("PB", time)[[0, 0, 0]], f64::from(base + added), "{rule} {time}");
        }
    }
    place
        .run(&["b.nc", "a.nc"], &["--steps", "2", "--overlap", "last"])
        .refused(&["a.nc", "--overlap"]);
}

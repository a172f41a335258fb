//! Attributes for the temperature and the water of a model.

use super::{place_of, refused, run_as_promised};
use crate::eras::cut::Cut;
use crate::eras::place::{Outcome, largest_difference};

#[track_caller]
fn outcome(cut: &Cut) -> Outcome {
    let place = place_of(cut);
    let ended = run_as_promised(&place).good();
    let mut outcome = place.outcome();
    outcome.stderr = ended.stderr;
    outcome
}

/// THM as in the model, in addition to T.
fn add_moist(cut: &mut Cut) {
    let qv = cut.values("QVAPOR").clone();
    cut.add_like("THM", "T", 0.0);
    let t = cut.values("T").clone();
    let moist =
        |t: f32, qv: f32| (f64::from(t) + 300.0) * (1.0 + 461.6 / 287.0 * f64::from(qv)) - 300.0;
    ndarray::Zip::from(cut.values("THM"))
        .and(&t)
        .and(&qv)
        .for_each(|thm, t, qv| *thm = moist(*t, *qv) as f32);
}

#[test]
fn thm_is_dry_where_the_file_says_so() {
    let plain = outcome(&Cut::new());
    for names in [["T", "THM"], ["T", "THM_2"], ["T", "THM_1"]] {
        let mut cut = Cut::new();
        cut.rename(names[0], names[1]);
        cut.numbers.insert("USE_THETA_M", 0.0);
        let dry = outcome(&cut);
        assert!(dry.stderr.contains("USE_THETA_M is 0"), "{}", dry.stderr);
        for name in ["T", "QVAPOR", "QSNOW"] {
            assert!(plain.last(name) == dry.last(name), "{names:?}: {name}");
        }
    }
    let mut cut = Cut::new();
    cut.rename("T", "THM");
    cut.numbers.insert("USE_THETA_M", 2.0);
    refused(&cut, &["USE_THETA_M is 2", "THM"]);
}

#[test]
fn a_t_that_was_never_filled_is_none() {
    let plain = outcome(&Cut::new());
    for empty in [0.0, -4.5, 9.969_21e36] {
        let mut cut = Cut::new();
        add_moist(&mut cut);
        cut.numbers.insert("USE_THETA_M", 1.0);
        let with_both = outcome(&cut);
        assert!(plain.at("T", 0) == with_both.at("T", 0), "T is there and counts");
        cut.values("T").fill(empty);
        let found = outcome(&cut);
        assert!(
            found.stderr.contains("THM") && found.stderr.contains("never filled"),
            "{}",
            found.stderr
        );
        // Rounded to single precision on the way there and back.
        let difference = largest_difference(&plain.at("T", 0), &found.at("T", 0));
        assert!(difference < 1e-4, "{empty}: {difference:e}");
    }
}

#[test]
fn air_of_one_potential_temperature_is_air() {
    let mut cut = Cut::new();
    // Only the lower layers are warm enough for that.
    cut.values("T").fill(0.0);
    let found = run_as_promised(&place_of(&cut));
    assert!(!found.stderr.contains("THM"), "{}", found.stderr);
}

/// A file of WSM3, and the same with ice and snow in variables of their own.
fn wsm3_and_split() -> [Cut; 2] {
    let mut three = Cut::new();
    let mut five = Cut::new();
    let get = |name: &str| Cut::new().values(name).mapv(f64::from);
    let p = get("P") + get("PB");
    let t = (get("T") + 300.0) * (p / 1e5).mapv(|x| x.powf(287.0 / 1004.5));
    for (liquid, frozen) in [("QCLOUD", "QICE"), ("QRAIN", "QSNOW")] {
        let all = get(liquid) + get(frozen);
        let part = |cold: bool| {
            let mut part = all.mapv(|q| q as f32);
            ndarray::Zip::from(&mut part)
                .and(&t)
                .for_each(|q, t| *q = if (*t < 273.15) == cold { *q } else { 0.0 });
            part
        };
        three.values(liquid).assign(&all.mapv(|q| q as f32));
        five.values(liquid).assign(&part(false));
        five.values(frozen).assign(&part(true));
        assert!(part(true).iter().any(|q| *q > 0.0) && part(false).iter().any(|q| *q > 0.0));
    }
    three.remove(&["QICE", "QSNOW"]);
    three.numbers.insert("MP_PHYSICS", 3.0);
    five.numbers.insert("MP_PHYSICS", 4.0);
    [three, five]
}

#[test]
fn what_is_cold_in_wsm3_is_frozen() {
    let [three, five] = wsm3_and_split();
    let (three, five) = (outcome(&three), outcome(&five));
    assert!(three.stderr.contains("MP_PHYSICS 3"), "{}", three.stderr);
    assert!(!five.stderr.contains("MP_PHYSICS"), "{}", five.stderr);
    for name in ["T", "QCLOUD", "QRAIN", "QICE", "QSNOW", "RAINNC"] {
        assert!(three.last(name) == five.last(name), "{name}");
    }
}

/// Pictures have the species that a run has.
#[test]
fn pictures_of_wsm3_show_what_is_cold_as_ice_and_snow() {
    let draw = |cut: &Cut| {
        let place = place_of(cut);
        let only = "profiles,section,tracer:QSNOW,tracer-section:QRAIN";
        let arguments = ["plot", "in.nc", "--format", "svg", "--output", "p", "--only", only];
        let ended = place.command(&arguments).good();
        let mut pictures: Vec<_> = std::fs::read_dir(place.path("p"))
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .map(|path| (path.file_name().map(ToOwned::to_owned), std::fs::read_to_string(&path)))
            .map(|(name, text)| (name, text.expect("a picture")))
            .collect();
        pictures.sort();
        (ended.stderr, pictures)
    };
    let [three, five] = wsm3_and_split().map(|cut| draw(&cut));
    assert_eq!(three.1.len(), 4);
    for (three, five) in three.1.iter().zip(&five.1) {
        assert!(three == five, "{:?} differs", three.0);
    }
    assert!(three.1.iter().any(|(_, text)| text.contains("snow")));
    for (words, is_said) in [(&three.0, true), (&five.0, false)] {
        assert_eq!(
            words.contains("colder than 273.15 K, as in WSM3 (MP_PHYSICS 3)"),
            is_said,
            "{words}"
        );
    }
    // Without temperature the phases cannot be told apart, and the legend says so.
    let [mut three, _] = wsm3_and_split();
    three.remove(&["T"]);
    let place = place_of(&three);
    let arguments = ["plot", "in.nc", "--format", "svg", "--output", "p", "--only", "profiles"];
    let ended = place.command(&arguments).good();
    assert!(ended.stderr.contains("QCLOUD and QRAIN contain ice and snow"), "{}", ended.stderr);
    let folder = std::fs::read_dir(place.path("p")).expect("a folder");
    let path = folder.map(|entry| entry.expect("an entry").path()).next().expect("a picture");
    let text = std::fs::read_to_string(path).expect("a picture");
    assert!(text.contains("rain and snow") && text.contains("cloud water and ice"));
}

#[test]
fn schemes_that_are_not_known_are_reported() {
    let mut cut = Cut::new();
    cut.numbers.insert("MP_PHYSICS", 77.0);
    assert!(outcome(&cut).stderr.contains("MP_PHYSICS 77 is not known"));
    // Kessler's scheme has no ice; the run reports that it computes with another scheme.
    cut.remove(&["QICE", "QSNOW"]);
    cut.numbers.insert("MP_PHYSICS", 1.0);
    assert!(!outcome(&cut).stderr.contains("is not known"));
}

//! The report of `nwp-mini info` on the machine and on files.

use std::fs;

use super::cut::Cut;
use super::place::Place;

#[test]
fn the_machine_and_the_program_are_reported() {
    let place = Place::new();
    let ended = place.command(&["info", "--json", "info.json"]).good();
    for word in [env!("CARGO_PKG_VERSION"), "commit", "CPU", "cores", "GPU"] {
        assert!(ended.stdout.contains(word), "{word}: {}", ended.stdout);
    }
    let facts = place.json("info.json");
    assert_eq!(facts["version"], env!("CARGO_PKG_VERSION"));
    assert!(facts["machine"]["cores"].as_u64() >= Some(1), "{facts}");
    assert!(facts["file"].is_null(), "{facts}");
}

/// The variable that selects vector instructions has an effect, and invalid values are rejected.
#[test]
fn instructions_are_chosen_and_reported() {
    let place = Place::new();
    let info = |set| place.command_with(&[("NWP_MINI_SIMD", set)], &["info"]);
    let message = info("none").good().stdout;
    assert!(message.lines().any(|line| line == "instructions   none"), "{message}");
    let wrong = info("sse9");
    assert_eq!(wrong.code, Some(2), "{}", wrong.stderr);
    for word in ["NWP_MINI_SIMD", "\"sse9\"", "avx512", "avx2", "none"] {
        assert!(wrong.stderr.contains(word), "{word}: {}", wrong.stderr);
    }
}

#[test]
fn a_good_file_is_input_and_its_assumptions_are_reported() {
    let place = Place::new();
    let mut cut = Cut::new();
    cut.remove(&["C1H", "C2H", "QICE", "MAPFAC_VY"]);
    cut.add_like("QGRAUP", "QSNOW", 0.0);
    cut.write(&place.path("in.nc"));
    let ended = place.command(&["info", "in.nc", "--json", "info.json"]).good();
    for word in ["14x12x27", "30000 m", "0001-01-01_10:00:00", "classic", "input of run   yes"] {
        assert!(ended.stdout.contains(word), "{word}: {}", ended.stdout);
    }
    let file = &place.json("info.json")["file"];
    assert_eq!(file["grid"], serde_json::json!([14, 12, 27]));
    assert_eq!(file["missing"], serde_json::json!([]));
    assert!(file["problem"].is_null(), "{file}");
    assert!(file["max_dt"].as_f64() > Some(60.0), "{file}");
    let assumed = file["assumed"].to_string();
    for word in ["QICE: zero", "C1H, C2H", "MAPFAC_VY: 1", "QGRAUP", "specified", "XLAT"] {
        assert!(assumed.contains(word), "{word}: {assumed}");
    }
    let present = file["present"].to_string();
    assert!(present.contains("MAPFAC_VX") && !present.contains("MAPFAC_VY"), "{present}");
}

#[test]
fn what_is_missing_is_listed() {
    let place = Place::new();
    let mut cut = Cut::new();
    cut.remove(&["T", "PHB", "QVAPOR"]);
    cut.write(&place.path("in.nc"));
    let ended = place.command(&["info", "in.nc", "--json", "info.json"]).good();
    let file = &place.json("info.json")["file"];
    assert_eq!(file["missing"], serde_json::json!(["QVAPOR", "PHB", "T (or THM)"]));
    assert!(ended.stdout.contains("missing        QVAPOR, PHB, T (or THM)"), "{}", ended.stdout);
    assert!(ended.stdout.contains("input of run   no"), "{}", ended.stdout);
}

#[test]
fn what_is_no_wrf_file_is_refused() {
    let place = Place::new();
    fs::write(place.path("text.nc"), "no NetCDF").expect("a file");
    place.command(&["info", "text.nc"]).refused(&["text.nc", "NetCDF"]);
    place.command(&["info", "nothing.nc"]).refused(&["nothing.nc"]);
}

//! Cases that cannot be generated.

use super::place::Place;
use super::story::command;

/// Requests a case; it must be rejected with these words, and no file may be left.
#[track_caller]
fn refuses(code: i32, arguments: &[&str], words: &[&str]) {
    let place = Place::empty();
    let all = [&["init", "--output", "case.nc"], arguments].concat();
    command(&place, &all).refused(code, words);
    assert_eq!(place.files(), [""; 0], "{arguments:?}");
}

#[test]
fn impossible_wishes() {
    refuses(2, &["supercel"], &["'supercel'", "supercell"]);
    refuses(2, &[], &["<CASE>"]);
    refuses(2, &["rotation", "--nx", "3"], &["--nx", "3", "4.."]);
    refuses(2, &["rotation", "--nz", "257"], &["--nz", "257", "256"]);
    refuses(2, &["storm", "--nz", "3"], &["--nz"]);
    refuses(2, &["rotation", "--hight", "3"], &["--hight"]);
    for option in ["--dx", "--dy", "--dt", "--updraft"] {
        for value in ["0", "-1", "inf", "nan"] {
            refuses(2, &["storm", option, value], &[option, "a positive number is needed"]);
        }
    }
    refuses(2, &["storm", "--shear", "linear"], &["--shear applies to supercell"]);
    refuses(2, &["rotation", "--updraft", "3"], &["--updraft applies to cases with an ascent"]);
    refuses(2, &["storm", "--period", "3600"], &["--period applies to rotation and deformation"]);
    refuses(
        2,
        &["rotation", "--period", "30"],
        &["a period of 30 s", "multiple of 20 s", "--period"],
    );
    refuses(2, &["supercell", "--shear", "half-circle"], &["half-circle", "quarter-circle"]);
    for value in ["0.5", "1e-300", "1e300"] {
        refuses(2, &["storm", "--dx", value], &["--dx", "between 1 and 1000000 m"]);
    }
    refuses(2, &["rotation", "--period", "1e12"], &["--period", "31536000 s at most"]);
    // Winds faster than those of any atmosphere.
    refuses(2, &["rotation", "--period", "20"], &["m/s", "--period"]);
    refuses(2, &["supercell", "--updraft", "5000"], &["m/s", "--updraft"]);
    let huge = ["--nx", "4000000000", "--ny", "4000000000", "--nz", "256"];
    refuses(2, &[&["storm"], &huge[..]].concat(), &["GB of memory", "are free", "--nx"]);
}

#[test]
fn places_where_nothing_can_be_written() {
    let place = Place::empty();
    let nowhere = ["init", "rotation", "--output", "nowhere/x.nc"];
    command(&place, &nowhere).refused(3, &["nowhere", "does not exist"]);
    std::fs::write(place.path("old"), "old").expect("a file");
    let wanted = ["init", "rotation", "--output", "old"];
    command(&place, &wanted).refused(3, &["old exists", "--force"]);
    assert_eq!(std::fs::read_to_string(place.path("old")).expect("a file"), "old");
    command(&place, &[&wanted[..], &["--force"]].concat()).good();
    assert_eq!(place.open("old").frames(), 5);
    assert_eq!(place.files(), ["old"]);
}

/// A step that the winds do not admit is stored, with a word.
#[test]
fn a_step_that_is_too_long_is_reported() {
    let place = Place::empty();
    let message =
        command(&place, &["init", "rotation", "--output", "case.nc", "--dt", "60"]).good();
    assert!(message.stderr.contains("WARN --dt 60: run will reduce it"), "{}", message.stderr);
    assert!((place.open("case.nc").number("DT") - 60.0).abs() < 1e-9);
}

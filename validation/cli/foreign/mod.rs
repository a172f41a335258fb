//! Files of other programs, with attributes that define the meaning of values.

mod coordinates;
mod holes;
mod moments;
mod packed;
mod theta;

use crate::eras::cut::Cut;
use crate::eras::place::{Ended, Place};

/// A place with `in.nc`.
fn place_of(cut: &Cut) -> Place {
    let place = Place::new();
    cut.write(&place.path("in.nc"));
    place
}

/// A run of two steps from `in.nc`, whose outcome `info` has to predict.
#[track_caller]
fn run_as_promised(place: &Place) -> Ended {
    let ended = place.run(&["in.nc"], &["--steps", "2"]);
    let promise = place.command(&["info", "in.nc"]).good().stdout;
    let last = promise.lines().last().unwrap_or_default();
    let promised = if ended.code == Some(0) { "input of run   yes" } else { "input of run   no: " };
    assert!(last.starts_with(promised), "{last}\n{}", ended.stderr);
    if let Some(why) = last.strip_prefix("input of run   no: ") {
        assert!(ended.stderr.contains(why), "{why}\n{}", ended.stderr);
    }
    ended
}

/// Checks that `run` and `info` reject a file with the same message, which has all of these words.
#[track_caller]
fn refused(cut: &Cut, words: &[&str]) {
    run_as_promised(&place_of(cut)).refused(words);
}

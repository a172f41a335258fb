//! Restart: runs that continue from restart files, that are killed, that run concurrently, or that meet a full disk.

mod concurrent_runs;
mod crash;
mod full;
mod halves;
mod kept;
mod refused;

use nwp_mini_support::random;
use nwp_mini_support::run::{place, result, small};

use place::Place;
use result::Output;

/// The bits of every variable at `times`, an end of the times of the file or all of them.
fn bits(output: &Output, times: std::ops::Range<usize>) -> Vec<(String, Vec<u64>)> {
    let along = |name: &str| {
        let variable = output.variable(name);
        variable.dimensions().iter().position(|d| d.name().eq_ignore_ascii_case("time"))
    };
    let mut found = Vec::new();
    for name in output.names() {
        if matches!(output.variable(&name).vartype(), netcdf::types::NcVariableType::Char) {
            continue;
        }
        let mut values = output.values(&name);
        if let Some(axis) = along(&name) {
            values = values
                .slice_axis(ndarray::Axis(axis), ndarray::Slice::from(times.clone()))
                .to_owned();
        }
        found.push((name, values.iter().map(|x| x.to_bits()).collect()));
    }
    found
}

/// Number of times of a file of the output or an additional file.
fn times(output: &Output) -> usize {
    ["Time", "time"].iter().find_map(|name| output.file.dimension_len(name)).expect("times")
}

/// Fails unless the frames of `part` are those of `whole` from `first` on, to the last bit.
#[track_caller]
fn same_frames(whole: &Output, part: &Output, first: usize, about: &str) {
    let count = times(part);
    let (a, b) = (bits(whole, first..first + count), bits(part, 0..count));
    assert_eq!(a.len(), b.len(), "{about}");
    let differ = a.iter().zip(&b).filter(|(a, b)| a != b).map(|(a, _)| a.0.as_str());
    assert_eq!(differ.collect::<Vec<_>>(), Vec::<&str>::new(), "{about}");
}

/// Fails unless the figures of a run that went on are those of the whole one.
#[track_caller]
fn same_figures(place: &Place, whole: &str, part: &str, about: &str) {
    let [whole, part] = [whole, part].map(|name| place.json(name));
    for name in [
        "precision",
        "refine",
        "grid",
        "boundary",
        "projection_residual",
        "limiter",
        "fallout",
        "steps",
        "dt",
        "max_dt",
        "seconds",
        "projection",
        "input_frames",
        "water",
        "precipitation_mean_mm",
        "precipitation_frozen_mean_mm",
        "precipitation_max_mm",
    ] {
        assert!(whole.get(name).is_some(), "{name}");
        assert_eq!(whole[name], part[name], "{about}: {name}");
    }
    let of =
        |figures: &serde_json::Value| figures["diagnostics"].as_array().cloned().expect("frames");
    let (whole, part) = (of(&whole), of(&part));
    assert_eq!(whole.last(), part.last(), "{about}");
}

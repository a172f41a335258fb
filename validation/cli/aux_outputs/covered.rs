//! Weights that spread the covered part of a cell over the whole cell (destarea).

use super::place::Place;
use super::small::Small;
use super::weights::{File, LINKS};

const RUN: [&str; 4] = ["--steps", "1", "--dt", "10"];

/// The covered fractions in the file of weights, and weights with these sums.
fn diluted() -> File {
    let covered = [1.0, 0.5, 1.0, 1.0, 0.25];
    let mut file = File::scrip();
    file.set("normalization", "destarea");
    *file.numbers("remap_matrix") =
        LINKS.iter().map(|(_, to, weight)| weight * covered[*to as usize - 1]).collect();
    file
}

/// The covered fraction is in the output; the values divided by it are those of fracarea.
#[test]
fn the_covered_part_is_in_the_output_and_warned_of() {
    let place = Place::with(&Small::new());
    diluted().write(&place.path("w.nc"));
    let ended = place.run_small(&[&RUN[..], &["--regrid", "w.nc"]].concat()).good();
    let warning = ended.stderr.lines().find(|line| line.contains("WARN") && line.contains("w.nc"));
    let warning = warning.expect("a warning");
    for words in ["destarea", "2 of 5", "covered_fraction", "fracarea"] {
        assert!(warning.contains(words), "{warning}");
    }
    let output = place.open("small.out.regrid.nc");
    let covered = output.values("covered_fraction");
    let covered: Vec<f64> = covered.iter().copied().collect();
    for (found, expected) in covered.iter().zip([1.0, 0.5, 1.0, 1.0, 0.25, 0.0]) {
        // Sums of three weights.
        assert!((found - expected).abs() < 1e-14, "{covered:?}");
    }
    assert_eq!(output.text_of("pressure", "ancillary_variables"), "covered_fraction");
    File::scrip().write(&place.path("f.nc"));
    let ended = place
        .run_small(
            &[&RUN[..], &["--regrid", "f.nc", "--regrid-output", "f.out.nc", "--force"]].concat(),
        )
        .good();
    assert!(!ended.stderr.contains("covered"), "{}", ended.stderr);
    let whole = place.open("f.out.nc");
    assert!(!whole.names().contains(&"covered_fraction".to_owned()));
    let (diluted, whole) = (output.values("pressure"), whole.values("pressure"));
    for ((cell, diluted), whole) in (0..6).cycle().zip(&diluted).zip(&whole) {
        if covered[cell] > 0.0 {
            // Single precision of a pressure of 1e5 Pa, divided by a quarter.
            assert!((diluted / covered[cell] - whole).abs() < 0.1, "{cell}: {diluted} {whole}");
        }
    }
}

/// If every cell is covered completely, there is no warning.
#[test]
fn whole_cells_are_not_warned_of() {
    let place = Place::with(&Small::new());
    let mut file = File::scrip();
    file.set("normalization", "destarea");
    *file.numbers("dst_grid_frac") = vec![1.0, 1.0, 1.0, 1.0, 1.0, 0.0];
    file.write(&place.path("w.nc"));
    let ended = place.run_small(&[&RUN[..], &["--regrid", "w.nc"]].concat()).good();
    assert!(!ended.stderr.contains("covered_fraction"), "{}", ended.stderr);
}

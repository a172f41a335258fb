//! Common properties of all cases: they are valid input, in balance, and their winds are not changed.

use super::story::{CASES, Story, command, heights, masses};

/// Each case runs unchanged: no time step is reduced, and the projection finds that the winds conserve mass already.
/// Single precision rounds 100 m/s to 1e-5 m/s; a hundredth of the column's flux of 1e7 Pa/h that such a wind carries
/// over a cell of 1 km would be 1e5 Pa/h.
#[test]
fn winds_conserve_mass_from_the_start() {
    for (case, options) in CASES {
        let story = Story::of(case, options);
        let message = story.ended(&["--steps", "4", "--precision", "f64"]);
        assert!(!message.stderr.contains("WARN"), "{case}: {}", message.stderr);
        let figures = story.place.json("out.json");
        for frame in figures["input_frames"].as_array().expect("frames") {
            let of = |name: &str| frame["projection"][name].as_f64().expect("a number");
            assert!(of("residual_before") < 2.0, "{case}: {frame}");
            assert!(of("max_du") < 1e-4 && of("max_dv") < 1e-4, "{case}: {frame}");
        }
        let closure = figures["water"]["closure_rel"].as_f64().expect("a number");
        assert!(closure.abs() < 1e-10, "{case}: {closure:e}");
        let [dt, most] = ["dt", "max_dt"].map(|name| figures[name].as_f64());
        // A wind that begins at rest admits any step at first.
        assert!(most.is_none() || dt <= most, "{case}: {dt:?} {most:?}");
        assert_eq!(dt, Some(story.case().number("DT")), "{case}: DT is what the run takes");
    }
}

/// Pressure is the weight of the moist air above, and density times depth is the mass of the layer, in every cell, to
/// single precision, in which pressures of 1e5 Pa have steps of 0.008 Pa and potential temperatures of 1e2 K steps of
/// 1e-5 K.
#[test]
fn the_air_is_in_hydrostatic_balance() {
    for (case, options) in CASES {
        let file = Story::of(case, options).case();
        let masses = masses(&file);
        let p = file.frame("P", 0) + file.frame("PB", 0);
        let phi = file.frame("PH", 0) + file.frame("PHB", 0);
        let [theta, qv] = ["T", "QVAPOR"].map(|name| file.frame(name, 0));
        let top = file.values("P_TOP")[0];
        let [nz, ny, nx] = [0, 1, 2].map(|axis| p.shape()[axis]);
        // The bodies of the transport tests are air of the heights of dry air.
        let moving = matches!(case, "rotation" | "deformation");
        for j in 0..ny {
            for i in 0..nx {
                let mut above = top;
                for k in (0..nz).rev() {
                    let at = [k, j, i];
                    let weight = 9.81 * masses[at] * (1.0 + if moving { 0.0 } else { qv[at] });
                    let balanced = above + 0.5 * weight;
                    above += weight;
                    assert!((p[at] / balanced - 1.0).abs() < 1e-6, "{case} {at:?}");
                    let exponent = (1004.5 - 287.0) / 1004.5;
                    let volume = 287.0 / 1e5
                        * (theta[at] + 300.0)
                        * (1.0 + if moving { 0.0 } else { 461.6 / 287.0 * qv[at] })
                        * (p[at] / 1e5).powf(-exponent);
                    let depth = (phi[[k + 1, j, i]] - phi[at]) / 9.81;
                    let ratio = depth / volume / masses[at];
                    assert!((ratio - 1.0).abs() < 2e-6, "{case} {at:?}: {ratio}");
                }
            }
        }
    }
}

/// There is no condensate, and supersaturation is at most that of the profiles of the literature.
#[test]
fn cases_begin_without_clouds() {
    for (case, options) in CASES {
        let file = Story::of(case, options).case();
        for name in ["QCLOUD", "QRAIN", "QICE", "QSNOW"] {
            assert!(file.values(name).iter().all(|q| *q == 0.0), "{case} {name}");
        }
        assert!(file.values("QVAPOR").iter().all(|q| (0.0..0.025).contains(q)), "{case}");
        assert_eq!(file.text("NWP_MINI_CASE"), case);
    }
}

/// Any size and spacing, and the requested time step.
#[test]
fn sizes_are_those_requested() {
    for (case, _) in CASES {
        let options = ["--nx", "9", "--ny", "7", "--nz", "6", "--dx", "700", "--dy", "900"];
        let story = Story::of(case, &[&options[..], &["--dt", "0.25"]].concat());
        let file = story.case();
        assert_eq!(file.frame("T", 0).shape(), [6, 7, 9], "{case}");
        assert_eq!(["DX", "DY", "DT"].map(|name| file.number(name)), [700.0, 900.0, 0.25]);
        let (figures, output) = story.run(&["--steps", "2"]);
        assert_eq!(figures["dt"], 0.25, "{case}");
        assert!(output.values("T").iter().all(|t| t.is_finite()), "{case}");
        // The smallest of all.
        let least = Story::of(case, &["--nx", "4", "--ny", "4", "--nz", "4"]);
        least.run(&["--steps", "2"]);
    }
}

/// The strongest ascent of a run is the requested one: a layer's face is near the middle of the ascent, and a column
/// near its axis; the air in the warm core of the storm is slightly thinner, and follows sloping surfaces.
#[test]
fn the_updraft_is_the_requested_one() {
    for (case, options, ascent) in [
        ("warm-bubble", &CASES[0].1, "3"),
        ("supercell", &CASES[1].1, "9"),
        ("squall-line", &CASES[4].1, "4"),
        ("storm", &CASES[7].1, "0.2"),
    ] {
        let story = Story::of(case, &[options, &["--updraft", ascent][..]].concat());
        let (_, output) = story.run(&["--steps", "1"]);
        let found = output.frame("W", 0).iter().copied().fold(0.0, f64::max);
        let wanted: f64 = ascent.parse().expect("a number");
        assert!((0.85..1.1).contains(&(found / wanted)), "{case}: {found}");
        // No motion through the ground and the lid, over flat ground.
        let w = output.frame("W", 0);
        assert!(w.index_axis(ndarray::Axis(0), 0).iter().all(|w| w.abs() < 1e-5), "{case}");
    }
}

/// Heights begin at the ground and end near the lid of the case.
#[test]
fn lids_lie_where_they_should() {
    for ((case, options), lid) in CASES.iter().zip([10e3, 20e3, 4e3, 9e3, 20e3, 2e3, 2e3, 16e3]) {
        let file = Story::of(case, options).case();
        let heights = heights(&file);
        let layers = heights.shape()[0];
        let half_layer = 0.5 * lid / layers as f64;
        let top = heights.index_axis(ndarray::Axis(0), layers - 1).mean().expect("cells");
        assert!((top + half_layer - lid).abs() < 0.01 * lid, "{case}: {top}");
    }
}

/// A case generated twice has the same bits.
#[test]
fn a_case_is_the_same_every_time() {
    for (case, options) in CASES {
        let [one, other] = [0, 1].map(|_| Story::of(case, options).case().bits());
        assert!(one == other, "{case}");
    }
}

/// `info` accepts each file as input.
#[test]
fn info_takes_every_case() {
    for (case, options) in CASES {
        let story = Story::of(case, options);
        let message = command(&story.place, &["info", "case.nc", "--json", "info.json"]).good();
        let facts = story.place.json("info.json");
        assert!(facts["file"]["problem"].is_null(), "{case}: {}", message.stdout);
        assert_eq!(facts["file"]["missing"], serde_json::json!([]), "{case}");
        assert!(message.stdout.contains("Cartesian"), "{case}: {}", message.stdout);
    }
}

/// The table of the help is that of the files.
#[test]
fn the_help_tells_what_is_usual() {
    let place = super::place::Place::empty();
    let help = command(&place, &["init", "--help"]).good().stdout;
    for (case, _) in CASES {
        let rows = help.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let found = rows.filter(|row| row.first() == Some(&case)).find(|row| row.len() > 5);
        let row = found.unwrap_or_else(|| panic!("no {case} in {help}"));
        let file = Story::of(case, &[]).case();
        let shape = file.frame("T", 0).shape().to_vec();
        assert_eq!(row[1], format!("{}x{}x{}", shape[2], shape[1], shape[0]), "{case}");
        assert_eq!(row[2], file.number("DX").to_string(), "{case}");
        let sides = row[row.len() - 2..].concat();
        assert_eq!(sides, file.text("NWP_MINI_BOUNDARY"), "{case}");
    }
}

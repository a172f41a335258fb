//! Bubble, supercell, squall line and storm: clouds in rising air, in proportion to its vapour.

use ndarray::{Axis, s};

use super::story::{Story, condensate, masses};

fn closure(figures: &serde_json::Value) -> f64 {
    figures["water"]["closure_rel"].as_f64().expect("a number").abs()
}

/// The bubble condenses in the rising core only; outside of the ring nothing changes.
#[test]
fn the_bubble_condenses_where_it_rises() {
    let story = Story::of("warm-bubble", &[]);
    let (figures, output) = story.run(&["--hours", "0.25", "--output-interval", "300"]);
    assert!(closure(&figures) < 1e-6, "{figures}");
    let w = output.frame("W", 0);
    let mass = masses(&story.case());
    for frame in 1..output.frames() {
        let water = condensate(&output, frame) * &mass;
        let [mut all, mut rising, mut above, mut outside] = [0.0; 4];
        for ((k, j, i), water) in
            water.view().into_dimensionality::<ndarray::Ix3>().expect("a volume").indexed_iter()
        {
            let [x, y] = [i, j].map(|at| (at as f64 + 0.5 - 20.0) * 250.0);
            if x.hypot(y) > 4000.0 {
                outside += water;
            }
            all += water;
            rising += if w[[k, j, i]] + w[[k + 1, j, i]] > 0.0 { *water } else { 0.0 };
            above += if 250.0 * k as f64 > 6000.0 { *water } else { 0.0 };
        }
        println!("frame {frame}: {:.4} of the condensate in rising air", rising / all);
        assert!(all > 0.0, "no cloud");
        // The flow at the top carries some cloud to the ring, where it evaporates.
        assert!(rising > 0.9 * all, "{rising} of {all}");
        assert!(above < 1e-3 * all, "{above} of {all}");
        // The tails of a scheme of finite order.
        assert!(outside.abs() < 1e-9 * all, "{outside} of {all}");
    }
}

/// The condensate of the supercell's updraft is at most the inflow of vapour at all heights plus the initial vapour,
/// and a good part of that; the rain falls in the updraft.
#[test]
fn the_supercell_lives_on_what_rises() {
    let story = Story::of("supercell", &["--nx", "48", "--ny", "48"]);
    let (figures, output) = story.run(&["--hours", "0.5"]);
    assert!(closure(&figures) < 1e-6, "{figures}");
    let case = story.case();
    let mass = masses(&case);
    let area = 1e6;
    let (w, qv) = (output.frame("W", 0), case.frame("QVAPOR", 0));
    // Layers are 500 m deep; the density at a face is that of the two beside it.
    let rising = |face: usize| -> f64 {
        let rho = (mass[[face.max(1) - 1, 0, 0]] + mass[[face.min(39), 0, 0]]) / 1000.0;
        rho * area * w.index_axis(Axis(0), face).sum()
    };
    let inflow = (0..40).map(|k| (rising(k + 1) - rising(k)).max(0.0) * qv[[k, 0, 0]]);
    let supply = 1800.0 * inflow.sum::<f64>();
    let core = std::f64::consts::PI * 8000.0_f64.powi(2);
    let there: f64 = (0..40).map(|k| core * mass[[k, 0, 0]] * qv[[k, 0, 0]]).sum();
    let last = output.frames() - 1;
    let aloft: f64 = (condensate(&output, last) * &mass).sum() * area;
    let fallen: f64 = output.last("RAINNC").sum() * area;
    println!("supply {supply:.3e} kg, there {there:.3e}, aloft {aloft:.3e}, fallen {fallen:.3e}");
    assert!(aloft + fallen < supply + there, "{aloft} + {fallen} of {supply}");
    assert!(aloft + fallen > 0.3 * supply, "{aloft} + {fallen} of {supply}");
    let rain = output.last("RAINNC");
    let core = rain.slice(s![14..34, 14..34]).sum();
    assert!(core > 0.9 * rain.sum(), "{core} of {}", rain.sum());
}

/// Winds by the hodographs: a quarter circle of 7 m/s or a straight line of 31 m/s, whose mean
/// over the lowest 6 km is left out.
#[test]
fn the_supercell_is_sheared() {
    let size = ["--nx", "60", "--ny", "60"];
    let span = |options: &[&str], name: &str| {
        let file = Story::of("supercell", &[&size, options].concat()).case();
        // The mean over the whole level, which symmetric inflow to the updraft does not change.
        let wind = file.frame(name, 0);
        let profile = (0..40).map(|k| wind.index_axis(Axis(0), k).mean().expect("cells"));
        let ends = profile.fold([f64::MAX, f64::MIN], |[a, b], x| [a.min(x), b.max(x)]);
        ends[1] - ends[0]
    };
    // The lowest layer is 250 m high, where the linear wind has 2.6 m/s and the circle 0.1 and 1.4.
    for (options, name, wanted) in [
        (&["--shear", "quarter-circle"][..], "U", 30.9),
        (&["--shear", "quarter-circle"], "V", 5.6),
        (&["--shear", "linear"], "U", 28.4),
        (&["--shear", "linear"], "V", 0.0),
    ] {
        let found = span(options, name);
        assert!((found - wanted).abs() < 0.2, "{options:?} {name}: {found}");
    }
}

/// The line is one: all rows along it are alike, it rains in the ascent, and both sides feed it.
#[test]
fn the_squall_line_is_a_line() {
    let story = Story::of("squall-line", &["--nx", "120", "--ny", "4"]);
    let (figures, output) = story.run(&["--hours", "0.5"]);
    assert!(closure(&figures) < 1e-6, "{figures}");
    let rain = output.last("RAINNC");
    for j in 1..4 {
        for i in 0..120 {
            // The projection changes each row by another rounding error, which the scheme amplifies where rain begins.
            let [one, other] = [rain[[0, i]], rain[[j, i]]];
            assert!((one - other).abs() <= 0.01 * one + 1e-3, "i={i} j={j}: {one} {other}");
        }
    }
    let core = rain.slice(s![.., 48..76]).sum();
    assert!(rain.sum() > 0.0 && core > 0.9 * rain.sum(), "{core} of {}", rain.sum());
    let u = story.case().frame("U", 0);
    assert!(u[[0, 0, 30]] - u[[0, 0, 90]] > 15.0, "no inflow near the ground");
    assert!(u[[22, 0, 90]] - u[[22, 0, 30]] > 15.0, "no outflow aloft");
}

/// A low of 50 hPa with a gale around it, anticlockwise, and rain to its east.
#[test]
fn the_storm_rains_ahead_of_the_low() {
    let story = Story::of("storm", &[]);
    let (figures, output) = story.run(&["--hours", "1"]);
    assert!(closure(&figures) < 1e-6, "{figures}");
    let case = story.case();
    let p = case.frame("P", 0) + case.frame("PB", 0);
    let depth = p[[0, 0, 0]] - p[[0, 29, 35]];
    assert!((4000.0..6000.0).contains(&depth), "{depth} Pa");
    let (u, v) = (case.frame("U", 0), case.frame("V", 0));
    let [east, west] = [v[[0, 29, 45]], v[[0, 29, 25]]];
    let [north, south] = [u[[0, 39, 35]], u[[0, 19, 35]]];
    assert!(east > 15.0 && west < -15.0, "{east} {west}");
    // The ascent adds a wind toward it on either side.
    assert!(south - north > 30.0, "{north} {south}");
    let rain = output.last("RAINNC");
    let ahead = rain.slice(s![.., 36..]).sum();
    assert!(rain.sum() > 0.0 && ahead > 0.95 * rain.sum(), "{ahead} of {}", rain.sum());
    assert!(output.last("QSNOW").iter().any(|q| *q > 1e-4), "no snow");
}

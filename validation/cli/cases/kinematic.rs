//! The columns of the kinematic driver, compared with the results of lifting the air.

use std::f64::consts::PI;

use ndarray::{Array1, s};

use super::result::Output;
use super::story::{Story, heights, masses};

/// One column of a frame, away from the sides.
fn column(file: &Output, name: &str, frame: usize) -> Array1<f64> {
    let field = file.frame(name, frame);
    field.slice(s![.., 2, 4]).to_owned()
}

/// Values of a column of a plane in every frame.
fn series(file: &Output, name: &str) -> Array1<f64> {
    file.values(name).slice(s![.., 2, 4]).to_owned()
}

/// Height by which the air has risen after a time (s) in `w1 sin(π t / t1)`, m.
fn lifted(seconds: f64, w1: f64, t1: f64) -> f64 {
    w1 * t1 / PI * (1.0 - (PI * seconds.min(t1) / t1).cos())
}

/// The profile of total water at first, kg/kg.
fn water_at_first(z: f64) -> f64 {
    let levels = [(0.0, 0.015), (740.0, 0.0138), (3260.0, 0.0024), (4000.0, 0.0018)];
    if z <= 0.0 {
        return levels[0].1;
    }
    let pair = levels.windows(2).find(|pair| z <= pair[1].0).expect("below the lid");
    let weight = (z - pair[0].0) / (pair[1].0 - pair[0].0);
    pair[0].1 + weight * (pair[1].1 - pair[0].1)
}

/// Saturation over water by Bolton's formula: another one than that of the scheme, from which it
/// differs by less than 1 % at these temperatures.
fn saturation(t: f64, p: f64) -> f64 {
    let e = 611.2 * (17.67 * (t - 273.15) / (t - 29.65)).exp();
    0.622 * e / (p - e)
}

/// Liquid water of air with a total water content, after condensation to saturation; by bisection.
fn liquid(theta: f64, water: f64, p: f64) -> f64 {
    let exner = (p / 1e5).powf(0.2857);
    let (mut least, mut most) = (0.0, water);
    for _ in 0..60 {
        let middle = 0.5 * (least + most);
        let t = theta * exner + 2.5e6 / 1004.5 * middle;
        if water - middle > saturation(t, p) { least = middle } else { most = middle }
    }
    least
}

/// Until it rains, the water of a column is the profile of the start, lifted: the advective form of
/// the driver, in flux form with convergence from the sides. The kinks of the profile are smoothed
/// over some layers of 50 m; the vapour there changes by 1e-4 in a layer.
#[test]
fn air_is_lifted_as_a_whole() {
    let story = Story::of("kid-warm1", &[]);
    let (_, output) = story.run(&["--hours", "0.0834", "--output-interval", "60"]);
    let z = heights(&story.case());
    for frame in 1..=5 {
        let rise = lifted(60.0 * frame as f64, 2.0, 600.0);
        let [qv, qc, qr] = ["QVAPOR", "QCLOUD", "QRAIN"].map(|name| column(&output, name, frame));
        let water = qv + qc + qr;
        let inside = (0..80).filter(|&k| (100.0..2900.0).contains(&z[[k, 2, 4]]));
        let errors = inside.map(|k| water[k] - water_at_first(z[[k, 2, 4]] - rise));
        let most = errors.fold(0.0, |most: f64, error| most.max(error.abs()));
        assert!(most < 1e-4, "after {} s: {most:e}", 60 * frame);
    }
}

/// Cloud and rain after ten minutes are the condensate of the lifted air, and no rain reaches the ground before the
/// time in which drops form and fall; then it rains for some minutes, less than the content of the cloud, and the
/// remaining cloud is at the threshold of autoconversion.
#[test]
fn warm_rain_begins_when_it_should() {
    let story = Story::of("kid-warm1", &[]);
    let (_, output) = story.run(&["--output-interval", "60"]);
    let case = story.case();
    let (z, mass) = (heights(&case), masses(&case));
    let p = case.frame("P", 0) + case.frame("PB", 0);

    let [rain, cloud, drops] =
        ["RAINNC", "QCLOUD_PATH", "QRAIN_PATH"].map(|name| series(&output, name));
    let rise = lifted(600.0, 2.0, 600.0);
    let condensed: f64 = (0..80)
        .map(|k| {
            let [height, here] = [z[[k, 2, 4]] - rise, p[[k, 2, 4]]];
            let theta = 297.9 + (19.1 / 3260.0) * (height - 740.0).max(0.0);
            mass[[k, 2, 4]] * liquid(theta, water_at_first(height.max(0.0)), here)
        })
        .sum();
    let found = cloud[10] + drops[10] + rain[10];
    println!("condensed {condensed:.3} by lifting, {found:.3} kg/m2 in the run");
    // Rain carries some of it down to evaporate, or out of the rising air.
    assert!((found / condensed - 1.0).abs() < 0.1, "{found} {condensed}");

    // Rain of half a millimetre falls at 2 m/s, and the base of the cloud is 600 m high.
    let onset = rain.iter().position(|&x| x > 1e-3).expect("rain") * 60;
    let rates: Vec<f64> = rain.windows(2).into_iter().map(|x| 60.0 * (x[1] - x[0])).collect();
    let (peak, rate) = rates
        .iter()
        .enumerate()
        .fold((0, 0.0), |best, (n, &x)| if x > best.1 { (n, x) } else { best });
    println!("onset {onset} s, peak {rate:.2} mm/h after {} s, sum {:.3} mm", 60 * peak, rain[60]);
    assert!((480..=900).contains(&onset), "{onset}");
    assert!((10..25).contains(&peak), "{peak}");
    // At most an eighth of the condensate can fall through 600 m of air in a minute.
    assert!((1.0..condensed / 8.0 * 60.0).contains(&rate), "{rate}");
    assert!(rain[60] < condensed && rain[60] > 0.3 * condensed, "{}", rain[60]);
    // 0.5 g/kg of cloud is the threshold for 3e8 drops of 8 micrometres in a cubic metre.
    let last = column(&output, "QCLOUD", 60);
    let threshold = 4.0 / 3.0 * PI * 1000.0 * 8e-6_f64.powi(3) * 3e8;
    let rho = |k: usize| mass[[k, 2, 4]] / 50.0;
    for (k, qc) in last.iter().enumerate() {
        assert!(*qc < 1.05 * threshold / rho(k).min(1.28 / 1.2), "{k}: {qc}");
    }
}

/// All columns inside are the one of the driver.
#[test]
fn neighbouring_columns_are_alike() {
    for (case, tolerance) in [("kid-warm1", 0.005), ("kid-mixed", 0.05)] {
        let story = Story::of(case, &["--nx", "10"]);
        let (_, output) = story.run(&[]);
        let rain = output.last("RAINNC");
        let middle = rain[[2, 5]];
        assert!(middle > 0.5, "{case}: {middle}");
        for i in 1..9 {
            assert!((rain[[2, i]] / middle - 1.0).abs() < tolerance, "{case} {i}: {rain}");
            assert_eq!(rain[[0, i]].to_bits(), rain[[3, i]].to_bits(), "{case}: rows differ");
        }
    }
}

/// All kinds of water, each in its range of temperatures: ice and snow in the cold, cloud water above 40 degrees below
/// freezing; precipitation begins as rain and ends as snow.
#[test]
fn the_cold_cloud_freezes() {
    let story = Story::of("kid-mixed", &[]);
    let (figures, output) = story.run(&["--output-interval", "300"]);
    let p = output.frame("P", 0) + output.frame("PB", 0);
    let mut most = [0.0_f64; 4];
    for frame in 0..output.frames() {
        let exner = p.mapv(|p| (p / 1e5).powf(287.0 / 1004.5));
        let t = (output.frame("T", frame) + 300.0) * exner;
        for (n, name) in ["QCLOUD", "QRAIN", "QICE", "QSNOW"].into_iter().enumerate() {
            let q = output.frame(name, frame);
            for (q, t) in q.iter().zip(&t) {
                most[n] = most[n].max(*q);
                match name {
                    "QICE" => assert!(*q < 1e-8 || *t < 273.2, "ice at {t} K"),
                    // Snow melts over some hundred metres of its way.
                    "QSNOW" => assert!(*q < 1e-6 || *t < 278.0, "snow at {t} K"),
                    "QCLOUD" => assert!(*q < 1e-8 || *t > 233.1, "cloud water at {t} K"),
                    _ => {}
                }
            }
        }
    }
    assert!(most.iter().all(|q| *q > 5e-5), "{most:?}");
    let [rain, snow] = ["RAINNC", "SNOWNC"].map(|name| series(&output, name));
    let last = rain.len() - 1;
    assert!(snow[6] < 0.01 * rain[6] && rain[6] > 0.5, "{rain} {snow}");
    assert!(snow[last] - snow[last - 1] > 0.1 * (rain[last] - rain[last - 1]), "{rain} {snow}");
    // Single precision of ten times the water that the column holds, which passes it.
    let closure = figures["water"]["closure_rel"].as_f64().expect("a number");
    assert!(closure.abs() < 1e-5, "{closure:e}");
}

/// The frames follow the sine so closely that the air comes as high as it should.
#[test]
fn the_ascent_is_a_sine_in_time() {
    let file = Story::of("kid-warm1", &[]).case();
    let (times, u) = (file.values("XTIME"), file.values("U"));
    let strongest = u.iter().copied().fold(0.0, f64::max);
    let frames = file.frames();
    let mut way = 0.0;
    for frame in 0..frames {
        let seconds = 60.0 * times[frame];
        let found = file.frame("U", frame).iter().copied().fold(0.0, f64::max) / strongest;
        let wanted = if seconds < 600.0 { (PI * seconds / 600.0).sin() } else { 0.0 };
        assert!((found - wanted).abs() < 1e-6, "{seconds}: {found}");
        if frame > 0 {
            let before = file.frame("U", frame - 1).iter().copied().fold(0.0, f64::max) / strongest;
            way += 0.5 * (found + before) * (seconds - 60.0 * times[frame - 1]);
        }
    }
    assert!((way / (1200.0 / PI) - 1.0).abs() < 1e-3, "{way}");
}

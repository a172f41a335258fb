//! Packed values, and inconsistent attributes.

use netcdf::AttributeValue;

use super::{place_of, refused, run_as_promised};
use crate::eras::cut::{Cut, Kind};
use crate::eras::place::Place;

/// Column masses in steps of 1/8 Pa, so that the packings below hold them exactly.
fn with_steps() -> Cut {
    let mut cut = Cut::new();
    for (at, mu) in cut.values("MU").iter_mut().enumerate() {
        *mu = 300.0 + 0.125 * at as f32;
    }
    cut
}

/// MU in the output of a run.
#[track_caller]
fn mu_of(cut: &Cut) -> Vec<f64> {
    let place = place_of(cut);
    run_as_promised(&place).good();
    place.outcome().at("MU", 0).iter().copied().collect()
}

#[test]
fn packed_values_mean_what_their_attributes_say() {
    let wanted: Vec<f64> = (0..168).map(|at| 300.0 + 0.125 * f64::from(at)).collect();
    assert_eq!(mu_of(&with_steps()), wanted);
    for (kind, scale, offset) in [
        (Kind::Short, Some(0.125), Some(310.0)),
        (Kind::Short, Some(-0.125), Some(310.0)),
        (Kind::Short, Some(0.125), None),
        (Kind::Byte, Some(0.125), Some(311.0)),
        (Kind::UnsignedByte, Some(0.125), Some(300.0)),
        (Kind::Int, Some(0.125), Some(0.0)),
        (Kind::Double, Some(0.125), Some(-1000.0)),
        (Kind::Single, None, Some(100.0)),
    ] {
        let mut cut = with_steps();
        if kind == Kind::Byte {
            // -88 to 79 eighths.
            assert!(wanted[167] - 311.0 < 127.0 * 0.125);
        }
        cut.field("MU").pack(kind, scale, offset);
        assert_eq!(mu_of(&cut), wanted, "{kind:?} {scale:?} {offset:?}");
    }
}

#[test]
fn bytes_may_be_meant_without_a_sign() {
    let mut cut = with_steps();
    let wanted: Vec<f64> = (0..168).map(|at| 300.0 + f64::from(at)).collect();
    for (at, mu) in cut.values("MU").iter_mut().enumerate() {
        // 0 to 167 in the bits of a signed byte.
        *mu = if at < 128 { at as f32 } else { at as f32 - 256.0 };
    }
    let field = cut.field("MU");
    field.kind = Kind::Byte;
    field.attributes = vec![
        ("_Unsigned", "true".into()),
        ("add_offset", 300.0_f32.into()),
        // 200 and 0 to 199 in the bits of signed bytes.
        ("_FillValue", (-56_i8).into()),
        ("valid_range", AttributeValue::Schars(vec![0, -57])),
    ];
    assert_eq!(mu_of(&cut), wanted);
}

#[test]
fn attributes_that_are_none_are_refused_by_name() {
    let shorts = |x: &[i16]| AttributeValue::Shorts(x.to_vec());
    for (name, value) in [
        ("scale_factor", "0.01".into()),
        ("scale_factor", AttributeValue::Floats(vec![0.01, 0.02])),
        ("scale_factor", 0.0_f32.into()),
        ("scale_factor", f32::NAN.into()),
        ("add_offset", "none".into()),
        ("add_offset", f64::INFINITY.into()),
        ("missing_value", "-999".into()),
        ("valid_range", 5_i16.into()),
        ("valid_range", shorts(&[5, 1])),
        ("valid_min", shorts(&[5, 6])),
        ("_Unsigned", "perhaps".into()),
        ("_Unsigned", 1_i32.into()),
    ] {
        let mut cut = with_steps();
        let scale = (name != "scale_factor").then_some(0.125);
        cut.field("MU").pack(Kind::Short, scale, (name != "add_offset").then_some(310.0));
        cut.field("MU").attributes.push((name, value));
        refused(&cut, &["in.nc", &format!("attribute {name} of the variable MU")]);
    }
}

#[test]
fn missing_values_are_those_that_are_stored() {
    let cases: [(&str, AttributeValue, f32); 6] = [
        ("_FillValue", (-32_768_i16).into(), -32_768.0),
        ("missing_value", (-999_i16).into(), -999.0),
        ("missing_value", AttributeValue::Doubles(vec![-2000.0, -999.0]), -999.0),
        ("valid_min", (-500_i16).into(), -501.0),
        ("valid_max", 2000_i16.into(), 2001.0),
        ("valid_range", AttributeValue::Shorts(vec![-500, 2000]), -501.0),
    ];
    for (name, value, hole) in cases {
        let mut cut = with_steps();
        cut.field("MU").pack(Kind::Short, Some(0.125), Some(310.0));
        cut.field("MU").attributes.push((name, value));
        let whole = mu_of(&cut);
        assert_eq!(whole[5], 300.625, "{name}");
        // At the edge, where only the boundary values depend on it.
        cut.values("MU")[[0, 3]] = hole;
        refused(&cut, &["in.nc", "MU", "south_north=0 west_east=3", name]);
    }
    // Without _FillValue the value of the library means that nothing was written.
    let mut cut = with_steps();
    cut.field("MU").pack(Kind::Short, Some(0.125), Some(310.0));
    cut.values("MU")[[2, 3]] = -32_767.0;
    refused(&cut, &["MU", "never written", "south_north=2 west_east=3"]);
}

#[test]
fn every_field_may_be_packed() {
    let [plain, packed] = [false, true].map(|is_packed| {
        let mut cut = Cut::new();
        for (name, field) in &mut cut.fields {
            if !is_packed || name.starts_with("MAPFAC") {
                continue;
            }
            let (low, high) = field
                .values
                .iter()
                .fold((f32::MAX, f32::MIN), |(low, high), x| (low.min(*x), high.max(*x)));
            let scale = if high > low { (high - low) / 65_000.0 } else { 1.0 };
            field.pack(Kind::Short, Some(scale), Some(0.5 * (low + high)));
        }
        let place = place_of(&cut);
        run_as_promised(&place).good();
        place.outcome()
    });
    // Half a step of each packing: 650 parts of its range.
    for name in ["T", "QVAPOR", "QRAIN", "U", "PH", "PB", "MUB"] {
        let (a, b) = (plain.at(name, 0), packed.at(name, 0));
        let range =
            a.iter().fold(f64::MIN, |x, y| x.max(*y)) - a.iter().fold(f64::MAX, |x, y| x.min(*y));
        let most = a.iter().zip(&b).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
        // The winds are projected again, which changes them by at most the error of packing.
        let room = if name == "U" { 4.0 } else { 1.01 };
        let rounding = 1e-7 * a.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let allowed = room * 0.5 * range / 65_000.0 + rounding;
        assert!(most <= allowed, "{name}: {most:e} of {allowed:e}");
    }
}

#[test]
fn differences_within_a_packing_are_none() {
    let place = Place::new();
    let mut cut = Cut::new();
    cut.write(&place.path("plain.nc"));
    cut.field("T").pack(Kind::Short, Some(0.01), Some(30.0));
    cut.write(&place.path("packed.nc"));
    for files in [["plain.nc", "packed.nc"], ["packed.nc", "plain.nc"]] {
        let ended = place.command(&["diff", files[0], files[1]]).good();
        let line =
            ended.stdout.lines().find(|line| line.trim_start().starts_with("T ")).expect("a row");
        assert!(line.contains("within"), "{line}");
        assert!(ended.stdout.contains("half a step"), "{}", ended.stdout);
    }
    // A step further is another value.
    cut.values("T")[[3, 4, 5]] += 1.0;
    cut.write(&place.path("other.nc"));
    let ended = place.command(&["diff", "plain.nc", "other.nc"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stdout);
    // And so is a hole.
    cut.values("T")[[3, 4, 5]] = -32_767.0;
    cut.write(&place.path("hole.nc"));
    assert_eq!(place.command(&["diff", "packed.nc", "hole.nc"]).code, Some(1));
}

#[test]
fn pictures_show_what_packed_values_mean() {
    let mut cut = Cut::new();
    cut.add_plane("RAINNC", |_, i| 0.25 * i as f32);
    cut.field("RAINNC").pack(Kind::Short, Some(0.25), None);
    let place = place_of(&cut);
    place.command(&["plot", "in.nc", "--only", "precipitation", "--format", "svg"]).good();
    let picture =
        std::fs::read_to_string(place.path("in.plots/precipitation.svg")).expect("a picture");
    // 0 to 13 quarters.
    assert!(picture.contains("largest 3.25 mm"), "{picture}");
}

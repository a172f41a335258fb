//! Differences of two files, as maps and as profiles.

use ndarray::Array2;
use tracing::info;

use super::Kind;
use super::pictures::{gaps, place_name, profile_panels};
use super::scene::{REFLECTIVITY, Scene, date, file_name, hydrometeors, time_of};
use super::soundings::signed;
use super::tracer::lowest;
use crate::diagnostics::column_ops;
use crate::error::{Error, Result};
use crate::io::wrf::plottable::{ANY_HYDROMETEOR, PlotInput};
use crate::os_text::Shown;
use crate::plot::canvas::{Picture, Stroke};
use crate::plot::colour::{INK, Scale, short};
use crate::plot::curves::{self, Layout};
use crate::plot::map::{self, Map};

/// A quantity that is compared on a map.
struct Plane {
    /// Name of the picture.
    name: &'static str,
    title: &'static str,
    units: &'static str,
    /// Variables that it needs.
    needs: &'static [&'static str],
    /// The corresponding picture of one file.
    kind: Option<Kind>,
    /// The field at a time of a file.
    of: fn(&PlotInput, usize) -> Result<Array2<f64>>,
}

const PLANES: [Plane; 5] = [
    Plane {
        name: "difference-precipitation",
        title: "Precipitation",
        units: "mm",
        needs: &["RAINNC"],
        kind: Some(Kind::Precipitation),
        of: |input, time| Ok(input.precipitation(time)?.0),
    },
    Plane {
        name: "difference-reflectivity",
        title: "Largest reflectivity of each column",
        units: "dBZ",
        needs: &[REFLECTIVITY],
        kind: Some(Kind::Reflectivity),
        of: |input, time| Ok(column_ops::column_maximum(&input.volume(REFLECTIVITY, time)?)),
    },
    Plane {
        name: "difference-theta",
        title: "Potential temperature of the lowest layer",
        units: "K",
        needs: &["T|THM"],
        kind: None,
        of: |input, time| Ok(lowest(&input.theta(time)?)),
    },
    Plane {
        name: "difference-vapour",
        title: "Vapour in the column",
        units: "kg m⁻²",
        needs: &["T|THM", "P", "PB", "PH", "PHB", "QVAPOR"],
        kind: None,
        of: |input, time| content(input, time, &["QVAPOR"]),
    },
    Plane {
        name: "difference-condensate",
        title: "Hydrometeors in the column",
        units: "kg m⁻²",
        needs: &["T|THM", "P", "PB", "PH", "PHB", "QVAPOR", ANY_HYDROMETEOR],
        kind: None,
        of: |input, time| {
            content(input, time, &hydrometeors().map(|(name, _)| name).collect::<Vec<_>>())
        },
    },
];

/// Column content of those species that a file has, kg m⁻².
fn content(input: &PlotInput, time: usize, names: &[&str]) -> Result<Array2<f64>> {
    let (rho, faces, shape) = (input.density(time)?, input.heights(time)?, input.shape());
    let mut sum = Array2::zeros((shape.ny, shape.nx));
    for name in names.iter().filter(|name| input.missing(&[name]).is_empty()) {
        sum += &column_ops::content(&rho, &input.volume(name, time)?, &faces);
    }
    Ok(sum)
}

/// Name of the picture of the profiles.
const PROFILES: &str = "difference-profiles";

/// Draws the differences of the second file from the first at a common time.
pub(super) fn draw(
    inputs: &[PlotInput; 2],
    time: Option<&str>,
    only: &[Kind],
) -> Result<Vec<(&'static str, Picture)>> {
    let [a, b] = inputs;
    if a.shape() != b.shape() {
        return Err(Error::input(
            b.path(),
            format!(
                "has {} cells and {} has {}; both files must have the same grid",
                b.shape(),
                a.path().shown(),
                a.shape()
            ),
        ));
    }
    let possible = [Kind::Precipitation, Kind::Reflectivity, Kind::Profiles];
    if let Some(kind) = only.iter().find(|kind| !possible.contains(kind)) {
        let names: Vec<&str> = possible.iter().map(|kind| kind.name()).collect();
        return Err(Error::Usage(format!(
            "--compare has no picture {}; it has {} (and more maps without --only)",
            kind.name(),
            names.join(", ")
        )));
    }
    let times = times(inputs, time)?;
    let mut drawn = Vec::new();
    let is_wanted =
        |plane: &&Plane| only.is_empty() || plane.kind.is_some_and(|kind| only.contains(&kind));
    for plane in PLANES.iter().filter(is_wanted) {
        if is_possible(inputs, plane.needs, plane.name, !only.is_empty())? {
            drawn.push((plane.name, difference(inputs, times, plane)?));
        }
    }
    let wants_profiles = only.is_empty() || only.contains(&Kind::Profiles);
    let needs = ["QVAPOR", "PH", "PHB"];
    if wants_profiles && is_possible(inputs, &needs, PROFILES, !only.is_empty())? {
        drawn.push((PROFILES, profiles(inputs, times)?));
    }
    if drawn.is_empty() {
        let message =
            format!("and {} have no variables in common that can be drawn", b.path().shown());
        return Err(Error::input(a.path(), message));
    }
    Ok(drawn)
}

/// Returns `true` if both files have the variables of a picture; if it was requested by name, they must have them.
fn is_possible(
    inputs: &[PlotInput; 2],
    needs: &[&str],
    name: &str,
    is_required: bool,
) -> Result<bool> {
    for input in inputs {
        let missing = input.missing(needs);
        if missing.is_empty() {
            continue;
        }
        let missing = missing.join(", ").replace('|', " or ");
        if is_required {
            return Err(Error::input(
                input.path(),
                format!("no {name}: it has no variable {missing}"),
            ));
        }
        info!("{name} is skipped: {} has no variable {missing}", input.path().shown());
        return Ok(false);
    }
    Ok(true)
}

/// Indices of the time in the files: that of the first, or the last common one.
fn times(inputs: &[PlotInput; 2], typed: Option<&str>) -> Result<[usize; 2]> {
    let [a, b] = inputs;
    if typed.is_none() {
        let found =
            a.times().iter().enumerate().rev().find_map(|(n, time)| {
                Some([n, b.times().iter().rposition(|other| other == time)?])
            });
        return found.ok_or_else(|| {
            let last = |input: &PlotInput| date(input.times()[input.times().len() - 1]);
            let message = format!(
                "has no time in common with {}: they end at {} and {}; give --time with a number",
                a.path().shown(),
                last(b),
                last(a)
            );
            Error::input(b.path(), message)
        });
    }
    Ok([time_of(a, typed)?, time_of(b, typed)?])
}

/// Both files and their times.
fn when(inputs: &[PlotInput; 2], times: [usize; 2]) -> String {
    let [a, b] = [0, 1].map(|n| (file_name(&inputs[n]), date(inputs[n].times()[times[n]])));
    if a.1 == b.1 {
        format!("{} minus {}, valid {}", b.0, a.0, a.1)
    } else {
        format!("{} at {} minus {} at {}", b.0, b.1, a.0, a.1)
    }
}

fn difference(inputs: &[PlotInput; 2], times: [usize; 2], plane: &Plane) -> Result<Picture> {
    let Plane { title, units, of, .. } = plane;
    let first = of(&inputs[0], times[0])?;
    let field = of(&inputs[1], times[1])? - &first;
    let most = column_ops::largest(&field.mapv(f64::abs));
    let (size, [j, i]) = most.unwrap_or((0.0, [0, 0]));
    let mean = column_ops::mean(field.iter().copied());
    let rms = column_ops::mean(field.iter().map(|x| x * x)).sqrt();
    let about = if size > 0.0 {
        format!(
            "mean {} {units}, root mean square {}, farthest {} at {}{}",
            signed(mean),
            short(rms),
            signed(field[[j, i]]),
            place_name([i as f64, j as f64]),
            gaps(&field)
        )
    } else {
        format!("no difference in any cell{}", gaps(&field))
    };
    let earth = inputs[0].earth(times[0])?;
    let scale = Scale::differences(&format!("difference, {units}"), size);
    Ok(map::draw(&Map {
        title: format!("{title}: difference"),
        below: vec![when(inputs, times), about],
        field: &field,
        cell: inputs[0].cell().map(|length| length / 1e3),
        scale: &scale,
        earth: earth.as_ref().map(|[latitude, longitude]| [latitude, longitude]),
        line: None,
        note: (size == 0.0).then(|| "no difference".to_owned()),
    }))
}

/// The profiles of both files; the second line is dashed and wide, so that the first stays visible.
fn profiles(inputs: &[PlotInput; 2], times: [usize; 2]) -> Result<Picture> {
    let [a, b] = [0, 1].map(|n| Scene::new(&inputs[n], times[n], None, None));
    let scenes = [a?, b?];
    let names = [0, 1].map(|n| file_name(&inputs[n]));
    // Files of the same name are distinguished by their order.
    let suffixes = if names[0] == names[1] {
        ["first", "second"].map(|which| format!("{}, the {which}", names[0]))
    } else {
        names.clone()
    };
    let panels = profile_panels(&[
        (&scenes[0], Stroke::solid(INK, 1.6), Some(&suffixes[0])),
        (&scenes[1], Stroke::dashed(INK, 3.4, &[3.0, 7.0]), Some(&suffixes[1])),
    ])?;
    let dates = [0, 1].map(|n| date(inputs[n].times()[times[n]]));
    let below = [
        format!("{} at {}, {} at {}", names[0], dates[0], names[1], dates[1]),
        "means over all cells of a level".to_owned(),
    ];
    let layout = Layout { columns: 2, size: [330.0, 470.0] };
    Ok(curves::draw("Mean profiles of both files", &below, &panels, layout))
}

//! Differences of two files, as maps and as profiles.

use ndarray::Array2;
use tracing::info;

use super::Kind;
use super::pictures::{gaps, place_name, profile_panels};
use super::scene::{HYDROMETEORS, REFLECTIVITY, Scene, date, file_name, time_of};
use super::soundings::signed;
use crate::diagnostics::column_ops;
use crate::error::{Error, Result};
use crate::io::wrf::plottable::PlotInput;
use crate::os_text::Shown;
use crate::plot::canvas::{Picture, Stroke};
use crate::plot::colour::{INK, Scale, short};
use crate::plot::curves::{self, Layout};
use crate::plot::map::{self, Map};

/// Quantity compared on a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plane {
    Precipitation,
    Reflectivity,
    Theta,
    Vapour,
    Condensate,
}

impl Plane {
    const ALL: [Self; 5] =
        [Self::Precipitation, Self::Reflectivity, Self::Theta, Self::Vapour, Self::Condensate];

    /// Title of the picture, name of its quantity, and units.
    fn names(self) -> [&'static str; 3] {
        match self {
            Self::Precipitation => ["difference-precipitation", "Precipitation", "mm"],
            Self::Reflectivity => {
                ["difference-reflectivity", "Largest reflectivity of each column", "dBZ"]
            }
            Self::Theta => ["difference-theta", "Potential temperature of the lowest layer", "K"],
            Self::Vapour => ["difference-vapour", "Vapour in the column", "kg m⁻²"],
            Self::Condensate => ["difference-condensate", "Hydrometeors in the column", "kg m⁻²"],
        }
    }

    /// Variables that it needs.
    fn needs(self) -> &'static [&'static str] {
        match self {
            Self::Precipitation => &["RAINNC"],
            Self::Reflectivity => &[REFLECTIVITY],
            Self::Theta => &["T|THM"],
            Self::Vapour => &["T|THM", "P", "PB", "PH", "PHB", "QVAPOR"],
            Self::Condensate => {
                &["T|THM", "P", "PB", "PH", "PHB", "QVAPOR", "QCLOUD|QRAIN|QICE|QSNOW"]
            }
        }
    }

    /// The corresponding picture of one file.
    fn kind(self) -> Option<Kind> {
        match self {
            Self::Precipitation => Some(Kind::Precipitation),
            Self::Reflectivity => Some(Kind::Reflectivity),
            _ => None,
        }
    }

    fn of(self, album: &PlotInput, time: usize) -> Result<Array2<f64>> {
        let content = |names: &[&str]| -> Result<Array2<f64>> {
            let (rho, faces) = (album.density(time)?, album.heights(time)?);
            let shape = album.shape();
            let mut sum = Array2::zeros((shape.ny, shape.nx));
            for name in names.iter().filter(|name| album.missing(&[name]).is_empty()) {
                sum += &column_ops::content(&rho, &album.volume(name, time)?, &faces);
            }
            Ok(sum)
        };
        match self {
            Self::Precipitation => Ok(album.precipitation(time)?.0),
            Self::Reflectivity => {
                Ok(column_ops::column_maximum(&album.volume(REFLECTIVITY, time)?))
            }
            Self::Theta => {
                let theta = album.theta(time)?;
                Ok(theta.index_axis(ndarray::Axis(0), 0).mapv(f64::from))
            }
            Self::Vapour => content(&["QVAPOR"]),
            Self::Condensate => content(&HYDROMETEORS.map(|(name, _)| name)),
        }
    }
}

/// Name of the picture of the profiles.
const PROFILES: &str = "difference-profiles";

/// Draws the differences of the second file from the first at a common time.
pub(super) fn draw(
    albums: &[PlotInput; 2],
    time: Option<&str>,
    only: &[Kind],
) -> Result<Vec<(&'static str, Box<Picture>)>> {
    let [a, b] = albums;
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
    let times = times(albums, time)?;
    let mut drawn = Vec::new();
    for plane in Plane::ALL {
        if !only.is_empty() && !plane.kind().is_some_and(|kind| only.contains(&kind)) {
            continue;
        }
        if is_possible(albums, plane.needs(), plane.names()[0], !only.is_empty())? {
            drawn.push((plane.names()[0], Box::new(difference(albums, times, plane)?)));
        }
    }
    let wants_profiles = only.is_empty() || only.contains(&Kind::Profiles);
    let needs = ["QVAPOR", "PH", "PHB"];
    if wants_profiles && is_possible(albums, &needs, PROFILES, !only.is_empty())? {
        drawn.push((PROFILES, Box::new(profiles(albums, times)?)));
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
    albums: &[PlotInput; 2],
    needs: &[&str],
    name: &str,
    is_asked: bool,
) -> Result<bool> {
    for album in albums {
        let missing = album.missing(needs);
        if missing.is_empty() {
            continue;
        }
        let missing = missing.join(", ").replace('|', " or ");
        if is_asked {
            return Err(Error::input(
                album.path(),
                format!("no {name}: it has no variable {missing}"),
            ));
        }
        info!("{name} is skipped: {} has no variable {missing}", album.path().shown());
        return Ok(false);
    }
    Ok(true)
}

/// Indices of the time in the files: that of the first, or the last common one.
fn times(albums: &[PlotInput; 2], typed: Option<&str>) -> Result<[usize; 2]> {
    let [a, b] = albums;
    if typed.is_none() {
        let found =
            a.times().iter().enumerate().rev().find_map(|(n, time)| {
                Some([n, b.times().iter().rposition(|other| other == time)?])
            });
        return found.ok_or_else(|| {
            let last = |album: &PlotInput| date(album.times()[album.times().len() - 1]);
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
fn when(albums: &[PlotInput; 2], times: [usize; 2]) -> String {
    let [a, b] = [0, 1].map(|n| (file_name(&albums[n]), date(albums[n].times()[times[n]])));
    if a.1 == b.1 {
        format!("{} minus {}, valid {}", b.0, a.0, a.1)
    } else {
        format!("{} at {} minus {} at {}", b.0, b.1, a.0, a.1)
    }
}

fn difference(albums: &[PlotInput; 2], times: [usize; 2], plane: Plane) -> Result<Picture> {
    let [_, what, units] = plane.names();
    let first = plane.of(&albums[0], times[0])?;
    let field = plane.of(&albums[1], times[1])? - &first;
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
    let earth = albums[0].earth(times[0])?;
    let scale = Scale::differences(&format!("difference, {units}"), size);
    Ok(map::draw(&Map {
        title: format!("{what}: difference"),
        below: vec![when(albums, times), about],
        field: &field,
        cell: albums[0].cell().map(|length| length / 1e3),
        scale: &scale,
        earth: earth.as_ref().map(|[latitude, longitude]| [latitude, longitude]),
        line: None,
        note: (size == 0.0).then(|| "no difference".to_owned()),
    }))
}

/// The profiles of both files; the second line is dashed and wide, so that the first stays visible.
fn profiles(albums: &[PlotInput; 2], times: [usize; 2]) -> Result<Picture> {
    let scenes = [
        Scene::new(&albums[0], times[0], None, None)?,
        Scene::new(&albums[1], times[1], None, None)?,
    ];
    let names = [0, 1].map(|n| file_name(&albums[n]));
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
    let dates = [0, 1].map(|n| date(albums[n].times()[times[n]]));
    let below = [
        format!("{} at {}, {} at {}", names[0], dates[0], names[1], dates[1]),
        "means over all cells of a level".to_owned(),
    ];
    let layout = Layout { columns: 2, size: [330.0, 470.0] };
    Ok(curves::draw("Mean profiles of both files", &below, &panels, layout))
}

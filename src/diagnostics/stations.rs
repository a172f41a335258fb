//! Stations on the grid of a run, and the sparse operator that interpolates a level to them.

use std::path::Path;

use super::locate::Locator;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::io::grid_north;
use crate::io::out::station_series::PlacedStation;
use crate::io::out::stations::{Station, Stations};
use crate::io::weights::Coordinates;
use crate::os_text::Shown;
use crate::primitives::csr::Csr;

/// Locates stations on the grid of a run; row r of the operator interpolates to station r, linearly along both axes.
pub(crate) fn locate(
    path: &Path,
    stations: &Stations,
    domain: &Domain,
) -> Result<(Vec<PlacedStation>, Csr<f64>)> {
    let locator = Locator::new(domain);
    match stations.coordinates {
        Coordinates::Degrees if !locator.is_on_earth() => {
            return Err(Error::input(
                path,
                "has lat and lon, but the grid of the run has none; use x and y in m from the \
                 south-western corner of the grid",
            ));
        }
        Coordinates::Metres if locator.map().is_none() => {
            return Err(Error::input(
                path,
                "has x and y, but the grid of the run has no map in m; use lat and lon",
            ));
        }
        _ => {}
    }
    let (mut places, mut triplets) = (Vec::new(), Vec::new());
    for (row, station) in stations.list.iter().enumerate() {
        let Station { name, x, y, line } = station;
        let around = match stations.coordinates {
            Coordinates::Degrees => locator.on_earth(*x, *y),
            Coordinates::Metres => locator.on_map(*x, *y),
        };
        let Some(around) = around else {
            return Err(Error::input(
                path,
                outside(station, stations.coordinates, domain, &locator),
            ));
        };
        let terrain = domain.terrain.as_slice().expect("a plane in standard layout");
        let altitude = around.iter().map(|(cell, w)| w * f64::from(terrain[*cell])).sum();
        let (on_earth, on_map) = match stations.coordinates {
            Coordinates::Degrees => (Some([*x, *y]), None),
            Coordinates::Metres => (locator.earth_of_map(*x, *y), Some([*x, *y])),
        };
        places.push(PlacedStation { name: name.clone(), on_earth, on_map, altitude, angle: None });
        let parts = around.into_iter().filter(|(_, weight)| *weight > 0.0);
        triplets.extend(parts.map(|(cell, weight)| (row, cell, weight)));
        tracing::debug!("{}: line {line}, {name} is between the cells {around:?}", path.shown());
    }
    let matrix = Csr::from_triplets(places.len(), domain.grid.shape.columns(), &triplets)?;
    let on_earth: Option<Vec<[f64; 2]>> = places.iter().map(|place| place.on_earth).collect();
    let angles = on_earth.and_then(|on_earth| {
        let [x, y] = [0, 1].map(|n| on_earth.iter().map(|place| place[n]).collect::<Vec<f64>>());
        grid_north::at_places(domain, [&x, &y], &matrix)
    });
    if let Some([sine, cosine]) = angles {
        for ((place, sine), cosine) in places.iter_mut().zip(sine).zip(cosine) {
            place.angle = Some([sine, cosine]);
        }
    }
    Ok((places, matrix))
}

/// Message about a station outside, with the extent of the grid.
fn outside(
    station: &Station,
    coordinates: Coordinates,
    domain: &Domain,
    locator: &Locator,
) -> String {
    let Station { name, x, y, line } = station;
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(x), b.max(x)])
    };
    match (coordinates, &domain.latitude, &domain.longitude, locator.map()) {
        (Coordinates::Degrees, Some(latitude), Some(longitude), _) => {
            let [south, north] = range(&mut latitude.iter().map(|x| f64::from(*x)));
            let [west, east] = range(&mut longitude.iter().map(|x| f64::from(*x)));
            format!(
                "line {line}: {name} at latitude {y} and longitude {x} is outside of the grid, \
                 whose outermost cell centres are at latitudes {south:.3} to {north:.3} and \
                 longitudes {west:.3} to {east:.3}"
            )
        }
        (_, _, _, map) => {
            let [along_x, along_y] = map.unwrap_or_default();
            let shape = domain.grid.shape;
            let last = |[first, step]: [f64; 2], n: usize| first + step * (n - 1) as f64;
            format!(
                "line {line}: {name} at x {x} and y {y} is outside of the grid, whose outermost \
                 cell centres are at x {:.0} to {:.0} and y {:.0} to {:.0} m",
                along_x[0],
                last(along_x, shape.nx),
                along_y[0],
                last(along_y, shape.ny)
            )
        }
    }
}

//! Points on the command line.

use std::str::FromStr;

use crate::diagnostics::locate::Locator;
use crate::diagnostics::section::Line;
use crate::error::{Error, Result};
use crate::grid::Shape;
use crate::io::wrf::plottable::PlotInput;
use crate::os_text::Shown;

/// Kind of coordinates of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Cells,
    Metres,
    Degrees,
}

/// Numbers of one point or of two.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PointNumbers<const N: usize> {
    kind: Kind,
    numbers: [f64; N],
    typed: String,
}

impl<const N: usize> FromStr for PointNumbers<N> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, numbers) = match text.split_once(':') {
            None => (Kind::Cells, text),
            Some(("ij", numbers)) => (Kind::Cells, numbers),
            Some(("xy", numbers)) => (Kind::Metres, numbers),
            Some(("latlon", numbers)) => (Kind::Degrees, numbers),
            Some((other, _)) => {
                return Err(format!(
                    "{other}: is not a kind of coordinates; use ij:, xy: or latlon:"
                ));
            }
        };
        let parsed: Option<Vec<f64>> = numbers
            .split(',')
            .map(|number| number.trim().parse().ok().filter(|x: &f64| x.is_finite()))
            .collect();
        let numbers = parsed.and_then(|numbers| numbers.try_into().ok());
        let numbers = numbers.ok_or_else(|| format!("{N} numbers separated by commas"))?;
        Ok(Self { kind, numbers, typed: text.to_owned() })
    }
}

impl<const N: usize> PointNumbers<N> {
    /// The points as columns and rows of cells.
    fn places(&self, input: &PlotInput, time: usize, option: &str) -> Result<Vec<[f64; 2]>> {
        let pairs = self.numbers.chunks_exact(2).map(|pair| [pair[0], pair[1]]);
        let shape = input.shape();
        let outside = |what: &str| {
            Error::Usage(format!(
                "{option} {} lies outside of the grid of {}: {what}",
                self.typed,
                input.path().shown()
            ))
        };
        if self.kind == Kind::Cells {
            let last = [shape.nx - 1, shape.ny - 1].map(|n| n as f64);
            return pairs
                .map(|[i, j]| {
                    let is_inside = (0.0..=last[0]).contains(&i) && (0.0..=last[1]).contains(&j);
                    let what = format!("i is 0 to {}, j is 0 to {}", last[0], last[1]);
                    if is_inside { Ok([i, j]) } else { Err(outside(&what)) }
                })
                .collect();
        }
        let domain = input.grid(time)?;
        let locator = Locator::new(&domain);
        pairs
            .map(|[a, b]| {
                let found = match self.kind {
                    Kind::Degrees if !locator.is_on_earth() => {
                        let message = "has no latitudes and longitudes; use cell indices, or \
                                       metres with xy:";
                        return Err(Error::input(input.path(), message));
                    }
                    Kind::Metres if locator.map().is_none() => {
                        let message =
                            "is on a map in degrees; use cell indices, or degrees with latlon:";
                        return Err(Error::input(input.path(), message));
                    }
                    Kind::Degrees => locator.on_earth(b, a),
                    _ => locator.on_map(a, b),
                };
                let around = found.ok_or_else(|| outside(&extent(&locator, shape)))?;
                Ok(middle(&around, shape))
            })
            .collect()
    }
}

/// Extent of the grid on its map.
fn extent(locator: &Locator, shape: Shape) -> String {
    match locator.map() {
        None => "see latitudes and longitudes in the file".to_owned(),
        Some([x, y]) => {
            let last = |[first, step]: [f64; 2], n: usize| first + step * (n - 1) as f64;
            format!(
                "on its map x is {:.0} to {:.0} m, y is {:.0} to {:.0} m",
                x[0],
                last(x, shape.nx),
                y[0],
                last(y, shape.ny)
            )
        }
    }
}

/// The point from the cells around it.
fn middle(around: &[(usize, f64)], shape: Shape) -> [f64; 2] {
    around.iter().fold([0.0, 0.0], |[i, j], (cell, weight)| {
        [i + weight * (cell % shape.nx) as f64, j + weight * (cell / shape.nx) as f64]
    })
}

impl PointNumbers<2> {
    /// The point as column and row.
    pub(super) fn place(&self, input: &PlotInput, time: usize) -> Result<[f64; 2]> {
        Ok(self.places(input, time, "--point")?[0])
    }
}

impl PointNumbers<4> {
    /// The line between both points.
    pub(super) fn line(&self, input: &PlotInput, time: usize) -> Result<Line> {
        let places = self.places(input, time, "--section")?;
        let line = Line { from: places[0], to: places[1] };
        if line.length([1.0, 1.0]) > 0.0 {
            return Ok(line);
        }
        Err(Error::Usage(format!(
            "--section {}: both ends are the same point; choose two points",
            self.typed
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read() {
        let spot: PointNumbers<4> = "xy:0, 1.5e3,-2,4".parse().unwrap();
        assert_eq!((spot.kind, spot.numbers), (Kind::Metres, [0.0, 1500.0, -2.0, 4.0]));
        assert_eq!("3,4".parse::<PointNumbers<2>>().unwrap().kind, Kind::Cells);
        for text in ["", "1", "1,2,3", "1,nan", "1,inf", "a,b", "yx:1,2", "1,2,"] {
            assert!(text.parse::<PointNumbers<2>>().is_err(), "{text}");
        }
    }
}

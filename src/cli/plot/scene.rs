//! One time of a file, and the points in it that pictures show.

use std::f64::consts::PI;

use ndarray::{Array2, Array3};
use time::PrimitiveDateTime;

use super::line::PointNumbers;
use super::{Drawn, Kind, NoPicture};
use crate::calendar;
use crate::constituents::{Kind as OfWhat, Phase, known};
use crate::diagnostics::column_ops;
use crate::diagnostics::section::Line;
use crate::error::{Error, Result};
use crate::io::read::reader::nearest;
use crate::io::wrf::plottable::PlotInput;
use crate::os_text::Shown;

/// One time of a file, with a line and a point.
pub(super) struct Scene<'a> {
    pub(super) input: &'a PlotInput,
    pub(super) time: usize,
    pub(super) line: Line,
    pub(super) point: [f64; 2],
    /// Default point of the line and the sounding.
    pub(super) through: Option<&'static str>,
    /// The largest reflectivity of each column, if available.
    pub(super) reflectivity: Option<Array2<f64>>,
}

/// Hydrometeors, with their names.
pub(super) fn hydrometeors() -> impl Iterator<Item = (&'static str, &'static str)> {
    let is_one = |kind| matches!(kind, OfWhat::Water(Phase::Liquid | Phase::Frozen));
    let all = known::CONSTITUENTS.into_iter().filter(move |known| is_one(known.kind));
    all.map(|known| (known.variable, known.words))
}

/// The variable of the reflectivity.
pub(super) const REFLECTIVITY: &str = "REFL_10CM";

/// Index of a time of a file.
pub(super) fn time_of(input: &PlotInput, typed: Option<&str>) -> Result<usize> {
    let times = input.times();
    let Some(typed) = typed else { return Ok(times.len() - 1) };
    let names = || times.iter().map(|time| calendar::format(*time)).collect::<Vec<_>>();
    let range = || match &*names() {
        [one] => format!("one time, {one}, number 0"),
        names => format!(
            "{} times, {} to {}, numbers 0 to {}",
            names.len(),
            names[0],
            names[names.len() - 1],
            names.len() - 1
        ),
    };
    if let Ok(number) = typed.parse::<usize>() {
        return if number < times.len() {
            Ok(number)
        } else {
            let message = format!("has no time number {number}; it has {}", range());
            Err(Error::input(input.path(), message))
        };
    }
    let Some(date) = calendar::parse(&typed.replacen([' ', 'T'], "_", 1)) else {
        let message = format!(
            "--time {typed} is neither the number of a time nor a date as in 2005-08-28_06:00:00"
        );
        return Err(Error::Usage(message));
    };
    times.iter().position(|time| *time == date).ok_or_else(|| {
        let names = names();
        let near = nearest(typed, names.iter().map(String::as_str))
            .map_or_else(String::new, |near| format!(", {near} among them"));
        Error::input(input.path(), format!("has no time {typed}; it has {}{near}", range()))
    })
}

/// Text form of a time.
pub(super) fn date(time: PrimitiveDateTime) -> String {
    calendar::format(time).replacen('_', " ", 1)
}

/// The name of a file without its folder.
pub(super) fn file_name(input: &PlotInput) -> String {
    input.path().shown_name().into_owned()
}

impl<'a> Scene<'a> {
    /// A time of a file; line and point have defaults.
    pub(super) fn new(
        input: &'a PlotInput,
        time: usize,
        section: Option<&PointNumbers<4>>,
        point: Option<&PointNumbers<2>>,
    ) -> Result<Self> {
        let reflectivity = if input.missing(&[REFLECTIVITY]).is_empty() {
            Some(column_ops::column_maximum(&input.volume(REFLECTIVITY, time)?))
        } else {
            None
        };
        let (place, through) = interesting(input, time, reflectivity.as_ref())?;
        let point = point.map(|spot| spot.place(input, time)).transpose()?;
        let line = match section {
            Some(spot) => spot.line(input, time)?,
            None => best_line(input, place, reflectivity.as_ref()),
        };
        let through = (section.is_none() || point.is_none()).then_some(through);
        Ok(Self { input, time, line, point: point.unwrap_or(place), through, reflectivity })
    }

    /// Draws one kind of picture, if the file has its variables.
    pub(super) fn draw(&self, kind: Kind) -> Drawn {
        self.require(&kind.needs())?;
        match kind {
            Kind::Precipitation => self.precipitation(),
            Kind::Reflectivity => self.reflectivity(),
            Kind::Section => self.section(),
            Kind::Profiles => self.profiles(),
            Kind::Sounding => self.sounding(),
            Kind::Series => self.series(),
            Kind::Tracer(name) => self.tracer(name),
            Kind::TracerSection(name) => self.tracer_section(name),
            Kind::TracerSeries(name) => self.tracer_series(name),
        }
    }

    /// The file and the time of its fields.
    pub(super) fn when(&self) -> String {
        let name = file_name(self.input);
        if self.input.has_times() {
            format!("{name}, valid {}", date(self.input.times()[self.time]))
        } else {
            format!("{name}, which has no time")
        }
    }

    /// The file, and its first and last time.
    pub(super) fn period(&self) -> String {
        let times = self.input.times();
        let [first, last] = [times[0], times[times.len() - 1]].map(date);
        format!("{}, {first} to {last}", file_name(self.input))
    }

    /// Width and height of a cell, km.
    pub(super) fn cell(&self) -> [f64; 2] {
        self.input.cell().map(|length| length / 1e3)
    }

    /// Fails if variables of a picture are missing.
    pub(super) fn require(&self, names: &[&str]) -> Result<(), NoPicture> {
        let missing = self.input.missing(names);
        if missing.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = missing
            .iter()
            .map(|name| name.replace('|', " (or ") + if name.contains('|') { ")" } else { "" })
            .collect();
        let plural = if names.len() == 1 { "variable" } else { "variables" };
        Err(NoPicture::LeftOut(format!("the file has no {plural} {}", names.join(", "))))
    }

    /// Times of the file, and their axis.
    pub(super) fn time_axis(&self) -> Result<TimeAxis, NoPicture> {
        /// Duration from which on times are in hours, min.
        const LONG: f64 = 180.0;
        /// Minutes of an hour.
        const HOUR: f64 = 60.0;
        let times = self.input.times();
        let minutes: Vec<f64> =
            times.iter().map(|time| calendar::minutes(times[0], *time)).collect();
        let reason = if times.len() < 2 {
            "the file has one time; at least two are needed"
        } else if minutes.windows(2).any(|pair| pair[1] <= pair[0]) {
            "its times do not increase, or the variable Times is missing"
        } else if minutes[minutes.len() - 1] >= LONG {
            return Ok(TimeAxis { minutes, unit: HOUR, name: "time, h" });
        } else {
            return Ok(TimeAxis { minutes, unit: 1.0, name: "time, min" });
        };
        Err(NoPicture::LeftOut(reason.to_owned()))
    }
}

/// Times of a file on an axis.
pub(super) struct TimeAxis {
    /// Times after the first, min.
    pub(super) minutes: Vec<f64>,
    /// Unit of the axis, min.
    pub(super) unit: f64,
    /// Name of the axis.
    pub(super) name: &'static str,
}

/// Lowest reflectivity of an echo, dBZ.
const LEAST_ECHO: f64 = 5.0;

/// The default point: the largest reflectivity, or the most hydrometeors, or the centre.
fn interesting(
    input: &PlotInput,
    time: usize,
    reflectivity: Option<&Array2<f64>>,
) -> Result<([f64; 2], &'static str)> {
    let place = |[j, i]: [usize; 2]| [i as f64, j as f64];
    let echo = reflectivity.and_then(column_ops::largest);
    if let Some((_, at)) = echo.filter(|(dbz, _)| *dbz >= LEAST_ECHO) {
        return Ok((place(at), "the largest reflectivity"));
    }
    let mut sum: Option<Array3<f32>> = None;
    for (name, _) in hydrometeors().filter(|(name, _)| input.missing(&[name]).is_empty()) {
        let field = input.volume(name, time)?;
        sum = Some(sum.map_or_else(|| field.clone(), |sum| sum + &field));
    }
    let most = sum.and_then(|sum| column_ops::largest(&column_ops::column_maximum(&sum)));
    if let Some((_, at)) = most.filter(|(most, _)| *most > 0.0) {
        return Ok((place(at), "the most condensate"));
    }
    let shape = input.shape();
    Ok((place([shape.ny / 2, shape.nx / 2]), "the middle of the grid"))
}

/// Of eight lines through a point, the one with the most echoes.
fn best_line(input: &PlotInput, place: [f64; 2], reflectivity: Option<&Array2<f64>>) -> Line {
    const DIRECTIONS: usize = 8;
    let shape = input.shape();
    let lines = (0..DIRECTIONS)
        .map(|n| Line::through(place, n as f64 * PI / DIRECTIONS as f64, shape))
        .filter(|line| line.length([1.0, 1.0]) > 0.0);
    let echo = |line: &Line| {
        let Some(field) = reflectivity else { return 0.0 };
        let count = line.length([1.0, 1.0]).ceil().max(1.0) as usize;
        let values = (0..=count).map(|n| {
            let fraction = n as f64 / count as f64;
            let at = |axis: usize| line.from[axis] + fraction * (line.to[axis] - line.from[axis]);
            field[[at(1).round() as usize, at(0).round() as usize]]
        });
        values.filter(|dbz| *dbz >= LEAST_ECHO).sum::<f64>()
    };
    let first = Line { from: [0.0, 0.0], to: [(shape.nx - 1) as f64, (shape.ny - 1) as f64] };
    lines.reduce(|a, b| if echo(&b) > echo(&a) { b } else { a }).unwrap_or(first)
}

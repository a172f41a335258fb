//! The times of a WRF file: from `Times`, from `XTIME`, or from the attributes of its start.
//!
//! `Times` has a resolution of a second. If it agrees with a double-precision `XTIME` up to a fraction of a second,
//! `XTIME` gives the fraction.

use time::{Duration, PrimitiveDateTime};

use crate::calendar::{self, Count};
use crate::error::Result;
use crate::io::read::reader::Reader;

/// Source of the times of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeSource {
    /// The variable `Times`.
    Times,
    /// The variable `XTIME`, whose units state the reference time.
    Xtime,
    /// `XTIME`, with the reference time from this attribute.
    XtimeSince(&'static str),
    /// `XTIME` without a reference time.
    XtimeAlone,
    /// This attribute, for a single time.
    Attribute(&'static str),
    /// No source.
    Nothing,
}

impl TimeSource {
    /// Assumption, in words; `None` if the file states its times.
    pub(super) fn assumption(self) -> Option<String> {
        match self {
            Self::Times => None,
            Self::Xtime => Some("Times: from XTIME and its units".to_owned()),
            Self::XtimeSince(name) => Some(format!("Times: from XTIME, in minutes since {name}")),
            Self::XtimeAlone => {
                Some("Times: from XTIME, counted from 0001-01-01_00:00:00".to_owned())
            }
            Self::Attribute(name) => Some(format!("Times: {name}")),
            Self::Nothing => Some("Times: 0001-01-01_00:00:00".to_owned()),
        }
    }
}

/// The times of a file.
#[derive(Clone, Debug)]
pub(super) struct Times {
    /// In the order of the file.
    pub(super) moments: Vec<PrimitiveDateTime>,
    /// Their source.
    pub(super) time_source: TimeSource,
}

/// Attributes with the start of the simulation, the reference time of `XTIME`, the best one first.
const STARTS: [&str; 2] = ["SIMULATION_START_DATE", "START_DATE"];

/// Number of times of a file; one without a time dimension.
pub(super) fn count(reader: &Reader) -> Result<usize> {
    match reader.optional_dimension("Time") {
        Some(_) => reader.dimension("Time"),
        None => Ok(1),
    }
}

/// Reads the times of a file.
pub(super) fn read(reader: &Reader) -> Result<Times> {
    let count = count(reader)?;
    if reader.has("Times") {
        let mut moments = by_text(reader, count)?;
        if is_exact(reader)
            && let Ok(Some((exact, _))) = by_number(reader, count)
        {
            sharpen(&mut moments, &exact);
        }
        return Ok(Times { moments, time_source: TimeSource::Times });
    }
    if let Some((moments, time_source)) = by_number(reader, count)? {
        return Ok(Times { moments, time_source });
    }
    if count > 1 {
        return Err(reader.error(
            "has several times, but neither of the variables Times and XTIME; one of them is \
             needed",
        ));
    }
    let start = |name: &&'static str| Some((calendar::parse(&reader.text(name)?)?, *name));
    // The simulation may have started earlier; START_DATE is the start of this part of it.
    Ok(match STARTS.iter().rev().find_map(start) {
        Some((moment, name)) => {
            Times { moments: vec![moment], time_source: TimeSource::Attribute(name) }
        }
        None => Times { moments: vec![calendar::START], time_source: TimeSource::Nothing },
    })
}

fn by_text(reader: &Reader, count: usize) -> Result<Vec<PrimitiveDateTime>> {
    let texts = reader.texts("Times")?;
    if texts.len() < count {
        return Err(reader.error(format!(
            "variable Times has {} texts, and there are {count} times; one for each is needed",
            texts.len()
        )));
    }
    let parse = |(number, text): (usize, &String)| {
        if text.trim_matches(['\0', ' ']).is_empty() {
            return Err(reader.error(format!(
                "variable Times was never written at time number {number}; remove that time (ncks \
                 -d Time), or write its date"
            )));
        }
        calendar::parse(text).ok_or_else(|| {
            let fault = calendar::fault(text);
            reader.error(format!("variable Times holds {text:?} at time number {number}; {fault}"))
        })
    };
    texts.iter().take(count).enumerate().map(parse).collect()
}

/// Returns `true` if `XTIME` has fractions of a second: it must be double precision, and not a widened copy of WRF's
/// single-precision variable, which is wrong by seconds in long simulations.
fn is_exact(reader: &Reader) -> bool {
    let Ok(values) = reader.line("XTIME") else { return false };
    let is_ours = super::stored_sides(reader).is_some();
    reader.is_double("XTIME") && (is_ours || values.iter().any(|x| f64::from(*x as f32) != *x))
}

/// Takes the fractions of a second from the other times, if all agree within a second.
fn sharpen(moments: &mut [PrimitiveDateTime], exact: &[PrimitiveDateTime]) {
    let is_near =
        |(a, b): (&PrimitiveDateTime, &PrimitiveDateTime)| (*a - *b).abs() < Duration::SECOND;
    if moments.iter().zip(exact).all(is_near) {
        moments.copy_from_slice(exact);
    }
}

/// The times from `XTIME`; `None` if the file lacks it.
fn by_number(
    reader: &Reader,
    count: usize,
) -> Result<Option<(Vec<PrimitiveDateTime>, TimeSource)>> {
    if !reader.has("XTIME") {
        return Ok(None);
    }
    let values = reader.line("XTIME")?;
    if values.len() < count {
        return Err(reader.error(format!(
            "variable XTIME has {} values, and there are {count} times; one for each is needed",
            values.len()
        )));
    }
    let (since, time_source) = since(reader)?;
    let calendar = reader.text_of("XTIME", "calendar").unwrap_or_default().to_lowercase();
    let when = |value: &f64| {
        since.when(*value).ok_or_else(|| {
            reader.error(format!(
                "variable XTIME holds {value}, which is not a time of this \
                                  calendar"
            ))
        })
    };
    let moments = values.iter().take(count).map(when).collect::<Result<Vec<_>>>()?;
    let all = || moments.iter().chain([&since.origin]);
    let is_whole = match calendar.trim() {
        "proleptic_gregorian" => true,
        // All in one calendar: the Gregorian calendar omits days of the Julian one.
        "" | "standard" | "gregorian" => {
            all().all(|at| *at >= calendar::GREGORIAN) || all().all(|at| *at < calendar::GREGORIAN)
        }
        _ => false,
    };
    if !is_whole {
        return Err(reader.error(format!(
            "attribute calendar of the variable XTIME is {calendar:?}, from {}; times of the Gregorian calendar \
             are needed; convert them, or write the variable Times",
            calendar::format(since.origin)
        )));
    }
    Ok(Some((moments, time_source)))
}

/// Unit of `XTIME`, and its reference time.
fn since(reader: &Reader) -> Result<(Count, TimeSource)> {
    let text = |name: &str| reader.text_of("XTIME", name).unwrap_or_default();
    let units = text("units");
    if let Some(count) = Count::parse(&units) {
        return Ok((count, TimeSource::Xtime));
    }
    let plain = units.trim_end_matches('\0').trim().to_lowercase();
    // Old versions of WRF state the reference time in the description only.
    if plain.is_empty()
        && let Some(count) = Count::parse(&text("description"))
    {
        return Ok((count, TimeSource::Xtime));
    }
    let plain = if plain.is_empty() { "minutes" } else { &plain };
    let Some(unit) = calendar::unit(plain) else {
        return Err(reader.error(format!(
            "attribute units of the variable XTIME is {units:?}; a unit from seconds to days, as in minutes \
             since 2020-06-01 00:00:00, is needed"
        )));
    };
    let start = |name: &&'static str| Some((calendar::parse(&reader.text(name)?)?, *name));
    Ok(match STARTS.iter().find_map(start) {
        Some((origin, name)) => (Count { unit, origin }, TimeSource::XtimeSince(name)),
        None => (Count { unit, origin: calendar::START }, TimeSource::XtimeAlone),
    })
}

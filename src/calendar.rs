//! Dates in WRF's format, `YYYY-MM-DD_hh:mm:ss`, in the proleptic Gregorian calendar, and times counted from a date, as
//! in the CF conventions.

use time::format_description::BorrowedFormatItem;
use time::macros::{datetime, format_description};
use time::{Date, Duration, Month, PrimitiveDateTime, Time};

const FORMAT: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]_[hour]:[minute]:[second]");

/// Characters of a date in WRF's format.
const LENGTH: usize = 19;

/// The first day of the calendar, for files without times.
pub const START: PrimitiveDateTime = datetime!(0001-01-01 00:00:00);

/// Before this date CF's standard calendar is the Julian one.
pub const GREGORIAN: PrimitiveDateTime = datetime!(1582-10-15 00:00:00);

/// Parses a date in WRF's format; `None` for other text. `T` or a space may separate date and time, a fraction may
/// follow the seconds, and `Z` may be at the end.
pub fn parse(text: &str) -> Option<PrimitiveDateTime> {
    let text = text.trim_end_matches(['\0', ' ']).trim_start();
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (whole, rest) = text.is_char_boundary(LENGTH).then(|| text.split_at_checked(LENGTH))??;
    let seconds = match rest {
        "" => 0.0,
        _ => fraction(rest)?,
    };
    let whole = whole.replacen(['T', ' '], "_", 1);
    PrimitiveDateTime::parse(&whole, FORMAT).ok()?.checked_add(exactly(seconds)?)
}

/// The reason why a text is no date in WRF's format, and what is needed.
pub fn fault(text: &str) -> String {
    let text = text.trim_matches(['\0', ' ']);
    let shape: String =
        text.chars().take(LENGTH).map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let numbers: Vec<u16> =
        text.split(|c: char| !c.is_ascii_digit()).map_while(|n| n.parse().ok()).collect();
    let (true, [year, month, day, hour, minute, second, ..]) =
        (shape.replacen(['T', ' '], "_", 1) == "0000-00-00_00:00:00", &numbers[..])
    else {
        return "YYYY-MM-DD_hh:mm:ss is needed".to_owned();
    };
    let days = u8::try_from(*month).ok().and_then(|month| Month::try_from(month).ok());
    let days = days.map(|month| u16::from(month.length(i32::from(*year))));
    let reason = match days {
        None => format!("there is no month {month}"),
        Some(days) if *day == 0 || *day > days => {
            format!("{year:04}-{month:02} has {days} days, and there is no day {day}")
        }
        _ if *hour > 23 => format!("there is no hour {hour}, a day has the hours 0 to 23"),
        _ if *minute > 59 || *second > 59 => {
            "there are 60 minutes and 60 seconds, from 0 to 59".to_owned()
        }
        // The date is good, and what follows it is not.
        _ => return "YYYY-MM-DD_hh:mm:ss is needed".to_owned(),
    };
    format!("{reason}; a date that exists is needed")
}

/// Value of a text such as `.25`.
fn fraction(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('.')?;
    let are_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    if are_digits && !digits.is_empty() { text.parse().ok() } else { None }
}

/// The time in WRF's format, with a fraction unless it is at a whole second.
pub fn format(time: PrimitiveDateTime) -> String {
    let whole = time.format(FORMAT).unwrap_or_else(|_| time.to_string());
    match time.microsecond() {
        0 => whole,
        part => format!("{whole}.{part:06}").trim_end_matches('0').to_owned(),
    }
}

/// The time in WRF's format, rounded to the second, the resolution of `Times`.
pub fn stamp(time: PrimitiveDateTime) -> String {
    const HALF: Duration = Duration::milliseconds(500);
    let time = time.saturating_add(HALF);
    time.format(FORMAT).unwrap_or_else(|_| time.to_string())
}

/// A duration rounded to the microsecond, far above the rounding of sums of steps and of minutes in double precision;
/// `None` beyond the range of dates.
fn exactly(seconds: f64) -> Option<Duration> {
    const PARTS: f64 = 1e6;
    const MOST: f64 = 1e12;
    (seconds.abs() < MOST).then(|| Duration::microseconds((seconds * PARTS).round() as i64))
}

/// A time unit with a reference date, such as `minutes since 2020-06-01 00:00:00`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    /// The unit, s.
    pub unit: f64,
    /// The reference date.
    pub origin: PrimitiveDateTime,
}

impl Count {
    /// Parses units of the CF conventions.
    pub fn parse(units: &str) -> Option<Self> {
        let lower = units.trim().to_lowercase();
        let (name, origin) = lower.split_once(" since ")?;
        Some(Self { unit: unit(name)?, origin: origin_of(origin)? })
    }

    /// The date of a count.
    pub fn when(self, count: f64) -> Option<PrimitiveDateTime> {
        self.origin.checked_add(exactly(count * self.unit)?)
    }
}

/// The length of a unit of time, s.
pub fn unit(name: &str) -> Option<f64> {
    Some(match name.trim() {
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    })
}

/// The date after `since`, in lower case: numbers may have fewer digits, and time and zone may be missing.
fn origin_of(text: &str) -> Option<PrimitiveDateTime> {
    let text = text.trim();
    let (date, rest) = text.split_once(['t', ' ', '_']).unwrap_or((text, ""));
    let mut parts = date.splitn(3, '-');
    let mut number = || parts.next()?.parse::<u16>().ok();
    let (year, month, day) = (number()?, number()?, number()?);
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    let date = Date::from_calendar_date(year.into(), month, u8::try_from(day).ok()?).ok()?;
    let rest = rest.trim();
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == ':' || c == '.'));
    let (clock, zone) = rest.split_at(end.unwrap_or(rest.len()));
    let mut seconds = 0.0;
    for (place, part) in clock.split(':').filter(|part| !part.is_empty()).enumerate() {
        let unit = *[3600.0, 60.0, 1.0].get(place)?;
        seconds += unit * part.parse::<f64>().ok()?;
    }
    let midnight = PrimitiveDateTime::new(date, Time::MIDNIGHT);
    midnight.checked_add(exactly(seconds - shift(zone.trim())?)?)
}

/// Offset of a time zone, s.
fn shift(zone: &str) -> Option<f64> {
    if matches!(zone, "" | "z" | "utc" | "gmt") {
        return Some(0.0);
    }
    let (sign, clock) = match zone.split_at_checked(1)? {
        ("+", clock) => (1.0, clock),
        ("-", clock) => (-1.0, clock),
        _ => return None,
    };
    let (hours, minutes) = match clock.split_once(':') {
        Some(pair) => pair,
        None if clock.len() == 4 => clock.split_at(2),
        None => (clock, "0"),
    };
    Some(sign * (3600.0 * hours.parse::<f64>().ok()? + 60.0 * minutes.parse::<f64>().ok()?))
}

/// Returns `true` if the time `seconds` later has a year of four digits, as WRF's format needs.
pub fn reaches(time: PrimitiveDateTime, seconds: f64) -> bool {
    // The conversion to i64 saturates, far beyond any date.
    time.checked_add(Duration::seconds(seconds.ceil() as i64)).is_some()
}

/// The time `seconds` later, rounded to the microsecond.
pub fn after(time: PrimitiveDateTime, seconds: f64) -> PrimitiveDateTime {
    time.saturating_add(exactly(seconds).unwrap_or(Duration::MAX))
}

/// Minutes between two times.
pub fn minutes(from: PrimitiveDateTime, to: PrimitiveDateTime) -> f64 {
    (to - from).as_seconds_f64() / 60.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_pass_through_text() {
        for text in ["0001-01-01_10:00:00", "2000-02-29_23:59:59", "1993-03-13_00:00:00"] {
            assert_eq!(format(parse(text).expect("a time")), text);
        }
        assert!(parse("2001-02-29_00:00:00").is_none());
        assert!(parse("yesterday").is_none());
    }

    #[test]
    fn dates_that_do_not_exist_say_why() {
        for (text, words) in [
            ("2021-02-29_00:00:00", "2021-02 has 28 days, and there is no day 29"),
            ("2020-04-31T00:00:00Z", "2020-04 has 30 days"),
            ("2020-01-00_00:00:00", "no day 0"),
            ("2020-13-01 00:00:00", "no month 13"),
            ("2020-00-01_00:00:00", "no month 0"),
            ("2020-01-01_24:00:00", "no hour 24"),
            ("2020-01-01_23:59:60", "60 seconds"),
        ] {
            assert_eq!(parse(text), None, "{text}");
            let fault = fault(text);
            assert!(
                fault.contains(words) && fault.ends_with("a date that exists is needed"),
                "{fault}"
            );
        }
        for text in ["yesterday", "2020-06-01_12:00:00.x", "2020-6-1_00:00:00", "ä", ""] {
            assert_eq!(parse(text), None, "{text}");
            assert_eq!(fault(text), "YYYY-MM-DD_hh:mm:ss is needed", "{text}");
        }
    }

    #[test]
    fn other_forms_are_read() {
        let noon = parse("2020-06-01_12:00:00").expect("a time");
        for text in ["2020-06-01T12:00:00", "2020-06-01 12:00:00Z", "2020-06-01_12:00:00\0 "] {
            assert_eq!(parse(text), Some(noon), "{text}");
        }
        let later = parse("2020-06-01T12:00:00.25").expect("a time");
        assert_eq!(format(later), "2020-06-01_12:00:00.25");
        assert_eq!(stamp(later), "2020-06-01_12:00:00");
        assert_eq!(stamp(after(noon, 0.5)), "2020-06-01_12:00:01");
        for text in ["2020-06-01_12:00:00.", "2020-06-01_12:00:00.x", "2020-06-01", "ä", ""] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn times_are_counted_from_a_date() {
        for (units, count, wanted) in [
            ("minutes since 2020-06-01 00:00:00", 180.0, "2020-06-01_03:00:00"),
            ("hours since 2020-06-01", 3.0, "2020-06-01_03:00:00"),
            ("Seconds since 2020-6-1 0:0:0", 0.5, "2020-06-01_00:00:00.5"),
            ("days since 2020-02-28T12:00:00Z", 1.5, "2020-03-01_00:00:00"),
            ("hours since 2020-06-01 02:00:00 +02:00", 1.0, "2020-06-01_01:00:00"),
            ("hours since 2020-06-01 00:00:00.0 -0130", 0.0, "2020-06-01_01:30:00"),
            ("h since 2020-06-01 00:00:00 UTC", -1.0, "2020-05-31_23:00:00"),
            ("minutes since 2020-06-01_00:00:00", 1.0 / 3.0, "2020-06-01_00:00:20"),
        ] {
            let found = Count::parse(units).and_then(|since| since.when(count));
            assert_eq!(found.map(format).as_deref(), Some(wanted), "{units}");
        }
        for units in
            ["minutes", "months since 2020-06-01", "days since yesterday", "days since 2020-13-01"]
        {
            assert_eq!(Count::parse(units), None, "{units}");
        }
    }

    #[test]
    fn seconds_roll_over_days() {
        let evening = parse("1999-12-31_23:59:30").expect("a time");
        assert_eq!(format(after(evening, 45.0)), "2000-01-01_00:00:15");
        assert!((minutes(evening, after(evening, 90.0)) - 1.5).abs() < 1e-12);
    }
}

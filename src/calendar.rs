//! Dates as WRF writes them, `YYYY-MM-DD_hh:mm:ss`, in the proleptic Gregorian calendar.

use time::format_description::BorrowedFormatItem;
use time::macros::{datetime, format_description};
use time::{Duration, PrimitiveDateTime};

const FORMAT: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]_[hour]:[minute]:[second]");

/// The first day of the calendar, for files that do not tell their time.
pub const START: PrimitiveDateTime = datetime!(0001-01-01 00:00:00);

/// The time that a text of WRF's form says, if it is one.
pub fn parse(text: &str) -> Option<PrimitiveDateTime> {
    PrimitiveDateTime::parse(text.trim_end_matches(['\0', ' ']), FORMAT).ok()
}

/// The time in WRF's form.
pub fn format(time: PrimitiveDateTime) -> String {
    time.format(FORMAT).unwrap_or_else(|_| time.to_string())
}

/// Whether the time `seconds` later can be written in WRF's form, with a year of four digits.
pub fn reaches(time: PrimitiveDateTime, seconds: f64) -> bool {
    // As an i64, saturated, more seconds than there are in all years.
    time.checked_add(Duration::seconds(seconds.ceil() as i64)).is_some()
}

/// The time `seconds` later, to the nearest second.
pub fn after(time: PrimitiveDateTime, seconds: f64) -> PrimitiveDateTime {
    time.saturating_add(Duration::seconds(seconds.round() as i64))
}

/// Minutes from one time to another.
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
    fn seconds_roll_over_days() {
        let evening = parse("1999-12-31_23:59:30").expect("a time");
        assert_eq!(format(after(evening, 45.0)), "2000-01-01_00:00:15");
        assert!((minutes(evening, after(evening, 90.0)) - 1.5).abs() < 1e-12);
    }
}

//! Points in time as people type them.

use chrono::{DateTime, Local, NaiveDate, NaiveDateTime, NaiveTime, Utc};

/// Milliseconds since 1970 of a day, a time (both local unless they say otherwise), or of so long ago.
pub(super) fn since(text: &str) -> Result<i64, String> {
    point(text, Utc::now().timestamp_millis())
}

fn point(text: &str, now: i64) -> Result<i64, String> {
    let local = |time: NaiveDateTime| time.and_local_timezone(Local).earliest().map(|time| time.timestamp_millis());
    let ago = || {
        let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
        let seconds: i64 = match unit {
            "s" => 1,
            "m" | "min" => 60,
            "h" => 3600,
            "d" => 86_400,
            "w" => 7 * 86_400,
            _ => return None,
        };
        now.checked_sub(number.parse::<i64>().ok()?.checked_mul(seconds * 1000)?)
    };
    let day = || {
        NaiveDate::parse_from_str(text, "%Y-%m-%d")
            .ok()
            .and_then(|day| local(day.and_time(NaiveTime::MIN)))
    };
    let time = || {
        let formats = ["%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"];
        formats
            .iter()
            .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())
            .and_then(local)
    };
    let whole = || DateTime::parse_from_rfc3339(text).ok().map(|time| time.timestamp_millis());
    ago()
        .or_else(day)
        .or_else(time)
        .or_else(whole)
        .ok_or_else(|| "a day (2026-11-22), a time (2026-11-22T14:30) or so long ago (30m, 2h, 3d) is wanted".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        let now = 10_000_000_000;
        assert_eq!(point("2h", now), Ok(now - 7_200_000));
        assert_eq!(point("1w", now), Ok(now - 604_800_000));
        assert_eq!(point("1970-01-02T00:00:00Z", now), Ok(86_400_000));
        let day = point("2026-11-22", now).unwrap();
        assert_eq!(point("2026-11-22T00:30", now), Ok(day + 1_800_000));
        for wrong in ["", "h", "2", "2y", "2026-13-01", "99999999999999999999d", "9223372036854775807w"] {
            assert!(point(wrong, now).is_err(), "{wrong}");
        }
    }
}

use crate::json::{Raw, Str};

/// Where an event belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Origin<'a> {
    /// The session's id: `session_id` (Claude, Qwen Code, Cursor, RFC side lines), `chatcmpl-<id>` (RFC), `Session ID: <id>` (Tricode).
    pub session: Option<Str<'a>>,
    /// The id of the line itself: `uuid` (Claude, Qwen Code).
    pub id: Option<Str<'a>>,
    /// The tool call whose subagent speaks: `parent_tool_use_id` when it is not null. `None` is the main thread.
    pub parent: Option<Str<'a>>,
    /// The subagent that speaks, where the line names it (Claude).
    pub agent: Option<&'a Agent<'a>>,
    /// The turn: the RFC's `prompt_id`.
    pub turn: Option<Str<'a>>,
    /// When it was said.
    pub time: Option<Time<'a>>,
}

/// A subagent as Claude's `assistant` and `user` lines name it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Agent<'a> {
    /// `agent_id`.
    pub id: Option<Str<'a>>,
    /// `subagent_type`: the name of its definition.
    pub name: Option<Str<'a>>,
    /// `task_description`: what it was asked to do, in a few words.
    pub task: Option<Str<'a>>,
}

/// A point in time as the line spells it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Time<'a> {
    /// ISO 8601 in UTC: Claude's `timestamp`.
    Iso(Str<'a>),
    /// Milliseconds since 1970: Cursor's `timestamp_ms`, the RFC's annotation `timestamp`.
    Millis(Raw<'a>),
    /// Seconds since 1970: the RFC's `created`. 0 stands for "not known".
    Seconds(Raw<'a>),
}

impl<'a> Time<'a> {
    /// Milliseconds since 1970; `None` when the text is no time, or is the RFC's 0.
    pub fn millis(self) -> Option<i64> {
        match self {
            Self::Iso(text) => iso_millis(text.as_escaped()),
            Self::Millis(n) => n.i64(),
            Self::Seconds(n) => n.i64().filter(|&s| s != 0).and_then(|s| s.checked_mul(1000)),
        }
    }

    /// The part of the line that says it.
    pub const fn source(self) -> &'a str {
        match self {
            Self::Iso(text) => text.as_escaped(),
            Self::Millis(n) | Self::Seconds(n) => n.as_str(),
        }
    }
}

/// `2026-11-21T06:00:19.149Z` (fraction of any length or none, `Z` or an offset) as milliseconds since 1970.
fn iso_millis(text: &str) -> Option<i64> {
    let head = text.as_bytes().first_chunk::<19>()?;
    if !matches!(head, [_, _, _, _, b'-', _, _, b'-', _, _, b'T' | b' ', _, _, b':', _, _, b':', _, _]) {
        return None;
    }
    let pair = |at: usize| two_digits([head[at], head[at + 1]]);
    let (year, month, day) = (pair(0)? * 100 + pair(2)?, pair(5)?, pair(8)?);
    let (hour, minute, second) = (pair(11)?, pair(14)?, pair(17)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let rest = text.get(19..)?;
    let (millis, zone) = match rest.as_bytes() {
        // As nearly all are written.
        &[b'.', a, b, c @ b'0'..=b'9', b'Z'] if a.is_ascii_digit() => (two_digits([a, b])? * 10 + i64::from(c - b'0'), ""),
        _ => fraction(rest),
    };
    let offset = match zone.as_bytes() {
        b"" | b"Z" => 0,
        [sign @ (b'+' | b'-'), ..] => {
            let hours: i64 = zone.get(1..3)?.parse().ok()?;
            let minutes: i64 = zone
                .get(3..)
                .map(|m| m.trim_start_matches(':'))
                .filter(|m| !m.is_empty())
                .map_or(Some(0), |m| m.parse().ok())?;
            (hours * 60 + minutes) * if *sign == b'-' { -1 } else { 1 }
        }
        _ => return None,
    };
    // Days from 1970-01-01 in the proleptic Gregorian calendar; years begin in March so that the leap day comes last.
    let y = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let days = y * 365 + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + day_of_year - 719_468;
    Some((((days * 24 + hour) * 60 + minute - offset) * 60 + second) * 1000 + millis)
}

#[inline]
fn two_digits([tens, ones]: [u8; 2]) -> Option<i64> {
    (tens.is_ascii_digit() && ones.is_ascii_digit()).then(|| i64::from(tens - b'0') * 10 + i64::from(ones - b'0'))
}

/// The milliseconds that `rest` begins with, and what stands behind them.
fn fraction(rest: &str) -> (i64, &str) {
    let fraction = rest
        .strip_prefix('.')
        .map_or("", |f| &f[..f.bytes().take_while(u8::is_ascii_digit).count()]);
    let digits = fraction.bytes().chain(*b"000").take(3);
    let millis = digits.fold(0, |n, digit| n * 10 + i64::from(digit - b'0'));
    (millis, &rest[if fraction.is_empty() { 0 } else { fraction.len() + 1 }..])
}

/// Milliseconds since 1970 as `2026-11-21T06:00:19.149Z`.
pub(crate) fn iso(millis: i64) -> [u8; 24] {
    let (days, rest) = (millis.div_euclid(86_400_000), millis.rem_euclid(86_400_000));
    // The proleptic Gregorian calendar in eras of 400 years; years begin in March so that the leap day comes last.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let mut text = *b"1970-01-01T00:00:00.000Z";
    if !(0..=9999).contains(&year) {
        return text;
    }
    let mut put = |digits: std::ops::Range<usize>, mut n: i64| {
        for place in digits.rev() {
            text[place] = b'0' + (n % 10) as u8;
            n /= 10;
        }
    };
    put(0..4, year);
    put(5..7, month);
    put(8..10, day);
    put(11..13, rest / 3_600_000);
    put(14..16, rest / 60_000 % 60);
    put(17..19, rest / 1000 % 60);
    put(20..23, rest % 1000);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        let iso = |s: &'static str| Time::Iso(Str::trusted(s)).millis();
        assert_eq!(iso("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(iso("2026-11-21T06:00:19.149Z"), Some(1_795_240_819_149));
        assert_eq!(iso("2000-02-29T23:59:59.5+01:30"), Some(951_863_399_500));
        assert_eq!(iso("2026-13-01T00:00:00Z"), None);
        assert_eq!(iso("2000-02-29 23:59:59.5x9Z"), None);
        assert_eq!(iso("1970-01-01T00:00:00.1234567Z"), Some(123));
        assert_eq!(iso("1970-01-01T00:00:00.é"), None);
        assert_eq!(iso("yesterday"), None);
        assert_eq!(Time::Seconds(Raw::trusted("0")).millis(), None);
        assert_eq!(Time::Seconds(Raw::trusted("1739430000")).millis(), Some(1_739_430_000_000));
    }

    #[test]
    fn times_are_spelled_as_they_read() {
        for millis in [0, 951_782_399_999, 951_868_800_000, 1_795_240_819_149, 1_709_164_800_000] {
            let text = String::from_utf8(iso(millis).to_vec()).unwrap();
            assert_eq!(Time::Iso(Str::trusted(&text)).millis(), Some(millis), "{text}");
        }
    }
}

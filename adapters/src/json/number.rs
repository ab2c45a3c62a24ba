//! Numbers as text.

/// Index behind the JSON number that begins at `from`; `None` if there is none.
#[inline]
pub(crate) fn end(bytes: &[u8], from: usize) -> Option<usize> {
    let digits = |at: usize| Some(behind_digits(bytes, at)).filter(|&end| end > at);
    let mut at = from + usize::from(bytes.get(from) == Some(&b'-'));
    at = if bytes.get(at) == Some(&b'0') { at + 1 } else { digits(at)? };
    if bytes.get(at) == Some(&b'.') {
        at = digits(at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        at = digits(at)?;
    }
    // A number that runs into a letter or another digit (`01`, `1x`) is none.
    (!matches!(bytes.get(at), Some(b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'.' | b'+' | b'-' | b'_'))).then_some(at)
}

/// Index behind the digits that begin at `at`, if any do. Times are long: eight bytes are looked at at once.
#[inline(always)]
fn behind_digits(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        // Digits become 0 to 9, which is all to which this can be added without setting the highest bit.
        let word = u64::from_le_bytes(*eight) ^ (ONES * b'0' as u64);
        let others = (word.wrapping_add(ONES * 0x76) | word) & (ONES << 7);
        let count = others.trailing_zeros() as usize / 8;
        at += count;
        if count < 8 {
            return at;
        }
    }
    at + bytes
        .get(at..)
        .map_or(0, |rest| rest.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

/// A whole number in decimal digits.
#[derive(Debug)]
pub(crate) struct Digits {
    digits: [u8; 40],
    from: usize,
}

impl Digits {
    /// Writes it.
    pub(crate) fn of(n: i128) -> Self {
        let mut digits = [0u8; 40];
        let mut from = digits.len();
        let mut rest = n.unsigned_abs();
        // Division of 128 bits is slow, and hardly a number needs it.
        while rest > u128::from(u64::MAX) {
            from -= 1;
            digits[from] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        let mut rest = rest as u64;
        loop {
            from -= 1;
            digits[from] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if n < 0 {
            from -= 1;
            digits[from] = b'-';
        }
        Self { digits, from }
    }

    /// The digits, behind a sign if the number is negative.
    #[inline]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.digits[self.from..]
    }

    /// The same as text.
    pub(crate) fn as_str(&self) -> &str {
        // Digits and a sign are ASCII.
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

/// A JSON number as Python's `json` module writes it after reading it: integers keep their digits, everything with a
/// point or an exponent becomes the shortest `repr` of the double (`1.10` → `1.1`, `1e5` → `100000.0`, `1e400` → `Infinity`).
/// The last is no JSON; the caller decides what to do with it.
pub fn python_float(number: &str) -> String {
    if !number.contains(['.', 'e', 'E']) {
        return if number == "-0" { "0".to_owned() } else { number.to_owned() };
    }
    let value: f64 = number.parse().unwrap_or(f64::NAN);
    if !value.is_finite() {
        return match value {
            v if v.is_nan() => "NaN",
            v if v > 0.0 => "Infinity",
            _ => "-Infinity",
        }
        .to_owned();
    }
    if value == 0.0 {
        return if value.is_sign_negative() { "-0.0" } else { "0.0" }.to_owned();
    }
    // `{:e}` gives the shortest digits that read back as the same double: `d.ddde±x`.
    let shortest = format!("{value:e}");
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    // Python writes plain decimals for exponents from -4 to 15.
    if !(-4..16).contains(&exponent) {
        let point = if digits.len() > 1 {
            format!("{}.{}", &digits[..1], &digits[1..])
        } else {
            digits
        };
        let (way, size) = if exponent < 0 { ('-', -exponent) } else { ('+', exponent) };
        return format!("{sign}{point}e{way}{size:02}");
    }
    if exponent < 0 {
        return format!("{sign}0.{}{digits}", "0".repeat((-exponent - 1) as usize));
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        return format!("{sign}{digits}{}.0", "0".repeat(whole - digits.len()));
    }
    format!("{sign}{}.{}", &digits[..whole], &digits[whole..])
}

#[cfg(test)]
mod tests {
    use super::python_float;

    #[test]
    fn floats_are_spelled_as_python_spells_them() {
        for (json, python) in [
            ("1", "1"),
            ("-0", "0"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("1.10", "1.1"),
            ("1e5", "100000.0"),
            ("1e15", "1000000000000000.0"),
            ("1e16", "1e+16"),
            ("1.5e16", "1.5e+16"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("1.25E-7", "1.25e-07"),
            ("-2.50", "-2.5"),
            ("0.0", "0.0"),
            ("-0.0", "-0.0"),
            ("1e400", "Infinity"),
            ("-1e400", "-Infinity"),
            ("1e100", "1e+100"),
            ("123456.789", "123456.789"),
            ("2.0", "2.0"),
        ] {
            assert_eq!(python_float(json), python, "{json}");
        }
    }
}

//! The text that standard input says: UTF-8, or UTF-16 that says so with its mark. Anything else is no prompt.

/// The text, without the mark of its encoding.
pub(super) fn decode(said: &[u8]) -> Result<String, String> {
    let wide = |rest: &[u8], unit: fn([u8; 2]) -> u16, name: &str| {
        let units = rest.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        let text: Result<String, _> = char::decode_utf16(units).collect();
        let whole = text.ok().filter(|_| rest.len().is_multiple_of(2));
        whole.ok_or_else(|| unread(&format!("input looked like {name} but could not be decoded")))
    };
    match said {
        [0xff, 0xfe, 0, 0, ..] => Err(unread("input appears to be UTF-32LE")),
        [0, 0, 0xfe, 0xff, ..] => Err(unread("input appears to be UTF-32BE")),
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes, "UTF-16LE"),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes, "UTF-16BE"),
        _ => {
            let text = std::str::from_utf8(said.strip_prefix(b"\xef\xbb\xbf").unwrap_or(said));
            let text = text.map_err(|error| {
                let place = error.valid_up_to();
                unread(&format!("input is not valid UTF-8 (invalid byte at offset {place})"))
            })?;
            Ok(text.to_owned())
        }
    }
}

fn unread(why: &str) -> String {
    format!("Failed to read prompt from stdin: {why}. Convert it to UTF-8 and retry (e.g., `iconv -f <ENC> -t UTF-8 prompt.txt`).")
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn text_is_utf_8_or_says_that_it_is_utf_16() {
        let wide = |unit: fn(u16) -> [u8; 2]| "\u{feff}né \u{1f98a}\n".encode_utf16().flat_map(unit).collect::<Vec<u8>>();
        for said in [
            "né \u{1f98a}\n".as_bytes(),
            "\u{feff}né \u{1f98a}\n".as_bytes(),
            &wide(u16::to_le_bytes),
            &wide(u16::to_be_bytes),
        ] {
            assert_eq!(decode(said).as_deref(), Ok("né \u{1f98a}\n"), "{said:?}");
        }
        assert_eq!(decode(b"").as_deref(), Ok(""));
    }

    #[test]
    fn anything_else_is_no_text() {
        for (said, why) in [
            (&b"go \xff"[..], "invalid byte at offset 3"),
            (b"\xff\xfea", "looked like UTF-16LE"),
            (b"\xfe\xff\xd8\x00", "looked like UTF-16BE"),
            (b"\xff\xfe\0\0a\0\0\0", "UTF-32LE"),
            (b"\0\0\xfe\xff", "UTF-32BE"),
        ] {
            let error = decode(said).unwrap_err();
            assert!(error.contains(why), "{said:?}: {error}");
        }
    }
}

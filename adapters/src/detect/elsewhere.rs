//! Formats that other programs write and that are not read here, told by name: who has such a log should not have to guess.

use super::opened::Opened;

/// What a line is, if it is of no dialect that can be read but of a format that is known.
pub(super) fn name_of(line: &Opened<'_>) -> Option<&'static str> {
    Some(match line.kind {
        "RUN_STARTED" if line.has_all(&["threadId", "runId"]) => "a stream of AG-UI events",
        _ if line.word("jsonrpc") == "2.0" => "JSON-RPC",
        _ => return None,
    })
}

/// What PowerShell's `>` writes, among others.
const UTF16: &str = "text in UTF-16 (convert it first: iconv -f UTF-16 -t UTF-8)";

/// Byte streams that are no text in UTF-8.
pub(super) fn bytes(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x1f, 0x8b, ..] => Some("gzip data"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("zstd data"),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some("bzip2 data (unpack it first: bunzip2)"),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some("xz data (unpack it first: unxz)"),
        [b'P', b'K', 3, 4, ..] => Some("a zip archive (unpack it first)"),
        _ if bytes.get(257..262) == Some(b"ustar") => Some("a tar archive (unpack it first)"),
        [b'S', b'Q', b'L', b'i', b't', b'e', b' ', ..] => Some("an SQLite database"),
        [b'%', b'P', b'D', b'F', ..] => Some("a PDF"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some(UTF16),
        [b'{' | b'[', 0, ..] | [0, b'{' | b'[', ..] => Some(UTF16),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_write_is_told_by_name() {
        for (line, name) in [
            (r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#, "AG-UI"),
            (r#"{"jsonrpc":"2.0","id":0,"result":{}}"#, "JSON-RPC"),
        ] {
            let found = name_of(&Opened::new(line)).unwrap_or_else(|| panic!("{line}"));
            assert!(found.contains(name), "{line}: {found}");
        }
        assert_eq!(name_of(&Opened::new(r#"{"type":"error","message":"x"}"#)), None);
    }
}

use super::core::{MARK, WINDOW};
use super::*;

/// Output, damage and the number of lines, when the log comes in pieces of that size, which may be told to be text.
fn converted(log: &[u8], piece: usize, told: bool) -> (Vec<u8>, Vec<Damage>, u64) {
    let mut options = Options::new("claude".parse().unwrap(), "qwen".parse().unwrap());
    options.max_line = 3 * WINDOW;
    let mut converter = Converter::new(options);
    let mut out = Vec::new();
    for piece in log.chunks(piece) {
        match std::str::from_utf8(piece) {
            Ok(text) if told => converter.feed_text(text, &mut out),
            _ => converter.feed(piece, &mut out),
        }
    }
    converter.finish(&mut out);
    let damage = converter.take_damage();
    (out, damage, converter.lines())
}

#[test]
fn lines_in_place_and_lines_that_were_kept_are_read_alike() {
    let text = |body: &str| {
        format!(
            "{{\"type\":\"assistant\",\"session_id\":\"s\",\"message\":{{\"id\":\"m\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"{body}\"}}]}}}}"
        )
    };
    let mut log = MARK.as_bytes().to_vec();
    for body in ["first", &"é".repeat(WINDOW), "second", &"x".repeat(4 * WINDOW), "third"] {
        log.extend_from_slice(text(body).as_bytes());
        log.extend_from_slice(b"\r\n\n");
    }
    log.extend_from_slice(b"{\"type\":\"assistant\",\"x\":\"\xff\"}\n");
    log.extend_from_slice(text("last").as_bytes());
    let whole = converted(&log, log.len(), false);
    assert_eq!(whole.2, 12);
    let reasons: Vec<_> = whole.1.iter().map(|damage| (damage.line, damage.byte)).collect();
    assert_eq!(reasons, [(7, 1), (11, 26)]);
    for piece in [1, 7, 1000, WINDOW, WINDOW + 1, 3 * WINDOW] {
        for told in [false, true] {
            assert!(converted(&log, piece, told) == whole, "pieces of {piece} bytes, told to be text: {told}");
        }
    }
}

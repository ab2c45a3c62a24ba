//! The sentence in which Claude Code and Qwen Code say that a call of the model failed: `API Error: 400 …`, Qwen Code's in
//! brackets. Recordings: `claude/sdk_error_result_api`, `qwen-code/api_400`, `api_401`, `api_500`, `empty_reply`.

/// Whether a text, as it stands between the quotes, is such a sentence of Qwen Code's: the whole text, brackets included.
pub(crate) fn is_sentence(text: &str) -> bool {
    text.starts_with("[API Error: ") && text.ends_with(']')
}

/// The HTTP status that the sentence names, if it names one.
pub(crate) fn status(text: &str) -> Option<u16> {
    leading(text.strip_prefix('[').unwrap_or(text).strip_prefix("API Error: ")?)
}

/// The status that a text begins with.
fn leading(rest: &str) -> Option<u16> {
    let digits = rest.get(..3).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    let ends = rest.as_bytes().get(3).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    digits.parse().ok().filter(|status| ends && (400..600).contains(status))
}

/// The HTTP status that the reason of a failure names, in the words of any program: `API Error: 400 …`, `unexpected status 400`,
/// `last status: 429`, or Google's object with its `"code":400`.
pub(crate) fn named_status(text: &str) -> Option<u16> {
    let behind = |words: &str| memchr::memmem::find(text.as_bytes(), words.as_bytes()).map(|at| &text[at + words.len()..]);
    let rest = behind("API Error: ")
        .filter(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
        .or_else(|| behind("unexpected status "))
        .or_else(|| behind("retry limit, last status: "))
        .or_else(|| behind("\"code\":"))
        .unwrap_or(text);
    leading(rest.trim_start())
}

/// The HTTP status, if the number of an error is one: those of a protocol are none.
pub(crate) fn numbered_status(word: &str) -> Option<u16> {
    word.parse().ok().filter(|status| (400..600).contains(status))
}

/// Claude's word for what went wrong (`SDKAssistantMessageError`).
pub(crate) fn word(text: &str) -> &'static str {
    match status(text) {
        Some(401 | 403) => "authentication_failed",
        Some(429) => "rate_limit",
        Some(500..) => "server_error",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_found_in_anybody_s_words() {
        for (text, wanted) in [
            ("[API Error: 400 Bad thing in request]", Some(400)),
            ("unexpected status 401: no key", Some(401)),
            ("exceeded retry limit, last status: 429 Too Many Requests", Some(429)),
            ("[API Error: {\"error\":{\"code\":429,\"message\":\"slow\"}}]", Some(429)),
            ("503 Service Unavailable", Some(503)),
            ("[API Error: terminated]", None),
            ("it has 400 legs", None),
            ("4000", None),
        ] {
            assert_eq!(named_status(text), wanted, "{text}");
        }
    }

    #[test]
    fn the_number_of_an_error_is_a_status_or_the_protocol_s() {
        assert_eq!(
            ["429", "-32603", "42900", "api_error"].map(numbered_status),
            [Some(429), None, None, None]
        );
    }

    #[test]
    fn a_status_is_three_digits_behind_the_words() {
        for (text, wanted, kind) in [
            ("[API Error: 400 Bad thing in request]", Some(400), "unknown"),
            ("[API Error: 401 Incorrect API key provided]", Some(401), "authentication_failed"),
            ("API Error: 500 Internal server error", Some(500), "server_error"),
            ("[API Error: 429]", Some(429), "rate_limit"),
            ("[API Error: Model stream ended with empty response text.]", None, "unknown"),
            ("[API Error: 4000 tokens too many]", None, "unknown"),
            ("[API Error: 200 is fine]", None, "unknown"),
            ("[API Error: 4é]", None, "unknown"),
            ("It said [API Error: 400]", None, "unknown"),
        ] {
            assert_eq!((status(text), word(text)), (wanted, kind), "{text}");
        }
        assert!(is_sentence("[API Error: 400 x]"));
        assert!(!is_sentence("[API Error: 400 x] is what it said"));
    }
}

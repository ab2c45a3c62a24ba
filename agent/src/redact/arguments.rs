//! Command lines as they may be kept and shown.

use serde_json::{Map, Value};

use super::names::is_secret_name;
use super::{REDACTED, Secrets, looks};

/// Arguments without secrets, and what was taken out. Taken out is what belongs to a flag, a variable or a member whose name says so, all variables and
/// headers of servers, and what looks like a secret.
pub fn arguments(args: &[String]) -> (Vec<String>, Vec<String>) {
    let mut taken = Vec::new();
    let shown = list(args, &mut taken);
    // What is said by its place alone (`env: {"MODE": "fast"}`) may be any word.
    taken.retain(|(name, value)| is_secret_name(name) || looks::is_random(value.as_bytes()));
    (shown, taken.into_iter().map(|(_, value)| value).collect())
}

/// A name and its value.
type Taken = (String, String);

fn list(args: &[String], taken: &mut Vec<Taken>) -> Vec<String> {
    // The flag whose value is next.
    let mut flag: Option<&str> = None;
    let mut shown = Vec::with_capacity(args.len());
    for arg in args {
        if let Some(name) = flag.take()
            && !is_flag(arg)
        {
            taken.push((name.to_owned(), arg.clone()));
            shown.push(redacted());
            continue;
        }
        if is_flag(arg) && is_secret_name(arg) {
            flag = Some(arg);
        }
        shown.push(one(arg, taken));
    }
    shown
}

/// An argument by itself: `NAME=value`, `--flag=value`, JSON, a text.
fn one(arg: &str, taken: &mut Vec<Taken>) -> String {
    if let Some((name, value)) = arg.split_once('=').filter(|(name, _)| is_name(name)) {
        if is_secret_name(name) && !value.is_empty() {
            taken.push((name.to_owned(), value.to_owned()));
            return format!("{name}={}", redacted());
        }
        return format!("{name}={}", one(value, taken));
    }
    if arg.trim_start().starts_with(['{', '['])
        && let Ok(mut value) = serde_json::from_str::<Value>(arg)
    {
        let before = taken.len();
        walk(&mut value, taken);
        // As it was written, if nothing was taken out.
        return if taken.len() == before { arg.to_owned() } else { value.to_string() };
    }
    text(arg, taken)
}

fn text(text: &str, taken: &mut Vec<Taken>) -> String {
    let mut found = Vec::new();
    looks::places(text.as_bytes(), &mut found);
    taken.extend(
        found
            .iter()
            .filter_map(|(start, end)| Some(("secret".to_owned(), text.get(*start..*end)?.to_owned()))),
    );
    if found.is_empty() {
        return text.to_owned();
    }
    String::from_utf8_lossy(&Secrets::default().redact(text.as_bytes()).0).into_owned()
}

fn walk(value: &mut Value, taken: &mut Vec<Taken>) {
    match value {
        Value::Object(members) => members.iter_mut().for_each(|(name, value)| member(name, value, taken)),
        Value::Array(values) => values.iter_mut().for_each(|value| walk(value, taken)),
        Value::String(content) => *content = one(content, taken),
        _ => {}
    }
}

fn member(name: &str, value: &mut Value, taken: &mut Vec<Taken>) {
    match value {
        Value::Object(members) if name == "env" => all(members, |name| name, taken),
        Value::Object(members) if matches!(name, "headers" | "requestHeaders" | "http_headers") => all(members, header, taken),
        Value::Array(values) if name == "args" && values.iter().all(Value::is_string) => {
            let args: Vec<String> = values.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            *values = list(&args, taken).into_iter().map(Value::String).collect();
        }
        Value::String(content) if is_secret_name(name) && !content.is_empty() => {
            taken.push((name.to_owned(), content.clone()));
            *content = redacted();
        }
        Value::Number(number) if is_secret_name(name) => {
            taken.push((name.to_owned(), number.to_string()));
            *value = Value::String(redacted());
        }
        other => walk(other, taken),
    }
}

/// The name by which a header's value is judged: what is not known to be harmless is a secret.
fn header(name: &str) -> &str {
    let harmless = [
        "accept",
        "accept-encoding",
        "accept-language",
        "content-type",
        "host",
        "origin",
        "referer",
        "user-agent",
    ];
    if harmless.iter().any(|known| name.eq_ignore_ascii_case(known)) {
        name
    } else {
        "header"
    }
}

/// Variables and headers: their names alone are shown.
fn all(members: &mut Map<String, Value>, judged: fn(&str) -> &str, taken: &mut Vec<Taken>) {
    for (name, value) in members {
        let name = judged(name).to_owned();
        match &*value {
            Value::String(content) if !content.is_empty() => {
                taken.push((name.clone(), content.clone()));
                // What comes behind the word that says of what kind it is.
                taken.extend(content.split_once(' ').map(|(_, rest)| (name.clone(), rest.trim().to_owned())));
            }
            Value::Null => continue,
            other => taken.push((name.clone(), other.to_string())),
        }
        *value = Value::String(redacted());
    }
}

/// `--flag`, `-f`: no value that begins with a stroke.
fn is_flag(arg: &str) -> bool {
    let name = arg.trim_start_matches('-');
    let dashes = arg.len() - name.len();
    let plain = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && (dashes == 2 && (plain || is_name(name)) || dashes == 1 && name.len() <= 2)
}

/// The name of a flag or a variable.
fn is_name(text: &str) -> bool {
    let name = text.trim_start_matches('-');
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

fn redacted() -> String {
    String::from_utf8_lossy(REDACTED).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(args: &[&str]) -> Vec<String> {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        arguments(&args).0
    }

    #[test]
    fn what_a_name_says_is_a_secret_is_taken_out() {
        for (args, clean) in [
            (&["--api-key", "short"][..], &["--api-key", "[redacted]"][..]),
            (&["--api-key=short", "-p", "hi"], &["--api-key=[redacted]", "-p", "hi"]),
            (
                &["--openai-api-key", "-odd", "--model", "m"],
                &["--openai-api-key", "[redacted]", "--model", "m"],
            ),
            (&["--api-key", "--model", "m"], &["--api-key", "--model", "m"]),
            (&["DB_PASSWORD=x", "MODE=fast"], &["DB_PASSWORD=[redacted]", "MODE=fast"]),
            (
                &["--env=API_TOKEN=x", "--max-output-tokens", "4096"],
                &["--env=API_TOKEN=[redacted]", "--max-output-tokens", "4096"],
            ),
            (&["-H", "Authorization: Bearer abcdefgh1"], &["-H", "Authorization: Bearer [redacted]"]),
            (&["--url", "https://me:pw@h/x"], &["--url", "https://me:[redacted]@h/x"]),
            (
                &["--url=https://h/x?access_token=abcdefgh&a=1"],
                &["--url=https://h/x?access_token=[redacted]&a=1"],
            ),
            (&["--settings", r#"{ "model": "m" }"#], &["--settings", r#"{ "model": "m" }"#]),
            (
                &[
                    "--mcp-config",
                    r#"{"mcpServers":{"a":{"command":"x","args":["--token","abc","go"],"env":{"MODE":"fast","N":1},"headers":{"X-One":"Bearer y"}}}}"#,
                ],
                &[
                    "--mcp-config",
                    r#"{"mcpServers":{"a":{"command":"x","args":["--token","[redacted]","go"],"env":{"MODE":"[redacted]","N":"[redacted]"},"headers":{"X-One":"[redacted]"}}}}"#,
                ],
            ),
            (
                &[r#"--settings={"env":{"A":"b"},"apiKey":"k"}"#],
                &[r#"--settings={"env":{"A":"[redacted]"},"apiKey":"[redacted]"}"#],
            ),
        ] {
            assert_eq!(shown(args), clean, "{args:?}");
        }
    }

    #[test]
    fn what_was_taken_out_is_known_from_then_on() {
        let config =
            r#"{"mcpServers":{"a":{"env":{"MODE":"production","API_TOKEN":"wordsalone"},"headers":{"Authorization":"Bearer abc123def456"}}}}"#;
        let args = [
            "--mcp-config".to_owned(),
            config.to_owned(),
            "--api-key".to_owned(),
            "in-clear".to_owned(),
        ];
        let taken = arguments(&args).1;
        for known in ["wordsalone", "abc123def456", "in-clear"] {
            assert!(taken.iter().any(|taken| taken == known), "{known}: {taken:?}");
        }
        assert!(!taken.iter().any(|taken| taken == "production"), "{taken:?}");
    }
}

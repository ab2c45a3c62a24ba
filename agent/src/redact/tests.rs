use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng};

use super::*;

fn secrets() -> Secrets {
    let pairs = [
        ("OPENAI_API_KEY", "abc\"defgh"),
        ("MY_TOKEN", "1234567890"),
        ("PWD", "/home/user/project"),
        ("SHORT_KEY", "true"),
    ];
    Secrets::of(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())))
}

fn redacted(text: &str) -> (String, u64) {
    let (bytes, count) = secrets().redact(text.as_bytes());
    (String::from_utf8(bytes).unwrap(), count)
}

#[test]
fn finds_secrets_by_value_by_header_and_by_looks() {
    for (text, clean) in [
        (r#"{"a":"x abc\"defgh y"}"#, r#"{"a":"x [redacted] y"}"#),
        (r#"{"n":1234567890}"#, r#"{"n":1111111111}"#),
        (r#"{"Authorization":"Bearer abcdefghijk"}"#, r#"{"Authorization":"Bearer [redacted]"}"#),
        (
            r#"{"c":"curl -H \"authorization: Basic dXNlcjpwYXNz\" x"}"#,
            r#"{"c":"curl -H \"authorization: Basic [redacted]\" x"}"#,
        ),
        (r#"{"headers":{"x-api-key":"0a1b2c3d4e"}}"#, r#"{"headers":{"x-api-key":"[redacted]"}}"#),
        (r#"{"t":"one\nsk-ant-api03-AAAABBBBCCCC two"}"#, r#"{"t":"one\n[redacted] two"}"#),
    ] {
        assert_eq!(redacted(text), (clean.to_owned(), 1), "{text}");
    }
    for text in [
        r#"{"t":"task-force-is-a-long-word-with-dashes","u":"sk-short","v":"true","w":"/home/user/project"}"#,
        r#"{"t":"the authorization of the user is needed"}"#,
    ] {
        assert_eq!(redacted(text), (text.to_owned(), 0));
    }
}

#[test]
fn pieces_of_any_size_give_the_same() {
    let line = format!("{{\"a\":\"{} sk-aaaabbbbccccddddeeee {} 1234567890\"}}\n", "x".repeat(50), "y".repeat(70));
    let text = line.repeat(40);
    let whole = secrets().redact(text.as_bytes());
    assert_eq!(whole.1, 80);
    for size in [1, 7, 64, 1000] {
        let mut redactor = Redactor::default();
        let mut out = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            redactor.feed(&secrets(), piece, &mut out);
        }
        redactor.finish(&secrets(), &mut out);
        assert_eq!((out, redactor.count), whole, "{size}");
    }
}

#[test]
fn a_line_without_end_is_held_in_part_only() {
    let mut redactor = Redactor::default();
    let mut out = Vec::new();
    let unit = b"word sk-aaaabbbbccccddddeeee ";
    let text = unit.repeat((3 << 20) / unit.len());
    let mut most = 0;
    for piece in text.chunks(10_007) {
        redactor.feed(&secrets(), piece, &mut out);
        most = most.max(redactor.held.len());
    }
    redactor.finish(&secrets(), &mut out);
    assert!(most < 2 * PIECE, "{most}");
    assert_eq!(redactor.count as usize, text.len() / unit.len());
    assert!(memchr::memmem::find(&out, b"sk-a").is_none());
}

const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// Letters and digits, some of both.
fn letters(chance: &mut StdRng, count: usize) -> String {
    let mut text: String = (0..count.max(2) - 2).map(|_| char::from(*LETTERS.choose(chance).unwrap())).collect();
    text.insert(text.len() / 2, 'Q');
    text.insert(text.len() / 3, '7');
    text
}

/// A secret of some kind, with what has to stand around it, and the part of it that nobody may see.
fn secret(chance: &mut StdRng, kind: usize) -> (String, String) {
    let length = chance.random_range(32..60);
    let body = letters(chance, length);
    let around = |before: &str, behind: &str| (format!("{before}{body}{behind}"), body.clone());
    match kind {
        0 => around("sk-ant-api03-", ""),
        1 => around("ghp_", ""),
        2 => around("github_pat_", ""),
        3 => around("xoxb-", ""),
        4 => (format!("AKIA{}", &body.to_uppercase()[..16]), body.to_uppercase()[..16].to_owned()),
        5 => around("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.", ""),
        6 => around("-----BEGIN RSA PRIVATE KEY-----\nMIIE", "\n-----END RSA PRIVATE KEY-----"),
        7 => around("postgres://me:", "@db.example.com/x"),
        8 => around("https://hooks.slack.com/services/T0000/B0000/", ""),
        9 => around("https://discord.com/api/webhooks/123456789012/", ""),
        10 => around("https://example.com/mcp?a=1&access_token=", "&b=2"),
        11 => around("Authorization: Bearer ", ""),
        12 => around("Authorization: Digest username=me, response=", ""),
        13 => around("X-Api-Key: ", ""),
        14 => around("Cookie: session=", "; theme=dark"),
        15 => around("PGPASSWORD=", " psql"),
        16 => around("export SERVICE_JWT=", ""),
        17 => around("GCP_CREDS=", ""),
        18 => around("mysql --password=", " -u me"),
        19 => around("tool --api-key ", " go"),
        20 => around("Server=x;User Id=me;Password=", ";"),
        21 => around("https://sas.blob.core.windows.net/c?sv=1&sig=", ""),
        22 => around("https://", "@github.com/me/it.git"),
        23 => around("glpat-", ""),
        24 => around("npm_", ""),
        25 => around("hf_", ""),
        26 => around("OTEL_EXPORTER_OTLP_HEADERS=x-honeycomb-team=", ""),
        _ => around("AIza", ""),
    }
}

const KINDS: usize = 28;

/// What a text may stand in.
fn surrounded(text: &str, way: usize) -> String {
    let json = |text: &str| serde_json::Value::from(text).to_string();
    match way {
        0 => text.to_owned(),
        1 => format!("before {text} after\n"),
        2 => format!("{{\"t\":{},\"n\":1}}\n", json(&format!("one\n{text}\ntwo"))),
        3 => format!("{{\"t\":{}}}\n", json(&format!("{{\"command\":{}}}", json(text)))),
        _ => format!("{{\"a\":[{},{}]}}\n", json("x"), json(text)),
    }
}

#[test]
fn secrets_of_every_kind_are_found_wherever_they_stand() {
    let mut chance = StdRng::seed_from_u64(29);
    let none = Secrets::default();
    for round in 0..40 {
        for kind in 0..KINDS {
            let (text, hidden) = secret(&mut chance, kind);
            for way in 0..5 {
                let whole = surrounded(&text, way);
                let (clean, count) = none.redact(whole.as_bytes());
                let clean = String::from_utf8(clean).unwrap();
                assert!(count > 0 && !clean.contains(&hidden), "{kind} {way} {round}: {whole}\n{clean}");
                if whole.starts_with('{') {
                    assert!(serde_json::from_str::<serde_json::Value>(&clean).is_ok(), "{kind} {way}: {clean}");
                }
                // In pieces of any size the same is let go.
                let size = chance.random_range(1..40);
                let mut redactor = Redactor::default();
                let mut pieces = Vec::new();
                whole.as_bytes().chunks(size).for_each(|piece| redactor.feed(&none, piece, &mut pieces));
                redactor.finish(&none, &mut pieces);
                assert_eq!(String::from_utf8(pieces).unwrap(), clean, "{kind} {way} in pieces of {size}");
            }
        }
    }
}

#[test]
fn variables_that_are_secrets_are_found_by_their_values_and_their_parts() {
    let mut chance = StdRng::seed_from_u64(31);
    for name in [
        "PGPASSWORD",
        "GCP_CREDS",
        "SERVICE_JWT",
        "SLACK_WEBHOOK_URL",
        "DB_PASS",
        "MYSQL_PWD",
        "NPM_TOKEN",
        "A_KEY",
        "REDISCLI_AUTH",
    ] {
        let value = format!("{}\"x{}", letters(&mut chance, 5), letters(&mut chance, 6));
        let secrets = Secrets::of([(name.to_owned(), value.clone())]);
        for way in 0..5 {
            let (clean, count) = secrets.redact(surrounded(&value, way).as_bytes());
            assert!(count > 0 && !String::from_utf8(clean).unwrap().contains(&value[..5]), "{name} {way}");
        }
    }
    for (name, value, parts) in [
        ("DATABASE_URL", "postgres://me:hunter%40two@h/db", &["hunter%40two", "hunter@two"][..]),
        ("HTTPS_PROXY", "http://me:proxyword@h:1", &["proxyword"]),
        (
            "OTEL_EXPORTER_OTLP_HEADERS",
            "authorization=Basic%20wordsandwords,api-key=justletters",
            &["wordsandwords", "justletters"],
        ),
        ("ANTHROPIC_CUSTOM_HEADERS", "X-Auth-Token: onlyletters\nX-B: 2", &["onlyletters"]),
        ("CONN", "Server=x;Password=a1b2c3d4;", &["a1b2c3d4"]),
        ("PGPASSWORD", "hunter2", &["hunter2"]),
    ] {
        let secrets = Secrets::of([(name.to_owned(), value.to_owned())]);
        for part in parts {
            let (clean, _) = secrets.redact(format!("it said {part} to us").as_bytes());
            assert_eq!(String::from_utf8(clean).unwrap(), "it said [redacted] to us", "{name}");
        }
    }
}

#[test]
fn what_is_no_secret_stays() {
    let none = Secrets::default();
    for text in [
        r#"{"type":"assistant","usage":{"input_tokens":12345678,"output_tokens":9},"session_id":"11111111-2222-4333-8444-555555555555"}"#,
        r#"{"apiKeySource":"ANTHROPIC_API_KEY","permissionMode":"default","signature":"","key":"value1234x"}"#,
        "const key = process.env.OPENAI_API_KEY2; let token = next_token(a1, b2);",
        "password = getPassword(user1)\nAPI_KEY=$OTHER_KEY1 TOKEN=${TOKEN1} --password=$PASSWORD1 SECRET_KEY=/run/secrets/key1",
        "see https://example.com:8080/a/b@c and git@github.com:me/it.git and http://h/a:b@c and ssh://git@host/x",
        "the author's pattern of authorization, a keyboard and monkeys; max_tokens=40961234 tokenizer=cl100k_base2",
        r#"{"headers":{"Content-Type":"application/json","Accept":"text/html"}}"#,
        "postgres://user:${DB_PASSWORD}@host/db and https://user:<password>@host",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "eyJ is how they begin. eyJhbGciOiJIUzI1NiJ9 alone is none",
        "risk-assessment-of-the-whole-thing-1234567890 and disk-usage-report-12345678",
    ] {
        assert_eq!(none.redact(text.as_bytes()), (text.as_bytes().to_vec(), 0), "{text}");
    }
}

#[test]
fn a_private_key_of_many_lines_is_gone_and_what_follows_stays() {
    let key = format!(
        "-----BEGIN PRIVATE KEY-----\n{}-----END PRIVATE KEY-----\n",
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n".repeat(20)
    );
    for size in [1, 10, 33, 5000] {
        let text = format!("one\n{key}two\n");
        let mut redactor = Redactor::default();
        let mut out = Vec::new();
        text.as_bytes()
            .chunks(size)
            .for_each(|piece| redactor.feed(&Secrets::default(), piece, &mut out));
        redactor.finish(&Secrets::default(), &mut out);
        let out = String::from_utf8(out).unwrap();
        assert!(
            out.starts_with("one\n") && out.ends_with("two\n") && !out.contains("MIIE"),
            "{size}: {out}"
        );
    }
}

/// A stream that tells a text in pieces of so many letters.
fn told(member: &str, text: &str, letters: usize) -> String {
    let letters: Vec<Vec<char>> = text.chars().collect::<Vec<_>>().chunks(letters).map(<[char]>::to_vec).collect();
    let line = |piece: Vec<char>| {
        let piece: String = piece.into_iter().collect();
        serde_json::json!({"type": "piece", "uuid": "0a1b2c", "delta": {"type": "x_delta", member: piece}}).to_string() + "\n"
    };
    letters.into_iter().map(line).collect::<String>() + "{\"type\":\"stop\"}\n{\"type\":\"done\"}\n"
}

/// What is kept of such a stream: all of it, and its text alone.
fn kept(member: &str, stream: &str, size: usize) -> (String, String) {
    let (mut redactor, mut pieces, mut out) = (Redactor::default(), Pieces::default(), Vec::new());
    for part in stream.as_bytes().chunks(size) {
        let mut clean = Vec::new();
        redactor.feed(&secrets(), part, &mut clean);
        pieces.feed(&secrets(), &clean, &mut out);
    }
    let mut clean = Vec::new();
    redactor.finish(&secrets(), &mut clean);
    pieces.feed(&secrets(), &clean, &mut out);
    pieces.finish(&secrets(), &mut out);
    let out = String::from_utf8(out).unwrap();
    let lines = out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let text = lines.filter_map(|line| Some(line["delta"].get(member)?.as_str()?.to_owned())).collect();
    (out, text)
}

#[test]
fn a_secret_that_comes_in_pieces_is_found_across_them() {
    let key = "sk-ant-api03-AAAABBBBCCCCDDDD";
    let long = "k7".repeat(40);
    for (secret, text, clean) in [
        (
            key,
            format!("The key is {key}, and so on."),
            "The key is [redacted], and so on.".to_owned(),
        ),
        (key, format!("{key}\nand {key}"), "[redacted]\nand [redacted]".to_owned()),
        ("abc\"defgh", "one abc\"defgh two".to_owned(), "one [redacted] two".to_owned()),
        ("1234567890", "PIN 1234567890.".to_owned(), "PIN [redacted].".to_owned()),
        (
            &long,
            format!("Authorization: Bearer {long} end"),
            "Authorization: Bearer [redacted] end".to_owned(),
        ),
        (
            "hunter2",
            "go to https://me:hunter2@example.com/x now".to_owned(),
            "go to https://me:[redacted]@example.com/x now".to_owned(),
        ),
    ] {
        for member in ["text", "thinking", "partial_json", "reasoning_content", "arguments", "content"] {
            for letters in [1, 2, 3, 5, 8, 13] {
                let stream = told(member, &text, letters);
                let (out, kept) = kept(member, &stream, 97);
                assert!(!kept.contains(secret), "{member} {letters}: {kept}");
                assert_eq!(kept, clean, "{member} {letters}");
                assert_eq!(out.lines().count(), stream.lines().count(), "no line is lost: {member} {letters}");
            }
        }
    }
}

#[test]
fn pieces_without_secrets_stay_as_they_are_and_wait_for_little() {
    let plain = "Let us see: src/redact/mod.rs has 200 lines, \"quotes\" and \\ marks, é and 語, and {\"json\": [1, 2]}. ".repeat(20);
    for letters in [1, 4, 11] {
        let stream = told("text", &plain, letters);
        assert_eq!(kept("text", &stream, 50).0, stream, "{letters}");
    }
    // A word without an end is held no longer than a key is long; what has ended waits for nothing.
    let (mut pieces, mut out, mut most) = (Pieces::default(), Vec::new(), 0);
    let (mut given, stream) = (0, told("text", &"x".repeat(20_000), 4));
    for line in stream.split_inclusive('\n') {
        pieces.feed(&secrets(), line.as_bytes(), &mut out);
        given += line.len();
        most = most.max(given - out.len());
    }
    assert!(most < 200 * LONGEST / 4 && out == stream.as_bytes(), "{most}");
}

/// The arguments of calls side by side, in the words of each dialect: what stands before and behind a piece of the call of this number.
const BY_TURNS: [[&str; 3]; 6] = [
    [
        r#"{"type":"stream_event","event":{"type":"content_block_delta","index":"#,
        r#","delta":{"type":"input_json_delta","partial_json":"#,
        "}}}\n",
    ],
    [
        r#"{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":"#,
        r#","function":{"arguments":"#,
        "}}]}}]}\n",
    ],
    [r#"{"event":"delta","id":"u","index":"#, r#","input":"#, "}\n"],
    [r#"{"type":"piece","toolCallId":"#, r#","delta":"#, "}\n"],
    [r#"{"type":"piece","call_id": "call-"#, r#"","delta": "#, "}\n"],
    [
        r#"{"type":"stream_event","parent_tool_use_id":"#,
        r#","event":{"delta":{"text":"#,
        r#"},"index":0}}"#,
    ],
];

#[test]
fn secrets_in_texts_that_come_by_turns_are_found_in_each() {
    let keys = ["sk-ant-api03-AAAABBBBCCCCDDDD", "1234567890", "ghp_0123456789abcdefghijABCDEFGHIJ012345"];
    for form in BY_TURNS {
        for (letters, turns, between) in [(1, 1, 0), (2, 3, 1), (5, 1, 1), (7, 2, 0)] {
            // Each call has one key more than the call before it.
            let texts: Vec<String> = (0..keys.len())
                .map(|call| format!("run {} with {}.", call, keys[..=call].join(" and ")))
                .collect();
            let mut left: Vec<Vec<char>> = texts.iter().map(|text| text.chars().collect()).collect();
            let mut stream = String::new();
            while left.iter().any(|text| !text.is_empty()) {
                for (call, text) in left.iter_mut().enumerate() {
                    for _ in 0..turns {
                        let piece: String = text.drain(..letters.min(text.len())).collect();
                        let [before, middle, behind] = form;
                        let piece = serde_json::to_string(&piece).unwrap();
                        stream += &format!("{before}{call}{middle}{piece}{}\n", behind.trim_end());
                    }
                    stream += &"{\"type\":\"other\"}\n".repeat(between);
                }
            }
            let (mut redactor, mut pieces, mut out) = (Redactor::default(), Pieces::default(), Vec::new());
            let mut clean = Vec::new();
            redactor.feed(&secrets(), stream.as_bytes(), &mut clean);
            pieces.feed(&secrets(), &clean, &mut out);
            pieces.finish(&secrets(), &mut out);
            let out = String::from_utf8(out).unwrap();
            assert_eq!(out.lines().count(), stream.lines().count(), "no line is lost");
            for (call, told) in texts.iter().enumerate() {
                let start = format!("{}{call}{}", form[0], form[1]);
                let kept: String = out
                    .lines()
                    .filter_map(|line| line.strip_prefix(&start)?.strip_suffix(form[2].trim_end()))
                    .map(|piece| serde_json::from_str::<String>(piece).unwrap())
                    .collect();
                let clean = keys.iter().fold(told.clone(), |text, key| text.replace(key, "[redacted]"));
                assert_eq!(kept, clean, "{start} {letters} {turns} {between}");
            }
        }
    }
}

#[test]
fn texts_that_come_by_turns_take_no_time_that_grows_with_what_waits() {
    let mut stream = String::from("{\"index\":0,\"input\":\"waits\"}\n");
    for at in 0..40_000 {
        stream += &format!("{{\"index\":{},\"input\":\"word{at} and \"}}\n", 1 + at % 3);
    }
    let (mut pieces, mut out) = (Pieces::default(), Vec::new());
    let began = std::time::Instant::now();
    pieces.feed(&secrets(), stream.as_bytes(), &mut out);
    assert!(stream.len() - out.len() < 2 << 20, "{}", stream.len() - out.len());
    pieces.finish(&secrets(), &mut out);
    assert_eq!(out, stream.as_bytes());
    assert!(began.elapsed() < std::time::Duration::from_secs(60), "{:?}", began.elapsed());
}

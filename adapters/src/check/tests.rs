use super::*;

#[test]
fn what_is_damaged_is_named_and_the_rest_is_read() {
    let settings = Settings {
        max_line: Some(100),
        ..Settings::default()
    };
    let mut checker = Checker::with("claude".parse().unwrap(), settings);
    let long = format!("{{\"type\":\"system\",\"x\":\"{}\"}}\n", "x".repeat(100));
    for piece in ["\u{feff}{\"type\":\"keep_alive\"}\nplain\n", &long, "[1,2]\n"] {
        checker.feed(piece.as_bytes());
    }
    checker.feed(b"\xff\n");
    let (findings, summary) = checker.finish();
    let errors = findings.iter().filter(|f| f.level == Level::Error);
    let lines: Vec<_> = errors.map(|f| (f.line, f.message.split(' ').next().unwrap())).collect();
    assert_eq!(lines, [(3, "a"), (5, "invalid")]);
    assert_eq!(summary.lines, 5);
}

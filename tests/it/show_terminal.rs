//! `show`, `stats` and `diff` on a terminal.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Command;

use unicode_width::UnicodeWidthStr;
use vt100::Color;

use crate::common::{Scratch, arg, golden};
use crate::support::terminal::{CTRL_C, Terminal};

const GREEN: Color = Color::Idx(2);
const RED: Color = Color::Idx(1);

/// The program, for a terminal: nothing of where the test runs makes a difference.
fn program(home: &Scratch, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentglot"));
    command.args(args).current_dir(home.path(""));
    command
        .env_clear()
        .env("PATH", std::env::var("PATH").unwrap_or_default())
        .env("HOME", home.path(""));
    command
}

fn on_terminal(width: u16, args: &[&str]) -> Terminal {
    let home = Scratch::new();
    let mut terminal = Terminal::run(program(&home, args), width);
    terminal.ends();
    terminal
}

/// A session that says this on one line.
fn said(text: &str) -> String {
    crate::common::log("11111111-2222-4333-8444-555555555555", text)
}

#[test]
fn colours_and_width_are_those_of_the_terminal() {
    let log = golden("cursor/read_edit.jsonl");
    for width in [80, 200] {
        let terminal = on_terminal(width, &["show", "--utc", "--no-pager", arg(&log)]);
        let screen = terminal.screen();
        let rule = screen.lines().find(|line| line.starts_with("── Turn 1")).unwrap();
        assert_eq!(rule.width(), usize::from(width), "{screen}");
        assert!(screen.lines().all(|line| line.width() <= usize::from(width)));
        assert_eq!(terminal.colour("+    return"), GREEN);
        assert_eq!(terminal.colour("-    return"), RED);
        assert_eq!(terminal.colour("✗ Read"), RED);
        assert_eq!(terminal.colour("✓ done"), GREEN);
        // What it means stands there, not the signs for it.
        assert!(screen.contains("I'll look at greet.py first"), "{screen}");
        assert_eq!(terminal.state(), (true, Vec::new()));
    }
    let plain = on_terminal(80, &["show", "--no-pager", "--color", "never", arg(&log)]);
    assert!(!plain.said().contains('\u{1b}'));
    let home = Scratch::new();
    let mut command = program(&home, &["show", "--no-pager", arg(&log)]);
    command.env("NO_COLOR", "1");
    let mut plain = Terminal::run(command, 80);
    plain.ends();
    assert_eq!(plain.colour("+    return"), Color::Default);
}

#[test]
fn long_lines_are_broken_where_the_terminal_ends() {
    let home = Scratch::new();
    let text = "seven words that go on and on ".repeat(12);
    let log = home.file("log.jsonl", said(text.trim_end()));
    for (width, least) in [(80, 4), (200, 2)] {
        let screen = on_terminal(width, &["show", "--no-pager", arg(&log)]).screen();
        let lines: Vec<&str> = screen.lines().filter(|line| line.contains("seven") || line.contains("words")).collect();
        assert!(
            lines.len() >= least && lines.iter().all(|line| line.width() <= usize::from(width)),
            "{screen}"
        );
        // Between words, not within them.
        assert_eq!(lines.join(" ").split_whitespace().collect::<Vec<_>>().join(" "), text.trim_end());
    }
}

#[test]
fn nothing_of_a_log_controls_the_terminal() {
    let home = Scratch::new();
    let evil = "before\\u001b]0;title\\u0007\\u001b[2J\\u001b[?1049h\\u001b[31mred\\u009b8;1;1t\\u202ebehind\\u0007";
    let log = home.file("log.jsonl", said(evil));
    let terminal = on_terminal(80, &["show", "--no-pager", arg(&log)]);
    let screen = terminal.screen();
    assert!(
        screen.contains("before") && screen.contains("red") && screen.contains("\\u{202e}behind"),
        "{screen}"
    );
    assert_eq!(terminal.state(), (true, Vec::new()));
    assert!(screen.contains("Session"), "what stood there is gone: {screen}");
}

#[test]
fn the_pager_that_is_named_gets_it() {
    let home = Scratch::new();
    let log = golden("cursor/read_edit.jsonl");
    let pager = home.file("pager", "#!/bin/sh\ncat > seen\necho paged \"$1\" \"$LESS\"\nread line\necho over\n");
    std::fs::set_permissions(&pager, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = program(&home, &["show", arg(&log)]);
    command.env("PAGER", format!("{} --flag", arg(&pager)));
    let mut terminal = Terminal::run(command, 80);
    terminal.shows("paged --flag FRX");
    // It is the one that reads what is typed.
    terminal.types("q\n");
    assert!(terminal.ends().success());
    assert!(
        terminal.screen().contains("over") && !terminal.screen().contains("● Edit"),
        "{}",
        terminal.screen()
    );
    let seen = std::fs::read_to_string(home.path("seen")).unwrap();
    assert!(seen.contains("\u{1b}[32m") && seen.contains("greet.py"), "{seen}");

    // One that leaves early has seen enough, and one that is not there is none.
    let long = home.file("long.jsonl", said(&"many words ".repeat(200_000)));
    for (pager, shown) in [("true", false), ("no-such-pager", true), ("cat", true)] {
        let mut command = program(&home, &["show", arg(if shown { &log } else { &long })]);
        command.env("PAGER", pager);
        let mut terminal = Terminal::run(command, 200);
        assert!(terminal.ends().success(), "{pager}: {}", terminal.screen());
        assert_eq!(terminal.screen().contains("✓ done"), shown, "{pager}: {}", terminal.screen());
    }
}

#[test]
fn a_log_that_grows_is_followed_until_ctrl_c() {
    let home = Scratch::new();
    let text = std::fs::read_to_string(golden("cursor/read_edit.jsonl")).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for width in [80, 200] {
        let path = home.file("log.jsonl", lines[..3].concat());
        let mut terminal = Terminal::run(program(&home, &["show", "--utc", "--follow", arg(&path)]), width);
        let before = terminal.settings();
        terminal.shows("Make the greeting");
        assert!(!terminal.screen().contains("● Read"), "{}", terminal.screen());
        let mut file = std::fs::File::options().append(true).open(&path).unwrap();
        let (middle, rest) = lines[3..].split_at(lines.len() / 2);
        let rest = rest.concat();
        // It is written in the middle of a line.
        let (half, other) = rest.split_at(7);
        file.write_all((middle.concat() + half).as_bytes()).unwrap();
        terminal.shows("● Read");
        assert!(!terminal.screen().contains("✓ done"), "{}", terminal.screen());
        file.write_all(other.as_bytes()).unwrap();
        terminal.shows("✓ done");
        let long = "words that go on and on ".repeat(20);
        let words = |screen: &str| screen.lines().filter(|line| line.contains("words")).map(UnicodeWidthStr::width).max();
        let narrow = width - 30;
        terminal.resize(narrow);
        file.write_all(said(long.trim_end()).as_bytes()).unwrap();
        terminal.shows("9 out");
        assert!(words(&terminal.screen()).unwrap() <= usize::from(narrow), "{}", terminal.screen());
        terminal.types(CTRL_C);
        let ended = terminal.ends();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended), Some(2), "{ended:?}");
        assert_eq!(terminal.settings(), before);
        assert_eq!(terminal.state(), (true, Vec::new()));
    }
}

#[test]
fn a_log_that_vanishes_ends_the_view() {
    let home = Scratch::new();
    let path = home.file("log.jsonl", said("Here."));
    let mut terminal = Terminal::run(program(&home, &["show", "--follow", arg(&path)]), 80);
    terminal.shows("Here.");
    std::fs::remove_file(&path).unwrap();
    assert!(terminal.ends().success());
    assert!(
        terminal.screen().replace('\n', "").contains("is gone; what was read is shown"),
        "{}",
        terminal.screen()
    );
}

#[test]
fn tables_are_as_wide_as_the_terminal_or_are_said_not_to_be() {
    let home = Scratch::new();
    let mut log = String::new();
    for (number, name) in ["a", "b"].iter().enumerate() {
        let id = format!("{number}{number}{number}{number}{number}{number}{number}{number}-2222-4333-8444-555555555555");
        let _ = write!(log, "{}", crate::common::log(&id, name));
    }
    let log = home.file("logs/log.jsonl", log);
    let other = home.file(
        "other.jsonl",
        said("Something else, which is said at some length so that it does not fit into eighty columns of a terminal."),
    );
    for width in [80, 200] {
        for by in ["session", "day", "model", "project", "agent"] {
            let screen = on_terminal(width, &["stats", "--by", by, arg(&log)]).screen();
            let table: Vec<&str> = screen.lines().take_while(|line| !line.is_empty()).collect();
            assert!(table.len() > 1, "{by}: {screen}");
            // Every line of a table is one line, as wide as the others.
            let wide = table[0].width();
            assert!(
                wide <= usize::from(width) && table.iter().all(|line| line.width() == wide),
                "{by} at {width}:\n{screen}"
            );
            let all = screen.contains("00000000-2222-4333-8444-555555555555");
            assert_eq!(all, by == "session" && width == 200, "{by} at {width}:\n{screen}");
            if by == "session" {
                assert_eq!(screen.contains("left out: rounds"), width == 80, "{screen}");
            }
        }
        let screen = on_terminal(width, &["diff", arg(&log), arg(&other)]).screen();
        assert!(screen.starts_with("--- ") && screen.contains("\n+++ "), "{screen}");
        assert!(screen.lines().all(|line| line.width() <= usize::from(width)));
        assert!(screen.contains("Something else"), "{screen}");
        let screen = on_terminal(width, &["stats", "--by", "tool", arg(&golden("cursor/read_edit.jsonl"))]).screen();
        assert!(screen.contains("editToolCall      2"), "{screen}");
    }
}

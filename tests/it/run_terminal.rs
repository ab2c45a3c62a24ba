//! A run that a person watches on a terminal.

use std::os::unix::process::ExitStatusExt;

use serde_json::json;
use unicode_width::UnicodeWidthStr;
use vt100::Color;

use crate::support::model::{Answer, Step};
use crate::support::play::Play;
use crate::support::terminal::{CTRL_C, Terminal};

/// An hour, of which nobody waits for the end.
const LONG: Step = Step::Pause(3_600_000);

fn text(text: &str) -> Step {
    Step::Text(text.to_owned())
}

fn edit() -> Answer {
    Answer::calls(&[("edit", json!({"path": "greet.py", "oldText": "hello", "newText": "HELLO"}))])
}

fn shell(command: &str) -> (&'static str, serde_json::Value) {
    ("shell", json!({"command": command}))
}

fn play(answers: Vec<Answer>) -> Play {
    let play = Play::script(answers);
    std::fs::write(play.path("greet.py"), "def greet(name):\n    return \"hello \" + name\n").unwrap();
    play
}

/// No line of a spinner is left.
fn is_quiet(terminal: &Terminal) {
    let screen = terminal.screen();
    let words = ["waiting for the model", "answering", "stopping"];
    assert!(!words.iter().any(|word| screen.contains(word)), "{screen}");
    assert_eq!(terminal.state(), (true, Vec::new()));
}

#[test]
fn what_is_done_is_shown_as_show_does() {
    for width in [80, 200] {
        let long = "words that go on and on ".repeat(12);
        let said = Answer::steps(vec![text("I look **first** at it.\n\n- one\n- two\n\n"), text(&long)]);
        let read = Answer::calls(&[("read", json!({"path": "greet.py"})), shell("echo out; exit 3")]);
        let play = play(vec![read, edit(), said]);
        let mut terminal = Terminal::run(play.command("cursor", &["-p", "--force", "go"]), width);
        assert!(terminal.ends().success(), "{}", terminal.screen());
        let screen = terminal.screen();
        for line in [
            "● Read greet.py",
            "✗ Bash echo out; exit 3  exit 3",
            "  │ out",
            "● Edit ",
            "I look first at it.",
            "• one",
            "✓ done",
        ] {
            assert!(screen.contains(line), "{line}:\n{screen}");
        }
        assert_eq!(terminal.colour("+    return"), Color::Idx(2));
        assert_eq!(terminal.colour("-    return"), Color::Idx(1));
        assert!(screen.lines().all(|line| line.width() <= usize::from(width)), "{screen}");
        assert_eq!(screen.matches("I look first").count(), 1, "{screen}");
        // Who asked knows what.
        assert!(!screen.contains("Turn 1") && !screen.contains("> go"), "{screen}");
        is_quiet(&terminal);
        assert!(play.read("greet.py").contains("HELLO"));
    }
}

#[test]
fn an_answer_is_shown_as_it_comes_and_ctrl_c_keeps_it() {
    for (width, colour) in [(80, "auto"), (200, "never")] {
        let play = play(vec![Answer::steps(vec![
            text("These are the first words"),
            LONG,
            text(" and never these"),
        ])]);
        let before = Terminal::run(std::process::Command::new("true"), width).settings();
        let mut command = play.command("cursor", &["-p", "go"]);
        if colour == "never" {
            command.env("NO_COLOR", "1");
        }
        let mut terminal = Terminal::run(command, width);
        terminal.shows("These are the first words");
        terminal.shows("answering");
        terminal.types(CTRL_C);
        let ended = terminal.ends();
        assert_eq!(ended.code(), Some(130), "{}", terminal.screen());
        let screen = terminal.screen();
        assert_eq!(screen.matches("These are the first words").count(), 1, "{screen}");
        assert!(screen.contains('✗') && !screen.contains("never"), "{screen}");
        assert_eq!(terminal.said().contains("\u{1b}[31m"), colour == "auto", "{screen}");
        is_quiet(&terminal);
        assert_eq!(terminal.settings(), before);
    }
}

#[test]
fn ctrl_c_stops_a_command_and_a_second_one_the_program() {
    let play = play(vec![Answer::calls(&[shell("touch began; sleep 3600; touch late")])]);
    let mut terminal = Terminal::run(play.command("cursor", &["-p", "--force", "go"]), 80);
    terminal.shows("Bash touch began");
    terminal.types(CTRL_C);
    assert_eq!(terminal.ends().code(), Some(130), "{}", terminal.screen());
    assert!(terminal.screen().contains("✗ Bash touch began"), "{}", terminal.screen());
    is_quiet(&terminal);

    // One that does not heed the first.
    let stage = crate::support::stage::Stage::new(&[
        &format!("say {}", crate::support::stage::INIT),
        "control never",
        &format!("say {}", crate::support::stage::text("Begun.")),
        "hang",
    ]);
    let command = stage.command("claude", "claude", &[], &["-p", "go"]);
    let mut terminal = Terminal::run(command, 80);
    terminal.shows("Begun.");
    terminal.types(CTRL_C);
    terminal.shows("stopping");
    terminal.types(CTRL_C);
    let ended = terminal.ends();
    assert_eq!((ended.code(), ended.signal()), (Some(130), None), "{}", terminal.screen());
    is_quiet(&terminal);
}

#[test]
fn a_person_is_asked_on_the_terminal() {
    for (typed, changed, asked) in [("y\n", true, 2), ("n\n", false, 2), ("always\n", true, 1)] {
        let play = play(vec![
            edit(),
            Answer::calls(&[(
                "edit",
                json!({"path": "greet.py", "oldText": "name", "newText": "whom", "replaceAll": true}),
            )]),
            Answer::text("Done."),
        ]);
        let mut terminal = Terminal::run(play.command("cursor", &["-p", "go"]), 80);
        terminal.shows("Allow it? [y]es, [n]o, [a]lways:");
        // What it would do is to be seen before.
        assert!(terminal.screen().contains("? Edit"), "{}", terminal.screen());
        assert!(!play.read("greet.py").contains("HELLO"));
        terminal.types("perhaps\n");
        terminal.shows("Please answer y, n or a:");
        terminal.types(typed);
        if asked == 2 {
            terminal.comes("the second question", |screen| screen.matches("Allow it?").count() == 2);
            terminal.types(typed);
        }
        terminal.ends();
        let screen = terminal.screen();
        assert_eq!(screen.matches("Allow it?").count(), asked, "{screen}");
        let text = play.read("greet.py");
        assert_eq!((text.contains("HELLO"), text.contains("whom")), (changed, changed), "{typed}: {screen}");
        assert_eq!(screen.contains("● Edit"), changed, "{screen}");
        assert_eq!(screen.contains("✗ Edit"), !changed, "{screen}");
        assert!(screen.contains("Done."), "{screen}");
        is_quiet(&terminal);
    }
}

#[test]
fn a_person_sees_all_of_a_command_before_it_runs() {
    for hidden in [" ".repeat(300), "\n\n\n".to_owned(), "\u{1b}[8m\r".to_owned()] {
        let play = play(vec![Answer::calls(&[shell(&format!("true{hidden}; touch evil"))]), Answer::text("Done.")]);
        let mut terminal = Terminal::run(play.command("cursor", &["-p", "go"]), 80);
        terminal.shows("Allow it? [y]es, [n]o, [a]lways:");
        // Lines are broken at blanks.
        assert!(
            ["touch", "evil"].iter().all(|word| terminal.screen().contains(word)),
            "{}",
            terminal.screen()
        );
        terminal.types("n\n");
        terminal.ends();
        assert!(!play.path("evil").exists());
    }
}

#[test]
fn a_person_who_pipes_the_prompt_in_is_asked_too() {
    let play = play(vec![edit(), Answer::text("Done.")]);
    let mut terminal = Terminal::run_piped(play.command("cursor", &["-p"]), 80, "go");
    terminal.shows("Allow it? [y]es, [n]o, [a]lways:");
    assert!(!play.read("greet.py").contains("HELLO"));
    terminal.types("y\n");
    assert!(terminal.ends().success(), "{}", terminal.screen());
    assert!(play.read("greet.py").contains("HELLO"), "{}", terminal.screen());
    is_quiet(&terminal);
}

#[test]
fn what_is_said_beforehand_decides_and_nobody_is_asked() {
    let play = play(vec![edit(), Answer::text("Done.")]);
    let mut command = play.command("cursor", &["-p", "go"]);
    command.env("AGENTGLOT_ON_ASK", "deny");
    let mut terminal = Terminal::run(command, 80);
    terminal.ends();
    let screen = terminal.screen();
    assert!(
        !screen.contains("Allow it?") && screen.contains("✗ Edit") && screen.contains("Done."),
        "{screen}"
    );
    assert!(!play.read("greet.py").contains("HELLO"));
}

#[test]
fn ctrl_c_at_a_question_is_no_permission() {
    let play = play(vec![edit(), Answer::text("Done.")]);
    let mut terminal = Terminal::run(play.command("cursor", &["-p", "go"]), 80);
    terminal.shows("Allow it?");
    terminal.types(CTRL_C);
    assert_eq!(terminal.ends().code(), Some(130), "{}", terminal.screen());
    assert!(!play.read("greet.py").contains("HELLO"));
    is_quiet(&terminal);
}

#[test]
fn our_log_stands_above_the_spinner() {
    let answer = Answer::steps(vec![text(&"word ".repeat(36)), Step::Pause(300)]);
    let play = play(vec![Answer::calls(&[shell("sleep 0.3; echo out")]), answer]);
    let mut command = play.command("cursor", &["-p", "--force", "go"]);
    command.env("AGENTGLOT_LOG", "trace");
    let mut terminal = Terminal::run(command, 200);
    assert!(terminal.ends().success(), "{}", terminal.screen());
    let screen = terminal.screen();
    let levels = ["TRACE ", "DEBUG ", " INFO "];
    let lines: Vec<&str> = screen.lines().filter(|line| levels.iter().any(|level| line.contains(level))).collect();
    assert!(!lines.is_empty(), "{screen}");
    for line in lines {
        assert!(levels.iter().any(|level| line.starts_with(level)), "{line}\n--\n{screen}");
    }
    // What was drawn of the answer is gone.
    assert_eq!(screen.lines().filter(|line| line.contains("word")).count(), 1, "{screen}");
    is_quiet(&terminal);
}

#[test]
fn nothing_that_is_said_controls_the_terminal() {
    let evil = "before\u{1b}]0;title\u{7}\u{1b}[2J\u{1b}[?1049h\u{202e}behind";
    let calls = Answer::calls(&[shell(&format!("printf '%s' '{evil}'"))]);
    let play = play(vec![calls, Answer::steps(vec![text(evil), text("\u{1b}[10A"), text(" the end")])]);
    let mut terminal = Terminal::run(play.command("cursor", &["-p", "--force", "go"]), 80);
    assert!(terminal.ends().success());
    let screen = terminal.screen();
    assert!(
        screen.contains("before") && screen.contains("\\u{202e}behind") && screen.contains("the end"),
        "{screen}"
    );
    assert!(screen.contains("● Bash") || screen.contains("✗ Bash"), "{screen}");
    is_quiet(&terminal);
}

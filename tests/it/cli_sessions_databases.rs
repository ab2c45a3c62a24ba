//! Sessions in the database of a program: listed, shown, counted and copied, and copies that it imports.

use std::path::Path;

use serde_json::Value;

use crate::cli_sessions::Home;
use crate::cli_sessions_copied::said;
use crate::common::{Scratch, arg, golden};

/// A database as OpenCode 1.18 keeps it: a session, and that of its subagent. It stays open, as that of a program which runs.
pub(crate) fn database(scratch: &Scratch) -> rusqlite::Connection {
    let file = scratch.file("home/.local/share/opencode/opencode.db", "");
    let base = rusqlite::Connection::open(file).unwrap();
    base.execute_batch("pragma journal_mode = wal; pragma foreign_keys = off;").unwrap();
    base.execute_batch(include_str!("support/opencode.sql")).unwrap();
    base
}

#[test]
fn what_goes_to_a_database_is_imported() {
    let home = Home::empty();
    let copied = home.copied(arg(&golden("claude/transcript_parallel.jsonl")), "opencode");
    let (id, path) = (copied["id"].as_str().unwrap(), copied["path"].as_str().unwrap());
    assert!(
        id.starts_with("ses_") && path.ends_with(&format!("/.local/share/opencode/agentglot/{id}.json")),
        "{copied}"
    );
    assert_eq!(
        copied["commands"][0].to_string(),
        serde_json::json!(["opencode", "import", path]).to_string()
    );
    assert_eq!(copied["commands"][1].to_string(), serde_json::json!(["opencode", "-s", id]).to_string());
    let document: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert_eq!((&document["info"]["id"], &document["info"]["directory"]), (&copied["id"], &copied["cwd"]));
}

/// No program is there: what a database holds is read from it, while its program writes and when it does not.
#[test]
fn what_a_database_has_is_listed_shown_counted_and_copied() {
    let home = Home::empty();
    assert_eq!(home.run(&["list", "--all-agents"]).text(), "No sessions.\n");
    let base = database(&home.scratch);
    let folder = home.scratch.path("home/.local/share/opencode");
    let files = || {
        let mut names: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let (id, child) = ("ses_df5081a0dffegdwHZAiORZUoLc", "ses_df50810c9ffedy9v9djwNZPi3l");
    let looked = |home: &Home| {
        let ran = home.run(&["list", "--all-agents"]);
        let text = ran.text();
        assert!(
            ran.code == 0 && text.starts_with("opencode ") && text.contains(id) && !text.contains(child),
            "{text} {}",
            ran.err
        );
        assert!(text.contains("1 turn         242 tokens  \"[[agent]] go\"  [/workspace]"), "{text}");
        // The subagent's calls and tokens stand beside those of the session.
        let ran = home.command(&["stats", "--json", "--by", "agent"], &[]);
        let counted: Value = serde_json::from_slice(&ran.out).unwrap();
        let total = &counted["total"];
        assert_eq!((ran.code, &counted["rows"][0]["agent"]), (0, &"opencode".into()), "{counted} {}", ran.err);
        let figures = ["sessions", "turns", "rounds", "calls", "input", "output"].map(|name| total[name].as_u64().unwrap());
        assert_eq!(figures, [1, 1, 4, 2, 402, 82], "{counted}");
        let ran = home.command(&["show", "ses_df"], &[]);
        assert!(
            ran.code == 0 && ran.text().contains("● Agent Sub job") && ran.text().contains("  ● Bash echo from-sub"),
            "{} {}",
            ran.text(),
            ran.err
        );
    };
    looked(&home);
    let ran = home.command(&["diff", "ses_df5081", id], &[]);
    assert!(ran.code == 0, "{} {}", ran.text(), ran.err);
    drop(base);
    // Its program has gone and put everything into one file: nothing is laid beside it.
    assert_eq!(files(), ["opencode.db"]);
    looked(&home);
    assert_eq!(files(), ["opencode.db"]);
    let back = home.copied("ses_df5081", "codex");
    let back = said(Path::new(back["path"].as_str().unwrap()), "codex:rollout");
    assert!(back.iter().any(|said| said.contains("The subagent reported back.")), "{back:?}");
    let again = home.copied("ses_df5081", "opencode");
    let document: Value = serde_json::from_slice(&std::fs::read(again["path"].as_str().unwrap()).unwrap()).unwrap();
    assert_eq!(
        (&document["info"]["id"], document["messages"].as_array().map(Vec::len)),
        (&again["id"], Some(3))
    );
    let ran = home.run(&["copy", "ses_2", "--to", "codex"]);
    assert!(ran.code == 2 && ran.err.contains("there is no session"), "{}", ran.err);
    // What is no database is told, and the others' sessions are listed.
    home.scratch
        .file("home/.local/share/opencode/opencode.db", "no database at all".repeat(100));
    for command in [&["sessions", "list", "--all-agents"][..], &["stats"]] {
        let ran = home.command(command, &[]);
        assert!(
            ran.code == 3 && ran.err.contains("opencode.db") && ran.err.contains("not a database"),
            "{}",
            ran.err
        );
        assert!(!ran.text().is_empty());
    }
}

/// A message that is damaged, in a database too, hides nothing else.
#[test]
fn a_damaged_row_hides_no_other() {
    let home = Home::empty();
    let base = database(&home.scratch);
    let last = "msg_20af7f1ce001WAX85ZOyjTH2iZ";
    base.execute("update message set data = '{\"role\":\"assis' where id = ?1", [last])
        .unwrap();
    let ran = home.run(&["list", "--all-agents"]);
    assert!(ran.code == 0 && ran.text().contains("1 turn"), "{} {}", ran.text(), ran.err);
    let ran = home.command(&["show", "ses_df5081"], &[]);
    assert!(
        ran.code == 1 && ran.text().contains("Delegating."),
        "{} {} {}",
        ran.code,
        ran.text(),
        ran.err
    );
    let ran = home.command(&["stats"], &[]);
    assert!(ran.code == 1 && ran.err.contains("1 line cannot be read"), "{}", ran.err);
}

/// What stands in a table is read. A view says what is to be reckoned, which may have no end.
#[test]
fn a_database_that_has_sessions_reckoned_is_refused() {
    for table in ["session", "message"] {
        let home = Home::empty();
        let base = database(&home.scratch);
        base.execute_batch(&format!("alter table {table} rename to kept; create view {table} as select * from kept"))
            .unwrap();
        let ran = home.command(&["stats"], &[]);
        assert!(ran.code == 3 && ran.err.contains("opencode.db"), "{table}: {} {}", ran.code, ran.err);
    }
}

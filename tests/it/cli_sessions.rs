//! The sessions of every agent: listed. Each test has a home of its own.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{Ran, Scratch, arg, golden, program};

/// A home with a session of each agent, and a working folder.
pub(crate) struct Home {
    pub(crate) scratch: Scratch,
}

/// Where each agent keeps one, with the recording that lies there.
pub(crate) const KEPT: [(&str, &str, &str); 4] = [
    (
        "claude",
        "home/.claude/projects/-workspace/00000004-0000-4000-8000-000000000004.jsonl",
        "claude/transcript_parallel.jsonl",
    ),
    (
        "qwen-code",
        "home/.qwen/projects/-workspace/chats/00000004-0000-4000-8000-000000000005.jsonl",
        "qwen-code/chat_parallel.jsonl",
    ),
    (
        "codex",
        "home/.codex/sessions/2026/11/21/rollout-2026-11-21T07-04-47-01a1fcec-0044-79c0-afaa-87ab4281ed2c.jsonl",
        "codex/rollout_think.jsonl",
    ),
    (
        "gemini",
        "home/.gemini/tmp/workspace/chats/session-2026-11-21T07-03-86f24e3c.jsonl",
        "gemini/chat_parallel.jsonl",
    ),
];

impl Home {
    /// With nothing in it.
    pub(crate) fn empty() -> Self {
        let scratch = Scratch::new();
        for folder in ["home", "work"] {
            std::fs::create_dir(scratch.path(folder)).unwrap();
        }
        Self { scratch }
    }

    /// With a session of each agent.
    pub(crate) fn full() -> Self {
        let home = Self::empty();
        for (_, place, recording) in KEPT {
            home.scratch.file(place, std::fs::read(golden(recording)).unwrap());
        }
        home
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.scratch.path("work").canonicalize().unwrap()
    }

    /// Runs `sessions …` in the working folder.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, &[])
    }

    pub(crate) fn run_with(&self, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        self.command(&[&["sessions"], args].concat(), variables)
    }

    pub(crate) fn command(&self, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = program();
        command
            .env_clear()
            .env("HOME", self.scratch.path("home"))
            .env("PATH", "/nowhere")
            .env("TZ", "UTC");
        command.envs(variables.iter().copied());
        let output = command.args(args).current_dir(self.work()).output().expect("it runs");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!err.contains("panicked"), "{err}");
        Ran {
            code: output.status.code().expect("no signal ends it"),
            out: output.stdout,
            err,
        }
    }

    /// What a copy is.
    pub(crate) fn copied(&self, what: &str, to: &str) -> Value {
        let work = self.work();
        let ran = self.run(&["copy", what, "--to", to, "--cwd", arg(&work), "--json"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        serde_json::from_slice(&ran.out).expect("one object")
    }

    /// Every file below the home.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { walk(&path, found) } else { found.push(path) }
            }
        }
        let mut found = Vec::new();
        walk(&self.scratch.path("home"), &mut found);
        found.sort();
        found
    }
}

#[test]
fn the_sessions_of_every_agent_are_listed() {
    let home = Home::full();
    let ran = home.run(&["list", "--all-agents", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let listed: Vec<Value> = ran.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(listed.len(), 4, "{}", ran.text());
    for (agent, place, _) in KEPT {
        let found = listed.iter().find(|session| session["agent"] == agent).expect(agent);
        assert!(place.contains(&found["id"].as_str().unwrap()[..8]), "{found}");
        assert_eq!(found["cwd"], "/workspace", "{found}");
        assert!(found["prompt"].as_str().is_some_and(|prompt| prompt.starts_with("[[")), "{found}");
        assert_eq!(found["turns"], 1, "{found}");
        assert!(found["tokens"].as_u64().is_some_and(|tokens| tokens > 0), "{found}");
        assert_eq!(found["path"], arg(&home.scratch.path(place)), "{found}");
    }
    let table = home.run(&["list", "--all-agents"]);
    assert_eq!(table.text().lines().count(), 4);
    assert!(
        table.text().contains("qwen-code  00000004-0000-4000-8000-000000000005  just now"),
        "{}",
        table.text()
    );
    assert_eq!(Home::empty().run(&["list", "--all-agents"]).text(), "No sessions.\n");
}

#[test]
fn variables_move_where_agents_keep_their_sessions() {
    let home = Home::full();
    let moved = home.scratch.path("elsewhere");
    std::fs::rename(home.scratch.path("home"), &moved).unwrap();
    std::fs::create_dir(home.scratch.path("home")).unwrap();
    let at = |name: &str| arg(&moved.join(name)).to_owned();
    let ran = home.run_with(
        &["list", "--all-agents", "--json"],
        &[
            ("CLAUDE_CONFIG_DIR", &at(".claude")),
            ("QWEN_RUNTIME_DIR", &at(".qwen")),
            ("CODEX_HOME", &at(".codex")),
            ("GEMINI_CLI_HOME", arg(&moved)),
        ],
    );
    assert_eq!(ran.text().lines().count(), 4, "{}", ran.text());
}

#[test]
fn what_is_no_session_is_not_listed_and_what_is_damaged_is() {
    let home = Home::empty();
    home.scratch
        .file("home/.claude/projects/-a/11111111-2222-4333-8444-555555555555.jsonl", "");
    std::fs::create_dir(home.scratch.path("home/.claude/projects/-a/folder.jsonl")).unwrap();
    let child = std::fs::read(golden("claude/transcript_agent.subagent.jsonl")).unwrap();
    home.scratch.file("home/.claude/projects/-a/agent-a1.jsonl", &child);
    let child = std::fs::read(golden("codex/rollout_subagent.jsonl")).unwrap();
    home.scratch.file(KEPT[2].1, &child);
    let whole = std::fs::read(golden("claude/transcript_read.jsonl")).unwrap();
    let cut = &whole[..whole.len() - 40];
    home.scratch.file("home/.claude/projects/-a/\u{1b}[2Jx.jsonl", cut);
    let ran = home.run(&["list", "--all-agents"]);
    assert_eq!((ran.code, ran.text().lines().count()), (0, 1), "{}{}", ran.text(), ran.err);
    assert!(!ran.text().contains('\u{1b}') && ran.text().contains("\\u{1b}[2Jx"), "{}", ran.text());
}

/// A file may say that it is longer than any disk.
#[test]
fn a_file_without_end_keeps_no_list_waiting() {
    let home = Home::full();
    let endless = home.scratch.file("home/.claude/projects/-workspace/endless.jsonl", "");
    let file = std::fs::OpenOptions::new().write(true).open(&endless).unwrap();
    file.set_len(100 << 30).unwrap();
    for (args, shows) in [(&["sessions", "list", "--all-agents"][..], "parallel"), (&["stats"], "total")] {
        let ran = home.command(args, &[]);
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert!(ran.err.contains("endless.jsonl: ") && ran.err.contains("4 GiB"), "{}", ran.err);
        assert!(ran.text().contains(shows), "{}", ran.text());
    }
}

/// What another program keeps is not ours to show as our own or to delete.
#[test]
fn sessions_of_others_are_left_to_them() {
    let home = Home::full();
    let show = home.run(&["show", "01a1fcec"]);
    assert!(
        show.code == 2 && show.err.contains("codex") && show.err.contains("`agentglot show 01a1fcec`"),
        "{}",
        show.err
    );
    let delete = home.run(&["delete", "00000004-0000-4000-8000-000000000004"]);
    assert!(delete.code == 2 && delete.err.contains("not begun by agentglot"), "{}", delete.err);
    assert!(home.run(&["delete", "01a1fcec"]).err.contains("only its own program deletes it"));
    assert_eq!(home.files().len(), KEPT.len());
}

/// A process may have so few files open that none of the sessions can be read: that is no empty list.
#[test]
fn what_cannot_be_read_is_told_and_is_no_empty_list() {
    let home = Home::full();
    let starved = |args: &str| {
        let line = format!("exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n 4; exec \"$0\" {args}");
        let mut shell = std::process::Command::new("/bin/sh");
        shell.args(["-c", &line]).arg(program().get_program());
        shell.env_clear().env("HOME", home.scratch.path("home")).current_dir(home.work());
        let output = shell.output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{args}: {err}");
        assert!(err.contains("cannot be read") && err.contains("Too many open files"), "{args}: {err}");
        String::from_utf8(output.stdout).unwrap()
    };
    for args in ["list", "list --all --json", "list --all-agents", "list --all-agents --json"] {
        assert_eq!(starved(&format!("sessions {args}")), "");
    }
    starved("sessions delete --all");
    starved("sessions show 00000004");
    starved("show 01a1fcec");
    starved("stats");
    // A folder that leads to itself stands for any that cannot be read. The others are listed.
    let folder = home.scratch.path("home/.codex/sessions");
    std::fs::remove_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink(&folder, &folder).unwrap();
    let ran = home.run(&["list", "--all-agents"]);
    assert_eq!((ran.code, ran.text().lines().count()), (3, 3), "{}", ran.err);
    assert!(ran.err.contains(".codex/sessions: cannot be read"), "{}", ran.err);
}

/// No program packs its sessions: a small file that unpacks without end keeps no list waiting.
#[test]
fn a_packed_file_is_looked_through_only_where_it_is_named() {
    let home = Home::full();
    let (_, place, recording) = KEPT[0];
    let packed = zstd::encode_all(&*std::fs::read(golden(recording)).unwrap(), 1).unwrap();
    let path = home.scratch.file(place, packed);
    let ran = home.run(&["list", "--all-agents"]);
    assert_eq!((ran.code, ran.text().lines().count()), (3, 3), "{}", ran.err);
    assert!(ran.err.contains("it is packed"), "{}", ran.err);
    assert_eq!(home.command(&["show", arg(&path)], &[]).code, 0);
}

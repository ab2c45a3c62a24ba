//! What commands of the built-in agent do not find: the key of the model. Root finds everything, so root's tests run it as somebody else.

use std::os::unix::fs::chown;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::support::model::{Answer, Step};
use crate::support::play::{ONE, Play, run, said};

const KEY: &str = "sk-a-secret-of-ours";
/// Something that everybody may read.
const BAIT: &str = "BAIT=worm-for-everybody";
/// Nobody.
const USER: u32 = 65534;

fn chown_all(path: &Path) {
    chown(path, Some(USER), Some(USER)).unwrap();
    if path.is_dir() {
        std::fs::read_dir(path).unwrap().flatten().for_each(|entry| chown_all(&entry.path()));
    }
}

/// The same command as a user who is not root.
pub(crate) fn as_user(play: &Play, command: Command) -> Command {
    if !rustix::process::geteuid().is_root() {
        return command;
    }
    // The folder of the build may be root's alone.
    let program = play.base().join("agentglot");
    if !program.exists() {
        std::fs::copy(env!("CARGO_BIN_EXE_agentglot"), &program).unwrap();
    }
    chown_all(&play.base());
    let mut other = Command::new("setpriv");
    let user = USER.to_string();
    other.args(["--reuid", &user, "--regid", &user, "--clear-groups", "--inh-caps=-all"]);
    if command.get_program() == env!("CARGO_BIN_EXE_agentglot") {
        other.arg(program);
    } else {
        other.arg(command.get_program());
    }
    other.args(command.get_args()).env_clear();
    for (name, value) in command.get_envs() {
        other.env(name, value.unwrap_or_default());
    }
    other.current_dir(play.path(""));
    other.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    other
}

/// A process of the same user with something to find.
struct Bait(Child);

impl Bait {
    fn new(play: &Play) -> Self {
        let mut command = Command::new("sleep");
        let (name, value) = BAIT.split_once('=').unwrap();
        command
            .arg("1000")
            .env_clear()
            .env(name, value)
            .env("PATH", std::env::var("PATH").unwrap_or_default());
        Self(as_user(play, command).spawn().unwrap())
    }
}

impl Drop for Bait {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_transcript_holds_no_secret_of_the_command_line_and_no_log_shows_one() {
    let servers = r#"{"mcpServers":{"gone":{"type":"http","url":"http://me:pwofurl@127.0.0.1:1/mcp?access_token=tokenofurl","headers":{"X-Api-Key":"headerword"}}}}"#;
    let all = ["keyofflag", "headerword", "pwofurl", "tokenofurl"];
    let play = Play::script(vec![Answer::text(&format!("I know {}.", all.join(", ")))]);
    let args = [crate::support::play::PRINT, &["--mcp-config", servers, "--api-key", "keyofflag", "go"]].concat();
    let mut command = play.command("claude", &args);
    command.env("AGENTGLOT_LOG", "trace");
    let end = run(command);
    assert_eq!(end.code(), 0, "{end:#?}");
    let mut folders = vec![play.base().join("home")];
    let mut kept = String::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                kept.push_str(&std::fs::read_to_string(entry.path()).unwrap_or_default());
            }
        }
    }
    assert!(kept.contains("I know [redacted]"), "{kept}");
    for secret in all {
        assert!(!kept.contains(secret), "{secret}: {kept}");
        assert!(!end.stderr.contains(secret), "{secret}: {}", end.stderr);
    }
}

/// The host sees each piece as it comes; what is kept of it holds no secret that could be put together again.
#[test]
fn a_record_holds_no_secret_that_was_streamed_in_pieces() {
    let other = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let said = format!("One is {KEY}, the other is {other}. That is all.");
    let call = json!({"command": format!("echo {other} > x"), "description": "x"}).to_string();
    let mut steps: Vec<Step> = said.chars().map(|letter| Step::Text(letter.to_string())).collect();
    steps.push(Step::Call("c0".to_owned(), "Bash".to_owned(), call));
    for (dialect, args) in ONE.iter().filter(|(dialect, _)| *dialect != "tricode") {
        let partial: &[&str] = match *dialect {
            "claude" | "qwen-code" => &["--include-partial-messages"],
            "cursor" => &["--stream-partial-output"],
            _ => &[],
        };
        let play = Play::script(vec![Answer::steps(steps.clone()), Answer::text("All done.")]);
        let records = play.base().join("records");
        let mut command = play.command(dialect, &[partial, args, &["go"]].concat());
        command.env("AGENTGLOT_RECORD", &records);
        let end = run(command);
        assert_eq!(end.code(), 0, "{dialect}: {end:#?}");
        let mut seen = 0;
        for entry in std::fs::read_dir(&records).unwrap().flatten() {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            // All texts of it, put together.
            let mut strings = String::new();
            for line in text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()) {
                seen += 1;
                let mut all = vec![&line];
                while let Some(value) = all.pop() {
                    match value {
                        serde_json::Value::String(text) if text.len() < 200 => strings.push_str(text),
                        serde_json::Value::Array(list) => all.extend(list),
                        serde_json::Value::Object(object) => {
                            let told = ["text", "content", "delta", "partial_json", "arguments", "input"];
                            all.extend(
                                object
                                    .iter()
                                    .filter(|(name, value)| !value.is_string() || told.contains(&name.as_str()))
                                    .map(|(_, value)| value),
                            );
                        }
                        _ => {}
                    }
                }
            }
            for secret in [KEY, other] {
                assert!(
                    !text.contains(secret) && !strings.contains(secret),
                    "{dialect} {}: {secret}: {strings}",
                    entry.path().display()
                );
            }
        }
        assert!(seen > 10, "{dialect}: nothing was kept");
    }
}

#[test]
fn a_command_does_not_find_the_key_in_other_processes() {
    // The patterns are not what they find.
    let look = format!(
        "for all in /proc/[0-9]*; do \
           tr '\\0' '\\n' < $all/environ; tr '\\0' '\\n' < $all/cmdline; done 2>/dev/null | grep -aE '{}|^{}' | sort -u; \
         cat /proc/$PPID/environ /proc/$PPID/mem; ls -l /proc/$PPID/fd; echo looked",
        KEY.replace("sk-", "s[k]-"),
        BAIT.replace("worm", "wor[m]"),
    );
    let named = |dialect: &str| match dialect {
        "claude" => ("Bash", json!({"command": look, "description": "looks"})),
        "cursor" => ("shell", json!({"command": look})),
        "tricode" => ("run_command", json!({"command": look})),
        _ => ("run_shell_command", json!({"command": look, "is_background": false})),
    };
    for api in ["openai", "anthropic"] {
        for (dialect, args) in ONE {
            let mut calls = vec![named(dialect)];
            if *dialect == "tricode" {
                // It wants a plan before anything else.
                calls.insert(0, ("plan", json!({"action": "skip", "reason": "a look"})));
            }
            let play = Play::script(vec![Answer::calls(&calls), Answer::text("All done.")]);
            let bait = Bait::new(&play);
            let args = [*args, &["go"]].concat();
            let end = run(as_user(&play, play.command_of(api, dialect, &args)));
            assert_eq!(end.code(), 0, "{dialect}: {end:#?}");
            let asked = play.server.asked();
            let read = asked[1].all();
            assert!(read.contains("looked") && read.contains(BAIT), "{dialect}: it looked at nothing: {read}");
            assert!(!asked[1].body.to_string().contains(KEY) && !said(&end).contains(KEY), "{dialect}: {read}");
            drop(bait);
            play.nothing_is_left(None);
        }
    }
}

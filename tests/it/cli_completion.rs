//! What a shell is told that asks how a command line may go on.

use std::path::Path;
use std::process::Command;

use crate::common::{Scratch, arg, log, program, run, skipped};

/// What fits behind these words, of which the last one is begun.
fn fits(words: &[&str], home: &Path) -> Vec<String> {
    let asked = program()
        .env("AGENTGLOT_COMPLETE", "fish")
        .env("HOME", home)
        .env_remove("CLAUDE_CONFIG_DIR")
        .args(["--", "agentglot"])
        .args(words)
        .output()
        .unwrap();
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    let text = String::from_utf8(asked.stdout).unwrap();
    text.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn formats_are_offered_where_they_fit() {
    let scratch = Scratch::new();
    let fits = |words: &[&str]| fits(words, &scratch.path(""));
    assert_eq!(fits(&["convert", "--to", "qwen:"]), ["qwen:stream-chunk-json", "qwen:text"]);
    assert!(fits(&["convert", "--from", "a"]).contains(&"auto".to_owned()));
    assert_eq!(fits(&["convert", "--from", "openai"]), ["openai:messages", "openai"]);
    assert_eq!(fits(&["convert", "--to", "openai"]), ["openai:messages"], "streams are never written");
    assert!(fits(&["convert", "--to", "anthropic"]).is_empty(), "it is never written");
    assert!(fits(&["check", "--dialect=codex:r"]).contains(&"--dialect=codex:rollout".to_owned()));
    assert!(fits(&["conv"]).contains(&"convert".to_owned()));
    #[cfg(unix)]
    assert_eq!(fits(&["ac"]), ["acp"], "short forms of `run` are commands too");
}

#[cfg(unix)]
#[test]
fn sessions_are_offered_by_their_ids() {
    let scratch = Scratch::new();
    let id = "0f3c2a9e-0000-4000-8000-00000000000a";
    scratch.file(&format!(".claude/projects/-w/{id}.jsonl"), log(id, "Good day."));
    let fits = |words: &[&str]| fits(words, &scratch.path(""));
    for words in [
        &["show", "0f3"][..],
        &["diff", "a.jsonl", "0f3"],
        &["sessions", "copy", "0f"],
        &["sessions", "delete", ""],
        &["sessions", "show", ""],
    ] {
        assert!(fits(words).contains(&id.to_owned()), "{words:?}: {:?}", fits(words));
    }
    assert!(!fits(&["show", "1f3"]).contains(&id.to_owned()));
    assert!(fits(&["convert", "0f3"]).is_empty(), "it takes files only");
}

#[test]
fn what_power_shell_puts_in_is_a_word() {
    let script = program().args(["completions", "powershell"]).output().unwrap().stdout;
    let script = String::from_utf8(script).unwrap();
    assert!(script.contains("$text = if ($word -match '^[A-Za-z0-9_./:+-]+$')"), "{script}");
    assert!(script.contains("EscapeSingleQuotedStringContent($word)"), "{script}");
    assert_eq!(script.matches("CompletionResult]::new($text, $word, ").count(), 1, "{script}");
    // What was typed is handed over and not run.
    assert!(
        script.contains("& agentglot -- $words\n") && !script.contains("Invoke-Expression"),
        "{script}"
    );
}

#[cfg(unix)]
#[test]
fn bash_completes_behind_a_colon() {
    let scratch = Scratch::new();
    let script = scratch.file("agentglot.bash", run(["completions", "bash"]).out);
    // What Bash hands over for `agentglot convert --to qwen:stream-c`.
    let asks = format!(
        r#"source {}
COMP_WORDS=(agentglot convert --to qwen : stream-c) COMP_CWORD=5 COMP_TYPE=9
_agentglot agentglot stream-c :
printf '%s\n' "${{COMPREPLY[@]}}"
COMP_WORDS=(agentglot convert --to tri) COMP_CWORD=3
_agentglot agentglot tri --to
printf '%s\n' "${{COMPREPLY[@]}}"
"#,
        arg(&script)
    );
    let folder = Path::new(env!("CARGO_BIN_EXE_agentglot")).parent().unwrap();
    let path = std::env::join_paths(std::iter::once(folder.to_owned()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap()))).unwrap();
    match Command::new("bash").args(["--norc", "-c", &asks]).env("PATH", path).output() {
        Ok(ran) => {
            let said = String::from_utf8_lossy(&ran.stdout);
            let mut lines: Vec<&str> = said.lines().map(str::trim_end).collect();
            lines.dedup();
            assert_eq!(lines[0], "stream-chunk-json", "{said}\n{}", String::from_utf8_lossy(&ran.stderr));
            assert!(lines[1..].contains(&"tricode:text"), "{said}");
        }
        Err(error) => skipped("completion in Bash", error),
    }
}

/// Names that anybody may have chosen are put in as words, in which the shell finds nothing to do.
#[cfg(unix)]
#[test]
fn what_bash_puts_in_is_a_word() {
    let scratch = Scratch::new();
    let script = scratch.file("agentglot.bash", run(["completions", "bash"]).out);
    let names = ["run $(touch pwned);'\"\\`x`.jsonl", "runs*.jsonl", "run.jsonl"];
    for name in names {
        scratch.file(&format!("logs/{name}"), "");
    }
    scratch.file(".claude/projects/-w/run$(touch pwned).jsonl", log("s", "Good day."));
    let asks = format!(
        r#"source {}
COMP_WORDS=(agentglot check run) COMP_CWORD=2 COMP_TYPE=9
_agentglot agentglot run check
for word in "${{COMPREPLY[@]}}"; do eval "printf '%s\n' $word"; done
COMP_WORDS=(agentglot show '"run') COMP_CWORD=2
_agentglot agentglot '"run' show
printf 'quoted: %s\n' "${{COMPREPLY[@]}}"
COMP_WORDS=(agentglot sessions show run) COMP_CWORD=3
_agentglot agentglot run show
printf 'session: %s\n' "${{COMPREPLY[@]}}"
"#,
        arg(&script)
    );
    let folder = Path::new(env!("CARGO_BIN_EXE_agentglot")).parent().unwrap();
    let path = std::env::join_paths(std::iter::once(folder.to_owned()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap()))).unwrap();
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", &asks]).current_dir(scratch.path("logs")).env("PATH", path);
    match bash.env("HOME", scratch.path("")).env_remove("CLAUDE_CONFIG_DIR").output() {
        Ok(ran) => {
            let said = String::from_utf8_lossy(&ran.stdout);
            let err = String::from_utf8_lossy(&ran.stderr);
            for name in names {
                assert!(said.lines().any(|line| line == name), "{name}: {said}\n{err}");
            }
            assert!(!said.contains("quoted: run $"), "{said}");
            assert!(!said.contains("session: run$"), "{said}");
            assert!(!scratch.path("logs/pwned").exists(), "{said}");
        }
        Err(error) => skipped("completion in Bash", error),
    }
}

#[test]
fn nothing_but_the_variable_asks() {
    let ran = program().env("COMPLETE", "bash").arg("--version").output().unwrap();
    assert!(String::from_utf8_lossy(&ran.stdout).starts_with("agentglot "));
    let ran = program().env("AGENTGLOT_COMPLETE", "tcl").arg("--version").output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
}

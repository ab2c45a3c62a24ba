//! What `--record` keeps.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SESSION: &str = "11111111-2222-4333-8444-555555555555";

fn agentglot() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentglot"));
    command.env_clear().env("PATH", "/usr/bin:/bin").env("AGENTGLOT_START_TIMEOUT", "20");
    command
}

/// Two prompts in a row by a host that talks, over some back end; permission questions are answered with yes.
fn talk(backend: &str, record: Option<&Path>, prompts: &[&str], env: &[(&str, &str)]) -> String {
    let mut command = agentglot();
    command.envs(env.iter().copied()).args(["run", "--as", "claude", "--backend", backend]);
    if let Some(dir) = record {
        command.arg("--record").arg(dir);
    }
    command.args([
        "--",
        "--print",
        "--verbose",
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
    ]);
    command.args(["--permission-prompt-tool", "stdio", "--session-id", SESSION]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut prompts = prompts.iter();
    let mut say = |stdin: &mut std::process::ChildStdin| {
        let prompt = prompts.next()?;
        writeln!(stdin, "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{prompt}\"}}}}").unwrap();
        Some(())
    };
    say(&mut stdin);
    let mut stdin = Some(stdin);
    let mut all = String::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        if value["type"] == "control_request" {
            let answer = serde_json::json!({"type": "control_response", "response": {
                "subtype": "success", "request_id": value["request_id"],
                "response": {"behavior": "allow", "updatedInput": value["request"]["input"]}}});
            writeln!(stdin.as_mut().unwrap(), "{answer}").unwrap();
        }
        if value["type"] == "result" && stdin.as_mut().and_then(&mut say).is_none() {
            stdin = None;
        }
        all.push_str(&line);
        all.push('\n');
    }
    child.wait().unwrap();
    all
}

fn kept(dir: &Path, ending: &str) -> Option<PathBuf> {
    let mut files = std::fs::read_dir(dir).unwrap().map(|file| file.unwrap().path());
    files.find(|path| path.to_str().unwrap().ends_with(ending))
}

fn meta(dir: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(kept(dir, ".meta.json").unwrap()).unwrap()).unwrap()
}

#[test]
fn a_record_is_told_again_word_for_word() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("deep/records");
    let prompts = ["Hello", "Go on", "And now?"];
    let first = talk("demo", Some(&dir), &prompts, &[]);
    assert!(
        first.contains("can_use_tool") && first.matches("\"type\":\"result\"").count() == 3,
        "{first}"
    );
    let out = kept(&dir, ".out.jsonl").unwrap();
    assert_eq!(std::fs::read_to_string(&out).unwrap(), first, "what we say is kept as it is");
    let again = talk(&format!("replay:{}", out.display()), None, &prompts, &[]);
    assert_eq!(again, first);

    let said = std::fs::read_to_string(kept(&dir, ".in.jsonl").unwrap()).unwrap();
    assert!(said.contains("\"And now?\"") && said.contains("control_response"), "{said}");
    let about = meta(&dir);
    assert_eq!(about["complete"], true, "{about:#}");
    assert_eq!(about["host"], "claude");
    assert_eq!(about["backend_chosen"], "demo");
    assert_eq!(about["session_id"], SESSION);
    assert!(about["ended"].as_str().unwrap() >= about["began"].as_str().unwrap());
    assert_eq!(about["argv"][0], "--print");
    assert!(about["exit_code"].is_u64(), "{about:#}");

    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir), 0o700);
    let files: Vec<PathBuf> = std::fs::read_dir(&dir).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 4);
    assert!(files.iter().all(|file| mode(file) == 0o600), "{files:?}");
}

#[test]
fn both_directions_can_be_converted() {
    let root = tempfile::tempdir().unwrap();
    talk("demo", Some(root.path()), &["Hello"], &[]);
    let input = kept(root.path(), ".in.jsonl").unwrap();
    for ending in [".out.jsonl", ".backend.jsonl"] {
        let log = kept(root.path(), ending).unwrap();
        let done = agentglot()
            .args(["convert", "--to", "cursor", "--input-log"])
            .arg(&input)
            .arg(&log)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        let text = String::from_utf8(done.stdout).unwrap();
        assert!(text.contains("\"text\":\"Hello\""), "{ending}: {text}");
    }
}

#[test]
fn secrets_are_taken_out_and_counted() {
    let root = tempfile::tempdir().unwrap();
    let env = [("SOME_API_KEY", "hunter2-hunter2"), ("LANG", "C")];
    let prompt = "use hunter2-hunter2 and sk-ant-api03-abcdefghijklmnop please, Authorization: Bearer abcdef0123456789";
    talk("demo", Some(root.path()), &[prompt], &env);
    let said = std::fs::read_to_string(kept(root.path(), ".in.jsonl").unwrap()).unwrap();
    assert!(
        said.contains("use [redacted] and [redacted] please, Authorization: Bearer [redacted]"),
        "{said}"
    );
    for file in std::fs::read_dir(root.path()).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(
            !text.contains("hunter2") && !text.contains("sk-ant") && !text.contains("abcdef0123"),
            "{text}"
        );
    }
    assert!(meta(root.path())["redacted"].as_u64().unwrap() >= 3);
}

/// Arguments that hold secrets in every way that they can, the secrets, and words beside them that are none.
fn telling() -> (Vec<&'static str>, Vec<&'static str>, Vec<&'static str>) {
    let servers = r#"{"mcpServers":{"a":{"command":"nothing-here","args":["--token","justletters","--depth","3"],"env":{"DB_PASSWORD":"pwofdb","MODE":"calm"},"headers":{"X-Any":"anyheader"}},
        "b":{"type":"http","url":"https://me:pwofurl@127.0.0.1:1/mcp?access_token=tokenofurl","headers":{"Authorization":"Bearer bearerword"}}}}"#;
    let args = vec![
        "--api-key",
        "keyofflag",
        "--openai-api-key=otherkey",
        "--mcp-config",
        servers,
        "--settings",
        r#"{"env":{"STRIPE_KEY":"keyofenv"},"model":"some-model"}"#,
        "--append-system-prompt",
        "PGPASSWORD=pwofpg",
        "--model",
        "gpt-harmless",
        "--max-thinking-tokens",
        "4096",
    ];
    let secrets = vec![
        "keyofflag",
        "otherkey",
        "justletters",
        "pwofdb",
        "anyheader",
        "pwofurl",
        "tokenofurl",
        "bearerword",
        "keyofenv",
        "pwofpg",
    ];
    (
        args,
        secrets,
        vec!["gpt-harmless", "4096", "some-model", "--depth", "nothing-here", "DB_PASSWORD", "X-Any"],
    )
}

#[test]
fn arguments_are_kept_and_logged_without_their_secrets() {
    let (args, secrets, others) = telling();
    let root = tempfile::tempdir().unwrap();
    for dialect in ["claude", "qwen-code", "cursor", "tricode", "qwen"] {
        let dir = root.path().join(dialect);
        let done = agentglot()
            .args(["-vvv", "run", "--as", dialect, "--backend", "demo", "--record"])
            .arg(&dir)
            .args(["--", "-p"])
            .args(&args)
            .arg("say keyofflag, otherkey and justletters")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(
            !secrets.iter().any(|secret| String::from_utf8_lossy(&done.stderr).contains(secret)),
            "{dialect}: {said}"
        );
        // Some of these programs do not know the flags: then there is no session.
        let files: Vec<PathBuf> = std::fs::read_dir(&dir).into_iter().flatten().map(|file| file.unwrap().path()).collect();
        assert!(!files.is_empty() || ["cursor", "tricode"].contains(&dialect), "{dialect}: {said}");
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            for secret in &secrets {
                assert!(!text.contains(secret), "{dialect}: {secret} in {}: {text}", file.display());
            }
            if file.to_str().unwrap().ends_with(".meta.json") {
                assert!(others.iter().all(|other| text.contains(other)), "{text}");
                assert!(meta(&dir)["redacted"].as_u64().unwrap() >= secrets.len() as u64, "{text}");
            }
        }
    }
}

#[test]
fn variables_are_known_by_one_list_in_records_and_for_commands() {
    let root = tempfile::tempdir().unwrap();
    let env = [
        ("PGPASSWORD", "wordpg"),
        ("DATABASE_URL", "postgres://me:worddb@h/db"),
        ("GCP_CREDS", "wordofcreds"),
        ("SERVICE_JWT", "wordofjwt"),
        ("SLACK_WEBHOOK_URL", "https://hooks.slack.com/services/T000/B000/wordofhook"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-team=one,api-key=wordofotel"),
        ("ANTHROPIC_CUSTOM_HEADERS", "X-Auth-Token: wordofheader"),
        ("HTTPS_PROXY", "http://me:wordofproxy@127.0.0.1:1"),
        ("MYSQL_PWD", "wordmy"),
    ];
    let words = [
        "wordpg",
        "worddb",
        "wordofcreds",
        "wordofjwt",
        "wordofhook",
        "wordofotel",
        "wordofheader",
        "wordofproxy",
        "wordmy",
    ];
    talk("demo", Some(root.path()), &[&words.join(" and ")], &env);
    for file in std::fs::read_dir(root.path()).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for word in words {
            assert!(!text.contains(word), "{word}: {text}");
        }
    }
}

#[test]
fn the_prompt_of_a_host_that_does_not_talk_is_in_the_meta_file() {
    let root = tempfile::tempdir().unwrap();
    let done = agentglot()
        .args(["run", "--as", "cursor", "--backend", "demo", "--record"])
        .arg(root.path())
        .args(["--", "-p", "--output-format", "stream-json", "Say sk-ant-api03-abcdefghijklmnop"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    let about = meta(root.path());
    assert_eq!(about["prompt"], "Say [redacted]");
    assert_eq!(about["argv"][3], "Say [redacted]");
    assert!(kept(root.path(), ".in.jsonl").is_none());
    assert_eq!(about["exit_code"], 0);
}

#[test]
fn a_folder_that_cannot_be_written_disturbs_nobody() {
    let done = agentglot()
        .args(["run", "--as", "cursor", "--backend", "demo", "--record", "/dev/null/x"])
        .args(["--", "-p", "--output-format", "stream-json", "Hello"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    assert!(String::from_utf8(done.stdout).unwrap().contains("\"type\":\"result\""));
    let told = String::from_utf8(done.stderr).unwrap();
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.starts_with("agentglot: /dev/null/x: nothing is recorded: "), "{told}");
}

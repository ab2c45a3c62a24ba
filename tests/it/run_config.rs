//! Where the settings of a stand-in come from, and who may say what.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::support::{stderr, stdout};

/// A project and a user's home of their own.
struct World {
    root: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["project", "config/agentglot", "bin"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        Self { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        // As the program sees its working folder.
        self.root.path().canonicalize().unwrap().join(name)
    }

    fn project(&self, text: &str) -> &Self {
        std::fs::write(self.path("project/agentglot.toml"), text).unwrap();
        self
    }

    fn user(&self, text: &str) -> &Self {
        std::fs::write(self.path("config/agentglot/agentglot.toml"), text).unwrap();
        self
    }

    /// A program that says its version, and otherwise its arguments as the text of a Claude session.
    fn program(&self, name: &str) -> PathBuf {
        let path = self.path("bin").join(name);
        let script = "#!/bin/sh\n[ \"$1\" = --version ] && { echo '9.8.7 (fake)'; exit 0; }\ncat >/dev/null &\n\
            printf '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"num_turns\":1,\"duration_ms\":1,\"duration_api_ms\":1,\"total_cost_usd\":0,\"session_id\":\"s\",\"result\":\"%s\"}\\n' \"$*\"\n";
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn agentglot(&self, args: &[&str], env: &[(&str, &str)]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agentglot"));
        command
            .args(args)
            .current_dir(self.path("project"))
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .envs(env.iter().copied())
            .stdin(Stdio::null());
        command.output().unwrap()
    }

    fn doctor(&self, env: &[(&str, &str)]) -> (serde_json::Value, i32) {
        let done = self.agentglot(&["doctor", "--json"], env);
        let report = serde_json::from_slice(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}"));
        (report, done.status.code().unwrap())
    }
}

const HELLO: [&str; 6] = ["run", "--as", "claude", "--", "-p", "Hello"];

#[test]
fn flags_go_before_variables_before_the_project_before_the_user() {
    let world = World::new();
    let from = |world: &World, env: &[(&str, &str)]| {
        let (report, _) = world.doctor(env);
        let pace = &report["settings"]["pace"];
        (pace["value"].as_str().unwrap().to_owned(), pace["from"].as_str().unwrap().to_owned())
    };
    let place = |name: &str, line: u32| format!("{}:{line}", world.path(name).display());
    assert_eq!(from(&world, &[]), ("full".to_owned(), "default".to_owned()));
    world.user("backend = 'demo'\npace = 2\n");
    assert_eq!(from(&world, &[]), ("2".to_owned(), place("config/agentglot/agentglot.toml", 2)));
    world.project("\n\npace = 3\n");
    assert_eq!(from(&world, &[]), ("3".to_owned(), place("project/agentglot.toml", 3)));
    assert_eq!(from(&world, &[("AGENTGLOT_PACE", "4")]), ("4".to_owned(), "AGENTGLOT_PACE".to_owned()));
    // The user's back end answers; a flag that names another one is followed.
    let done = world.agentglot(&HELLO, &[]);
    assert!(done.status.success() && !done.stdout.is_empty(), "{done:?}");
    let done = world.agentglot(
        &["run", "--as", "claude", "--backend", "replay:/nowhere.jsonl", "--", "-p", "Hello"],
        &[("AGENTGLOT_BACKEND", "demo")],
    );
    assert!(stderr(&done).contains("/nowhere.jsonl"), "{done:?}");
    let done = world.agentglot(&HELLO, &[("AGENTGLOT_BACKEND", "replay:/not/here.jsonl")]);
    assert!(stderr(&done).contains("/not/here.jsonl"), "{done:?}");
}

#[test]
fn a_link_reads_the_files_too() {
    let world = World::new();
    world.user("backend = 'demo'\n");
    let shims = world.path("shims");
    let made = world.agentglot(&["install-shims", shims.to_str().unwrap()], &[]);
    assert!(made.status.success(), "{made:?}");
    let done = Command::new(shims.join("cursor-agent"))
        .args(["-p", "--output-format", "stream-json", "Hello"])
        .current_dir(world.path("project"))
        .env_clear()
        .env("XDG_CONFIG_HOME", world.path("config"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(done.status.success() && stdout(&done).contains("\"type\":\"result\""), "{done:?}");
}

#[test]
fn unknown_keys_are_named_with_file_line_and_the_nearest() {
    let world = World::new();
    world.project("pace = 1\nbackand = 'demo'\n");
    let done = world.agentglot(&HELLO, &[]);
    assert_eq!(done.status.code(), Some(2));
    let wanted = format!(
        "agentglot: {}:2: there is no key `backand`; the nearest is `backend`\n",
        world.path("project/agentglot.toml").display()
    );
    assert_eq!(stderr(&done), wanted);
    let (report, code) = world.doctor(&[]);
    assert_eq!(code, 1);
    assert!(report["problems"][0].as_str().unwrap().contains("the nearest is `backend`"), "{report}");
    // What has nothing to do with a session does not care.
    assert!(world.agentglot(&["dialects"], &[]).status.success());
}

#[test]
fn without_a_back_end_the_choices_are_named() {
    let world = World::new();
    let done = world.agentglot(&HELLO, &[]);
    assert_eq!(done.status.code(), Some(2));
    let told = stderr(&done);
    for choice in ["--backend", "AGENTGLOT_BACKEND", "agentglot.toml", "demo", "replay:FILE", "cli:claude"] {
        assert!(told.contains(choice), "{told}");
    }
    // Clients ask for the version before anything else, and not always with the settings of the session.
    let version = world.agentglot(&["run", "--as", "claude", "--", "--version"], &[]);
    assert_eq!((version.status.code(), &*stderr(&version)), (Some(0), ""));
}

#[test]
fn models_are_called_by_their_other_names() {
    let world = World::new();
    world.program("claude");
    world.user("backend = 'cli:claude'\n[models]\nsonnet = 'house-model-7'\n");
    let line = |model: &str| {
        let done = world.agentglot(&["run", "--as", "cursor", "--", "-p", "--model", model, "Hello"], &[]);
        stdout(&done)
    };
    assert!(line("sonnet").contains("--model=house-model-7"), "{}", line("sonnet"));
    assert!(line("other").contains("--model=other"), "{}", line("other"));
}

#[test]
fn doctor_names_keys_and_never_shows_them() {
    let world = World::new();
    world.program("claude");
    world.user("backend = 'cli:claude'\n");
    let env = [("ANTHROPIC_API_KEY", "very-secret-value"), ("ANTHROPIC_BASE_URL", "http://localhost:1")];
    for args in [&["doctor"][..], &["doctor", "--json"]] {
        let done = world.agentglot(args, &env);
        let text = stdout(&done);
        assert_eq!(done.status.code(), Some(0), "{done:?}");
        assert!(text.contains("ANTHROPIC_API_KEY") && text.contains("9.8.7 (fake)"), "{text}");
        assert!(!text.contains("very-secret-value"), "{text}");
    }
    // An address is shown as it was given, whatever is wrong with it, but for the password.
    for (address, shown) in [
        ("me:very-secret@h/v1", "[redacted]@h/v1"),
        ("http://localhost:1/v1", "http://localhost:1/v1"),
    ] {
        for args in [&["doctor"][..], &["doctor", "--json"]] {
            let text = stdout(&world.agentglot(args, &[("AGENTGLOT_BACKEND", "model:openai"), ("OPENAI_BASE_URL", address)]));
            assert!(text.contains(shown) && !text.contains("very-secret"), "{text}");
        }
    }
    // Nor what an address or a line holds.
    let env = [
        ("AGENTGLOT_SEARCH_ENGINE", "https://me:very-secret@h/search?api_key=verysecretkey"),
        ("AGENTGLOT_ON_ASK", "command:ask --token=verysecret1"),
    ];
    for args in [&["doctor"][..], &["doctor", "--json"]] {
        let text = stdout(&world.agentglot(args, &env));
        assert!(
            text.contains("search_engine") && !text.contains("very-secret") && !text.contains("verysecret"),
            "{text}"
        );
    }
    let (report, code) = world.doctor(&[("AGENTGLOT_BACKEND", "cli:tricode")]);
    assert_eq!(code, 1);
    assert!(report["problems"][0].as_str().unwrap().contains("tricode"), "{report:#}");
}

#[test]
fn a_version_that_never_comes_is_not_waited_for() {
    let world = World::new();
    let path = world.path("bin/qwen");
    std::fs::write(&path, "#!/bin/sh\nexec sleep 600\n").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let begin = std::time::Instant::now();
    let (report, code) = world.doctor(&[("AGENTGLOT_BACKEND", "cli:qwen")]);
    assert!(begin.elapsed().as_secs() < 60);
    assert_eq!(code, 1);
    assert!(report["problems"][0].as_str().unwrap().contains("did not answer within"), "{report:#}");
}

#[test]
fn switches_are_read_as_people_write_them() {
    let world = World::new();
    let unknown = ["run", "--as", "claude", "--backend", "demo", "--", "-p", "--no-such-flag=1", "Hello"];
    assert!(world.agentglot(&unknown, &[("AGENTGLOT_STRICT_ARGS", "0")]).status.success());
    for on in ["1", "true"] {
        let done = world.agentglot(&unknown, &[("AGENTGLOT_STRICT_ARGS", on)]);
        assert!(!done.status.success() && stderr(&done).contains("--no-such-flag"), "{done:?}");
    }
    let done = world.agentglot(&unknown, &[("AGENTGLOT_STRICT_ARGS", "perhaps")]);
    assert!(done.status.code() == Some(2) && stderr(&done).contains("perhaps"), "{done:?}");
    world.user("strict_args = true\n");
    assert!(!world.agentglot(&unknown, &[]).status.success());
}

/// Who is to blame is named: the flag that was typed, the variable, or the file with its line and key.
#[test]
fn what_cannot_be_meant_is_called_by_where_it_stands() {
    let world = World::new();
    let run = |flags: &[&str], env: &[(&str, &str)]| {
        let done = world.agentglot(
            &[&["run", "--as", "claude"], flags, &["--backend", "demo", "--", "-p", "Hello"]].concat(),
            env,
        );
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        stderr(&done)
    };
    let (pace, on_ask) = (("AGENTGLOT_PACE", "x"), ("AGENTGLOT_ON_ASK", "Reed"));
    for (flags, env, blamed) in [
        (&[][..], &[pace][..], "for 'AGENTGLOT_PACE'"),
        (
            &[],
            &[on_ask],
            "for 'AGENTGLOT_ON_ASK': no agent has a tool called \"Reed\"; did you mean \"Read\"?",
        ),
        (&["--pace", "y"], &[pace], "for '--pace <PACE>'"),
        (&["--on-ask", "Reed"], &[], "for '--on-ask <"),
        (&["--search-engine", "brave"], &[], "for '--search-engine <URL>'"),
    ] {
        let told = run(flags, env);
        assert!(told.contains(blamed), "{flags:?} {env:?}: {told}");
    }
    let (report, code) = world.doctor(&[pace, on_ask, ("AGENTGLOT_BACKEND", "demo")]);
    assert_eq!((code, report["problems"].as_array().unwrap().len()), (1, 2), "{report:#}");
    assert_eq!(report["settings"]["backend"]["value"], "demo", "what is right is told all the same");
    world.user("\non_ask = ['Reed']\n");
    let told = run(&[], &[]);
    assert!(told.contains("agentglot.toml:2: `on_ask`: no agent has a tool called \"Reed\""), "{told}");
    let (file, shims) = (world.path("file"), world.path("shims"));
    std::fs::write(&file, "").unwrap();
    std::fs::create_dir(&shims).unwrap();
    // The last of the links, to see that none is made before it.
    std::fs::write(shims.join("opencode"), "").unwrap();
    for (folder, code, why) in [(&file, 3, "a folder is wanted"), (&shims, 2, "is left alone")] {
        let done = world.agentglot(&["install-shims", folder.to_str().unwrap()], &[]);
        assert!(done.status.code() == Some(code) && stderr(&done).contains(why), "{done:?}");
    }
    assert_eq!(std::fs::read_dir(&shims).unwrap().count(), 1, "all or none");
    let odd = world.path("a\n\u{1b}[2Jb");
    let done = world.agentglot(&["install-shims", odd.to_str().unwrap()], &[]);
    assert!(
        done.status.success() && stdout(&done).lines().all(|line| line.contains(" is run --as ")),
        "{done:?}"
    );
    assert!(!stdout(&done).contains('\u{1b}'), "{done:?}");
    world.user("");
    let record = [
        "run",
        "--as",
        "claude",
        "--backend",
        "demo",
        "--record",
        file.to_str().unwrap(),
        "--",
        "-p",
        "Hello",
    ];
    let told = stderr(&world.agentglot(&record, &[]));
    assert!(told.contains("nothing is recorded: a folder is wanted"), "{told}");
}

/// A variable that is empty is as good as none: what the file says counts.
#[test]
fn empty_variables_say_nothing() {
    let world = World::new();
    world.user("strict_args = true\n");
    let unknown = ["run", "--as", "claude", "--backend", "demo", "--", "-p", "--no-such-flag=1", "Hello"];
    assert!(!world.agentglot(&unknown, &[("AGENTGLOT_STRICT_ARGS", "")]).status.success());
    let known = ["run", "--as", "claude", "--backend", "demo", "--", "-p", "Hello"];
    let empty = ["AGENTGLOT_BACKEND", "AGENTGLOT_PACE", "AGENTGLOT_RECORD", "AGENTGLOT_ON_ASK"].map(|name| (name, ""));
    let done = world.agentglot(&known, &empty);
    assert!(done.status.success(), "{done:?}");
}

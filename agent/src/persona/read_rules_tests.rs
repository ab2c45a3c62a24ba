//! Rules about reading hold in every tool of every dialect, by whichever way it comes to a file. Nobody is asked here: what holds is the
//! layer that opens files alone.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{Start, all};
use crate::permissions::Policy;
use crate::tools::shell::Settings;
use crate::tools::{Cx, Tool, World};
use crate::workspace::Wall;
use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::launch::Launch;

/// What only the files that nobody may read hold; asked for by a pattern, so that an answer that repeats the question does not have it.
const CANARY: &str = "canary_qzx";
const PATTERN: &str = "canar[y]_q";
/// The same for tools that take no pattern.
const NAME: &str = "canary_q";

/// By name, by a link to it or to its folder, by another name of the same file, spelled in other ways, by the folders above it.
fn ways(root: &Path) -> Vec<String> {
    let at = |path: &str| root.join(path).display().to_string();
    let mut ways: Vec<String> = [
        "secret.py",
        "notes.ipynb",
        "deep/x.key",
        "private/in/a.py",
        "link.py",
        "other.py",
        "deep/again.py",
        "public.txt",
        "folder/in/a.py",
        "folder",
        "private",
        "deep",
        ".",
    ]
    .map(at)
    .to_vec();
    ways.extend(
        [
            "secret.py",
            "./secret.py",
            "deep/../secret.py",
            "deep//..//secret.py",
            "private/../private/in/a.py",
            "./folder/in",
        ]
        .map(str::to_owned),
    );
    ways.push(format!("/{}", at("secret.py")));
    ways.push(format!("/proc/self/root{}", at("secret.py")));
    ways.push("/proc/self/cwd/../../../../../../../..".to_owned() + &at("secret.py"));
    ways
}

fn put(root: &Path) {
    for entry in std::fs::read_dir(root).unwrap().flatten() {
        let path = entry.path();
        let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path));
    }
    let text = format!("def {CANARY}_function():\n    return '{CANARY}'\n");
    std::fs::create_dir_all(root.join("private/in")).unwrap();
    std::fs::create_dir_all(root.join("deep")).unwrap();
    for name in ["secret.py", "deep/x.key", "private/in/a.py"] {
        std::fs::write(root.join(name), &text).unwrap();
    }
    let cell = json!({"cell_type": "code", "id": "c1", "source": [text], "metadata": {}, "outputs": [], "execution_count": null});
    let notebook = json!({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5});
    std::fs::write(root.join("notes.ipynb"), notebook.to_string()).unwrap();
    symlink("secret.py", root.join("link.py")).unwrap();
    symlink("private", root.join("folder")).unwrap();
    std::fs::hard_link(root.join("secret.py"), root.join("other.py")).unwrap();
    // Those of files that only a wildcard covers.
    std::fs::hard_link(root.join("private/in/a.py"), root.join("deep/again.py")).unwrap();
    std::fs::hard_link(root.join("deep/x.key"), root.join("public.txt")).unwrap();
}

/// Arguments for a tool: every member of the schema that names a path has this one, the others what finds the canary.
fn arguments(schema: &Value, way: &str, more: bool) -> Value {
    let mut input = Map::new();
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        if !more && !required.contains(&name.as_str()) && !name.contains("path") && name != "pattern" && name != "output_mode" {
            continue;
        }
        let is_path = ["path", "file", "dir", "directory", "folder", "root"]
            .iter()
            .any(|word| name.contains(word))
            && name != "file_filtering_options";
        let value = match member["type"].as_str() {
            _ if name == "output_mode" => json!("content"),
            Some("string") if is_path => json!(way),
            Some("string") if name == "pattern" && schema["properties"].get("output_mode").is_none() && !more => json!(PATTERN),
            // A text that is there, and another one.
            Some("string") if name.contains("old") => json!("return"),
            Some("string") if name.contains("symbol") || name == "query" || name == "name" => json!(NAME),
            Some("string") if name == "cell_id" => json!("c1"),
            Some("string") => member["enum"].get(0).cloned().unwrap_or_else(|| json!(PATTERN)),
            Some("array") if is_path => json!([way]),
            Some("boolean") => json!(true),
            _ => continue,
        };
        input.insert(name.clone(), value);
    }
    Value::Object(input)
}

/// The tools and ways that gave the canary away.
async fn given_away(denied: bool) -> BTreeSet<String> {
    let mut given_away = BTreeSet::new();
    for persona in all() {
        let room = tempfile::tempdir().unwrap();
        let root = room.path().canonicalize().unwrap();
        put(&root);
        let world = Rc::new(World {
            wall: Arc::new(Wall::new(&root).unwrap()),
            environment: Arc::default(),
            scratch: root.join(".scratch"),
        });
        let launch = Launch::new(persona.dialect);
        let (mut policy, _) = Policy::new(&launch, persona.vocabulary(), &root, None, None);
        if denied {
            let rules = ["Read(./secret.py)", "Read(*.key)", "Read(private/**)", "Read(./notes.ipynb)"];
            assert_eq!(
                policy.add(crate::permissions::Source::User, crate::permissions::Behavior::Deny, &rules),
                Vec::<String>::new()
            );
        }
        policy.set_read_rules(world.wall.read_rules().clone());
        let session = (persona.begin)(Start {
            launch: &mut Launch::new(persona.dialect),
            world: &world,
            commands: Settings::default(),
            engine: None,
        });
        let tools: Vec<Rc<dyn Tool>> = session.unwrap().tools(&world);
        let cx = Cx {
            call: "call",
            cancel: CancellationToken::new(),
            world: &world,
            tell: &|_| {},
        };
        for tool in &tools {
            let spec = tool.spec();
            if matches!(spec.kind, ToolKind::Shell | ToolKind::Delete | ToolKind::Fetch | ToolKind::WebSearch) || spec.name.contains("session") {
                continue;
            }
            for way in ways(&root) {
                // Searches have more to choose from.
                for more in [false, true]
                    .into_iter()
                    .take(1 + usize::from(spec.reads_only || spec.kind == ToolKind::Edit))
                {
                    let input = arguments(&spec.schema, &way, more);
                    if !spec.reads_only {
                        // Who changes a file has to have read it, as it is now.
                        put(&root);
                        for reading in tools.iter().filter(|tool| tool.spec().kind == ToolKind::Read) {
                            reading.run(&arguments(&reading.spec().schema, &way, false), &cx).await;
                        }
                    }
                    let preview = tool.preview(&input, &cx).await.unwrap_or_default();
                    let given = tool.run(&input, &cx).await;
                    if format!("{preview}{given:?}").contains(CANARY) {
                        let way = way.replace(&root.display().to_string(), "");
                        given_away.insert(format!("{} {} {way}", persona.dialect.name(), spec.name));
                    }
                }
            }
        }
    }
    given_away
}

#[tokio::test]
async fn no_tool_gives_away_what_a_rule_denies() {
    let denied = given_away(true).await;
    assert!(denied.is_empty(), "{denied:#?}");
    // Without rules the same calls do: by every tool that shows what is in files.
    let free = given_away(false).await;
    let tools: BTreeSet<&str> = free.iter().map(|one| one.rsplit_once(' ').unwrap().0).collect();
    for tool in [
        "claude Read",
        "claude Grep",
        "qwen-code read_file",
        "qwen-code grep_search",
        "cursor read",
        "cursor grep",
        "claude Edit",
        "claude NotebookEdit",
        "cursor edit",
        "qwen-code edit",
        "tricode read_file",
        "tricode search_context",
        "tricode edit_file",
    ] {
        assert!(tools.contains(tool), "{tool} of {tools:#?}");
    }
    assert!(free.len() > 100, "{}", free.len());
}

#[tokio::test]
async fn no_list_names_what_a_rule_denies() {
    let mut seen = BTreeSet::new();
    for (persona, denied) in all().flat_map(|persona| [(persona, true), (persona, false)]) {
        let room = tempfile::tempdir().unwrap();
        let root = room.path().canonicalize().unwrap();
        put(&root);
        std::fs::write(root.join("plain.py"), "x").unwrap();
        let world = Rc::new(World {
            wall: Arc::new(Wall::new(&root).unwrap()),
            environment: Arc::new(vec![("PATH".to_owned(), std::env::var("PATH").unwrap())]),
            scratch: root.join(".scratch"),
        });
        let (mut policy, _) = Policy::new(&Launch::new(persona.dialect), persona.vocabulary(), &root, None, None);
        if denied {
            let rules = ["Read(./secret.py)", "Read(*.key)", "Read(private/**)"];
            policy.add(crate::permissions::Source::User, crate::permissions::Behavior::Deny, &rules);
        }
        policy.set_read_rules(world.wall.read_rules().clone());
        let session = (persona.begin)(Start {
            launch: &mut Launch::new(persona.dialect),
            world: &world,
            commands: Settings::default(),
            engine: None,
        });
        let cx = Cx {
            call: "call",
            cancel: CancellationToken::new(),
            world: &world,
            tell: &|_| {},
        };
        let (mut lists, mut listed, mut named) = (false, 0, 0);
        for tool in session.unwrap().tools(&world) {
            let spec = tool.spec();
            if !matches!(spec.name.as_str(), "Glob" | "glob" | "list_directory" | "ls") {
                continue;
            }
            lists = true;
            for (path, recursive) in [(".", true), (".", false), ("deep", true), ("private", true)] {
                let path = root.join(path).display().to_string();
                let mut input = json!({"path": path, "pattern": "**/*", "recursive": recursive, "show_hidden": recursive});
                input
                    .as_object_mut()
                    .unwrap()
                    .retain(|name, _| spec.schema["properties"].get(name).is_some());
                let given = format!("{:?}", tool.run(&input, &cx).await);
                listed += usize::from(given.contains("plain.py"));
                for name in ["secret.py", "x.key", "a.py"] {
                    let is_named = given.match_indices(name).any(|(at, _)| given[..at].ends_with([' ', '/', '"', '\n', 'n']));
                    assert!(!denied || !is_named, "{} {} {input}: {given}", persona.dialect.name(), spec.name);
                    named += usize::from(is_named);
                }
            }
        }
        if lists {
            seen.insert(persona.dialect.name());
            assert!(listed > 0, "{}", persona.dialect.name());
            assert_eq!(named > 0, !denied, "{}", persona.dialect.name());
        }
    }
    // Who else lists files does it by a command, behind the wall.
    assert!(seen.len() > 3, "{seen:?}");
}

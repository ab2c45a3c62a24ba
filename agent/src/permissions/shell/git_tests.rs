use std::process::Command;

use super::*;
use crate::permissions::tests::repository;

/// A repository with a hook that runs when git notes what it has learnt of files.
fn hooked() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    repository(folder.path());
    for hooks in ["hooks", "a b", "evil"] {
        fs::create_dir_all(folder.path().join(hooks)).unwrap();
        fs::write(folder.path().join(hooks).join("post-index-change"), "#!/bin/sh\n").unwrap();
    }
    fs::create_dir_all(folder.path().join(".husky")).unwrap();
    folder
}

#[test]
fn a_folder_of_hooks_counts_as_git_reads_it() {
    let folder = hooked();
    let git = folder.path().join(".git");
    let home = folder.path().join("hooks").display().to_string();
    for (path, harmless) in [
        (".husky", true),
        ("\".husky\"", true),
        (".husky/_", true),
        ("none", true),
        ("hooks", false),
        ("hooks ", false),
        ("hooks # a comment", false),
        ("hooks ; a comment", false),
        ("\"hooks\"", false),
        ("ho\"ok\"s", false),
        ("\"hooks\" # x", false),
        ("\"a b\"", false),
        ("./hooks", false),
        (".husky/../hooks", false),
        (home.as_str(), false),
        ("~/hooks", false),
        ("~nobody/hooks", false),
        ("%(prefix)/hooks", false),
        ("h\\u006foks", false),
        ("", false),
    ] {
        assert_eq!(is_harmless(&format!("[core]\n\thooksPath = {path}\n"), &git), harmless, "{path}");
    }
}

/// Whatever git finds in a file of settings that passes for harmless is one of the harmless.
#[test]
fn settings_are_read_as_git_reads_them() {
    if Command::new("git").arg("--version").output().is_err() {
        return;
    }
    let folder = hooked();
    let git = folder.path().join(".git");
    let file = folder.path().join("made-up");
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut roll = move |sides: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % sides as u64).unwrap()
    };
    #[rustfmt::skip]
    let pieces = [
        "[core]", "[core]\n", "[CORE]", "[core \"x\"]", "[core.x]", "[user]", "[remote \"a\"]", "[remote \"]\"]", "[include]", "[alias]", "[diff \"d\"]", "[x", "]", "\n", "\n",
        "\n", "\n\t", " ", "\t", "=", " = ", "#", ";", "\"", "'", "\\", "\\\n", "\\n", "bare", "bare = true", "hooksPath = evil", "hookspath", "HooksPath = ", "fsmonitor",
        "fsmonitor = evil", "path = evil", "name = x", "url = x", "st = !evil", "textconv = evil", "pager", "abbrev = 7", "evil", "\r\n", "\u{feff}", "\0", ".", "true", "# x",
    ];
    let mut passed = 0;
    for _ in 0..600 {
        let mut config = ["[core]\n", "[user]\n", ""][roll(3)].to_owned();
        for _ in 0..=roll(9) {
            config.push_str(pieces[roll(pieces.len())]);
        }
        if !is_harmless(&config, &git) {
            continue;
        }
        fs::write(&file, &config).unwrap();
        let said = Command::new("git")
            .args(["config", "--no-includes", "--list", "-z", "--file"])
            .arg(&file)
            .output()
            .unwrap();
        if !said.status.success() {
            // Git does nothing where it cannot read its settings.
            continue;
        }
        passed += 1;
        for entry in String::from_utf8(said.stdout).unwrap().split_terminator('\0') {
            let (name, value) = entry.split_once('\n').unwrap_or((entry, ""));
            let plain = match name.split_once('.').zip(name.rsplit_once('.')) {
                Some(((section, _), (_, last))) => format!("{}.{}", section.to_lowercase(), last.to_lowercase()),
                None => name.to_owned(),
            };
            let hooks = plain == "core.hookspath" && !exists(&folder.path().join(value).join("post-index-change"));
            assert!(hooks || HARMLESS.contains(&plain.as_str()), "{config:?}: {entry:?}");
        }
    }
    assert!(passed > 20, "only {passed} passed");
}

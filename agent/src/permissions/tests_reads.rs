//! What runs unasked, and what a folder can do about it.

use std::fs;
use std::os::unix::fs::symlink;

use super::tests::{Room, asked, launch, policy, repository, room, run, spec, word};
use super::*;
use crate::tools::{Access, ShellCommand};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::ToolKind;

/// A workspace with links to what is outside, repositories with settings of their own, a pipe.
pub(super) fn hostile() -> Room {
    let room = room();
    let root = &room.root;
    let out = root.parent().unwrap().join("out");
    fs::create_dir_all(out.join("deep")).unwrap();
    fs::write(out.join("secret.txt"), "secret\n").unwrap();
    fs::create_dir_all(root.join("sub")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, root.join("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    for file in ["f", "g", "src/a", "sub/h", "-oX", "a b"] {
        fs::write(root.join(file), "x\n").unwrap();
    }
    symlink(&out, root.join("link")).unwrap();
    fs::create_dir_all(root.join("links")).unwrap();
    symlink(out.join("secret.txt"), root.join("links/s")).unwrap();
    symlink(out.join("secret.txt"), root.join("sub/s")).unwrap();
    repository(root);
    for evil in ["evil", "bare", "module"] {
        fs::create_dir_all(root.join(evil)).unwrap();
    }
    repository(&root.join("evil"));
    fs::write(root.join("evil/.git/config"), "[core]\n\tfsmonitor = ./x\n").unwrap();
    repository(&root.join("module"));
    fs::write(root.join("module/.git/index"), [b"DIRC".as_slice(), &[0; 40], &[0, 0, 0xE0, 0]].concat()).unwrap();
    for (from, to) in [("HEAD", "bare/HEAD"), ("config", "bare/config")] {
        fs::copy(root.join(".git").join(from), root.join(to)).unwrap();
    }
    fs::create_dir_all(root.join("bare/objects")).unwrap();
    fs::create_dir_all(root.join("bare/refs")).unwrap();
    room
}

#[test]
fn plain_commands_of_every_day_run_unasked() {
    let room = hostile();
    for mode in [PermissionMode::Ask, PermissionMode::Plan, PermissionMode::AcceptEdits] {
        let policy = policy(&room, &launch(Dialect::Claude, Some(mode)));
        for line in [
            "ls",
            "ls -la",
            "ls -la src",
            "cat f",
            "cat f g",
            "cat 'a b'",
            "head -n 5 f",
            "head -5 f | wc -l",
            "tail -n 20 f",
            "pwd",
            "echo hello",
            "echo 'a; b' && ls",
            "grep -rn x src",
            "grep -n \"x\\|y\" f",
            "grep -r --include='*.rs' foo .",
            "rg foo",
            "rg -n foo src",
            "rg --files",
            "find . -name '*.rs'",
            "find . -type f -not -path './target/*'",
            "find src -maxdepth 2 \\( -name a -o -name b \\)",
            "git status",
            "git status -sb",
            "git log --oneline -5",
            "git log -p -- f",
            "git diff",
            "git diff HEAD~1",
            "git diff --stat main...HEAD",
            "git show HEAD^",
            "git branch -a",
            "git branch --show-current",
            "git remote -v",
            "git rev-parse --show-toplevel",
            "git -C sub status",
            "git blame f",
            "git ls-files",
            "git stash list",
            "git --no-pager diff",
            "wc -l f",
            "sort f | uniq -c | sort -rn",
            "cut -d: -f1 f",
            "diff f g",
            "diff -u f g",
            "file f",
            "stat f",
            "du -sh .",
            "df -h",
            "which bash",
            "command -v git",
            "type ls",
            "date",
            "date +%s",
            "whoami",
            "uname -a",
            "id -u",
            "basename a/b",
            "realpath f",
            "test -f f",
            "[ -f f ] && cat f",
            "[ -d sub ] || echo no",
            "true",
            "cd sub && ls",
            "cd sub && cat h",
            "cd sub; pwd",
            "ls 2>/dev/null",
            "cat nothing 2>/dev/null || echo none",
            "ls src 2>&1 | head -3",
            "sed -n 1,20p f",
            "sed -n '5p' f",
            "jq . f",
            "md5sum f",
            "tree -L 2",
            "nl f",
            "tr a b < /dev/null",
            "printf '%s\\n' a b",
            "timeout 5 ls",
            "env_is_not_here 2>/dev/null; ls",
            "ls\ncat f\n",
            "cat ./f",
            "cat src/../f",
            "ls -R src",
            "sleep 1",
        ] {
            let then = if line.starts_with("env_is") {
                ["ask", "deny"].as_slice()
            } else {
                &["allow"]
            };
            let verdict = run(&policy, line);
            assert!(then.contains(&word(&verdict)), "{mode:?} {line}: {verdict:?}");
        }
        assert_eq!(word(&run(&policy, &format!("cat {}/f", room.root.display()))), "allow");
    }
}

#[test]
fn where_a_command_starts_is_judged_like_a_path() {
    let room = hostile();
    let policies = |mode| policy(&room, &launch(Dialect::Cursor, Some(mode)));
    let in_folder = |policy: &Policy, folder: Option<&str>, line: &str| {
        let Access::Run(shell) = asked(line) else { unreachable!() };
        let access = Access::Run(ShellCommand {
            folder: folder.map(PathBuf::from),
            ..shell
        });
        word(&policy.judge(&spec("shell", ToolKind::Shell), &json!({"command": line}), &access))
    };
    let absolute = room.root.join("sub").display().to_string();
    for mode in [PermissionMode::Ask, PermissionMode::Plan, PermissionMode::AcceptEdits] {
        let mut policy = policies(mode);
        for folder in ["", ".", "sub", "sub/..", absolute.as_str()] {
            assert_eq!(in_folder(&policy, Some(folder), "ls"), "allow", "{folder}");
        }
        assert_eq!(in_folder(&policy, Some("sub"), "cat ../f"), "allow");
        assert_eq!(in_folder(&policy, Some("sub"), "cat ../../f"), "ask");
        assert_eq!(in_folder(&policy, Some("evil"), "git status"), "ask");
        policy.add(Source::Session, Behavior::Allow, &["Shell(make)"]);
        for folder in ["..", "/", "/etc", "link", "link/deep", "sub/../..", "/tmp"] {
            for line in ["ls", "cat secret.txt", "git status", "pwd", "mkdir x", "make"] {
                let then = in_folder(&policy, Some(folder), line);
                assert_ne!(then, "allow", "{mode:?} {folder} {line}");
            }
        }
        assert_ne!(in_folder(&policy, None, "ls"), "allow");
    }
    assert_eq!(in_folder(&policies(PermissionMode::AcceptEdits), Some("sub"), "touch x"), "allow");
    assert_eq!(in_folder(&policies(PermissionMode::Bypass), Some("/etc"), "ls"), "allow");
}

#[test]
fn a_program_of_the_workspace_is_none_of_the_machine() {
    let room = hostile();
    let policy = policy(&room, &launch(Dialect::Claude, None));
    let bin = room.root.join("bin");
    fs::create_dir_all(&bin).unwrap();
    fs::copy("/bin/true", bin.join("ls")).unwrap();
    symlink(&bin, room.root.parent().unwrap().join("tools")).unwrap();
    let judged = |programs: &[&str], line: &str| {
        let access = Access::Run(ShellCommand {
            line: line.to_owned(),
            folder: Some(PathBuf::new()),
            programs: programs.iter().map(PathBuf::from).collect(),
        });
        word(&policy.judge(&spec("Bash", ToolKind::Shell), &json!({"command": line}), &access))
    };
    let (inside, tools) = (bin.display().to_string(), room.root.parent().unwrap().join("tools").display().to_string());
    for first in ["", ".", "bin", inside.as_str(), tools.as_str()] {
        assert_eq!(judged(&[first, "/usr/bin", "/bin"], "ls"), "ask", "{first}");
    }
    assert_eq!(judged(&[&inside, "/usr/bin", "/bin"], "cat f && pwd"), "allow");
    assert_eq!(judged(&["/usr/bin", "/bin", "."], "ls"), "allow");
}

#[test]
fn a_rule_that_denies_reading_holds_for_commands_that_might_meet_it() {
    let room = hostile();
    fs::create_dir_all(room.root.join("keys/deep")).unwrap();
    fs::write(room.root.join("keys/deep/.env"), "x").unwrap();
    // The same file under another name.
    fs::create_dir_all(room.root.join("twins")).unwrap();
    fs::hard_link(room.root.join("keys/deep/.env"), room.root.join("twins/t")).unwrap();
    fs::hard_link(room.root.join("f"), room.root.join("f2")).unwrap();
    for mode in [PermissionMode::Ask, PermissionMode::Bypass] {
        let mut launch = launch(Dialect::Claude, Some(mode));
        launch.disallowed_tools = vec!["Read(.env)".into(), "Read(private/**)".into()];
        let policy = policy(&room, &launch);
        for (line, then) in [
            ("cat f", "allow"),
            ("grep -r x src", "allow"),
            ("ls -R", "allow"),
            ("find . -name .git", "allow"),
            ("echo *", if mode == PermissionMode::Bypass { "allow" } else { "ask" }),
            ("cat f2", "allow"),
            ("cat twins/t", "ask"),
            ("cd twins && cat t", "ask"),
            ("grep -r x twins", "ask"),
            ("cp twins/t y", "ask"),
            ("cat keys/deep/.env", "deny"),
            ("cat < keys/deep/.env", "deny"),
            ("grep --file=private/x f", "deny"),
            ("grep -fprivate/x f", "deny"),
            ("git show HEAD:.env", "deny"),
            ("cp private/x y", "deny"),
            ("python3 -c \"print(open('.env').read())\"", "deny"),
            ("cd keys && cat deep/.env", "deny"),
            ("grep -r x .", "ask"),
            ("grep -rn x", "ask"),
            ("grep -r x keys", "ask"),
            ("rg x", "ask"),
            ("git grep x", "ask"),
            ("git diff", "ask"),
            ("tar c .", "ask"),
            ("cp -r keys elsewhere", "ask"),
            ("cat *", "ask"),
            ("cat keys/deep/.e*", "ask"),
            ("cat $X", "ask"),
            ("cat keys/deep/.{env,x}", "ask"),
            ("diff -rN keys src", "ask"),
            // Names that do not stand in the line.
            ("find . -type f | xargs cat", "ask"),
            ("find . -type f -print0 | xargs -0 grep x", "ask"),
            ("git ls-files | xargs -n 1 head", "ask"),
            ("ls | xargs cp -t y", "ask"),
            ("find . | cpio -o", "ask"),
            ("find . | tar cf y -T -", "ask"),
            ("git ls-files | rsync --files-from=- x y", "ask"),
            ("find -type f -exec cat {} +", "ask"),
            ("rgrep x", "ask"),
            ("ls | xargs echo", if mode == PermissionMode::Bypass { "allow" } else { "ask" }),
            ("ls | xargs rm", if mode == PermissionMode::Bypass { "allow" } else { "ask" }),
        ] {
            assert_eq!(word(&run(&policy, line)), then, "{mode:?} {line}: {:?}", run(&policy, line));
        }
    }
}

#[test]
fn what_a_command_leaves_behind_counts_for_the_next() {
    let room = hostile();
    let mut launch = launch(Dialect::Claude, Some(PermissionMode::AcceptEdits));
    launch.allowed_tools = vec!["Bash(make:*)".into(), "Bash(eval:*)".into(), "Bash(cd:*)".into()];
    let policy = policy(&room, &launch);
    for (line, then) in [
        ("make && echo done", "allow"),
        ("make | tail -5", "allow"),
        ("mkdir -p a/b && touch a/b/c && ls a", "allow"),
        ("cd sub && touch x", "allow"),
        ("make && cat f", "ask"),
        ("cat f | make", "ask"),
        ("make && git status", "ask"),
        ("mkdir -p objects && git status", "ask"),
        ("mv sub moved && cat moved/s", "ask"),
        ("cp f new && ls", "allow"),
        ("cp f new && cat new", "ask"),
        ("eval x && ls", "ask"),
        ("cd - && ls", "ask"),
        ("cd && ls", "ask"),
        ("cd sub && cd .. && cat f", "allow"),
        ("cd sub && cat ../f && ls | head -n 1", "allow"),
        ("cd sub; cat ../f", "ask"),
        ("cd sub || cat ../f", "ask"),
        ("true || cd sub && cat ../f", "ask"),
        ("cd sub && true || cat ../f", "ask"),
        ("cd sub | cat ../f", "ask"),
        ("cd sub && pwd; cat ../f", "ask"),
        ("cd link && cat secret.txt", "ask"),
        ("cd sub && cat ../../out/secret.txt", "ask"),
        ("cp f sub/s", "ask"),
        ("cp f link/x", "ask"),
        ("cp -r src sub", "allow"),
        ("cp -r src/. sub", "ask"),
        ("cp -r src .", "ask"),
        ("mv link y", "ask"),
        ("touch sub/s", "ask"),
        ("cd bare && git status", "ask"),
        ("cd evil && git status", "ask"),
        ("cd module && git status", "ask"),
        ("git -C bare log", "ask"),
    ] {
        assert_eq!(word(&run(&policy, line)), then, "{line}: {:?}", run(&policy, line));
    }
}

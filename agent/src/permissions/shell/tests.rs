use super::*;

fn commands(line: &str) -> Vec<String> {
    let script = Script::parse(line);
    assert_eq!(script.problem, None, "{line}");
    script.commands.iter().map(Command::text).collect()
}

#[test]
fn every_command_is_found_wherever_it_stands() {
    for (line, then) in [
        ("ls", &["ls"][..]),
        ("  ls   -l\t-a ", &["ls -l -a"]),
        ("a; b && c || d | e & f", &["a", "b", "c", "d", "e", "f"]),
        ("a |& b", &["a", "b"]),
        ("a\nb\n\nc", &["a", "b", "c"]),
        ("(a; b) | c", &["a", "b", "c"]),
        ("{ a; b; } > x", &["a", "b", ""]),
        ("echo $(a; b `c d`)", &["echo $(a; b `c d`)", "a", "b `c d`", "c d"]),
        ("echo \"x $(rm y) z\"", &["echo \"x $(rm y) z\"", "rm y"]),
        ("echo '$(rm y)' \\$(", &[] as &[&str]),
        ("diff <(a) >(b)", &["diff <(a) >(b)", "a", "b"]),
        ("cat x<(a)y", &["cat x<(a)y", "a"]),
        ("echo a#b # rm x", &["echo a#b"]),
        ("echo a; # rm x\nb", &["echo a", "b"]),
        ("echo 'a # b'", &["echo 'a # b'"]),
        ("git lo\\\ng --oneline", &["git log --oneline"]),
        ("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]),
        ("while a; do b; done; until c\ndo d\ndone", &["a", "b", "c", "d"]),
        ("for f in x $(y) *.c; do rm $f; done", &["y", "rm $f"]),
        ("for f\ndo a; done", &["a"]),
        ("! a && time -p b", &["a", "b"]),
        ("A=1 B=\"$(x)\" c d", &["A=1 B=\"$(x)\" c d", "x"]),
        ("A=1", &["A=1"]),
        ("c A=1", &["c A=1"]),
        ("cat <<EOF\nrm -rf x; $HOME\nEOF\nls", &["cat", "ls"]),
        ("cat <<'E' | b\n$(rm x)\nE", &["cat", "b"]),
        ("cat <<-E\n\t\tx\n\tE\nls", &["cat", "ls"]),
        ("cat <<< \"$(a)\"", &["cat", "a"]),
        ("2>&1 a 2>&1 >/dev/null <in &>x", &["a"]),
        ("a 2>x", &["a"]),
        ("a2>x", &["a2"]),
        ("echo $'a\\'b; rm x'", &["echo $'a\\'b; rm x'"]),
        ("echo ${HOME} $1 $? $$ $@ $! \"$*\" $", &["echo ${HOME} $1 $? $$ $@ $! \"$*\" $"]),
        ("find . -exec rm {} \\; -o -name x", &["find . -exec rm {} \\; -o -name x"]),
        ("$(a) b", &["$(a) b", "a"]),
        ("a\\ b c", &["a\\ b c"]),
        ("'' a", &["'' a"]),
        ("äöü 日本 👍", &["äöü 日本 👍"]),
    ] {
        if then.is_empty() {
            assert!(Script::parse(line).problem.is_some(), "{line}");
            continue;
        }
        assert_eq!(commands(line), then, "{line}");
    }
}

#[test]
fn what_is_not_understood_is_said_to_be_so() {
    for line in [
        "echo 'a",
        "echo \"a",
        "echo `a",
        "echo $(a",
        "(a",
        "a)",
        "echo \\",
        "a() { b; }",
        "a=(1 2)",
        "a[$(id)]=1",
        "a[0]=1 b",
        "echo ${x:-$(id)}",
        "echo ${x@P}",
        "echo ${!x}",
        "echo \"${x/a/b}\"",
        "echo $((1+1))",
        "echo $[1+1]",
        "((a))",
        "[[ -f x ]]",
        "case x in x) rm y;; esac",
        "function f { a; }",
        "select x in a; do b; done",
        "coproc a",
        "a ;; b",
        "cat <<EOF\n$(rm x)\nEOF",
        "cat <<EOF\n`rm x`\nEOF",
        "cat <<EOF\nx",
        "cat <<$(x)\nx\n$(x)",
        "cat <<A $(\nb\nA\n)",
        "echo `a \\`b\\``",
        "a > ",
        "a >;b",
        "{ a; } b",
        "fi b",
        "exec {fd}>x",
        "echo a\u{a0}b",
        "rm\u{200b} x",
        "echo \u{202e}x",
        "a\rb",
        "echo \u{0}",
        "echo $'a",
        "for ((i=0;i<1;i++)); do a; done",
        "for a/b in c; do d; done",
    ] {
        assert!(Script::parse(line).problem.is_some(), "{line:?} {:?}", Script::parse(line).commands);
    }
    let deep = format!("{}a{}", "$(".repeat(100_000), ")".repeat(100_000));
    assert!(Script::parse(&deep).problem.is_some());
    let deep = format!("echo {}a{}", "$(".repeat(20), ")".repeat(20));
    assert!(Script::parse(&deep).problem.is_some());
}

#[test]
fn words_are_what_the_command_gets() {
    let script = Script::parse(r#"r'm' "-r"f \x $x "a$x" a*b {a,b} {} ~/x ~root [ "a\"b\c" $'\x41' x{a"#);
    let values: Vec<Option<&str>> = script.commands[0].words.iter().map(|word| word.value.as_deref()).collect();
    let then = [
        Some("rm"),
        Some("-rf"),
        Some("x"),
        None,
        None,
        Some("a*b"),
        None,
        Some("{}"),
        Some("~/x"),
        None,
        Some("["),
        Some("a\"b\\c"),
        None,
        Some("x{a"),
    ];
    assert_eq!(values, then);
    assert!(script.commands[0].words[5].glob);
}

#[test]
fn commands_inside_commands_are_found() {
    for (line, then, transparent) in [
        ("timeout -k 5 30 npm test", &["npm test"][..], true),
        (
            "timeout --foo 30 npm test",
            &["--foo 30 npm test", "30 npm test", "npm test", "test"],
            false,
        ),
        ("nice -n 5 a b", &["a b"], true),
        ("nohup a", &["a"], true),
        ("stdbuf -oL a", &["a"], true),
        ("env -i CI=1 a", &["a"], true),
        ("env LD_PRELOAD=x a", &["a"], false),
        ("xargs -0 -n 1 grep x", &["grep x"], true),
        ("bash -c 'a; b'", &["a", "b"], true),
        ("bash -lc 'a'", &["a"], false),
        ("eval a 'b;' c", &["a b", "c"], true),
        ("find . -name x -exec rm -f {} +", &["rm -f {}"], false),
        ("sudo -u root rm x", &["-u root rm x", "root rm x", "rm x", "x"], false),
        ("command -p a", &["a"], true),
    ] {
        let script = Script::parse(line);
        let inside = wrap::inside(&script.commands[0]).unwrap_or_else(|| panic!("{line}"));
        let texts: Vec<String> = inside.commands.iter().map(Command::text).collect();
        assert_eq!(
            (texts.as_slice(), inside.transparent),
            (then.iter().map(ToString::to_string).collect::<Vec<_>>().as_slice(), transparent),
            "{line}"
        );
    }
    for line in ["bash -c \"$x\"", "eval $x", "bash", "sudo $x", "env $x a", "find . $x"] {
        assert!(wrap::inside(&Script::parse(line).commands[0]).unwrap().unclear, "{line}");
    }
}

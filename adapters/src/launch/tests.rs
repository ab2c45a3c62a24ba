mod child;
mod recorded;

use super::*;

pub(crate) const UUID: &str = "11111111-2222-4333-8444-555555555556";

pub(crate) fn words<S: AsRef<str>>(list: &[S]) -> Vec<String> {
    list.iter().map(|word| word.as_ref().to_owned()).collect()
}

pub(crate) fn launch(dialect: Dialect, list: &[&str]) -> Launch {
    match parse(program(dialect), &words(list), false) {
        Ok(Command::Launch(launch)) => *launch,
        other => panic!("{list:?}: {other:?}"),
    }
}

pub(crate) fn refusal(dialect: Dialect, list: &[&str]) -> ArgError {
    match parse(program(dialect), &words(list), false) {
        Err(error) => error,
        other => panic!("{list:?}: {other:?}"),
    }
}

pub(crate) fn errand(dialect: Dialect, list: &[&str]) -> Errand {
    match parse(program(dialect), &words(list), false) {
        Ok(Command::Errand(errand)) => errand,
        other => panic!("{list:?}: {other:?}"),
    }
}

pub(crate) fn program(dialect: Dialect) -> &'static Program {
    dialect.program().expect("the four programs have command lines")
}

const PROGRAMS: [Dialect; 5] = [Dialect::Claude, Dialect::Qwen, Dialect::QwenCode, Dialect::Tricode, Dialect::Cursor];

/// What a program is asked, in one line for tests.
pub(crate) fn facts() -> Facts<'static> {
    Facts {
        new_id: UUID,
        account: "a@b",
        models: &[("auto", "Auto"), ("fast", "Fast")],
        sessions: &["one", "two"],
    }
}

#[test]
fn no_table_names_a_flag_twice() {
    for dialect in PROGRAMS {
        let names: Vec<&str> = program(dialect).flags.iter().flat_map(|flag| flag.names).copied().collect();
        let mut once = names.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), names.len(), "{dialect:?}");
        assert!(names.iter().all(|name| name.starts_with('-')), "{dialect:?}");
        // What we always say is read by the program itself.
        let child = words(program(dialect).child);
        assert!(
            matches!(scan::scan(program(dialect), &child), Ok(scan::Outcome::Launch(scanned)) if scanned.unknown.is_empty() && scanned.operands.is_empty())
        );
    }
}

#[test]
fn names_of_permission_modes_read_back() {
    for dialect in PROGRAMS {
        for mode in PermissionMode::ALL {
            if let Some(name) = mode.name(dialect) {
                assert_eq!(PermissionMode::from_name(dialect, name), Some(mode));
            }
        }
    }
    assert_eq!(PermissionMode::from_name(Dialect::Claude, "manual"), Some(PermissionMode::Ask));
    assert_eq!(PermissionMode::AcceptEdits.name(Dialect::QwenCode), Some("auto-edit"));
}

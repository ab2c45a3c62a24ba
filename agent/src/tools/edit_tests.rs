use super::*;
use crate::tools::diff::Diff;
use crate::workspace::Wall;

fn change(old: &str, new: &str, all: bool) -> Change {
    Change {
        old: old.into(),
        new: new.into(),
        all,
    }
}

#[test]
fn replaces_exactly_what_was_asked_for() {
    let made = |text: &str, old: &str, new: &str, all| replaced(text, &change(old, new, all));
    assert_eq!(made("a b a", "b", "c", false), Ok(("a c a".into(), 1)));
    assert_eq!(made("a b a", "a", "c", false), Err(Unfit::Several(2)));
    assert_eq!(made("a b a", "a", "c", true), Ok(("c b c".into(), 2)));
    assert_eq!(made("aaa", "aa", "b", true), Ok(("ba".into(), 1)));
    assert_eq!(made("a", "b", "c", true), Err(Unfit::NotFound));
    assert_eq!(made("a", "a", "a", true), Err(Unfit::Same));
    assert_eq!(made("a", "", "a", true), Err(Unfit::Empty));
    // No pattern, no reference to a group.
    assert_eq!(made("a.b", ".", "$1\\0", false), Ok(("a$1\\0b".into(), 1)));
    // A line that is deleted goes with its end.
    assert_eq!(made("a\nb\nc", "b", "", false), Ok(("a\nc".into(), 1)));
}

#[test]
fn the_ends_of_lines_stay_as_they_are() {
    let made = |text: &str, old: &str, new: &str| replaced(text, &change(old, new, true)).expect("replaced").0;
    assert_eq!(made("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz"), "x\r\ny\r\nz\r\nc\r\n");
    assert_eq!(made("a\r\nb\r\n", "a\r\nb", "x\r\ny"), "x\r\ny\r\n");
    assert_eq!(made("a\nb\nc\n", "a\r\nb", "x\r\ny"), "x\ny\nc\n");
    // Both kinds in one file: what is not replaced is not touched, what is new goes with its neighbours.
    assert_eq!(made("a\r\nb\nc\r\nd\n", "c", "c\nc"), "a\r\nb\nc\r\nc\r\nd\n");
    assert_eq!(made("a\r\nb\nc\n", "b", "1\n2"), "a\r\n1\n2\nc\n");
    assert_eq!(made("a\rb\r\n", "a\rb", "x"), "x\r\n");
    assert_eq!(made("one\r\nend", "end", "1\n2"), "one\r\n1\r\n2");
}

#[test]
fn all_changes_are_made_or_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let wall = Wall::new(folder.path()).expect("a workspace");
    let path = folder.path().join("f");
    let place = |content: &[u8]| {
        std::fs::write(&path, content).expect("written");
        wall.locate("f").expect("inside")
    };
    let at = place(b"\xef\xbb\xbfone\r\ntwo\r\n");
    let fault = edit(&at, &[change("one", "1", false), change("none", "2", false)], None);
    let unfit = EditFault::Change { at: 1, why: Unfit::NotFound };
    assert_eq!(fault, Err(unfit));
    assert_eq!(std::fs::read(&path).expect("read"), b"\xef\xbb\xbfone\r\ntwo\r\n");
    let done = edit(&at, &[change("one", "1", false), change("1\ntwo", "2", false)], None).expect("edited");
    assert_eq!((done.before.as_str(), done.after.as_str(), done.count), ("one\ntwo\n", "2\n", 2));
    assert_eq!(std::fs::read(&path).expect("read"), b"\xef\xbb\xbf2\r\n");
    // Bytes that are no text would not come back as they were.
    assert!(edit(&place(b"one\xff"), &[change("one", "1", false)], None).is_err());
    assert_eq!(edit(&place(b"one\0"), &[change("one", "1", false)], None), Err(EditFault::NotText));
    assert_eq!(std::fs::read(&path).expect("read"), b"one\0");
    let wide = Encoding::Utf16Le;
    edit(&place(&wide.encode("one\n")), &[change("one", "1", false)], None).expect("edited");
    assert_eq!(std::fs::read(&path).expect("read"), wide.encode("1\n"));
}

#[test]
fn a_file_that_was_changed_meanwhile_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let wall = Wall::new(folder.path()).expect("a workspace");
    let path = folder.path().join("f");
    std::fs::write(&path, "one").expect("written");
    let place = wall.locate("f").expect("inside");
    let (_, seen) = place.read(10).expect("read");
    // Written again with the same content: nothing has changed.
    std::fs::write(&path, "one").expect("written");
    let seen = edit(&place, &[change("one", "two", false)], Some(&seen)).expect("edited").stamp;
    std::fs::write(&path, "TWO").expect("written");
    let fault = edit(&place, &[change("TWO", "x", false)], Some(&seen));
    assert_eq!(fault, Err(EditFault::File(Fault::Changed(path.clone()))));
    assert_eq!(std::fs::read_to_string(&path).expect("read"), "TWO");
}

#[test]
fn what_was_replaced_is_what_the_difference_says() {
    let text: String = (0..50).map(|n| format!("line {n}\n")).collect();
    for n in [0, 7, 25, 49] {
        let (after, _) = replaced(&text, &change(&format!("line {n}\n"), "other\nlines\n", false)).expect("replaced");
        let diff = Diff::of(&text, &after);
        assert_eq!((diff.added, diff.removed, diff.hunks.len()), (2, 1, 1));
        let hunk = &diff.hunks[0];
        assert!(hunk.lines.contains(&format!("-line {n}")) && hunk.lines.contains(&"+other".to_owned()));
    }
}

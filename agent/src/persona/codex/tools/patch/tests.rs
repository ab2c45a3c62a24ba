use super::*;
use crate::persona::testing::{Room, text};
use agentglot_adapters::raw::event::ResultStatus;

fn room() -> Room {
    Room::new(vec![patch()])
}

async fn apply(room: &Room, patch: &str) -> Given {
    room.call("apply_patch", json!({"input": patch})).await
}

#[tokio::test]
async fn several_files_are_changed_by_one_patch() {
    let room = room();
    room.put("hello.txt", "hello\nworld\n");
    room.put("b.txt", "bee\n");
    let given = apply(
        &room,
        "*** Begin Patch\n*** Add File: sub/added.txt\n+added\n*** Update File: hello.txt\n*** Move to: moved.txt\n@@\n-hello\n+moved\n*** Delete \
         File: b.txt\n*** End Patch\n",
    )
    .await;
    assert_eq!(
        text(&given),
        "Success. Updated the following files:\nA sub/added.txt\nM hello.txt\nD b.txt\n"
    );
    assert_eq!(
        (room.get("sub/added.txt"), room.get("moved.txt")),
        ("added\n".into(), "moved\nworld\n".into())
    );
    assert!(!room.root().join("hello.txt").exists() && !room.root().join("b.txt").exists());
}

#[tokio::test]
async fn nothing_is_changed_where_one_part_does_not_fit() {
    let room = room();
    room.put("a.txt", "one\n");
    let given = apply(
        &room,
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** Update File: none.txt\n@@\n-x\n+y\n*** End Patch",
    )
    .await;
    assert_eq!(given.status, ResultStatus::Error);
    assert!(text(&given).ends_with("/none.txt does not exist"), "{}", text(&given));
    assert_eq!(room.get("a.txt"), "one\n");
    let given = apply(&room, "*** Begin Patch\n*** Update File: a.txt\n@@\n-no such line\n+x\n*** End Patch").await;
    assert!(text(&given).ends_with("a.txt:\nno such line"), "{}", text(&given));
    let given = apply(&room, "*** Begin Patch\n*** Add File: ../out.txt\n+x\n*** End Patch").await;
    assert!(text(&given).contains("outside the workspace"), "{}", text(&given));
}

#[tokio::test]
async fn hunks_find_their_places() {
    for (before, patch, after) in [
        // The second of two alike, by what stands before it.
        ("class A\n  x\nclass B\n  x\n", "@@ class B\n-  x\n+  y\n", "class A\n  x\nclass B\n  y\n"),
        // Behind each other.
        ("a\nb\na\nb\n", "@@\n-a\n+1\n@@\n-a\n+2\n", "1\nb\n2\nb\n"),
        // Blanks at the ends of lines.
        ("a  \nb\n", "@@\n-a\n+c\n b\n", "c\nb\n"),
        // The ends of lines stay.
        ("a\r\nb\r\n", "@@\n-b\n+c\n", "a\r\nc\r\n"),
        // The last of two alike.
        ("a\nx\na\n", "@@\n-a\n+b\n*** End of File\n", "a\nx\nb\n"),
        // Only added, and no line feed at the end of the file.
        ("a", "@@\n+b\n", "a\nb\n"),
    ] {
        let room = room();
        room.put("f", before);
        let given = apply(&room, &format!("*** Begin Patch\n*** Update File: f\n{patch}*** End Patch")).await;
        assert_eq!(room.get("f"), after, "{patch}: {}", text(&given));
    }
}

#[tokio::test]
async fn rubbish_is_refused_and_touches_nothing() {
    let room = room();
    for patch in [
        "",
        "x",
        "*** Begin Patch",
        "*** Begin Patch\n*** End Patch",
        "*** Begin Patch\n*** Add File: a\nno plus\n*** End Patch",
        "*** Begin Patch\n*** Add File: \n*** End Patch",
        "*** Begin Patch\n*** Update File: a\n*** End Patch",
        "*** Begin Patch\n*** Update File: a\n@@\n*oops\n*** End Patch",
        "*** Begin Patch\nfloating\n*** End Patch",
    ] {
        let given = apply(&room, patch).await;
        assert!(
            text(&given).starts_with("apply_patch verification failed: invalid patch: "),
            "{patch:?}: {}",
            text(&given)
        );
        let input = json!({"input": patch});
        assert_eq!(room.tool("apply_patch").access(&input), Access::Nothing, "{patch:?}");
    }
    let input = json!({"input": "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** Delete File: c\n*** End Patch"});
    assert_eq!(
        room.tool("apply_patch").access(&input),
        Access::Write(["a", "b", "c"].map(str::to_owned).to_vec())
    );
}

//! Files as they were before they were changed.

use std::os::unix::fs::symlink;

use super::*;

struct Files {
    temp: tempfile::TempDir,
    store: PathBuf,
}

impl Files {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let store = temp.path().join("store");
        Self { temp, store }
    }

    fn open(&self) -> Checkpoints {
        Checkpoints::open(Some(Dir::root(&self.store, true).unwrap()))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, checkpoints: &mut Checkpoints, name: &str, text: &str) {
        checkpoints.before_change(&self.path(name));
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), text).unwrap();
    }

    fn text(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(name)).ok()
    }
}

#[test]
fn files_go_back_to_any_prompt_and_forth_again() {
    let files = Files::new();
    std::fs::write(files.path("a"), "one\ntwo\n").unwrap();
    std::fs::set_permissions(files.path("a"), std::fs::Permissions::from_mode(0o640)).unwrap();
    let mut points = files.open();
    points.mark("m1");
    files.write(&mut points, "a", "one\n2\nthree\n");
    files.write(&mut points, "a", "x");
    files.write(&mut points, "deep/er/b", "new\n");
    points.mark("m2");
    files.write(&mut points, "a", "last\n");
    std::fs::remove_file(files.path("deep/er/b")).unwrap();
    drop(points);

    let mut points = files.open();
    let dry = points.rewind("m1", true);
    assert!(dry.can_rewind && dry.error.is_none());
    // `b` is gone already.
    assert_eq!(
        dry.answer(),
        json!({"canRewind": true, "filesChanged": [files.path("a")], "insertions": 2, "deletions": 1})
    );
    assert_eq!(files.text("a").unwrap(), "last\n");
    assert_eq!(points.rewind("m1", false).answer(), json!({"canRewind": true, "skippedLinks": 0}));
    assert_eq!(files.text("a").unwrap(), "one\ntwo\n");
    assert_eq!(std::fs::metadata(files.path("a")).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(points.rewind("m2", false).files_changed.len(), 1);
    assert_eq!(files.text("a").unwrap(), "x");
    assert_eq!(
        points.rewind("nobody", false).answer(),
        json!({"canRewind": false, "error": "No file checkpoint found for this message."})
    );
}

#[test]
fn what_was_made_goes_and_what_was_removed_comes_back() {
    let files = Files::new();
    for name in ["d/one", "d/sub/two"] {
        std::fs::create_dir_all(files.path(name).parent().unwrap()).unwrap();
        std::fs::write(files.path(name), name).unwrap();
    }
    let mut points = files.open();
    points.mark("m");
    points.before_change(&files.path("d"));
    std::fs::remove_dir_all(files.path("d")).unwrap();
    points.before_change(&files.path("made"));
    std::fs::create_dir(files.path("made")).unwrap();
    files.write(&mut points, "made/in", "x");
    assert_eq!(points.rewind("m", false).error, None);
    assert_eq!(files.text("d/sub/two").unwrap(), "d/sub/two");
    assert!(!files.path("made").exists());
}

#[test]
fn links_are_left_alone_and_large_files_are_not_kept() {
    let files = Files::new();
    std::fs::write(files.path("a"), "a").unwrap();
    std::fs::write(files.path("hard"), "h").unwrap();
    std::fs::write(files.path("out"), "untouched").unwrap();
    File::create(files.path("big")).unwrap().set_len(LARGEST + 1).unwrap();
    let mut points = files.open();
    points.mark("m");
    files.write(&mut points, "a", "changed");
    files.write(&mut points, "hard", "changed");
    files.write(&mut points, "big", "small now");
    std::fs::remove_file(files.path("a")).unwrap();
    symlink(files.path("out"), files.path("a")).unwrap();
    std::fs::hard_link(files.path("hard"), files.path("hard2")).unwrap();
    let rewound = points.rewind("m", false);
    assert_eq!((rewound.can_rewind, rewound.skipped_links), (false, 0));
    assert!(rewound.error.unwrap().contains("larger than 64 MiB"));
    assert_eq!(files.text("out").unwrap(), "untouched");
    assert_eq!(files.text("hard2").unwrap(), "changed");
    std::fs::remove_file(files.store.join(JOURNAL)).unwrap();
    let mut points = files.open();
    points.mark("m");
    points.before_change(&files.path("hard"));
    std::fs::remove_file(files.path("big")).unwrap();
    assert_eq!(points.rewind("m", false).answer(), json!({"canRewind": true, "skippedLinks": 1}));
}

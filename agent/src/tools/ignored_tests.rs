use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;

/// What is found under a folder by our rules, and by the library reading the files itself.
fn both(root: &Path, wanted: &Wanted) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let ignored = Ignored::new(root, wanted.clone());
    let mut ours = WalkBuilder::new(root);
    ours.standard_filters(false)
        .filter_entry(move |entry| !ignored.leaves_out(entry.path(), entry.file_type().is_some_and(|kind| kind.is_dir())));
    let mut theirs = WalkBuilder::new(root);
    theirs.standard_filters(wanted.usual).hidden(wanted.hidden);
    for name in &wanted.more {
        theirs.add_custom_ignore_filename(name);
    }
    if let Some(globs) = &wanted.globs {
        theirs.overrides(globs.clone());
    }
    if let Some(types) = &wanted.types {
        theirs.types(types.clone());
    }
    let all = |builder: &WalkBuilder| {
        let mut paths: Vec<PathBuf> = builder.build().flatten().map(|entry| entry.into_path()).collect();
        paths.sort();
        paths
    };
    (all(&ours), all(&theirs))
}

#[test]
fn what_is_left_out_is_what_the_library_leaves_out() {
    let names = ["a", "b", "c.rs", "d.txt", ".e", ".f.rs", "x y", "build"];
    let lines = [
        "a", "/a", "b/", "!b", "*.rs", "!c.rs", "**/d.txt", "a/b", "a/**", ".e", "!.e", "x\\ y", "#a", "", "build/", "[", "!/build", "*", "*.txt \r",
    ];
    let mut left_out = 0;
    for seed in 0..60 {
        let mut dice = StdRng::seed_from_u64(seed);
        let room = tempfile::tempdir().unwrap();
        let root = room.path().canonicalize().unwrap();
        let mut folders = vec![root.clone()];
        for _ in 0..25 {
            let folder = folders[dice.random_range(0..folders.len())].clone();
            let path = folder.join(names[dice.random_range(0..names.len())]);
            if path.exists() || path.components().count() > root.components().count() + 5 {
                continue;
            }
            if dice.random_bool(0.5) {
                std::fs::create_dir(&path).unwrap();
                folders.push(path);
            } else {
                std::fs::write(path, "").unwrap();
            }
        }
        for folder in &folders {
            for file in [".gitignore", ".ignore", ".own", ".more"] {
                if dice.random_bool(0.3) {
                    let text: Vec<&str> = (0..dice.random_range(1..4)).map(|_| lines[dice.random_range(0..lines.len())]).collect();
                    std::fs::write(folder.join(file), text.join("\n")).unwrap();
                }
            }
            if dice.random_bool(0.2) {
                std::fs::create_dir_all(folder.join(".git/info")).unwrap();
                std::fs::write(folder.join(".git/info/exclude"), lines[dice.random_range(0..lines.len())]).unwrap();
            } else if dice.random_bool(0.1) && !folder.join(".git").exists() {
                // A work tree that was added.
                let own = room.path().join("shared/worktrees/w");
                std::fs::create_dir_all(&own).unwrap();
                std::fs::create_dir_all(room.path().join("shared/info")).unwrap();
                std::fs::write(room.path().join("shared/info/exclude"), "c.rs\n").unwrap();
                std::fs::write(own.join("commondir"), "../..\n").unwrap();
                std::fs::write(folder.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
            }
        }
        for _ in 0..4 {
            let from = &folders[dice.random_range(0..folders.len())];
            let mut wanted = Wanted {
                usual: dice.random_bool(0.7),
                hidden: dice.random_bool(0.5),
                ..Wanted::default()
            };
            if dice.random_bool(0.5) {
                wanted.more = vec![".own".to_owned(), ".more".to_owned()];
            }
            if dice.random_bool(0.3) {
                let mut globs = OverrideBuilder::new(from);
                globs.add(["*.rs", "!a", ".e", "!*.txt"][dice.random_range(0..4)]).unwrap();
                wanted.globs = Some(globs.build().unwrap());
            }
            if dice.random_bool(0.3) {
                let mut types = ignore::types::TypesBuilder::new();
                types.add_defaults().select("rust");
                wanted.types = Some(types.build().unwrap());
            }
            let (ours, theirs) = both(from, &wanted);
            assert_eq!(ours, theirs, "seed {seed}, {from:?}, {wanted:?}");
            let whole = both(from, &Wanted::default()).0.len();
            left_out += whole - ours.len();
        }
    }
    assert!(left_out > 500, "the rules left out {left_out} paths in all");
}

#[test]
fn files_of_rules_that_are_none_are_passed_over_at_once() {
    let room = tempfile::tempdir().unwrap();
    let root = room.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join(".git/info")).unwrap();
    std::fs::write(root.join(".gitignore"), "out\n").unwrap();
    let pipe = |path: &str| rustix::fs::mkfifoat(rustix::fs::CWD, root.join(path), rustix::fs::Mode::RWXU).unwrap();
    pipe(".ignore");
    pipe(".git/info/exclude");
    for folder in ["zero", "huge", "folder", "tree", "out"] {
        std::fs::create_dir(root.join(folder)).unwrap();
        std::fs::write(root.join(folder).join("file"), "").unwrap();
    }
    std::os::unix::fs::symlink("/dev/zero", root.join("zero/.gitignore")).unwrap();
    let huge = std::fs::File::create(root.join("huge/.gitignore")).unwrap();
    huge.set_len(1 << 40).unwrap();
    std::fs::create_dir(root.join("folder/.ignore")).unwrap();
    pipe("tree/.git");
    let ignored = Ignored::new(
        &root,
        Wanted {
            usual: true,
            ..Wanted::default()
        },
    );
    assert!(ignored.leaves_out(&root.join("out"), true));
    for folder in ["zero", "huge", "folder", "tree"] {
        assert!(!ignored.leaves_out(&root.join(folder), true), "{folder}");
        assert!(!ignored.leaves_out(&root.join(folder).join("file"), false), "{folder}");
    }
}

use super::*;

fn of(text: &str) -> HashSet<Box<str>> {
    let mut all = HashSet::new();
    words(text, &mut |word| {
        all.insert(word.into());
    });
    all
}

fn found(index: &Words, text: &str) -> Vec<Doc> {
    let mut docs: Vec<Doc> = index.find(text).unwrap().unwrap_or_default().into_iter().collect();
    docs.sort_unstable();
    docs
}

#[test]
fn words_are_letters_and_digits_that_stand_together() {
    let mut all: Vec<_> = of("Read_Edit(src/main.rs) — ÄRGER, 2x 東京").into_iter().collect();
    all.sort();
    assert_eq!(
        all.iter().map(|word| &**word).collect::<Vec<_>>(),
        ["2x", "edit", "main", "read", "rs", "src", "ärger", "京", "東"]
    );
    assert_eq!(of(&"a".repeat(LONGEST + 1)), of(&"a".repeat(LONGEST)));
    assert!(of(&"a".repeat(NO_WORD + 1)).is_empty() && of(" -- ").is_empty());
}

#[test]
fn what_was_put_in_is_found_in_memory_in_files_and_in_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let index = Words::empty(Some(folder.path().to_owned()));
    // Many words, so that there are many blocks; some in all logs.
    let text = |n: u32| {
        (0..300).map(|at| format!("word{} ", n * 300 + at)).collect::<String>() + "common été" + if n.is_multiple_of(7) { " rare" } else { "" }
    };
    let many = 100;
    for n in 0..many {
        let doc = index.new_doc();
        assert_eq!(doc, n + 1);
        index.add(doc, &of(&text(n))).unwrap();
        if n % 5 == 4 {
            index.flush().unwrap();
        }
    }
    let check = |index: &Words, gone: Doc| {
        let all = |keep: &dyn Fn(Doc) -> bool| (1..=many).filter(|doc| *doc != gone && keep(*doc)).collect::<Vec<_>>();
        assert_eq!(found(index, "common "), all(&|_| true));
        assert_eq!(found(index, "ÉTÉ RARE"), all(&|doc| (doc - 1).is_multiple_of(7)));
        assert_eq!(found(index, "comm"), all(&|_| true));
        assert_eq!(found(index, "comm "), [0; 0]);
        assert_eq!(found(index, "word901 "), [4]);
        assert_eq!(found(index, "word901 rare"), [0; 0]);
        for n in (0..many).filter(|n| n + 1 != gone) {
            assert_eq!(found(index, &format!("word{} word{} ", n * 300, n * 300 + 299)), [n + 1]);
        }
        // word2999, and word29990 to word29999.
        assert_eq!(found(index, "word2999"), [10, 100]);
        assert_eq!(index.find(" -- ").unwrap(), None);
    };
    check(&index, 0);
    assert!(index.state().files.len() > FILES);
    let saved = index.settle(&|doc| doc != 50).unwrap();
    assert_eq!(saved.files.len(), 1);
    index.sweep(&saved);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    check(&index, 50);
    let again = Words::open(Some(folder.path().to_owned()), &saved).unwrap();
    check(&again, 50);
    assert_eq!(again.new_doc(), many + 1);
    // A file that is cut off or changed is not taken for an index.
    let path = folder.path().join(format!("words-{}", saved.files[0]));
    let whole = std::fs::read(&path).unwrap();
    for (n, damage) in [&whole[..whole.len() - 1], &whole[..20], &[][..], &whole[1..]].into_iter().enumerate() {
        std::fs::write(&path, damage).unwrap();
        assert!(Words::open(Some(folder.path().to_owned()), &saved).is_none(), "{n}");
    }
    // One that is damaged in the middle says so, and never panics.
    let mut torn = whole.clone();
    for byte in &mut torn[1000..1400] {
        *byte = 0xff;
    }
    std::fs::write(&path, &torn).unwrap();
    let torn = Words::open(Some(folder.path().to_owned()), &saved).unwrap();
    assert!(torn.find("common").is_ok() || torn.find("common").is_err());
    assert!(torn.find(&text(0)[..40]).is_err());
}

#[test]
fn what_is_being_written_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let index = Words::empty(Some(folder.path().to_owned()));
    for doc in 1..=5 {
        let words: String = (0..20_000).map(|n| format!("word{n}of{doc} ")).collect();
        index.add(doc, &of(&(words + "needle"))).unwrap();
        std::thread::scope(|scope| {
            let writes = scope.spawn(|| index.flush().unwrap());
            while !writes.is_finished() {
                assert_eq!(found(&index, "needle"), (1..=doc).collect::<Vec<_>>());
            }
        });
    }
}

#[test]
fn what_cannot_be_written_is_found_and_written_later() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("later");
    let index = Words::empty(Some(place.clone()));
    for doc in 1..=2 {
        index.add(doc, &of("needle")).unwrap();
        assert!(index.flush().is_err());
        assert_eq!(found(&index, "needle"), (1..=doc).collect::<Vec<_>>());
    }
    std::fs::create_dir(&place).unwrap();
    index.flush().unwrap();
    assert_eq!(found(&index, "needle"), [1, 2]);
}

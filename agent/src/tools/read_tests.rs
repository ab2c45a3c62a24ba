use std::io::{Seek, SeekFrom, Write};

use super::*;
use crate::tools::text::pieces;
use crate::workspace::Wall;

fn folder() -> (tempfile::TempDir, Wall) {
    let folder = tempfile::tempdir().expect("a folder");
    let wall = Wall::new(folder.path()).expect("a workspace");
    (folder, wall)
}

fn text(wall: &Wall, name: &str, window: &Window) -> Text {
    let place = wall.locate(name).expect("inside");
    match read(&place, window, &CancellationToken::new()).expect("read") {
        Content::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

/// What a window is, said in another way.
fn naive(text: &str, window: &Window) -> (String, u64) {
    let lines: Vec<&str> = text.split('\n').collect();
    let skipped = usize::try_from(window.first.max(1) - 1).expect("small");
    let most = window.lines.map_or(usize::MAX, |lines| usize::try_from(lines).expect("small"));
    let shown: Vec<&str> = lines.into_iter().skip(skipped).take(most).collect();
    (shown.join("\n"), shown.len() as u64)
}

#[test]
fn windows_are_the_lines_that_they_say() {
    let (folder, wall) = folder();
    for content in ["", "\n", "a", "a\n", "a\nb\n", "a\r\nb\n\nc", "\n\n\n"] {
        std::fs::write(folder.path().join("f"), content).expect("written");
        for first in 0..6 {
            for lines in [None, Some(0), Some(1), Some(2), Some(9)] {
                let window = Window {
                    first,
                    lines,
                    ..Window::default()
                };
                let read = text(&wall, "f", &window);
                assert_eq!((read.text, read.count), naive(content, &window), "{content:?} {window:?}");
                assert_eq!(read.total, pieces(content));
                assert_eq!(read.open_end, !content.is_empty() && !content.ends_with('\n'));
            }
        }
    }
}

#[test]
fn a_large_file_has_the_same_windows_as_a_small_one() {
    let (folder, wall) = folder();
    // A little above what is read as a whole; the line ends fall on the ends of the pieces that are read, too.
    let mut content = String::new();
    let mut n = 0;
    while content.len() as u64 <= WHOLE {
        n += 1;
        content.push_str(&format!("line {n} {}\n", "ä".repeat(n % 1000)));
    }
    for end in ["", "no end"] {
        std::fs::write(folder.path().join("f"), format!("{content}{end}")).expect("written");
        let whole = format!("{content}{end}");
        let total = pieces(&whole);
        for (first, lines) in [
            (1, Some(3)),
            (total / 2, Some(5)),
            (total - 1, Some(9)),
            (total, None),
            (total + 1, Some(1)),
            (1, Some(0)),
        ] {
            let window = Window {
                first,
                lines,
                // Slow where nothing is optimized: once is enough.
                hash: first == total,
                ..Window::default()
            };
            let read = text(&wall, "f", &window);
            assert_eq!((read.text, read.count), naive(&whole, &window), "{window:?}");
            assert_eq!((read.total, read.size), (total, whole.len() as u64));
            assert_eq!(read.open_end, !end.is_empty());
            assert_eq!(read.sha256, window.hash.then(|| hex(&Sha256::digest(whole.as_bytes()))));
            assert!(!read.lossy && !read.cut);
        }
        let cut = text(
            &wall,
            "f",
            &Window {
                bytes: 20,
                ..Window::default()
            },
        );
        assert!(cut.cut && cut.text.len() <= 20 && whole.starts_with(&cut.text) && cut.count == pieces(&cut.text));
    }
}

#[test]
fn a_gigabyte_is_read_by_its_window_alone() {
    let (folder, wall) = folder();
    let mut file = File::create(folder.path().join("big")).expect("made");
    file.write_all(&b"first\nsecond\n".repeat(1000)).expect("written");
    // The rest is a hole, which takes no room. Where nothing is optimized, counting its lines takes long.
    let hole = if cfg!(debug_assertions) { 64 << 20 } else { 1 << 30 };
    file.seek(SeekFrom::Start(hole)).expect("a place");
    file.write_all(b"\nlast\n").expect("written");
    let began = std::time::Instant::now();
    let read = text(
        &wall,
        "big",
        &Window {
            first: 2,
            lines: Some(2),
            ..Window::default()
        },
    );
    assert_eq!((read.text.as_str(), read.count, read.total), ("second\nfirst", 2, 2003));
    assert_eq!(read.size, hole + 6);
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    let cancel = CancellationToken::new();
    cancel.cancel();
    let place = wall.locate("big").expect("inside");
    assert_eq!(super::read(&place, &Window::default(), &cancel), Err(Fault::Cancelled));
}

#[test]
fn encodings_pictures_and_what_is_no_text() {
    let (folder, wall) = folder();
    let put = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).expect("written");
    for encoding in [Encoding::Utf8Bom, Encoding::Utf16Le, Encoding::Utf16Be] {
        put("wide", &encoding.encode("eins\r\nzwölf\r\n"));
        let window = Window {
            first: 2,
            lines: Some(1),
            ..Window::default()
        };
        let read = text(&wall, "wide", &window);
        assert_eq!((read.text.as_str(), read.encoding, read.total), ("zwölf\r", encoding, 3));
    }
    put("bytes", b"a\xffb");
    assert!(text(&wall, "bytes", &Window::default()).lossy);
    let content = |name: &str| read(&wall.locate(name).expect("inside"), &Window::default(), &CancellationToken::new());
    put("zero", b"ab\0c");
    assert!(matches!(content("zero"), Ok(Content::Binary(stat)) if stat.size == 4));
    for (bytes, kind) in [
        (&b"%PDF-1.7"[..], "application/pdf"),
        (b"GIF89a", "image/gif"),
        (b"RIFF1234WEBP", "image/webp"),
    ] {
        put("media", bytes);
        assert!(matches!(content("media"), Ok(Content::Media(media)) if media.media_type == kind && media.bytes == bytes));
    }
    assert!(matches!(content("none"), Err(Fault::Missing(_))));
}

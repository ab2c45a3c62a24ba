use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::*;

struct Two {
    wall: Wall,
    inside: PathBuf,
    outside: PathBuf,
    _folder: tempfile::TempDir,
}

/// A workspace beside a folder with a secret.
fn two() -> Two {
    let folder = tempfile::tempdir().expect("a folder");
    let base = folder.path().canonicalize().expect("real");
    let (inside, outside) = (base.join("in"), base.join("out"));
    fs::create_dir_all(inside.join("sub")).expect("made");
    fs::create_dir(&outside).expect("made");
    fs::write(outside.join("secret"), "secret").expect("written");
    fs::write(inside.join("a"), "a").expect("written");
    Two {
        wall: Wall::new(&inside).expect("a workspace"),
        inside,
        outside,
        _folder: folder,
    }
}

fn is_outside(wall: &Wall, path: impl AsRef<Path>) -> bool {
    matches!(wall.locate(path), Err(Fault::Outside { .. }))
}

fn leftovers(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).expect("listed").flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(".agentglot-"))
        .count()
}

#[test]
fn no_path_leads_out() {
    let two = two();
    let out = |name: &str, target: &Path| symlink(target, two.inside.join(name)).expect("a link");
    out("link", &two.outside);
    out("file", &two.outside.join("secret"));
    out("new", &two.outside.join("not there"));
    out("up", Path::new("../out"));
    out("etc", Path::new("/etc"));
    out("root", Path::new("/proc/self/root"));
    out("cwd", Path::new("/proc/self/cwd"));
    out("chain", Path::new("link"));
    for path in [
        "..",
        "../out/secret",
        "sub/../../out/secret",
        "./././../out",
        "link/secret",
        "file",
        "new",
        "up/secret",
        "etc/passwd",
        "root/etc/passwd",
        "root",
        "chain/secret",
        "link/new file",
        "/etc/passwd",
        "/proc/self/root/etc/passwd",
        "/proc/self/environ",
        "/dev/null",
        "~",
        "~/x",
        "/",
        "//etc//passwd",
    ] {
        assert!(is_outside(&two.wall, path), "{path}: {:?}", two.wall.locate(path));
    }
    let prefix = format!("{}x/y", two.inside.display());
    assert!(is_outside(&two.wall, prefix), "a name that only begins like the folder's");
    for path in ["a", "./a", "sub/../a", "sub/../../in/a", "/proc/self/root/../../a"] {
        let place = two.wall.locate(path);
        assert!(place.is_ok() || path.starts_with("/proc"), "{path}: {place:?}");
    }
}

#[test]
fn links_inside_are_followed_and_written_through() {
    let two = two();
    symlink(two.inside.join("a"), two.inside.join("absolute")).expect("a link");
    symlink("../a", two.inside.join("sub/relative")).expect("a link");
    symlink("sub/made", two.inside.join("dangling")).expect("a link");
    for name in ["absolute", "sub/relative"] {
        let place = two.wall.locate(name).expect("inside");
        assert_eq!(place.path(), two.inside.join("a"));
        place.write(name.as_bytes(), Guard::Anything).expect("written");
        assert!(two.inside.join(name).is_symlink());
        assert_eq!(fs::read_to_string(two.inside.join("a")).expect("read"), name);
    }
    two.wall.locate("dangling").expect("inside").write(b"x", Guard::New).expect("written");
    assert_eq!(fs::read_to_string(two.inside.join("sub/made")).expect("read"), "x");
    // A loop ends nowhere.
    symlink("loop", two.inside.join("loop")).expect("a link");
    assert!(two.wall.locate("loop").is_err());
}

#[test]
fn a_hard_link_to_a_file_outside_does_not_change_that_one() {
    let two = two();
    fs::hard_link(two.outside.join("secret"), two.inside.join("hard")).expect("a link");
    let place = two.wall.locate("hard").expect("inside");
    place.write(b"changed", Guard::Anything).expect("written");
    assert_eq!(fs::read_to_string(two.outside.join("secret")).expect("read"), "secret");
    assert_eq!(fs::read_to_string(two.inside.join("hard")).expect("read"), "changed");
}

#[test]
fn folders_can_be_added_and_taken_away() {
    let two = two();
    let secret = two.outside.join("secret");
    assert!(is_outside(&two.wall, &secret));
    two.wall.add(Path::new("../out")).expect("added");
    two.wall.add(&two.outside).expect("added");
    assert_eq!(two.wall.folders(), [two.inside.clone(), two.outside.clone()]);
    assert_eq!(two.wall.locate(&secret).expect("inside").read(10).expect("read").0, b"secret");
    assert!(two.wall.remove(&two.outside));
    assert!(!two.wall.remove(&two.outside));
    assert!(!two.wall.remove(&two.inside));
    assert!(is_outside(&two.wall, &secret));
    assert!(two.wall.add(&two.outside.join("none")).is_err());
}

#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let two = two();
    let fifo = two.inside.join("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("a pipe");
    let _socket = std::os::unix::net::UnixListener::bind(two.inside.join("socket")).expect("a socket");
    let began = Instant::now();
    for name in ["fifo", "socket"] {
        let place = two.wall.locate(name).expect("inside");
        assert!(matches!(place.open(), Err(Fault::Special { .. })));
        assert!(matches!(place.write(b"x", Guard::Anything), Err(Fault::Special { .. })));
        assert!(two.wall.locate(".").expect("inside").open_below(Path::new(name)).is_err());
    }
    assert!(matches!(two.wall.locate("sub").expect("inside").open(), Err(Fault::Folder(_))));
    assert!(matches!(
        two.wall.locate(".").expect("inside").write(b"x", Guard::Anything),
        Err(Fault::Folder(_))
    ));
    assert!(matches!(two.wall.locate("a/b"), Err(Fault::NotFolder(_))));
    assert!(began.elapsed() < Duration::from_secs(1));
    assert_eq!(leftovers(&two.inside), 0);
}

#[test]
fn names_may_be_long_or_no_text() {
    let two = two();
    let odd = OsStr::from_bytes(b"\xff\xfe name\n");
    let place = two.wall.locate(Path::new(odd)).expect("inside");
    place.write(b"odd", Guard::New).expect("written");
    assert_eq!(place.read(3).expect("read").0, b"odd");
    let longest = "n".repeat(255);
    two.wall.locate(&longest).expect("inside").write(b"x", Guard::New).expect("written");
    let longer = two.wall.locate("n".repeat(256)).and_then(|place| place.write(b"x", Guard::New));
    assert!(matches!(longer, Err(Fault::Name(_) | Fault::Other(_))), "{longer:?}");
    assert!(two.wall.locate("d/".repeat(5000)).and_then(|place| place.stat()).is_err());
    assert!(two.wall.locate("a\0b").and_then(|place| place.stat()).is_err());
}

#[test]
fn a_file_keeps_its_mode_and_guards_hold() {
    let two = two();
    let path = two.inside.join("a");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).expect("a mode");
    let place = two.wall.locate("a").expect("inside");
    let (_, stamp) = place.read(10).expect("read");
    let stamp = place.write(b"b", Guard::Same(&stamp)).expect("written");
    assert_eq!(fs::metadata(&path).expect("there").mode() & 0o7777, 0o751);
    assert_eq!(place.write(b"c", Guard::New), Err(Fault::Exists(path.clone())));
    fs::write(&path, "X").expect("written");
    assert_eq!(place.write(b"c", Guard::Same(&stamp)), Err(Fault::Changed(path.clone())));
    fs::remove_file(&path).expect("deleted");
    assert_eq!(place.write(b"c", Guard::Same(&stamp)), Err(Fault::Changed(path)));
    two.wall.locate("deep/er/new").expect("inside").write(b"n", Guard::New).expect("written");
    assert_eq!(leftovers(&two.inside), 0);
}

#[test]
fn deleting_takes_links_and_not_what_they_lead_to() {
    let two = two();
    symlink(&two.outside, two.inside.join("sub/link")).expect("a link");
    fs::create_dir_all(two.inside.join("sub/x/y")).expect("made");
    let cancel = CancellationToken::new();
    let sub = two.wall.locate_entry("sub").expect("inside");
    assert!(matches!(sub.delete_folder(false, &cancel), Err(Fault::NotEmpty(_))));
    assert!(matches!(sub.delete_file(), Err(Fault::Folder(_))));
    two.wall.locate_entry("sub/link").expect("a link").delete_file().expect("deleted");
    symlink(&two.outside, two.inside.join("sub/link")).expect("a link");
    sub.delete_folder(true, &cancel).expect("deleted");
    assert!(two.outside.join("secret").exists());
    assert!(!two.inside.join("sub").exists());
    assert!(two.wall.locate(".").expect("inside").delete_folder(true, &cancel).is_err());
}

/// While one thread makes a folder a link to the outside and back, nothing outside is ever read, written or deleted.
#[test]
fn a_folder_that_becomes_a_link_leads_nowhere() {
    let two = two();
    fs::create_dir(two.inside.join("real")).expect("made");
    fs::write(two.inside.join("real/secret"), "mine").expect("written");
    symlink(&two.outside, two.inside.join("evil")).expect("a link");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let flip = two.inside.join("flip");
            while !stop.load(Ordering::Relaxed) {
                for from in ["real", "evil"] {
                    let from = two.inside.join(from);
                    let _ = fs::rename(&from, &flip);
                    std::thread::yield_now();
                    let _ = fs::rename(&flip, &from);
                }
            }
        });
        let cancel = CancellationToken::new();
        let until = Instant::now() + Duration::from_millis(700);
        let (mut read, mut refused) = (0, 0);
        while Instant::now() < until {
            match two.wall.locate("flip/secret").and_then(|place| place.read(100)) {
                Ok((content, _)) => {
                    assert!(content == b"mine" || content == b"new", "{content:?}");
                    read += 1;
                }
                Err(_) => refused += 1,
            }
            let _ = two.wall.locate("flip/secret").and_then(|place| place.write(b"new", Guard::Anything));
            let _ = two.wall.locate("flip/made").and_then(|place| place.write(b"new", Guard::New));
            let _ = two.wall.locate_entry("flip/made").and_then(|place| place.delete_file());
            let below = two.wall.locate(".").expect("inside").open_below(Path::new("flip/secret"));
            if let Ok((mut file, _)) = below {
                let mut text = String::new();
                std::io::Read::read_to_string(&mut file, &mut text).expect("read");
                assert_ne!(text, "secret");
            }
            let _ = two.wall.locate("flip/none").and_then(|place| place.delete_folder(true, &cancel));
        }
        stop.store(true, Ordering::Relaxed);
        assert!(read > 0 && refused > 0, "read {read}, refused {refused}");
    });
    assert_eq!(fs::read_to_string(two.outside.join("secret")).expect("there"), "secret");
    assert_eq!(fs::read_dir(&two.outside).expect("listed").count(), 1);
}

/// A full disk: a file system of 64 kB, where the tests may mount one.
#[test]
fn on_a_full_disk_the_old_file_stays() {
    let two = two();
    let disk = two.inside.join("disk");
    fs::create_dir(&disk).expect("made");
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "none"])
        .arg(&disk)
        .output();
    if !mounted.is_ok_and(|done| done.status.success()) {
        eprintln!("no file system can be mounted here");
        return;
    }
    let wall = Wall::new(&disk).expect("a workspace");
    let place = wall.locate("file").expect("inside");
    let first = place.write(&[b'a'; 20_000], Guard::New);
    let second = place.write(&[b'b'; 200_000], Guard::Anything);
    let kept = fs::read(disk.join("file"));
    let drafts = leftovers(&disk);
    let made_read_only = std::process::Command::new("mount").args(["-o", "remount,ro"]).arg(&disk).output();
    let third = place.write(b"c", Guard::Anything);
    let fourth = place.delete_file();
    drop(wall);
    drop(place);
    let unmounted = std::process::Command::new("umount").arg("-l").arg(&disk).output();
    assert!(first.is_ok(), "{first:?}");
    assert!(matches!(second, Err(Fault::Full(_))), "{second:?}");
    assert_eq!(kept.expect("there"), [b'a'; 20_000]);
    assert_eq!(drafts, 0);
    if made_read_only.is_ok_and(|done| done.status.success()) {
        assert!(matches!(third, Err(Fault::ReadOnly(_))), "{third:?}");
        assert!(matches!(fourth, Err(Fault::ReadOnly(_))), "{fourth:?}");
    }
    assert!(unmounted.is_ok_and(|done| done.status.success()));
}

/// Only for whom modes hold: not for root.
#[test]
fn a_folder_without_leave_to_write_is_left_alone() {
    let two = two();
    fs::set_permissions(two.inside.join("sub"), fs::Permissions::from_mode(0o555)).expect("a mode");
    fs::set_permissions(two.inside.join("a"), fs::Permissions::from_mode(0o444)).expect("a mode");
    if fs::write(two.inside.join("sub/probe"), "").is_ok() {
        return;
    }
    let sub = two.wall.locate("sub/new").expect("inside");
    assert!(matches!(sub.write(b"x", Guard::New), Err(Fault::Denied(_))));
    let file = two.wall.locate("a").expect("inside");
    assert!(matches!(file.write(b"x", Guard::Anything), Err(Fault::Denied(_))));
    fs::set_permissions(two.inside.join("sub"), fs::Permissions::from_mode(0o755)).expect("a mode");
}

#[test]
fn what_a_host_granted_is_open_and_nothing_beside_it() {
    let two = two();
    fs::create_dir(two.outside.join("tree")).expect("made");
    fs::write(two.outside.join("tree/a"), "in the tree").expect("written");
    symlink("../secret", two.outside.join("tree/out")).expect("a link");
    symlink("a", two.outside.join("tree/in")).expect("a link");
    let (secret, tree) = (two.outside.join("secret"), two.outside.join("tree"));

    let file = two.wall.with_granted(std::slice::from_ref(&secret));
    let stamp = file.locate(&secret).expect("open").read(100).expect("read").1;
    file.locate(&secret).expect("open").write(b"new", Guard::Same(&stamp)).expect("written");
    assert_eq!(fs::read_to_string(&secret).expect("read"), "new");
    for path in ["", "tree", "secret2", "secret/x", "tree/a"] {
        assert!(is_outside(&file, two.outside.join(path)), "{path}");
    }
    assert!(file.locate("a").is_ok(), "the workspace is as open as before");
    assert!(is_outside(&two.wall, &secret), "and closed for other calls");

    let folder = two.wall.with_granted(std::slice::from_ref(&tree));
    for path in ["a", "in"] {
        let read = folder.locate(tree.join(path)).and_then(|place| place.read(100)).expect(path);
        assert_eq!(read.0, b"in the tree");
    }
    assert_eq!(folder.locate(&tree).expect("open").stat().expect("there").kind, Kind::Folder);
    assert!(is_outside(&folder, &secret) && is_outside(&folder, tree.join("out")) && is_outside(&folder, tree.join("../secret")));

    // Nothing is there yet, nor the folders above it.
    let new = two.outside.join("more/and more/file");
    let granted = two.wall.with_granted(std::slice::from_ref(&new));
    granted.locate(&new).expect("open").write(b"x", Guard::New).expect("written");
    assert_eq!(fs::read_to_string(&new).expect("read"), "x");
    assert!(is_outside(&granted, two.outside.join("more/other")));
}

#[test]
fn what_becomes_a_link_after_it_was_granted_leads_nowhere() {
    let two = two();
    let (there, elsewhere) = (two.outside.join("there"), two.outside.join("elsewhere"));
    for folder in [&there, &elsewhere] {
        fs::create_dir(folder).expect("made");
        fs::write(folder.join("file"), "x").expect("written");
    }
    let (file, new) = (there.join("file"), two.outside.join("new/file"));
    let before = two.wall.with_granted(&[file.clone(), new.clone()]);
    let places = [&file, &new].map(|path| before.locate(path).expect("open"));
    fs::rename(&there, two.outside.join("moved")).expect("moved");
    symlink(&elsewhere, &there).expect("a link");
    symlink(&elsewhere, two.outside.join("new")).expect("a link");
    // What was opened before is what it was; a folder that was not there is not reached through a link.
    places[0].write(b"mine", Guard::Anything).expect("written");
    assert!(places[1].write(b"mine", Guard::Anything).is_err());
    assert_eq!(fs::read_to_string(elsewhere.join("file")).expect("read"), "x");
    // What is opened now is not opened through a link.
    let after = two.wall.with_granted(&[file.clone(), there.clone(), new]);
    assert!(is_outside(&after, &file) && is_outside(&after, there.join("file")));
    // Nor is a file that is a link by now.
    fs::remove_file(two.outside.join("moved/file")).expect("removed");
    symlink(elsewhere.join("file"), two.outside.join("moved/file")).expect("a link");
    assert_eq!(places[0].read(10).map(|_| ()), Err(Fault::Changed(file)));
}
